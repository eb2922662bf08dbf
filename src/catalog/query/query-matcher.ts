import type { SearchQuery } from "./search-query.ts";
import type { SearchedPart, TextKind } from "./search-text.ts";
import { type MatchFinder, makeLiteralFinder, type TextMatch, type TextMatcher } from "./text-matcher.ts";
import { isWholeWord } from "./words.ts";

/** Text to be searched. */
export type MatchedPart = Pick<SearchedPart, "kind" | "text">;

/** Match of a query in an entry's strings. */
export interface QueryMatch {
  readonly index: number;
  /** Match to display: the first match or, for several words, the place where they are closest together. */
  readonly match: TextMatch;
  /** Relevance of the strings, greater than 0 and at most 1, regardless of the entry's age. */
  readonly relevance: number;
  /**
   * Whether every word and phrase occurs as a whole word or phrase, not only as part of longer words; undefined if the query has
   * no words.
   */
  readonly hasWholeWords?: boolean;
  /** Words of a question that are missing from all strings; undefined if all words are required. */
  readonly missing?: readonly string[];
}

/** Matches a query against the strings of several entries; undefined for entries that lack a word. */
export type QueryMatcher = (entries: readonly (readonly MatchedPart[])[]) => (QueryMatch | undefined)[];

/** Creates a matcher from a regular expression. */
export type ExpressionCompiler = (source: string, caseSensitive: boolean) => TextMatcher;

/** Maximum number of matches counted per word and string. */
const MAX_MATCHES = 32;

/** Weight of a match, by type of text. */
export const WEIGHTS: Readonly<Record<TextKind, number>> = {
  said: 1,
  summary: 0.8,
  thinking: 0.6,
  call: 0.5,
  output: 0.4,
  instructions: 0.3,
  date: 1,
};

/** Average length of a string, in characters. */
const USUAL_LENGTH = 1_000;

/** Length at which a word is considered rarest, in characters. */
const RARE_LENGTH = 10;

/** Factor for a word that occurs only within longer words. */
const PART_OF_WORD = 0.7;

/** Maximum number of characters between words that are considered adjacent. */
const NEARBY = 4;

/**
 * Creates the matcher of a query.
 *
 * All words must occur in an entry's strings, in any order and in any of the strings.
 *
 * @param compile - Creates a matcher from a regular expression, with a time limit, because an expression may run
 *   forever.
 * @returns A matcher that matches any string if the query is empty.
 * @remarks Cost: O(characters) for each word.
 */
export function makeQueryMatcher(query: SearchQuery, compile: ExpressionCompiler): QueryMatcher {
  const { terms, regex, caseSensitive } = query;
  if (regex !== undefined) return makeExpressionMatcher(compile(regex, caseSensitive));
  if (terms.length === 0) return (entries) => entries.map(matchAnyText);
  const finders = terms.map((term) => makeWordFinder(term, caseSensitive));
  const rarities = terms.map((term) => 0.3 + 0.7 * Math.min(1, term.length / RARE_LENGTH));
  return (entries) =>
    entries.map((parts) => {
      const found = findWords(parts, finders);
      const best = findBestMatch(parts, found, rarities);
      return best && { ...best, hasWholeWords: rarities.every((_, word) => isWordWhole(word, parts, found)) };
    });
}

/** Creates a finder for a word. It finds parts of longer words only in strings that do not contain the whole word. */
function makeWordFinder(term: string, caseSensitive: boolean): MatchFinder {
  const findWhole = makeLiteralFinder(term, caseSensitive, MAX_MATCHES, isWholeWord);
  const findAny = makeLiteralFinder(term, caseSensitive, MAX_MATCHES);
  return (text) => {
    const whole = findWhole(text);
    return whole.length > 0 ? whole : findAny(text);
  };
}

/** Creates case-insensitive finders for phrases. */
export function makePhraseFinders(phrases: readonly string[]): MatchFinder[] {
  return phrases.map((phrase) => makeLiteralFinder(phrase, false, 1));
}

/**
 * Creates a matcher that runs an expression on the strings of all entries in one call, because each call with a time
 * limit is costly.
 */
function makeExpressionMatcher(matcher: TextMatcher): QueryMatcher {
  return (entries) => {
    const found = matcher(entries.flatMap((parts) => parts.map(({ text }) => text)));
    let next = 0;
    return entries.map((parts) => {
      const own = parts.map(() => found[next++]);
      return findBestMatch(
        parts,
        own.map((match) => [match === undefined ? [] : [match]]),
        [1],
      );
    });
  };
}

function matchAnyText(parts: readonly MatchedPart[]): QueryMatch | undefined {
  return parts.length === 0 ? undefined : { index: 0, match: { start: 0, length: 0 }, relevance: 1 };
}

type WordMatches = readonly (readonly TextMatch[])[];

function findWords(parts: readonly MatchedPart[], finders: readonly MatchFinder[]): WordMatches[] {
  const found = parts.map(({ text }) => ({ text, matches: [] as TextMatch[][] }));
  for (const find of finders) {
    let isFound = false;
    for (const one of found) {
      const matches = find(one.text);
      one.matches.push(matches);
      isFound ||= matches.length > 0;
    }
    // If an entry lacks one word, there is no need to search it for the others.
    if (!isFound) return [];
  }
  return found.map(({ matches }) => matches);
}

function findBestMatch(
  parts: readonly MatchedPart[],
  found: readonly WordMatches[],
  rarities: readonly number[],
): QueryMatch | undefined {
  let best: { index: number; worth: number; window: Window } | undefined;
  for (const [index, matches] of found.entries()) {
    const part = parts[index];
    const window = findClosest(matches, rarities);
    if (part === undefined || window === undefined) continue;
    const held = sumNumbers(matches.map((own, word) => (rarities[word] ?? 0) * getWholeness(part.text, own)));
    const worth = held * WEIGHTS[part.kind] * (1 + window.closeness);
    if (best === undefined || worth > best.worth) best = { index, worth, window };
  }
  if (best === undefined) return undefined;
  const { index, window } = best;
  const filled = sumNumbers(rarities.map((rarity, word) => rarity * scoreWord(word, parts, found)));
  const weight = WEIGHTS[parts[index]?.kind ?? "output"];
  const relevance = (filled / sumNumbers(rarities)) * weight * (0.5 + window.closeness / 2);
  return { index, match: window.match, relevance };
}

/** Returns the score of a word, from 0 to 1. It increases by a smaller amount with each match, and is lower in long strings. */
function scoreWord(word: number, parts: readonly MatchedPart[], found: readonly WordMatches[]): number {
  let [amount, length] = [0, 0];
  for (const [i, { text, kind }] of parts.entries()) {
    const matches = found[i]?.[word] ?? [];
    if (matches.length === 0) continue;
    amount += matches.length * WEIGHTS[kind];
    length += text.length;
  }
  const bound = 0.75 + Math.min(1, length / USUAL_LENGTH / 4);
  return (amount / (amount + bound)) * (isWordWhole(word, parts, found) ? 1 : PART_OF_WORD);
}

function isWordWhole(word: number, parts: readonly MatchedPart[], found: readonly WordMatches[]): boolean {
  return parts.some(({ text }, i) => getWholeness(text, found[i]?.[word] ?? []) === 1);
}

/** Returns the factor for a word in a string, based on its first match; 0 if there is no match. */
function getWholeness(text: string, [first]: readonly TextMatch[]): number {
  if (first === undefined) return 0;
  return isWholeWord(text, first) ? 1 : PART_OF_WORD;
}

interface Window {
  readonly match: TextMatch;
  /** 1 for adjacent words or a single word, 0 if the text does not contain all words. */
  readonly closeness: number;
}

/** Finds the place where all words are closest together; undefined if the string does not contain any of them. */
function findClosest(matches: WordMatches, rarities: readonly number[]): Window | undefined {
  const held = matches.filter((own) => own.length > 0);
  const rarest = rarities.indexOf(
    Math.max(...rarities.filter((_, word) => (matches[word]?.length ?? 0) > 0)),
  );
  const [first] = matches[rarest] ?? [];
  if (first === undefined) return undefined;
  if (held.length < matches.length) return { match: first, closeness: 0 };
  if (matches.length === 1) return { match: first, closeness: 1 };
  const all = matches
    .flatMap((own, word) => own.map((match) => ({ ...match, word })))
    .sort((a, b) => a.start - b.start || a.length - b.length);
  const counts = matches.map(() => 0);
  let [missing, from, best] = [matches.length, 0, Number.POSITIVE_INFINITY];
  let match = first;
  for (const { word, start, length } of all) {
    if (counts[word] === 0) missing--;
    counts[word] = (counts[word] ?? 0) + 1;
    for (let begin = all[from]; missing === 0 && begin !== undefined; begin = all[++from]) {
      if (start + length - begin.start < best) {
        best = start + length - begin.start;
        match = { start: begin.start, length: begin.length };
      }
      counts[begin.word] = (counts[begin.word] ?? 0) - 1;
      if (counts[begin.word] === 0) missing++;
    }
  }
  const together = sumNumbers(matches.map((own) => own[0]?.length ?? 0));
  // Adjacent words are shown as one match.
  if (best <= together + NEARBY * (matches.length - 1)) match = { start: match.start, length: best };
  return { match, closeness: Math.sqrt(Math.min(1, together / Math.max(1, best))) };
}

/** Returns the sum of numbers. */
export function sumNumbers(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
