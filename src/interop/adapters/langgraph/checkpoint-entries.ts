import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import type { AnySessionEntry } from "../../../core/format/entry.ts";
import { isJsonRecord, type JsonRecord } from "../../../core/format/json.ts";
import { CHECKPOINT_HEAD } from "../../../core/format/redact-entry.ts";
import type { StoredValue } from "./stored-value.ts";

const THREAD = "langgraph.thread";
const CHECKPOINT = "langgraph.checkpoint";
const WRITES = "langgraph.writes";

/** Versions of channels, by channel name. */
type Versions = { readonly [channel: string]: string | number };

/** Facts about a checkpoint, excluding its values. A redaction keeps them. */
export interface CheckpointHead {
  readonly ns: string;
  readonly id: string;
  readonly parentId?: string;
  /** Version of the checkpoint format. */
  readonly v: number;
  readonly ts: string;
  readonly versions: Versions;
  readonly seen: JsonRecord;
  /** Changes to each message list since the checkpoint above, by channel. */
  readonly lists: { readonly [channel: string]: readonly ListChange[] };
}

/** A write that is not part of a checkpoint yet: its index, channel, and value. */
export type StoredWrite = readonly [index: number, channel: string, value: unknown];

/** A task's writes against a checkpoint. */
export interface TaskWrites {
  readonly ns: string;
  readonly checkpointId: string;
  readonly taskId: string;
  readonly taskPath: string;
  readonly writes: readonly StoredWrite[];
}

/** Creates a draft of the entry that identifies a session's thread. */
export function makeThreadDraft(threadId: string) {
  return { type: "custom" as const, customType: THREAD, data: { threadId } };
}

/** Creates a draft entry for a checkpoint. */
export function makeCheckpointDraft(
  head: CheckpointHead,
  values: ReadonlyMap<string, StoredValue>,
  metadata: StoredValue,
) {
  const data = { [CHECKPOINT_HEAD]: head, metadata, values: Object.fromEntries(values) };
  return { type: "custom" as const, customType: CHECKPOINT, data };
}

/** Creates a draft entry for a task's writes. */
export function makeWritesDraft({ writes, ...head }: TaskWrites) {
  return { type: "custom" as const, customType: WRITES, data: { [CHECKPOINT_HEAD]: head, writes } };
}

/** Returns the id of the thread that an entry identifies. */
export function findThread(entry: AnySessionEntry): string | undefined {
  const { threadId } = getData(entry, THREAD);
  return typeof threadId === "string" ? threadId : undefined;
}

/** Returns whether an entry's type is that of a checkpoint or of writes, even if the entry is unreadable. */
export function isOfSaver({ type, ...entry }: AnySessionEntry): boolean {
  const { customType } = toRecord(entry);
  return type === "custom" && (customType === CHECKPOINT || customType === WRITES);
}

/** Reads the head of a checkpoint; undefined for other entries and for malformed data. */
export function readCheckpoint(entry: AnySessionEntry): CheckpointHead | undefined {
  const head: unknown = getData(entry, CHECKPOINT)[CHECKPOINT_HEAD];
  return isHead(head) ? head : undefined;
}

/** Returns the serialized values and metadata of a checkpoint; empty after a redaction. */
export function readValues(entry: AnySessionEntry | undefined): {
  readonly values: JsonRecord;
  readonly metadata: unknown;
} {
  const { values, metadata } = getData(entry, CHECKPOINT);
  return { values: toRecord(values), metadata };
}

/** Reads the writes of a task; undefined for other entries and for malformed data. */
export function readWrites(entry: AnySessionEntry): TaskWrites | undefined {
  const { [CHECKPOINT_HEAD]: head, writes } = getData(entry, WRITES);
  const { ns, checkpointId, taskId, taskPath } = toRecord(head);
  if (typeof ns !== "string" || typeof checkpointId !== "string" || typeof taskId !== "string")
    return undefined;
  const path = typeof taskPath === "string" ? taskPath : "";
  return { ns, checkpointId, taskId, taskPath: path, writes: toArray(writes).filter(isWrite) };
}

function getData(entry: AnySessionEntry | undefined, type: string): JsonRecord {
  const { customType, data } = toRecord(entry);
  return entry?.type === "custom" && customType === type ? toRecord(data) : {};
}

function isHead(head: unknown): head is CheckpointHead {
  const { ns, id, parentId, v, ts, versions, seen, lists } = toRecord(head);
  const texts = [ns, id, ts, ...(parentId === undefined ? [] : [parentId])];
  const isKnown = typeof v === "number" && texts.every((text) => typeof text === "string");
  return (
    isKnown && [versions, seen, lists].every(isJsonRecord) && Object.values(toRecord(lists)).every(isChanges)
  );
}

function isChanges(changes: unknown): boolean {
  const isChange = (change: unknown) => {
    const [at, deleted, ...ids] = toArray(change);
    const isCount = (value: unknown) => Number.isInteger(value) && Number(value) >= 0;
    return isCount(at) && isCount(deleted) && ids.every((id) => typeof id === "string");
  };
  return Array.isArray(changes) && changes.every(isChange);
}

function isWrite(write: unknown): write is StoredWrite {
  const [index, channel] = toArray(write);
  return typeof index === "number" && typeof channel === "string";
}

/** A change to a list: position in the previous list, number of elements to remove there, and elements to insert. */
export type ListChange = readonly [at: number, deleted: number, ...added: string[]];

/**
 * Returns the changes that turn one list into the other, in order of position. Each list contains an element at most once.
 *
 * @param unchanged - Number of leading elements that both lists share.
 */
export function diffLists(
  before: readonly string[],
  after: readonly string[],
  unchanged: number,
): ListChange[] {
  const positions = new Map(before.slice(unchanged).map((id, at) => [id, unchanged + at]));
  const changes: ListChange[] = [];
  let at = unchanged;
  let added: string[] = [];
  const note = (end: number) => {
    if (end > at || added.length > 0) changes.push([at, end - at, ...added]);
    added = [];
  };
  for (const id of after.slice(unchanged)) {
    const found = positions.get(id);
    if (found === undefined || found < at) {
      added.push(id);
      continue;
    }
    note(found);
    at = found + 1;
  }
  note(before.length);
  return changes;
}

/** Applies changes to a list. Positions beyond the end of the list are treated as the end. */
export function applyChanges(before: readonly string[], changes: readonly ListChange[]): string[] {
  const after: string[] = [];
  let from = 0;
  for (const [at, deleted, ...added] of changes) {
    for (; from < Math.min(at, before.length); from++) after.push(before[from] ?? "");
    after.push(...added);
    from = at + deleted;
  }
  return [...after, ...before.slice(from)];
}
