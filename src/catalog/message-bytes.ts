import { BytePattern } from "../jsonl/byte-pattern.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

const MESSAGE = bytesOf(`,"message":{"role":"`);
const USER = bytesOf(`user"`);
const ASSISTANT = bytesOf(`assistant"`);
const TIMESTAMP = BytePattern.of(`"timestamp"`);

const COMMA = 0x2c;
const COLON = 0x3a;
const CLOSE_BRACE = 0x7d;

/** A longer number may not be exact. */
const MAX_DIGITS = 15;

/**
 * Reads the role of a message from the bytes behind its entry's head, where every known writer puts it.
 *
 * @param bodyStart - One past the head.
 * @returns `other` for all roles but these two; undefined if it takes a parse to tell.
 */
export function roleInFront(
  bytes: Uint8Array,
  bodyStart: number,
  end: number,
): "user" | "assistant" | "other" | undefined {
  if (!startsWith(bytes, bodyStart, end, MESSAGE)) return undefined;
  const at = bodyStart + MESSAGE.length;
  if (startsWith(bytes, at, end, USER)) return "user";
  return startsWith(bytes, at, end, ASSISTANT) ? "assistant" : "other";
}

/**
 * Looks for times in the body of an entry without parsing it.
 *
 * The body of a message has one, a plain number; other bodies have none. A body with more holds something that has a
 * time itself, such as arguments of tools, or a second record that was glued to the first: to tell takes a parse.
 *
 * @param from - One past the head.
 * @returns The time of a message, or `-Infinity` if there is none; NaN if it takes a parse to tell.
 * @remarks Cost: O(bytes), most of which are passed over.
 */
export function timeInBody(bytes: Uint8Array, from: number, end: number, isMessage: boolean): number {
  const at = TIMESTAMP.find(bytes, from, end);
  if (at === -1) return Number.NEGATIVE_INFINITY;
  const behind = at + TIMESTAMP.length;
  const isOnly = isMessage && TIMESTAMP.find(bytes, behind, end) === -1;
  return isOnly && bytes[behind] === COLON ? plainNumber(bytes, behind + 1, end) : Number.NaN;
}

/** Tells whether a key that names a time, or a text like it, begins in `[from, limit)` and ends before `end`. */
export function holdsTime(bytes: Uint8Array, from: number, limit: number, end: number): boolean {
  const { length } = TIMESTAMP;
  const last = Math.min(limit + length - 1, end);
  return last - from >= length && TIMESTAMP.find(bytes, from, last) !== -1;
}

/** Gives the number that starts here, if it is written as plain digits; else NaN. */
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

/** Tells whether bytes stand at a place before `end`. */
function startsWith(bytes: Uint8Array, at: number, end: number, prefix: Uint8Array): boolean {
  if (at + prefix.length > end) return false;
  for (let i = 0; i < prefix.length; i++) if (bytes[at + i] !== prefix[i]) return false;
  return true;
}
