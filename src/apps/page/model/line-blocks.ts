const LF = 0x0a;

/** Bytes of a session, and their offset in its file. */
export interface LineBlock {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/**
 * The bytes of a session that comes piece by piece, in blocks that hold whole lines.
 *
 * Nothing is copied but the lines that lie on several pieces.
 */
export class LineBlocks {
  readonly #blocks: LineBlock[] = [];
  /** Parts of a line that has not ended, behind all blocks. */
  #rest: Uint8Array[] = [];
  #restOffset = 0;
  #size = 0;

  /** How many bytes there are. */
  get size(): number {
    return this.#size;
  }

  /** Adds the next bytes, which must not change any more. */
  append(piece: Uint8Array): void {
    this.#size += piece.length;
    const first = this.#rest.length === 0 ? 0 : piece.indexOf(LF) + 1;
    const last = piece.lastIndexOf(LF) + 1;
    if (last > 0 && first > 0) this.#add(joined([...this.#rest.splice(0), piece.subarray(0, first)]));
    if (last > first) this.#add(piece.subarray(first, last));
    if (last < piece.length) this.#rest.push(piece.subarray(last));
  }

  #add(bytes: Uint8Array): void {
    this.#blocks.push({ offset: this.#restOffset, bytes });
    this.#restOffset += bytes.length;
  }

  /** Yields the bytes of a range, as they lie in blocks. */
  *between(start: number, end: number): Generator<LineBlock, void> {
    if (this.#rest.length > 1) this.#rest = [joined(this.#rest)];
    const [rest = new Uint8Array(0)] = this.#rest;
    let from = start;
    for (let at = this.#indexAt(start); from < Math.min(end, this.#size); at++) {
      const block = this.#blocks[at] ?? { offset: this.#restOffset, bytes: rest };
      const bytes = block.bytes.subarray(from - block.offset, end - block.offset);
      yield { offset: from, bytes };
      from += bytes.length;
    }
  }

  /** Returns bytes of one line. */
  read(offset: number, length: number): Uint8Array {
    const [{ bytes } = { bytes: new Uint8Array(0) }] = this.between(offset, offset + length);
    return bytes;
  }

  /** Returns the index of the block that holds an offset; behind all blocks their number. */
  #indexAt(offset: number): number {
    let [low, high] = [0, this.#blocks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const block = this.#blocks[middle];
      if (block !== undefined && block.offset + block.bytes.length <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
