import { NONE } from "../../../core/tree/entry-tree.ts";

/** Map from entry ordinals to indices; uses a fifth of the memory of a `Map` and is faster to build. */
export class ByOrdinal {
  readonly #indices: Int32Array;

  /** @param size - Upper bound of the ordinals: each of them is less. */
  constructor(size: number) {
    this.#indices = new Int32Array(size).fill(NONE);
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
