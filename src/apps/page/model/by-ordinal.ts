import { NONE } from "../../../core/tree/entry-tree.ts";

/** Map from entry ordinals to indices; uses a fifth of the memory of a `Map` and is faster to build. */
export class ByOrdinal {
  readonly #indices: Int32Array;

  /** @param ordinals - All ordinals that may be assigned an index. */
  constructor(ordinals: Iterable<number>) {
    let last = NONE;
    for (const ordinal of ordinals) last = Math.max(last, ordinal);
    this.#indices = new Int32Array(last + 1).fill(NONE);
  }

  /** Returns the index of an entry; undefined if it has no index. */
  get(ordinal: number): number | undefined {
    const index = this.#indices[ordinal];
    return index === NONE ? undefined : index;
  }

  has(ordinal: number): boolean {
    return this.get(ordinal) !== undefined;
  }

  /** @param index - At least 0. */
  set(ordinal: number, index: number): void {
    this.#indices[ordinal] = index;
  }
}
