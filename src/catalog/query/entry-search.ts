import { getMessageFields, toRecord } from "../../core/context/entry-fields.ts";
import { toText } from "../../core/context/message-parts.ts";
import { formatFailure } from "../../core/facts/failure-text.ts";
import { outcomeOf } from "../../core/facts/outcome.ts";
import { getTellingArgument } from "../../core/facts/tool-calls.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { getRecordTime } from "../../core/format/timestamps.ts";
import {
  type ExpressionCompiler,
  makeQueryMatcher,
  type QueryMatch,
  type QueryMatcher,
} from "./query-matcher.ts";
import { makeQuestionMatcher } from "./question-matcher.ts";
import {
  getRequiredWords,
  isEmptyQuery,
  isNamingEntries,
  type SearchFilters,
  type SearchQuery,
} from "./search-query.ts";
import {
  getCallParts,
  getDateParts,
  getSearchedText,
  isTouching,
  makePathTest,
  type PathTest,
  type SearchedCall,
  type SearchedPart,
  type SearchedText,
} from "./search-text.ts";
import type { TextMatch } from "./text-matcher.ts";

/** Entry that matches a search. */
export interface EntryHit {
  readonly entryId: string;
  /** Role of the entry's message, or of the message that the entry is converted to. */
  readonly role: string;
  /** Tool whose call or result matches. */
  readonly tool?: string;
  /** Time of the entry; absent if the entry has no time. */
  readonly time?: Date;
  /**
   * One line of text around the best match. For a failure found without search words, the name of what failed and the line that
   * describes the error.
   */
  readonly snippet: string;
  /** Match within the snippet, in UTF-16 units. */
  readonly match: TextMatch;
  /**
   * Relevance of the entry, from 0 to 1: whole words rank above partial words, followed by the number and rarity of the words,
   * their proximity, messages over tool output, and recency. Comparable within one search.
   */
  readonly score: number;
  /** Whether the entry lacks some of the words in a question. */
  readonly partial?: true;
  /** Words in a question that the entry lacks, excluding words such as `the`; present only in a partial hit. */
  readonly missing?: readonly string[];
}

/** Query, filters, and matcher of a search, and its start time. */
export interface SearchPlan {
  readonly query: SearchQuery;
  readonly filters: SearchFilters;
  readonly match: QueryMatcher;
  readonly isPath: PathTest | undefined;
  /** Start of the search in Unix milliseconds, used to compute ages. */
  readonly nowMs: number;
}

/** Plans a search. */
export function planSearch(
  query: SearchQuery,
  filters: SearchFilters,
  nowMs: number,
  compile: ExpressionCompiler,
): SearchPlan {
  const { path } = filters;
  const isPath = path === undefined ? undefined : makePathTest(path);
  const match = query.words === undefined ? makeQueryMatcher(query, compile) : makeQuestionMatcher(query);
  return { query, filters, match, isPath, nowMs };
}

/** Returns whether a search is empty: it has neither a query nor a filter that selects entries. */
export function isEmptySearch({ query, filters }: SearchPlan): boolean {
  return isEmptyQuery(query) && !isNamingEntries(filters);
}

/**
 * Returns whether a search must read all entries of a session in order, because results are matched through their
 * calls.
 */
export function needsCalls({ filters }: SearchPlan): boolean {
  return filters.failed === true || filters.path !== undefined;
}

/**
 * Returns the strings that must occur in the entry's line or, with `needsCalls`, anywhere in the session; empty if no strings are
 * required.
 */
export function getRequiredTexts({ query, filters }: SearchPlan): { text: string; caseSensitive: boolean }[] {
  const { tools = [], path = "" } = filters;
  const name = path.split(/[/\\]/).findLast((step) => step !== "" && step !== "." && step !== "..");
  const others = [...(tools.length === 1 ? tools : []), ...(name === undefined ? [] : [name])];
  return [
    ...getRequiredWords(query).map((text) => ({ text, caseSensitive: query.caseSensitive })),
    ...others.map((text) => ({ text, caseSensitive: false })),
  ];
}

const DAY_MS = 24 * 3600 * 1000;

/** Number of days after which the recency bonus is halved. */
const HALF_LIFE = 30;

/**
 * Returns the age factor of an entry's score, at most 1. Counts whole days, so that repeating a search returns the same
 * scores.
 *
 * @param timeMs - Unix milliseconds; undefined if the entry has no time.
 */
export function getFreshness(nowMs: number, timeMs: number | undefined): number {
  const today = Math.floor(nowMs / DAY_MS);
  const age =
    timeMs === undefined ? Number.POSITIVE_INFINITY : Math.max(0, today - Math.floor(timeMs / DAY_MS));
  return 0.7 + 0.3 * 2 ** (-age / HALF_LIFE);
}

/**
 * Returns the score of a match. Entries that contain all words as whole words rank above entries where a word occurs only within
 * longer words.
 */
function scoreMatch({ relevance, hasWholeWords }: QueryMatch, freshness: number): number {
  const score = relevance * freshness;
  return roundScore(hasWholeWords === undefined ? score : (score + (hasWholeWords ? 1 : 0)) / 2);
}

/** Rounds a score to three decimals. */
export function roundScore(score: number): number {
  return Math.round(score * 1000) / 1000;
}

/** Entry that passes the filters, with its searchable strings. */
export interface SelectedText {
  readonly at: number;
  readonly entry: AnySessionEntry;
  readonly text: SearchedText;
}

/** Searches the entries of one session. */
export class EntrySearch {
  readonly #plan: SearchPlan;
  readonly #cwd: string;
  readonly #tools: ReadonlySet<string> | undefined;
  readonly #calls = new Map<unknown, SearchedCall>();

  constructor(plan: SearchPlan, cwd: string) {
    const { tools } = plan.filters;
    this.#plan = plan;
    this.#cwd = cwd;
    this.#tools = tools && new Set(tools.map((tool) => tool.toLowerCase()));
  }

  /**
   * Finds hits among entries, at most one per entry.
   *
   * @param entries - Next entries of the session; all entries if `needsCalls` is true. Undefined for damaged entries.
   * @returns Hits with the positions of their entries, in order.
   */
  findHits(
    entries: readonly (AnySessionEntry | undefined)[],
  ): { readonly at: number; readonly hit: EntryHit }[] {
    const searched = this.selectTexts(entries);
    const isQuestion = this.#plan.query.words !== undefined;
    const matches = this.#plan.match(
      searched.map(({ entry, text: { parts } }) =>
        isQuestion ? [...parts, ...getDateParts(getRecordTime(toRecord(entry)))] : parts,
      ),
    );
    return searched.flatMap(({ at, entry, text }, i) => {
      const found = matches[i];
      const part = text.parts[found?.index ?? 0];
      if (found === undefined || part === undefined) return [];
      const timeMs = getRecordTime(toRecord(entry));
      const tool = getTool(entry, part);
      const hit = {
        entryId: entry.id,
        role: text.role,
        ...(tool !== "" && { tool }),
        ...(timeMs !== undefined && { time: new Date(timeMs) }),
        ...cutSnippet(part.text, found.match),
        score: scoreMatch(found, getFreshness(this.#plan.nowMs, timeMs)),
        ...(found.missing?.length && { partial: true as const, missing: found.missing }),
      };
      return [{ at, hit }];
    });
  }

  /** Returns the searchable strings of the entries that pass the filters, with the positions of these entries, in order. */
  selectTexts(entries: readonly (AnySessionEntry | undefined)[]): SelectedText[] {
    return entries.flatMap((entry, at) => {
      const text = entry && this.#getText(entry);
      return entry === undefined || text === undefined || text.parts.length === 0
        ? []
        : [{ at, entry, text }];
    });
  }

  /** Returns the searchable strings of an entry; undefined if it does not pass the filters. */
  #getText(entry: AnySessionEntry): SearchedText | undefined {
    const { filters, query } = this.#plan;
    const found = getSearchedText(entry);
    if (found === undefined) return undefined;
    const call = needsCalls(this.#plan) ? this.#takeCall(entry, found) : undefined;
    if (filters.roles?.includes(found.role) === false || !isWithin(entry, filters)) return undefined;
    if (filters.failed === true) {
      // A failure matches as a whole or through one of its calls.
      const isAbout = this.#narrowed(entry, found, call) !== undefined;
      if (outcomeOf(entry) !== "failed" || !isAbout) return undefined;
      return isEmptyQuery(query) ? findInFailure(entry, found, call) : withCall(found, entry, call);
    }
    const text = this.#narrowed(entry, found, call);
    return text !== undefined && isEmptyQuery(query) ? findInCalls(text) : text;
  }

  /** Records an answer's tool calls; for a tool result, returns the corresponding call. */
  #takeCall(entry: AnySessionEntry, { parts }: SearchedText): SearchedCall | undefined {
    for (const { call } of parts) if (call !== undefined) this.#calls.set(call.id, call);
    // A call can have a result on each of several branches.
    return this.#calls.get(getMessageFields(entry).toolCallId);
  }

  /** Returns the entry's strings that match the filters for tools and path; undefined if none match. */
  #narrowed(
    entry: AnySessionEntry,
    found: SearchedText,
    call: SearchedCall | undefined,
  ): SearchedText | undefined {
    const { isPath } = this.#plan;
    if (this.#tools === undefined && isPath === undefined) return found;
    const { role, toolName, command } = getMessageFields(entry);
    if (role === "toolResult") return this.#isWanted(toolName, call?.input) ? found : undefined;
    if (role === "bashExecution") return this.#isWanted("", { command }) ? found : undefined;
    const parts = found.parts.filter(
      (part) => part.call !== undefined && this.#isWanted(part.call.name, part.call.input),
    );
    return parts.length === 0 ? undefined : { ...found, parts };
  }

  #isWanted(tool: unknown, input: unknown): boolean {
    const { isPath } = this.#plan;
    const name = toText(tool);
    const isTool = this.#tools === undefined || this.#tools.has(name.toLowerCase());
    return isTool && (isPath === undefined || isTouching({ name, input }, this.#cwd, isPath));
  }
}

function isWithin(entry: AnySessionEntry, { since, until }: SearchFilters): boolean {
  if (since === undefined && until === undefined) return true;
  const timeMs = getRecordTime(toRecord(entry)) ?? Number.NaN;
  const isEarly = since !== undefined && !(timeMs >= since.getTime());
  return !isEarly && (until === undefined || timeMs < until.getTime());
}

function getTool(entry: AnySessionEntry, { call }: SearchedPart): string {
  const { role, toolName } = getMessageFields(entry);
  if (role === "toolResult") return toText(toolName);
  return call?.name ?? "";
}

/** Returns one line that describes a failure, for failure searches without words. */
function findInFailure(
  entry: AnySessionEntry,
  found: SearchedText,
  call: SearchedCall | undefined,
): SearchedText {
  const text = formatFailure(getMessageFields(entry), call?.input);
  return { ...found, parts: [{ kind: "output", text }] };
}

/** Returns the text of a failure, the tool's name, and the strings in the call's arguments. */
function withCall(found: SearchedText, entry: AnySessionEntry, call: SearchedCall | undefined): SearchedText {
  const { toolName } = getMessageFields(entry);
  const named = { id: undefined, name: toText(toolName), input: call?.input };
  return { ...found, parts: [...found.parts, ...getCallParts(named)] };
}

/** Returns one line per call with its tool and main argument, for tool call searches without words. */
function findInCalls(found: SearchedText): SearchedText {
  const calls = new Set(found.parts.map(({ call }) => call));
  const parts = [...calls].flatMap((call): SearchedPart[] => {
    const text = call && [call.name, getTellingArgument(call.input)].filter(Boolean).join(" ");
    return text ? [{ kind: "call", text, call }] : [];
  });
  return parts.length === 0 ? found : { ...found, parts };
}

const AROUND = 60;

/** Number of characters shown from the beginning of a string when the query has no words. */
const BEGINNING = 200;

const MAX_MATCH = 200;

/** Text around a match. */
interface Snippet {
  /** One line, with an ellipsis where text is omitted. */
  readonly snippet: string;
  /** The match within the snippet, in UTF-16 units. */
  readonly match: TextMatch;
}

/** Returns the text around a match. Collapses runs of white space into a single space, and never splits a surrogate pair. */
export function cutSnippet(text: string, { start, length }: TextMatch): Snippet {
  const end = start + Math.min(length, MAX_MATCH);
  const behind = end + (length === 0 ? BEGINNING : AROUND);
  const before = onOneLine(trimHalves(text.slice(Math.max(0, start - AROUND), start))).trimStart();
  const found = onOneLine(trimHalves(text.slice(start, end)));
  const after = onOneLine(trimHalves(text.slice(end, behind))).trimEnd();
  const front = `${start > AROUND ? "…" : ""}${before}`;
  const snippet = `${front}${found}${after}${behind < text.length ? "…" : ""}`;
  return { snippet, match: { start: front.length, length: found.length } };
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}

/** Removes a lone surrogate at either end. */
function trimHalves(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
}
