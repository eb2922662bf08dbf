import type { FileEntry } from "../../core/format/entry.ts";
import type { SessionIndexOptions } from "../../core/jsonl/line-index.ts";
import type { LineSource } from "../../core/jsonl/line-source.ts";
import { parseRecords } from "../../core/jsonl/parse-records.ts";
import { SessionIndex } from "../../core/jsonl/session-index.ts";
import { NONE } from "../../core/tree/entry-tree.ts";
import {
  callIfPresent,
  type FileSystem,
  openForReading,
  readPieces,
  readRange,
  realFileSystem,
  withOpenFile,
} from "../fs/file-system.ts";
import { readEntryLines } from "./read-lines.ts";
import { toAbsolutePath } from "./session-paths.ts";

/** Reads a session file. The caller must close `fd`. */
export function readSessionFile(fs: FileSystem, path: string): LineSource & { readonly fd: number } {
  const fd = openForReading(fs, path);
  try {
    const index = readIndex(fs, fd);
    return { fd, index, readLines: (ordinals, take) => readEntryLines(fs, fd, index.spans, ordinals, take) };
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
}

/** Reads an open file into an index, up to its end or an offset. */
export function readIndex(
  fs: FileSystem,
  fd: number,
  options: Omit<SessionIndexOptions, "readBytes"> = {},
  end?: number,
): SessionIndex {
  const readBytes = (offset: number, length: number) => readRange(fs, fd, offset, length);
  const index = new SessionIndex({ ...options, readBytes });
  feedToEnd(fs, fd, index, end);
  return index;
}

/** Feeds the next bytes that fit in the buffer to an index. Returns the size of the file, which may have decreased. */
export function feedSome(
  fs: FileSystem,
  fd: number,
  index: SessionIndex,
  buffer: Buffer,
  size: number,
): number {
  const count = fs.readSync(fd, buffer, 0, buffer.length, index.position);
  const piece = count === buffer.length ? buffer : buffer.subarray(0, count);
  index.feed(piece);
  if (count === 0) return index.position;
  return index.position < size ? size : fs.fstatSync(fd).size;
}

/** Feeds all unread data of a file to an index. Stops early if the file is not a session. */
export function feedToEnd(
  fs: FileSystem,
  fd: number,
  index: SessionIndex,
  end = fs.fstatSync(fd).size,
): void {
  for (const piece of readPieces(fs, fd, index.position, end)) {
    index.feed(piece);
    if (index.isRejected) return;
  }
  index.end();
}

/** Feeds all bytes of a session to an index. */
export function feedWhole(index: SessionIndex, bytes: Uint8Array): void {
  index.feed(bytes);
  index.end();
}

/** Returns the ordinals of earlier entries that the index lacks. */
export function findMissing(index: SessionIndex, before: SessionIndex): number[] {
  const { tree } = before;
  return Array.from(tree.ordinals()).filter((ordinal) => index.tree.find(tree.idAt(ordinal)) === NONE);
}

/**
 * Parses the records of a session file (header and entries) without upgrading them.
 *
 * @returns The records; empty if the file does not exist or is not a session.
 * @remarks Cost: O(file). A `SessionManager` reads less and reports issues.
 */
export function loadEntriesFromFile(path: string): FileEntry[] {
  const fs = realFileSystem;
  const absolute = toAbsolutePath(path);
  const stats = callIfPresent(() => fs.statSync(absolute));
  if (!stats?.isFile()) return [];
  const records = withOpenFile(fs, absolute, (fd) => parseRecords(readPieces(fs, fd, 0, stats.size)));
  const header = records.find((record) => record.type === "session");
  return typeof header?.id === "string" ? records : [];
}
