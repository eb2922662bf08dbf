/** Number of bytes in a word. */
export const WORD = 4;

/** Number of bytes compared at a time. */
const PAIR = 2 * WORD;

/**
 * ASCII string of at least eight bytes, as eight-byte numbers. The last number may overlap the previous one.
 *
 * Floating-point numbers are the fastest 64-bit numbers in JavaScript engines. Eight bytes of ASCII are never NaN.
 */
export interface Spelling {
  readonly length: number;
  readonly pairs: Float64Array;
}

/** Converts a string to numbers. */
export function toSpelling(text: string): Spelling {
  const bytes = new TextEncoder().encode(text);
  const view = toDataView(bytes);
  const { length } = bytes;
  const starts = Array.from({ length: Math.ceil(length / PAIR) }, (_, i) =>
    Math.min(i * PAIR, length - PAIR),
  );
  return { length, pairs: Float64Array.from(starts, (start) => view.getFloat64(start, true)) };
}

/** Returns whether a string begins at an offset and ends before `end`. */
export function isAt(view: DataView, at: number, end: number, { length, pairs }: Spelling): boolean {
  if (at + length > end) return false;
  const last = pairs.length - 1;
  for (let i = 0; i < last; i++) if (view.getFloat64(at + i * PAIR, true) !== pairs[i]) return false;
  return view.getFloat64(at + length - PAIR, true) === pairs[last];
}

const ONES = 0x01010101;
const LOW_HALVES = 0x0f0f0f0f;
const HIGH_ONES = 0x10101010;
const SIXES = 0x06060606;
const DIGITS = 0x30303030;
/** Distance from the code of a decimal digit to that of a letter, minus the value ten. */
const TO_LETTERS = 0x27;

/**
 * Returns the value of a word of four lower-case hexadecimal digits; -1 for any other word.
 *
 * Processes all four bytes in parallel: computes the value, then checks that encoding it produces the same word.
 */
export function getHexValue(word: number): number {
  const letters = (word >>> 6) & ONES;
  const values = (word & LOW_HALVES) + letters * 9;
  const isSpelledSo =
    values + letters * TO_LETTERS + DIGITS === word &&
    (values & HIGH_ONES) === 0 &&
    (((values + SIXES) >>> WORD) & ONES) === letters;
  if (!isSpelledSo) return -1;
  return ((values >>> 12) & 0xf000) | ((values >>> 8) & 0xf00) | ((values >>> 4) & 0xf0) | (values & 0xf);
}

/** Returns a view of bytes from which words can be read at any offset. */
export function toDataView(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
