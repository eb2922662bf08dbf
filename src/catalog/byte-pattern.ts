/** Positions that one 32-bit mask can tell apart. */
const MAX_LENGTH = 32;

/** Ranges that are longer than this are searched in two halves at once. */
const TWO_LANES_BYTES = 256;

/**
 * A sequence of byte classes that is searched for in bytes.
 *
 * By Horspool's method: what stands under the end of the pattern says how far it can move, so most bytes are never
 * looked at. This is the hot loop of listing and searching: since each step waits for the byte that it reads, long
 * ranges are gone through in two places at once.
 */
export class BytePattern {
  /** Number of bytes that a match has. */
  readonly length: number;
  /** For each byte the positions that it may stand at, one bit each. */
  readonly #masks = new Uint32Array(256);
  /** For each byte how far the pattern moves when that byte stands under its end; 0 if it may be the end of a match. */
  readonly #skips: Uint8Array;
  /** How far the pattern moves when a byte that may be the end of a match was none. */
  readonly #skipsPastEnd: Uint8Array;

  /** @param classes - For each position the bytes that may stand there; 1 to 32 positions. */
  constructor(classes: readonly Iterable<number>[]) {
    const { length } = classes;
    if (length < 1 || length > MAX_LENGTH) throw new RangeError("a pattern has 1 to 32 positions");
    this.length = length;
    this.#skips = new Uint8Array(256).fill(length);
    for (const [position, bytes] of classes.entries()) {
      for (const byte of bytes) {
        this.#masks[byte] = (this.#masks[byte] ?? 0) | (1 << position);
        if (position < length - 1) this.#skips[byte] = length - 1 - position;
      }
    }
    this.#skipsPastEnd = this.#skips.slice();
    for (const byte of classes[length - 1] ?? []) this.#skips[byte] = 0;
  }

  /** Makes a pattern of the text's own bytes. */
  static of(text: string): BytePattern {
    return new BytePattern([...new TextEncoder().encode(text)].map((byte) => [byte]));
  }

  /** Gives where the first match in `bytes[from, end)` begins, or -1. */
  find(bytes: Uint8Array, from: number, end: number): number {
    const last = this.length - 1;
    if (end - from < TWO_LANES_BYTES) return this.#scan(bytes, from + last, end);
    const skips = this.#skips;
    const middle = (from + end) >>> 1;
    const leftEnd = middle + last;
    let left = from + last;
    let right = leftEnd;
    while (left < leftEnd && right < end) {
      const leftSkip = skips[bytes[left] ?? 0] ?? 1;
      const rightSkip = skips[bytes[right] ?? 0] ?? 1;
      if (leftSkip === 0 && this.#fits(bytes, left - last)) return left - last;
      // What the right lane has found counts only if the left one finds nothing.
      if (rightSkip === 0 && this.#fits(bytes, right - last)) break;
      left += leftSkip === 0 ? (this.#skipsPastEnd[bytes[left] ?? 0] ?? 1) : leftSkip;
      right += rightSkip === 0 ? (this.#skipsPastEnd[bytes[right] ?? 0] ?? 1) : rightSkip;
    }
    const inLeft = this.#scan(bytes, left, leftEnd);
    return inLeft === -1 ? this.#scan(bytes, right, end) : inLeft;
  }

  /** Looks for a match that ends at or behind `at`. */
  #scan(bytes: Uint8Array, at: number, end: number): number {
    const skips = this.#skips;
    const last = this.length - 1;
    let place = at;
    while (place < end) {
      const byte = bytes[place] ?? 0;
      const skip = skips[byte] ?? 1;
      if (skip === 0 && this.#fits(bytes, place - last)) return place - last;
      place += skip === 0 ? (this.#skipsPastEnd[byte] ?? 1) : skip;
    }
    return -1;
  }

  #fits(bytes: Uint8Array, start: number): boolean {
    for (let i = this.length - 2; i >= 0; i--) {
      if (((this.#masks[bytes[start + i] ?? 0] ?? 0) & (1 << i)) === 0) return false;
    }
    return true;
  }
}
