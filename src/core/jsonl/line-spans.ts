import { withRoom } from "../tree/columns.ts";

/** Position of an entry's line in its file. */
export interface LineSpan {
  /** Byte offset of the line. */
  readonly offset: number;
  /** Number of bytes without the line break. */
  readonly length: number;
  /** 1-based line number. */
  readonly line: number;
}

/** Line spans of all entries, by ordinal. */
export interface LineSpans {
  at(ordinal: number): LineSpan;
  offsetAt(ordinal: number): number;
  lengthAt(ordinal: number): number;
  /** Sorts ordinals in file order, which may differ from numeric order if other processes wrote to the file. */
  inFileOrder(given: Iterable<number>): Int32Array;
  /** Returns the ordinals of all `count` entries in file order. */
  allInFileOrder(count: number): Int32Array;
}

/** Line spans of a large session. Each takes 16 bytes. */
export class SpanColumns implements LineSpans {
  #offsets = new Float64Array(0);
  #lengths = new Uint32Array(0);
  #lines = new Uint32Array(0);

  /** Reserves memory for a number of entries. */
  reserve(entries: number): void {
    this.#offsets = withRoom(this.#offsets, entries);
    this.#lengths = withRoom(this.#lengths, entries);
    this.#lines = withRoom(this.#lines, entries);
  }

  set(ordinal: number, offset: number, length: number, line: number): void {
    if (ordinal >= this.#offsets.length) this.reserve(ordinal + 1);
    this.#offsets[ordinal] = offset;
    this.#lengths[ordinal] = length;
    this.#lines[ordinal] = line;
  }

  at(ordinal: number): LineSpan {
    return {
      offset: this.offsetAt(ordinal),
      length: this.lengthAt(ordinal),
      line: this.#lines[ordinal] ?? 0,
    };
  }

  inFileOrder(given: Iterable<number>): Int32Array {
    return this.#sorted(Int32Array.from(given));
  }

  allInFileOrder(count: number): Int32Array {
    const ordinals = new Int32Array(count);
    for (let i = 0; i < count; i++) ordinals[i] = i;
    return this.#sorted(ordinals);
  }

  offsetAt(ordinal: number): number {
    return this.#offsets[ordinal] ?? 0;
  }

  lengthAt(ordinal: number): number {
    return this.#lengths[ordinal] ?? 0;
  }

  #sorted(ordinals: Int32Array): Int32Array {
    let before = Number.NEGATIVE_INFINITY;
    for (const ordinal of ordinals) {
      const offset = this.offsetAt(ordinal);
      if (offset <= before) return ordinals.sort((a, b) => this.offsetAt(a) - this.offsetAt(b));
      before = offset;
    }
    return ordinals;
  }
}

/** Methods of `LineSpans` required to read lines. */
export type SpansByOrdinal = Pick<LineSpans, "offsetAt" | "lengthAt">;
