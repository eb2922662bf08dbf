import { getOrAdd } from "../format/group-by.ts";
import type { IdKey } from "../format/id-key.ts";
import { NONE } from "../tree/entry-tree.ts";
import type { LineSpan, LineSpans } from "./line-spans.ts";

/** Maximum number of lines with the same digest to compare byte by byte. Only malicious files contain more. */
const MAX_COMPARED = 8;

/**
 * Finds earlier lines with the same id and the same bytes.
 *
 * @remarks Cost: O(bytes of the line) per call, regardless of the number of lines with the same id.
 */
export class RepeatedLines {
  readonly #places: LineSpans;
  readonly #readBytes: (offset: number, length: number) => Uint8Array;
  /** For each id, its entries by the digest of their lines. */
  readonly #bearers = new Map<IdKey, Map<string, number[]>>();

  constructor(places: LineSpans, readBytes: (offset: number, length: number) => Uint8Array) {
    this.#places = places;
    this.#readBytes = readBytes;
  }

  /**
   * Compares a line with the lines of all entries that have the same id. Returns the ordinal of the entry with an equal line, or
   * NONE.
   */
  find(id: IdKey, first: number, place: LineSpan, next: number): number {
    const bearers = this.#getBearers(id, first);
    const line = this.#lineAt(place);
    const digest = hashBytes(line);
    const alike = bearers.get(digest) ?? [];
    const same = alike.find((one) => areEqualBytes(this.#lineAt(this.#places.at(one)), line));
    if (same !== undefined) return same;
    if (alike.length < MAX_COMPARED) bearers.set(digest, [...alike, next]);
    return NONE;
  }

  #getBearers(id: IdKey, first: number): Map<string, number[]> {
    return getOrAdd(
      this.#bearers,
      id,
      () => new Map([[hashBytes(this.#lineAt(this.#places.at(first))), [first]]]),
    );
  }

  /** Returns the bytes of a line without trailing white space, so that the result does not depend on whether its end was read. */
  #lineAt({ offset, length }: LineSpan): Uint8Array {
    const bytes = this.#readBytes(offset, length);
    let end = bytes.length;
    while (end > 0 && (bytes[end - 1] === 0x20 || bytes[end - 1] === 0x09 || bytes[end - 1] === 0x0d)) end--;
    return bytes.subarray(0, end);
  }
}

/** Returns the length and FNV-1a hash of bytes. */
function hashBytes(bytes: Uint8Array): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193);
  return `${bytes.length} ${hash}`;
}

/** Returns whether two arrays contain the same bytes. */
export function areEqualBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
