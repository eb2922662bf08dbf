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

/** More than a line of records that were glued by accident; a bound on the work that a hostile line can ask for. */
const MAX_ATTEMPTS = 64;

/**
 * Searches a line that does not parse for whole records: several on one line, or one behind the rest of a torn one.
 *
 * @returns The records in order; empty if there are none.
 * @remarks Cost: O(bytes) for records side by side, O(64 · bytes) at worst.
 */
export function recoverRecords(bytes: Uint8Array, start: number, end: number): RecoveredRecord[] {
  const found: RecoveredRecord[] = [];
  let at = nextRecordStart(bytes, start, end);
  for (let attempts = 0; at !== -1 && attempts < MAX_ATTEMPTS; attempts++) {
    const close = endOfObject(bytes, at, end);
    const record = close === -1 ? undefined : decodeRecord(bytes.subarray(at, close));
    if (record !== undefined && looksLikeRecord(record)) {
      found.push({ start: at, end: close, record });
      at = nextRecordStart(bytes, close, end);
      attempts = 0;
    } else {
      at = nextRecordStart(bytes, at + 1, end);
    }
  }
  return found;
}

/** Tells a record of a session from an object inside one: it has a type, a time, and its place in the tree or a known name. */
function looksLikeRecord(record: JsonRecord): boolean {
  const { type, id, timestamp } = record;
  if (typeof type !== "string") return false;
  if (type === "session") return typeof id === "string";
  if (typeof timestamp !== "string" && typeof timestamp !== "number") return false;
  return (typeof id === "string" && "parentId" in record) || isKnownEntryType(type);
}

/** Finds the next `{` behind which `"type"` or `"id"` stands, blocks of a message's content left out. */
function nextRecordStart(bytes: Uint8Array, start: number, end: number): number {
  for (
    let at = bytes.indexOf(OPEN_BRACE, start);
    at !== -1 && at < end;
    at = bytes.indexOf(OPEN_BRACE, at + 1)
  ) {
    let key = at + 1;
    while (key < end && bytes[key] === 0x20) key++;
    if (bytes[key] !== QUOTE) continue;
    const text = String.fromCharCode(...bytes.subarray(key, Math.min(end, key + 40)));
    if (/^"(?:id|parentId|timestamp|customType|message)"\s*:/.test(text)) return at;
    if (/^"type"\s*:\s*"(?!(?:text|image|thinking|toolCall)")/.test(text)) return at;
  }
  return -1;
}

/** One past the brace that closes the object at `start`, or -1. */
function endOfObject(bytes: Uint8Array, start: number, end: number): number {
  let depth = 0;
  let isInString = false;
  for (let i = start; i < end; i++) {
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
