import type { AnySessionEntry } from "../schema/entry.ts";

/** Entries in a page: few entries among many take little room then, and a page is found by a shift. */
const PAGE_BITS = 10;
const PAGE_SIZE = 1 << PAGE_BITS;

/** So many places of entries that have gone are dropped together. */
const MAX_FORGOTTEN = 4096;

interface Page {
  readonly entries: (AnySessionEntry | undefined)[];
  count: number;
}

/**
 * Entries by ordinal, which go in the order in which they came.
 *
 * Pages and columns instead of a `Map` and an object for each: every append and every body that is read comes by here.
 *
 * @remarks Cost: O(1) per call.
 */
export class StrongCache {
  readonly #pages: (Page | undefined)[] = [];
  /** Ordinals and bytes in order of arrival, from `#oldest` on. */
  #ordinals: number[] = [];
  #sizes: number[] = [];
  #oldest = 0;
  #bytes = 0;

  /** Bytes of the lines of all entries. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Number of arrivals that have not gone. */
  get count(): number {
    return this.#ordinals.length - this.#oldest;
  }

  get(ordinal: number): AnySessionEntry | undefined {
    return this.#pages[ordinal >> PAGE_BITS]?.entries[ordinal & (PAGE_SIZE - 1)];
  }

  /** Adds an entry as the latest; one that came for the same ordinal before makes way. */
  add(ordinal: number, entry: AnySessionEntry, bytes: number): void {
    this.#put(ordinal, entry);
    this.#ordinals.push(ordinal);
    this.#sizes.push(bytes);
    this.#bytes += bytes;
  }

  /** Puts an entry in the place of one that is there. */
  replace(ordinal: number, entry: AnySessionEntry): void {
    this.#put(ordinal, entry);
  }

  /** Lets the oldest arrival go, and gives its entry; undefined if that has gone with an earlier arrival. */
  removeOldest(): { readonly ordinal: number; readonly entry: AnySessionEntry } | undefined {
    const ordinal = this.#ordinals[this.#oldest];
    if (ordinal === undefined) return undefined;
    this.#bytes -= this.#sizes[this.#oldest] ?? 0;
    if (++this.#oldest >= MAX_FORGOTTEN) {
      this.#ordinals = this.#ordinals.slice(this.#oldest);
      this.#sizes = this.#sizes.slice(this.#oldest);
      this.#oldest = 0;
    }
    const entry = this.get(ordinal);
    if (entry === undefined) return undefined;
    this.#remove(ordinal);
    return { ordinal, entry };
  }

  /** Yields all with their ordinals, in ascending order. */
  *[Symbol.iterator](): Generator<[number, AnySessionEntry], void> {
    for (const [number, page] of this.#pages.entries()) {
      for (const [place, entry] of (page?.entries ?? []).entries()) {
        if (entry !== undefined) yield [number * PAGE_SIZE + place, entry];
      }
    }
  }

  #put(ordinal: number, entry: AnySessionEntry): void {
    const number = ordinal >> PAGE_BITS;
    const place = ordinal & (PAGE_SIZE - 1);
    let page = this.#pages[number];
    if (page === undefined) {
      page = { entries: new Array<AnySessionEntry | undefined>(PAGE_SIZE).fill(undefined), count: 0 };
      this.#pages[number] = page;
    }
    if (page.entries[place] === undefined) page.count++;
    page.entries[place] = entry;
  }

  #remove(ordinal: number): void {
    const number = ordinal >> PAGE_BITS;
    const page = this.#pages[number];
    if (page === undefined) return;
    page.entries[ordinal & (PAGE_SIZE - 1)] = undefined;
    if (--page.count === 0) this.#pages[number] = undefined;
  }
}
