import type { SessionHeader } from "../../core/format/header.ts";
import { encodeCurrentLine } from "../../core/jsonl/entry-body.ts";
import { LINE_BREAK } from "../../core/jsonl/line-scanner.ts";
import type { SessionIndex } from "../../core/jsonl/session-index.ts";
import { type FileSystem, withOpenFile } from "../fs/file-system.ts";
import { AppendFile } from "./append-file.ts";
import { FileChangedError, retryUntilUnchanged } from "./file-errors.ts";
import { retireFile } from "./file-marks.ts";
import { readEntryLines } from "./read-lines.ts";
import { findMissing, readIndex } from "./read-session-file.ts";

/** Open session file that is being replaced. */
export interface OldFile {
  readonly fs: FileSystem;
  readonly path: string;
  readonly fd: number;
  /** Number of its bytes that are in the new file. */
  readonly copied: number;
}

/**
 * Retires the old file, and then appends the lines that only it contains to the file at the path.
 *
 * Restarts if a writer removes its failed line from the old file in the meantime, or if the file at the path is replaced.
 *
 * @returns False if another session is at the path.
 */
export function takeOver(old: OldFile): boolean {
  return retryUntilUnchanged(() => takeOverOnce(old));
}

/** Returns whether a file has a session header and does not merely contain session entries. */
export function hasHeader(fs: FileSystem, path: string): boolean {
  return withOpenFile(fs, path, (fd) => indexFile(fs, fd).header !== undefined);
}

function takeOverOnce({ fs, path, fd, copied }: OldFile): boolean {
  retireFile(fs, fd);
  if (fs.fstatSync(fd).size === copied) return true;
  const file = new AppendFile(fs, path);
  try {
    const now = file.read((newFd) => indexFile(fs, newFd));
    const before = indexFile(fs, fd, now.header);
    if (now.header === undefined || before.header?.id !== now.header.id) return false;
    const { spans } = before;
    const isBehindCopy = (ordinal: number) => spans.offsetAt(ordinal) + spans.lengthAt(ordinal) >= copied;
    const missing = findMissing(now, before).filter(isBehindCopy);
    if (missing.length === 0) return true;
    const bytes = Buffer.concat([
      ...(now.isMidLine ? [LINE_BREAK] : []),
      ...readLines(fs, fd, before, missing),
    ]);
    if (file.append(bytes, bytes.length, now.position, true) !== undefined) return true;
    throw new FileChangedError(`${path} was replaced by another file`);
  } finally {
    file.release();
  }
}

function indexFile(fs: FileSystem, fd: number, header?: SessionHeader): SessionIndex {
  const index = readIndex(fs, fd);
  // A repair may have added a header to the new file that the old one had lost.
  return index.header === undefined && header !== undefined ? readIndex(fs, fd, { header }) : index;
}

/** Returns lines in the format of the current version. */
function readLines(
  fs: FileSystem,
  fd: number,
  index: SessionIndex,
  ordinals: readonly number[],
): Uint8Array[] {
  const lines: Uint8Array[] = [];
  readEntryLines(fs, fd, index.spans, ordinals, (ordinal, bytes) => {
    const line = encodeCurrentLine(bytes, index.tree.headAt(ordinal), index);
    lines.push(typeof line === "string" ? Buffer.from(line) : Buffer.from(line), LINE_BREAK);
  });
  return lines;
}
