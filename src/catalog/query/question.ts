import { MAX_TERMS, makeInvalidError, QUOTED, type SearchQuery } from "./search-query.ts";
import { type QuestionWord, readWords } from "./words.ts";

/** Maximum length of a question, in UTF-16 units. */
const MAX_UNITS = 100_000;

/** Maximum number of different words searched per question. Further words are ignored. */
const MAX_WORDS = 500;

/** Weight of a stop word, enough to order otherwise equal entries. */
const STOP_WEIGHT = 0.1;

/** English words that occur in almost every text. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about after again all also am an and any are aren as at be because been before being but by can could couldn d
  did didn do does doesn doing don done for from get got had hadn has hasn have haven having he her here him his how
  i if in into is isn it its just let ll m me more most my no not now of on once only or other our out over own
  please re s same she should shouldn so some such t than that the their them then there these they this those to
  too up us ve very was wasn we were weren what when where which while who whom whose why will with won would wouldn
  you your`.split(/\s+/),
);

/**
 * Parses a question: optional words, at least one of which is required, and quoted phrases, which are all required.
 *
 * @returns A query without words if the string does not contain any.
 * @throws {SessionError} `INVALID_QUERY` if the string has more than 100,000 characters or more than 32 phrases.
 */
export function parseQuestion(text: string): SearchQuery {
  if (text.length > MAX_UNITS) {
    throw makeInvalidError(
      `The question has ${text.length} characters, but at most ${MAX_UNITS} are allowed; shorten it.`,
    );
  }
  const phrases = Array.from(text.matchAll(QUOTED), ([, phrase = ""]) => phrase.trim());
  const terms = [...new Set(phrases.filter((phrase) => phrase !== ""))];
  if (terms.length > MAX_TERMS) {
    throw makeInvalidError(
      `The question has ${terms.length} quoted phrases, but at most ${MAX_TERMS} are allowed; remove some of the quotes.`,
    );
  }
  return { terms, regex: undefined, caseSensitive: false, words: parseWords(text) };
}

function parseWords(text: string): QuestionWord[] {
  const found: { hash: number; start: number; end: number }[] = [];
  readWords(text, (hash, start, end) => found.push({ hash, start, end }));
  const words = new Map<number, QuestionWord>();
  for (const [i, { hash, start, end }] of found.entries()) {
    if (words.size >= MAX_WORDS) break;
    const written = text.slice(start, end);
    const weight = STOP_WORDS.has(written.toLowerCase()) ? STOP_WEIGHT : 1;
    // The parts of a word come before it.
    const isPart = isPartOfLater(found, i);
    const known = words.get(hash);
    if (known === undefined || (known.isPart && !isPart))
      words.set(hash, { text: written, hash, weight, isPart });
  }
  return [...words.values()];
}

function isPartOfLater(found: readonly { start: number; end: number }[], at: number): boolean {
  const { start = 0, end = 0 } = found[at] ?? {};
  for (let i = at + 1; i < found.length; i++) {
    const later = found[i];
    if (later === undefined || later.start > end) return false;
    if (later.start <= start && later.end >= end && later.end - later.start > end - start) return true;
  }
  return false;
}
