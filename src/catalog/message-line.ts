import { holdsTime } from "./message-bytes.ts";

const QUOTE = 0x22;
const DOT = 0x2e;
const DIGIT_0 = 0x30;
const COLON = 0x3a;
const LETTER_T = 0x54;
const LETTER_Z = 0x5a;
const WORD = 4;

/** A text, as words to compare with; the last one may begin inside the one before. */
interface Spelling {
  readonly length: number;
  readonly words: Int32Array;
}

function spelling(text: string): Spelling {
  const bytes = new TextEncoder().encode(text);
  const view = new DataView(bytes.buffer);
  const { length } = bytes;
  const starts = Array.from({ length: Math.ceil(length / WORD) }, (_, i) =>
    Math.min(i * WORD, length - WORD),
  );
  return { length, words: Int32Array.from(starts, (start) => view.getInt32(start, true)) };
}

const BEFORE_ID = spelling(`{"type":"message","id":"`);
const BEFORE_PARENT = spelling(`","parentId":"`);
const BEFORE_TIME = spelling(`","timestamp":"`);
const BEFORE_ROLE = spelling(`","message":{"role":"`);
const USER = spelling(`user"`);
const ASSISTANT = spelling(`assistant"`);
const BEFORE_NUMBER = spelling(`,"timestamp":`);

const ID_BYTES = 8;
const TIME_BYTES = 24;
const NUMBER_BYTES = 13;

const PARENT_AT = BEFORE_ID.length + ID_BYTES + BEFORE_PARENT.length;
const TIME_AT = PARENT_AT + ID_BYTES + BEFORE_TIME.length;
const ROLE_AT = TIME_AT + TIME_BYTES + BEFORE_ROLE.length;

/** What stands behind the body: a message's own time, in milliseconds of today's length, and two braces. */
const TAIL_BYTES = BEFORE_NUMBER.length + NUMBER_BYTES + 2;
const BRACES = 0x7d7d;

const MIN_BYTES = ROLE_AT + ASSISTANT.length + TAIL_BYTES;

/** Bytes from the role on in which other keys stand, and what is searched at least behind a long text. */
const FIRST_BYTES = 64;
const NEXT_BYTES = 256;

/** A text that is so long is worth a call of its own to find its end. */
const LONG_TEXT_BYTES = 256;

/** The value of each hexadecimal digit in lower case; -1 for other bytes. */
const HEX_VALUES = new Int8Array(256).fill(-1);
for (let i = 0; i < 16; i++) HEX_VALUES[i.toString(16).charCodeAt(0)] = i;

/**
 * Reads a message from its line, if all of it is where the usual writer puts it: ids of eight hexadecimal characters,
 * the time of the entry in front, that of the message at the very end, and no other time in between.
 *
 * That is how nearly every line of a list's files is spelled, so this is the hot loop of listing. It says the same as
 * `EntryHeadReader`, `roleInFront` and `timeInBody` together, which read every other spelling, and looks at words
 * rather than bytes; the text of a message, most of its line, is passed over by the system's own search for its end.
 */
export class MessageLineReader {
  id = 0;
  parent = 0;
  /** Unix milliseconds of the entry. */
  entryMs = 0;
  /** Unix milliseconds of the message. */
  bodyMs = 0;
  role: "user" | "assistant" | "other" = "other";

  #bytes: Buffer = Buffer.alloc(0);
  #array: Uint8Array = this.#bytes;
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** The day that was read last, as three words of its spelling, and its first millisecond. */
  readonly #day = new Int32Array(3);
  #dayMs = Number.NaN;

  /** Takes the bytes that lines will be read from, as a Buffer and as an array. */
  look(bytes: Buffer, array: Uint8Array): void {
    this.#bytes = bytes;
    this.#array = array;
    this.#view = new DataView(array.buffer, array.byteOffset, array.length);
  }

  /** Reads the line at `[start, end)`, line break excluded; false if it takes another way to read it. */
  read(start: number, end: number): boolean {
    if (end - start < MIN_BYTES) return false;
    const isSpelledSo =
      this.#stands(BEFORE_ID, start) &&
      this.#stands(BEFORE_PARENT, start + PARENT_AT - BEFORE_PARENT.length) &&
      this.#stands(BEFORE_TIME, start + TIME_AT - BEFORE_TIME.length) &&
      this.#stands(BEFORE_ROLE, start + ROLE_AT - BEFORE_ROLE.length);
    if (!isSpelledSo) return false;
    this.#readRole(start + ROLE_AT);
    const tail = end - TAIL_BYTES;
    return (
      this.#readIds(start) &&
      this.#readEntryTime(start + TIME_AT) &&
      this.#readTail(tail) &&
      // The quote in front of the role is where a key could begin.
      !this.#holdsOtherTime(start + ROLE_AT - 1, tail)
    );
  }

  #stands({ length, words }: Spelling, at: number): boolean {
    const view = this.#view;
    const last = words.length - 1;
    for (let i = 0; i < last; i++) if (view.getInt32(at + i * WORD, true) !== words[i]) return false;
    return view.getInt32(at + length - WORD, true) === words[last];
  }

  #readIds(start: number): boolean {
    const array = this.#array;
    let [id, parent, bad] = [0, 0, 0];
    for (let i = 0; i < ID_BYTES; i++) {
      const idDigit = HEX_VALUES[array[start + BEFORE_ID.length + i] ?? 0] ?? -1;
      const parentDigit = HEX_VALUES[array[start + PARENT_AT + i] ?? 0] ?? -1;
      id = (id << 4) | idDigit;
      parent = (parent << 4) | parentDigit;
      bad |= idDigit | parentDigit;
    }
    this.id = id >>> 0;
    this.parent = parent >>> 0;
    return bad >= 0;
  }

  /** Reads `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
  #readEntryTime(at: number): boolean {
    const array = this.#array;
    const isSpelledSo =
      array[at + 10] === LETTER_T &&
      array[at + 13] === COLON &&
      array[at + 16] === COLON &&
      array[at + 19] === DOT &&
      array[at + 23] === LETTER_Z;
    if (!isSpelledSo || !this.#readDay(at)) return false;
    const hour = this.#digits(at + 11, 2);
    const minute = this.#digits(at + 14, 2);
    const second = this.#digits(at + 17, 2);
    const rest = this.#digits(at + 20, 3);
    this.entryMs = this.#dayMs + ((hour * 60 + minute) * 60 + second) * 1000 + rest;
    return hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59 && second >= 0 && second <= 59 && rest >= 0;
  }

  #readDay(at: number): boolean {
    const view = this.#view;
    const day = this.#day;
    const [year, month, date] = [
      view.getInt32(at, true),
      view.getInt32(at + 4, true),
      view.getInt32(at + 6, true),
    ];
    if (year === day[0] && month === day[1] && date === day[2]) return true;
    const text = this.#bytes.toString("latin1", at, at + 10);
    const ms = Date.parse(`${text}T00:00:00.000Z`);
    // A day that no calendar knows is left to others.
    if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== text) return false;
    day.set([year, month, date]);
    this.#dayMs = ms;
    return true;
  }

  #readTail(at: number): boolean {
    const digits = at + BEFORE_NUMBER.length;
    if (!this.#stands(BEFORE_NUMBER, at)) return false;
    if (this.#view.getInt16(digits + NUMBER_BYTES, true) !== BRACES) return false;
    // Two numbers, since engines count in 32 bits for as long as they can.
    const high = this.#digits(digits, 6);
    const low = this.#digits(digits + 6, 7);
    this.bodyMs = high * 10_000_000 + low;
    return high >= 0 && low >= 0;
  }

  #readRole(at: number): void {
    this.role = this.#stands(USER, at) ? "user" : this.#stands(ASSISTANT, at) ? "assistant" : "other";
  }

  /** The number that so many digits write, at most nine; negative if a byte is none. */
  #digits(at: number, length: number): number {
    const array = this.#array;
    let [value, bad] = [0, 0];
    for (let i = at; i < at + length; i++) {
      const digit = (array[i] ?? 0) - DIGIT_0;
      bad |= digit | (9 - digit);
      value = value * 10 + digit;
    }
    return bad < 0 ? -1 : value;
  }

  /**
   * Whether a body may have another time than the one at its end.
   *
   * Where the text of a message begins the next quote is far, and nothing before it can be a key; among other keys it
   * is near, and a search for the key itself is quicker.
   */
  #holdsOtherTime(from: number, tail: number): boolean {
    let at = from;
    let length = FIRST_BYTES;
    while (at + length < tail) {
      const limit = at + length;
      if (holdsTime(this.#array, at, limit, tail)) return true;
      at = this.#bytes.indexOf(QUOTE, limit);
      length = at - limit < LONG_TEXT_BYTES ? Math.max(2 * length, NEXT_BYTES) : NEXT_BYTES;
    }
    return holdsTime(this.#array, at, tail, tail);
  }
}
