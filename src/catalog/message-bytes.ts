import { BytePattern, startsWith } from "./byte-pattern.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

const MESSAGE = bytesOf(`,"message":{"role":"`);
const USER = bytesOf(`user"`);
const ASSISTANT = bytesOf(`assistant"`);
const TIMESTAMP = BytePattern.of(`"timestamp"`);

/** Heads write their time as text, of this millennium; messages write theirs as numbers. */
const TIME_OF_HEAD = bytesOf(`:"2`);

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;

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
 * A line may name a time several times, in arguments of tools for example; which one is the message's takes a parse.
 * That none of them is later than what is known already does not.
 *
 * @param from - One past the head.
 * @returns A number that none of them exceeds: `-Infinity` if there is none, `Infinity` if one is not written as plain
 *   digits. NaN if the body seems to hold the head of another entry, as when two records were glued together.
 * @remarks Cost: O(bytes), most of which are passed over.
 */
export function latestTimeIn(bytes: Uint8Array, from: number, end: number): number {
  let latest = Number.NEGATIVE_INFINITY;
  for (let at = TIMESTAMP.find(bytes, from, end); at !== -1; at = TIMESTAMP.find(bytes, at, end)) {
    const behind = at + TIMESTAMP.length;
    if (bytes[at - 1] === COMMA && startsWith(bytes, behind, end, TIME_OF_HEAD)) return Number.NaN;
    latest = Math.max(latest, numberBehindColon(bytes, behind, end));
    at = behind;
  }
  return latest;
}

function numberBehindColon(bytes: Uint8Array, from: number, end: number): number {
  const colon = skipSpace(bytes, from, end);
  if (bytes[colon] !== COLON) return Number.NEGATIVE_INFINITY;
  const start = skipSpace(bytes, colon + 1, end);
  // Times that are texts do not count as a message's.
  if (bytes[start] === QUOTE) return Number.NEGATIVE_INFINITY;
  let value = 0;
  let at = start;
  for (; at < end; at++) {
    const digit = (bytes[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  const isPlain = at > start && at - start <= MAX_DIGITS && isEndOfNumber(bytes[at]);
  return isPlain ? value : Number.POSITIVE_INFINITY;
}

function skipSpace(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && isSpace(bytes[at])) at++;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

/** A comma, a closing brace or bracket, or space. */
function isEndOfNumber(byte: number | undefined): boolean {
  return byte === COMMA || byte === 0x7d || byte === 0x5d || isSpace(byte);
}
