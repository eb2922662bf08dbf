import { sha256 } from "../../session/fs/digest.ts";
import { storable } from "../contract/line-facts.ts";

/** Longer ids are stored as hashes: an index row has at most about 2,700 bytes. */
const MAX_KEY_UNITS = 256;

/** Prefix of hashes. */
const HASHED = "sha256:";

/** Tells whether a column can hold a text unchanged. */
export function isStorable(text: string): boolean {
  return storable(text) === text;
}

/** Returns the form of a text in an indexed column: short and unique. */
export function columnKey(text: string): string {
  if (text.length <= MAX_KEY_UNITS && !text.startsWith(HASHED) && isStorable(text)) return text;
  return HASHED + sha256(text);
}

/**
 * Returns the form of a text for case-insensitive search.
 *
 * Upper case, because it maps each letter independently of its neighbours: a part of a text stays a part.
 */
export function searchForm(text: string): string {
  return storable(text.toUpperCase());
}

/** Returns a LIKE pattern that matches texts that contain a text in `searchForm`. */
export function partPattern(text: string): string {
  return `%${literalPattern(searchForm(text))}%`;
}

/** Returns a LIKE pattern that matches exactly one text. */
export function literalPattern(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}

/**
 * Refuses a tenant that would not arrive unchanged: lone surrogates become U+FFFD.
 *
 * @throws {TypeError}
 */
export function assertTenant(tenant: unknown): void {
  if (typeof tenant === "string" && isStorable(tenant)) return;
  throw new TypeError("tenant must be a string without NUL and lone surrogates; choose another.");
}
