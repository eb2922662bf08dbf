import { importOriginInFront, isFromSource } from "../../catalog/list/deleted-imports.ts";
import { type EntryHit, EntrySearch, needsCalls, type SearchPlan } from "../../catalog/query/entry-search.ts";
import { getRequiredWords } from "../../catalog/query/search-query.ts";
import type { SearchSessionOptions } from "../../catalog/search/search.ts";
import { findInSource, type HitBranch, makeBranchLookup } from "../../catalog/search/search-file.ts";
import type { SessionFacts } from "../../core/facts/session-facts.ts";
import { refuseAborted } from "../../core/format/abort.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { isSessionError } from "../../core/format/errors.ts";
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

/** What reads from a backend. */
export interface BackendReader {
  readonly backend: SessionBackend;
  readonly pace: RetryPace;
  readonly signal: AbortSignal | undefined;
}

/** A hit in a backend, whose branch may be still to be found. */
interface BackendHit extends EntryHit {
  readonly facts: SessionFacts;
  readonly branch: HitBranch | undefined;
}

/** Which sessions, and how many at a time. */
interface ListFilter {
  readonly limit: number;
  readonly cwd?: string;
}

/** Sessions or lines requested at a time. */
const PAGE = 100;

/** Lines in which a session says where it was imported from. */
const FRONT_LINES = 2;

/** A search through the sessions of a backend. */
export class BackendSearch {
  readonly #reader: BackendReader;
  readonly #plan: SearchPlan;
  readonly #options: SearchSessionOptions;

  constructor(reader: BackendReader, plan: SearchPlan, options: SearchSessionOptions) {
    this.#reader = reader;
    this.#plan = plan;
    this.#options = options;
  }

  /** Yields hits: in the lines that the backend finds, or in whole sessions if it cannot find what is looked for. */
  hits(cwd: string | undefined): AsyncGenerator<BackendHit, void, undefined> {
    const words = getRequiredWords(this.#plan.query);
    const isFound = this.#reader.backend.search !== undefined && words.length > 0 && !needsCalls(this.#plan);
    const filter = { limit: PAGE, ...(cwd !== undefined && { cwd }) };
    return isFound ? this.#inFoundLines(words, filter) : this.#inSessions(filter);
  }

  /** Reads which branch each entry of a hit's session is on; undefined if the session is gone. */
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

  /** Yields the lines that the backend finds, those of one session together as far as one page has them. */
  async *#foundBySession(
    words: readonly string[],
    filter: ListFilter,
  ): AsyncGenerator<FoundLine[], void, undefined> {
    let last: FoundLine | undefined;
    do {
      const after = last && { sessionId: last.session.id, seq: last.line.seq };
      const query = { words, ...filter, ...(after && { after }) };
      const page = await this.#ask(async (end) => (await this.#reader.backend.search?.(query, end)) ?? []);
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

  /** Reads all sessions, for what a backend cannot find. */
  async *#inSessions(filter: ListFilter): AsyncGenerator<BackendHit, void, undefined> {
    const { signal } = this.#reader;
    const { onSkipped = ignoreSkipped } = this.#options;
    let last: SessionFacts | undefined;
    do {
      const query = { ...filter, ...(last && { after: getPosition(last) }) };
      const page = await this.#ask(() => this.#reader.backend.list(query));
      for (const facts of page) {
        const bytes = (await this.#isFrom(facts.id)) ? await this.#bytes(facts.id) : undefined;
        if (bytes === undefined) continue;
        try {
          for await (const batch of findInSource(
            makeLineSource(bytes),
            undefined,
            this.#plan,
            new Pace(signal),
          ))
            for (const { offset: _, ...hit } of batch) yield { ...hit, facts };
        } catch (error) {
          if (!(error instanceof TooSlowError)) throw error;
          onSkipped({ path: facts.id, reason: "too-slow" });
        }
      }
      last = page.length < PAGE ? undefined : page.at(-1);
    } while (last !== undefined);
  }

  /** Whether a session was imported from the wanted program. */
  async #isFrom(id: string): Promise<boolean> {
    const { source } = this.#plan.filters;
    if (source === undefined) return true;
    const front = await this.#bytes(id, FRONT_LINES);
    return front !== undefined && isFromSource(importOriginInFront(front), source);
  }

  /** Reads the bytes of a session; undefined if it was deleted since it was found. */
  async #bytes(id: string, max = Number.POSITIVE_INFINITY): Promise<Uint8Array | undefined> {
    const lines: StoredLine[] = [];
    try {
      for (let [afterSeq, isEnd] = [0, false]; !isEnd && lines.length < max; ) {
        refuseAborted(this.#reader.signal);
        const count = Math.min(PAGE_LINES, max);
        const page = await this.#ask(() => this.#reader.backend.read(id, afterSeq, count));
        lines.push(...page.lines);
        isEnd = page.isEnd;
        afterSeq = page.lines.at(-1)?.seq ?? afterSeq;
      }
    } catch (error) {
      if (!isSessionError(error, "SESSION_NOT_FOUND")) throw error;
      return undefined;
    }
    return joinLines(lines, true);
  }

  #ask<T>(call: (end: AbortSignal) => Promise<T>): Promise<T> {
    const { pace, signal } = this.#reader;
    return repeatUntilAnswered(call, pace, signal);
  }
}

/** Reads the entry on a line that a backend found; undefined if there is none. */
function readStoredEntry(line: StoredLine): AnySessionEntry | undefined {
  const record = decodeRecord(toBytes(line));
  const { id, type } = record ?? {};
  if (record === undefined || typeof id !== "string" || typeof type !== "string") return undefined;
  return { parentId: null, timestamp: "", ...record, id, type };
}
