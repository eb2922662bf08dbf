import type { AnySessionEntry } from "../../../core/format/entry.ts";
import { SessionError } from "../../../core/format/errors.ts";
import { addTo, getOrAdd } from "../../../core/format/group-by.ts";
import { getRedactedIds } from "../../../core/format/redaction.ts";
import { makeIssue } from "../../../core/jsonl/issue-log.ts";
import type { SessionManager } from "../../../session/manager/session-manager.ts";
import type { EntryTaker } from "../session-pool.ts";
import {
  applyChanges,
  type CheckpointHead,
  findThread,
  isOfSaver,
  type ListChange,
  readCheckpoint,
  readValues,
  readWrites,
  type TaskWrites,
} from "./checkpoint-entries.ts";
import { findMessageId, type ListedMessage, restoreMessage } from "./message-entries.ts";

const NOWHERE = { line: 0, offset: 0, length: 0 };

/** A checkpoint of a thread. */
export interface Checkpoint {
  readonly entryId: string;
  readonly head: CheckpointHead;
  /** Checkpoint above in the tree: the parent or, for a subgraph, the enclosing graph's checkpoint. */
  readonly above: Checkpoint | undefined;
  /** Channels whose values are stored in the entry, including message lists. */
  readonly stored: ReadonlySet<string>;
  /** Changes to each message list since the checkpoint above, by channel. */
  readonly lists: ReadonlyMap<string, readonly ListChange[]>;
  /** For each channel, the graph's last checkpoint, at or above this checkpoint, that stores a value. */
  readonly holders: ReadonlyMap<string, Checkpoint>;
  /** Channels that have a message list at or above this checkpoint. */
  readonly listNames: ReadonlySet<string>;
}

/** Creates a checkpoint from its entry. Unchanged data is shared with the checkpoint above. */
function makeCheckpoint(
  entry: AnySessionEntry,
  head: CheckpointHead,
  above: Checkpoint | undefined,
): Checkpoint {
  const lists = new Map(Object.entries(head.lists));
  const stored = new Set([...Object.keys(readValues(entry).values), ...lists.keys()]);
  const holders = new Map(above?.head.ns === head.ns ? above.holders : []);
  const known = above?.listNames ?? new Set<string>();
  const hasNew = Array.from(lists.keys()).some((name) => !known.has(name));
  const listNames = hasNew ? new Set([...known, ...lists.keys()]) : known;
  const checkpoint = { entryId: entry.id, head, above, stored, lists, holders, listNames };
  for (const channel of stored) holders.set(channel, checkpoint);
  return checkpoint;
}

/** Checkpoints of a graph. */
class Namespace {
  readonly checkpoints = new Map<string, Checkpoint>();
  /** Versions of each channel whose values are stored. */
  readonly versions = new Map<string, Set<string | number | undefined>>();
  /** Greatest checkpoint id. */
  latestId = "";

  add(checkpoint: Checkpoint): void {
    const { id, versions } = checkpoint.head;
    this.checkpoints.set(id, checkpoint);
    if (id > this.latestId) this.latestId = id;
    for (const channel of checkpoint.stored)
      getOrAdd(this.versions, channel, () => new Set()).add(versions[channel]);
  }
}

/** Checkpoints and writes of a thread, by id. */
export class ThreadState implements EntryTaker {
  readonly #session: SessionManager;
  /** For each entry, the checkpoint at or above it. */
  readonly #nearest = new Map<string, Checkpoint>();
  /** For each checkpoint, its own entry or the last entry with writes against it. */
  readonly #tails = new Map<Checkpoint, string>();
  readonly #namespaces = new Map<string, Namespace>();
  readonly #writes = new Map<string, TaskWrites[]>();
  /** Ids of the messages on all branches. */
  readonly #messageIds = new Set<string>();
  readonly #messages = new Map<string, ListedMessage>();
  readonly #redacted = new Set<string>();
  /** Most recently requested list of each channel. A run requests the list of each checkpoint in turn. */
  readonly #latestLists = new Map<
    string,
    { readonly checkpoint: Checkpoint; readonly list: readonly string[] }
  >();
  /** Id of the thread, and the entry that identifies it. */
  thread: { readonly id: string; readonly entryId: string } | undefined;

  constructor(session: SessionManager) {
    this.#session = session;
  }

  take(entry: AnySessionEntry): void {
    const above = entry.parentId === null ? undefined : this.#nearest.get(entry.parentId);
    if (above !== undefined) this.#nearest.set(entry.id, above);
    const threadId = findThread(entry);
    if (threadId !== undefined) this.thread ??= { id: threadId, entryId: entry.id };
    const messageId = findMessageId(entry);
    if (messageId !== undefined) this.#messageIds.add(messageId);
    for (const id of getRedactedIds(entry)) {
      this.#redacted.add(id);
      this.#messages.delete(id);
    }
    if (isOfSaver(entry)) this.#takeOwn(entry, above);
  }

  #takeOwn(entry: AnySessionEntry, above: Checkpoint | undefined): void {
    const head = readCheckpoint(entry);
    const writes = readWrites(entry);
    if (head !== undefined) {
      const checkpoint = makeCheckpoint(entry, head, above);
      const namespace = this.#namespaces.get(head.ns) ?? new Namespace();
      this.#namespaces.set(head.ns, namespace);
      namespace.add(checkpoint);
      this.#nearest.set(entry.id, checkpoint);
      this.#tails.set(checkpoint, entry.id);
    } else if (writes !== undefined) {
      addTo(this.#writes, makeCheckpointKey(writes.ns, writes.checkpointId), writes);
      if (above !== undefined) this.#tails.set(above, entry.id);
    } else {
      const about = `entry ${entry.id} of LangGraph is neither a checkpoint nor a set of writes that this version can read, and is skipped`;
      this.#session.reportIssue(makeIssue("STATE_INVALID", NOWHERE, entry.id, about));
    }
  }

  /** Returns the checkpoint with the given id or, if no id is given, the checkpoint with the greatest id. */
  find(ns: string, id: string | undefined): Checkpoint | undefined {
    const namespace = this.#namespaces.get(ns);
    return namespace?.checkpoints.get(id ?? namespace.latestId);
  }

  /** Addresses of all checkpoints. */
  get places(): [ns: string, id: string][] {
    return this.list(undefined).map(({ head }) => [head.ns, head.id]);
  }

  /** Lists the checkpoints in one namespace or in all of them. */
  list(ns: string | undefined): Checkpoint[] {
    const all = ns === undefined ? [...this.#namespaces.values()] : [this.#namespaces.get(ns)];
    return all.flatMap((namespace) => [...(namespace?.checkpoints.values() ?? [])]);
  }

  /** Returns the writes against a checkpoint, in the order they were appended. */
  getWrites(ns: string, checkpointId: string): readonly TaskWrites[] {
    return this.#writes.get(makeCheckpointKey(ns, checkpointId)) ?? [];
  }

  /** Returns the parent for entries after a checkpoint or, without a checkpoint, for the thread's first entries. */
  getTail(checkpoint: Checkpoint | undefined): string | null {
    return (checkpoint && this.#tails.get(checkpoint)) ?? this.thread?.entryId ?? null;
  }

  /** Returns whether any branch contains a message with this id. */
  hasMessage(id: string | undefined): boolean {
    return id !== undefined && this.#messageIds.has(id);
  }

  /** Returns whether an entry was redacted. If it was redacted, its content must not be restored. */
  isRedacted(entryId: string): boolean {
    return this.#redacted.has(entryId);
  }

  /** Finds the checkpoint that stores a channel's value as of the given checkpoint; undefined if the channel has no value. */
  findHolder(checkpoint: Checkpoint | undefined, channel: string): Checkpoint | undefined {
    const holder = checkpoint?.holders.get(channel);
    return holder?.head.versions[channel] === checkpoint?.head.versions[channel] ? holder : undefined;
  }

  /** Returns whether any checkpoint in a namespace stores this version of a channel. */
  hasVersion(ns: string, channel: string, version: string | number | undefined): boolean {
    return this.#namespaces.get(ns)?.versions.get(channel)?.has(version) === true;
  }

  /** Returns the entry ids of the messages in a channel's list at or above a checkpoint; empty if there is no list. */
  listAt(checkpoint: Checkpoint | undefined, channel: string): readonly string[] {
    const latest = this.#latestLists.get(channel);
    const changes: (readonly ListChange[])[] = [];
    let list: readonly string[] = [];
    for (let at = checkpoint; at !== undefined; at = at.above) {
      if (at === latest?.checkpoint) {
        list = latest.list;
        break;
      }
      const own = at.lists.get(channel);
      if (own !== undefined) changes.push(own);
      else if (at.stored.has(channel)) break;
    }
    for (const one of changes.reverse()) list = applyChanges(list, one);
    if (checkpoint !== undefined) this.#latestLists.set(channel, { checkpoint, list });
    return list;
  }

  /** Returns an entry's message; undefined if the entry has no message. */
  findMessage(entryId: string): ListedMessage | undefined {
    const known = this.#messages.get(entryId);
    if (known !== undefined) return known;
    const message = restoreMessage(this.#session.getEntry(entryId));
    if (message !== undefined) this.#messages.set(entryId, message);
    return message;
  }
}

/** Returns a key for a sequence of names, such as a namespace and a checkpoint. */
function makeCheckpointKey(...names: readonly string[]): string {
  return JSON.stringify(names);
}

/** Address of a checkpoint within its thread. */
type CheckpointPlace = readonly [ns: string, id: string];

/** Maximum number of checkpoints to remember, which take about two megabytes. */
const MAX_CHECKPOINTS = 20_000;

/**
 * Remembers the latest checkpoints of threads that were deleted while open, so that a run of a deleted thread cannot write to a
 * new thread with the same id.
 */
export class DeletedThreads {
  readonly #keys = new Set<string>();

  note({ thread, places }: ThreadState): void {
    if (thread === undefined) return;
    for (const place of places) this.#keys.add(makeCheckpointKey(thread.id, ...place));
    for (const oldest of this.#keys) {
      if (this.#keys.size <= MAX_CHECKPOINTS) return;
      this.#keys.delete(oldest);
    }
  }

  /**
   * Returns whether one of these checkpoints was in a deleted thread and is not in the current thread with the same id.
   * Checkpoints that were never part of a thread are not rejected, because a run may store them late.
   */
  held(threadId: string, state: ThreadState | undefined, places: readonly CheckpointPlace[]): boolean {
    return places.some(
      (place) => state?.find(...place) === undefined && this.#keys.has(makeCheckpointKey(threadId, ...place)),
    );
  }
}

/** Creates the error for a write to a deleted thread. */
export function makeThreadDeletedError(threadId: string): SessionError {
  const message =
    "The thread was deleted while the graph ran, or the checkpoint was never stored here. Run the graph again without a checkpoint_id to start over.";
  return new SessionError("SESSION_NOT_FOUND", message, { details: { threadId } });
}
