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

/** Checkpoint of a thread. */
export interface Checkpoint {
  readonly entryId: string;
  readonly head: CheckpointHead;
  /** Checkpoint above in the tree: the parent, or the checkpoint of the graph around a subgraph. */
  readonly above: Checkpoint | undefined;
  /** Channels whose values the entry holds, including message lists. */
  readonly stored: ReadonlySet<string>;
  /** Changes of each message list since the checkpoint above, by channel. */
  readonly lists: ReadonlyMap<string, readonly ListChange[]>;
  /** For each channel, the last checkpoint of the graph, at or above this one, that stores a value. */
  readonly holders: ReadonlyMap<string, Checkpoint>;
  /** Channels with message lists at or above this checkpoint. */
  readonly listNames: ReadonlySet<string>;
}

/** Creates a checkpoint from its entry; shares unchanged data with the checkpoint above. */
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
  /** Stored versions of each channel's values. */
  readonly versions = new Map<string, Set<string | number | undefined>>();
  /** Greatest id. */
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

/** Checkpoints and writes of a thread, by their ids. */
export class ThreadState implements EntryTaker {
  readonly #session: SessionManager;
  /** For each entry, the checkpoint at or above it. */
  readonly #nearest = new Map<string, Checkpoint>();
  /** For each checkpoint, its entry or the last one with writes against it. */
  readonly #tails = new Map<Checkpoint, string>();
  readonly #namespaces = new Map<string, Namespace>();
  readonly #writes = new Map<string, TaskWrites[]>();
  /** Ids of the messages on any branch. */
  readonly #messageIds = new Set<string>();
  readonly #messages = new Map<string, ListedMessage>();
  readonly #redacted = new Set<string>();
  /** Last requested list of each channel: a run requests that of each checkpoint in turn. */
  readonly #latestLists = new Map<
    string,
    { readonly checkpoint: Checkpoint; readonly list: readonly string[] }
  >();
  /** Id of the thread, and the entry that names it. */
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

  /** Returns a checkpoint; without an id, the one with the greatest id. */
  find(ns: string, id: string | undefined): Checkpoint | undefined {
    const namespace = this.#namespaces.get(ns);
    return namespace?.checkpoints.get(id ?? namespace.latestId);
  }

  /** Addresses of all checkpoints. */
  get places(): [ns: string, id: string][] {
    return this.list(undefined).map(({ head }) => [head.ns, head.id]);
  }

  /** Lists the checkpoints of one namespace or of all. */
  list(ns: string | undefined): Checkpoint[] {
    const all = ns === undefined ? [...this.#namespaces.values()] : [this.#namespaces.get(ns)];
    return all.flatMap((namespace) => [...(namespace?.checkpoints.values() ?? [])]);
  }

  /** Returns the writes against a checkpoint in the order in which they were appended. */
  getWrites(ns: string, checkpointId: string): readonly TaskWrites[] {
    return this.#writes.get(makeCheckpointKey(ns, checkpointId)) ?? [];
  }

  /** Returns the parent entry for what follows a checkpoint or, without a checkpoint, for the start of the thread. */
  getTail(checkpoint: Checkpoint | undefined): string | null {
    return (checkpoint && this.#tails.get(checkpoint)) ?? this.thread?.entryId ?? null;
  }

  /** Returns whether any branch has a message with this id. */
  hasMessage(id: string | undefined): boolean {
    return id !== undefined && this.#messageIds.has(id);
  }

  /** Returns whether an entry was redacted, so that its content must not be restored. */
  isRedacted(entryId: string): boolean {
    return this.#redacted.has(entryId);
  }

  /** Finds the checkpoint that stores a channel's value as of a checkpoint; undefined if the channel has none. */
  findHolder(checkpoint: Checkpoint | undefined, channel: string): Checkpoint | undefined {
    const holder = checkpoint?.holders.get(channel);
    return holder?.head.versions[channel] === checkpoint?.head.versions[channel] ? holder : undefined;
  }

  /** Returns whether any checkpoint of a namespace stores a version of a channel. */
  hasVersion(ns: string, channel: string, version: string | number | undefined): boolean {
    return this.#namespaces.get(ns)?.versions.get(channel)?.has(version) === true;
  }

  /** Returns the entries of the messages in a channel's list at or above a checkpoint; empty without a list. */
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

/** Returns a key for a tuple of names, such as a namespace and a checkpoint. */
function makeCheckpointKey(...names: readonly string[]): string {
  return JSON.stringify(names);
}

/** Address of a checkpoint within its thread. */
type CheckpointPlace = readonly [ns: string, id: string];

/** Maximum number of remembered checkpoints: about two megabytes. */
const MAX_CHECKPOINTS = 20_000;

/**
 * Latest checkpoints of threads that were deleted while open, so that a run of a deleted thread writes nothing to a new
 * thread with the same id.
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
   * Returns whether one of these checkpoints was in a deleted thread and is not in the current thread with its id.
   * Checkpoints that no thread has had are not refused: a run may store them late.
   */
  held(threadId: string, state: ThreadState | undefined, places: readonly CheckpointPlace[]): boolean {
    return places.some(
      (place) => state?.find(...place) === undefined && this.#keys.has(makeCheckpointKey(threadId, ...place)),
    );
  }
}

/** Creates the error for a write to a deleted thread. */
export function makeThreadDeletedError(threadId: string): SessionError {
  return new SessionError(
    "SESSION_NOT_FOUND",
    "The thread was deleted while the graph ran, or the checkpoint was never stored here. Run the graph again without a checkpoint_id to start over.",
    { details: { threadId } },
  );
}
