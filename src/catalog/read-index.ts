import { readRange, realFileSystem } from "../fs/file-system.ts";
import { decodeEntry } from "../jsonl/entry-body.ts";
import { runsOf } from "../jsonl/runs.ts";
import { SessionIndex } from "../jsonl/session-index.ts";
import { readLinesOf } from "../log/read-lines.ts";
import type { AnySessionEntry } from "../schema/entry.ts";
import { type OpenFile, piecesOf } from "./open-file.ts";
import type { Pace } from "./pace.ts";

/** Bounds of a batch: entries, and bytes of their lines. */
const BATCH_ENTRIES = 64;
const BATCH_BYTES = 1024 * 1024;

/**
 * Reads a session file into its index, without blocking the event loop.
 *
 * @returns Undefined if it is no session.
 * @throws {SessionError} `ABORTED`
 * @remarks Cost: O(bytes), about 70 bytes of memory per entry.
 */
export async function readIndex(file: OpenFile, pace: Pace): Promise<SessionIndex | undefined> {
  const readBytes = (offset: number, length: number) => readRange(realFileSystem, file.fd, offset, length);
  const index = new SessionIndex({ readBytes });
  for (const piece of piecesOf(file, 0)) {
    index.feed(piece);
    if (index.isRejected) return undefined;
    if (pace.isDue) await pace.rest();
  }
  index.end();
  return index.header === undefined ? undefined : index;
}

/** An entry with its body and its ordinal. */
export interface ReadEntry {
  readonly ordinal: number;
  /** Undefined if the body is damaged. */
  readonly entry: AnySessionEntry | undefined;
  /** Bytes of its line. */
  readonly bytes: number;
}

/**
 * Reads the bodies of entries, batch by batch, without blocking the event loop.
 *
 * @param ordinals - In ascending order.
 * @throws {SessionError} `ABORTED`
 */
export async function* readEntries(
  file: OpenFile,
  index: SessionIndex,
  ordinals: Iterable<number>,
  pace: Pace,
): AsyncGenerator<ReadEntry[], void, undefined> {
  const bytes = { most: BATCH_BYTES, of: (ordinal: number) => index.spans.lengthAt(ordinal) };
  for (const batch of runsOf(ordinals, BATCH_ENTRIES, bytes)) {
    const entries: ReadEntry[] = [];
    readLinesOf(realFileSystem, file.fd, index.spans, batch, (ordinal, bytes) => {
      const entry = decodeEntry(bytes, index.tree.headAt(ordinal), index);
      entries.push({ ordinal, entry, bytes: bytes.length });
    });
    yield entries;
    if (pace.isDue) await pace.rest();
  }
}
