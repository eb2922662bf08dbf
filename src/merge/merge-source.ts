import { decodeEntry } from "../jsonl/entry-body.ts";
import { linesInMemory } from "../jsonl/line-spans.ts";
import { runsOf } from "../jsonl/runs.ts";
import { SessionIndex } from "../jsonl/session-index.ts";
import type { AnySessionEntry } from "../schema/entry.ts";
import { SessionError } from "../schema/errors.ts";
import type { SessionHeader } from "../schema/header.ts";
import { CURRENT_SESSION_VERSION } from "../schema/version.ts";

/** One of the two copies of a session: the one that was named first, or the other. */
export type MergeSide = "a" | "b";

/** What a merge needs of a copy: what its lines are, and the lines. It must not change while it is merged. */
export interface MergeSource {
  readonly index: SessionIndex;
  /** Gives lines of entries in the order asked for; the bytes are valid during the call. */
  readLines(ordinals: Iterable<number>, take: (ordinal: number, bytes: Uint8Array) => void): void;
}

/** Lines are held this many at a time, */
const MAX_HELD = 256;

/** or so many bytes of them, unless one line is longer. */
const MAX_HELD_BYTES = 4 * 1024 * 1024;

/** Makes a source of the bytes of a session. */
export function sourceOf(content: Uint8Array | string): MergeSource {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const readBytes = (offset: number, length: number) => bytes.subarray(offset, offset + length);
  const index = new SessionIndex({ readBytes });
  index.feed(bytes);
  index.end();
  return {
    index,
    readLines: (ordinals, take) => linesInMemory(readBytes, index.spans, ordinals, take),
  };
}

/**
 * Gives the header of a copy that can be merged.
 *
 * @throws {SessionError} `NOT_A_SESSION`, or `VERSION_TOO_NEW`: what is not understood is not written anew.
 */
export function mergeableHeader({ index }: MergeSource, side: MergeSide): SessionHeader {
  const { header, version } = index;
  if (header === undefined || index.isRejected) {
    throw new SessionError(
      "NOT_A_SESSION",
      `Copy ${side} is no session: it has no session header. If one was lost, "sessiontree repair" can rebuild it.`,
      { details: { side } },
    );
  }
  if (version > CURRENT_SESSION_VERSION) {
    throw new SessionError(
      "VERSION_TOO_NEW",
      `Copy ${side} is of version ${version}, newer than this library knows; update sessiontree to merge it.`,
      { details: { side, version } },
    );
  }
  return header;
}

/** Reads one line; a copy. */
export function lineOf(source: MergeSource, ordinal: number): Uint8Array {
  let line = new Uint8Array(0);
  source.readLines([ordinal], (_, bytes) => {
    line = new Uint8Array(bytes);
  });
  return line;
}

/** Decodes an entry from its line; undefined if its body is damaged. */
export function entryFrom(
  { index }: MergeSource,
  ordinal: number,
  bytes: Uint8Array,
): AnySessionEntry | undefined {
  return decodeEntry(bytes, index.tree.headAt(ordinal), index);
}

/**
 * Splits a list into runs whose lines can be held in memory together.
 *
 * @param bytesOf - Bytes that are held for one.
 */
export function runsToHold<T>(list: Iterable<T>, bytesOf: (one: T) => number): Generator<T[], void> {
  return runsOf(list, MAX_HELD, { most: MAX_HELD_BYTES, of: bytesOf });
}
