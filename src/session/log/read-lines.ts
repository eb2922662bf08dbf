import { isAscii } from "node:buffer";
import type { SpansByOrdinal } from "../../core/jsonl/line-spans.ts";
import { type FileSystem, readInto } from "../fs/file-system.ts";
import { FileChangedError } from "./file-errors.ts";
import type { TakeLine, TakeText } from "./session-log.ts";

/** Maximum distance between lines that are read in one call, in bytes. */
const MAX_GAP_BYTES = 64 * 1024;

/** Maximum number of bytes to read in one call, unless a single line is longer. Fits in a processor's cache. */
const MAX_READ_BYTES = 256 * 1024;

/** Maps old ordinals to the current spans of their lines. */
export function moveSpans(spans: SpansByOrdinal, now: (ordinal: number) => number): SpansByOrdinal {
  return {
    offsetAt: (ordinal) => spans.offsetAt(now(ordinal)),
    lengthAt: (ordinal) => spans.lengthAt(now(ordinal)),
  };
}

/**
 * Reads the lines of entries from a file. Adjacent lines are read in one call.
 *
 * @param take - Called for each line, in the given order. The bytes are valid only during the call.
 * @param takeText - If given, called instead of `take`, with the text as returned by `decodeText`.
 * @remarks Cost: O(bytes of the lines), with one read per run of adjacent lines.
 */
export function readEntryLines(
  fs: FileSystem,
  fd: number,
  spans: SpansByOrdinal,
  ordinals: Iterable<number>,
  take: TakeLine,
  takeText?: TakeText,
): void {
  const run: number[] = [];
  let [start, end] = [0, 0];
  let buffer = Buffer.alloc(0);
  const flush = () => {
    const size = end - start;
    // All runs share one buffer; a single short run does not need it.
    if (buffer.length < size)
      buffer = Buffer.allocUnsafe(buffer.length > 0 ? Math.max(size, MAX_READ_BYTES) : size);
    const bytes = readInto(fs, fd, buffer, start, size);
    if (bytes.length < size) throw new FileChangedError("the file is shorter than it was");
    // Slicing strings out of the buffer saves an object per line, and ASCII requires no decoding.
    const encoding = takeText !== undefined && isAscii(bytes) ? "latin1" : "utf8";
    for (const ordinal of run) {
      const from = spans.offsetAt(ordinal) - start;
      const to = from + spans.lengthAt(ordinal);
      if (takeText === undefined) take(ordinal, bytes.subarray(from, to));
      else takeText(ordinal, bytes.toString(encoding, from, to));
    }
    run.length = 0;
  };
  for (const ordinal of ordinals) {
    const offset = spans.offsetAt(ordinal);
    const behind = offset + spans.lengthAt(ordinal);
    const isNear = offset >= end && offset - end <= MAX_GAP_BYTES && behind - start <= MAX_READ_BYTES;
    if (run.length > 0 && !isNear) flush();
    if (run.length === 0) start = offset;
    end = behind;
    run.push(ordinal);
  }
  if (run.length > 0) flush();
}
