import { makeQueryMatcher } from "../../../catalog/query/query-matcher.ts";
import { getRequiredWords, parseQuery, type SearchQuery } from "../../../catalog/query/search-query.ts";
import { MatchWalk, makeTextPatterns } from "../../../catalog/query/text-bytes.ts";
import { makeLiteralFinder, type TextMatch } from "../../../catalog/query/text-matcher.ts";
import { getEntryContent } from "../../../core/facts/entry-content.ts";
import { getExcerpt } from "../../../core/facts/excerpt.ts";
import { isSessionError } from "../../../core/format/errors.ts";
import type { AnySessionEntry } from "../../../core.ts";
import { type EntryKind, getEntryTitle } from "../../text/entry-kind.ts";
import { getPartText } from "./entry-text.ts";
import { getKindAt, type SessionModel } from "./session-model.ts";

/** An entry in which a text was found. */
export interface SearchHit {
  readonly ordinal: number;
  /** Where in its text; undefined if nothing was looked for. A piece of the text would keep all of it in memory. */
  readonly match: TextMatch | undefined;
}

/** What was found in some entries. */
export interface SomeHits {
  readonly hits: readonly SearchHit[];
  /** How many entries were searched so far, in the order of the file. */
  readonly passed: number;
}

/** Finds what is searched for in a text. */
export interface Finder {
  /** Returns all matches of every word, in their order. */
  readonly all: (text: string) => readonly TextMatch[];
  /** Returns the match to show, where the words stand closest; undefined if the text lacks one of them. */
  readonly best: (text: string) => TextMatch | undefined;
}

/** Words are marked so many times in a text at most. */
const MAX_MATCHES = 2000;

/** Nothing is searched for, as of the text of a query that cannot be. */
const NO_WORDS: SearchQuery = { terms: [], regex: undefined, caseSensitive: false };

/** Makes the finder of words in any order and phrases in quotes; one that finds nothing if nothing is searched for. */
export function makeFinder(text: string): Finder {
  const query = readQuery(text).query;
  if (query.terms.length === 0) return { all: () => [], best: () => undefined };
  const finders = query.terms.map((term) => makeLiteralFinder(term, false, MAX_MATCHES));
  // The page takes no regular expressions: nothing could end one that takes too long.
  const match = makeQueryMatcher(query, () => (texts) => texts.map(() => undefined));
  return {
    all: (searched) => finders.flatMap((find) => find(searched)).sort((a, b) => a.start - b.start),
    best: (searched) => match([[{ kind: "said", text: searched }]])[0]?.match,
  };
}

/** Reads what a person looks for; `problem` says why it cannot be looked for. */
export function readQuery(text: string): { readonly query: SearchQuery; readonly problem: string } {
  try {
    return { query: parseQuery(text), problem: "" };
  } catch (error) {
    if (!isSessionError(error, "INVALID_QUERY")) throw error;
    return { query: NO_WORDS, problem: error.message };
  }
}

/** Stands between the parts of an entry, so that a snippet ends where its part does. */
const SEPARATOR = "\u0000";

const BEFORE = 32;
const AFTER = 96;

/** What of an entry is searched. */
interface SearchedText {
  readonly text: string;
  /** Where the entry's id begins, behind what it shows; its label follows. */
  readonly idAt: number;
}

/**
 * Finds the entries of a session that hold all words, in any order, in what they show of what is stored, their id or their label,
 * by the rules of every search.
 *
 * @param text - Words, and phrases in quotes.
 * @param from - How many entries were searched before, in the order of the file.
 * @returns In the order of the file, some at a time; nothing if nothing is looked for.
 * @remarks Cost: O(bytes of the session), most of which are passed over, and O(characters) of entries that may hold the words.
 */
export function* findEntries(session: SessionModel, text: string, from = 0): Generator<SomeHits, void> {
  const { query } = readQuery(text);
  if (query.terms.length === 0) return;
  const { best } = makeFinder(text);
  for (const { ordinals, passed } of findEntriesThatMayHold(session, query, from)) {
    const hits: SearchHit[] = [];
    session.readEntries(ordinals, (ordinal, entry) => {
      const match = best(getPageText(session, ordinal, entry).text);
      if (match !== undefined) hits.push({ ordinal, match });
    });
    yield { hits, passed };
  }
}

/** Returns what of an entry is searched. */
export function getPageText(
  session: SessionModel,
  ordinal: number,
  entry: AnySessionEntry | undefined,
): SearchedText {
  const label = session.labels.get(ordinal) ?? "";
  const texts = getShownParts(entry, getKindAt(session, ordinal)).join(SEPARATOR);
  return { text: [texts, session.tree.idAt(ordinal), label].join(SEPARATOR), idAt: texts.length + 1 };
}

/** What an entry shows of what is stored; where that is only one line, the line. What is said about the entry is not searched. */
function getShownParts(entry: AnySessionEntry | undefined, { tone }: EntryKind): string[] {
  if (entry === undefined || entry.type === "damaged") return [];
  const stored = getEntryContent(entry).parts.filter(({ kind }) => kind !== "note");
  const parts = stored.map(getPartText);
  return tone === "quiet" || parts.length === 0 ? [getExcerpt(entry).text, ...parts] : parts;
}

/** Returns the line of a hit that is shown: what stands before the match, the match, what stands behind. */
export function cutSnippet(
  session: SessionModel,
  { ordinal, match }: SearchHit,
): readonly [before: string, match: string, after: string] {
  if (match === undefined) return [getEntryTitle(session, ordinal), "", ""];
  const { text, idAt } = getPageText(session, ordinal, session.entryAt(ordinal));
  const { start: at, length } = match;
  const tidy = (part: string) => part.replace(/\s+/g, " ");
  const first = text.lastIndexOf(SEPARATOR, at) + 1;
  const from = Math.max(first, at - BEFORE);
  const end = at + length;
  const last = text.indexOf(SEPARATOR, end);
  return [
    `${first === idAt ? "id " : ""}${from > first ? "…" : ""}${tidy(text.slice(from, at))}`,
    tidy(text.slice(at, end)),
    tidy(text.slice(end, Math.min(end + AFTER, last === -1 ? text.length : last))),
  ];
}

/** Letters in a row: the page puts marks of its own between what stands on a line. */
const LETTERS = /[\p{L}\p{N}_]+/gu;

/** Entries of one block that may hold what is looked for. */
interface SomeThatMayHold {
  readonly ordinals: readonly number[];
  /** How many entries were passed so far, in the order of the file. */
  readonly passed: number;
}

/** Begins a color in a terminal's output, which may stand between the letters of a word. */
const ESCAPE = "\u001b";

/**
 * Tells which entries may show what is looked for, by the bytes of their lines: those of which the longest word is not there are
 * not parsed.
 *
 * @param from - How many entries are passed over, in the order of the file.
 * @returns In the order of the file, as many at a time as lie in one block.
 * @remarks Cost: O(bytes), most of which are passed over.
 */
export function* findEntriesThatMayHold(
  session: SessionModel,
  query: SearchQuery,
  from = 0,
): Generator<SomeThatMayHold, void> {
  const { bytes, kinds, labels, lines, size } = session;
  const [word = ""] = getRequiredWords(query)
    .flatMap((one) => one.match(LETTERS) ?? [])
    .sort((a, b) => b.length - a.length);
  // What was migrated is shown in today's words.
  const patterns = session.isMigrated ? undefined : makeTextPatterns(word, query.caseSensitive, ESCAPE);
  const all = lines.allInFileOrder(size);
  const first = all[from];
  if (first === undefined) return;
  let next = from;
  for (const { offset, bytes: block } of bytes.between(lines.offsetAt(first), bytes.size)) {
    const walks =
      patterns &&
      Object.values(patterns).map(
        (pattern) => new MatchWalk((start) => pattern.find(block, start, block.length)),
      );
    const ordinals: number[] = [];
    for (; next < size; next++) {
      const ordinal = all[next] ?? 0;
      const start = lines.offsetAt(ordinal) - offset;
      if (start >= block.length) break;
      const end = start + lines.lengthAt(ordinal);
      const isTold = kinds[ordinal]?.tone === "quiet" || labels.has(ordinal);
      if (isTold || walks?.some((walk) => walk.next(start) < end) !== false) ordinals.push(ordinal);
    }
    yield { ordinals, passed: next };
  }
}
