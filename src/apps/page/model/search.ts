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

/** Entry in which a text was found. */
export interface SearchHit {
  readonly ordinal: number;
  /**
   * Position of the match in its text; undefined without a query. Not stored as a substring, which would keep the whole text in
   * memory.
   */
  readonly match: TextMatch | undefined;
}

/** Hits in some entries. */
export interface SomeHits {
  readonly hits: readonly SearchHit[];
  /** Number of entries already searched, in file order. */
  readonly passed: number;
}

/** Finds the matches of a query in a string. */
export interface Finder {
  /** Returns all matches of all words, in their order. */
  readonly all: (text: string) => readonly TextMatch[];
  /** Returns the match to show, which is where the words are closest together; undefined if the text lacks any of the words. */
  readonly best: (text: string) => TextMatch | undefined;
}

/** Maximum number of matches of each word that are marked in a string. */
const MAX_MATCHES = 2000;

/** Query without terms, used when a query is invalid. */
const NO_WORDS: SearchQuery = { terms: [], regex: undefined, caseSensitive: false };

/** Creates a finder for words in any order and quoted phrases; it finds nothing if the query is empty. */
export function makeFinder(text: string): Finder {
  const query = readQuery(text).query;
  if (query.terms.length === 0) return { all: () => [], best: () => undefined };
  const finders = query.terms.map((term) => makeLiteralFinder(term, false, MAX_MATCHES));
  // The page accepts no regular expressions because it could not stop a slow one.
  const match = makeQueryMatcher(query, () => (texts) => texts.map(() => undefined));
  return {
    all: (searched) => finders.flatMap((find) => find(searched)).sort((a, b) => a.start - b.start),
    best: (searched) => match([[{ kind: "said", text: searched }]])[0]?.match,
  };
}

/** Parses a query; `problem` states why it is invalid. */
export function readQuery(text: string): { readonly query: SearchQuery; readonly problem: string } {
  try {
    return { query: parseQuery(text), problem: "" };
  } catch (error) {
    if (!isSessionError(error, "INVALID_QUERY")) throw error;
    return { query: NO_WORDS, problem: error.message };
  }
}

/** Separator between the parts of an entry, so that a snippet ends where its part ends. */
const SEPARATOR = "\u0000";

const BEFORE = 32;
const AFTER = 96;

/** Searched text of an entry. */
interface SearchedText {
  readonly text: string;
  /** Start of the entry's id, after the content of the entry; its label follows. */
  readonly idAt: number;
}

/**
 * Finds the entries of a session that contain all words, in any order, in their visible stored content, their id, or their label,
 * using the same rules as every search.
 *
 * @param text - Words and quoted phrases.
 * @param from - Number of entries already searched, in file order.
 * @returns Hits in file order, several at a time; nothing if the query is empty.
 * @remarks Cost: O(bytes of the session), most of which are skipped, and O(characters) of entries that may contain the words.
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

/** Returns the searched text of an entry. */
export function getPageText(
  session: SessionModel,
  ordinal: number,
  entry: AnySessionEntry | undefined,
): SearchedText {
  const label = session.labels.get(ordinal) ?? "";
  const texts = getShownParts(entry, getKindAt(session, ordinal)).join(SEPARATOR);
  return { text: [texts, session.tree.idAt(ordinal), label].join(SEPARATOR), idAt: texts.length + 1 };
}

/**
 * Returns the stored content that an entry shows, including its line if it shows only one line. Notes about the entry are not
 * searched.
 */
function getShownParts(entry: AnySessionEntry | undefined, { tone }: EntryKind): string[] {
  if (entry === undefined || entry.type === "damaged") return [];
  const stored = getEntryContent(entry).parts.filter(({ kind }) => kind !== "note");
  const parts = stored.map(getPartText);
  return tone === "quiet" || parts.length === 0 ? [getExcerpt(entry).text, ...parts] : parts;
}

/** Returns the line to show for a hit: the text before the match, the match, and the text after it. */
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

/** Consecutive letters; the page inserts its own characters between other parts of a line. */
const LETTERS = /[\p{L}\p{N}_]+/gu;

/** Entries of one block that may match a query. */
interface SomeThatMayHold {
  readonly ordinals: readonly number[];
  /** Number of entries already passed, in file order. */
  readonly passed: number;
}

/** First character of a color sequence in terminal output, which may be in the middle of a word. */
const ESCAPE = "\u001b";

/**
 * Finds entries that may match a query, by the bytes of their lines: entries without the longest word are not parsed.
 *
 * @param from - Number of entries to skip, in file order.
 * @returns Candidates in file order, one block at a time.
 * @remarks Cost: O(bytes), most of which are skipped.
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
  // Migrated entries are shown in the current format, which their bytes do not match.
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
