import { decodeUsage } from "../../catalog/list/session-calls.ts";
import { isEmptySearch } from "../../catalog/query/entry-search.ts";
import { getLimit, isQuestion, makePlan, orderHits, type SearchHit } from "../../catalog/search/search.ts";
import { withBranches } from "../../catalog/search/search-file.ts";
import type { SessionFacts } from "../../core/facts/session-facts.ts";
import { assertArgument, assertText, OBJECTS } from "../../core/format/arguments.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { callUnless, isSessionError, SessionError } from "../../core/format/errors.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import { assertValidSessionId } from "../../core/format/ids.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import { assertOptions, FLAG, makeNumberRule, type OptionRules } from "../../core/format/options.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import { makeSessionRow, type SessionRow } from "../../session/files/session-row.ts";
import { openOverLog, type SessionManager } from "../../session/manager/session-manager.ts";
import { type DerivedSessions, makeHeader } from "../../session/manager/session-options.ts";
import { makeStorableFacts } from "../contract/line-facts.ts";
import { readHeaderFirst } from "../contract/read-header-first.ts";
import { getPosition } from "../contract/select-sessions.ts";
import type { BackendListQuery, SessionBackend } from "../contract/session-backend.ts";
import type {
  CloseStoreOptions,
  CreateInStoreOptions,
  ImportIntoStoreOptions,
  ListInStoreOptions,
  OpenInStoreOptions,
  OpenOrCreateOptions,
  SearchInStoreOptions,
  SessionStore,
  StoreSupport,
} from "../contract/session-store.ts";
import { sessionNotFound, storeClosed } from "../contract/store-errors.ts";
import {
  CREATE_RULES,
  IMPORT_RULES,
  LIST_RULES,
  OPEN_OR_CREATE_RULES,
  OPEN_RULES,
  SEARCH_RULES,
} from "../contract/store-options.ts";
import type { UsageLister } from "../contract/store-usage.ts";
import { drawGap } from "./idempotent-retry.ts";
import { joinLines, makeEntryLine, once, splitLineBatches } from "./line-codec.ts";
import { MemoryBackend } from "./memory-backend.ts";
import { PAGE_LINES } from "./remote-lines.ts";
import { type LogKeeper, RemoteLog, type RemoteLogOptions } from "./remote-log.ts";
import { formatReason, RETRY_RULES, type RetryPace, repeatUntilAnswered, retryPace } from "./retries.ts";
import { BackendSearch } from "./search-backend.ts";

/** Options for a remote store. */
export type RemoteStoreOptions = Omit<RemoteLogOptions, "createAtOnce" | "mode" | "mustExist" | "keeper">;

/** Validation rules for the options of a remote store. */
const REMOTE_RULES: OptionRules<RemoteStoreOptions> = {
  ...RETRY_RULES,
  maxQueueBytes: makeNumberRule(0, "bytes"),
  maxQueueEntries: makeNumberRule(0, "entries"),
  pollMs: makeNumberRule(1, "milliseconds"),
};

/** Number of sessions or lines requested at a time. */
const PAGE = 100;

/**
 * Creates a store on top of a backend.
 *
 * @param backend - Backend to use. Closing the store closes the backend.
 * @remarks Source: docs/stores.md
 */
export function remoteStore(backend: SessionBackend, options: RemoteStoreOptions = {}): SessionStore {
  assertArgument("backend", backend, { fits: isBackend, words: "a SessionBackend" });
  assertOptions<RemoteStoreOptions>(options, REMOTE_RULES);
  return new RemoteStore(backend, options, true);
}

function isBackend(value: unknown): boolean {
  return isJsonRecord(value) && isJsonRecord(value["supports"]);
}

/**
 * Creates a store that keeps sessions in memory, for tests and for hosts that do not store sessions on disk.
 *
 * Uses an in-memory backend, so that the store behaves as it does with a database.
 */
export function memoryStore(): SessionStore {
  return new RemoteStore(new MemoryBackend(), {}, false);
}

class RemoteStore implements SessionStore {
  readonly supports: StoreSupport;
  readonly listUsage?: UsageLister;
  readonly #backend: SessionBackend;
  readonly #options: RemoteStoreOptions;
  readonly #pace: RetryPace;
  /** Logs with pending writes. The store does not keep references to other logs. */
  readonly #busy = new Set<RemoteLog>();
  readonly #keeper: LogKeeper;
  readonly #closing = new AbortController();

  constructor(backend: SessionBackend, options: RemoteStoreOptions, durable: boolean) {
    const { conditionalAppend, rewrite, watch, search } = backend.supports;
    this.supports = { durable, queued: true, conditionalAppend, rewrite, watch, indexedSearch: search };
    this.#backend = backend;
    this.#options = options;
    this.#pace = retryPace(options);
    this.#keeper = this.#newKeeper();
    const listUsage = backend.listUsage?.bind(backend);
    if (listUsage !== undefined) this.listUsage = (query = {}) => this.#listUsage(query, listUsage);
  }

  create(options: CreateInStoreOptions): SessionManager {
    assertOptions<Omit<CreateInStoreOptions, "id">>(options, CREATE_RULES);
    assertText("cwd", options.cwd);
    this.#assertOpen();
    const { cwd, createAtOnce = false, id, parentSession, ...session } = options;
    const given = { ...(id !== undefined && { id }), ...(parentSession !== undefined && { parentSession }) };
    const header = makeHeader(cwd, (options.now ?? Date.now)(), given);
    const start = [`${encodeRecord({ ...header })}\n`];
    const log = this.#begin(header, start, { createAtOnce, mustExist: options.mustExist === true });
    return openOverLog(log, { ...session, cwd, derivedSessions: this.#derivedSessions });
  }

  async open(id: string, options: OpenInStoreOptions = {}): Promise<SessionManager> {
    assertOptions(options, OPEN_RULES);
    assertText("id", id);
    const { signal, mode = "read-write", mustExist = false, ...session } = options;
    const log = await this.#load(id, { ...this.#options, mode, mustExist }, signal);
    return openOverLog(log, { ...session, derivedSessions: this.#derivedSessions });
  }

  async openOrCreate(id: string, options: OpenOrCreateOptions): Promise<SessionManager> {
    assertText("id", id);
    assertOptions<OpenOrCreateOptions>(options, OPEN_OR_CREATE_RULES);
    assertText("cwd", options.cwd);
    const { cwd, parentSession, ...opening } = options;
    const found = await callUnless("SESSION_NOT_FOUND", () => this.open(id, opening));
    if (found !== undefined) return found;
    const given = { id, ...(parentSession !== undefined && { parentSession }) };
    await this.#createHeader(makeHeader(cwd, (options.now ?? Date.now)(), given), options.signal);
    return await this.open(id, opening);
  }

  /** Stores a session that has only a header, unless the session already exists. */
  async #createHeader(header: SessionHeader, signal: AbortSignal | undefined): Promise<void> {
    assertValidSessionId(header.id);
    this.#assertOpen();
    const bytes = Buffer.from(`${encodeRecord({ ...header })}\n`);
    const { search } = this.#backend.supports;
    const create = () =>
      this.#backend.create(makeStorableFacts(header), splitLineBatches(once(bytes), search));
    await callUnless("SESSION_EXISTS", () => this.#ask(create, signal));
  }

  async *list(options: ListInStoreOptions = {}): AsyncGenerator<SessionRow, void, undefined> {
    const facts = (one: SessionFacts) => one;
    for await (const one of this.#pages(options, (query) => this.#backend.list(query), facts))
      yield toRow(one);
  }

  async *#listUsage(
    options: ListInStoreOptions,
    list: NonNullable<SessionBackend["listUsage"]>,
  ): ReturnType<UsageLister> {
    for await (const found of this.#pages(options, list, ({ session }) => session)) {
      const { session, usage, linesWithoutEntry } = found;
      const recorded = linesWithoutEntry === 1 ? decodeUsage(usage, session.createdMs) : undefined;
      yield { row: toRow(session), recorded };
    }
  }

  /** Yields the items listed by a backend, page by page. */
  async *#pages<T>(
    options: ListInStoreOptions,
    list: (query: BackendListQuery) => Promise<readonly T[]>,
    getFacts: (item: T) => SessionFacts,
  ): AsyncGenerator<T, void, undefined> {
    assertOptions(options, LIST_RULES);
    const { limit = Number.POSITIVE_INFINITY, signal, after, ...filter } = options;
    let last = after && { modifiedMs: after.modified.getTime(), id: after.id };
    for (let left = limit; left >= 1; ) {
      const count = Math.min(PAGE, Math.floor(left));
      const query = { ...filter, limit: count, ...(last && { after: last }) };
      const page = await this.#ask(() => list(query), signal);
      yield* page;
      const end = page.at(-1);
      last = end && getPosition(getFacts(end));
      left -= page.length;
      if (page.length < count) return;
    }
  }

  async *search(
    query: string,
    options: SearchInStoreOptions = {},
  ): AsyncGenerator<SearchHit, void, undefined> {
    assertOptions<SearchInStoreOptions>(options, SEARCH_RULES);
    const { signal, cwd } = options;
    const plan = makePlan(query, options);
    if (isEmptySearch(plan)) return;
    const search = new BackendSearch({ backend: this.#backend, pace: this.#pace, signal }, plan, options);
    const found = isQuestion(plan)
      ? search.answers(cwd, getLimit(plan, options))
      : orderHits(plan, options, search.hits(cwd));
    const hits = withBranches(found, {
      isMixed: options.ranked === true,
      getSession: ({ facts }) => facts.id,
      read: (hit) => search.readBranches(hit),
    });
    for await (const { facts, ...hit } of hits) yield { ...hit, session: toRow(facts) };
  }

  async delete(id: string): Promise<void> {
    assertText("id", id);
    let attempts = 0;
    const isDeleted = await this.#ask(() => {
      attempts++;
      return this.#backend.delete(id);
    });
    // After a lost response, the session may be missing because an earlier attempt deleted it.
    if (!isDeleted && attempts === 1) throw sessionNotFound(id);
  }

  async *exportBytes(
    id: string,
    options: ImportIntoStoreOptions = {},
  ): AsyncGenerator<Uint8Array, void, undefined> {
    assertOptions(options, IMPORT_RULES);
    const { signal } = options;
    assertText("id", id);
    let revision: number | undefined;
    for (let [afterSeq, isEnd] = [0, false]; !isEnd; ) {
      const page = await this.#ask(() => this.#backend.read(id, afterSeq, PAGE_LINES), signal);
      if (revision !== undefined && page.revision !== revision) throw makeChangedError(id);
      revision = page.revision;
      isEnd = page.isEnd;
      afterSeq = page.lines.at(-1)?.seq ?? afterSeq;
      if (page.lines.length > 0) yield joinLines(page.lines, isEnd);
    }
  }

  async importBytes(
    pieces: AsyncIterable<Uint8Array>,
    options: ImportIntoStoreOptions = {},
  ): Promise<string> {
    assertOptions(options, IMPORT_RULES);
    const headed = await readHeaderFirst(pieces, options.signal);
    const lines = splitLineBatches(headed.pieces, this.#backend.supports.search);
    try {
      await this.#backend.create(makeStorableFacts(headed.header), lines);
    } catch (error) {
      // There is no retry because the pieces have already been read.
      throw isSessionError(error) ? error : notImported(headed.header.id, error);
    } finally {
      await headed.close();
    }
    return headed.header.id;
  }

  async appendEntries(id: string, entries: readonly AnySessionEntry[]): Promise<void> {
    assertText("id", id);
    assertArgument("entries", entries, OBJECTS);
    this.#assertOpen();
    const { search } = this.#backend.supports;
    for (let from = 0; from < entries.length; from += PAGE) {
      const page = entries.slice(from, from + PAGE);
      const lines = page.map((entry) => makeEntryLine(encodeRecord(entry), search));
      await this.#ask(() => this.#backend.append(id, lines, { gap: drawGap() }));
    }
  }

  async close(options: CloseStoreOptions = {}): Promise<void> {
    assertOptions(options, { discard: FLAG });
    const { discard = false } = options;
    if (this.#closing.signal.aborted) return;
    // Includes entries appended in the meantime.
    while (!discard && this.#busy.size > 0) {
      const flushed = await Promise.allSettled(Array.from(this.#busy, (log) => log.flush()));
      const failed = flushed.find((result) => result.status === "rejected");
      if (failed !== undefined) throw failed.reason;
    }
    this.#closing.abort();
    for (const log of [...this.#busy]) log.discard();
    await this.#backend.close({ discard });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #newKeeper(): LogKeeper {
    return {
      closed: this.#closing.signal,
      noteBusy: (log, isBusy) => {
        if (isBusy) this.#busy.add(log);
        else this.#busy.delete(log);
      },
    };
  }

  get #derivedSessions(): DerivedSessions {
    return {
      begin: (header, lines) =>
        this.#begin(header, lines ?? [`${encodeRecord({ ...header })}\n`], {
          createAtOnce: lines !== undefined,
        }),
      load: (id, load) => this.#load(id, this.#options, load.signal),
    };
  }

  #begin(
    header: SessionHeader,
    lines: Iterable<string | Uint8Array>,
    how: Pick<RemoteLogOptions, "createAtOnce" | "mustExist">,
  ): RemoteLog {
    assertValidSessionId(header.id);
    this.#assertOpen();
    return RemoteLog.begin(this.#backend, lines, { ...this.#options, ...how, keeper: this.#keeper });
  }

  async #load(id: string, options: RemoteLogOptions, signal?: AbortSignal): Promise<RemoteLog> {
    this.#assertOpen();
    const kept = { ...options, keeper: this.#keeper };
    return RemoteLog.open(this.#backend, id, kept, signal && { signal });
  }

  #ask<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return repeatUntilAnswered(call, this.#pace, signal);
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw storeClosed();
  }
}

function toRow(facts: SessionFacts): SessionRow {
  if (facts.lastMessageMs !== undefined) return makeSessionRow(facts);
  throw new TypeError(
    `The backend lists session ${facts.id} without lastMessageMs; derive the facts with backendKit.factsAfter, from all lines (docs/stores.md#the-contract).`,
  );
}

function notImported(id: string, cause: unknown): SessionError {
  const message = `Session ${id} could not be written: ${formatReason(cause)}. Check the connection and try again; if the session exists then, it was written.`;
  return new SessionError("WRITE_FAILED", message, { details: { id }, cause });
}

function makeChangedError(id: string): SessionError {
  const message = `Lines of session ${id} were changed while it was being read. Nothing was written; read it again.`;
  return new SessionError("WRITE_FAILED", message, { details: { id } });
}
