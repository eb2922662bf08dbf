/** Maximum number of positions: one bit each in a 32-bit mask. */
const MAX_LENGTH = 32;

/** Maximum size of a buffer whose view is cached. Many lines share a buffer. */
export const MAX_HELD_BYTES = 2 * 1024 * 1024;

const PAIR = 2;

/**
 * Sequence of byte classes to search for in bytes.
 *
 * In any sequence of 17 bytes, one pair of bytes begins at a multiple of 16, so the hot loop looks up only one pair per sixteen
 * bytes in a table. Short sequences are searched with Horspool's algorithm: the byte at the end of the pattern determines how far
 * to move the pattern.
 */
export class BytePattern {
  /** Length of a match in bytes. */
  readonly length: number;
  /** For each byte, a bit mask of the positions where it is allowed. */
  readonly #masks = new Int32Array(256);
  /** For each byte, the distance to move the pattern if that byte is at the pattern's end; 0 if the byte may end a match. */
  readonly #skips: Uint8Array;
  /** For each byte, the distance to move the pattern if that byte could end a match but did not. */
  readonly #skipsPastEnd: Uint8Array;
  /** Number of pairs between lookups. */
  readonly #stride: number;
  /** For each pair, a bit mask of the positions where it is allowed. Created on demand. */
  #starts: Int32Array | undefined;
  #viewed: Uint8Array | undefined;
  #pairs: Uint16Array = new Uint16Array(0);

  /** @param classes - Bytes allowed at each position. There must be 1 to 32 positions. */
  constructor(classes: readonly Iterable<number>[]) {
    const { length } = classes;
    if (length < 1 || length > MAX_LENGTH) throw new RangeError("a pattern has 1 to 32 positions");
    this.length = length;
    this.#stride = (length - 1) >> 1;
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

  /** Creates a pattern that matches a string exactly. */
  static of(text: string): BytePattern {
    return new BytePattern([...new TextEncoder().encode(text)].map((byte) => [byte]));
  }

  /** Returns the start of the first match in `bytes[from, end)`, or -1. */
  find(bytes: Uint8Array, from: number, end: number): number {
    return this.#stride > 1
      ? this.#findByPairs(bytes, this.#viewPairs(bytes), from, end)
      : this.#scan(bytes, from + this.length - 1, end);
  }

  /**
   * Returns bytes as pairs that begin at even offsets of their buffer. If the bytes begin at an odd offset, the first pair
   * includes the preceding byte.
   */
  #viewPairs(bytes: Uint8Array): Uint16Array {
    if (bytes === this.#viewed) return this.#pairs;
    const before = bytes.byteOffset % PAIR;
    const pairs = new Uint16Array(bytes.buffer, bytes.byteOffset - before, (before + bytes.length) >> 1);
    if (bytes.buffer.byteLength > MAX_HELD_BYTES) return pairs;
    this.#viewed = bytes;
    this.#pairs = pairs;
    return pairs;
  }

  #findByPairs(bytes: Uint8Array, pairs: Uint16Array, from: number, end: number): number {
    this.#starts ??= this.#startsOfPairs();
    const starts = this.#starts;
    const stride = this.#stride;
    const before = bytes.byteOffset % PAIR;
    const lastPair = (before + end - PAIR) >> 1;
    for (let i = (before + from + 1) >> 1; i <= lastPair; i += stride) {
      let places = starts[pairs[i] ?? 0] ?? 0;
      // The earliest match is the one with the pair in the last position.
      while (places !== 0) {
        const place = 31 - Math.clz32(places);
        const start = i * PAIR - before - place;
        if (start >= from && start + this.length <= end && this.#fits(bytes, start)) return start;
        places &= ~(1 << place);
      }
    }
    return -1;
  }

  #startsOfPairs(): Int32Array {
    const starts = new Int32Array(0x10000);
    const masks = this.#masks;
    // Pairs are read in the machine's byte order.
    const isLittle = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
    const front = (1 << (PAIR * this.#stride)) - 1;
    for (let first = 0; first < 256; first++) {
      if (masks[first] === 0) continue;
      for (let second = 0; second < 256; second++) {
        const places = (masks[first] ?? 0) & ((masks[second] ?? 0) >>> 1) & front;
        starts[isLittle ? first | (second << 8) : (first << 8) | second] = places;
      }
    }
    return starts;
  }

  /** Searches for a match that ends at or after `at`. */
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
    for (let i = this.length - 1; i >= 0; i--) {
      if (((this.#masks[bytes[start + i] ?? 0] ?? 0) & (1 << i)) === 0) return false;
    }
    return true;
  }
}
