import type { IdKey } from "../schema/id-key.ts";
import { NONE } from "../tree/entry-tree.ts";
import type { LineSpan, LineSpans } from "./line-spans.ts";

/** Lines of the same digest that are compared byte by byte; more are made on purpose. */
const MAX_COMPARED = 8;

/**
 * Finds a line whose id is taken among those that stand in the file before, byte for byte.
 *
 * @remarks Cost: O(bytes of the line) each time, however many lines have the same id.
 */
export class RepeatedLines {
  readonly #places: LineSpans;
  readonly #readBytes: (offset: number, length: number) => Uint8Array;
  /** By id, the bearers of the id by digest of their lines. */
  readonly #bearers = new Map<IdKey, Map<string, number[]>>();

  constructor(places: LineSpans, readBytes: (offset: number, length: number) => Uint8Array) {
    this.#places = places;
    this.#readBytes = readBytes;
  }

  /**
   * Compares a line with those of all entries that came with its id.
   *
   * @param first - The first of them.
   * @param next - Ordinal that the line's entry gets if it is not a repeated one.
   * @returns Ordinal of the entry with the same line, or NONE.
   */
  find(id: IdKey, first: number, place: LineSpan, next: number): number {
    const bearers = this.#bearersOf(id, first);
    const line = this.#lineAt(place);
    const digest = digestOf(line);
    const alike = bearers.get(digest) ?? [];
    const same = alike.find((one) => isEqual(this.#lineAt(this.#places.at(one)), line));
    if (same !== undefined) return same;
    if (alike.length < MAX_COMPARED) bearers.set(digest, [...alike, next]);
    return NONE;
  }

  #bearersOf(id: IdKey, first: number): Map<string, number[]> {
    let bearers = this.#bearers.get(id);
    if (bearers === undefined) {
      bearers = new Map([[digestOf(this.#lineAt(this.#places.at(first))), [first]]]);
      this.#bearers.set(id, bearers);
    }
    return bearers;
  }

  /** The bytes of a line, trailing white space left out: whether it has been read to its end must make no difference. */
  #lineAt({ offset, length }: LineSpan): Uint8Array {
    const bytes = this.#readBytes(offset, length);
    let end = bytes.length;
    while (end > 0 && (bytes[end - 1] === 0x20 || bytes[end - 1] === 0x09 || bytes[end - 1] === 0x0d)) end--;
    return bytes.subarray(0, end);
  }
}

/** Length and FNV-1a of the bytes: lines that differ in either are not equal. */
function digestOf(bytes: Uint8Array): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193);
  return `${bytes.length} ${hash}`;
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
