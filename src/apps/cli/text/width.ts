const ELLIPSIS = "…";
const PLAIN_ASCII = /^[ -~]*$/;
/** Measures non-ASCII text; loading its package takes longer than almost everything else that a command does. */
let measure: ((text: string) => number) | undefined;

/** Blocks of characters that are two columns wide: East Asian letters, and pictographs. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/**
 * Loads the package that measures non-ASCII text; await it before writing to a terminal. Without it, widths are estimated, which
 * is sufficient for a pipe: no line is too long, but a column may be off by one.
 */
export async function loadWidths(): Promise<void> {
  if (measure === undefined) ({ default: measure } = await import("string-width"));
}

function measureText(text: string): number {
  return measure === undefined ? estimateWidth(text) : measure(text);
}

function estimateWidth(text: string): number {
  let columns = 0;
  for (const character of text) columns += WIDE.test(character) ? 2 : 1;
  return columns;
}

/** Created for the first non-ASCII string, because most commands display only ASCII. */
let graphemes: Intl.Segmenter | undefined;

/** Returns the user-perceived characters of a string. */
function splitCharacters(text: string): Intl.Segments {
  graphemes ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return graphemes.segment(text);
}

/** Returns the width of a string in a terminal, in columns, ignoring colors; wide characters take two columns. */
export function measureWidth(text: string): number {
  return PLAIN_ASCII.test(text) ? text.length : measureText(text);
}

/** Truncates a line without colors to a width, with an ellipsis in place of the omitted text; never splits a character. */
export function truncateLine(text: string, width: number): string {
  if (width === Number.POSITIVE_INFINITY) return text;
  const whole = truncateToWidth(text, width);
  if (whole.length === text.length) return text;
  return width < 1 ? "" : truncateToWidth(whole, width - 1).trimEnd() + ELLIPSIS;
}

/** Removes the beginning of a line without colors to fit a width, with an ellipsis in place of the omitted text. */
export function truncateStart(text: string, width: number): string {
  if (measureWidth(text) <= width) return text;
  if (width < 1) return "";
  const parts = Array.from(splitCharacters(text), ({ segment }) => segment);
  let used = 0;
  let start = parts.length;
  for (; start > 0; start--) {
    used += measureWidth(parts[start - 1] ?? "");
    if (used > width - 1) break;
  }
  return ELLIPSIS + parts.slice(start).join("").trimStart();
}

/** Truncates or pads a line to a width. */
export function fitColumn(text: string, width: number): string {
  const fitted = truncateLine(text, width);
  return fitted + " ".repeat(Math.max(0, width - measureWidth(fitted)));
}

/** Wraps uncolored text into one or more lines, between words or, if `breaksWords` is true, within long words. */
export function wrapText(text: string, width: number, breaksWords = true): string[] {
  if (width === Number.POSITIVE_INFINITY) return [text.replace(/\s+/g, " ")];
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (measureWidth(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== "") lines.push(line);
    line = word;
    while (breaksWords && measureWidth(line) > width) {
      const start = truncateToWidth(line, width);
      lines.push(start);
      line = line.slice(start.length);
    }
  }
  return [...lines, line];
}

/** Returns the longest beginning of a string that fits, in user-perceived characters. */
function truncateToWidth(text: string, width: number): string {
  if (PLAIN_ASCII.test(text)) return text.slice(0, Math.max(0, width));
  let used = 0;
  let end = 0;
  for (const { segment } of splitCharacters(text)) {
    used += measureText(segment);
    if (used > width) return text.slice(0, end);
    end += segment.length;
  }
  return text;
}
