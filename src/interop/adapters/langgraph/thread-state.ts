import type { AnySessionEntry } from "../../../core/format/entry.ts";
import { SessionError } from "../../../core/format/errors.ts";
import { addTo } from "../../../core/format/group-by.ts";
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
  /** The checkpoint above it in the tree: its parent, or that of the graph around a subgraph. */
  readonly above: Checkpoint | undefined;
  /** Channels whose values its entry holds, lists of messages among them. */
  readonly stored: ReadonlySet<string>;
  /** By channel, what has changed in its list of messages since the checkpoint above. */
  readonly lists: ReadonlyMap<string, readonly ListChange[]>;
  /** By channel, the last checkpoint of its graph, at or above it, that stores a value. */
  readonly holders: ReadonlyMap<string, Checkpoint>;
  /** Channels that have had lists of messages at it or above it. */
  readonly listNames: ReadonlySet<string>;
}

/** Makes a checkpoint of its entry; what it has in common with the one above it is shared with that. */
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

/** The checkpoints of a graph. */
class Namespace {
  readonly checkpoints = new Map<string, Checkpoint>();
  /** By channel, the versions of which a checkpoint stores the value. */
  readonly versions = new Map<string, Set<string | number | undefined>>();
  /** The greatest id. */
  latestId = "";

  add(checkpoint: Checkpoint): void {
    const { id, versions } = checkpoint.head;
    this.checkpoints.set(id, checkpoint);
    if (id > this.latestId) this.latestId = id;
    for (const channel of checkpoint.stored) {
      const known = this.versions.get(channel) ?? new Set();
      this.versions.set(channel, known.add(versions[channel]));
    }
  }
}

/** The checkpoints and writes of a thread, by their ids. */
export class ThreadState implements EntryTaker {
  readonly #session: SessionManager;
  /** By entry, the checkpoint at or above it. */
  readonly #nearest = new Map<string, Checkpoint>();
  /** By checkpoint, its entry or the last one with writes against it. */
  readonly #tails = new Map<Checkpoint, string>();
  readonly #namespaces = new Map<string, Namespace>();
  readonly #writes = new Map<string, TaskWrites[]>();
  /** Ids of the messages on any branch. */
  readonly #messageIds = new Set<string>();
  readonly #messages = new Map<string, ListedMessage>();
  readonly #redacted = new Set<string>();
  /** By channel, the list that was asked for last: a run asks for that of each checkpoint in turn. */
  readonly #latestLists = new Map<
    string,
    { readonly checkpoint: Checkpoint; readonly list: readonly string[] }
  >();
  /** The thread, and the entry that names it. */
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
      const about = `entry ${entry.id} of LangGraph is neither a checkpoint nor writes that this version reads, and is left out`;
      this.#session.reportIssue(makeIssue("STATE_INVALID", NOWHERE, entry.id, about));
    }
  }

  /** Returns a checkpoint; without an id, the one with the greatest. */
  find(ns: string, id: string | undefined): Checkpoint | undefined {
    const namespace = this.#namespaces.get(ns);
    return namespace?.checkpoints.get(id ?? namespace.latestId);
  }

  /** Where all checkpoints are. */
  get places(): [ns: string, id: string][] {
    return this.list(undefined).map(({ head }) => [head.ns, head.id]);
  }

  /** Lists the checkpoints of a namespace, or of all. */
  list(ns: string | undefined): Checkpoint[] {
    const all = ns === undefined ? [...this.#namespaces.values()] : [this.#namespaces.get(ns)];
    return all.flatMap((namespace) => [...(namespace?.checkpoints.values() ?? [])]);
  }

  /** Returns the writes against a checkpoint, in the order in which they came. */
  getWrites(ns: string, checkpointId: string): readonly TaskWrites[] {
    return this.#writes.get(makeCheckpointKey(ns, checkpointId)) ?? [];
  }

  /** Returns the entry under which what follows a checkpoint stands; without one, what begins. */
  getTail(checkpoint: Checkpoint | undefined): string | null {
    return (checkpoint && this.#tails.get(checkpoint)) ?? this.thread?.entryId ?? null;
  }

  /** Tells whether a message with an id stands on any branch. */
  hasMessage(id: string | undefined): boolean {
    return id !== undefined && this.#messageIds.has(id);
  }

  /** Tells whether an entry was redacted, so that its content must not come back. */
  isRedacted(entryId: string): boolean {
    return this.#redacted.has(entryId);
  }

  /** Finds the checkpoint that stores the value of a channel at a checkpoint; undefined if the channel has none. */
  findHolder(checkpoint: Checkpoint | undefined, channel: string): Checkpoint | undefined {
    const holder = checkpoint?.holders.get(channel);
    return holder?.head.versions[channel] === checkpoint?.head.versions[channel] ? holder : undefined;
  }

  /** Tells whether any checkpoint of a namespace stores a version of a channel. */
  hasVersion(ns: string, channel: string, version: string | number | undefined): boolean {
    return this.#namespaces.get(ns)?.versions.get(channel)?.has(version) === true;
  }

  /** Returns the entries of the messages in a channel's list at a checkpoint, or above it; empty if there is none. */
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

  /** Returns the message of an entry; undefined if it has none. */
  findMessage(entryId: string): ListedMessage | undefined {
    const known = this.#messages.get(entryId);
    if (known !== undefined) return known;
    const message = restoreMessage(this.#session.getEntry(entryId));
    if (message !== undefined) this.#messages.set(entryId, message);
    return message;
  }
}

/** Returns a key for what has these names, such as those of a namespace and a checkpoint. */
function makeCheckpointKey(...names: readonly string[]): string {
  return JSON.stringify(names);
}

/** Where a checkpoint is, in its thread. */
type CheckpointPlace = readonly [ns: string, id: string];

/** Checkpoints that are remembered at most: about two megabytes. */
const MAX_CHECKPOINTS = 20_000;

/**
 * The checkpoints of threads that were deleted while they were open, the latest ones, so that a run of such a thread writes
 * nothing to the next one of its id.
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
   * Tells whether one of these checkpoints was in a deleted thread, and is not in the one that has its id now. Checkpoints
   * that no thread has had are not refused: a run may put them late.
   */
  held(threadId: string, state: ThreadState | undefined, places: readonly CheckpointPlace[]): boolean {
    return places.some(
      (place) => state?.find(...place) === undefined && this.#keys.has(makeCheckpointKey(threadId, ...place)),
    );
  }
}

/** Makes the error for a write to a thread that is gone. */
export function makeThreadDeletedError(threadId: string): SessionError {
  return new SessionError(
    "SESSION_NOT_FOUND",
    "The thread was deleted while the graph ran, or the checkpoint was never stored here. Run the graph again without a checkpoint_id to start over.",
    { details: { threadId } },
  );
}
