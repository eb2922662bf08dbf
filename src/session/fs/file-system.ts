import nodeFs from "node:fs";
import { dirname } from "node:path";
import { callQuietly } from "../../core/format/errors.ts";
import { getMonotonicMs, sleepFor } from "./clock.ts";

/** File system calls required for session files. `node:fs` provides all of them. Tests pass an implementation that fails. */
export type FileSystem = FileCalls & {
  /** Whether an open file can be moved but not immediately replaced or removed. Default: true on Windows, otherwise false. */
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

/** File system of this machine. */
export const realFileSystem: FileSystem = nodeFs;

/** Returns whether an open file can be moved but not immediately replaced or removed. */
export function isKeepingOpenFiles({ keepsOpenFiles = process.platform === "win32" }: FileSystem): boolean {
  return keepsOpenFiles;
}

/** Maximum time to retry while another program, such as a virus scanner, has a file locked, in milliseconds. */
const HELD_MS = 1_000;

/** Maximum pause between two retries, in milliseconds. */
const MAX_PAUSE_MS = 50;

/**
 * Retries a call for a short time, on systems where programs can lock open files.
 *
 * @param codes - Error codes that mean that a file is locked. Default: those that Windows reports when a locked file is moved.
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

/** Mode of every file that this library creates. */
export const FILE_MODE = 0o600;

/** Mode of every folder that this library creates. */
const FOLDER_MODE = 0o700;

const { O_CREAT, O_EXCL, O_NONBLOCK = 0, O_RDONLY, O_WRONLY } = nodeFs.constants;

/** Number of bytes read at a time. */
export const PIECE_BYTES = 256 * 1024;

/** Opens a file for reading. Never waits on a pipe. */
export function openForReading(fs: FileSystem, path: string): number {
  return openFile(fs, path, O_RDONLY | O_NONBLOCK);
}

/** Opens a file. Waits for a short time if another program has exclusive access. */
export function openFile(fs: FileSystem, path: string, flags: number): number {
  if (!isKeepingOpenFiles(fs)) return fs.openSync(path, flags);
  return retryWhileHeld(fs, () => fs.openSync(path, flags), ["EBUSY"]);
}

/** Opens a file for reading, calls a function, and closes the file. */
export function withOpenFile<T>(fs: FileSystem, path: string, use: (fd: number) => T): T {
  const fd = openForReading(fs, path);
  try {
    return use(fd);
  } finally {
    closeQuietly(fs, fd);
  }
}

/** Returns the result of a call, or undefined if the file does not exist. No other function converts that error. */
export function callIfPresent<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    if (hasErrorCode(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}

/** Returns whether there is a folder at a path. */
export function isFolder(path: string): boolean {
  return nodeFs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Reads exactly the given range, or less at the end of the file. */
export function readRange(fs: FileSystem, fd: number, offset: number, length: number): Buffer {
  return readInto(fs, fd, Buffer.allocUnsafe(length), offset, length);
}

/** Reads a range into a buffer. Returns the part of the buffer that was filled. */
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
 * Reads a range piece by piece. Each piece is valid until the next one is requested.
 *
 * @param end - Offset at which to stop, if the file does not end earlier.
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

/** Writes all bytes to the end of a file that is open for writing. */
export function writeFully(fs: FileSystem, fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSome(fs, fd, bytes, at, bytes.length);
}

/** Writes as many of the bytes in `[from, end)` as the system accepts in one call. Returns the number of bytes written. */
export function writeSome(fs: FileSystem, fd: number, bytes: Uint8Array, from: number, end: number): number {
  const count = fs.writeSync(fd, bytes, from, end - from);
  if (count === 0) throw new Error("the system wrote nothing");
  return count;
}

/** Ensures that changes to file names in a folder survive a power failure, if the system supports this. */
export function syncFolder(fs: FileSystem, folder: string): void {
  // Windows cannot open folders, so the rename itself must suffice.
  if (process.platform === "win32") return;
  try {
    const fd = fs.openSync(folder, O_RDONLY);
    try {
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  } catch (error) {
    // Some folders are writable but not readable, some file systems cannot sync folders, and some processes are not permitted to.
    if (!hasErrorCode(error, "EACCES", "EPERM", "EINVAL", "ENOTSUP", "EOPNOTSUPP", NOT_PERMITTED))
      throw error;
  }
}

/** Creates a folder and its parents, inaccessible to other users, so that they survive a power failure. */
export function makeFolder(fs: FileSystem, folder: string): void {
  const first = fs.mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) {
    // The process's umask may have removed more than other users' permissions.
    fs.chmodSync(made, FOLDER_MODE);
    syncFolder(fs, dirname(made));
  }
}

/** Error code of `node --permission` for calls that it does not allow. */
export const NOT_PERMITTED = "ERR_ACCESS_DENIED";

/** Sets the permissions of an open file, unless it already has them, because `node --permission` rejects the call. */
export function setMode(fs: FileSystem, fd: number, mode: number): void {
  if ((fs.fstatSync(fd).mode & 0o777) !== mode) fs.fchmodSync(fd, mode);
}

/** Creates a file for writing that is inaccessible to other users. The file must not exist. */
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

/**
 * Removes a file after a failure, and ignores errors, because the error of that failure is the one to report. Returns false if
 * the removal failed.
 */
export function removeQuietly(fs: FileSystem, path: string): boolean {
  const remove = () => {
    callIfPresent(() => fs.unlinkSync(path));
    return true;
  };
  return callQuietly(remove) ?? false;
}

/** Closes a descriptor and ignores errors, because all written data has been passed to the system. */
export function closeQuietly(fs: FileSystem, fd: number): void {
  try {
    fs.closeSync(fd);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
}

/** Thrown if a path is not a plain file. */
export class NotAPlainFileError extends Error {}

/**
 * Returns the permissions of a file to be replaced. Throws if it is a symbolic link, because the target would not be replaced.
 */
export function getPlainFileMode(fs: FileSystem, path: string): number {
  const stats = fs.lstatSync(path);
  if (!stats.isFile()) throw new NotAPlainFileError(`${path} is not a plain file`);
  return stats.mode & 0o777;
}

/** Returns whether a caught value is an operating system error with one of these codes. */
export function hasErrorCode(error: unknown, ...codes: string[]): boolean {
  return (
    error instanceof Error && "code" in error && typeof error.code === "string" && codes.includes(error.code)
  );
}
