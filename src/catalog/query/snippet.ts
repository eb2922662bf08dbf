import type { TextMatch } from "./text-matcher.ts";

const AROUND = 60;

/** Characters shown of a text in which nothing was looked for. */
const BEGINNING = 200;

const MAX_MATCH = 200;

/** A piece of text around a match. */
export interface Snippet {
  /** One line, with an ellipsis where text was cut. */
  readonly snippet: string;
  /** The match within the snippet, in UTF-16 units. */
  readonly match: TextMatch;
}

/** Cuts out the text around a match: runs of white space become one space, and no character is cut in half. */
export function snippetOf(text: string, { start, length }: TextMatch): Snippet {
  const end = start + Math.min(length, MAX_MATCH);
  const behind = end + (length === 0 ? BEGINNING : AROUND);
  const before = onOneLine(wellFormed(text.slice(Math.max(0, start - AROUND), start))).trimStart();
  const found = onOneLine(wellFormed(text.slice(start, end)));
  const after = onOneLine(wellFormed(text.slice(end, behind))).trimEnd();
  const front = `${start > AROUND ? "…" : ""}${before}`;
  const snippet = `${front}${found}${after}${behind < text.length ? "…" : ""}`;
  return { snippet, match: { start: front.length, length: found.length } };
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}

/** Drops halves of characters at either end of a cut. */
function wellFormed(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
}
