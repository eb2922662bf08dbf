import { readRange, realFileSystem } from "../fs/file-system.ts";
import { decodeRecord } from "../jsonl/decode.ts";
import { entryOf } from "../jsonl/entry-body.ts";
import { runsOf } from "../jsonl/runs.ts";
import type { AnySessionEntry } from "../schema/entry.ts";
import { CURRENT_SESSION_VERSION } from "../schema/version.ts";
import type { OpenFile } from "./open-file.ts";
import type { Pace } from "./pace.ts";
import type { FoundLine } from "./search-bytes.ts";
import { SEARCHED_TYPES } from "./search-text.ts";

/** Bounds of a batch: lines, and bytes. */
const BATCH_LINES = 64;
const BATCH_BYTES = 1024 * 1024;

/** An entry that may hold the searched text. */
export interface SearchedEntry {
  readonly entryId: string;
  /** Byte offset of its line. */
  readonly offset: number;
  /** Undefined if the body is damaged. */
  readonly entry: AnySessionEntry | undefined;
}

/** A line whose start and end are both known. */
export type WholeLine = FoundLine & { readonly start: number; readonly end: number };

/** What bodies of today's version are decoded with. */
const CONTEXT = { version: CURRENT_SESSION_VERSION, entryIdFrom: () => undefined };

/**
 * Yields the entries on some lines of a file that is in order: on each line one record of today's version with a unique
 * id. So the lines are enough, and the rest of the file need not be read into a tree.
 *
 * @returns Batches, between which the event loop runs; only entries that are searched.
 * @throws {SessionError} `ABORTED`
 */
export async function* entriesOnLines(
  file: OpenFile,
  lines: readonly WholeLine[],
  pace: Pace,
): AsyncGenerator<SearchedEntry[], void, undefined> {
  const bytes = { most: BATCH_BYTES, of: ({ start, end }: WholeLine) => end - start };
  for (const run of runsOf(lines, BATCH_LINES, bytes)) {
    yield run.flatMap(({ start, end }) => {
      const line = readRange(realFileSystem, file.fd, start, end - start);
      return entryOn(line, start) ?? [];
    });
    if (pace.isDue) await pace.rest();
  }
}

function entryOn(line: Uint8Array, offset: number): SearchedEntry | undefined {
  const record = decodeRecord(line);
  if (record === undefined) return undefined;
  const { type, id, parentId } = record;
  if (typeof type !== "string" || typeof id !== "string" || !SEARCHED_TYPES.has(type)) return undefined;
  const head = {
    type,
    id,
    parentId: typeof parentId === "string" ? parentId : null,
    timestampMs: Number.NaN,
  };
  return { entryId: id, offset, entry: entryOf(record, head, CONTEXT) };
}
