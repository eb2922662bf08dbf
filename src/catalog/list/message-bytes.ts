import { BytePattern, MAX_HELD_BYTES } from "../../core/jsonl/byte-pattern.ts";
import { spelling, standsAt, viewOf } from "../../core/jsonl/escaped-words.ts";

const BEFORE_ROLE = spelling(`,"message":{"role":"`);
const USER = spelling(`"role":"user"`);
const ASSISTANT = spelling(`"role":"assistant"`);
const BEFORE_TEXT = spelling(`,"content":[{"type":"text","text":"`);
const TIMESTAMP = BytePattern.of(`"timestamp"`);

/** Where the role begins behind a head. */
const ROLE_AT = `,"message":{`.length;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const CLOSE_BRACE = 0x7d;

/** A longer number may not be exact. */
const MAX_DIGITS = 15;

const NO_BYTES = new Uint8Array(0);

/**
 * Reads from the bytes behind an entry's head what a list needs of its message, without parsing them.
 *
 * Findings are kept in fields, since this is the hot loop of listing.
 */
export class MessageBodyReader {
  /** Read where every known writer puts it; `other` for all other roles, undefined if only a parse can tell. */
  role: "user" | "assistant" | "other" | undefined;
  /** The bytes that were read last, as a view that reads words and as a buffer that finds bytes. */
  #held: Uint8Array = NO_BYTES;
  #view = viewOf(NO_BYTES);
  #buffer: Buffer = Buffer.alloc(0);

  /** Reads the role, and returns the time behind the head as `timeInBody` does. */
  read(bytes: Uint8Array, from: number, end: number): number {
    this.#look(bytes);
    return timeInBody(bytes, this.#readRole(from, end), end, true);
  }

  /** Most lines stand in the same bytes; large buffers are not held on to. */
  #look(bytes: Uint8Array): void {
    if (bytes === this.#held) return;
    this.#view = viewOf(bytes);
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#held = bytes.buffer.byteLength > MAX_HELD_BYTES ? NO_BYTES : bytes;
  }

  /** Reads the role; returns where a time may first begin, which is behind the text. */
  #readRole(from: number, end: number): number {
    const view = this.#view;
    const role = from + ROLE_AT;
    if (!standsAt(view, from, end, BEFORE_ROLE)) this.role = undefined;
    else if (standsAt(view, role, end, USER)) {
      this.role = "user";
      return this.#behindText(role + USER.length, end);
    } else if (standsAt(view, role, end, ASSISTANT)) {
      this.role = "assistant";
      return this.#behindText(role + ASSISTANT.length, end);
    } else this.role = "other";
    return from;
  }

  #behindText(from: number, end: number): number {
    if (!standsAt(this.#view, from, end, BEFORE_TEXT)) return from;
    const quote = this.#buffer.indexOf(QUOTE, from + BEFORE_TEXT.length);
    return quote === -1 || quote >= end ? from : quote;
  }
}

/**
 * Looks for times in the body of an entry without parsing it.
 *
 * The body of a message has one, a plain number; other bodies have none. In a body with more, something else has a time,
 * such as arguments of tools, or a second record on the same line: only a parse can tell.
 *
 * @param from - One past the head, or later if no time can begin before.
 * @returns The time of a message, or `-Infinity` if there is none; NaN if only a parse can tell.
 */
export function timeInBody(bytes: Uint8Array, from: number, end: number, isMessage: boolean): number {
  const at = TIMESTAMP.find(bytes, from, end);
  if (at === -1) return Number.NEGATIVE_INFINITY;
  const behind = at + TIMESTAMP.length;
  const isOnly = isMessage && TIMESTAMP.find(bytes, behind, end) === -1;
  return isOnly && bytes[behind] === COLON ? plainNumber(bytes, behind + 1, end) : Number.NaN;
}

/** Returns the number that starts here, if it is written as plain digits; else NaN. */
function plainNumber(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  let at = start;
  for (; at < end; at++) {
    const digit = (bytes[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  const isPlain =
    at > start && at - start <= MAX_DIGITS && (bytes[at] === COMMA || bytes[at] === CLOSE_BRACE);
  return isPlain ? value : Number.NaN;
}
