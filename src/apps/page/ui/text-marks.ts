import type { TextMatch } from "../../../catalog/query/text-matcher.ts";

/** What the page says of an entry, in which nothing is searched. */
const NOT_SEARCHED = ".chip:not(.is-label), .sr-only, .entry-facts, .fold-size, .entry-id, .copy-code, time";

/** What holds a text of its own, in which a match may go over the borders of the elements within. */
const BLOCKS =
  "pre, .pre, p, li, td, th, h2, h3, h4, h5, h6, summary, button, .diff-text, span.entry-excerpt";

/** More matches than this are not marked at once. */
const MOST_RANGES = 2000;

/** The names under which the style sheet knows what is marked: what was found, and the line of an error. */
export type MarkName = "found" | "error-line";

/** Marks ranges without changing the document; browsers that cannot do that show no marks. */
export function mark(name: MarkName, ranges: readonly Range[]): void {
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
export function rangesIn(
  within: Element,
  find: (text: string) => readonly TextMatch[],
  isLeftOut: (element: Element) => boolean = () => false,
): Range[] {
  const ranges: Range[] = [];
  for (const block of blocksIn(within, isLeftOut)) {
    for (const { start, length } of find(block.text)) {
      if (ranges.length >= MOST_RANGES) return ranges;
      ranges.push(rangeOf(block, start, start + length));
    }
  }
  return ranges;
}

function blocksIn(within: Element, isLeftOut: (element: Element) => boolean): Iterable<BlockText> {
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

function rangeOf({ nodes }: BlockText, start: number, end: number): Range {
  const range = new Range();
  const first = nodes.findLast((one) => one.start <= start);
  const last = nodes.findLast((one) => one.start < end) ?? first;
  if (first !== undefined) range.setStart(first.node, start - first.start);
  if (last !== undefined) range.setEnd(last.node, end - last.start);
  return range;
}
