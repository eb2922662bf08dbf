import type { TextMatch } from "./text-matcher.ts";

/** Characters shown before and behind what was found. */
const AROUND = 60;

/** Characters shown of a text in which nothing was looked for. */
const BEGINNING = 200;

/** Characters of what was found itself, at most. */
const MAX_MATCH = 200;

/** A piece of text around what was found in it. */
export interface Snippet {
  /** One line; what is left out in front or behind is an ellipsis. */
  readonly snippet: string;
  /** Where in the snippet the fit stands: UTF-16 units. */
  readonly match: TextMatch;
}

/** Cuts out what stands around a fit, each run of white space as one space, and no character cut in half. */
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

/** Drops halves of characters, which a cut may leave at either end. */
function wellFormed(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
}
