import type { SessionIndex } from "../reading/session-index.ts";
import type { LogLine } from "./session-log.ts";

/** Lines as the bytes of one write. */
export interface EncodedLines {
  /** Valid until the next lines are encoded. */
  readonly bytes: Uint8Array;
  /** Adds the entries to the index, once the bytes stand behind all others; gives the first ordinal. */
  addTo(index: SessionIndex): number;
}

const encoder = new TextEncoder();

const SCRATCH_BYTES = 64 * 1024;

/** Where lines are encoded: making a buffer for each would cost more than the encoding. */
let scratch = new Uint8Array(SCRATCH_BYTES);

/** Encodes lines for one write, behind a line break if the bytes before do not end in one. */
export function encodeLines(lines: readonly LogLine[], hasBreak: boolean): EncodedLines {
  const ends: number[] = [];
  // What one large line took is not kept for ever.
  if (scratch.length > 16 * SCRATCH_BYTES) scratch = new Uint8Array(SCRATCH_BYTES);
  let end = hasBreak ? 1 : 0;
  scratch[0] = LINE_BREAK;
  for (const { text } of lines) {
    reserve(end, text.length);
    end += encoder.encodeInto(text, scratch.subarray(end)).written;
    scratch[end++] = LINE_BREAK;
    ends.push(end);
  }
  const bytes = scratch.subarray(0, end);
  return {
    bytes,
    addTo(index) {
      const first = index.tree.size;
      let start = hasBreak ? 1 : 0;
      lines.forEach(({ head }, i) => {
        const lineEnd = ends[i] ?? start;
        index.addOwn(head, lineEnd - start, hasBreak && i === 0);
        start = lineEnd;
      });
      return first;
    },
  };
}

const LINE_BREAK = 0x0a;

/** Makes room for a text, each unit of which takes three bytes at most. */
function reserve(used: number, units: number): void {
  const needed = used + units * 3 + 1;
  if (needed <= scratch.length) return;
  const larger = new Uint8Array(needed * 2);
  larger.set(scratch.subarray(0, used));
  scratch = larger;
}
