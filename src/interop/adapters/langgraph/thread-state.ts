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
import { findMessageId, hashRecord, restoreRecord } from "./message-entries.ts";

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
}

/** The checkpoints and writes of a thread, by their ids. */
export class ThreadState implements EntryTaker {
  readonly #session: SessionManager;
  /** By entry, the checkpoint at or above it. */
  readonly #nearest = new Map<string, Checkpoint>();
  /** By checkpoint, its entry or the last one with writes against it. */
  readonly #tails = new Map<Checkpoint, string>();
  readonly #checkpoints = new Map<string, Map<string, Checkpoint>>();
  readonly #writes = new Map<string, TaskWrites[]>();
  /** Ids of the messages on any branch. */
  readonly #messageIds = new Set<string>();
  readonly #digests = new Map<string, string>();
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
      this.#digests.delete(id);
    }
    if (isOfSaver(entry)) this.#takeOwn(entry, above);
  }

  #takeOwn(entry: AnySessionEntry, above: Checkpoint | undefined): void {
    const head = readCheckpoint(entry);
    const writes = readWrites(entry);
    if (head !== undefined) {
      const lists = new Map(Object.entries(head.lists));
      const stored = new Set([...Object.keys(readValues(entry).values), ...lists.keys()]);
      const checkpoint = { entryId: entry.id, head, above, stored, lists };
      const ids = this.#checkpoints.get(head.ns) ?? new Map<string, Checkpoint>();
      this.#checkpoints.set(head.ns, ids.set(head.id, checkpoint));
      this.#nearest.set(entry.id, checkpoint);
      this.#tails.set(checkpoint, entry.id);
    } else if (writes !== undefined) {
      addTo(this.#writes, makeCheckpointKey(writes.ns, writes.checkpointId), writes);
      if (above !== undefined) this.#tails.set(above, entry.id);
    } else {
      const about = `entry ${entry.id} of LangGraph is no checkpoint and no writes as this version knows them, and is left out`;
      this.#session.reportIssue(makeIssue("STATE_INVALID", NOWHERE, entry.id, about));
    }
  }

  /** Returns a checkpoint; without an id, the one with the greatest. */
  find(ns: string, id: string | undefined): Checkpoint | undefined {
    const ids = this.#checkpoints.get(ns);
    const latest = () => Array.from(ids?.keys() ?? []).reduce((a, b) => (a > b ? a : b), "");
    return ids?.get(id ?? latest());
  }

  /** Where all checkpoints are. */
  get places(): [ns: string, id: string][] {
    return this.list(undefined).map(({ head }) => [head.ns, head.id]);
  }

  /** Lists the checkpoints of a namespace, or of all. */
  list(ns: string | undefined): Checkpoint[] {
    const maps = ns === undefined ? [...this.#checkpoints.values()] : [this.#checkpoints.get(ns)];
    return maps.flatMap((ids) => [...(ids?.values() ?? [])]);
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
    const version = checkpoint?.head.versions[channel];
    for (let at = checkpoint; at !== undefined && at.head.ns === checkpoint?.head.ns; at = at.above) {
      if (at.stored.has(channel)) return at.head.versions[channel] === version ? at : undefined;
    }
    return undefined;
  }

  /** Tells whether any checkpoint of a namespace stores a version of a channel. */
  hasVersion(ns: string, channel: string, version: string | number | undefined): boolean {
    return this.list(ns).some(
      ({ head, stored }) => stored.has(channel) && head.versions[channel] === version,
    );
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

  /** Returns the names of channels that have had lists of messages at a checkpoint or above it. */
  listsAt(checkpoint: Checkpoint | undefined): string[] {
    const names = new Set<string>();
    for (let at = checkpoint; at !== undefined; at = at.above)
      for (const name of at.lists.keys()) names.add(name);
    return [...names];
  }

  /** Returns the digest of the message of an entry; undefined if it has none. */
  findDigest(entryId: string): string | undefined {
    const known = this.#digests.get(entryId);
    if (known !== undefined) return known;
    const record = restoreRecord(this.#session.getEntry(entryId));
    const digest = record && hashRecord(record);
    if (digest !== undefined) this.#digests.set(entryId, digest);
    return digest;
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
    "The thread was deleted while the graph ran, or the checkpoint was never stored here. Run the graph again without a checkpoint_id to begin it anew.",
    { details: { threadId } },
  );
}
