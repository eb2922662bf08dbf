import type { SpansByOrdinal } from "../../core/jsonl/line-spans.ts";
import type { TakeLine } from "./session-log.ts";

/** Bytes of a file that is not on disk, in blocks at ascending offsets. */
export class Blocks {
  readonly #blocks: { offset: number; bytes: Uint8Array }[] = [];
  #size = 0;

  static of(lines: Iterable<Uint8Array | string>): Blocks {
    const blocks = new Blocks();
    const pieces = Array.from(lines, (line) =>
      typeof line === "string" ? new TextEncoder().encode(line) : line,
    );
    const whole = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0));
    let at = 0;
    for (const piece of pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    blocks.#blocks.push({ offset: 0, bytes: whole });
    blocks.#size = whole.length;
    return blocks;
  }

  get size(): number {
    return this.#size;
  }

  /** Appends a copy of bytes. */
  add(bytes: Uint8Array): void {
    this.#blocks.push({ offset: this.#size, bytes: new Uint8Array(bytes) });
    this.#size += bytes.length;
  }

  /** Removes all blocks starting at an offset. The offset must be the start of a block. */
  cut(size: number): void {
    let last = this.#blocks.at(-1);
    while (last !== undefined && last.offset >= size) {
      this.#blocks.pop();
      last = this.#blocks.at(-1);
    }
    this.#size = size;
  }

  /** Returns a range within one block. */
  read(offset: number, length: number): Uint8Array {
    let [low, high] = [0, this.#blocks.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#blocks[middle]?.offset ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    const block = this.#blocks[low];
    const start = offset - (block?.offset ?? 0);
    return block?.bytes.subarray(start, start + length) ?? new Uint8Array(0);
  }

  /** Reads the lines of entries, in the order of the ordinals. Each line must be within one block. */
  readLines(spans: SpansByOrdinal, ordinals: Iterable<number>, take: TakeLine): void {
    for (const ordinal of ordinals)
      take(ordinal, this.read(spans.offsetAt(ordinal), spans.lengthAt(ordinal)));
  }

  /** Returns all bytes, followed by `more`. */
  join(more: Uint8Array = new Uint8Array(0)): Uint8Array {
    const all = new Uint8Array(this.#size + more.length);
    for (const { offset, bytes } of this.#blocks) all.set(bytes, offset);
    all.set(more, this.#size);
    return all;
  }
}
