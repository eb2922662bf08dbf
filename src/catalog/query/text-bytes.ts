import { BytePattern } from "../../core/jsonl/byte-pattern.ts";

/** Byte patterns for lines that may contain a string, however JSON encodes it. */
export interface TextPatterns {
  /** Part of the string in plain UTF-8. */
  readonly plain: BytePattern;
  /** Escape, such as `\u00e9`, for a character in the plain part or for another requested character. */
  readonly escaped: BytePattern;
}

const MAX_BYTES = 32;

/**
 * Characters that JSON writers may escape in a form other than `\uXXXX`; surrogates, which UTF-8 cannot encode; and the
 * replacement character for invalid bytes.
 */
const NOT_PLAIN = /["\\/\ufffd]|\p{Surrogate}/u;

const encoder = new TextEncoder();

/** Character in the string, in all matching forms. */
interface Place {
  /** Possible values of each byte of its UTF-8 encoding. */
  readonly bytes: number[][];
  readonly units: number[];
}

/**
 * Creates patterns that match every line that contains a string, and few other lines.
 *
 * The patterns use the longest part of the string whose forms all have the same length in UTF-8 and that JSON writes
 * either plainly or as `\uXXXX`. A line that contains neither that part nor an escape for one of its characters cannot contain
 * the string.
 *
 * @param caseSensitive - If false, characters match as in a regular expression with the flag `i`.
 * @param others - Additional characters whose escapes match.
 * @returns Undefined if there is no such part, so that any line may contain the string.
 */
export function makeTextPatterns(
  text: string,
  caseSensitive: boolean,
  others = "",
): TextPatterns | undefined {
  const forms = caseSensitive ? new Map() : collectForms(text);
  let best: Place[] = [];
  let run: Place[] = [];
  for (const character of text) {
    const place = findPlace(character, forms);
    if (place === undefined) run = [];
    else if (countBytes(run) + place.bytes.length > MAX_BYTES) run = [place];
    else run = [...run, place];
    if (countBytes(run) > countBytes(best)) best = run;
  }
  if (best.length === 0) return undefined;
  return {
    plain: new BytePattern(best.flatMap((place) => place.bytes)),
    escaped: escapePattern([
      ...best.flatMap((place) => place.units),
      ...Array.from(others, (character) => character.charCodeAt(0)),
    ]),
  };
}

function countBytes(places: readonly Place[]): number {
  return places.reduce((sum, place) => sum + place.bytes.length, 0);
}

function findPlace(character: string, forms: ReadonlyMap<string, string[]>): Place | undefined {
  if (character < " " || NOT_PLAIN.test(character)) return undefined;
  const all = forms.get(character) ?? [character];
  const encoded = all.map((form) => [...encoder.encode(form)]);
  const length = encoded[0]?.length ?? 0;
  if (encoded.some((bytes) => bytes.length !== length)) return undefined;
  const bytes = Array.from({ length }, (_, i) => encoded.map((form) => form[i] ?? 0));
  const units = all.flatMap((form) => Array.from({ length: form.length }, (_, i) => form.charCodeAt(i)));
  return { bytes, units };
}

/**
 * Creates a pattern for a backslash, `u`, and the possible hexadecimal digits, in uppercase and lowercase, except the last digit.
 * The last digit is omitted because almost any digit can occur there, and because its letters would be the last bytes of many
 * patterns that do not match.
 */
function escapePattern(units: readonly number[]): BytePattern {
  const digits = [12, 8, 4].map((shift) =>
    units.flatMap((unit) => {
      const digit = ((unit >> shift) & 0xf).toString(16);
      return [digit.charCodeAt(0), digit.toUpperCase().charCodeAt(0)];
    }),
  );
  return new BytePattern([[0x5c], [0x75], ...digits]);
}

/**
 * Returns, for each character of a string, all characters that a regular expression with the flag `i` but without `u`
 * treats as equal.
 */
function collectForms(text: string): Map<string, string[]> {
  const formsOfFolded = new Map<string, string[]>();
  // The flag does not affect surrogate pairs.
  const units = [...new Set(text)].filter((character) => character.length === 1);
  for (const unit of units) formsOfFolded.set(foldUnit(unit), []);
  // Non-ASCII characters never equal an ASCII character, and testing all of them takes milliseconds.
  const last = units.every((unit) => unit < "\u0080") ? 0x7f : 0xffff;
  for (let code = 0; code <= last; code++) {
    const unit = String.fromCharCode(code);
    formsOfFolded.get(foldUnit(unit))?.push(unit);
  }
  return new Map(units.map((unit) => [unit, formsOfFolded.get(foldUnit(unit)) ?? []]));
}

/**
 * Returns the common form of a character's cases under the flag `i`: uppercase, unless the uppercase form has several characters
 * or maps a non-ASCII character to ASCII.
 */
export function foldUnit(unit: string): string {
  const upper = unit.toUpperCase();
  if (upper.length !== 1) return unit;
  return unit >= "\u0080" && upper < "\u0080" ? unit : upper;
}

/** Iterates over matches from left to right, reading each byte only once across all calls. */
export class MatchWalk {
  readonly #find: (from: number) => number;
  #found = -1;

  /**
   * @param find - Returns the start of the first match at or after a position; -1 if there is no match.
   */
  constructor(find: (from: number) => number) {
    this.#find = find;
  }

  /** Returns the start of the first match at or after a position; infinity if there is no match. */
  next(from: number): number {
    if (this.#found < from) {
      const at = this.#find(from);
      this.#found = at === -1 ? Number.POSITIVE_INFINITY : at;
    }
    return this.#found;
  }
}
