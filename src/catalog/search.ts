import { fieldsOf } from "../context/entry-fields.ts";
import type { LineSource } from "../jsonl/line-source.ts";
import type { SessionIndex } from "../jsonl/session-index.ts";
import { notASessionAt } from "../log/foreign-file.ts";
import { assertOptions, COUNT, FLAG, type OptionRules, TEXTS } from "../schema/options.ts";
import { failureText } from "../view/failure-text.ts";
import { outcomeOf } from "../view/outcome.ts";
import { CATALOG_RULES, type CatalogOptions, CatalogRun } from "./catalog-run.ts";
import { summarizeSession } from "./file-summary.ts";
import { rowOfLines } from "./full-summary.ts";
import { Pace } from "./pace.ts";
import { entriesOnLines, type FoundEntry, readEntries, readSource, type WholeLine } from "./read-entries.ts";
import { closeFile, openToScan, type ScannedFile } from "./scanned-file.ts";
import { type FoundLine, linesThatMayHold } from "./search-bytes.ts";
import { callsOf, failureTexts, SEARCHED_TYPES, searchedText } from "./search-text.ts";
import type { SessionFile } from "./session-files.ts";
import type { FileRow, SessionRow } from "./session-row.ts";
import { ignoreSkipped, reportSkipped } from "./skipping.ts";
import { snippetOf } from "./snippet.ts";
import { type TextPatterns, textPatterns } from "./text-bytes.ts";
import {
  expressionMatcher,
  literalMatcher,
  type TextMatch,
  type TextMatcher,
  TooSlowError,
} from "./text-matcher.ts";

/** What is searched, and how. */
export interface SearchOptions extends CatalogOptions {
  /** Only messages of these roles; summaries are `compactionSummary` and `branchSummary`. Default: all. */
  readonly roles?: readonly string[];
  /** Whether the query is a regular expression. Default false. */
  readonly regex?: boolean;
  /** Default false. */
  readonly caseSensitive?: boolean;
  /**
   * Only failures, as `outcomeOf` tells them; an empty query then finds all of them, another one those that hold it in
   * their output, the tool's name or the arguments of its call. Default false.
   */
  readonly failed?: boolean;
  /** At most this many hits. */
  readonly limit?: number;
  /**
   * Whether sessions come latest first, by their latest message. All are then read before the first
   * hit, unless a list has read them. Default false: by the time of the file.
   */
  readonly latestFirst?: boolean;
}

const SEARCH_RULES: OptionRules<SearchOptions> = {
  ...CATALOG_RULES,
  roles: TEXTS,
  regex: FLAG,
  caseSensitive: FLAG,
  failed: FLAG,
  limit: COUNT,
  latestFirst: FLAG,
};

/** An entry that holds what was searched for. */
export interface SearchHit {
  readonly session: SessionRow;
  readonly entryId: string;
  /** Role of the message that the entry is or becomes. */
  readonly role: string;
  /** One line of text around the first match; of a failure without a query: what failed, and the line that names the error. */
  readonly snippet: string;
  /** The match within the snippet, in UTF-16 units. */
  readonly match: TextMatch;
  /** Byte offset of the entry's line in the session's file; absent if it is kept elsewhere. */
  readonly offset?: number;
}

/** An entry of a session file that holds what was searched for. */
export interface FileHit extends SearchHit {
  readonly session: FileRow;
  readonly offset: number;
}

/** What a search looks for. */
interface Wanted {
  readonly match: TextMatcher;
  /** Undefined if any line can hold it. */
  readonly patterns: TextPatterns | undefined;
  readonly roles: ReadonlySet<string> | undefined;
  /** Whether only failures are wanted. */
  readonly isFailed: boolean;
  /** Whether any text will do, so that a failure is shown by what failed. */
  readonly isAnyText: boolean;
}

/**
 * Searches the text of sessions, most recently written files first, and yields each entry that holds it as it is found.
 *
 * Covers messages (text, thinking, tool calls, commands and their output), messages of extensions, and summaries. A text
 * is first searched in the bytes of the files, in every way in which JSON can spell it, and only lines that may hold it
 * are parsed. A regular expression is tried on every entry. A file on which it takes more than a quarter of a second for
 * one batch is skipped and reported to `onSkipped` as `too-slow`: an expression can delay the process, but not hang it.
 *
 * @param query - Text, or a regular expression with `regex`; an empty one matches nothing, unless with `failed`. Composed
 *   and decomposed accents are different texts.
 * @returns One hit per entry, in the order of the files and of the entries in them.
 * @throws {TypeError} At once, if it is no regular expression, or an option is invalid.
 * @throws {SessionError} `ABORTED`, from the iteration.
 * @remarks Cost: O(bytes), most of which are skipped, but for a regular expression and an empty query; each file with hits
 *   is read into a tree, unless a list has found it in order. With `failed`, each file that holds the query is read whole.
 */
export function searchSessions(
  query: string,
  options: SearchOptions = {},
): AsyncGenerator<FileHit, void, undefined> {
  assertOptions(options, SEARCH_RULES);
  return first(limitOf(query, options), search(wantedBy(query, options), options));
}

/**
 * Searches one session file, as `searchSessions` searches many.
 *
 * @throws {TypeError} At once, if the query is no regular expression.
 * @throws {SessionError} `NOT_A_SESSION`, from the iteration.
 * @throws The system's error if the file is missing or cannot be read.
 * @remarks Cost: O(bytes).
 */
export function searchSession(
  path: string,
  query: string,
  options: Pick<
    SearchOptions,
    "roles" | "regex" | "caseSensitive" | "failed" | "limit" | "onSkipped" | "signal"
  > = {},
): AsyncGenerator<FileHit, void, undefined> {
  return searchAt(path, wantedBy(query, options), options, limitOf(query, options));
}

function wantedBy(
  query: string,
  { roles, regex = false, caseSensitive = false, failed = false }: SearchOptions,
): Wanted {
  return {
    // An empty expression fits nothing; an empty text fits everywhere.
    match: (regex && query !== "" ? expressionMatcher : literalMatcher)(query, caseSensitive),
    patterns: regex || query === "" ? undefined : textPatterns(query, caseSensitive),
    roles: roles && new Set(roles),
    isFailed: failed,
    isAnyText: query === "",
  };
}

/** An empty text matches nothing, but with `failed` every failure. */
function limitOf(query: string, { failed = false, limit = Number.POSITIVE_INFINITY }: SearchOptions): number {
  return query === "" && !failed ? 0 : Math.floor(limit);
}

async function* searchAt(
  path: string,
  wanted: Wanted,
  { onSkipped = ignoreSkipped, signal }: SearchOptions,
  limit: number,
): AsyncGenerator<FileHit, void, undefined> {
  const session = await summarizeSession(path);
  if (session === undefined) throw notASessionAt(path);
  const file = openToScan(path);
  try {
    const found = findIn(file, wanted, false, new Pace(signal));
    for await (const one of first(limit, found)) yield hitOf(session, one);
  } catch (error) {
    if (!(error instanceof TooSlowError)) throw error;
    onSkipped({ path, reason: "too-slow" });
  } finally {
    closeFile(file);
  }
}

/**
 * Searches the lines of one session that has no file, as `searchSession` does.
 *
 * @throws {TypeError} At once, if the query is no regular expression.
 * @remarks Cost: O(bytes).
 */
export function searchLines(
  source: LineSource,
  query: string,
  options: SearchOptions = {},
): AsyncGenerator<SearchHit, void, undefined> {
  assertOptions(options, SEARCH_RULES);
  return searchSource(source, wantedBy(query, options), options, limitOf(query, options));
}

async function* searchSource(
  source: LineSource,
  wanted: Wanted,
  { onSkipped = ignoreSkipped, signal }: SearchOptions,
  limit: number,
): AsyncGenerator<SearchHit, void, undefined> {
  const session = await rowOfLines(source);
  if (session === undefined) return;
  try {
    const found = findInSource(source, undefined, wanted, new Pace(signal));
    for await (const one of first(limit, found)) yield hitOf(session, one);
  } catch (error) {
    if (!(error instanceof TooSlowError)) throw error;
    onSkipped({ path: session.id, reason: "too-slow" });
  }
}

/** Yields at most so many, and asks for no more. */
async function* first<T>(limit: number, all: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  let left = limit;
  if (!(left >= 1)) return;
  for await (const one of all) {
    yield one;
    left--;
    if (left < 1) return;
  }
}

function hitOf<Row extends SessionRow>(session: Row, { entryId, role, offset, text, match }: Found) {
  return { session, entryId, role, offset, ...snippetOf(text, match) };
}

async function* search(wanted: Wanted, options: SearchOptions): AsyncGenerator<FileHit, void, undefined> {
  const run = await CatalogRun.start(options);
  try {
    const files = options.latestFirst === true ? await run.filesLatestFirst() : run.files;
    for (const file of files) {
      yield* searchFile(run, file, wanted);
      if (run.pace.isDue) await run.pace.rest();
    }
  } finally {
    await run.finish();
  }
}

async function* searchFile(
  run: CatalogRun,
  file: SessionFile,
  wanted: Wanted,
): AsyncGenerator<FileHit, void, undefined> {
  run.pace.check();
  if (!run.mayBelong(file)) return;
  let open: ScannedFile | undefined;
  try {
    open = openToScan(file.path);
    let session: FileRow | undefined;
    for await (const found of findIn(open, wanted, run.isInOrder(file, open), run.pace)) {
      session ??= await run.infoOf(file);
      if (session === undefined) return;
      yield hitOf(session, found);
    }
  } catch (error) {
    if (error instanceof TooSlowError) run.report({ path: file.path, reason: "too-slow" });
    else reportSkipped(file.path, error, run.report);
  } finally {
    if (open !== undefined) closeFile(open);
  }
}

/** A matching entry, and the text that matches. */
interface Found {
  readonly entryId: string;
  readonly role: string;
  readonly offset: number;
  readonly text: string;
  readonly match: TextMatch;
}

async function* findIn(
  file: ScannedFile,
  wanted: Wanted,
  isInOrder: boolean,
  pace: Pace,
): AsyncGenerator<Found, void, undefined> {
  const { patterns } = wanted;
  const lines = patterns && (await linesThatMayHold(file, patterns, pace));
  if (lines?.length === 0) return;
  if (!wanted.isFailed && isInOrder && lines?.every(isWhole) === true) {
    for await (const batch of entriesOnLines(file, lines, pace))
      yield* matching(textsIn(batch, wanted), wanted);
    return;
  }
  const source = await readSource(file, pace);
  if (source !== undefined) yield* findInSource(source, lines, wanted, pace);
}

/** Yields what matches on some lines of a session; on all of them if none are passed. */
async function* findInSource(
  source: LineSource,
  lines: readonly FoundLine[] | undefined,
  wanted: Wanted,
  pace: Pace,
): AsyncGenerator<Found, void, undefined> {
  const calls: Calls = new Map();
  // What a failure is of stands in the answer that called the tool.
  const ordinals = candidates(source.index, wanted.isFailed ? undefined : lines);
  for await (const batch of readEntries(source, ordinals, pace)) {
    yield* matching(wanted.isFailed ? failuresIn(batch, wanted, calls) : textsIn(batch, wanted), wanted);
  }
}

function isWhole(line: FoundLine): line is FoundLine & WholeLine {
  return line.start !== undefined && line.end !== undefined;
}

/** Yields the searched entries on the given lines; all of them if no lines are given. */
function* candidates(index: SessionIndex, lines: readonly FoundLine[] | undefined): Generator<number, void> {
  // On a line of several records, the place identifies only the first.
  const isAny = lines === undefined || index.issues.some((issue) => issue.code === "RECORDS_GLUED");
  let next = 0;
  for (const ordinal of index.tree.ordinals()) {
    if (!isAny) {
      const { offset, length } = index.spans.at(ordinal);
      while ((lines[next]?.at ?? Number.POSITIVE_INFINITY) < offset) next++;
      if ((lines[next]?.at ?? Number.POSITIVE_INFINITY) >= offset + length) continue;
    }
    if (SEARCHED_TYPES.has(index.tree.typeAt(ordinal))) yield ordinal;
  }
}

/** The arguments of calls that have no result yet, by the id of the call. */
type Calls = Map<unknown, unknown>;

/** An entry and one of its texts. */
type Searched = Omit<Found, "match">;

function textsIn(batch: readonly FoundEntry[], { roles }: Wanted): Searched[] {
  return batch.flatMap(({ entryId, offset, entry }) => {
    const found = entry && searchedText(entry);
    if (found === undefined || roles?.has(found.role) === false) return [];
    return found.texts.map((text) => ({ entryId, offset, role: found.role, text }));
  });
}

function failuresIn(batch: readonly FoundEntry[], wanted: Wanted, calls: Calls): Searched[] {
  return batch.flatMap(({ entryId, offset, entry }) => {
    if (entry === undefined) return [];
    for (const call of callsOf(entry)) calls.set(call.id, call.arguments);
    const message = fieldsOf(fieldsOf(entry)["message"]);
    const given = calls.get(message["toolCallId"]);
    calls.delete(message["toolCallId"]);
    if (outcomeOf(entry) !== "failed") return [];
    const found = searchedText(entry);
    if (found === undefined || wanted.roles?.has(found.role) === false) return [];
    const texts = wanted.isAnyText ? [failureText(message, given)] : failureTexts(entry, given, found.texts);
    return texts.map((text) => ({ entryId, offset, role: found.role, text }));
  });
}

/** Yields the first match of each entry. */
function* matching(searched: readonly Searched[], { match }: Wanted): Generator<Found, void> {
  const matches = match(searched.map((one) => one.text));
  let foundBefore = -1;
  for (const [i, one] of searched.entries()) {
    const found = matches[i];
    if (found === undefined || one.offset === foundBefore) continue;
    foundBefore = one.offset;
    yield { ...one, match: found };
  }
}
