import type { AnySessionEntry } from "../../core/format/entry.ts";

/** Bits of the number of entries in a page: sparse entries take little room, and a shift finds their page. */
const PAGE_BITS = 10;
const PAGE_SIZE = 1 << PAGE_BITS;

/** How many places of removed entries are dropped together. */
const MAX_FORGOTTEN = 4096;

interface Page {
  readonly entries: (AnySessionEntry | undefined)[];
  count: number;
}

/**
 * Entries by ordinal, removed in the order in which they were added.
 *
 * Uses pages and columns rather than a `Map` of objects, because every append and every parsed body passes here.
 */
export class StrongCache {
  readonly #pages: (Page | undefined)[] = [];
  /** Ordinals and bytes in the order of addition, from `#oldest` on. */
  #ordinals: number[] = [];
  #sizes: number[] = [];
  #oldest = 0;
  #bytes = 0;

  /** Total bytes of the entries' lines. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Number of additions that were not removed. */
  get count(): number {
    return this.#ordinals.length - this.#oldest;
  }

  get(ordinal: number): AnySessionEntry | undefined {
    return this.#pages[ordinal >> PAGE_BITS]?.entries[ordinal & (PAGE_SIZE - 1)];
  }

  /** Adds an entry as the latest, in place of an earlier one with the same ordinal. */
  add(ordinal: number, entry: AnySessionEntry, bytes: number): void {
    this.#put(ordinal, entry);
    this.#ordinals.push(ordinal);
    this.#sizes.push(bytes);
    this.#bytes += bytes;
  }

  /** Replaces a cached entry. */
  replace(ordinal: number, entry: AnySessionEntry): void {
    this.#put(ordinal, entry);
  }

  /** Removes the oldest addition and returns its entry; undefined if the entry was removed before. */
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

  /** Yields all entries with their ordinals, in ascending order. */
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
