import { assertStore } from "../../../core/format/arguments.ts";
import { isJsonRecord, type JsonObject } from "../../../core/format/json.ts";
import { assertOptions } from "../../../core/format/options.ts";
import type { SessionManager } from "../../../session/manager/session-manager.ts";
import type { SessionStore } from "../../../stores/contract/session-store.ts";
import { type OpenSession, OpenSessions, Turns } from "../session-pool.ts";
import { spellCanonically, toStoredData } from "../stored-data.ts";
import {
  type ClaudeSessionKey,
  type IndexChange,
  makeIndexId,
  makeTranscriptId,
  noteChange,
  ProjectIndex,
} from "./project-index.ts";
import { appendRecords, type ClaudeRecord, RecordUuids, readRecords } from "./record-log.ts";

/** Facts about a session that the SDK needs without reading the session. */
export interface ClaudeSessionSummary {
  sessionId: string;
  /** Unix milliseconds. */
  mtime: number;
  /** Opaque data of the SDK. */
  data: Record<string, unknown>;
}

/** Type of the SDK's `foldSessionSummary`. */
export type FoldSessionSummary = (
  previous: ClaudeSessionSummary | undefined,
  key: ClaudeSessionKey,
  entries: ClaudeRecord[],
  options?: { mtime?: number },
) => ClaudeSessionSummary;

/** Options for `claudeSessionStore`. */
export interface ClaudeSessionStoreOptions {
  /** Working directory under which the store keeps the sessions. Default: `/claude-agent-sdk`. */
  readonly cwd?: string;
}

/** The Claude Agent SDK's `sessionStore` interface. */
export interface ClaudeSessionStore {
  /**
   * Appends records in order, in a single write. Skips records whose `uuid` is already stored.
   *
   * @throws {TypeError} If the key is malformed, or a record cannot be represented as JSON.
   * @throws {SessionError} `WRITE_FAILED` or `STORE_UNAVAILABLE`. A retry skips records that were already stored.
   */
  append(key: ClaudeSessionKey, entries: ClaudeRecord[]): Promise<void>;
  /** Returns copies of the records, in order; null if no records were ever written. */
  load(key: ClaudeSessionKey): Promise<ClaudeRecord[] | null>;
  /**
   * Returns the sessions in a project. `mtime` is the time of the last write to the main transcript, in Unix
   * milliseconds.
   */
  listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]>;
  /** Deletes a transcript. Deleting a main transcript also deletes its subagents' transcripts. */
  delete(key: ClaudeSessionKey): Promise<void>;
  /** Returns the subpaths of a session's subagent transcripts. */
  listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]>;
}

/** A `sessionStore` that stores a summary of each session, so that listing sessions does not require reading transcripts. */
export interface SummarizingClaudeSessionStore extends ClaudeSessionStore {
  listSessionSummaries(projectKey: string): Promise<ClaudeSessionSummary[]>;
}

/**
 * Creates a `sessionStore` for the Claude Agent SDK on top of any store.
 *
 * Each transcript is a session. Its `custom` entries of type `claude-code.record` contain the unchanged records. One index
 * session per project lists the transcripts and, if you pass the SDK's `foldSessionSummary`, their summaries.
 *
 * @remarks Source: docs/adapters.md#claude-agent-sdk
 */
export function claudeSessionStore(
  store: SessionStore,
  options: ClaudeSessionStoreOptions & { readonly foldSessionSummary: FoldSessionSummary },
): SummarizingClaudeSessionStore;
export function claudeSessionStore(
  store: SessionStore,
  options?: ClaudeSessionStoreOptions,
): ClaudeSessionStore;
export function claudeSessionStore(
  store: SessionStore,
  options: ClaudeSessionStoreOptions & { readonly foldSessionSummary?: FoldSessionSummary } = {},
): ClaudeSessionStore {
  assertStore("store", store);
  assertOptions<object>(options, {});
  const transcripts = new Transcripts(store, options);
  return {
    append: (key, entries) => transcripts.append(key, entries),
    load: (key) => transcripts.load(key),
    listSessions: (projectKey) => transcripts.listSessions(projectKey),
    delete: (key) => transcripts.delete(key),
    listSubkeys: (key) => transcripts.listSubkeys(key),
    ...(options.foldSessionSummary && {
      listSessionSummaries: (projectKey: string) => transcripts.listSummaries(projectKey),
    }),
  };
}

class Transcripts {
  readonly #fold: FoldSessionSummary | undefined;
  readonly #logs: OpenSessions<RecordUuids>;
  readonly #indexes: OpenSessions<ProjectIndex>;
  /** For each transcript, the last batch whose append has not resolved yet. */
  readonly #unfinished = new Map<string, { session: SessionManager; records: readonly JsonObject[] }>();
  /** Runs tasks on an SDK session in order, including tasks on its subagents' transcripts. */
  readonly #turns = new Turns();

  constructor(
    store: SessionStore,
    {
      foldSessionSummary,
      cwd = "/claude-agent-sdk",
    }: ClaudeSessionStoreOptions & { readonly foldSessionSummary?: FoldSessionSummary },
  ) {
    this.#fold = foldSessionSummary;
    this.#logs = new OpenSessions(store, cwd, () => new RecordUuids());
    this.#indexes = new OpenSessions(store, cwd, () => new ProjectIndex());
  }

  async append(key: ClaudeSessionKey, entries: ClaudeRecord[]): Promise<void> {
    const id = makeTranscriptId(key);
    const records = entries.map((record) => toStoredData(record, "a record"));
    if (records.length === 0) return;
    await this.#inOrder(key, async () => {
      // Do this before the first record is written, so that deleting the session finds the transcript.
      if (key.subpath !== undefined) await this.#noteSubpath(key, key.subpath);
      await this.#logs.write(id, makeName(key), (log) => this.#appendOnce(id, log, records));
      if (key.subpath === undefined) await this.#noteWritten(key, entries);
      // Do this again, because another process may have deleted the session in the meantime and must find this transcript next
      // time.
      else await this.#noteSubpath(key, key.subpath);
      this.#unfinished.delete(id);
    });
  }

  /** Appends records, unless they are a retry of a batch that was stored even though its append was rejected. */
  #appendOnce(id: string, log: OpenSession<RecordUuids>, records: readonly JsonObject[]): void {
    const last = this.#unfinished.get(id);
    if (last?.session === log.session && spellCanonically(last.records) === spellCanonically(records)) return;
    appendRecords(log, records);
    this.#unfinished.set(id, { session: log.session, records });
  }

  async load(key: ClaudeSessionKey): Promise<ClaudeRecord[] | null> {
    const records = await this.#logs.read(makeTranscriptId(key), readRecords);
    return records === undefined || records.length === 0 ? null : records;
  }

  async listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]> {
    const written = await this.#read(projectKey, (index) => index.written());
    return (written ?? []).map(({ sessionId, mtime }) => ({ sessionId, mtime }));
  }

  async listSummaries(projectKey: string): Promise<ClaudeSessionSummary[]> {
    const written = await this.#read(projectKey, (index) => index.written());
    return (written ?? []).flatMap(({ sessionId, mtime, summary }) =>
      isJsonRecord(summary) ? [{ sessionId, mtime, data: summary }] : [],
    );
  }

  async listSubkeys({ projectKey, sessionId }: ClaudeSessionKey): Promise<string[]> {
    const subpaths = await this.#read(projectKey, (index) => [...(index.get(sessionId)?.subpaths ?? [])]);
    return subpaths ?? [];
  }

  async delete(key: ClaudeSessionKey): Promise<void> {
    const { projectKey, sessionId, subpath } = key;
    const id = makeTranscriptId(key);
    await this.#inOrder(key, async () => {
      const subpaths = subpath === undefined ? await this.listSubkeys({ projectKey, sessionId }) : [];
      await this.#deleteSubagents(key, subpaths);
      await this.#logs.delete(id);
      const isKnown = await this.#read(projectKey, (index) => index.get(sessionId) !== undefined);
      if (isKnown !== true) return;
      if (subpath !== undefined)
        return this.#note(projectKey, { kind: "subpath-deleted", sessionId, subpath });
      await this.#note(projectKey, { kind: "deleted", sessionId });
      // Also delete transcripts that another process started after the list was read.
      const dropped = await this.#read(projectKey, (index) => index.droppedSubpaths(sessionId));
      await this.#deleteSubagents(
        key,
        (dropped ?? []).filter((one) => !subpaths.includes(one)),
      );
    });
  }

  async #deleteSubagents(
    { projectKey, sessionId }: ClaudeSessionKey,
    subpaths: readonly string[],
  ): Promise<void> {
    for (const subpath of subpaths)
      await this.#logs.delete(makeTranscriptId({ projectKey, sessionId, subpath }));
  }

  /** Records a write to the main transcript, unless another process has since deleted the transcript. */
  async #noteWritten(key: ClaudeSessionKey, entries: ClaudeRecord[]): Promise<void> {
    const { projectKey, sessionId } = key;
    await this.#note(projectKey, await this.#foldWritten(key, entries));
    const isThere = await this.#logs.read(makeTranscriptId(key), () => true);
    if (isThere !== true) await this.#note(projectKey, { kind: "deleted", sessionId });
  }

  async #noteSubpath({ projectKey, sessionId }: ClaudeSessionKey, subpath: string): Promise<void> {
    const isKnown = await this.#read(projectKey, (index) => index.get(sessionId)?.subpaths.has(subpath));
    if (isKnown !== true) await this.#note(projectKey, { kind: "subpath", sessionId, subpath });
  }

  /** Returns the index change for a write to the main transcript. */
  async #foldWritten(key: ClaudeSessionKey, entries: ClaudeRecord[]): Promise<IndexChange> {
    const { projectKey, sessionId } = key;
    const fold = this.#fold;
    if (fold === undefined) return { kind: "written", sessionId };
    const previous = (await this.listSummaries(projectKey)).find((one) => one.sessionId === sessionId);
    const { data } = fold(previous, key, entries);
    return { kind: "written", sessionId, summary: toStoredData(data, "a summary") };
  }

  async #note(projectKey: string, change: IndexChange): Promise<void> {
    const name = `Claude sessions of ${projectKey}`;
    await this.#indexes.write(makeIndexId(projectKey), name, ({ session }) => noteChange(session, change));
  }

  #read<T>(projectKey: string, read: (index: ProjectIndex) => T): Promise<T | undefined> {
    return this.#indexes.read(makeIndexId(projectKey), ({ state }) => read(state));
  }

  #inOrder(key: ClaudeSessionKey, work: () => Promise<void>): Promise<void> {
    return this.#turns.take(JSON.stringify([key.projectKey, key.sessionId]), work);
  }
}

function makeName({ sessionId, subpath }: ClaudeSessionKey): string {
  return subpath === undefined ? `Claude ${sessionId}` : `Claude ${sessionId} ${subpath}`;
}
