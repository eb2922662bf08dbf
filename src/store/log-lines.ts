import type { SessionIndex } from "../reading/session-index.ts";
import type { LogLine } from "./session-log.ts";

/** Lines as the bytes of one write. */
export interface EncodedLines {
  readonly bytes: Uint8Array;
  /** Adds the entries to the index, once the bytes stand behind all others; gives the first ordinal. */
  addTo(index: SessionIndex): number;
}

const encoder = new TextEncoder();

/** Encodes lines for one write, behind a line break if the bytes before do not end in one. */
export function encodeLines(lines: readonly LogLine[], hasBreak: boolean): EncodedLines {
  const texts = lines.map(({ text }) => `${text}\n`);
  const bytes = encoder.encode((hasBreak ? "\n" : "") + texts.join(""));
  const lengths =
    lines.length === 1
      ? [bytes.length - (hasBreak ? 1 : 0)]
      : texts.map((text) => encoder.encode(text).length);
  return {
    bytes,
    addTo(index) {
      const first = index.tree.size;
      for (const [i, { head }] of lines.entries()) index.addOwn(head, lengths[i] ?? 0, hasBreak && i === 0);
      return first;
    },
  };
}
