import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  compareWritesSortKeys,
  copyCheckpoint,
  getCheckpointId,
  type Checkpoint as LangGraphCheckpoint,
  maxChannelVersion,
  type PendingWrite,
  type SerializerProtocol,
  TASKS,
  WRITES_IDX_MAP,
  writesSortKey,
} from "@langchain/langgraph-checkpoint";
import { toRecord } from "../../../core/context/entry-fields.ts";
import { assertArgument, assertStore, assertText } from "../../../core/format/arguments.ts";
import { SessionError } from "../../../core/format/errors.ts";
import { hashText } from "../../../core/format/ids.ts";
import type { SessionIssue } from "../../../core/format/issue.ts";
import { isJsonRecord, type JsonRecord } from "../../../core/format/json.ts";
import { assertOptions, OBJECT } from "../../../core/format/options.ts";
import type { SessionManager } from "../../../session/manager/session-manager.ts";
import type { SessionStore } from "../../../stores/contract/session-store.ts";
import { isSameJson } from "../../convert/raw-form.ts";
import { type OpenSession, OpenSessions, Turns } from "../session-pool.ts";
import { appendCheckpoint, type NewCheckpoint } from "./append-checkpoint.ts";
import {
  makeThreadDraft,
  makeWritesDraft,
  readValues,
  type StoredWrite,
  type TaskWrites,
} from "./checkpoint-entries.ts";
import { type DumpedValue, MessageCache } from "./message-cache.ts";
import type { ListedMessage } from "./message-entries.ts";
import { dumpValue, loadValue } from "./stored-value.ts";
import { type Checkpoint, DeletedThreads, makeThreadDeletedError, ThreadState } from "./thread-state.ts";

/** Options for `SessionTreeSaver`. */
export interface SessionTreeSaverOptions {
  /** Working directory under which the store keeps the threads. Default: `/langgraph`. */
  readonly cwd?: string;
  /**
   * Serializer for the values. Default: LangGraph's.
   *
   * With a different serializer, such as an encrypting one, message lists are stored whole and only in that serializer's format.
   * The session then contains checkpoints but no conversation.
   */
  readonly serde?: SerializerProtocol;
}

/** Address of a checkpoint. */
interface Address {
  readonly threadId: string;
  readonly ns: string;
  /** Undefined for the latest checkpoint. */
  readonly id: string | undefined;
}

/** Stored form of a checkpoint, read at a single point in time. */
interface Snapshot {
  readonly checkpoint: Checkpoint;
  readonly metadata: unknown;
  /** Serialized values, by channel. */
  readonly values: ReadonlyMap<string, unknown>;
  /** Messages in each list, by channel. */
  readonly lists: ReadonlyMap<string, readonly ListedMessage[]>;
  readonly writes: readonly TaskWrites[];
  readonly parentWrites: readonly TaskWrites[];
}

/** First version of the checkpoint format that uses a channel to store the values that nodes send. */
const SENDS_IN_CHANNEL = 4;

const ID_PREFIX = "langgraph-";

/**
 * LangGraph checkpointer on top of a store.
 *
 * A thread is a session. A checkpoint is an entry below its parent's entry, so time travel creates branches. Messages in message
 * lists are stored as session messages. Other values are stored once per version.
 *
 * @remarks Cost of a put: O(messages) comparisons, plus writing the changed bytes. Source: docs/langgraph.md
 */
export class SessionTreeSaver extends BaseCheckpointSaver {
  readonly #store: SessionStore;
  readonly #cwd: string;
  readonly #threads: OpenSessions<ThreadState>;
  readonly #deleted = new DeletedThreads();
  readonly #turns = new Turns();
  /** Undefined with a custom serializer, because its message lists are stored like any other value. */
  readonly #messages: MessageCache | undefined;

  constructor(store: SessionStore, options: SessionTreeSaverOptions = {}) {
    assertStore("store", store);
    assertOptions<object>(options, {});
    const { cwd = "/langgraph", serde } = options;
    super(serde);
    this.#store = store;
    this.#cwd = cwd;
    const newState = (session: SessionManager) => new ThreadState(session);
    this.#threads = new OpenSessions(store, cwd, newState, (_, state) => this.#deleted.note(state));
    this.#messages = serde === undefined ? new MessageCache(this.serde) : undefined;
  }

  /** Returns the id of the session that contains a thread. Thread ids may contain any characters, but session ids may not. */
  sessionIdOf(threadId: string): string {
    assertText("threadId", threadId);
    return `${ID_PREFIX}${hashText(threadId)}`;
  }

  /**
   * Returns a checkpoint with its metadata and pending writes. If the config has no checkpoint id, returns the latest one.
   *
   * @returns Undefined if there is no such checkpoint.
   * @throws {TypeError} If an id in the config is not a string.
   */
  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { threadId, ...where } = readAddress(config);
    return threadId === undefined ? undefined : this.#read({ threadId, ...where });
  }

  /**
   * Yields the checkpoints of a thread, or of all threads in the store, in descending order by id.
   *
   * @throws {TypeError} If an id in the config is not a string.
   */
  async *list(
    config: RunnableConfig,
    { limit = Number.POSITIVE_INFINITY, before, filter = {} }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { threadId, id } = readAddress(config);
    const ns: unknown = config.configurable?.["checkpoint_ns"];
    const beforeId = before === undefined ? undefined : readAddress(before).id;
    const isWanted = (one: Address) =>
      (id === undefined || one.id === id) && (beforeId === undefined || String(one.id) < beforeId);
    const found: Address[] = [];
    for await (const thread of threadId === undefined ? this.#threadIds() : [threadId])
      found.push(
        ...(await this.#addresses(thread, typeof ns === "string" ? ns : undefined)).filter(isWanted),
      );
    found.sort((a, b) => (String(a.id) < String(b.id) ? 1 : -1));
    let left = limit;
    for (const address of found) {
      if (left <= 0) return;
      const tuple = await this.#read(address);
      const metadata = toRecord(tuple?.metadata);
      const isMatch = Object.entries(filter).every(([key, value]) => isSameJson(metadata[key], value));
      if (tuple === undefined || !isMatch) continue;
      left--;
      yield tuple;
    }
  }

  /**
   * Stores a checkpoint as a child of the checkpoint that the config identifies.
   *
   * @throws {TypeError} If the config or the checkpoint is malformed.
   * @throws {SessionError} `ENTRY_INVALID` if a value cannot be serialized; `SESSION_NOT_FOUND` if the thread was deleted while
   *   the graph ran; `WRITE_FAILED` or `STORE_UNAVAILABLE`. In each case, nothing was written.
   */
  async put(
    config: RunnableConfig,
    checkpoint: LangGraphCheckpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { threadId, ns, id: parentId } = readThreadAddress(config);
    assertCheckpoint(checkpoint);
    // The graph continues to run while this call waits for its turn.
    const copy = copyCheckpoint(checkpoint);
    const changed = Object.keys(copy.channel_values).filter((channel) => Object.hasOwn(newVersions, channel));
    const dumped = Promise.all([
      this.#dumpChannels(copy, changed),
      dumpValue(this.serde, metadata, "The metadata of a checkpoint"),
    ]);
    await this.#inTurn(threadId, dumped, async ([values, dumpedMetadata]) => {
      const lacking = await this.#threads.read(this.sessionIdOf(threadId), ({ state }) =>
        listLacking(state, copy, ns, parentId, changed),
      );
      const all = new Map([...values, ...(await this.#dumpChannels(copy, lacking ?? []))]);
      const parents: JsonRecord = toRecord(metadata.parents);
      const made: NewCheckpoint = {
        ns,
        parentId,
        parents,
        checkpoint: copy,
        values: all,
        metadata: dumpedMetadata,
      };
      const around = Object.entries(parents).filter(isPlaceOutside(ns));
      const isMeant = (state: ThreadState | undefined) =>
        (parentId === undefined || state?.find(ns, parentId) !== undefined) &&
        !this.#deleted.held(threadId, state, around);
      await this.#write(threadId, isMeant, (open) => appendCheckpoint(open, made));
    });
    return makeConfig({ threadId, ns, id: copy.id });
  }

  /**
   * Stores a task's writes against the checkpoint that the config identifies, in a separate entry.
   *
   * @throws {TypeError} If the config is malformed.
   * @throws {SessionError} The same errors as `put`.
   */
  async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath = "",
  ): Promise<void> {
    const { threadId, ns, id } = readThreadAddress(config);
    if (id === undefined) throw new TypeError(`Pass the checkpoint_id that the writes belong to. ${ADVICE}`);
    const dumped = Promise.all(
      writes.map(async ([channel, value], at): Promise<StoredWrite> => {
        const stored = await dumpValue(this.serde, value, `A write to channel ${JSON.stringify(channel)}`);
        return [getWriteIndex(channel, at), channel, stored];
      }),
    );
    await this.#inTurn(threadId, dumped, async (stored) => {
      const isMeant = (state: ThreadState | undefined) =>
        state !== undefined && !this.#deleted.held(threadId, state, [[ns, id]]);
      await this.#write(threadId, isMeant, ({ session, state }) => {
        const draft = makeWritesDraft({ ns, checkpointId: id, taskId, taskPath, writes: stored });
        session.append(draft, { parentId: state.getTail(state.find(ns, id)) });
      });
    });
  }

  /** Deletes a thread. Files are moved to the system's trash, unless the store's `deletesForGood` option is set. */
  async deleteThread(threadId: string): Promise<void> {
    await this.#turns.take(threadId, () => this.#threads.delete(this.sessionIdOf(threadId)));
  }

  /** Returns issues with a thread's data, such as a checkpoint from a later version, which is skipped. */
  async issuesOf(threadId: string): Promise<SessionIssue[]> {
    return (await this.#inOrder(threadId, ({ session }) => session.issues)) ?? [];
  }

  /**
   * @throws {SessionError} `SESSION_NOT_FOUND` if `isMeant` rejects the thread, or if the thread does not exist and must not be
   *   created.
   */
  async #write(
    threadId: string,
    isMeant: (state: ThreadState | undefined) => boolean,
    work: (open: OpenSession<ThreadState>) => void,
  ): Promise<void> {
    const append = (open: OpenSession<ThreadState>) => {
      if (open.state.thread === undefined) open.session.append(makeThreadDraft(threadId));
      work(open);
    };
    const name = `LangGraph ${threadId}`;
    const isWritten = await this.#threads.write(this.sessionIdOf(threadId), name, append, isMeant);
    if (!isWritten) throw makeThreadDeletedError(threadId);
  }

  /** Runs tasks on a thread in order, each after its values have been serialized. */
  #inTurn<T>(threadId: string, dumped: Promise<T>, work: (dumped: T) => Promise<void>): Promise<void> {
    const turn = this.#turns.take(threadId, async () => work(await dumped));
    // If serialization fails before the task's turn, the task reports the error.
    dumped.catch(() => undefined);
    return turn;
  }

  async #dumpChannels(
    { channel_values }: LangGraphCheckpoint,
    channels: readonly string[],
  ): Promise<Map<string, DumpedValue>> {
    const dumped = channels.map(async (channel) => {
      const what = `Channel ${JSON.stringify(channel)}`;
      const value = channel_values[channel];
      const dumped = this.#messages?.dump(value, what) ?? dumpValue(this.serde, value, what);
      return [channel, await dumped] as const;
    });
    return new Map(await Promise.all(dumped));
  }

  async *#threadIds(): AsyncGenerator<string> {
    for await (const { id } of this.#store.list({ cwd: this.#cwd, idPrefix: ID_PREFIX })) {
      const threadId = await this.#threads.read(id, ({ state }) => state.thread?.id);
      if (threadId !== undefined && this.sessionIdOf(threadId) === id) yield threadId;
    }
  }

  async #addresses(threadId: string, ns: string | undefined): Promise<Address[]> {
    const list = await this.#inOrder(threadId, ({ state }) => state.list(ns));
    return (list ?? []).map(({ head }) => ({ threadId, ns: head.ns, id: head.id }));
  }

  /** Reads a thread after all pending writes have finished. */
  #inOrder<T>(threadId: string, read: (open: OpenSession<ThreadState>) => T): Promise<T | undefined> {
    return this.#turns.take(threadId, () => this.#threads.read(this.sessionIdOf(threadId), read));
  }

  async #read(address: Address): Promise<CheckpointTuple | undefined> {
    const { threadId, ns, id } = address;
    const snapshot = await this.#inOrder(threadId, ({ session, state }) => {
      const checkpoint = state.find(ns, id);
      return checkpoint && makeSnapshot(checkpoint, state, session);
    });
    return snapshot && this.#restore(threadId, snapshot);
  }

  async #restore(threadId: string, snapshot: Snapshot): Promise<CheckpointTuple> {
    const { head } = snapshot.checkpoint;
    const { ns, id, parentId, v, ts, versions, seen } = head;
    const values = await Promise.all([
      ...Array.from(snapshot.values, async ([channel, stored]) => [
        channel,
        await loadValue(this.serde, stored),
      ]),
      ...Array.from(snapshot.lists, async ([channel, list]) => [channel, await this.#loadList(list)]),
    ]);
    const checkpoint: LangGraphCheckpoint = {
      v,
      id,
      ts,
      channel_values: Object.fromEntries(values),
      channel_versions: { ...versions },
      versions_seen: isSeen(seen) ? structuredClone(seen) : {},
    };
    if (v < SENDS_IN_CHANNEL && parentId !== undefined)
      this.#addSends(checkpoint, await this.#loadWrites(snapshot.parentWrites));
    const metadata = await loadValue(this.serde, snapshot.metadata);
    return {
      config: makeConfig({ threadId, ns, id }),
      checkpoint,
      ...(isMetadata(metadata) && { metadata }),
      ...(parentId !== undefined && { parentConfig: makeConfig({ threadId, ns, id: parentId }) }),
      pendingWrites: await this.#loadWrites(snapshot.writes),
    };
  }

  #loadList(list: readonly ListedMessage[]): Promise<unknown> {
    return this.#messages?.load(list) ?? loadValue(this.serde, { json: list.map(({ record }) => record) });
  }

  /** Copies values sent by nodes to the channel where later format versions store them. */
  #addSends(
    { channel_values, channel_versions }: LangGraphCheckpoint,
    writes: readonly CheckpointPendingWrite[],
  ): void {
    channel_values[TASKS] = writes.filter(([, channel]) => channel === TASKS).map(([, , value]) => value);
    const versions = Object.values(channel_versions);
    channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }

  /**
   * Loads writes in the order that a run applies them. If a write is repeated, the first one is used, or the last one for a
   * special write.
   */
  #loadWrites(tasks: readonly TaskWrites[]): Promise<CheckpointPendingWrite[]> {
    const byKey = new Map<string, { task: TaskWrites; write: StoredWrite }>();
    for (const task of tasks) {
      for (const write of task.writes) {
        const key = JSON.stringify([task.taskId, write[0]]);
        if (write[0] < 0 || !byKey.has(key)) byKey.set(key, { task, write });
      }
    }
    const makeKey = ({ task, write }: { task: TaskWrites; write: StoredWrite }) =>
      writesSortKey(task.taskPath, task.taskId, write[0]);
    const ordered = [...byKey.values()].sort((a, b) => compareWritesSortKeys(makeKey(a), makeKey(b)));
    return Promise.all(
      ordered.map(async ({ task, write: [, channel, stored] }): Promise<CheckpointPendingWrite> => {
        return [task.taskId, channel, await loadValue(this.serde, stored)];
      }),
    );
  }
}

/** Returns the index of a write. Special writes have a fixed index, so each task has at most one of each kind. */
function getWriteIndex(channel: string, at: number): number {
  return Object.hasOwn(WRITES_IDX_MAP, channel) ? (WRITES_IDX_MAP[channel] ?? at) : at;
}

const ADVICE = 'Run the graph with { configurable: { thread_id: "…" } }.';

/** Reads an address. The thread id may be missing. */
function readAddress(config: RunnableConfig): Omit<Address, "threadId"> & { threadId: string | undefined } {
  assertArgument("config", config, OBJECT);
  const { thread_id, checkpoint_ns = "" } = toRecord(config.configurable);
  const id: unknown = getCheckpointId(config);
  return {
    threadId: thread_id === undefined ? undefined : requireText("thread_id", thread_id),
    ns: checkpoint_ns === "" ? "" : requireText("checkpoint_ns", checkpoint_ns),
    id: id === "" ? undefined : requireText("checkpoint_id", id),
  };
}

function readThreadAddress(config: RunnableConfig): Address {
  const { threadId, ...where } = readAddress(config);
  if (threadId === undefined) throw new TypeError(`The config has no thread_id. ${ADVICE}`);
  return { threadId, ...where };
}

function requireText(name: string, value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw new TypeError(`${name} must be a nonempty string, but is ${value === "" ? "empty" : typeof value}.`);
}

function makeConfig({ threadId, ns, id }: Address): RunnableConfig {
  return { configurable: { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: id } };
}

/** Rejects values that a later version of LangGraph or a programming mistake might pass instead of a checkpoint. */
function assertCheckpoint(checkpoint: LangGraphCheckpoint): void {
  const { v, id, ts, channel_values, channel_versions, versions_seen } = toRecord(checkpoint);
  const isKnown = typeof v === "number" && typeof id === "string" && id !== "" && typeof ts === "string";
  if (isKnown && [channel_values, channel_versions, versions_seen].every(isJsonRecord)) return;
  throw new TypeError(
    "This is not a checkpoint: v, id, ts, channel_values, channel_versions, and versions_seen are required. Update sessiontree if a later version of LangGraph created it.",
  );
}

/** Returns a filter for the checkpoints of a subgraph's enclosing graphs, as listed in metadata. */
function isPlaceOutside(ns: string): (place: [string, unknown]) => place is [string, string] {
  return (place): place is [string, string] => place[0] !== ns && typeof place[1] === "string";
}

/** Lists unchanged channels whose version is not stored in any checkpoint above, because of a copy or a missing parent. */
function listLacking(
  state: ThreadState,
  { channel_values, channel_versions }: LangGraphCheckpoint,
  ns: string,
  parentId: string | undefined,
  changed: readonly string[],
): string[] {
  const parent = parentId === undefined ? undefined : state.find(ns, parentId);
  return Object.keys(channel_values).filter((channel) => {
    if (changed.includes(channel)) return false;
    const version = channel_versions[channel];
    const holder = state.findHolder(parent, channel);
    if (holder !== undefined && holder.head.versions[channel] === version) return false;
    return parentId !== undefined || state.hasVersion(ns, channel, version);
  });
}

function makeSnapshot(checkpoint: Checkpoint, state: ThreadState, session: SessionManager): Snapshot {
  const { ns, id, parentId, versions } = checkpoint.head;
  const values = new Map<string, unknown>();
  const lists = new Map<string, ListedMessage[]>();
  for (const channel of new Set([...Object.keys(versions), ...checkpoint.stored])) {
    const holder = state.findHolder(checkpoint, channel);
    if (holder === undefined) continue;
    const own = readValues(session.getEntry(holder.entryId)).values;
    if (Object.hasOwn(own, channel)) values.set(channel, own[channel]);
    else if (holder.lists.has(channel))
      lists.set(
        channel,
        state.listAt(holder, channel).map((entryId) => requireMessage(state, entryId)),
      );
  }
  return {
    checkpoint,
    metadata: readValues(session.getEntry(checkpoint.entryId)).metadata,
    values,
    lists,
    writes: state.getWrites(ns, id),
    parentWrites: parentId === undefined ? [] : state.getWrites(ns, parentId),
  };
}

function requireMessage(state: ThreadState, entryId: string): ListedMessage {
  const message = state.findMessage(entryId);
  if (message !== undefined) return message;
  throw new SessionError(
    "ENTRY_NOT_FOUND",
    `Message ${entryId} of the thread is missing or damaged. Repair the session, or continue from an earlier checkpoint.`,
    { details: { entryId } },
  );
}

function isSeen(seen: JsonRecord): seen is LangGraphCheckpoint["versions_seen"] {
  return Object.values(seen).every(isJsonRecord);
}

function isMetadata(metadata: unknown): metadata is CheckpointMetadata {
  return isJsonRecord(metadata);
}
