import { isKnownEntryType } from "../schema/entry.ts";
import type { JsonRecord } from "../schema/json.ts";
import { decodeRecord } from "./decode.ts";

/** A record found in a line that does not parse as a whole, as a range of the line's bytes. */
export interface RecoveredRecord {
  readonly start: number;
  readonly end: number;
  readonly record: JsonRecord;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** How often the bytes of a line may be looked at: a bound on the work that a hostile line can ask for. */
const MAX_PASSES = 64;

/** Types of the blocks of a message's content, which a torn record is full of. */
const BLOCK_TYPES: ReadonlySet<string> = new Set(["text", "image", "thinking", "toolCall"]);

/**
 * Searches a line that does not parse for whole records: several on one line, or one behind the rest of a torn one.
 *
 * What stands at the front of the line, or directly behind another record, needs little more than a type to be one.
 * Elsewhere it may be an object inside a torn record, and must look like an entry or a header.
 *
 * @param bytes - The line, and nothing else.
 * @returns The records in order; empty if there are none.
 * @remarks Cost: O(bytes) for records side by side, O(64 · bytes) at worst.
 */
export function recoverRecords(bytes: Uint8Array): RecoveredRecord[] {
  const found: RecoveredRecord[] = [];
  let bytesLeft = MAX_PASSES * bytes.length;
  let border = 0;
  let at = nextRecordStart(bytes, border, true);
  while (at !== -1 && bytesLeft > 0) {
    const close = endOfObject(bytes, at);
    bytesLeft -= (close === -1 ? bytes.length : close) - at;
    const record = close === -1 ? undefined : decodeRecord(bytes.subarray(at, close));
    const isAtBorder = skipBlank(bytes, border, bytes.length) === at;
    if (record !== undefined && (isAtBorder ? isRecordAtBorder(record) : looksLikeRecord(record))) {
      found.push({ start: at, end: close, record });
      border = close;
      at = nextRecordStart(bytes, border, true);
    } else {
      at = nextRecordStart(bytes, at + 1, false);
    }
  }
  return found;
}

/**
 * Finds the record that a line begins with, whatever stands behind it; undefined if there is none, or it is not whole.
 *
 * @remarks Cost: O(bytes).
 */
export function recordInFront(bytes: Uint8Array): RecoveredRecord | undefined {
  const start = skipBlank(bytes, 0, bytes.length);
  const end = bytes[start] === OPEN_BRACE ? endOfObject(bytes, start) : -1;
  const record = end === -1 ? undefined : decodeRecord(bytes.subarray(start, end));
  return record !== undefined && isRecordAtBorder(record) ? { start, end, record } : undefined;
}

/** Tells whether what stands where a record must begin is one: it has a type, and is no block of content. */
function isRecordAtBorder(record: JsonRecord): boolean {
  const { type } = record;
  return (typeof type === "string" && !BLOCK_TYPES.has(type)) || looksLikeRecord(record);
}

/** Tells a record of a session from an object inside one: it has a type, a time, and its place in the tree or a known name. */
function looksLikeRecord(record: JsonRecord): boolean {
  const { type, id, timestamp } = record;
  if (typeof type !== "string") return false;
  if (type === "session") return typeof id === "string";
  if (typeof timestamp !== "string" && typeof timestamp !== "number") return false;
  return (typeof id === "string" && Object.hasOwn(record, "parentId")) || isKnownEntryType(type);
}

/**
 * Finds the next `{` behind which a key of a record stands.
 *
 * @param isBorder - Whether a `{` at `start`, blanks left out, counts whatever stands behind it.
 */
function nextRecordStart(bytes: Uint8Array, start: number, isBorder: boolean): number {
  const first = isBorder ? skipBlank(bytes, start, bytes.length) : -1;
  for (let at = bytes.indexOf(OPEN_BRACE, start); at !== -1; at = bytes.indexOf(OPEN_BRACE, at + 1)) {
    if (at === first) return at;
    const key = skipBlank(bytes, at + 1, Math.min(bytes.length, at + 40));
    if (bytes[key] !== QUOTE) continue;
    const text = String.fromCharCode(...bytes.subarray(key, key + 40));
    if (/^"(?:type|id|parentId|timestamp|customType|message)"\s*:/.test(text)) return at;
  }
  return -1;
}

/** The first place at or after `start` that is neither white space nor a zero byte; `end` if there is none. */
function skipBlank(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && isBlank(bytes[at] ?? 0)) at++;
  return at;
}

/** Space, tab, CR, and zero bytes, which a power cut leaves between records. */
function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0;
}

/** One past the brace that closes the object at `start`, or -1. */
function endOfObject(bytes: Uint8Array, start: number): number {
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
