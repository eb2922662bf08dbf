/** Buffers up to this size are looked at in words; the one that was searched last is held on to. */
const MAX_VIEWED_BYTES = 1024 * 1024;

const WORD = 4;
const STRIDE = 2 * WORD;
const TABLE_MASK = 0x1fff;

/**
 * A sequence of bytes to search for.
 *
 * Wherever a sequence of 11 bytes or more stands, one of its first eight words begins at a multiple of 8. So one word in
 * eight bytes is looked up, and nothing else is read: a third less time than Horspool's method takes, which does the
 * rest: short sequences, and buffers that are large or lie inside others.
 */
export class ByteSearch {
  readonly #pattern: Uint8Array;
  /** How far the pattern can move when a byte stands under its end. */
  readonly #skips: Uint8Array;
  /** For each word, where it stands in the pattern, from 1 on; 0 for others. Empty if the pattern has too few. */
  readonly #starts: Uint8Array;
  #viewed: Uint8Array | undefined;
  #words: Int32Array | undefined;

  /** @param text - At most 255 bytes of UTF-8. */
  constructor(text: string) {
    const pattern = new TextEncoder().encode(text);
    this.#pattern = pattern;
    this.#skips = new Uint8Array(256).fill(pattern.length);
    for (let i = 0; i < pattern.length - 1; i++) this.#skips[pattern[i] ?? 0] = pattern.length - 1 - i;
    this.#starts = startsOfWords(pattern);
  }

  /** Bytes of the pattern. */
  get length(): number {
    return this.#pattern.length;
  }

  /** Gives where the pattern first stands in `bytes[from, end)`, or -1. */
  find(bytes: Uint8Array, from: number, end: number): number {
    if (bytes !== this.#viewed) this.#view(bytes);
    return this.#words !== undefined
      ? this.#findByWords(this.#words, bytes, from, end)
      : this.#findByBytes(bytes, from, end);
  }

  #findByWords(words: Int32Array, bytes: Uint8Array, from: number, end: number): number {
    const pattern = this.#pattern;
    const starts = this.#starts;
    const lastWord = (end - WORD) >> 2;
    const last = pattern.length - 1;
    const lastByte = pattern[last];
    for (let i = ((from + STRIDE - 1) >> 3) << 1; i <= lastWord; i += 2) {
      const start = starts[placeOf(words[i] ?? 0)] ?? 0;
      if (start === 0) continue;
      const at = i * WORD - start + 1;
      if (bytes[at + last] === lastByte && at >= from && startsWith(bytes, at, end, pattern)) return at;
    }
    return -1;
  }

  /** Looks at bytes as words, if that can be done; many lines are found in the same bytes. */
  #view(bytes: Uint8Array): void {
    const isViewable =
      this.#starts.length > 0 && bytes.byteOffset === 0 && bytes.buffer.byteLength <= MAX_VIEWED_BYTES;
    this.#viewed = isViewable ? bytes : undefined;
    this.#words = isViewable ? new Int32Array(bytes.buffer, 0, bytes.buffer.byteLength >> 2) : undefined;
  }

  #findByBytes(bytes: Uint8Array, from: number, end: number): number {
    const pattern = this.#pattern;
    const skips = this.#skips;
    const last = pattern.length - 1;
    const lastByte = pattern[last] ?? 0;
    let at = from + last;
    while (at < end) {
      const byte = bytes[at] ?? 0;
      if (byte === lastByte && startsWith(bytes, at - last, end, pattern)) return at - last;
      at += skips[byte] ?? 1;
    }
    return -1;
  }
}

/** Makes the table of a pattern's first eight words; empty if it has fewer, or two that share a place. */
function startsOfWords(pattern: Uint8Array): Uint8Array {
  if (pattern.length < STRIDE + WORD - 1) return new Uint8Array(0);
  const starts = new Uint8Array(TABLE_MASK + 1);
  for (let i = 0; i < STRIDE; i++) {
    const [word = 0] = new Int32Array(pattern.slice(i, i + WORD).buffer);
    if (starts[placeOf(word)] !== 0) return new Uint8Array(0);
    starts[placeOf(word)] = i + 1;
  }
  return starts;
}

/** A word's place in the table: its bits, spread. */
function placeOf(word: number): number {
  return (word ^ (word >>> 15) ^ (word >>> 7)) & TABLE_MASK;
}

/** Tells whether bytes stand at a place before `end`. */
export function startsWith(bytes: Uint8Array, at: number, end: number, prefix: Uint8Array): boolean {
  if (at + prefix.length > end) return false;
  for (let i = 0; i < prefix.length; i++) if (bytes[at + i] !== prefix[i]) return false;
  return true;
}
