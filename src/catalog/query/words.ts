/** Words in the form in which questions are compared with entries: numbers that are independent of case and endings. */

/** Word of a question. */
export interface QuestionWord {
  /** The word as written. */
  readonly text: string;
  readonly hash: number;
  /** 1, or less for a word that occurs in almost every text. */
  readonly weight: number;
  /** Whether the word is part of another word, such as `user` in `getUserName`. */
  readonly isPart: boolean;
}

/** Maximum length of a word. Longer strings are assumed to be keys or encoded data. */
const MAX_LENGTH = 64;

/** Classes of UTF-16 units; 0 for a unit that is not yet classified. */
const SEPARATOR = 1;
const LETTER = 2;
const CAPITAL = 3;
/** Character of a script without spaces between words. */
const IDEOGRAPH = 4;

const IN_WORD = /[\p{L}\p{N}\p{M}\p{Surrogate}]/u;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]/u;

/**
 * Match the text before and after a position within a word, where a word is what people perceive as a word: `user_id` is one
 * word.
 */
const ENDS_IN_WORD = new RegExp(`(?!${UNSPACED.source})[\\p{L}\\p{N}\\p{M}_]$`, "u");
const BEGINS_IN_WORD = new RegExp(`^(?!${UNSPACED.source})[\\p{L}\\p{N}\\p{M}_]`, "u");

const kinds = new Uint8Array(0x10000);
const folded = new Uint16Array(0x10000);

/** Lowercase letters of the current word, and the hash up to and including each letter. */
const letters = new Uint16Array(MAX_LENGTH);
const hashes = new Int32Array(MAX_LENGTH);

/**
 * Receives a word.
 *
 * @param hash - Positive 32-bit number, the same for all forms of an English word.
 * @param start - Index of the word's first UTF-16 unit in the text.
 * @param end - Index after the word's last UTF-16 unit.
 */
export type WordTaker = (hash: number, start: number, end: number) => void;

/**
 * Calls a function with each word in a string, in order.
 *
 * A word is a run of letters and digits. `getUserName` is a word, and its parts `get`, `User`, and `Name` are words
 * too. A run in a script without spaces, such as Chinese or Japanese, is read in pairs of characters. A run of emoji is
 * a word.
 *
 * @remarks Cost: O(characters).
 */
export function readWords(text: string, take: WordTaker): void {
  const { length } = text;
  let start = 0;
  let count = 0;
  // Start of the last part; -1 if the word has only one part.
  let part = -1;
  let last = SEPARATOR;
  let hash = SEED;
  for (let i = 0; i <= length; i++) {
    const unit = i < length ? text.charCodeAt(i) : 0x20;
    const kind = kinds[unit] || classify(unit);
    if (kind === LETTER || kind === CAPITAL) {
      if (count === 0) {
        start = i;
        part = -1;
        hash = SEED;
      } else if (kind === CAPITAL && last === LETTER) {
        takePart(take, start, Math.max(0, part), count);
        part = count;
      }
      if (count < MAX_LENGTH) {
        const letter = folded[unit] ?? unit;
        hash = Math.imul(hash ^ letter, PRIME);
        letters[count] = letter;
        hashes[count] = hash;
      }
      count++;
    } else if (count > 0) {
      if (part !== -1) takePart(take, start, part, count);
      if (count <= MAX_LENGTH) take(hashStem(count), start, i);
      count = 0;
    }
    if (kind === IDEOGRAPH) takeIdeograph(text, i, last, take);
    last = kind;
  }
}

/**
 * Returns whether a substring neither begins nor ends within a word. Always returns true in scripts without spaces.
 */
export function isWholeWord(
  text: string,
  { start, length }: { readonly start: number; readonly length: number },
): boolean {
  return !isWithinWord(text, start) && !isWithinWord(text, start + length);
}

function isWithinWord(text: string, at: number): boolean {
  // A character has at most two units.
  return (
    ENDS_IN_WORD.test(text.slice(Math.max(0, at - 2), at)) && BEGINS_IN_WORD.test(text.slice(at, at + 2))
  );
}

/** Returns the stem of an English word, which is shared by all its forms. Keeps the case. */
export function getStem(word: string): string {
  const lower = word.toLowerCase();
  const { length } = word;
  if (length <= 3 || length > MAX_LENGTH || lower.length !== length) return word;
  for (let i = 0; i < length; i++) letters[i] = lower.charCodeAt(i);
  const stem = getStemLength(0, length);
  const last = letters[stem - 1];
  return word.slice(0, stem > 3 && (last === Y || last === I) ? stem - 1 : stem);
}

/** Reports a part of a camel-case word. */
function takePart(take: WordTaker, start: number, from: number, to: number): void {
  if (to <= MAX_LENGTH && to - from > 1) take(hashPart(from, to), start + from, start + to);
}

/**
 * Reports the pair of characters that ends at a position, in a script without spaces; only one character if it has no neighbor.
 */
function takeIdeograph(text: string, at: number, last: number, take: WordTaker): void {
  if (last === IDEOGRAPH) {
    take(mix(hashUnit(hashUnit(SEED, text.charCodeAt(at - 1)), text.charCodeAt(at))), at - 1, at + 1);
    return;
  }
  const next = at + 1 < text.length ? text.charCodeAt(at + 1) : 0x20;
  if ((kinds[next] || classify(next)) !== IDEOGRAPH)
    take(mix(hashUnit(SEED, text.charCodeAt(at))), at, at + 1);
}

/** Classifies a unit and caches the result. */
function classify(unit: number): number {
  const character = String.fromCharCode(unit);
  const lower = character.toLowerCase();
  folded[unit] = lower.length === 1 ? lower.charCodeAt(0) : unit;
  let kind = SEPARATOR;
  if (UNSPACED.test(character)) kind = IDEOGRAPH;
  else if (IN_WORD.test(character)) kind = lower === character ? LETTER : CAPITAL;
  kinds[unit] = kind;
  return kind;
}

/** Constants of the FNV-1a hash. */
const SEED = 0x811c9dc5 | 0;
const PRIME = 0x01000193;

function hashUnit(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, PRIME);
}

/** Mixes the bits of a hash; never 0. */
function mix(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (mixed ^ (mixed >>> 13)) >>> 0 || 1;
}

/** Returns the hash of the current word's stem. */
function hashStem(length: number): number {
  const stem = length > 3 ? getStemLength(0, length) : length;
  const last = letters[stem - 1] ?? 0;
  const hash = hashes[stem - 1] ?? SEED;
  return mix(last === Y && stem > 3 ? hashUnit(hashes[stem - 2] ?? SEED, I) : hash);
}

/** Returns the hash of the stem of a part of the current word. */
function hashPart(from: number, to: number): number {
  const length = to - from;
  const end = from + (length > 3 ? getStemLength(from, to) : length);
  let hash = SEED;
  for (let i = from; i < end - 1; i++) hash = hashUnit(hash, letters[i] ?? 0);
  const last = letters[end - 1] ?? 0;
  return mix(hashUnit(hash, last === Y && end - from > 3 ? I : last));
}

const D = 0x64;
const E = 0x65;
const G = 0x67;
const I = 0x69;
const N = 0x6e;
const S = 0x73;
const Y = 0x79;

/** Letters that remain doubled: vowels, `l`, and `s`, as in `zoo`, `tell`, and `pass`. */
const STAYS_DOUBLE: ReadonlySet<number> = new Set(Array.from("aeiouls", (letter) => letter.charCodeAt(0)));

/**
 * Returns the number of letters in an English word's stem: without `ing`, `ed`, `es`, or `s`, then without `e`, and
 * with a doubled consonant reduced to one. At least three letters.
 */
function getStemLength(from: number, to: number): number {
  let end = to - getEndingLength(from, to);
  // Removes both `e`s of `agree`, so that `agreed` has the same stem.
  while (end - from > 3 && letters[end - 1] === E) end--;
  if (end - from <= 3) return end - from;
  const last = letters[end - 1];
  return (last === letters[end - 2] && !STAYS_DOUBLE.has(last ?? 0) ? end - 1 : end) - from;
}

function getEndingLength(from: number, to: number): number {
  const length = to - from;
  const last = letters[to - 1];
  if (last === S && letters[to - 2] === S) return 0;
  if (last === S) return letters[to - 2] === E && length >= 5 ? 2 : 1;
  if (last === D) return letters[to - 2] === E && length >= 5 ? 2 : 0;
  return last === G && letters[to - 2] === N && letters[to - 3] === I && length >= 6 ? 3 : 0;
}
