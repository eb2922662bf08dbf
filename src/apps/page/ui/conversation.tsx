import { useContext, useMemo, useRef } from "preact/hooks";
import { formatCount, formatCounted } from "../../../core/facts/number-text.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import type { ConversationItem, ConversationRows, FoldedRow } from "../model/conversation-rows.ts";
import type { Position, View } from "../model/navigation.ts";
import { COMPACTED_HINT, type PathView } from "../model/path-items.ts";
import { estimateHeight } from "../model/row-height.ts";
import { isHiddenRecord } from "../model/session-model.ts";
import { listShownItems } from "../model/shown-items.ts";
import { EntryCard } from "./entry-card.tsx";
import { FoldsContext } from "./fold.tsx";
import { ChevronIcon } from "./icons.tsx";
import { usePage } from "./page-context.ts";
import { useConversationRows } from "./use-conversation-rows.ts";
import { useSpots } from "./use-spots.ts";
import type { Sight } from "./viewport.ts";
import { VirtualList } from "./virtual-list.tsx";

interface ConversationProps {
  readonly path: PathView;
  readonly position: Position;
  /** Receives the entry that the reader is viewing. */
  readonly sight: Sight;
}

/** Entries of a path, or the messages that the model receives from them. */
export function Conversation({ path, position, sight }: ConversationProps) {
  const { session } = usePage();
  const folds = useContext(FoldsContext);
  const { focus, reveal, view, end } = position;
  const items = useShownItems(path, position);
  const [{ rows, rowByOrdinal }, toggle] = useConversationRows(items, folds, position);
  const jump = useMemo(
    () =>
      reveal === undefined
        ? undefined
        : { index: findRow(items, rowByOrdinal, focus, path), align: reveal.align },
    // Opened rows and new entries do not request the focus again; a list that starts over does.
    [reveal, folds.areAllOpen],
  );
  const onDrawn = useSpots(focus, reveal);
  const onRange = (first: number, last: number) => {
    const index = rowByOrdinal.get(focus) ?? NONE;
    const hasFocus = index >= first && index <= last;
    const isAtEnd = first > 0 && last === rows.length - 1;
    sight.move(hasFocus ? focus : (rows[first]?.ordinal ?? end), isAtEnd && !hasFocus);
  };
  if (items.length === 0)
    return (
      <div class="empty">
        {view === "model" ? "The model sees nothing here." : "This session has no entries yet."}
      </div>
    );
  return (
    <VirtualList
      // Another list starts where it was left, with its own heights.
      key={`${view}:${folds.areAllOpen}`}
      class="conversation"
      label={getConversationName(view)}
      items={rows}
      getKey={({ kind, ordinal }) => ordinal * 2 + (kind === "entry" ? 0 : 1)}
      findIndex={({ ordinal }) => rowByOrdinal.get(ordinal) ?? NONE}
      estimate={(row) => estimateHeight(session, row)}
      render={(row, index) => (
        <div class="conversation-column">
          {row.kind !== "entry" ? (
            <FoldedLine row={row} onToggle={() => toggle(row)} />
          ) : (
            <EntryCard
              row={row}
              focus={rowByOrdinal.get(focus) === index ? focus : NONE}
              end={rowByOrdinal.get(end) === index ? end : NONE}
            />
          )}
        </div>
      )}
      jump={jump}
      onRange={onRange}
      onDrawn={onDrawn}
    />
  );
}

/** Returns the name of the path's conversation, or of the one that the model sees, for assistive technology. */
export function getConversationName(view: View): string {
  return view === "model" ? "What the model sees" : "Conversation";
}

/**
 * Returns the shown entries of the path, or all entries in the model's context; a record that the reader navigated to remains
 * visible.
 */
function useShownItems(
  path: PathView,
  { view, focus, areRecordsShown = false }: Position,
): readonly ConversationItem[] {
  const { session } = usePage();
  const { current: revealed } = useRef(new Set<number>());
  if (focus !== NONE && isHiddenRecord(session, focus)) revealed.add(focus);
  const { size } = revealed;
  return useMemo(() => {
    if (view === "model") return path.modelItems;
    if (areRecordsShown) return path.items;
    return size === 0 ? path.shownItems : listShownItems(session, path.items, { revealed });
  }, [session, path, view, areRecordsShown, size]);
}

/**
 * Returns the row index of an entry; the last row if there is no entry; for an entry outside the list, the next row in the list.
 */
function findRow(
  items: readonly ConversationItem[],
  rowByOrdinal: ConversationRows["rowByOrdinal"],
  ordinal: number,
  path: PathView,
): number {
  const indexOnPath = (one: number) => path.indices.get(one) ?? 0;
  const shown = rowByOrdinal.has(ordinal)
    ? ordinal
    : items.find((item) => indexOnPath(item.ordinal) >= indexOnPath(ordinal))?.ordinal;
  const last = items.at(-1)?.ordinal ?? NONE;
  return rowByOrdinal.get((ordinal === NONE ? undefined : shown) ?? last) ?? -1;
}

/** Line that replaces compacted entries; a click shows them. */
function FoldedLine({ row, onToggle }: { row: FoldedRow; onToggle: () => void }) {
  const { kind, size, failed, isOpen } = row;
  return (
    <button type="button" class={`folded-line is-${kind}`} aria-expanded={isOpen} onClick={onToggle}>
      <ChevronIcon />
      <span>
        {formatCounted(size, "entry", "entries")} summarized: {COMPACTED_HINT}
        {failed > 0 && <span class="chip is-failed">{formatCount(failed)} failed</span>}
      </span>
      <span class="folded-action">{isOpen ? "Hide" : "Show"}</span>
    </button>
  );
}
