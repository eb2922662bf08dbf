import nodeFs from "node:fs";
import { dirname } from "node:path";
import { getMonotonicMs, sleepFor } from "./clock.ts";

/** The calls that a session file needs of a file system; `node:fs` has them all. Tests pass one that fails. */
export type FileSystem = FileCalls & {
  /** Whether a file that is open can be moved, but neither replaced nor removed at once. Default: whether this is Windows. */
  readonly keepsOpenFiles?: boolean;
};

type FileCalls = Pick<
  typeof nodeFs,
  | "openSync"
  | "closeSync"
  | "readSync"
  | "writeSync"
  | "fstatSync"
  | "statSync"
  | "lstatSync"
  | "ftruncateSync"
  | "fsyncSync"
  | "fchmodSync"
  | "renameSync"
  | "unlinkSync"
  | "mkdirSync"
  | "chmodSync"
  | "linkSync"
  | "copyFileSync"
  | "utimesSync"
  | "readdirSync"
>;

/** The machine's file system. */
export const realFileSystem: FileSystem = nodeFs;

/** Tells whether a file that is open can be moved, but neither replaced nor removed at once. */
export function isKeepingOpenFiles({ keepsOpenFiles = process.platform === "win32" }: FileSystem): boolean {
  return keepsOpenFiles;
}

/** How long to try again while another program, such as a virus scanner, holds a file. */
const HELD_MS = 1_000;

/** The longest pause between two of these attempts. */
const MAX_PAUSE_MS = 50;

/**
 * Retries a call for a moment, where files that are open can be held against others.
 *
 * @param codes - Errors of a file that is held. Default: the ones by which Windows refuses to move it.
 */
export function retryWhileHeld<T>(fs: FileSystem, call: () => T, codes = ["EBUSY", "EPERM", "EACCES"]): T {
  if (!isKeepingOpenFiles(fs)) return call();
  const deadline = getMonotonicMs() + HELD_MS;
  for (let pause = 1; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    try {
      return call();
    } catch (error) {
      if (!hasErrorCode(error, ...codes) || getMonotonicMs() >= deadline) throw error;
      sleepFor(pause);
    }
  }
}

/** Mode of every file that this library makes. */
export const FILE_MODE = 0o600;

/** Mode of every folder that this library makes. */
const FOLDER_MODE = 0o700;

const { O_CREAT, O_EXCL, O_NONBLOCK = 0, O_RDONLY, O_WRONLY } = nodeFs.constants;

/** Bytes read at a time. */
export const PIECE_BYTES = 256 * 1024;

/** Opens a file for reading; never waits on one that is a pipe. */
export function openForReading(fs: FileSystem, path: string): number {
  return openFile(fs, path, O_RDONLY | O_NONBLOCK);
}

/** Opens a file, after a moment if another program keeps it for itself. */
export function openFile(fs: FileSystem, path: string, flags: number): number {
  if (!isKeepingOpenFiles(fs)) return fs.openSync(path, flags);
  return retryWhileHeld(fs, () => fs.openSync(path, flags), ["EBUSY"]);
}

/** Returns what a call returns, or undefined if it fails because there is no such file. The only place where that counts as an answer. */
export function callIfPresent<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    if (hasErrorCode(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}

/** Reads exactly this range, or less at the end of the file. */
export function readRange(fs: FileSystem, fd: number, offset: number, length: number): Buffer {
  return readInto(fs, fd, Buffer.allocUnsafe(length), offset, length);
}

/** Reads a range into a buffer; returns the part of it that was read. */
export function readInto(fs: FileSystem, fd: number, bytes: Buffer, offset: number, length: number): Buffer {
  let filled = 0;
  while (filled < length) {
    const count = fs.readSync(fd, bytes, filled, length - filled, offset + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

/**
 * Reads a range piece by piece; each piece is valid until the next is asked for.
 *
 * @param end - Offset at which to stop; the end of the file may come before.
 */
export function* readPieces(fs: FileSystem, fd: number, start: number, end: number): Generator<Buffer, void> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, Math.max(1, end - start)));
  let at = start;
  while (at < end) {
    const count = fs.readSync(fd, buffer, 0, Math.min(buffer.length, end - at), at);
    if (count === 0) return;
    at += count;
    yield buffer.subarray(0, count);
  }
}

/** Writes all bytes at the end of a file opened for writing. */
export function writeFully(fs: FileSystem, fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSome(fs, fd, bytes, at, bytes.length);
}

/** Writes bytes `[from, end)`, as many as the system takes at once; returns how many. */
export function writeSome(fs: FileSystem, fd: number, bytes: Uint8Array, from: number, end: number): number {
  const count = fs.writeSync(fd, bytes, from, end - from);
  if (count === 0) throw new Error("the system wrote nothing");
  return count;
}

/** Makes changes of a folder's names survive a power cut, where the system can do that. */
export function syncFolder(fs: FileSystem, folder: string): void {
  // Windows cannot open folders; the rename itself must do.
  if (process.platform === "win32") return;
  try {
    const fd = fs.openSync(folder, O_RDONLY);
    try {
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  } catch (error) {
    // Some folders may be written to but not read, some file systems sync no folders, and some processes may not.
    if (!hasErrorCode(error, "EACCES", "EPERM", "EINVAL", "ENOTSUP", "EOPNOTSUPP", NOT_PERMITTED))
      throw error;
  }
}

/** Creates a folder and its parents, closed to other users, so that they survive a power cut. */
export function makeFolder(fs: FileSystem, folder: string): void {
  const first = fs.mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) {
    // The process's umask may have removed more than other users' rights.
    fs.chmodSync(made, FOLDER_MODE);
    syncFolder(fs, dirname(made));
  }
}

/** What `node --permission` answers to calls that it does not allow. */
export const NOT_PERMITTED = "ERR_ACCESS_DENIED";

/** Sets the permissions of an open file, unless it has them: `node --permission` refuses the call. */
export function setMode(fs: FileSystem, fd: number, mode: number): void {
  if ((fs.fstatSync(fd).mode & 0o777) !== mode) fs.fchmodSync(fd, mode);
}

/** Creates a file, which must not exist, closed to other users, for writing. */
export function createFile(fs: FileSystem, path: string): number {
  const fd = fs.openSync(path, O_WRONLY | O_CREAT | O_EXCL, FILE_MODE);
  try {
    setMode(fs, fd, FILE_MODE);
    return fd;
  } catch (error) {
    closeQuietly(fs, fd);
    removeQuietly(fs, path);
    throw error;
  }
}

/** Removes a file after a failure, whose error is the one to report; returns false if that failed as well. */
export function removeQuietly(fs: FileSystem, path: string): boolean {
  try {
    callIfPresent(() => fs.unlinkSync(path));
    return true;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return false;
  }
}

/** Closes a descriptor and ignores errors: whatever was written through it is with the system. */
export function closeQuietly(fs: FileSystem, fd: number): void {
  try {
    fs.closeSync(fd);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
}

/** Thrown for a path that is no plain file. */
export class NotAPlainFileError extends Error {}

/** Returns the permissions of a file to be replaced. Refuses a link: its target would stay unchanged. */
export function getPlainFileMode(fs: FileSystem, path: string): number {
  const stats = fs.lstatSync(path);
  if (!stats.isFile()) throw new NotAPlainFileError(`${path} is not a plain file`);
  return stats.mode & 0o777;
}

/** Tells whether a caught value is an error of the operating system with one of these codes. */
export function hasErrorCode(error: unknown, ...codes: string[]): boolean {
  return (
    error instanceof Error && "code" in error && typeof error.code === "string" && codes.includes(error.code)
  );
}
