import { useCallback, useContext, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { TextMatch } from "../../../catalog/query/text-matcher.ts";
import { formatCount, formatCounted } from "../../../core/facts/number-text.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import type {
  ConversationItem,
  ConversationRow,
  ConversationRows,
  FoldedRow,
} from "../model/conversation-rows.ts";
import { findErrorLine } from "../model/entry-text.ts";
import type { Position } from "../model/navigation.ts";
import { COMPACTED_HINT, type PathView } from "../model/path-items.ts";
import { estimateHeight } from "../model/row-height.ts";
import type { Finder } from "../model/search.ts";
import { isHiddenRecord } from "../model/session-model.ts";
import { listShownItems } from "../model/shown-items.ts";
import { EntryCard } from "./entry-card.tsx";
import { FoldsContext } from "./fold.tsx";
import { ChevronIcon } from "./icons.tsx";
import { usePage } from "./page-context.ts";
import { useConversationRows } from "./use-conversation-rows.ts";
import type { Sight } from "./viewport.ts";
import { VirtualList } from "./virtual-list.tsx";

interface ConversationProps {
  readonly path: PathView;
  readonly position: Position;
  /** Told what is looked at. */
  readonly sight: Sight;
}

/** The entries of a path, or what the model gets of them. */
export function Conversation({ path, position, sight }: ConversationProps) {
  const { find, session, go } = usePage();
  const folds = useContext(FoldsContext);
  const { focus, reveal, view, end } = position;
  const items = useShownItems(path, position);
  const [version, redraw] = useState(0);
  const { rows, rowByOrdinal } = useConversationRows({ items, folds, focus, version });
  const jump = useMemo(
    () =>
      reveal === undefined
        ? undefined
        : { index: findRow(items, rowByOrdinal, focus, path), align: reveal.align },
    // Rows that open, or a session that grows, do not ask for the focus anew; a list that begins anew does.
    [reveal, folds.areAllOpen],
  );
  const toggle = ({ kind, ordinal, isOpen: isShown }: FoldedRow) => {
    folds.set(ordinal, kind, !isShown);
    // What is looked at keeps its line open: a reader who folds it looks elsewhere.
    if (isShown) go({ go: "position", position: { ...position, focus: NONE, reveal: undefined } });
    redraw((times) => times + 1);
  };
  // Words are marked when what is in sight has been drawn, which scrolling asks for many times a second.
  const marked = useRef(0);
  const drawn = useRef<HTMLElement | undefined>(undefined);
  const focused = session.entryAt(focus);
  const errorLine = findErrorLine(focused);
  // A result stands somewhere in the row of its call, and a hit or an error in a text, which may be longer than the screen.
  useLayoutEffect(() => {
    if (reveal === undefined || focused === undefined) return undefined;
    const findSpot = (shown: HTMLElement) =>
      reveal.isHit ? findHitRange(shown, find) : findErrorRange(shown, errorLine);
    return bringIntoSight(() => drawn.current, { id: focused.id, findSpot });
  }, [reveal]);
  const onDrawn = useCallback(
    (list: HTMLElement) => {
      drawn.current = list;
      cancelAnimationFrame(marked.current);
      marked.current = requestAnimationFrame(() => {
        markRanges("found", findRanges(list, find.all));
        const shown = list.querySelector(".is-focused");
        const range = shown === null ? undefined : findErrorRange(shown, errorLine);
        markRanges("error-line", range === undefined ? [] : [range]);
      });
    },
    [find, errorLine],
  );
  const onRange = (first: number, last: number) => {
    const index = rowByOrdinal.get(focus) ?? NONE;
    const hasFocus = index >= first && index <= last;
    const isAtEnd = first > 0 && last === rows.length - 1;
    sight.move(hasFocus ? focus : (rows[first]?.ordinal ?? end), isAtEnd && !hasFocus);
  };
  if (items.length === 0) return <EmptyConversation isModel={view === "model"} />;
  return (
    <VirtualList
      // Another list begins where it was left, with its own heights.
      key={`${view}:${folds.areAllOpen}`}
      class="conversation"
      label={view === "model" ? "What the model sees" : "Conversation"}
      items={rows}
      getKey={({ kind, ordinal }) => ordinal * ROW_KINDS.length + ROW_KINDS.indexOf(kind)}
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

/** Returns what is shown of the path, or all that the model gets of it; a record that the reader was led to stays shown. */
function useShownItems(
  path: PathView,
  { view, focus, areRecordsShown = false }: Position,
): readonly ConversationItem[] {
  const { session } = usePage();
  const { current: revealed } = useRef(new Set<number>());
  if (focus !== NONE && isHiddenRecord(session, focus)) revealed.add(focus);
  const { size } = revealed;
  return useMemo(
    () =>
      view === "model" ? path.modelItems : listShownItems(session, path.items, { areRecordsShown, revealed }),
    [session, path, view, areRecordsShown, size],
  );
}

/** Finds matches in what an entry shows itself, not in the results that stand with its calls. */
function findEntryRanges(shown: Element, find: Parameters<typeof findRanges>[1]): Range[] {
  const isResult = shown.matches(".tool-use");
  return findRanges(shown, find, (element) =>
    isResult
      ? element.closest(".result") === null
      : element.closest("[data-entry]") !== shown && element.closest(".result") !== null,
  );
}

/** Where an entry has what was looked for: all of it if possible, and in what was opened rather than in a line that is always shown. */
function findHitRange(shown: Element, { best, all }: Finder): Range | undefined {
  const ranges = findEntryRanges(shown, (text) => {
    const match = best(text);
    return match === undefined ? [] : [match];
  });
  const [first] = ranges;
  return ranges.find((range) => !isInSummary(range)) ?? first ?? findEntryRanges(shown, all)[0];
}

function isInSummary(range: Range): boolean {
  return startsWithin(range, ".fold-summary");
}

/** Where an entry that is shown has the line that names its error: the last such line, as when it is looked for. */
function findErrorRange(shown: Element, line: string): Range | undefined {
  if (line === "") return undefined;
  const ranges = findEntryRanges(shown, (text) => {
    const start = text.lastIndexOf(line);
    return start === -1 ? [] : [{ start, length: line.length }];
  });
  const shownOnDemand = ranges.filter((range) => !isInSummary(range));
  // What a program stores with a result may repeat it.
  return shownOnDemand.findLast((range) => startsWithin(range, ".output")) ?? shownOnDemand.at(-1);
}

function startsWithin({ startContainer }: Range, selector: string): boolean {
  return Boolean(startContainer.parentElement?.closest(selector));
}

/** The row of an entry; without one, the last; where it is not in the list, that of the next one that is. */
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

/** Kinds of rows, which tell the rows of an entry apart. */
const ROW_KINDS: readonly ConversationRow["kind"][] = ["entry", "compacted"];

function EmptyConversation({ isModel }: { isModel: boolean }) {
  return (
    <div class="empty">{isModel ? "The model sees nothing here." : "This session has no entries yet."}</div>
  );
}

/** One line that stands for what was compacted, and opens it. */
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

/** What the page says of an entry, in which nothing is searched. */
const NOT_SEARCHED = ".chip:not(.is-label), .sr-only, .entry-facts, .fold-size, .entry-id, .copy-code, time";

/** What holds a text of its own, in which a match may go over the borders of the elements within. */
const BLOCKS =
  "pre, .pre, p, li, td, th, h2, h3, h4, h5, h6, summary, button, .diff-text, span.entry-excerpt";

/** More matches than this are not marked at once. */
const MAX_RANGES = 2000;

/** The names under which the style sheet knows what is marked: what was found, and the line of an error. */
type MarkName = "found" | "error-line";

/** Marks ranges without changing the document; browsers that cannot do that show no marks. */
function markRanges(name: MarkName, ranges: readonly Range[]): void {
  if (!("highlights" in CSS)) return;
  if (ranges.length === 0) CSS.highlights.delete(name);
  else CSS.highlights.set(name, new Highlight(...ranges));
}

/** A text of the document, and where each of its nodes begins in it. */
interface BlockText {
  text: string;
  readonly nodes: { readonly node: Text; readonly start: number }[];
}

/**
 * Finds matches in what an element shows, in the order of the document.
 *
 * @param isLeftOut - Elements whose text does not count.
 */
function findRanges(
  within: Element,
  find: (text: string) => readonly TextMatch[],
  isLeftOut: (element: Element) => boolean = () => false,
): Range[] {
  const ranges: Range[] = [];
  for (const block of collectBlocks(within, isLeftOut)) {
    for (const { start, length } of find(block.text)) {
      if (ranges.length >= MAX_RANGES) return ranges;
      ranges.push(makeRange(block, start, start + length));
    }
  }
  return ranges;
}

function collectBlocks(within: Element, isLeftOut: (element: Element) => boolean): Iterable<BlockText> {
  const blocks = new Map<Element, BlockText>();
  const texts = document.createTreeWalker(within, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const parent = node.parentElement;
    if (!(node instanceof Text) || parent === null || parent.closest(NOT_SEARCHED) || isLeftOut(parent))
      continue;
    const element = parent.closest(BLOCKS) ?? parent;
    const block = blocks.get(element) ?? { text: "", nodes: [] };
    blocks.set(element, block);
    block.nodes.push({ node, start: block.text.length });
    block.text += node.data;
  }
  return blocks.values();
}

function makeRange({ nodes }: BlockText, start: number, end: number): Range {
  const range = new Range();
  const first = nodes.findLast((one) => one.start <= start);
  const last = nodes.findLast((one) => one.start < end) ?? first;
  if (first !== undefined) range.setStart(first.node, start - first.start);
  if (last !== undefined) range.setEnd(last.node, end - last.start);
  return range;
}

/** The list itself scrolls to the row of an entry, and again when rows that are drawn first change their heights. */
const STILL_FRAMES = 3;

/** After so many frames the list is left to the reader. */
const MAX_FRAMES = 40;

/** Pixels that stay free around what is scrolled to; the style sheet has the same. */
const SCROLL_MARGIN = 8;

/** Pixels of a text that must be in sight for a spot to be shown there. */
const MIN_SEEN = 80;

/** What is brought into sight. */
interface Wanted {
  /** Id of the entry. */
  readonly id: string;
  /** Finds the spot in what the entry shows that the reader came for; undefined if there is none. */
  readonly findSpot: (entry: HTMLElement) => Range | undefined;
}

/**
 * Scrolls a result, or a spot in an entry, into sight once its list stands still: its row, to which the list scrolls, may be
 * longer than the screen.
 *
 * @param getList - Gives the list that is in the document at the moment.
 * @returns Gives up.
 */
function bringIntoSight(getList: () => HTMLElement | undefined, { id, findSpot }: Wanted): () => void {
  let [frames, still, before] = [0, 0, Number.NaN];
  let request = requestAnimationFrame(function look() {
    const list = getList();
    const shown = list?.querySelector(".is-focused");
    if (++frames > MAX_FRAMES) return;
    if (list !== undefined && shown instanceof HTMLElement && shown.dataset["entry"] === id) {
      const { top } = shown.getBoundingClientRect();
      still = top === before ? still + 1 : 0;
      before = top;
      if (still === STILL_FRAMES && !scrollTo(list, shown, findSpot(shown))) return;
    }
    request = requestAnimationFrame(look);
  });
  return () => cancelAnimationFrame(request);
}

/** Tells whether that moved the list. */
function scrollTo(list: HTMLElement, shown: HTMLElement, spot: Range | undefined): boolean {
  const before = list.scrollTop;
  // Of other entries the list does enough.
  if (shown.matches(".tool-use")) scrollToResult(list, shown);
  if (spot !== undefined) scrollToSpot(list, spot);
  return list.scrollTop !== before;
}

function scrollToResult(list: HTMLElement, result: HTMLElement): void {
  // The heading of its turn stays in sight if it is near; of what is longer than the screen, the beginning does.
  const turn = result.closest(".entry") ?? result;
  const distance = result.getBoundingClientRect().top - turn.getBoundingClientRect().top;
  const shown = distance < list.clientHeight / 2 ? turn : result;
  const fits = shown.clientHeight + 2 * SCROLL_MARGIN <= list.clientHeight;
  shown.scrollIntoView({ block: fits ? "nearest" : "start" });
}

/** Scrolls the text in which a spot stands, and the list only as far as that does not show the spot. */
function scrollToSpot(list: HTMLElement, spot: Range): void {
  const text = spot.startContainer.parentElement?.closest(".code > *");
  const whole = list.getBoundingClientRect();
  if (text) {
    const frame = text.getBoundingClientRect();
    const { top, bottom } = spot.getBoundingClientRect();
    const [from, to] = [Math.max(frame.top, whole.top), Math.min(frame.bottom, whole.bottom)];
    const isOutside = top < from + SCROLL_MARGIN || bottom > to - SCROLL_MARGIN;
    // Of a text of which nothing is in sight the list will show the upper part.
    const [seen, height] = to - from < MIN_SEEN ? [frame.top, frame.height] : [from, to - from];
    if (isOutside) text.scrollTop += top - seen - height / 3;
  }
  const { top, bottom } = spot.getBoundingClientRect();
  // What is near stays where it is as far as possible, with the heading of its turn.
  const [below, above] = [bottom - whole.bottom + SCROLL_MARGIN, whole.top + SCROLL_MARGIN - top];
  const margin = Math.max(below, above) < whole.height / 2 ? 2 * SCROLL_MARGIN : whole.height / 3;
  if (below > 0) list.scrollTop += below + margin;
  else if (above > 0) list.scrollTop -= above + margin;
}
