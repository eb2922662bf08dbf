import { sha256 } from "../log/digest.ts";
import { storable } from "../stores/line-facts.ts";

/** Longer ids are kept as their hash: an index takes rows of some 2,700 bytes and no more. */
const MAX_KEY_UNITS = 256;

/** What hashes begin with. */
const HASHED = "sha256:";

/** Tells whether a column can hold a text as it is. */
export function isStorable(text: string): boolean {
  return storable(text) === text;
}

/** Returns the form in which a text stands in an indexed column: short, and no two texts have the same. */
export function columnKey(text: string): string {
  if (text.length <= MAX_KEY_UNITS && !text.startsWith(HASHED) && isStorable(text)) return text;
  return HASHED + sha256(text);
}

/**
 * Returns the form in which texts are compared whatever the case of their letters.
 *
 * Upper case, since what becomes of a letter does not depend on those around it: a part of a text stays a part.
 */
export function searchForm(text: string): string {
  return storable(text.toUpperCase());
}

/** Returns a pattern for LIKE that finds a text in `searchForm` as any part of another. */
export function partPattern(text: string): string {
  return `%${literalPattern(searchForm(text))}%`;
}

/** Returns a pattern for LIKE that finds exactly a text. */
export function literalPattern(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}
