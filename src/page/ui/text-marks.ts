/** The name under which the style sheet knows the matches. */
const NAME = "found";

/** What the page says of an entry, in which nothing is searched. */
const NOT_SEARCHED = ".chip:not(.is-label), .sr-only, .entry-facts, .fold-size, .entry-id, time";

/** More matches than this are not marked at once. */
const MOST_RANGES = 2000;

/**
 * Marks every match of a text in an element, without changing the document; browsers that cannot do that show
 * no marks.
 *
 * @param wanted - Empty for no marks.
 */
export function markText(within: HTMLElement, wanted: string): void {
  if (!("highlights" in CSS)) return;
  const query = wanted.trim().toLowerCase();
  if (query === "") {
    CSS.highlights.delete(NAME);
    return;
  }
  CSS.highlights.set(NAME, new Highlight(...rangesOf(within, query)));
}

function rangesOf(within: HTMLElement, query: string): Range[] {
  const ranges: Range[] = [];
  const texts = document.createTreeWalker(within, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    if (node.parentElement?.closest(NOT_SEARCHED)) continue;
    const text = (node.nodeValue ?? "").toLowerCase();
    for (let at = text.indexOf(query); at !== -1; at = text.indexOf(query, at + query.length)) {
      if (ranges.length >= MOST_RANGES || at + query.length > (node.nodeValue ?? "").length) return ranges;
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + query.length);
      ranges.push(range);
    }
  }
  return ranges;
}
