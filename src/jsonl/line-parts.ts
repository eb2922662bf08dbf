import { legibleHead } from "../jsonl/legible-head.ts";
import type { JsonRecord } from "../schema/json.ts";
import { recoverRecords } from "./concatenated-records.ts";

/** A part of a line that does not parse, as a range of the line's bytes. */
export interface LinePart {
  readonly start: number;
  readonly end: number;
  /**
   * `record`: whole; `head`: the head is legible, the rest is not; `lost`: a record, or a piece of one; `noise`: less;
   * `zeros`: zero bytes.
   */
  readonly kind: "record" | "head" | "lost" | "noise" | "zeros";
  /** The record, or the fields of the head; empty for the rest. */
  readonly record: JsonRecord;
}

const OPEN_BRACE = 0x7b;
const QUOTE = 0x22;

/**
 * Takes a line apart that does not parse: whole records, legible heads of damaged ones, and what is neither.
 *
 * @param bytes - The line, and nothing else.
 * @param isRest - Whether the front of the line was taken before, so that this is only what stands behind it.
 * @returns In order, without gaps but for white space; empty if there is nothing but white space.
 * @remarks Cost: see `recoverRecords`.
 */
export function partsOfLine(bytes: Uint8Array, isRest = false): LinePart[] {
  const parts: LinePart[] = [];
  const found = recoverRecords(bytes);
  let at = 0;
  for (const { start, end, record } of found) {
    parts.push(...damagedPart(bytes, at, start, false), { start, end, kind: "record", record });
    at = end;
  }
  parts.push(...damagedPart(bytes, at, bytes.length, found.length === 0 && !isRest));
  return parts;
}

/** What stands between two records, or nothing if it is white space; zero bytes around a legible head are parts, too. */
function damagedPart(bytes: Uint8Array, from: number, to: number, isWholeLine: boolean): LinePart[] {
  const { start, end, text } = trimmed(bytes, from, to, isSpaceOrZero);
  if (start === end) return zerosIn(bytes, from, start);
  // Between records a head at the end may be that of another one than the type in front.
  const head = legibleHead(text, isWholeLine);
  if (head !== undefined) {
    return [
      ...zerosIn(bytes, from, start),
      { start, end, kind: "head", record: head },
      ...zerosIn(bytes, end, to),
    ];
  }
  const isRecord = isWholeLine || text.includes(OPEN_BRACE) || text.includes(QUOTE);
  return [{ start, end, kind: isRecord ? "lost" : "noise", record: {} }];
}

/** The part that a range of white space and zero bytes is, if it holds any of the latter. */
function zerosIn(bytes: Uint8Array, from: number, to: number): LinePart[] {
  const { start, end, text } = trimmed(bytes, from, to, isSpace);
  return text.includes(0) ? [{ start, end, kind: "zeros", record: {} }] : [];
}

function trimmed(
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

/** Space, tab or CR. */
function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

/** Tells white space and zero bytes, which are what a power cut leaves of a record. */
function isSpaceOrZero(byte: number | undefined): boolean {
  return byte === 0 || isSpace(byte);
}

/** The length of a line without the zero bytes at its end, and the white space among them. */
export function lengthWithoutZeros(bytes: Uint8Array): number {
  let length = bytes.length;
  let hasZeros = false;
  for (; length > 0 && isSpaceOrZero(bytes[length - 1]); length--) hasZeros ||= bytes[length - 1] === 0;
  return hasZeros ? length : bytes.length;
}

/** Tells whether the last byte of a line that is neither zero nor white space closes an object. */
export function endsWithBrace(text: Uint8Array): boolean {
  return text[text.findLastIndex((byte) => !isSpaceOrZero(byte))] === CLOSE_BRACE;
}

const CLOSE_BRACE = 0x7d;
