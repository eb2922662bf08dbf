import { importOriginInFront, isFromSource } from "../../catalog/list/deleted-imports.ts";
import {
  type EntryHit,
  EntrySearch,
  getRequiredTexts,
  needsCalls,
  type SearchPlan,
} from "../../catalog/query/entry-search.ts";
import { getRequiredLiterals } from "../../catalog/query/expression-literals.ts";
import { getRequiredWords, hasWord } from "../../catalog/query/search-query.ts";
import { getStem, type QuestionWord } from "../../catalog/query/words.ts";
import { QuestionSearch } from "../../catalog/search/question-search.ts";
import type { SearchSessionOptions } from "../../catalog/search/search.ts";
import {
  type FoundHit,
  findAtOffsets,
  findInSource,
  type HitBranch,
  makeBranchLookup,
} from "../../catalog/search/search-file.ts";
import { TermTableReader } from "../../catalog/search/term-tables.ts";
import type { SessionFacts } from "../../core/facts/session-facts.ts";
import { refuseAborted } from "../../core/format/abort.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { callUnless } from "../../core/format/errors.ts";
import { decodeRecord } from "../../core/jsonl/decode.ts";
import { makeLineSource } from "../../core/jsonl/line-source.ts";
import { ignoreSkipped } from "../../session/files/skipped-files.ts";
import { Pace } from "../../session/files/time-slices.ts";
import { TooSlowError } from "../../session/fs/limited-scripts.ts";
import { getPosition } from "../contract/select-sessions.ts";
import type { FoundLine, SessionBackend, StoredLine } from "../contract/session-backend.ts";
import { joinLines, toBytes } from "./line-codec.ts";
import { PAGE_LINES } from "./remote-lines.ts";
import { type RetryPace, repeatUntilAnswered } from "./retries.ts";

/** Backend, and options for reading from it. */
export interface BackendReader {
  readonly backend: SessionBackend;
  readonly pace: RetryPace;
  readonly signal: AbortSignal | undefined;
}

/** Hit in a backend. Its branch may not have been determined yet. */
interface BackendHit extends EntryHit {
  readonly facts: SessionFacts;
  readonly branch: HitBranch | undefined;
}

/** Filter and page size of a list. */
interface ListFilter {
  readonly limit: number;
  readonly cwd?: string;
}

/** Returns whether to read a session, based on its facts. */
type SessionTest = (facts: SessionFacts) => boolean;

/** Number of sessions or lines requested at a time. */
const PAGE = 100;

/** Number of lines at the beginning of a session that may contain its import origin. */
const FRONT_LINES = 2;

const WHITE = /\s+/;

/**
 * Maximum number of words per question that a backend searches for. The longest words are used, because they are
 * usually the rarest.
 */
const MAX_ASKED_WORDS = 8;

/** Maximum number of lines read per word, from the newest sessions. */
const MAX_LINES_OF_WORD = 2_000;

/** Search in the sessions of a backend. */
export class BackendSearch {
  readonly #reader: BackendReader;
  readonly #plan: SearchPlan;
  readonly #options: SearchSessionOptions;
  readonly #searchPace: Pace;

  constructor(reader: BackendReader, plan: SearchPlan, options: SearchSessionOptions) {
    this.#reader = reader;
    this.#plan = plan;
    this.#options = options;
    this.#searchPace = new Pace(reader.signal);
  }

  /** Yields hits in lines found by the backend, or in whole sessions if the backend cannot find lines. */
  hits(cwd: string | undefined): AsyncGenerator<BackendHit, void, undefined> {
    const words = this.#getWords();
    const isIndexed = this.#isIndexed && words.length > 0;
    const filter = { limit: PAGE, ...(cwd !== undefined && { cwd }) };
    if (!isIndexed) return this.#inSessions(filter);
    return needsCalls(this.#plan) ? this.#inSessionsWith(words, filter) : this.#inFoundLines(words, filter);
  }

  /**
   * Yields the entries that best answer a question, most relevant first.
   *
   * @remarks Cost: one backend search for each of at most 8 words, plus reading each session with a hit. Reads all
   *   sessions if the backend cannot search for words, or if determining which entries pass the filters requires whole
   *   sessions.
   */
  async *answers(cwd: string | undefined, limit: number): AsyncGenerator<BackendHit, void, undefined> {
    const { query, filters } = this.#plan;
    const search = new QuestionSearch<SessionFacts, BackendHit & FoundHit>(this.#plan);
    const filter = { limit: PAGE, ...(cwd !== undefined && { cwd }) };
    const canFind =
      this.#isIndexed && query.terms.length === 0 && filters.tools === undefined && !needsCalls(this.#plan);
    const reader = new TermTableReader(this.#searchPace);
    if (canFind) await this.#addFoundLines(search, reader, filter);
    else
      for await (const { facts, bytes } of this.#sessions(filter))
        search.add(facts, await reader.readSource(makeLineSource(bytes), this.#plan));
    yield* search.findHits(limit, (...asked) => this.#readHits(...asked, canFind), this.#searchPace);
  }

  /** Adds each session in which the backend finds a word in the question, with the lines that it finds. */
  async #addFoundLines(
    search: QuestionSearch<SessionFacts, BackendHit & FoundHit>,
    reader: TermTableReader,
    filter: ListFilter,
  ): Promise<void> {
    const sessions = new Map<string, { facts: SessionFacts; lines: Map<number, StoredLine> }>();
    for (const word of selectQuestionWords(this.#plan.query.words ?? [])) {
      let left = MAX_LINES_OF_WORD;
      for await (const found of this.#foundBySession([word], filter)) {
        for (const { session, line } of found) {
          const known = sessions.get(session.id) ?? { facts: session, lines: new Map<number, StoredLine>() };
          sessions.set(session.id, known);
          known.lines.set(line.seq, line);
        }
        left -= found.length;
        if (left <= 0) break;
      }
    }
    for (const { facts, lines } of sessions.values()) {
      if (!(await this.#isFrom(facts.id))) continue;
      const sorted = [...lines.values()].sort((a, b) => a.seq - b.seq);
      const found = sorted.map((line) => ({ offset: line.seq, entry: readStoredEntry(line) }));
      search.add(facts, reader.readEntries(found), facts.messageCount);
    }
  }

  /**
   * Reads the hits in a session at the given offsets.
   *
   * @param areLines - Whether the offsets are line positions rather than byte offsets.
   */
  async *#readHits(
    facts: SessionFacts,
    offsets: readonly number[],
    plan: SearchPlan,
    areLines: boolean,
  ): AsyncGenerator<(BackendHit & FoundHit)[], void, undefined> {
    const lines = await this.#lines(facts.id);
    if (lines === undefined) return;
    const lineAt = new Map<number, number>();
    let at = 0;
    for (const line of lines) {
      lineAt.set(at, line.seq);
      at += toBytes(line).length + 1;
    }
    const wanted = new Set(offsets);
    const places = areLines
      ? [...lineAt].flatMap(([offset, seq]) => (wanted.has(seq) ? [offset] : []))
      : offsets;
    const source = makeLineSource(joinLines(lines, true));
    for await (const batch of findAtOffsets(source, places, plan, this.#searchPace))
      yield batch.map((hit) => ({
        ...hit,
        facts,
        offset: areLines ? (lineAt.get(hit.offset) ?? Number.NaN) : hit.offset,
      }));
  }

  get #isIndexed(): boolean {
    return this.#reader.backend.search !== undefined;
  }

  /** Returns words that an entry or, with `needsCalls`, its session must contain. */
  #getWords(): string[] {
    const { query } = this.#plan;
    if (query.regex !== undefined && !needsCalls(this.#plan))
      return getRequiredLiterals(query.regex).flatMap((text) => text.split(WHITE).filter(Boolean));
    if (!needsCalls(this.#plan)) return getRequiredWords(query);
    return getRequiredTexts(this.#plan).flatMap(({ text }) => text.split(WHITE).filter(Boolean));
  }

  /** Reads the branch of each entry in a hit's session; undefined if the session no longer exists. */
  async readBranches({ facts: { id } }: BackendHit): Promise<((entryId: string) => HitBranch) | undefined> {
    const bytes = await this.#bytes(id);
    return bytes && makeBranchLookup(makeLineSource(bytes).index);
  }

  async *#inFoundLines(
    words: readonly string[],
    filter: ListFilter,
  ): AsyncGenerator<BackendHit, void, undefined> {
    const isActive = this.#plan.filters.branch === "active";
    for await (const lines of this.#foundBySession(words, filter)) {
      const facts = lines[0]?.session;
      if (facts === undefined || !(await this.#isFrom(facts.id))) continue;
      const search = new EntrySearch(this.#plan, facts.cwd);
      const found = search.findHits(lines.map(({ line }) => readStoredEntry(line)));
      const hits = found.map(({ hit }) => ({ ...hit, facts, branch: undefined }));
      const [first] = hits;
      const getBranch = isActive && first !== undefined ? await this.readBranches(first) : undefined;
      for (const hit of hits) {
        const branch = getBranch?.(hit.entryId);
        if (!isActive || branch === "active") yield { ...hit, branch };
      }
    }
  }

  /** Yields the lines found by the backend, grouped by session within each page. */
  async *#foundBySession(
    words: readonly string[],
    filter: ListFilter,
  ): AsyncGenerator<FoundLine[], void, undefined> {
    let last: FoundLine | undefined;
    do {
      const after = last && { sessionId: last.session.id, seq: last.line.seq };
      const query = { words, ...filter, ...(after && { after }) };
      const page = await this.#ask(
        async (signal) => (await this.#reader.backend.search?.(query, { signal })) ?? [],
      );
      for (let from = 0; from < page.length; ) {
        const { id } = page[from]?.session ?? {};
        const next = page.findIndex(({ session }, i) => i > from && session.id !== id);
        const end = next === -1 ? page.length : next;
        yield page.slice(from, end);
        from = end;
      }
      last = page.length < PAGE ? undefined : page.at(-1);
    } while (last !== undefined);
  }

  /** Searches the sessions in which the backend finds every word, anywhere in the session. */
  async *#inSessionsWith(
    words: readonly string[],
    filter: ListFilter,
  ): AsyncGenerator<BackendHit, void, undefined> {
    // A call may omit the leading directories of a path, up to the working directory.
    const hasPath = this.#plan.filters.path !== undefined;
    const found: { word: string; ids: ReadonlySet<string> }[] = [];
    for (const word of words) {
      const ids = await this.#findSessions(word, filter);
      if (ids?.size === 0 && !hasPath) return;
      if (ids !== undefined) found.push({ word, ids });
    }
    yield* this.#inSessions(filter, ({ id, cwd }) =>
      found.every(({ word, ids }) => ids.has(id) || (hasPath && hasWord(cwd, word))),
    );
  }

  /** Returns the ids of the sessions that contain a word; undefined if too many lines contain it. */
  async #findSessions(word: string, filter: ListFilter): Promise<Set<string> | undefined> {
    const ids = new Set<string>();
    let left = MAX_LINES_OF_WORD;
    for await (const found of this.#foundBySession([word], filter)) {
      for (const { session } of found) ids.add(session.id);
      left -= found.length;
      if (left < 0) return undefined;
    }
    return ids;
  }

  /** Searches whole sessions, for queries that a backend cannot evaluate. */
  async *#inSessions(
    filter: ListFilter,
    isWanted?: SessionTest,
  ): AsyncGenerator<BackendHit, void, undefined> {
    const { onSkipped = ignoreSkipped } = this.#options;
    for await (const { facts, bytes } of this.#sessions(filter, isWanted)) {
      try {
        const source = makeLineSource(bytes);
        for await (const batch of findInSource(source, undefined, this.#plan, this.#searchPace))
          for (const { offset: _, ...hit } of batch) yield { ...hit, facts };
      } catch (error) {
        if (!(error instanceof TooSlowError)) throw error;
        onSkipped({ path: facts.id, reason: "too-slow" });
      }
    }
  }

  /** Yields the matching sessions with their bytes. */
  async *#sessions(
    filter: ListFilter,
    isWanted: SessionTest = () => true,
  ): AsyncGenerator<{ facts: SessionFacts; bytes: Uint8Array }, void, undefined> {
    let last: SessionFacts | undefined;
    do {
      const query = { ...filter, ...(last && { after: getPosition(last) }) };
      const page = await this.#ask(() => this.#reader.backend.list(query));
      for (const facts of page) {
        const isRead = isWanted(facts) && (await this.#isFrom(facts.id));
        const bytes = isRead ? await this.#bytes(facts.id) : undefined;
        if (bytes !== undefined) yield { facts, bytes };
      }
      last = page.length < PAGE ? undefined : page.at(-1);
    } while (last !== undefined);
  }

  /** Returns whether a session was imported from the requested program. */
  async #isFrom(id: string): Promise<boolean> {
    const { source } = this.#plan.filters;
    if (source === undefined) return true;
    const front = await this.#bytes(id, FRONT_LINES);
    return front !== undefined && isFromSource(importOriginInFront(front), source);
  }

  /** Reads the bytes of a session; undefined if the session has been deleted. */
  async #bytes(id: string, max = Number.POSITIVE_INFINITY): Promise<Uint8Array | undefined> {
    const lines = await this.#lines(id, max);
    return lines && joinLines(lines, true);
  }

  /** Reads the lines of a session; undefined if the session has been deleted. */
  #lines(id: string, max = Number.POSITIVE_INFINITY): Promise<StoredLine[] | undefined> {
    return callUnless("SESSION_NOT_FOUND", async () => {
      const lines: StoredLine[] = [];
      for (let [afterSeq, isEnd] = [0, false]; !isEnd && lines.length < max; ) {
        refuseAborted(this.#reader.signal);
        const count = Math.min(PAGE_LINES, max);
        const page = await this.#ask(() => this.#reader.backend.read(id, afterSeq, count));
        lines.push(...page.lines);
        isEnd = page.isEnd;
        afterSeq = page.lines.at(-1)?.seq ?? afterSeq;
      }
      return lines;
    });
  }

  #ask<T>(call: (end: AbortSignal) => Promise<T>): Promise<T> {
    const { pace, signal } = this.#reader;
    return repeatUntilAnswered(call, pace, signal);
  }
}

/** Parses the entry on a line found by a backend; undefined if the line does not contain an entry. */
function readStoredEntry(line: StoredLine): AnySessionEntry | undefined {
  const record = decodeRecord(toBytes(line));
  const { id, type } = record ?? {};
  if (record === undefined || typeof id !== "string" || typeof type !== "string") return undefined;
  return { parentId: null, timestamp: "", ...record, id, type };
}

/** Returns the stems to search for in a backend to find a question's words in all their forms. */
function selectQuestionWords(words: readonly QuestionWord[]): string[] {
  const heaviest = Math.max(...words.map(({ weight }) => weight));
  const stems = words
    .filter(({ weight, isPart }) => weight === heaviest && !isPart)
    .map(({ text }) => getStem(text))
    .sort((a, b) => b.length - a.length);
  return [...new Set(stems)].slice(0, MAX_ASKED_WORDS);
}
