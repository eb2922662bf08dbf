import { readSync, statSync } from "node:fs";
import { callIfPresent, NotAPlainFileError, openForReading, realFileSystem } from "../fs/file-system.ts";
import { retryAfterReplacement } from "../log/replace-file.ts";

/** File attributes that show whether a file has changed since it was last read. */
export interface FileMark {
  readonly size: number;
  readonly mtimeMs: number;
  /** Change time. Programs cannot restore it, but it also changes with the name, the mode, and the number of links. */
  readonly ctimeMs: number;
  readonly ino: number;
  /** Birth time. Needed because the system may reuse the number of a removed file. */
  readonly birthtimeMs: number;
}

/** Returns the mark of a file. */
export function toFileMark({ size, mtimeMs, ctimeMs, ino, birthtimeMs }: FileMark): FileMark {
  return { size, mtimeMs, ctimeMs, ino, birthtimeMs };
}

/** Returns whether two marks belong to the same file, which may have grown, based on its number and birth time. */
export function isSameFile(a: FileMark, b: FileMark): boolean {
  return a.ino === b.ino && a.birthtimeMs === b.birthtimeMs;
}

/** Returns whether two marks belong to the same file in the same state. */
export function isUnchanged(a: FileMark, b: FileMark): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs && isSameFile(a, b);
}

/** Returns whether a file has not changed since its mark was taken. */
export function isUnchangedAt(path: string, mark: FileMark): boolean {
  const stats = callIfPresent(() => statSync(path));
  return stats !== undefined && isUnchanged(stats, mark);
}

/** Returns whether a file still contains the data derived from it, because it is unchanged or has grown and was not replaced. */
export function isKept(now: FileMark | undefined, mark: FileMark): boolean {
  if (now === undefined) return false;
  // Some systems do not number files.
  const hasGrown = now.size > mark.size && mark.ino !== 0 && isSameFile(now, mark);
  return hasGrown || isUnchanged(now, mark);
}

/** Returns the result of `isKept` for the file at a path. */
export function isKeptAt(path: string, mark: FileMark): boolean {
  return isKept(
    callIfPresent(() => statSync(path)),
    mark,
  );
}

/** File that is open for reading, with its state when it was opened. */
export interface ScannedFile extends FileMark {
  readonly fd: number;
}

/** Number of bytes to read at a time. Small enough to stay in a processor's cache while being scanned. */
const PIECE_BYTES = 512 * 1024;

/** Buffer that is reused for the next file, because allocating new memory for thousands of files would add up. */
let spare: Buffer | undefined;

/** Opens a plain file for reading, until `closeFile`. */
export function openToScan(path: string): ScannedFile {
  const fd = retryAfterReplacement(realFileSystem, path, () => openForReading(realFileSystem, path));
  try {
    const stats = realFileSystem.fstatSync(fd);
    if (!stats.isFile()) throw new NotAPlainFileError(`${path} is not a plain file`);
    return { fd, ...toFileMark(stats) };
  } catch (error) {
    realFileSystem.closeSync(fd);
    throw error;
  }
}

/** Opens a plain file as `openToScan` does, calls a function, and closes the file. */
export function withScannedFile<T>(path: string, use: (file: ScannedFile) => T): T {
  const file = openToScan(path);
  try {
    return use(file);
  } finally {
    closeFile(file);
  }
}

/** Closes a file that `openToScan` opened. */
export function closeFile(file: ScannedFile): void {
  realFileSystem.closeSync(file.fd);
}

/**
 * Reads an open file piece by piece, up to its size when it was opened.
 *
 * @param overlap - Number of bytes in each piece that are repeated at the start of the next one.
 * @returns Pieces, each valid until the next one is requested.
 */
export function* readFilePieces(file: ScannedFile, start: number, overlap = 0): Generator<Buffer, void> {
  const buffer = spare ?? Buffer.allocUnsafeSlow(PIECE_BYTES);
  spare = undefined;
  try {
    let kept = 0;
    for (let at = start; at < file.size; ) {
      const count = readSync(file.fd, buffer, kept, Math.min(buffer.length - kept, file.size - at), at);
      if (count === 0) return;
      at += count;
      const filled = kept + count;
      yield buffer.subarray(0, filled);
      kept = Math.min(overlap, filled);
      buffer.copyWithin(0, filled - kept, filled);
    }
  } finally {
    spare = buffer;
  }
}
