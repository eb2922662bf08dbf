import type { AnySessionEntry, CustomEntry, UnknownEntry } from "../format/entry.ts";
import type { EntryHead } from "../format/head.ts";
import { isJsonRecord, type JsonRecord } from "../format/json.ts";
import { toIsoText } from "../format/timestamps.ts";
import { CURRENT_SESSION_VERSION } from "../format/version.ts";
import type { EntryTree } from "../tree/entry-tree.ts";
import { decodeRecord, decodeText, parseRecord } from "./decode.ts";
import { encodeRecord } from "./encode.ts";
import { upgradeRecord } from "./migrate.ts";

/** Type of an entry whose body cannot be read. */
export const DAMAGED_TYPE = "damaged";

/** `customType` of the entry that preserves a damaged entry as a string in a copy. */
export const DAMAGED_CUSTOM_TYPE = "sessiontree.damaged";

/** Context required to upgrade an entry; usually the index of its session. */
export interface BodyContext {
  readonly version: number;
  /** Returns the id of the first entry at or after a record number (version 1). */
  entryIdFrom(recordNumber: number): string | undefined;
}

/** Parses an entry from its line, upgrades it, and sets the head from the tree. Returns undefined if the body is damaged. */
export function decodeEntry(
  bytes: Uint8Array,
  head: EntryHead,
  context: BodyContext,
): AnySessionEntry | undefined {
  const record = decodeRecord(bytes);
  return record && decodeEntryRecord(record, head, context);
}

/**
 * Decodes an entry as `decodeEntry` does, from a parsed record and the head at an ordinal.
 *
 * Does not create a head if the record already matches it, as almost all records do, because creating heads took longer than the
 * rest of the work.
 */
export function decodeEntryAt(
  record: JsonRecord,
  heads: Pick<EntryTree, "headAt" | "isHeadAt">,
  ordinal: number,
  context: BodyContext,
): UnknownEntry | undefined {
  if (context.version >= CURRENT_SESSION_VERSION && hasHeadAt(record, heads, ordinal)) {
    return hasBody(record) ? record : undefined;
  }
  return decodeEntryRecord(record, heads.headAt(ordinal), context);
}

/** Decodes an entry as `decodeEntry` does, from a parsed record. */
export function decodeEntryRecord(
  record: JsonRecord,
  head: EntryHead,
  context: BodyContext,
): UnknownEntry | undefined {
  if (record["type"] !== head.type || !hasBody(record)) return undefined;
  const { version } = context;
  if (version >= CURRENT_SESSION_VERSION) return withHead(record, head);
  const entryIdFrom = (recordNumber: number) => context.entryIdFrom(recordNumber);
  return withHead(upgradeRecord(record, version, { ...head, entryIdFrom }), head);
}

/**
 * Changes a line permanently. If the returned string is unchanged, the bytes are kept.
 *
 * @param head - Head of the entry on the line, which must not change; undefined for the header.
 */
export type LineChange = (line: string, head?: EntryHead) => string;

/**
 * Returns an entry's line in the format of the current version.
 *
 * @param change - Changes the entry. If given, the line is encoded again.
 * @returns The same bytes, without trailing carriage returns, if the line matches its head and is not changed; otherwise, a new
 *   line. A damaged entry is converted to a `custom` entry that contains the line as a string, so that no data is lost.
 */
export function encodeCurrentLine(
  bytes: Uint8Array,
  head: EntryHead,
  context: BodyContext,
  change?: (entry: AnySessionEntry) => AnySessionEntry,
): Uint8Array | string {
  const record = decodeRecord(bytes);
  const entry = record && decodeEntryRecord(record, head, context);
  if (record === undefined || entry === undefined) {
    const kept = makeTextEntry(bytes, head);
    return encodeRecord(change?.(kept) ?? kept);
  }
  const changed = change?.(entry) ?? entry;
  const isAsWritten =
    changed === entry && context.version >= CURRENT_SESSION_VERSION && hasHead(record, head);
  return isAsWritten ? withoutReturns(bytes) : encodeRecord(changed);
}

/** Changes a line that `encodeCurrentLine` returned. */
export function changeLine(
  line: Uint8Array | string,
  head: EntryHead,
  change: LineChange | undefined,
): Uint8Array | string {
  if (change === undefined) return line;
  const text = typeof line === "string" ? line : decodeText(line);
  const changed = change(text, head);
  return changed === text ? line : changed;
}

/** Parses an entry from a line that `encodeCurrentLine` returned. */
export function parseCurrentLine(line: string, head: EntryHead): AnySessionEntry {
  const record = parseRecord(line) ?? {};
  const { type } = record;
  return withHead(record, typeof type === "string" ? { ...head, type } : head);
}

/** Removes carriage returns from the end of a line, because the next read would drop a carriage return before the line break. */
function withoutReturns(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (bytes[end - 1] === 0x0d) end--;
  return end === bytes.length ? bytes : bytes.subarray(0, end);
}

/** Creates the entry that preserves a damaged one as a string. */
function makeTextEntry(bytes: Uint8Array, { type, id, parentId, timestampMs }: EntryHead): CustomEntry {
  const data = { type, line: decodeText(bytes) };
  return {
    type: "custom",
    id,
    parentId,
    timestamp: toIsoText(timestampMs),
    customType: DAMAGED_CUSTOM_TYPE,
    data,
  };
}

/** Creates the entry that replaces a damaged one. It keeps only the position in the tree. */
export function makeDamagedEntry(head: EntryHead): UnknownEntry {
  const { id, parentId } = head;
  return {
    type: DAMAGED_TYPE,
    id,
    parentId,
    timestamp: toIsoText(head.timestampMs),
    originalType: head.type,
  };
}

/** Returns whether a record has the fields that its type requires. */
function hasBody({ type, message }: JsonRecord): boolean {
  return type !== "message" || (isJsonRecord(message) && typeof message["role"] === "string");
}

/** Returns the record itself if it matches its head, as almost all records do; otherwise, a copy with that head. */
function withHead(record: JsonRecord, head: EntryHead): UnknownEntry {
  if (hasHead(record, head)) return record;
  const { type: _type, id: _id, parentId: _parentId, timestamp, ...body } = record;
  return {
    type: head.type,
    id: head.id,
    parentId: head.parentId,
    timestamp: typeof timestamp === "string" ? timestamp : toIsoText(head.timestampMs),
    ...body,
  };
}

function hasHeadAt(
  record: JsonRecord,
  heads: Pick<EntryTree, "isHeadAt">,
  ordinal: number,
): record is UnknownEntry {
  const { type, id, parentId, timestamp } = record;
  return typeof timestamp === "string" && heads.isHeadAt(ordinal, type, id, parentId);
}

/** Returns whether a record has the ids of its head. */
function hasHead(record: JsonRecord, head: Pick<EntryHead, "id" | "parentId">): record is UnknownEntry {
  return (
    record["id"] === head.id &&
    record["parentId"] === head.parentId &&
    typeof record["timestamp"] === "string"
  );
}
