/** Buffers up to this size are looked at in words; the one that was searched last is held on to. */
const MAX_VIEWED_BYTES = 1024 * 1024;

const WORD = 2;

/**
 * A sequence of bytes to search for.
 *
 * Wherever a sequence of 13 bytes stands, one of its words of two bytes begins at a multiple of 12. So one word in
 * twelve bytes is looked up in a table, and nothing else is read: half the time that Horspool's method takes, which does
 * the rest: sequences in which a word comes twice, and buffers that are large or begin at an odd place.
 */
export class ByteSearch {
  readonly #pattern: Uint8Array;
  /** How far the pattern can move when a byte stands under its end. */
  readonly #skips: Uint8Array;
  /** For each word, where it stands in the pattern, from 1 on; 0 for others. Empty if one stands there twice. */
  readonly #starts: Uint8Array;
  /** Words from one that is looked at to the next. */
  readonly #stride: number;
  #viewed: Uint8Array | undefined;
  #words: Uint16Array | undefined;

  /** @param text - At most 255 bytes of UTF-8. */
  constructor(text: string) {
    const pattern = new TextEncoder().encode(text);
    this.#pattern = pattern;
    this.#skips = new Uint8Array(256).fill(pattern.length);
    for (let i = 0; i < pattern.length - 1; i++) this.#skips[pattern[i] ?? 0] = pattern.length - 1 - i;
    this.#stride = (pattern.length - 1) >> 1;
    this.#starts = startsOfWords(pattern, this.#stride * WORD);
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

  #findByWords(words: Uint16Array, bytes: Uint8Array, from: number, end: number): number {
    const pattern = this.#pattern;
    const starts = this.#starts;
    const stride = this.#stride;
    const last = pattern.length - 1;
    const lastByte = pattern[last];
    const lastWord = (end - WORD) >> 1;
    for (let i = (from + 1) >> 1; i <= lastWord; i += stride) {
      const start = starts[words[i] ?? 0] ?? 0;
      if (start === 0) continue;
      const at = i * WORD - start + 1;
      if (bytes[at + last] === lastByte && at >= from && startsWith(bytes, at, end, pattern)) return at;
    }
    return -1;
  }

  /** Looks at bytes as words, if that can be done; many lines are found in the same bytes. */
  #view(bytes: Uint8Array): void {
    const isViewable =
      this.#starts.length > 0 && bytes.byteOffset % WORD === 0 && bytes.buffer.byteLength <= MAX_VIEWED_BYTES;
    this.#viewed = isViewable ? bytes : undefined;
    this.#words = isViewable
      ? new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 1)
      : undefined;
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

/** Makes the table of the words that begin in the front of a pattern; empty if there are none, or two alike. */
function startsOfWords(pattern: Uint8Array, front: number): Uint8Array {
  const starts = new Uint8Array(front === 0 ? 0 : 0x10000);
  for (let i = 0; i < front; i++) {
    const [word = 0] = new Uint16Array(pattern.slice(i, i + WORD).buffer);
    if (starts[word] !== 0) return new Uint8Array(0);
    starts[word] = i + 1;
  }
  return starts;
}

/** Tells whether bytes stand at a place before `end`. */
export function startsWith(bytes: Uint8Array, at: number, end: number, prefix: Uint8Array): boolean {
  if (at + prefix.length > end) return false;
  for (let i = 0; i < prefix.length; i++) if (bytes[at + i] !== prefix[i]) return false;
  return true;
}
