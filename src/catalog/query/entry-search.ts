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

/** An entry that holds what was looked for. */
export interface EntryHit {
  readonly entryId: string;
  /** Role of the message that the entry is or becomes. */
  readonly role: string;
  /** The tool whose call or result it is. */
  readonly tool?: string;
  /** When the entry was made; absent if it does not say so. */
  readonly time?: Date;
  /** One line of text around the best match; of a failure without words: what failed, and the line that names the error. */
  readonly snippet: string;
  /** The match within the snippet, in UTF-16 units. */
  readonly match: TextMatch;
  /**
   * How well the entry fits, from 0 to 1: whole words before parts of words, then by more and rarer words, how close they
   * stand, what was said before what tools wrote, and by age. Comparable within one search.
   */
  readonly score: number;
  /** Whether the entry lacks words of a question. */
  readonly partial?: true;
  /** The words of a question that the entry lacks, without words such as `the`; only in a partial hit. */
  readonly missing?: readonly string[];
}

/** What a search looks for, how it compares, and when it began. */
export interface SearchPlan {
  readonly query: SearchQuery;
  readonly filters: SearchFilters;
  readonly match: QueryMatcher;
  readonly isPath: PathTest | undefined;
  /** Unix milliseconds, to tell what is new. */
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

/** Tells whether nothing can be found, since nothing is looked for. */
export function isEmptySearch({ query, filters }: SearchPlan): boolean {
  return isEmptyQuery(query) && !isNamingEntries(filters);
}

/** Tells whether a search must read all entries of a session in order, since calls say what their results are about. */
export function needsCalls({ filters }: SearchPlan): boolean {
  return filters.failed === true || filters.path !== undefined;
}

/** Returns texts that must stand in the entry's line, or with `needsCalls` anywhere in the session; empty if there are none. */
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

/** Days in which half of what an entry counts for being new is gone. */
const HALF_LIFE = 30;

/**
 * Returns how much an entry counts for its age, up to 1. In whole days, so that a search that is repeated finds the same.
 *
 * @param timeMs - Unix milliseconds; undefined if the entry has no time.
 */
export function getFreshness(nowMs: number, timeMs: number | undefined): number {
  const today = Math.floor(nowMs / DAY_MS);
  const age =
    timeMs === undefined ? Number.POSITIVE_INFINITY : Math.max(0, today - Math.floor(timeMs / DAY_MS));
  return 0.7 + 0.3 * 2 ** (-age / HALF_LIFE);
}

/** Whatever else counts, an entry with whole words is before one that holds a word only as a part of longer ones. */
function scoreMatch({ relevance, hasWholeWords }: QueryMatch, freshness: number): number {
  const score = relevance * freshness;
  return roundScore(hasWholeWords === undefined ? score : (score + (hasWholeWords ? 1 : 0)) / 2);
}

/** Rounds a score to three decimals. */
export function roundScore(score: number): number {
  return Math.round(score * 1000) / 1000;
}

/** An entry that passes filters, with its texts. */
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
   * Finds hits among entries, at most one for each.
   *
   * @param entries - The next ones of the session; all of them, if `needsCalls`. Undefined for damaged ones.
   * @returns The hits with the positions of their entries, in order.
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

  /** Returns the texts of those entries that pass the filters, with the positions of the entries, in order. */
  selectTexts(entries: readonly (AnySessionEntry | undefined)[]): SelectedText[] {
    return entries.flatMap((entry, at) => {
      const text = entry && this.#getText(entry);
      return entry === undefined || text === undefined || text.parts.length === 0
        ? []
        : [{ at, entry, text }];
    });
  }

  /** The texts of an entry that are searched; undefined if it does not pass the filters. */
  #getText(entry: AnySessionEntry): SearchedText | undefined {
    const { filters, query } = this.#plan;
    const found = getSearchedText(entry);
    if (found === undefined) return undefined;
    const call = needsCalls(this.#plan) ? this.#takeCall(entry, found) : undefined;
    if (filters.roles?.includes(found.role) === false || !isWithin(entry, filters)) return undefined;
    if (filters.failed === true) {
      // As a whole, or in one of its calls.
      const isAbout = this.#narrowed(entry, found, call) !== undefined;
      if (outcomeOf(entry) !== "failed" || !isAbout) return undefined;
      return isEmptyQuery(query) ? findInFailure(entry, found, call) : withCall(found, entry, call);
    }
    const text = this.#narrowed(entry, found, call);
    return text !== undefined && isEmptyQuery(query) ? findInCalls(text) : text;
  }

  /** Takes a result's call from the calls before, and notes those of an answer. */
  #takeCall(entry: AnySessionEntry, { parts }: SearchedText): SearchedCall | undefined {
    for (const { call } of parts) if (call !== undefined) this.#calls.set(call.id, call);
    // A call can have a result on each of several branches.
    return this.#calls.get(getMessageFields(entry).toolCallId);
  }

  /** What of an entry is about the tools and the file; undefined if nothing is. */
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

/** A failure in which anything will do: what failed, in one line. */
function findInFailure(
  entry: AnySessionEntry,
  found: SearchedText,
  call: SearchedCall | undefined,
): SearchedText {
  const text = formatFailure(getMessageFields(entry), call?.input);
  return { ...found, parts: [{ kind: "output", text }] };
}

/** A failure with the tool's name, and the texts in the arguments of its call. */
function withCall(found: SearchedText, entry: AnySessionEntry, call: SearchedCall | undefined): SearchedText {
  const { toolName } = getMessageFields(entry);
  const named = { id: undefined, name: toText(toolName), input: call?.input };
  return { ...found, parts: [...found.parts, ...getCallParts(named)] };
}

/** Calls in which anything will do: the tool, and what it was called for. */
function findInCalls(found: SearchedText): SearchedText {
  const calls = new Set(found.parts.map(({ call }) => call));
  const parts = [...calls].flatMap((call): SearchedPart[] => {
    const text = call && [call.name, getTellingArgument(call.input)].filter(Boolean).join(" ");
    return text ? [{ kind: "call", text, call }] : [];
  });
  return parts.length === 0 ? found : { ...found, parts };
}

const AROUND = 60;

/** Characters shown of a text in which nothing was looked for. */
const BEGINNING = 200;

const MAX_MATCH = 200;

/** A piece of text around a match. */
interface Snippet {
  /** One line, with an ellipsis where text was cut. */
  readonly snippet: string;
  /** The match within the snippet, in UTF-16 units. */
  readonly match: TextMatch;
}

/** Cuts out the text around a match: runs of white space become one space, and no character is cut in half. */
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

/** Drops halves of characters at either end of a cut. */
function trimHalves(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
}
