import {
  assertOptions,
  COUNT,
  DATE,
  FLAG,
  makeChoiceRule,
  type OptionRules,
  TEXT,
  TEXTS,
} from "../../core/format/options.ts";
import type { LineSource } from "../../core/jsonl/line-source.ts";
import { closeFile, openToScan, type ScannedFile } from "../../session/files/file-mark.ts";
import type { SessionFile } from "../../session/files/session-files.ts";
import type { FileRow, SessionRow } from "../../session/files/session-row.ts";
import { ignoreSkipped, reportSkipped, type SkipReport } from "../../session/files/skipped-files.ts";
import { Pace } from "../../session/files/time-slices.ts";
import {
  canLimitScripts,
  makeLimitedScripts,
  parseMatch,
  TooSlowError,
} from "../../session/fs/limited-scripts.ts";
import { notASessionAt } from "../../session/log/foreign-file.ts";
import { CATALOG_RULES, type CatalogOptions, CatalogRun } from "../list/catalog-run.ts";
import { makeRowOfLines, summarizeSession } from "../list/file-summary.ts";
import { collectGrams } from "../list/gram-filter.ts";
import { readSource } from "../list/read-entries.ts";
import {
  type EntryHit,
  getRequiredTexts,
  isEmptySearch,
  planSearch,
  type SearchPlan,
} from "../query/entry-search.ts";
import { parseQuestion } from "../query/question.ts";
import {
  parseExpression,
  parseQuery,
  type QueryOptions,
  type SearchFilters,
  type SearchQuery,
} from "../query/search-query.ts";
import type { TextMatcher } from "../query/text-matcher.ts";
import { searchFilesByQuestion } from "./question-files.ts";
import { MAX_RANKED, QuestionSearch } from "./question-search.ts";
import {
  type FoundHit,
  findAtOffsets,
  findInFile,
  findInSource,
  makeBranchLookup,
  withBranches,
} from "./search-file.ts";
import { isFrom, mayHold } from "./searched-files.ts";
import { TermTableReader } from "./term-tables.ts";

/** Options for searching one session. */
export interface SearchSessionOptions
  extends QueryOptions,
    SearchFilters,
    Pick<CatalogOptions, "onSkipped" | "signal"> {
  /** Maximum number of hits. With `ranked`, only the best hits are returned. */
  readonly limit?: number;
  /** Whether to return the best hits first: at most 10,000, and only after the search is complete. Default false. */
  readonly ranked?: boolean;
}

/** Options for searching many sessions. */
export interface SearchOptions extends CatalogOptions, SearchSessionOptions {
  /**
   * Whether to search sessions in order of their latest message, latest first. This requires reading all sessions before the
   * first hit, unless they have already been read for a list. By default, sessions are searched in order of their files'
   * modification times.
   */
  readonly latestFirst?: boolean;
}

/** Validation rules for search options, for sessions in files and in stores. */
export const HIT_RULES: OptionRules<Omit<SearchSessionOptions, "onSkipped" | "signal">> = {
  regex: FLAG,
  caseSensitive: FLAG,
  match: makeChoiceRule("all", "any"),
  roles: TEXTS,
  tools: TEXTS,
  path: TEXT,
  failed: FLAG,
  since: DATE,
  until: DATE,
  source: TEXT,
  branch: makeChoiceRule("active", "any"),
  limit: COUNT,
  ranked: FLAG,
};

/** Entry that matches a search. */
export interface SearchHit extends EntryHit {
  readonly session: SessionRow;
  /** `active` if the entry is on the path to the session's leaf, `left` if it is on an abandoned branch. */
  readonly branch: "active" | "left";
  /** Byte offset of the entry's line in the session's file; absent if the session is not in a file. */
  readonly offset?: number;
}

/** Entry of a session file that matches a search. */
export interface FileHit extends SearchHit {
  readonly session: FileRow;
  readonly offset: number;
}

/**
 * Searches the text of sessions, and yields each entry that contains all words in a query. Yields entries as they are
 * found, most recently written files first; with `ranked`, most relevant first.
 *
 * Covers messages (text, thinking, tool calls, commands and their output), extension messages, and summaries. Words are
 * first searched in the bytes of the files, in all possible JSON encodings, and only lines that may contain them are parsed. A
 * regular expression is applied to every entry. If it takes more than a quarter of a second for one batch, the file is
 * skipped and reported to `onSkipped` as `too-slow`: an expression can delay the process, but cannot block it
 * indefinitely.
 *
 * @param query - Words in any order, `"a phrase"` in quotes, or, with `regex`, a regular expression. An empty query
 *   matches nothing or, with `failed`, `tools`, or `path`, all entries that pass these filters. Composed and decomposed
 *   accents are different characters.
 * @returns One hit per entry. Unless `ranked`, in the order of the files and of the entries in each file.
 * @throws {TypeError} Immediately, if an option is invalid.
 * @throws {SessionError} `INVALID_QUERY`, immediately; `ABORTED`, from the iteration.
 * @remarks Cost: O(bytes), most of which are skipped, except for a regular expression and an empty query. Reads each
 *   file with hits into a tree. With `failed` or `path`, completely parses each file that contains the words.
 */
export function searchSessions(
  query: string,
  options: SearchOptions = {},
): AsyncGenerator<FileHit, void, undefined> {
  assertOptions<SearchOptions>(options, { ...CATALOG_RULES, ...HIT_RULES, latestFirst: FLAG });
  const plan = makePlan(query, options);
  if (isQuestion(plan)) return searchFilesByQuestion(plan, options, getLimit(plan, options));
  const { ranked: isMixed = false, onSkipped = ignoreSkipped, signal } = options;
  const read = ({ session: { path } }: PendingHit) => readBranches(path, onSkipped, new Pace(signal));
  const hits = orderHits(plan, options, runSearch(plan, options));
  return withBranches(hits, { isMixed, getSession: ({ session }) => session.path, read });
}

/** Searches one session file in the same way as `searchSessions`. */
export function searchSession(
  path: string,
  query: string,
  options: SearchSessionOptions = {},
): AsyncGenerator<FileHit, void, undefined> {
  return searchAt(path, makePlan(query, options), options);
}

/** Searches the lines of a session that is not in a file, in the same way as `searchSessions`. */
export function searchLines(
  source: LineSource,
  query: string,
  options: SearchSessionOptions = {},
): AsyncGenerator<SearchHit, void, undefined> {
  return searchSource(source, makePlan(query, options), options);
}

/**
 * Plans a search, with a time limit for a regular expression.
 *
 * @throws {TypeError} If a question is combined with a regular expression or case sensitivity.
 * @throws {SessionError} `INVALID_QUERY`.
 */
export function makePlan(text: string, options: QueryOptions & SearchFilters): SearchPlan {
  return planSearch(readQuery(text, options), options, Date.now(), makeBoundedMatcher);
}

function readQuery(text: string, options: QueryOptions): SearchQuery {
  const { match = "all", regex = false, caseSensitive = false } = options;
  if (match === "all") return parseQuery(text, options);
  if (regex || caseSensitive)
    throw new TypeError(
      `match "any" compares words ignoring case: omit ${regex ? "regex" : "caseSensitive"}.`,
    );
  const question = parseQuestion(text);
  return question.words?.length === 0 ? parseQuery(text) : question;
}

/** Returns whether a search ranks entries by the words in a question. */
export function isQuestion({ query }: SearchPlan): boolean {
  return query.words !== undefined;
}

/** Yields the entries of one session that best answer a question. */
async function* findAnswers<Row extends SessionRow>(
  source: LineSource,
  session: Row,
  plan: SearchPlan,
  options: SearchSessionOptions,
) {
  const pace = new Pace(options.signal);
  const search = new QuestionSearch<LineSource, FoundHit>(plan);
  search.add(source, await new TermTableReader(pace).readSource(source, plan));
  const read = (_: LineSource, offsets: readonly number[], own: SearchPlan) =>
    findAtOffsets(source, offsets, own, pace);
  for await (const hit of search.findHits(getLimit(plan, options), read, pace))
    yield { ...hit, session, branch: hit.branch ?? "active" };
}

/** Returns the maximum number of hits of a search. */
export function getLimit(
  plan: SearchPlan,
  { limit = Number.POSITIVE_INFINITY }: SearchSessionOptions,
): number {
  return isEmptySearch(plan) ? 0 : Math.floor(limit);
}

async function* searchAt(
  path: string,
  plan: SearchPlan,
  options: SearchSessionOptions,
): AsyncGenerator<FileHit, void, undefined> {
  const session = await summarizeSession(path);
  if (session === undefined) throw notASessionAt(path);
  const file = openToScan(path);
  const pace = new Pace(options.signal);
  try {
    if (isQuestion(plan)) {
      const source = await readSource(file, pace);
      if (source !== undefined) yield* findAnswers(source, session, plan, options);
      return;
    }
    const found = findInFile(file, plan, false, pace);
    yield* orderHits(plan, options, toHits(session, found, options));
  } finally {
    closeFile(file);
  }
}

async function* searchSource(
  source: LineSource,
  plan: SearchPlan,
  options: SearchSessionOptions,
): AsyncGenerator<SearchHit, void, undefined> {
  const session = await makeRowOfLines(source);
  if (session === undefined) return;
  if (isQuestion(plan)) {
    yield* findAnswers(source, session, plan, options);
    return;
  }
  const found = findInSource(source, undefined, plan, new Pace(options.signal));
  yield* orderHits(plan, options, toHits(session, found, options));
}

async function* toHits<Row extends SessionRow>(
  session: Row,
  found: AsyncIterable<readonly FoundHit[]>,
  { onSkipped = ignoreSkipped }: SearchSessionOptions,
) {
  try {
    for await (const batch of found)
      for (const hit of batch) yield { ...hit, session, branch: hit.branch ?? "active" };
  } catch (error) {
    if (!(error instanceof TooSlowError)) throw error;
    onSkipped({ path: session.path ?? session.id, reason: "too-slow" });
  }
}

/** Yields hits in the given order or, with `ranked`, most relevant first. */
export async function* orderHits<Hit extends EntryHit>(
  plan: SearchPlan,
  options: Pick<SearchSessionOptions, "limit" | "ranked">,
  hits: AsyncIterable<Hit>,
): AsyncGenerator<Hit, void, undefined> {
  const limit = getLimit(plan, options);
  if (!(limit >= 1)) return;
  let left = limit;
  const max = Math.min(limit, MAX_RANKED);
  let found: Hit[] = [];
  const best = () => found.toSorted(compareHits).slice(0, max);
  for await (const hit of hits) {
    if (options.ranked === true) {
      // Keeps at most twice as many hits in memory as needed.
      if (found.push(hit) >= 2 * max) found = best();
      continue;
    }
    yield hit;
    left--;
    if (left < 1) return;
  }
  yield* best();
}

/** Orders hits by score, best first, then by time, latest first; otherwise in the order in which they were found. */
function compareHits(a: EntryHit, b: EntryHit): number {
  return b.score - a.score || (b.time?.getTime() ?? 0) - (a.time?.getTime() ?? 0);
}

/** Hit in a session file. Its branch may not have been determined yet. */
type PendingHit = Omit<FileHit, "branch"> & Pick<FoundHit, "branch">;

async function* runSearch(
  plan: SearchPlan,
  options: SearchOptions,
): AsyncGenerator<PendingHit, void, undefined> {
  const run = await CatalogRun.start(options);
  try {
    const grams = collectGrams(getRequiredTexts(plan).map(({ text }) => text));
    const files = options.latestFirst === true ? await run.filesLatestFirst() : run.files;
    for (const file of files) {
      if (!mayHold(run, file, grams)) continue;
      yield* searchFile(run, file, plan);
      if (run.pace.isDue) await run.pace.rest();
    }
  } finally {
    await run.finish();
  }
}

async function* searchFile(
  run: CatalogRun,
  file: SessionFile,
  plan: SearchPlan,
): AsyncGenerator<PendingHit, void, undefined> {
  run.pace.check();
  if (!run.mayBelong(file)) return;
  let open: ScannedFile | undefined;
  try {
    if (!isFrom(file.path, plan)) return;
    open = openToScan(file.path);
    let session: FileRow | undefined;
    const mark = open;
    const isNew = run.cache.folder !== undefined && run.cache.getFilter(file, mark) === undefined;
    const onFilter = isNew ? (filter: Uint8Array) => run.cache.putFilter(file, mark, filter) : undefined;
    for await (const batch of findInFile(open, plan, run.isInOrder(file, open), run.pace, onFilter)) {
      for (const hit of batch) {
        session ??= await run.readRow(file);
        if (session === undefined) return;
        yield { ...hit, session };
      }
    }
  } catch (error) {
    if (error instanceof TooSlowError) run.report({ path: file.path, reason: "too-slow" });
    else reportSkipped(file.path, error, run.report);
  } finally {
    if (open !== undefined) closeFile(open);
  }
}

/** Reads the branches of a file's entries; undefined if the file is no longer a session or is unreadable. */
async function readBranches(path: string, onSkipped: SkipReport, pace: Pace) {
  let file: ScannedFile | undefined;
  try {
    file = openToScan(path);
    const source = await readSource(file, pace);
    return source && makeBranchLookup(source.index);
  } catch (error) {
    reportSkipped(path, error, onSkipped);
    return undefined;
  } finally {
    if (file !== undefined) closeFile(file);
  }
}

/** Maximum number of milliseconds that an expression may take for one batch of strings. */
const SEARCH_MS = 250;

const FIRST_MATCHES = `texts.map((text) => { const m = expression.exec(text); return m && [m.index, m.index + m[0].length]; })`;

/**
 * Creates a matcher for an expression. The matcher throws `TooSlowError` after a quarter of a second, and ignores empty
 * matches.
 */
export function makeBoundedMatcher(source: string, caseSensitive: boolean): TextMatcher {
  const expression = parseExpression(source, caseSensitive ? "" : "i");
  if (!canLimitScripts()) return makeUnboundedMatcher(expression);
  const { flags } = expression;
  const firstMatches = makeLimitedScripts([{ source, flags }])(FIRST_MATCHES);
  return (texts) =>
    firstMatches(texts, SEARCH_MS).map((found) => {
      const match = parseMatch(found);
      return match && { start: match[0], length: match[1] - match[0] };
    });
}

function makeUnboundedMatcher(expression: RegExp): TextMatcher {
  return (texts) =>
    texts.map((text) => {
      const found = expression.exec(text);
      return found === null || found[0] === "" ? undefined : { start: found.index, length: found[0].length };
    });
}
