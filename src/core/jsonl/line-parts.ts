import type { JsonRecord } from "../format/json.ts";
import { recoverRecords } from "./concatenated-records.ts";
import { readLegibleHead } from "./partial-head.ts";

/** Range of bytes in a line that does not parse. */
export interface LinePart {
  readonly start: number;
  readonly end: number;
  /**
   * Type of the part.
   *
   * `record`: a complete record; `head`: only the head is legible; `lost`: a record or a piece of one; `noise`: anything else;
   * `zeros`: zero bytes.
   */
  readonly kind: "record" | "head" | "lost" | "noise" | "zeros";
  /** The record or the fields of the head; empty for other kinds. */
  readonly record: JsonRecord;
}

const OPEN_BRACE = 0x7b;
const QUOTE = 0x22;

/**
 * Splits a line that does not parse into complete records, legible heads of damaged records, and the remainder.
 *
 * @param bytes - The line.
 * @param isRest - Whether the bytes are only the remainder of a line whose beginning was already read.
 * @returns The parts in order, with no gaps except white space. Empty if there is only white space.
 * @remarks Cost: see `recoverRecords`.
 */
export function splitLineParts(bytes: Uint8Array, isRest = false): LinePart[] {
  const parts: LinePart[] = [];
  const found = recoverRecords(bytes);
  let at = 0;
  for (const { start, end, record } of found) {
    parts.push(...makeDamagedParts(bytes, at, start, false), { start, end, kind: "record", record });
    at = end;
  }
  parts.push(...makeDamagedParts(bytes, at, bytes.length, found.length === 0 && !isRest));
  return parts;
}

/** Returns the parts between two records. Empty for white space. Zero bytes around a legible head are separate parts. */
function makeDamagedParts(bytes: Uint8Array, from: number, to: number, isWholeLine: boolean): LinePart[] {
  const { start, end, text } = trimRange(bytes, from, to, isSpaceOrZero);
  if (start === end) return findZeros(bytes, from, start);
  // Between records, a head at the end may belong to a different record than the type at the start.
  const head = readLegibleHead(text, isWholeLine);
  if (head !== undefined) {
    return [
      ...findZeros(bytes, from, start),
      { start, end, kind: "head", record: head },
      ...findZeros(bytes, end, to),
    ];
  }
  const isRecord = isWholeLine || text.includes(OPEN_BRACE) || text.includes(QUOTE);
  return [{ start, end, kind: isRecord ? "lost" : "noise", record: {} }];
}

/** Returns the part for a range of white space and zero bytes, if it contains zero bytes. */
function findZeros(bytes: Uint8Array, from: number, to: number): LinePart[] {
  const { start, end, text } = trimRange(bytes, from, to, isSpace);
  return text.includes(0) ? [{ start, end, kind: "zeros", record: {} }] : [];
}

function trimRange(
  bytes: Uint8Array,
  from: number,
  to: number,
  isBlank: (byte: number | undefined) => boolean,
) {
  let [start, end] = [from, to];
  while (start < end && isBlank(bytes[start])) start++;
  while (start < end && isBlank(bytes[end - 1])) end--;
  return { start, end, text: bytes.subarray(start, end) };
}

/** Returns whether a byte is a space, tab, or CR. */
function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

/** Returns whether a byte is white space or a zero byte. Power failures can leave zero bytes. */
function isSpaceOrZero(byte: number | undefined): boolean {
  return byte === 0 || isSpace(byte);
}

/** Returns the length of a line without trailing zero bytes and the white space around them. */
export function getLengthWithoutZeros(bytes: Uint8Array): number {
  let length = bytes.length;
  let hasZeros = false;
  for (; length > 0 && isSpaceOrZero(bytes[length - 1]); length--) hasZeros ||= bytes[length - 1] === 0;
  return hasZeros ? length : bytes.length;
}

/** Returns whether a line ends with a closing brace, ignoring zero bytes and white space. */
export function hasEndBrace(text: Uint8Array): boolean {
  return text[text.findLastIndex((byte) => !isSpaceOrZero(byte))] === CLOSE_BRACE;
}

const CLOSE_BRACE = 0x7d;
