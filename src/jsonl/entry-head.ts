import { type IdKey, idKeyOf } from "../schema/id-key.ts";
import { ByteSearch, startsWith } from "./byte-search.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const CLOSE_BRACE = 0x7d;
const MAX_ID_BYTES = 256;
const ISO_LENGTH = 24;

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** What stands before the id for each known type; the most frequent first. */
const OPENINGS = [
  "message",
  "custom_message",
  "custom",
  "compaction",
  "model_change",
  "thinking_level_change",
  "label",
  "branch_summary",
  "session_info",
  "usage",
  "context_edit",
].map((type) => ({ type, bytes: bytesOf(`{"type":"${type}","id":"`) }));

const AFTER_ID = bytesOf(`,"parentId":`);
const NULL = bytesOf("null");
const AFTER_PARENT = bytesOf(`,"timestamp":"`);

/** What a second record inside a line holds if it is spelled as usual. Inside a text its quotes would be escaped. */
const USUAL_TIME = new ByteSearch(`"timestamp":"`);

/** The same in any spelling; but bodies hold it too. */
const ANY_TIME = new ByteSearch(`"timestamp"`);

/**
 * Reads the head at the front of a line from its bytes, without parsing the body.
 *
 * It knows one spelling, the one that JSON.stringify gives to the base fields in their usual order, and leaves every
 * other line to `JSON.parse`. This is the hot loop of opening a session; that is why it compares bytes and keeps its
 * findings in fields.
 */
export class EntryHeadReader {
  type = "";
  id: IdKey = 0;
  parent: IdKey | null = null;
  timestampMs = 0;
  /** One past the head: where the body begins. */
  bodyStart = 0;

  #at = 0;

  /** Reads the head of the line in `bytes[start, end)`; false if it is not in the usual spelling. */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    const opening = OPENINGS.find((one) => startsWith(bytes, start, end, one.bytes));
    if (opening === undefined) return false;
    this.type = opening.type;
    const id = this.#readId(bytes, start + opening.bytes.length, end);
    if (id === undefined || id === "" || !startsWith(bytes, this.#at, end, AFTER_ID)) return false;
    this.id = id;
    if (!this.#readParent(bytes, this.#at + AFTER_ID.length, end)) return false;
    if (!startsWith(bytes, this.#at, end, AFTER_PARENT)) return false;
    return this.#readTimestamp(bytes, this.#at + AFTER_PARENT.length, end);
  }

  #readParent(bytes: Uint8Array, at: number, end: number): boolean {
    if (bytes[at] === QUOTE) {
      const parent = this.#readId(bytes, at + 1, end);
      if (parent === undefined) return false;
      this.parent = parent;
      return true;
    }
    this.parent = null;
    this.#at = at + NULL.length;
    return startsWith(bytes, at, end, NULL);
  }

  /** Reads a string up to its quote and leaves `#at` behind it. */
  #readId(bytes: Uint8Array, start: number, end: number): IdKey | undefined {
    if (start + 8 < end && bytes[start + 8] === QUOTE) {
      const key = hexKey(bytes, start);
      if (key !== -1) {
        this.#at = start + 9;
        return key;
      }
    }
    const text = plainString(bytes, start, Math.min(end, start + MAX_ID_BYTES));
    if (text === undefined) return undefined;
    this.#at = start + text.length + 1;
    return idKeyOf(text);
  }

  #readTimestamp(bytes: Uint8Array, start: number, end: number): boolean {
    let close = start + ISO_LENGTH;
    this.timestampMs = close < end && bytes[close] === QUOTE ? isoMillis(bytes, start) : Number.NaN;
    if (Number.isNaN(this.timestampMs)) {
      const text = plainString(bytes, start, Math.min(end, start + MAX_ID_BYTES));
      if (text === undefined) return false;
      close = start + text.length;
      this.timestampMs = Date.parse(text);
    }
    this.bodyStart = close + 1;
    const isLast = this.bodyStart + 1 === end;
    return (
      this.bodyStart < end &&
      (bytes[this.bodyStart] === COMMA || (isLast && bytes[this.bodyStart] === CLOSE_BRACE))
    );
  }
}

/**
 * Tells whether the body of a line seems to hold another head, as when two records were glued together.
 *
 * @param isMixed - Whether somebody writes to the file whose spelling is another. Then whatever is more than a
 *   message's own time is left to `JSON.parse`; else the faster search does, which finds heads in the usual spelling.
 */
export function mayHoldSecondHead(
  bytes: Uint8Array,
  head: EntryHeadReader,
  end: number,
  isMixed: boolean,
): boolean {
  if (!isMixed) return USUAL_TIME.find(bytes, head.bodyStart, end) !== -1;
  const first = ANY_TIME.find(bytes, head.bodyStart, end);
  if (first === -1) return false;
  const behind = first + ANY_TIME.length;
  const isOwn = head.type === "message" && bytes[behind] === COLON && isDigit(bytes[behind + 1]);
  return !isOwn || ANY_TIME.find(bytes, behind, end) !== -1;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

/** The number that eight lower-case hex characters write, or -1. */
function hexKey(bytes: Uint8Array, start: number): number {
  let key = 0;
  for (let i = start; i < start + 8; i++) {
    const byte = bytes[i] ?? 0;
    const digit =
      byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : -1;
    if (digit === -1) return -1;
    key = key * 16 + digit;
  }
  return key;
}

/** The text up to the next quote, if it is plain ASCII without escapes. */
function plainString(bytes: Uint8Array, start: number, limit: number): string | undefined {
  let text = "";
  for (let i = start; i < limit; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === QUOTE) return text;
    if (byte < 0x20 || byte > 0x7e || byte === BACKSLASH) return undefined;
    text += String.fromCharCode(byte);
  }
  return undefined;
}

/** By number of the month; without the 29th of February. */
const DAYS_IN_MONTH = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** The day that was read last, as its spelling and its first millisecond: most entries are of the day before them. */
const lastDay = { spelling: -1, startMs: Number.NaN };

/** Unix milliseconds of `YYYY-MM-DDTHH:MM:SS.mmmZ`, or NaN if it is spelled otherwise. */
function isoMillis(bytes: Uint8Array, start: number): number {
  const isSpelledSo =
    bytes[start + 4] === 0x2d &&
    bytes[start + 7] === 0x2d &&
    bytes[start + 10] === 0x54 &&
    bytes[start + 13] === 0x3a &&
    bytes[start + 16] === 0x3a &&
    bytes[start + 19] === 0x2e &&
    bytes[start + 23] === 0x5a;
  if (!isSpelledSo) return Number.NaN;
  const spelling =
    digits(bytes, start, 4) * 10_000 + digits(bytes, start + 5, 2) * 100 + digits(bytes, start + 8, 2);
  if (spelling !== lastDay.spelling) {
    lastDay.startMs = startOfDay(spelling);
    lastDay.spelling = spelling;
  }
  const hour = digits(bytes, start + 11, 2);
  const minute = digits(bytes, start + 14, 2);
  const second = digits(bytes, start + 17, 2);
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return Number.NaN;
  return lastDay.startMs + ((hour * 60 + minute) * 60 + second) * 1000 + digits(bytes, start + 20, 3);
}

/** First millisecond of the day that is spelled as a number `YYYYMMDD`; NaN for what is left to `Date.parse`. */
function startOfDay(spelling: number): number {
  const [year, month, day] = [
    Math.floor(spelling / 10_000),
    Math.floor(spelling / 100) % 100,
    spelling % 100,
  ];
  const isOrdinary = year >= 100 && day >= 1 && day <= (DAYS_IN_MONTH[month] ?? 0);
  return isOrdinary ? Date.UTC(year, month - 1, day) : Number.NaN;
}

/** The number that so many digits write, or NaN. */
function digits(bytes: Uint8Array, start: number, length: number): number {
  let value = 0;
  for (let i = start; i < start + length; i++) {
    const digit = (bytes[i] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}
