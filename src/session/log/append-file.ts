import { constants } from "node:fs";
import { dirname } from "node:path";
import { LINE_BREAK } from "../../core/jsonl/line-scanner.ts";
import {
  type Descriptor,
  keepForReading,
  poolDescriptor,
  releaseDescriptor,
  touchDescriptor,
} from "../fs/descriptors.ts";
import {
  type FileIdentity,
  type FileState,
  getOpenState,
  isSameFile,
  toFileState,
} from "../fs/file-identity.ts";
import {
  callIfPresent,
  closeQuietly,
  FILE_MODE,
  type FileSystem,
  hasErrorCode,
  isKeepingOpenFiles,
  makeFolder,
  NotAPlainFileError,
  openFile,
  openForReading,
  readRange,
  removeQuietly,
  setMode,
  syncFolder,
  writeSome,
} from "../fs/file-system.ts";
import { FileChangedError } from "./file-errors.ts";

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDWR } = constants;

/** Flags for opening a file to append: never through a link, and without waiting on a pipe. */
const APPENDING = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK;

/** Maximum number of attempts to write lines that other processes' writes keep splitting. */
const MAX_ATTEMPTS = 3;

const AT_PATH = { bigint: true, throwIfNoEntry: false } as const;

/** File that is open for reading. */
export interface OpenToRead {
  readonly fd: number;
  close(): void;
}

/**
 * File that is only ever appended to, through a descriptor that is opened on demand and kept while in use.
 *
 * @remarks All calls are synchronous and fail with the system's error.
 */
export class AppendFile {
  readonly path: string;
  /** State of the file when it was first opened. */
  opened: FileState | undefined;
  readonly #fs: FileSystem;
  readonly #keepsOpenFiles: boolean;
  #identity: FileIdentity | undefined;
  #descriptor: Descriptor | undefined;
  /** Descriptor for reading only, while data is being read. */
  #reading: number | undefined;
  /** Number of bytes that the current write has written so far. */
  #written = 0;
  /** File that a failed `create` could not remove, with the maximum number of bytes written to it. */
  #leftover: FileState | undefined;

  constructor(fs: FileSystem, path: string) {
    this.#fs = fs;
    this.path = path;
    this.#keepsOpenFiles = isKeepingOpenFiles(fs);
  }

  /** Whether the file is open, so that it can be read even if its name was removed. */
  get isHeld(): boolean {
    return this.#fd !== undefined;
  }

  get #fd(): number | undefined {
    return this.#descriptor?.fd ?? this.#reading;
  }

  /** Returns the state of the path; undefined if no file is there. */
  stateAtPath(): FileState | undefined {
    const stats = this.#fs.statSync(this.path, AT_PATH);
    return stats && toFileState(stats);
  }

  /** Returns whether a state belongs to the file that this object has read or created. */
  isSame(state: FileIdentity): boolean {
    return isSameFile(this.#identity, state);
  }

  /** Returns whether two objects refer to the same file. */
  isSameAs(other: AppendFile): boolean {
    return other.#identity !== undefined && this.isSame(other.#identity);
  }

  /** Whether the open file was replaced by a process that copied its lines. A read-only file looks the same. */
  get isRetired(): boolean {
    const fd = this.#fd;
    return fd !== undefined && isRetired(this.#fs.fstatSync(fd));
  }

  /** Whether the open file was deleted as a session, permanently or to the trash. */
  get isDeleted(): boolean {
    const fd = this.#fd;
    return fd !== undefined && (this.#fs.fstatSync(fd).mode & DELETED_BIT) !== 0;
  }

  /** Whether another file is at its path, and this one was retired: lines written to it late may not be in any other file. */
  get isSuperseded(): boolean {
    const fd = this.#descriptor?.fd ?? this.#reading;
    if (fd === undefined) return false;
    return (this.#keepsOpenFiles || isRetired(this.#fs.fstatSync(fd))) && !this.#isAtPath(fd);
  }

  /** Returns the state of the open file, regardless of its current name. */
  state(): FileState {
    return this.read((fd) => getOpenState(this.#fs, fd));
  }

  /** Creates the file, and its folder, with its first bytes. The path must be unused or an empty file. */
  create(bytes: Uint8Array, isSynced: boolean): void {
    makeFolder(this.#fs, dirname(this.path));
    this.#refuseLink();
    const isThere = this.#mayBegin();
    const flags = isThere ? APPENDING : APPENDING | O_CREAT | O_EXCL;
    const fd = this.#fs.openSync(this.path, flags, FILE_MODE);
    this.#written = 0;
    let state: FileState | undefined;
    try {
      state = this.#plainState(fd);
      if (this.#isLeftover(state)) this.#fs.ftruncateSync(fd, 0);
      else if (state.size > 0) throw makeExistsError(this.path);
      setMode(this.#fs, fd, FILE_MODE);
      this.#writeRest(fd, bytes, bytes.length, 0);
      if (isThere && this.#fs.fstatSync(fd).size !== bytes.length) throw makeExistsError(this.path);
      if (isSynced) this.#fs.fsyncSync(fd);
      if (isSynced) syncFolder(this.#fs, dirname(this.path));
    } catch (error) {
      if (isThere) this.#cutUnlessReplaced(fd, 0, bytes);
      else if (!this.#remove(fd, bytes.length)) this.#leftover = state && { ...state, size: bytes.length };
      closeQuietly(this.#fs, fd);
      throw error;
    }
    this.#leftover = undefined;
    this.#identity = state;
    this.#descriptor = poolDescriptor(this.#fs, fd, this);
  }

  /**
   * Appends the first `length` bytes in one write, then checks that the file is still at the path.
   *
   * If the write fails midway, the written bytes are truncated, unless another process has written after them. A retired file is
   * not truncated, because other processes have read the lines, or are copying them.
   *
   * @param expectedEnd - End of the file if no other process wrote.
   * @param isSynced - Whether to wait until the bytes survive a power failure.
   * @returns Size of the file after the write; undefined if another file is at the path, which must receive the lines.
   */
  append(bytes: Uint8Array, length: number, expectedEnd: number, isSynced: boolean): number | undefined {
    const descriptor = this.#descriptor;
    const fd = descriptor?.isFresh === true && descriptor.fd !== undefined ? descriptor.fd : this.#open();
    if (fd === undefined) return undefined;
    this.#written = 0;
    try {
      const count = this.#fs.writeSync(fd, bytes, 0, length);
      this.#written = count;
      if (count !== length) this.#writeRest(fd, bytes, length, expectedEnd);
      if (isSynced) this.#fs.fsyncSync(fd);
      const size = this.#findSize(fd);
      if (size !== undefined) return size;
    } catch (error) {
      if (this.#cutUnlessReplaced(fd, expectedEnd, bytes.subarray(0, length))) throw error;
      return undefined;
    }
    this.#cutUnlessReplaced(fd, expectedEnd, bytes.subarray(0, length));
    return undefined;
  }

  /** Waits until written bytes survive a power failure. */
  sync(): void {
    const fd = this.#open();
    if (fd === undefined) throw new FileChangedError(`${this.path} is another file now`);
    this.#fs.fsyncSync(fd);
  }

  /** Calls `use` with a descriptor for reading. */
  read<T>(use: (fd: number) => T): T {
    const { fd, close } = this.openToRead();
    try {
      return use(fd);
    } finally {
      close();
    }
  }

  readRange(offset: number, length: number): Uint8Array {
    return this.read((fd) => readRange(this.#fs, fd, offset, length));
  }

  /**
   * Opens the file for reading, unaffected by changes of its path until `close`; reuses an open descriptor.
   *
   * @throws {NotAPlainFileError} If a folder, pipe, socket, or device is at the path.
   * @throws {FileChangedError} If another file is there.
   */
  openToRead(): OpenToRead {
    const held = this.#descriptor;
    if (held?.fd !== undefined) return { fd: held.fd, close: keepForReading(held, held.fd) };
    if (this.#reading !== undefined) return { fd: this.#reading, close: () => undefined };
    const before = this.#fs.statSync(this.path);
    if (!before.isFile()) throw new NotAPlainFileError(`${this.path} is not a plain file`);
    const fd = openForReading(this.#fs, this.path);
    try {
      if (!this.#isOfFile(fd)) throw new FileChangedError(`${this.path} is another file now`);
    } catch (error) {
      closeQuietly(this.#fs, fd);
      throw error;
    }
    this.#reading = fd;
    const close = () => {
      this.#reading = undefined;
      closeQuietly(this.#fs, fd);
    };
    return { fd, close };
  }

  /** Closes the descriptor; the next write opens it again. */
  release(): void {
    if (this.#descriptor !== undefined) releaseDescriptor(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** Opens the file for appending; undefined if another file is at the path. */
  #open(): number | undefined {
    const descriptor = this.#descriptor;
    if (descriptor?.fd !== undefined) {
      if (!descriptor.isFresh) touchDescriptor(descriptor);
      return descriptor.fd;
    }
    this.#refuseLink();
    // The path may be unused while the file is being replaced.
    const fd = callIfPresent(() => openFile(this.#fs, this.path, APPENDING));
    if (fd === undefined) return undefined;
    try {
      if (!this.#isOfFile(fd)) {
        closeQuietly(this.#fs, fd);
        return undefined;
      }
    } catch (error) {
      closeQuietly(this.#fs, fd);
      throw error;
    }
    this.#descriptor = poolDescriptor(this.#fs, fd, this);
    return fd;
  }

  /** Throws for a link if the system does not do so when the file is opened. */
  #refuseLink(): void {
    if (constants.O_NOFOLLOW !== undefined) return;
    const isLink = this.#fs.lstatSync(this.path, { throwIfNoEntry: false })?.isSymbolicLink();
    if (isLink) throw Object.assign(new Error(`${this.path} is a symbolic link`), { code: "ELOOP" });
  }

  /**
   * Returns whether a descriptor refers to the file that was read or created; the first descriptor determines which file that is.
   */
  #isOfFile(fd: number): boolean {
    const state = this.#plainState(fd);
    this.opened ??= state;
    if (this.#identity !== undefined) return isSameFile(this.#identity, state);
    this.#identity = state;
    return true;
  }

  /**
   * Returns the size of the open file, if the bytes just written will be found: by readers of the path, or by the process that
   * replaces the file later.
   *
   * Replacing makes the old file read-only before its last lines are copied. So if the file is still writable after the write,
   * any later replacement copies the written bytes. On systems that cannot replace an open file without renaming it, the old file
   * is no longer at the path by then.
   */
  #findSize(fd: number): number | undefined {
    const stats = this.#fs.fstatSync(fd);
    const isSafe = !this.#keepsOpenFiles && stats.nlink > 0 && !isRetired(stats);
    return isSafe || this.#isAtPath(fd) ? stats.size : undefined;
  }

  /**
   * Returns whether the path refers to this file with a given size and, if the file is not open, with the time of an earlier
   * state.
   */
  isAtPathWith(size: number, seen: FileState | undefined): boolean {
    const stats = this.#fs.statSync(this.path, AT_PATH);
    if (stats === undefined || Number(stats.size) !== size || !isSameFile(this.#identity, stats))
      return false;
    const isHeld = (this.#descriptor?.fd ?? this.#reading) !== undefined;
    return isHeld || (seen?.size === size && seen.mtimeNs === stats.mtimeNs);
  }

  /**
   * Returns whether the path refers to the open file. Queries both, because a file's number may change with its name on USB
   * disks.
   */
  #isAtPath(fd: number): boolean {
    return isSameFile(this.stateAtPath(), getOpenState(this.#fs, fd));
  }

  #plainState(fd: number): FileState {
    const stats = this.#fs.fstatSync(fd, { bigint: true });
    if (!stats.isFile()) throw new NotAPlainFileError(`${this.path} is not a plain file`);
    return toFileState(stats);
  }

  /** Returns whether the file at the path can be used for a new session: an empty file, or the remainder of a failed attempt. */
  #mayBegin(): boolean {
    const stats = this.#fs.lstatSync(this.path, { bigint: true, throwIfNoEntry: false });
    return stats?.isFile() === true && (stats.size === 0n || this.#isLeftover(toFileState(stats)));
  }

  #isLeftover(state: FileState): boolean {
    return isSameFile(this.#leftover, state) && state.size <= (this.#leftover?.size ?? 0);
  }

  /** Removes a new file after a failure, unless other processes have found it and appended to it; false if it may still exist. */
  #remove(fd: number, length: number): boolean {
    try {
      const state = getOpenState(this.#fs, fd);
      const now = this.stateAtPath();
      const isOwn = now !== undefined && isSameFile(state, now) && state.size <= length;
      return !isOwn || removeQuietly(this.#fs, this.path);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return false;
    }
  }

  /**
   * Writes the remaining bytes; writes all of them again in one write if the system split it and other processes wrote in
   * between.
   *
   * Writing a line twice is safe, because readers ignore the repetition.
   */
  #writeRest(fd: number, bytes: Uint8Array, length: number, expectedEnd: number): void {
    let start = expectedEnd;
    let lines = bytes;
    let end = length;
    for (let attempt = 1; ; attempt++) {
      let at = attempt === 1 ? this.#written : 0;
      let parts = at > 0 ? 1 : 0;
      for (; at < end; parts++) {
        const count = writeSome(this.#fs, fd, lines, at, end);
        at += count;
        this.#written += count;
      }
      if (parts === 1) return;
      const { size } = this.#fs.fstatSync(fd);
      if (size === start + end) return;
      if (attempt === MAX_ATTEMPTS) throw new Error("others' lines came between the parts of a write");
      start = size;
      lines = Buffer.concat([LINE_BREAK, bytes.subarray(0, length)]);
      end = lines.length;
    }
  }

  /**
   * Truncates the written bytes if no other process wrote; returns false if the file is retired and another one is at its path.
   */
  #cutUnlessReplaced(fd: number, expectedEnd: number, bytes: Uint8Array): boolean {
    try {
      const stats = this.#fs.fstatSync(fd);
      const isSuspect = isRetired(stats) || this.#keepsOpenFiles;
      if (isSuspect && !this.#isAtPath(fd)) return false;
      const count = stats.size - expectedEnd;
      // Any other size normally means that another process also wrote; then nothing may be truncated.
      const isOwn = this.#written > 0 && count === this.#written;
      // The system may have written some of the bytes and reported only the error.
      if (isOwn || this.#holds(fd, expectedEnd, bytes.subarray(0, count), count)) {
        this.#fs.ftruncateSync(fd, expectedEnd);
      }
    } catch (error) {
      // Report the error of the write itself. The remainder is a torn tail, which the next append isolates.
      if (!(error instanceof Error)) throw error;
    }
    return true;
  }

  /** Returns whether the last `count` bytes of the file equal these. */
  #holds(fd: number, start: number, bytes: Uint8Array, count: number): boolean {
    if (count <= 0 || bytes.length !== count) return false;
    const there = Buffer.alloc(count);
    return this.#fs.readSync(fd, there, 0, count, start) === count && there.equals(bytes);
  }
}

function makeExistsError(path: string): Error {
  return Object.assign(new Error(`${path} exists already`), { code: "EEXIST" });
}

/** Permissions of a replaced file. */
const RETIRED_MODE = 0o400;

const WRITE_BITS = 0o222;

/** Time set on a replaced file if permissions do not persist: the first that every file system supports. */
const RETIRED_AT = new Date("1980-01-02T00:00:00Z");

/** File times are rounded, and some are local. */
const RETIRED_BEFORE_MS = Date.parse("1980-02-01T00:00:00Z");

/** Makes a replaced file read-only: its writers detect that after their next write, and switch to the new file. */
export function retireFile(fs: FileSystem, fd: number): void {
  // On these systems, the old file is no longer at the path, which its writers detect.
  if (isKeepingOpenFiles(fs)) return;
  try {
    fs.fchmodSync(fd, RETIRED_MODE);
  } catch (error) {
    // Another user's file, or a file system without permissions: writers then detect that the file has no name.
    if (!hasErrorCode(error, ...NO_MODES)) throw error;
  }
}

/** Errors of file systems that do not store modes, or for another user's file. */
const NO_MODES = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EINVAL"];

/** Sticky bit, which has no meaning on a file, survives writes, and is not removed by reading. */
const DELETED_BIT = 0o1000;

/**
 * Marks a file before it is deleted, so that sessions that have it open do not recreate it. If the system rejects the mark, they
 * do.
 */
export function markDeleted(fs: FileSystem, path: string): void {
  try {
    callIfPresent(() => fs.chmodSync(path, (fs.statSync(path).mode & 0o777) | DELETED_BIT));
  } catch (error) {
    if (!hasErrorCode(error, ...NO_MODES, "EFTYPE", "EROFS")) throw error;
  }
}

/** Removes the mark of a file that was not deleted, or was restored. */
export function unmarkDeleted(fs: FileSystem, path: string): void {
  const { mode = 0 } = fs.statSync(path, { throwIfNoEntry: false }) ?? {};
  if ((mode & DELETED_BIT) !== 0) fs.chmodSync(path, mode & 0o777);
}

/** Marks a replaced file whose lines were copied, so that sessions that still have it open do not restore its lines. */
export function markCopied(fs: FileSystem, path: string): void {
  if (isKeepingOpenFiles(fs)) callIfPresent(() => fs.utimesSync(path, RETIRED_AT, RETIRED_AT));
}

/** Returns whether a file was retired, judged by its mode or time. A read-only file looks the same. */
function isRetired({ mode, mtimeMs }: { readonly mode: number; readonly mtimeMs: number }): boolean {
  return (mode & WRITE_BITS) === 0 || mtimeMs < RETIRED_BEFORE_MS;
}
