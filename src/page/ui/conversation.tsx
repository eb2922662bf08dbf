import { useCallback, useContext, useMemo, useRef } from "preact/hooks";
import { blocksOfEntry } from "../model/blocks.ts";
import { kindOf } from "../model/entry-kind.ts";
import { count } from "../model/format.ts";
import type { Place } from "../model/navigation.ts";
import type { ModelItem, PathItem, PathView } from "../model/path-items.ts";
import { EntryCard } from "./entry-card.tsx";
import { FoldsContext } from "./folds.ts";
import type { Sight } from "./sight.ts";
import { markText } from "./text-marks.ts";
import { usePage } from "./use-page.ts";
import { VirtualList } from "./virtual-list.tsx";

interface ConversationProps {
  readonly path: PathView;
  readonly place: Place;
  /** Told what is looked at. */
  readonly sight: Sight;
}

/** The entries of a path, or what the model gets of them. */
export function Conversation({ path, place, sight }: ConversationProps) {
  const { query } = usePage();
  const folds = useContext(FoldsContext);
  const { focus, reveal, view, end } = place;
  const items: readonly (PathItem | ModelItem)[] = view === "model" ? path.modelItems : path.items;
  const jump = useMemo(
    () => (reveal === undefined ? undefined : { index: indexOf(items, focus, path), align: reveal.align }),
    [reveal, focus, items, path],
  );
  // Words are marked when what is in sight has been drawn, which scrolling asks for many times a second.
  const marked = useRef(0);
  const onDrawn = useCallback(
    (list: HTMLElement) => {
      cancelAnimationFrame(marked.current);
      marked.current = requestAnimationFrame(() => markText(list, query));
    },
    [query],
  );
  const onRange = (first: number, last: number) => {
    const isFocusInSight = items.slice(first, last + 1).some(({ ordinal }) => ordinal === focus);
    sight.move(isFocusInSight ? focus : (items[first]?.ordinal ?? end));
  };
  if (items.length === 0) return <EmptyConversation isModel={view === "model"} />;
  return (
    <VirtualList
      // Another list begins at its own place, with its own heights.
      key={`${view}:${folds.areAllOpen}`}
      class="conversation"
      label={view === "model" ? "What the model sees" : "Conversation"}
      items={items}
      keyOf={({ ordinal }) => ordinal}
      estimate={estimateHeight}
      render={(item) => (
        <div class="conversation-column">
          {view === "path" && <LeftOutNotice size={path.leftOut.get(item.ordinal) ?? 0} />}
          <EntryCard item={item} isFocused={item.ordinal === focus} isEnd={item.ordinal === end} />
        </div>
      )}
      jump={jump}
      onRange={onRange}
      onDrawn={onDrawn}
    />
  );
}

/** The place of an entry in the list; where it is not in it, that of the next one that is. */
function indexOf(items: readonly { ordinal: number }[], ordinal: number, path: PathView): number {
  const exact = items.findIndex((item) => item.ordinal === ordinal);
  if (exact !== -1) return exact;
  const place = path.places.get(ordinal) ?? 0;
  return items.findIndex((item) => (path.places.get(item.ordinal) ?? 0) >= place);
}

const SMALL = 34;
const LINE = 24;
const CHARACTERS_PER_LINE = 90;

function estimateHeight({ entry }: PathItem | ModelItem): number {
  if (kindOf(entry).tone === "quiet") return SMALL;
  return blocksOfEntry(entry).reduce((height, block) => height + heightOf(block), SMALL);
}

function heightOf(block: ReturnType<typeof blocksOfEntry>[number]): number {
  if (block.kind === "image") return 320;
  if (block.kind !== "markdown") return 36;
  const lines = block.text.split("\n", 200);
  return (
    lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / CHARACTERS_PER_LINE)), 0) * LINE
  );
}

function EmptyConversation({ isModel }: { isModel: boolean }) {
  return (
    <div class="empty">{isModel ? "The model sees nothing here." : "This session has no entries yet."}</div>
  );
}

function LeftOutNotice({ size }: { size: number }) {
  if (size === 0) return null;
  return (
    <p class="notice">
      {size === 1 ? "This entry is" : `These ${count(size)} entries are`} left out: the model sees the summary
      of a compaction instead
    </p>
  );
}
