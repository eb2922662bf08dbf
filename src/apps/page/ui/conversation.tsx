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
  /** Receives the entry that the reader is viewing. */
  readonly sight: Sight;
}

/** Entries of a path, or the messages that the model receives from them. */
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
    // Opened rows and new entries do not request the focus again; a list that starts over does.
    [reveal, folds.areAllOpen],
  );
  const toggle = ({ kind, ordinal, isOpen: isShown }: FoldedRow) => {
    folds.set(ordinal, kind, !isShown);
    // The focused entry keeps its line open, so folding the line drops the focus.
    if (isShown) go({ go: "position", position: { ...position, focus: NONE, reveal: undefined } });
    redraw((times) => times + 1);
  };
  // Words are marked after the visible rows have been drawn; scrolling triggers this many times a second.
  const marked = useRef(0);
  const drawn = useRef<HTMLElement | undefined>(undefined);
  const focused = session.entryAt(focus);
  const errorLine = findErrorLine(focused);
  // A result is somewhere in the row of its call, and a hit or an error somewhere in a text; both may be taller than the screen.
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
      // Another list starts where it was left, with its own heights.
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
  return useMemo(
    () =>
      view === "model" ? path.modelItems : listShownItems(session, path.items, { areRecordsShown, revealed }),
    [session, path, view, areRecordsShown, size],
  );
}

/** Finds matches in an entry's own content, not in the results that share the row of its calls. */
function findEntryRanges(shown: Element, find: Parameters<typeof findRanges>[1]): Range[] {
  const isResult = shown.matches(".tool-use");
  return findRanges(shown, find, (element) =>
    isResult
      ? element.closest(".result") === null
      : element.closest("[data-entry]") !== shown && element.closest(".result") !== null,
  );
}

/**
 * Returns the range of an entry's search hit: the whole match if possible, and in opened content rather than in a line that is
 * always shown.
 */
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

/** Returns the range of the line that states a shown entry's error: the last such line, as in `findErrorLine`. */
function findErrorRange(shown: Element, line: string): Range | undefined {
  if (line === "") return undefined;
  const ranges = findEntryRanges(shown, (text) => {
    const start = text.lastIndexOf(line);
    return start === -1 ? [] : [{ start, length: line.length }];
  });
  const shownOnDemand = ranges.filter((range) => !isInSummary(range));
  // The data that a program stores with a result may repeat the line.
  return shownOnDemand.findLast((range) => startsWithin(range, ".output")) ?? shownOnDemand.at(-1);
}

function startsWithin({ startContainer }: Range, selector: string): boolean {
  return Boolean(startContainer.parentElement?.closest(selector));
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

/** Kinds of rows. An entry can have one row of each kind. */
const ROW_KINDS: readonly ConversationRow["kind"][] = ["entry", "compacted"];

function EmptyConversation({ isModel }: { isModel: boolean }) {
  return (
    <div class="empty">{isModel ? "The model sees nothing here." : "This session has no entries yet."}</div>
  );
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

/** Selectors of the page's own text about an entry, which is not searched. */
const NOT_SEARCHED = ".chip:not(.is-label), .sr-only, .entry-facts, .fold-size, .entry-id, .copy-code, time";

/** Selectors of block elements; a match may span several elements inside a block. */
const BLOCKS =
  "pre, .pre, p, li, td, th, h2, h3, h4, h5, h6, summary, button, .diff-text, span.entry-excerpt";

/** Maximum number of matches that are marked at once. */
const MAX_RANGES = 2000;

/** Names of the highlights in the style sheet: search hits, and the line of an error. */
type MarkName = "found" | "error-line";

/** Marks ranges without changing the document; browsers that do not support this feature do not show marks. */
function markRanges(name: MarkName, ranges: readonly Range[]): void {
  if (!("highlights" in CSS)) return;
  if (ranges.length === 0) CSS.highlights.delete(name);
  else CSS.highlights.set(name, new Highlight(...ranges));
}

/** Text of the document, and the offset of each of its nodes. */
interface BlockText {
  text: string;
  readonly nodes: { readonly node: Text; readonly start: number }[];
}

/**
 * Finds matches in the text that an element shows, in document order.
 *
 * @param isLeftOut - Returns whether the text of an element is skipped.
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

/**
 * Number of frames without movement that must pass before scrolling. The list itself scrolls to the row of an entry, and again
 * when newly drawn rows change their heights.
 */
const STILL_FRAMES = 3;

/** Number of frames after which scrolling is left to the reader. */
const MAX_FRAMES = 40;

/** Pixels kept free around a scroll target; the same value as in the style sheet. */
const SCROLL_MARGIN = 8;

/** Minimum visible height of text for a position to be revealed in it, in pixels. */
const MIN_SEEN = 80;

/** Target to scroll into view. */
interface Wanted {
  /** Id of the entry. */
  readonly id: string;
  /** Finds the position to reveal in the shown entry; undefined if there is nothing to reveal. */
  readonly findSpot: (entry: HTMLElement) => Range | undefined;
}

/**
 * Scrolls a result, or a position in an entry, into view after its list has stopped moving, because the target row may be taller
 * than the screen.
 *
 * @param getList - Returns the list that is currently in the document.
 * @returns A function that cancels the scrolling.
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

/** Scrolls to the target; returns whether the list moved. */
function scrollTo(list: HTMLElement, shown: HTMLElement, spot: Range | undefined): boolean {
  const before = list.scrollTop;
  // For other entries the list's own scrolling is enough.
  if (shown.matches(".tool-use")) scrollToResult(list, shown);
  if (spot !== undefined) scrollToSpot(list, spot);
  return list.scrollTop !== before;
}

function scrollToResult(list: HTMLElement, result: HTMLElement): void {
  // The heading of its turn stays in view if it is near; for a result taller than the screen, its beginning stays in view.
  const turn = result.closest(".entry") ?? result;
  const distance = result.getBoundingClientRect().top - turn.getBoundingClientRect().top;
  const shown = distance < list.clientHeight / 2 ? turn : result;
  const fits = shown.clientHeight + 2 * SCROLL_MARGIN <= list.clientHeight;
  shown.scrollIntoView({ block: fits ? "nearest" : "start" });
}

/** Scrolls the text that contains a position, and scrolls the list only as far as necessary. */
function scrollToSpot(list: HTMLElement, spot: Range): void {
  const text = spot.startContainer.parentElement?.closest(".code > *");
  const whole = list.getBoundingClientRect();
  if (text) {
    const frame = text.getBoundingClientRect();
    const { top, bottom } = spot.getBoundingClientRect();
    const [from, to] = [Math.max(frame.top, whole.top), Math.min(frame.bottom, whole.bottom)];
    const isOutside = top < from + SCROLL_MARGIN || bottom > to - SCROLL_MARGIN;
    // If no part of the text is in view, the list will show its upper part.
    const [seen, height] = to - from < MIN_SEEN ? [frame.top, frame.height] : [from, to - from];
    if (isOutside) text.scrollTop += top - seen - height / 3;
  }
  const { top, bottom } = spot.getBoundingClientRect();
  // A near spot moves as little as possible, so that the heading of its turn stays in view.
  const [below, above] = [bottom - whole.bottom + SCROLL_MARGIN, whole.top + SCROLL_MARGIN - top];
  const margin = Math.max(below, above) < whole.height / 2 ? 2 * SCROLL_MARGIN : whole.height / 3;
  if (below > 0) list.scrollTop += below + margin;
  else if (above > 0) list.scrollTop -= above + margin;
}
