import { isKnownEntryType } from "../format/entry.ts";
import type { JsonRecord } from "../format/json.ts";
import { decodeRecord } from "./decode.ts";

/** Range of bytes that contains a record, in a line that does not parse as a whole. */
export interface RecoveredRecord {
  readonly start: number;
  readonly end: number;
  readonly record: JsonRecord;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Maximum number of passes over the bytes of a line. Limits the work for malicious lines. */
const MAX_PASSES = 64;

/** Types of content blocks. A torn record may contain many such blocks. */
const BLOCK_TYPES: ReadonlySet<string> = new Set(["text", "image", "thinking", "toolCall"]);

/** Rules that distinguish records of a format from objects inside records. */
export interface RecordForm {
  /** Matches the first key of a record, including the quotes and the colon. */
  readonly firstKey: RegExp;
  /** Returns whether an object is a record rather than part of one. */
  readonly isRecord: (object: JsonRecord) => boolean;
}

const SESSION_FORM: RecordForm = {
  firstKey: /^"(?:type|id|parentId|timestamp|customType|message)"\s*:/,
  isRecord: isLikeRecord,
};

/**
 * Finds complete records in a line that does not parse, because it contains several records or a torn record.
 *
 * At the start of the line, or directly after another record, having a type is nearly sufficient. Elsewhere, an object may be
 * part of a torn record, so it must resemble an entry or a header.
 *
 * @param bytes - The line.
 * @param form - Default: the form of entries and headers.
 * @returns The records, in order; empty if there are none.
 * @remarks Cost: O(bytes) for adjacent records, O(64 · bytes) at worst.
 */
export function recoverRecords(bytes: Uint8Array, form: RecordForm = SESSION_FORM): RecoveredRecord[] {
  const found: RecoveredRecord[] = [];
  let bytesLeft = MAX_PASSES * bytes.length;
  let border = 0;
  let at = findNextRecordStart(bytes, border, true, form);
  while (at !== -1 && bytesLeft > 0) {
    const close = findObjectEnd(bytes, at);
    bytesLeft -= (close === -1 ? bytes.length : close) - at;
    const record = close === -1 ? undefined : decodeRecord(bytes.subarray(at, close));
    const isAtBorder = skipBlank(bytes, border, bytes.length) === at;
    if (record !== undefined && (isAtBorder ? isRecordAtBorder(record, form) : form.isRecord(record))) {
      found.push({ start: at, end: close, record });
      border = close;
      at = findNextRecordStart(bytes, border, true, form);
    } else {
      at = findNextRecordStart(bytes, at + 1, false, form);
    }
  }
  return found;
}

/** Returns the complete record at the start of a line, regardless of the rest of the line; undefined if there is none. */
export function readFrontRecord(bytes: Uint8Array): RecoveredRecord | undefined {
  const start = skipBlank(bytes, 0, bytes.length);
  const end = bytes[start] === OPEN_BRACE ? findObjectEnd(bytes, start) : -1;
  const record = end === -1 ? undefined : decodeRecord(bytes.subarray(start, end));
  return record !== undefined && isRecordAtBorder(record, SESSION_FORM) ? { start, end, record } : undefined;
}

/** Returns whether an object at a position where a record may begin is a record, which has a type and is not a content block. */
function isRecordAtBorder(record: JsonRecord, { isRecord }: RecordForm): boolean {
  const { type } = record;
  return (typeof type === "string" && !BLOCK_TYPES.has(type)) || isRecord(record);
}

/** Returns whether an object is a record rather than part of one. A record has a type, a time, and a parent or a known type. */
function isLikeRecord(record: JsonRecord): boolean {
  const { type, id, timestamp } = record;
  if (typeof type !== "string") return false;
  if (type === "session") return typeof id === "string";
  if (typeof timestamp !== "string" && typeof timestamp !== "number") return false;
  return (typeof id === "string" && Object.hasOwn(record, "parentId")) || isKnownEntryType(type);
}

/** Finds the next `{` that is followed by the key of a record, or, at a border, the first `{` after white space. */
function findNextRecordStart(
  bytes: Uint8Array,
  start: number,
  isBorder: boolean,
  { firstKey }: RecordForm,
): number {
  const first = isBorder ? skipBlank(bytes, start, bytes.length) : -1;
  for (let at = bytes.indexOf(OPEN_BRACE, start); at !== -1; at = bytes.indexOf(OPEN_BRACE, at + 1)) {
    if (at === first) return at;
    const key = skipBlank(bytes, at + 1, Math.min(bytes.length, at + 40));
    if (bytes[key] !== QUOTE) continue;
    const text = String.fromCharCode(...bytes.subarray(key, key + 40));
    if (firstKey.test(text)) return at;
  }
  return -1;
}

/** Returns the first offset at or after `start` that is neither white space nor a zero byte; `end` if there is none. */
function skipBlank(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && isBlank(bytes[at] ?? 0)) at++;
  return at;
}

/** Returns whether a byte is a space, tab, CR, or zero byte, which power failures can leave between records. */
function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0;
}

/** Returns the offset after the brace that closes the object at `start`, or -1. */
function findObjectEnd(bytes: Uint8Array, start: number): number {
  let depth = 0;
  let isInString = false;
  for (let i = start; i < bytes.length; i++) {
    const byte = bytes[i];
    if (isInString) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) isInString = true;
    else if (byte === OPEN_BRACE) depth++;
    else if (byte === CLOSE_BRACE && --depth === 0) return i + 1;
  }
  return -1;
}
