import type { SessionIndex } from "../reading/session-index.ts";
import type { LogLine } from "./session-log.ts";

const LINE_BREAK = 0x0a;

const SCRATCH_BYTES = 64 * 1024;

/** Where lines are encoded: making a buffer, or a view of one, for each would cost more than the encoding. */
let scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);

/** Lines as the bytes of one write; the bytes are valid until the next lines are encoded. */
export class EncodedLines {
  /** Begins with the bytes. */
  readonly buffer: Uint8Array;
  /** How many bytes there are. */
  readonly length: number;
  readonly #lines: readonly LogLine[];
  readonly #hasBreak: boolean;

  constructor(lines: readonly LogLine[], hasBreak: boolean) {
    this.#lines = lines;
    this.#hasBreak = hasBreak;
    this.length = encode(lines, hasBreak);
    this.buffer = scratch;
  }

  get bytes(): Uint8Array {
    return this.buffer.subarray(0, this.length);
  }

  /** Adds the entries to the index, once the bytes stand behind all others; gives the first ordinal. */
  addTo(index: SessionIndex): number {
    const first = index.tree.size;
    let hasBreak = this.#hasBreak;
    for (const { head, text } of this.#lines) {
      // The bytes of one line, which is the ordinary case, were counted when it was encoded.
      const isAlone = this.#lines.length === 1;
      const length = isAlone ? this.length - (hasBreak ? 1 : 0) : Buffer.byteLength(text) + 1;
      index.addOwn(head, length, hasBreak);
      hasBreak = false;
    }
    return first;
  }
}

/** Encodes lines for one write, behind a line break if the bytes before do not end in one. */
export function encodeLines(lines: readonly LogLine[], hasBreak: boolean): EncodedLines {
  return new EncodedLines(lines, hasBreak);
}

/** Encodes lines into the scratch buffer, and gives the number of bytes. */
function encode(lines: readonly LogLine[], hasBreak: boolean): number {
  // What one large line took is not kept for ever.
  if (scratch.length > 16 * SCRATCH_BYTES) scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  let end = 0;
  if (hasBreak) scratch[end++] = LINE_BREAK;
  for (const { text } of lines) {
    reserve(end, text.length);
    end += scratch.write(text, end);
    scratch[end++] = LINE_BREAK;
  }
  return end;
}

/** Makes room for a text, each unit of which takes three bytes at most. */
function reserve(used: number, units: number): void {
  const needed = used + units * 3 + 1;
  if (needed <= scratch.length) return;
  const larger = Buffer.allocUnsafeSlow(needed * 2);
  scratch.copy(larger, 0, 0, used);
  scratch = larger;
}
