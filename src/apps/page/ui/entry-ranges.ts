import type { TextMatch } from "../../../catalog/query/text-matcher.ts";
import type { Finder } from "../model/search.ts";

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
export function findHitRange(shown: Element, { best, all }: Finder): Range | undefined {
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
export function findErrorRange(shown: Element, line: string): Range | undefined {
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
export function markRanges(name: MarkName, ranges: readonly Range[]): void {
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
export function findRanges(
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
