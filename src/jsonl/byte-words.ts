const WORD = 4;

/**
 * Bytes that may stand somewhere, compared four at a time: this is in the hot loop of opening a session, where it takes
 * a third of the time of comparing bytes, and less than that before an engine has compiled it.
 */
export class BytePrefix {
  readonly length: number;
  /** The bytes from 0, 4, 8 ... on; the last word ends where the text does, and so may overlap the one before it. */
  readonly #words: Int32Array;
  readonly #last: number;

  /** @param text - ASCII, at least four characters. */
  constructor(text: string) {
    const bytes = new TextEncoder().encode(text);
    const view = viewOf(bytes);
    this.length = bytes.length;
    this.#last = view.getInt32(bytes.length - WORD, true);
    this.#words = Int32Array.from({ length: (bytes.length - 1) >> 2 }, (_, i) =>
      view.getInt32(i * WORD, true),
    );
  }

  /** Tells whether the bytes stand at a place before `end`. */
  isAt(view: DataView, at: number, end: number): boolean {
    const lastAt = at + this.length - WORD;
    if (lastAt + WORD > end || view.getInt32(lastAt, true) !== this.#last) return false;
    const words = this.#words;
    for (let i = 0; i < words.length; i++) if (view.getInt32(at + i * WORD, true) !== words[i]) return false;
    return true;
  }
}

/** Gives the same bytes as a view from which words can be read at any place. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Makes a table that tells of two characters, read as one little-endian number, what they write in a base; -1 for what
 * are no digits. One look-up for two characters, and no branch, instead of one for each.
 */
export function pairTable(digits: string): Int16Array {
  const table = new Int16Array(0x10000).fill(-1);
  for (let i = 0; i < digits.length ** 2; i++) {
    const high = digits.charCodeAt(Math.floor(i / digits.length));
    const low = digits.charCodeAt(i % digits.length);
    table[high | (low << 8)] = i;
  }
  return table;
}
