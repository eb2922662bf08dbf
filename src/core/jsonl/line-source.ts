import type { AnySessionEntry } from "../format/entry.ts";
import { decodeEntry } from "./entry-body.ts";
import { detectForeignSource, type ForeignSource } from "./foreign-source.ts";
import { SessionIndex } from "./session-index.ts";

/** Index of a session's lines, with a method to read them. Logs, copies, and files under repair implement it. */
export interface LineSource {
  readonly index: SessionIndex;
  /** The other program that wrote the bytes; undefined if they are a session or the program is unknown. */
  readonly foreign?: ForeignSource | undefined;
  /** Reads the lines of entries in the given order. The bytes are valid only during the call of `take`. */
  readLines(ordinals: Iterable<number>, take: (ordinal: number, bytes: Uint8Array) => void): void;
}

/** Indexes the bytes of a session. */
export function makeLineSource(content: Uint8Array | string): LineSource {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const readBytes = (offset: number, length: number) => bytes.subarray(offset, offset + length);
  const index = new SessionIndex({ readBytes });
  index.feed(bytes);
  index.end();
  return {
    index,
    foreign: index.header === undefined ? detectForeignSource(() => [bytes]) : undefined,
    readLines: (ordinals, take) => {
      const { spans } = index;
      for (const ordinal of ordinals)
        take(ordinal, readBytes(spans.offsetAt(ordinal), spans.lengthAt(ordinal)));
    },
  };
}

/** Returns a copy of one line. */
export function readLine(source: LineSource, ordinal: number): Uint8Array {
  let line = new Uint8Array(0);
  source.readLines([ordinal], (_, bytes) => {
    line = new Uint8Array(bytes);
  });
  return line;
}

/** Decodes an entry from its line. Returns undefined if the body is damaged. */
export function decodeEntryFrom(
  { index }: LineSource,
  ordinal: number,
  bytes: Uint8Array,
): AnySessionEntry | undefined {
  return decodeEntry(bytes, index.tree.headAt(ordinal), index);
}
