import type { BytePattern } from "../../core/jsonl/byte-pattern.ts";
import { piecesOf, type ScannedFile } from "../../session/files/file-mark.ts";
import type { Pace } from "../../session/files/time-slices.ts";
import type { GramCollector } from "../list/gram-filter.ts";
import { MatchWalk, type TextPatterns } from "../query/text-bytes.ts";

const LF = 0x0a;

/** Escapes of other characters in a row before the way of searching for them changes. */
const MAX_OTHER_ESCAPES = 64;

/** A line that may hold what is searched: offsets in the file. */
export interface FoundLine {
  /** Of a byte in it. */
  readonly at: number;
  /** Of its first byte; undefined if it begins in an earlier piece of the file. */
  readonly start: number | undefined;
  /** Of its line break; undefined if there is none. */
  end: number | undefined;
}

/**
 * Finds the lines of a file that may hold a text, by its bytes alone.
 *
 * @param collector - Receives all bytes of the file.
 * @returns In the order of the file; empty if no line can hold the text.
 * @remarks Cost: O(bytes), most of which are passed over; no line is copied or parsed.
 */
export async function linesThatMayHold(
  file: ScannedFile,
  { plain, escaped }: TextPatterns,
  pace: Pace,
  collector?: GramCollector,
): Promise<FoundLine[]> {
  const found: FoundLine[] = [];
  let last: FoundLine | undefined;
  const overlap = Math.max(plain.length, escaped.length) - 1;
  /** Offset in the file of the first byte of the piece, and of the first one that is still to be looked at. */
  let [offset, from] = [0, 0];
  let isInFoundLine = false;
  let collected = 0;
  for (const piece of piecesOf(file, 0, overlap)) {
    const end = offset + piece.length;
    collector?.feed(piece.subarray(collected - offset));
    collected = end;
    const inPlain = new MatchWalk((start) => plain.find(piece, start, piece.length));
    const inEscapes = new MatchWalk((start) => findEscape(piece, escaped, start));
    while (from < end) {
      if (isInFoundLine) {
        const lineBreak = piece.indexOf(LF, from - offset);
        isInFoundLine = lineBreak === -1;
        if (last !== undefined && !isInFoundLine) last.end = offset + lineBreak;
        from = isInFoundLine ? end : offset + lineBreak + 1;
        continue;
      }
      const next = Math.min(inPlain.next(from - offset), inEscapes.next(from - offset));
      if (next === Number.POSITIVE_INFINITY) break;
      from = offset + next;
      last = { at: from, start: startOfLine(piece, next, offset), end: undefined };
      found.push(last);
      isInFoundLine = true;
    }
    offset = end - Math.min(overlap, piece.length);
    if (!isInFoundLine) from = Math.max(from, offset);
    if (pace.isDue) await pace.rest();
  }
  return found;
}

/** Offset in the file of the line that a place in a piece is on; undefined if it begins before the piece. */
function startOfLine(piece: Buffer, place: number, offset: number): number | undefined {
  const lineBreak = piece.lastIndexOf(LF, place);
  return lineBreak === -1 && offset > 0 ? undefined : offset + lineBreak + 1;
}

/**
 * Finds the first escape that fits the pattern, or -1.
 *
 * Most texts have next to no escapes of this kind, and the system's own search for their first two bytes is the
 * quickest way to know; a text full of others, colours of a terminal for example, is left to the pattern.
 */
function findEscape(piece: Buffer, pattern: BytePattern, from: number): number {
  let at = from;
  for (let tries = 0; tries < MAX_OTHER_ESCAPES; tries++) {
    at = piece.indexOf("\\u", at, "latin1");
    if (at === -1 || pattern.find(piece, at, Math.min(piece.length, at + pattern.length)) === at) return at;
    at += 2;
  }
  return pattern.find(piece, at, piece.length);
}
