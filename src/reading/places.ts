import { withRoom } from "../tree/columns.ts";

/** Where an entry's line stands in its file. */
export interface LinePlace {
  /** Byte offset of the line. */
  readonly offset: number;
  /** Bytes without the line break. */
  readonly length: number;
  /** 1-based line number. */
  readonly line: number;
}

/** The places of all entries, by ordinal; 16 bytes for each. */
export class Places {
  #offsets = new Float64Array(0);
  #lengths = new Uint32Array(0);
  #lines = new Uint32Array(0);

  /** Makes room for so many entries. */
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

  at(ordinal: number): LinePlace {
    return {
      offset: this.offsetAt(ordinal),
      length: this.#lengths[ordinal] ?? 0,
      line: this.#lines[ordinal] ?? 0,
    };
  }

  /** Puts ordinals into the order of the file, which differs from that of arrival where others wrote, too. */
  inFileOrder(given: Iterable<number>): Int32Array {
    const ordinals = Int32Array.from(given);
    const offsetOf = (i: number) => this.offsetAt(ordinals[i] ?? 0);
    const isInOrder = ordinals.every((_, i) => i === 0 || offsetOf(i - 1) < offsetOf(i));
    return isInOrder ? ordinals : ordinals.sort((a, b) => this.offsetAt(a) - this.offsetAt(b));
  }

  offsetAt(ordinal: number): number {
    return this.#offsets[ordinal] ?? 0;
  }
}
