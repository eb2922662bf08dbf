import type { AnySessionEntry, CustomEntry, UnknownEntry } from "../schema/entry.ts";
import type { EntryHead } from "../schema/head.ts";
import { isJsonRecord, type JsonRecord } from "../schema/json.ts";
import { isoTime } from "../schema/times.ts";
import { CURRENT_SESSION_VERSION } from "../schema/version.ts";
import { decodeRecord, decodeText } from "./decode.ts";
import { encodeRecord } from "./encode.ts";
import { upgradeRecord } from "./migrate.ts";

/** The type under which an entry is given out whose body cannot be read. */
export const DAMAGED_TYPE = "damaged";

/** `customType` of the entry that keeps the text of a damaged one in a copy. */
export const DAMAGED_CUSTOM_TYPE = "sessiontree.damaged";

/** What it takes to turn a line's bytes into the entry of today's format: the index of its session, as a rule. */
export interface BodyContext {
  /** Version of the file. */
  readonly version: number;
  /** Returns the id of the first entry at or after a record number (version 1). */
  entryIdFrom(recordNumber: number): string | undefined;
}

/**
 * Parses an entry from its line, upgraded to the current version, under the head that the tree gave it.
 *
 * @returns Undefined if the body is damaged: no JSON, or a message entry without a message.
 */
export function decodeEntry(
  bytes: Uint8Array,
  head: EntryHead,
  context: BodyContext,
): AnySessionEntry | undefined {
  const record = decodeRecord(bytes);
  return record && entryOf(record, head, context);
}

/** Heads by ordinal, as a tree keeps them. */
export interface Heads {
  headAt(ordinal: number): EntryHead;
  /** Tells whether an entry's head says this, without making an object of it. */
  isHeadAt(ordinal: number, type: unknown, id: unknown, parentId: unknown): boolean;
}

/**
 * Does the same as `decodeEntry`, with the record of the line and the head at an ordinal.
 *
 * Nearly every line says of itself what its head says, and then no head is made: that took longer than the rest of
 * this, where all entries are asked for.
 */
export function entryAt(
  record: JsonRecord,
  heads: Heads,
  ordinal: number,
  context: BodyContext,
): UnknownEntry | undefined {
  if (context.version >= CURRENT_SESSION_VERSION && hasHeadAt(record, heads, ordinal)) {
    return hasBody(record) ? record : undefined;
  }
  return entryOf(record, heads.headAt(ordinal), context);
}

/** Does what `decodeEntry` does with the record of the line. */
export function entryOf(record: JsonRecord, head: EntryHead, context: BodyContext): UnknownEntry | undefined {
  if (record["type"] !== head.type || !hasBody(record)) return undefined;
  const { version } = context;
  if (version >= CURRENT_SESSION_VERSION) return withHead(record, head);
  const entryIdFrom = (recordNumber: number) => context.entryIdFrom(recordNumber);
  return withHead(upgradeRecord(record, version, { ...head, entryIdFrom }), head);
}

/**
 * Spells an entry's line as the current version writes it.
 *
 * @param change - Alters the entry on its way; the line is then encoded anew.
 * @returns The very bytes, but for carriage returns at the end, if the line says what its head says and nothing is changed; else the line anew. An entry
 *   whose body is damaged becomes a `custom` entry that holds the text, so that nothing of it is lost.
 */
export function currentLine(
  bytes: Uint8Array,
  head: EntryHead,
  context: BodyContext,
  change?: (entry: AnySessionEntry) => AnySessionEntry,
): Uint8Array | string {
  const record = decodeRecord(bytes);
  const entry = record && entryOf(record, head, context);
  if (record === undefined || entry === undefined) {
    const kept = keptAsText(bytes, head);
    return encodeRecord(change?.(kept) ?? kept);
  }
  const changed = change?.(entry) ?? entry;
  const isAsWritten =
    changed === entry && context.version >= CURRENT_SESSION_VERSION && hasHead(record, head);
  return isAsWritten ? withoutReturns(bytes) : encodeRecord(changed);
}

/** A line without carriage returns at its end: in front of a line break, the next reading would drop one. */
function withoutReturns(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (bytes[end - 1] === 0x0d) end--;
  return end === bytes.length ? bytes : bytes.subarray(0, end);
}

/** The entry that holds the text of one whose body is damaged. */
function keptAsText(bytes: Uint8Array, { type, id, parentId, timestampMs }: EntryHead): CustomEntry {
  const data = { type, line: decodeText(bytes) };
  return {
    type: "custom",
    id,
    parentId,
    timestamp: isoTime(timestampMs),
    customType: DAMAGED_CUSTOM_TYPE,
    data,
  };
}

/** Makes the entry that stands for one whose body is damaged: it has its place in the tree and nothing else. */
export function damagedEntry(head: EntryHead): UnknownEntry {
  const { id, parentId } = head;
  return { type: DAMAGED_TYPE, id, parentId, timestamp: isoTime(head.timestampMs), originalType: head.type };
}

/** Whether there is what an entry of the type cannot do without. */
function hasBody({ type, message }: JsonRecord): boolean {
  return type !== "message" || (isJsonRecord(message) && typeof message["role"] === "string");
}

/** The record itself if it says of itself what the head says, which is the rule; else a copy that does. */
function withHead(record: JsonRecord, head: EntryHead): UnknownEntry {
  if (hasHead(record, head)) return record;
  const { type: _type, id: _id, parentId: _parentId, timestamp, ...body } = record;
  return {
    type: head.type,
    id: head.id,
    parentId: head.parentId,
    timestamp: typeof timestamp === "string" ? timestamp : isoTime(head.timestampMs),
    ...body,
  };
}

function hasHeadAt(record: JsonRecord, heads: Heads, ordinal: number): record is UnknownEntry {
  const { type, id, parentId, timestamp } = record;
  return typeof timestamp === "string" && heads.isHeadAt(ordinal, type, id, parentId);
}

function hasHead(record: JsonRecord, head: EntryHead): record is UnknownEntry {
  return (
    record["id"] === head.id &&
    record["parentId"] === head.parentId &&
    typeof record["timestamp"] === "string"
  );
}
