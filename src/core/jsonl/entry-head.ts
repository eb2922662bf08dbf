import { KNOWN_ENTRY_TYPES } from "../format/entry.ts";
import { type IdKey, toIdKey } from "../format/id-key.ts";
import { BytePattern, MAX_HELD_BYTES } from "./byte-pattern.ts";
import { getHexValue, isAt, toDataView, toSpelling, WORD } from "./escaped-words.ts";
import { ISO_LENGTH, IsoMillisReader } from "./iso-time.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const CLOSE_BRACE = 0x7d;
const MAX_ID_BYTES = 256;

/** Text before the id for each known type. */
const OPENINGS = KNOWN_ENTRY_TYPES.map((type) => ({ type, front: toSpelling(`{"type":"${type}","id":"`) }));

/** Names of the known types. All lines share the same string objects. */
export const USUAL_TYPES: ReadonlyMap<string, string> = new Map(OPENINGS.map(({ type }) => [type, type]));

const AFTER_ID = toSpelling(`,"parentId":`);
const AFTER_PARENT = toSpelling(`,"timestamp":"`);

/** `null` as a 32-bit number. */
const NULL = 0x6e756c6c;

/** Occurs if a line contains a second record in the usual form. Inside a string, its quotes would be escaped. */
export const USUAL_TIME_FIELD = `"timestamp":"`;

const USUAL_TIME = BytePattern.of(USUAL_TIME_FIELD);

/** The field name in any form. Bodies may also contain it. */
const ANY_TIME = BytePattern.of(`"timestamp"`);

/**
 * Reads the head at the start of a line from its bytes, without parsing the body.
 *
 * Supports only the output of `JSON.stringify` with the base fields in their usual order. All other lines require `JSON.parse`.
 * Because this is the hot loop when opening a session, it compares bytes and stores results in fields.
 */
export class EntryHeadReader {
  type = "";
  id: IdKey = 0;
  parent: IdKey | null = null;
  timestampMs = 0;
  /** Offset after the head, where the body begins. */
  bodyStart = 0;

  #at = 0;
  #viewed: Uint8Array | undefined;
  #view = toDataView(new Uint8Array(0));
  readonly #isoMillis = new IsoMillisReader();

  /** Reads the head of the line in `bytes[start, end)`. Returns false if the head is not in the usual form. */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    const view = this.#look(bytes);
    if (!this.#readOpening(view, start, end)) return false;
    const id = this.#readId(bytes, view, this.#at, end);
    if (id === undefined || id === "" || !isAt(view, this.#at, end, AFTER_ID)) return false;
    this.id = id;
    if (!this.#readParent(bytes, view, this.#at + AFTER_ID.length, end)) return false;
    if (!isAt(view, this.#at, end, AFTER_PARENT)) return false;
    return this.#readTimestamp(bytes, view, this.#at + AFTER_PARENT.length, end);
  }

  /** Returns a view of bytes. Caches the latest view unless it is large, because many lines share a buffer. */
  #look(bytes: Uint8Array): DataView {
    if (bytes === this.#viewed) return this.#view;
    const view = toDataView(bytes);
    if (bytes.buffer.byteLength > MAX_HELD_BYTES) return view;
    this.#viewed = bytes;
    this.#view = view;
    return view;
  }

  #readOpening(view: DataView, start: number, end: number): boolean {
    for (const { type, front } of OPENINGS) {
      if (!isAt(view, start, end, front)) continue;
      this.type = type;
      this.#at = start + front.length;
      return true;
    }
    return false;
  }

  #readParent(bytes: Uint8Array, view: DataView, at: number, end: number): boolean {
    if (bytes[at] === QUOTE) {
      const parent = this.#readId(bytes, view, at + 1, end);
      if (parent === undefined) return false;
      this.parent = parent;
      return true;
    }
    this.parent = null;
    this.#at = at + WORD;
    return this.#at <= end && view.getInt32(at) === NULL;
  }

  /** Reads a string up to its closing quote, and moves `#at` past the quote. */
  #readId(bytes: Uint8Array, view: DataView, start: number, end: number): IdKey | undefined {
    if (start + 8 < end && bytes[start + 8] === QUOTE) {
      const high = getHexValue(view.getInt32(start));
      const low = getHexValue(view.getInt32(start + WORD));
      if (high !== -1 && low !== -1) {
        this.#at = start + 9;
        return (high << 16) | low;
      }
    }
    const text = readPlainString(bytes, start, Math.min(end, start + MAX_ID_BYTES));
    if (text === undefined) return undefined;
    this.#at = start + text.length + 1;
    return toIdKey(text);
  }

  #readTimestamp(bytes: Uint8Array, view: DataView, start: number, end: number): boolean {
    let close = start + ISO_LENGTH;
    this.timestampMs = close < end && bytes[close] === QUOTE ? this.#isoMillis.read(view, start) : Number.NaN;
    if (Number.isNaN(this.timestampMs)) {
      const text = readPlainString(bytes, start, Math.min(end, start + MAX_ID_BYTES));
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

/** Head at the start of a line. */
export interface StatedHead {
  readonly type: string;
  readonly id: IdKey;
  readonly parent: IdKey | null;
  readonly timestampMs: number;
}

/**
 * Returns a pattern for strings that `EntryHeadReader` reads: printable ASCII characters without escapes, up to the maximum
 * length.
 */
const makePlainTextPattern = (min: number) => `([ !#-\\[\\]-~]{${min},${MAX_ID_BYTES - 1}})`;

/** Matches a whole string that `EntryHeadReader` reads. */
export const USUAL_PLAIN: RegExp = new RegExp(`^${makePlainTextPattern(1)}$`);

/** Matches the beginning of a line that `EntryHeadReader` reads. */
export const USUAL_FRONT: RegExp = new RegExp(
  `^\\{"type":"(${OPENINGS.map(({ type }) => type).join("|")})","id":"${makePlainTextPattern(1)}",` +
    `"parentId":(?:null|"${makePlainTextPattern(0)}"),"timestamp":"${makePlainTextPattern(0)}"(?:,|\\}$)`,
);

/**
 * Returns whether the body of a line may contain another head, as in concatenated records.
 *
 * @param isMixed - Whether the file has lines in another form. If so, any time field except the message's own is treated as
 * another head. Otherwise, only heads in the usual form are considered, because they are faster to find.
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

/** Returns the string up to the next quote if it is plain ASCII without escapes. */
function readPlainString(bytes: Uint8Array, start: number, limit: number): string | undefined {
  let text = "";
  for (let i = start; i < limit; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === QUOTE) return text;
    if (byte < 0x20 || byte > 0x7e || byte === BACKSLASH) return undefined;
    text += String.fromCharCode(byte);
  }
  return undefined;
}
