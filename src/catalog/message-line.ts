import { ISO_LENGTH, IsoMillisReader } from "../jsonl/iso-millis.ts";
import { hexValue, spelling, standsAt, WORD } from "../jsonl/spelled-words.ts";
import { holdsTime } from "./message-bytes.ts";

const QUOTE = 0x22;
const DIGIT_0 = 0x30;

const BEFORE_ID = spelling(`{"type":"message","id":"`);
const BEFORE_PARENT = spelling(`","parentId":"`);
const BEFORE_TIME = spelling(`","timestamp":"`);
const BEFORE_ROLE = spelling(`","message":{"role":"`);
/** `user`, behind which a quote comes. */
const USER = 0x75736572;
const USER_BYTES = WORD + 1;
const ASSISTANT = spelling(`assistant"`);
const BEFORE_TEXT = spelling(`,"content":[{"type":"text","text":"`);
const BEFORE_NUMBER = spelling(`,"timestamp":`);

const ID_BYTES = 8;
const NUMBER_BYTES = 13;

const ID_AT = BEFORE_ID.length;
const PARENT_AT = ID_AT + ID_BYTES + BEFORE_PARENT.length;
const TIME_AT = PARENT_AT + ID_BYTES + BEFORE_TIME.length;
const ROLE_AT = TIME_AT + ISO_LENGTH + BEFORE_ROLE.length;

/** What stands behind the body: a message's own time, in milliseconds of today's length, and two braces. */
const TAIL_BYTES = BEFORE_NUMBER.length + NUMBER_BYTES + 2;
const BRACES = 0x7d7d;

const MIN_BYTES = ROLE_AT + ASSISTANT.length + TAIL_BYTES;

/** Of a number, the digits that messages have in common which are less than 100 seconds apart. */
const HIGH_DIGITS = 8;
const LOW_DIGITS = NUMBER_BYTES - HIGH_DIGITS;
const HIGH_UNIT_MS = 10 ** LOW_DIGITS;

/** A text that is so long is worth a call of its own to find its end. */
const LONG_TEXT_BYTES = 256;

/** Bytes that are searched for another time before the next quote is looked for. */
const SEARCHED_BYTES = 256;

/**
 * Reads a message from its line, if all of it is where the usual writer puts it: ids of eight hexadecimal characters,
 * the time of the entry in front, that of the message at the very end, and no other time in between.
 *
 * That is how nearly every line of a list's files is spelled, so this is the hot loop of listing. It says the same as
 * `EntryHeadReader`, `roleInFront` and `timeInBody` together, which read every other spelling. It looks at words rather
 * than bytes, takes over what the line before spelled in the same words, and passes over the text of a message, most of
 * its line, by the system's own search for its end.
 */
export class MessageLineReader {
  /** Ids as signed numbers of 32 bits, which take no memory of their own. */
  id = 0;
  parent = 0;
  role: "user" | "assistant" | "other" = "other";
  /** Unix milliseconds of the entry, and of its message; in an array, since what is read from a field is an object. */
  readonly times = new Float64Array(2);
  /** The bytes that lines are read from. */
  array: Uint8Array = new Uint8Array(0);

  #bytes: Buffer = Buffer.alloc(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** The last id as words. */
  #idHigh = 0x30303030;
  #idLow = 0x30303030;
  readonly #isoMillis = new IsoMillisReader();
  /** The last high digits of a number as words, and what they amount to. */
  readonly #high = new Int32Array(2);
  #highMs = Number.NaN;

  /** Takes the bytes that lines will be read from. */
  look(bytes: Buffer): void {
    this.#bytes = bytes;
    const { buffer, byteOffset } = bytes;
    // Files are read into the same memory, one after the other.
    if (this.array.buffer === buffer && this.array.byteOffset === byteOffset) return;
    this.array = new Uint8Array(buffer, byteOffset);
    this.#view = new DataView(buffer, byteOffset);
  }

  /** Reads the line at `[start, end)`, line break excluded; false if it takes another way to read it. */
  read(start: number, end: number): boolean {
    if (end - start < MIN_BYTES) return false;
    const view = this.#view;
    const tail = end - TAIL_BYTES;
    return (
      standsAt(view, start, end, BEFORE_ID) &&
      standsAt(view, start + PARENT_AT - BEFORE_PARENT.length, end, BEFORE_PARENT) &&
      standsAt(view, start + TIME_AT - BEFORE_TIME.length, end, BEFORE_TIME) &&
      standsAt(view, start + ROLE_AT - BEFORE_ROLE.length, end, BEFORE_ROLE) &&
      standsAt(view, tail, end, BEFORE_NUMBER) &&
      view.getInt16(end - 2) === BRACES &&
      this.#readIds(start) &&
      this.#readEntryTime(start + TIME_AT) &&
      this.#readNumber(tail + BEFORE_NUMBER.length) &&
      !this.#holdsOtherTime(this.#readRole(start + ROLE_AT, tail), tail)
    );
  }

  #readIds(start: number): boolean {
    const view = this.#view;
    const parentHigh = view.getInt32(start + PARENT_AT);
    const parentLow = view.getInt32(start + PARENT_AT + WORD);
    // Most entries follow the one before them.
    if (parentHigh === this.#idHigh && parentLow === this.#idLow) this.parent = this.id;
    else {
      const high = hexValue(parentHigh);
      const low = hexValue(parentLow);
      if (high === -1 || low === -1) return false;
      this.parent = (high << 16) | low;
    }
    const idHigh = view.getInt32(start + ID_AT);
    const idLow = view.getInt32(start + ID_AT + WORD);
    const high = hexValue(idHigh);
    const low = hexValue(idLow);
    if (high === -1 || low === -1) return false;
    this.#idHigh = idHigh;
    this.#idLow = idLow;
    this.id = (high << 16) | low;
    return true;
  }

  #readEntryTime(at: number): boolean {
    const ms = this.#isoMillis.read(this.#view, at);
    this.times[0] = ms;
    return !Number.isNaN(ms);
  }

  #readNumber(at: number): boolean {
    const high0 = this.#view.getInt32(at);
    const high1 = this.#view.getInt32(at + WORD);
    if (high0 !== this.#high[0] || high1 !== this.#high[1]) {
      const high = this.#digits(at, HIGH_DIGITS);
      if (high < 0) return false;
      this.#highMs = high * HIGH_UNIT_MS;
      this.#high[0] = high0;
      this.#high[1] = high1;
    }
    const low = this.#digits(at + HIGH_DIGITS, LOW_DIGITS);
    this.times[1] = this.#highMs + low;
    return low >= 0;
  }

  /** The number that so many digits write, at most nine; -1 if a byte is none. */
  #digits(at: number, length: number): number {
    const array = this.array;
    let value = 0;
    let bad = 0;
    for (let i = at; i < at + length; i++) {
      const digit = (array[i] ?? 0) - DIGIT_0;
      bad |= digit | (9 - digit);
      value = value * 10 + digit;
    }
    return bad < 0 ? -1 : value;
  }

  /** Reads the role; gives from where on the body may hold another time. */
  #readRole(at: number, tail: number): number {
    const isUser = this.#view.getInt32(at) === USER && this.array[at + WORD] === QUOTE;
    const isAssistant = !isUser && standsAt(this.#view, at, tail, ASSISTANT);
    this.role = isUser ? "user" : isAssistant ? "assistant" : "other";
    // The quote in front of a role is where a key could begin.
    const front = at - 1;
    if (!isUser && !isAssistant) return front;
    const content = at + (isUser ? USER_BYTES : ASSISTANT.length);
    const text = content + BEFORE_TEXT.length;
    if (!standsAt(this.#view, content, tail, BEFORE_TEXT)) return front;
    const quote = this.#bytes.indexOf(QUOTE, text);
    return quote - text < LONG_TEXT_BYTES ? front : quote;
  }

  /**
   * Whether a body may have another time than the one at its end.
   *
   * Among keys the next quote is near, and a search for the key of a time is the quickest; in a long text it is far, and
   * nothing before it can be a key.
   */
  #holdsOtherTime(from: number, tail: number): boolean {
    let at = from;
    let length = SEARCHED_BYTES;
    while (at + length < tail) {
      const limit = at + length;
      if (holdsTime(this.array, at, limit, tail)) return true;
      // There is one: the tail has some.
      at = this.#bytes.indexOf(QUOTE, limit);
      length = at - limit < LONG_TEXT_BYTES ? 2 * length : SEARCHED_BYTES;
    }
    return holdsTime(this.array, at, tail, tail);
  }
}
