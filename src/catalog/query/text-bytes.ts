import { BytePattern } from "../../core/jsonl/byte-pattern.ts";

/** Finds lines that may hold a text, whichever way JSON spells it. */
export interface TextPatterns {
  /** A part of the text in plain UTF-8. */
  readonly plain: BytePattern;
  /** An escape such as `\u00e9` that may stand for a character of that part, or for another one that was asked for. */
  readonly escaped: BytePattern;
}

const MAX_BYTES = 32;

/**
 * Characters that JSON writers escape otherwise than by `\uXXXX`, halves of surrogate pairs, which UTF-8 cannot encode,
 * and the replacement character of broken bytes.
 */
const NOT_PLAIN = /["\\/\ufffd]|\p{Surrogate}/u;

const encoder = new TextEncoder();

/** A character of the query, in all matching forms. */
interface Place {
  /** The possible values of each byte of its UTF-8. */
  readonly bytes: number[][];
  readonly units: number[];
}

/**
 * Makes patterns that match every line which holds a text, and few other lines.
 *
 * They use the longest part of the text whose forms all have the same length in UTF-8, and which JSON writes plainly or as
 * `\uXXXX`. A line with neither that part nor such an escape of one of its characters cannot hold the text.
 *
 * @param caseSensitive - If false, characters match as in a regular expression with the flag `i`.
 * @param others - Characters whose escapes match as well.
 * @returns Undefined if there is no such part, so that any line may hold the text.
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
 * A backslash, `u`, and for each hexadecimal digit but the last those that occur, in both cases. The last one is left
 * out because nearly all occur there, letters that end many a pattern in vain.
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
 * Returns for each character of a text all those that a regular expression with the flag `i`, and without `u`, takes for
 * the same.
 */
function collectForms(text: string): Map<string, string[]> {
  const formsOfFolded = new Map<string, string[]>();
  // For surrogate pairs, the flag does nothing.
  const units = [...new Set(text)].filter((character) => character.length === 1);
  for (const unit of units) formsOfFolded.set(foldUnit(unit), []);
  // No character beyond ASCII equals one of ASCII, and trying all of them takes milliseconds.
  const last = units.every((unit) => unit < "\u0080") ? 0x7f : 0xffff;
  for (let code = 0; code <= last; code++) {
    const unit = String.fromCharCode(code);
    formsOfFolded.get(foldUnit(unit))?.push(unit);
  }
  return new Map(units.map((unit) => [unit, formsOfFolded.get(foldUnit(unit)) ?? []]));
}

/** Returns what all cases of a character share, by the rule of that flag: upper case, unless that is several characters or an ASCII one. */
export function foldUnit(unit: string): string {
  const upper = unit.toUpperCase();
  if (upper.length !== 1) return unit;
  return unit >= "\u0080" && upper < "\u0080" ? unit : upper;
}

/** Walks matches from left to right, and reads each byte once, however often it is asked. */
export class MatchWalk {
  readonly #find: (from: number) => number;
  #found = -1;

  /** @param find - Returns where the first match at or behind a position begins; -1 if there is none. */
  constructor(find: (from: number) => number) {
    this.#find = find;
  }

  /** Returns where the first match at or behind a position begins; infinity if there is none. */
  next(from: number): number {
    if (this.#found < from) {
      const at = this.#find(from);
      this.#found = at === -1 ? Number.POSITIVE_INFINITY : at;
    }
    return this.#found;
  }
}
