/** A sequence of bytes to search for, by Horspool's method: most of the bytes that are searched are never looked at. */
export class ByteSearch {
  readonly #pattern: Uint8Array;
  /** How far the pattern can move when a byte stands under its end. */
  readonly #skips: Uint8Array;

  /** @param text - At most 255 bytes of UTF-8. */
  constructor(text: string) {
    const pattern = new TextEncoder().encode(text);
    this.#pattern = pattern;
    this.#skips = new Uint8Array(256).fill(pattern.length);
    for (let i = 0; i < pattern.length - 1; i++) this.#skips[pattern[i] ?? 0] = pattern.length - 1 - i;
  }

  /** Bytes of the pattern. */
  get length(): number {
    return this.#pattern.length;
  }

  /** Gives where the pattern first stands in `bytes[from, end)`, or -1. */
  find(bytes: Uint8Array, from: number, end: number): number {
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

/** Tells whether bytes stand at a place before `end`. */
export function startsWith(bytes: Uint8Array, at: number, end: number, prefix: Uint8Array): boolean {
  if (at + prefix.length > end) return false;
  for (let i = 0; i < prefix.length; i++) if (bytes[at + i] !== prefix[i]) return false;
  return true;
}
