import type { AnySessionEntry } from "../../core/format/entry.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import type { SessionIndex } from "../../core/jsonl/session-index.ts";
import type { LogLine } from "./session-log.ts";

/** Lines as the bytes of one write. */
export interface EncodedLines {
  readonly lines: readonly LogLine[];
  /** Whether a line break precedes the lines, to close a torn line. */
  readonly hasBreak: boolean;
  /** Buffer that begins with the bytes. Valid until the next lines are encoded. */
  readonly buffer: Uint8Array;
  readonly length: number;
}

const LF = 0x0a;

const SCRATCH_BYTES = 64 * 1024;

/** Scratch space for encoding, because a buffer or view per line would cost more than the encoding itself. */
let scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);

/** Creates the line of an entry that already has its id, parent, and time. */
export function toLogLine(entry: AnySessionEntry): LogLine {
  const { type, id, parentId, timestamp } = entry;
  const head = { type, id, parentId, timestampMs: Date.parse(timestamp) };
  return { head, text: encodeRecord(entry) };
}

/** Encodes lines for one write. If `hasBreak` is true, they are preceded by a line break. */
export function encodeLines(lines: readonly LogLine[], hasBreak: boolean): EncodedLines {
  // The memory of one large line is not kept permanently.
  if (scratch.length > 16 * SCRATCH_BYTES) scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  let length = 0;
  if (hasBreak) scratch[length++] = LF;
  for (const { text } of lines) {
    // Each UTF-16 unit takes at most three bytes.
    const needed = length + text.length * 3 + 1;
    if (needed > scratch.length) reserveBytes(length, needed);
    length += scratch.write(text, length);
    scratch[length++] = LF;
  }
  return { lines, hasBreak, buffer: scratch, length };
}

/** Returns the bytes of lines. They are valid until the next lines are encoded. */
export function getBytes({ buffer, length }: EncodedLines): Uint8Array {
  return buffer.subarray(0, length);
}

/** Adds the entries of lines to the index after their bytes were written at the end of the file. */
export function indexWritten(index: SessionIndex, { lines, hasBreak, length }: EncodedLines): void {
  // A single line, the usual case, was measured when it was encoded.
  const isSingle = lines.length === 1;
  let isTorn = hasBreak;
  for (const { head, text } of lines) {
    const lineLength = isSingle ? length - (isTorn ? 1 : 0) : Buffer.byteLength(text) + 1;
    index.addPending(head, lineLength, isTorn);
    isTorn = false;
  }
}

function reserveBytes(used: number, needed: number): void {
  const larger = Buffer.allocUnsafeSlow(needed * 2);
  scratch.copy(larger, 0, 0, used);
  scratch = larger;
}
