import {
  type MatchedPart,
  makePhraseFinders,
  type QueryMatch,
  type QueryMatcher,
  WEIGHTS,
} from "./query-matcher.ts";
import type { SearchQuery } from "./search-query.ts";
import type { TextMatch } from "./text-matcher.ts";
import { type QuestionWord, readWords } from "./words.ts";

/** Maximum number of matches counted per string. */
const MAX_MATCHES = 10_000;

/** Maximum size of the passage compared with a question, in UTF-16 units. */
const WINDOW = 160;

interface FoundWord extends TextMatch {
  /** Index of the word in the question. */
  readonly word: number;
}

/**
 * Creates the matcher for a question: an entry must contain all phrases and at least one word.
 *
 * @param worthByHash - Value of each word in the question, by hash. Default: its weight.
 * @remarks Cost: O(characters).
 */
export function makeQuestionMatcher(
  { terms, words = [] }: SearchQuery,
  worthByHash: ReadonlyMap<number, number> = new Map(),
): QueryMatcher {
  const worths = words.map(({ hash, weight }) => worthByHash.get(hash) ?? weight);
  const phrases = makePhraseFinders(terms);
  const numbers = new Map(words.map(({ hash }, at) => [hash, at]));
  return (entries) =>
    entries.map((parts) => {
      const held = new Set<number>();
      const found = parts.map(({ text }) => findQuestionWords(text, numbers, held));
      const isMatch = phrases.every((find) => parts.some(({ text }) => find(text).length > 0));
      if (!isMatch || held.size === 0) return undefined;
      return { ...findBestPart(parts, found, worths), missing: getMissing(words, held) };
    });
}

function findQuestionWords(
  text: string,
  numbers: ReadonlyMap<number, number>,
  held: Set<number>,
): FoundWord[] {
  const found: FoundWord[] = [];
  readWords(text, (hash, start, end) => {
    const word = numbers.get(hash);
    if (word === undefined) return;
    held.add(word);
    if (found.length < MAX_MATCHES) found.push({ word, start, length: end - start });
  });
  return found;
}

/** Returns the question's words that an entry does not contain, except stop words and parts of words. */
function getMissing(words: readonly QuestionWord[], held: ReadonlySet<number>): string[] {
  return words
    .filter((word, at) => word.weight === 1 && !word.isPart && !held.has(at))
    .map(({ text }) => text);
}

/** Finds the passage that covers the most of a question, and the first of the most valuable words in that passage. */
function findBestPart(
  parts: readonly MatchedPart[],
  found: readonly (readonly FoundWord[])[],
  worths: readonly number[],
): Omit<QueryMatch, "missing"> {
  let best: { index: number; match: TextMatch; worth: number } | undefined;
  for (const [index, { kind }] of parts.entries()) {
    if (kind === "date") continue;
    const piece = findBestPiece(found[index] ?? [], worths);
    const worth = (piece?.worth ?? 0) * WEIGHTS[kind];
    if (piece !== undefined && (best === undefined || worth > best.worth))
      best = { index, match: piece.match, worth };
  }
  // Only the entry's date matches the question, not its text.
  const { index, match } = best ?? { index: 0, match: { start: 0, length: 0 } };
  return { index, match, relevance: 1 };
}

function findBestPiece(found: readonly FoundWord[], worths: readonly number[]) {
  const counts = new Uint32Array(worths.length);
  let [from, worth] = [0, 0];
  let best: { worth: number; match: TextMatch } | undefined;
  for (const [i, { word, start, length }] of found.entries()) {
    if (counts[word] === 0) worth += worths[word] ?? 0;
    counts[word] = (counts[word] ?? 0) + 1;
    for (
      let first = found[from];
      first !== undefined && start + length - first.start > WINDOW && from < i;
    ) {
      counts[first.word] = (counts[first.word] ?? 0) - 1;
      if (counts[first.word] === 0) worth -= worths[first.word] ?? 0;
      first = found[++from];
    }
    if (best === undefined || worth > best.worth)
      best = { worth, match: getMostWorth(found.slice(from, i + 1), worths) };
  }
  return best;
}

function getMostWorth(found: readonly FoundWord[], worths: readonly number[]): TextMatch {
  const [first = { word: 0, start: 0, length: 0 }] = found;
  let best = first;
  for (const one of found) if ((worths[one.word] ?? 0) > (worths[best.word] ?? 0)) best = one;
  return { start: best.start, length: best.length };
}
