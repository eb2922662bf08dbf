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
import { DELETED_BIT, RETIRED_BEFORE_MS, WRITE_BITS } from "./file-marks.ts";

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDWR } = constants;

/** Flags for opening a file to append. Symbolic links are not followed, and opening a pipe does not block. */
const APPENDING = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK;

/** Maximum number of attempts to write lines if writes by other processes keep splitting them. */
const MAX_ATTEMPTS = 3;

const AT_PATH = { bigint: true, throwIfNoEntry: false } as const;

/** File that is open for reading. */
export interface OpenToRead {
  readonly fd: number;
  close(): void;
}

/**
 * File that is only appended to. Its descriptor is opened on demand and kept while in use.
 *
 * @remarks All calls are synchronous and throw the system's error if they fail.
 */
export class AppendFile {
  readonly path: string;
  /** State of the file when it was first opened. */
  opened: FileState | undefined;
  readonly #fs: FileSystem;
  readonly #keepsOpenFiles: boolean;
  #identity: FileIdentity | undefined;
  #descriptor: Descriptor | undefined;
  /** Read-only descriptor, open only while data is being read. */
  #reading: number | undefined;
  /** Number of bytes written so far by the current write. */
  #written = 0;
  /** File that a failed `create` could not remove, with the number of bytes that may have been written to it. */
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

  /** The open descriptor. An open and a first context spell this out, because a new process compiles every function that runs. */
  get #fd(): number | undefined {
    return this.#descriptor?.fd ?? this.#reading;
  }

  /** Returns the state of the file at the path; undefined if there is no file. */
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

  /**
   * Whether the open file was replaced by a process that copied its lines. A read-only file cannot be distinguished from that.
   */
  get isRetired(): boolean {
    const fd = this.#fd;
    return fd !== undefined && isRetired(this.#fs.fstatSync(fd));
  }

  /** Whether the open file was deleted as a session, permanently or to the trash. */
  get isDeleted(): boolean {
    const fd = this.#fd;
    return fd !== undefined && (this.#fs.fstatSync(fd).mode & DELETED_BIT) !== 0;
  }

  /**
   * Whether this file was retired and another file is at its path, so that lines written to it late may not be in any other file.
   */
  get isSuperseded(): boolean {
    const fd = this.#descriptor?.fd ?? this.#reading;
    if (fd === undefined) return false;
    return (this.#keepsOpenFiles || isRetired(this.#fs.fstatSync(fd))) && !this.#isAtPath(fd);
  }

  /** Returns the state of the open file, regardless of its current name. */
  state(): FileState {
    return this.read((fd) => getOpenState(this.#fs, fd));
  }

  /** Creates the file and its folder, and writes the first bytes. The path must be unused, or the file must be empty. */
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
   * Appends the first `length` bytes in one write, and then checks that the file is still at the path.
   *
   * If the write fails midway, the written bytes are removed, unless another process has written after them. A retired file is
   * not truncated, because other processes may have read the lines or be copying them.
   *
   * @param expectedEnd - End of the file if no other process has written to it.
   * @param isSynced - Whether to wait until the bytes survive a power failure.
   * @returns Size of the file after the write; undefined if another file is at the path, to which the lines must then be written.
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
    if (fd === undefined) throw new FileChangedError(`${this.path} was replaced by another file`);
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
   * Opens the file for reading, regardless of changes to its path, until `close` is called. Reuses an open descriptor.
   *
   * @throws {NotAPlainFileError} If a folder, pipe, socket, or device is at the path.
   * @throws {FileChangedError} If another file is at the path.
   */
  openToRead(): OpenToRead {
    const held = this.#descriptor;
    if (held?.fd !== undefined) return { fd: held.fd, close: keepForReading(held, held.fd) };
    if (this.#reading !== undefined) return { fd: this.#reading, close: () => undefined };
    const before = this.#fs.statSync(this.path);
    if (!before.isFile()) throw new NotAPlainFileError(`${this.path} is not a plain file`);
    const fd = openForReading(this.#fs, this.path);
    try {
      if (!this.#isOfFile(fd)) throw new FileChangedError(`${this.path} was replaced by another file`);
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

  /** Closes the descriptor. The next write reopens the file. */
  release(): void {
    if (this.#descriptor !== undefined) releaseDescriptor(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** Opens the file for appending. Returns undefined if another file is at the path. */
  #open(): number | undefined {
    const descriptor = this.#descriptor;
    if (descriptor?.fd !== undefined) {
      if (!descriptor.isFresh) touchDescriptor(descriptor);
      return descriptor.fd;
    }
    this.#refuseLink();
    // There may be no file at the path while it is being replaced.
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

  /** Throws if the path is a symbolic link, on systems where opening the file would follow it. */
  #refuseLink(): void {
    if (constants.O_NOFOLLOW !== undefined) return;
    const isLink = this.#fs.lstatSync(this.path, { throwIfNoEntry: false })?.isSymbolicLink();
    if (isLink) throw Object.assign(new Error(`${this.path} is a symbolic link`), { code: "ELOOP" });
  }

  /**
   * Returns whether a descriptor refers to the file that was read or created. The first descriptor determines which file that is.
   */
  #isOfFile(fd: number): boolean {
    const state = this.#plainState(fd);
    this.opened ??= state;
    if (this.#identity !== undefined) return isSameFile(this.#identity, state);
    this.#identity = state;
    return true;
  }

  /**
   * Returns the size of the open file if the bytes just written are certain to be found, either by readers of the path or by the
   * process that later replaces the file.
   *
   * A replacement makes the old file read-only before copying its last lines. Therefore, if the file is still writable after the
   * write, any later replacement copies the written bytes. On systems where an open file must be renamed before it can be
   * replaced, the old file is no longer at the path by then.
   */
  #findSize(fd: number): number | undefined {
    const stats = this.#fs.fstatSync(fd);
    const isSafe = !this.#keepsOpenFiles && stats.nlink > 0 && !isRetired(stats);
    return isSafe || this.#isAtPath(fd) ? stats.size : undefined;
  }

  /**
   * Returns whether the path refers to this file and the file has a given size. If the file is not open, it must also have the
   * modification time of an earlier state.
   */
  isAtPathWith(size: number, seen: FileState | undefined): boolean {
    const stats = this.#fs.statSync(this.path, AT_PATH);
    if (stats === undefined || Number(stats.size) !== size || !isSameFile(this.#identity, stats))
      return false;
    const isHeld = (this.#descriptor?.fd ?? this.#reading) !== undefined;
    return isHeld || (seen?.size === size && seen.mtimeNs === stats.mtimeNs);
  }

  /**
   * Returns whether the path refers to the open file. Queries both of them, because on USB drives a file's number may change when
   * it is renamed.
   */
  #isAtPath(fd: number): boolean {
    return isSameFile(this.stateAtPath(), getOpenState(this.#fs, fd));
  }

  #plainState(fd: number): FileState {
    const stats = this.#fs.fstatSync(fd, { bigint: true });
    if (!stats.isFile()) throw new NotAPlainFileError(`${this.path} is not a plain file`);
    return toFileState(stats);
  }

  /**
   * Returns whether the file at the path can be used for a new session because it is empty or left over from a failed attempt.
   */
  #mayBegin(): boolean {
    const stats = this.#fs.lstatSync(this.path, { bigint: true, throwIfNoEntry: false });
    return stats?.isFile() === true && (stats.size === 0n || this.#isLeftover(toFileState(stats)));
  }

  #isLeftover(state: FileState): boolean {
    return isSameFile(this.#leftover, state) && state.size <= (this.#leftover?.size ?? 0);
  }

  /**
   * Removes a new file after a failure, unless other processes have found it and appended to it. Returns false if it may still
   * exist.
   */
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
   * Writes the remaining bytes. If the system split the write and other processes wrote in the meantime, writes all bytes again
   * in one write.
   *
   * Writing a line twice is safe, because readers ignore repeated lines.
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
      if (attempt === MAX_ATTEMPTS) throw new Error("lines of other processes split the write");
      start = size;
      lines = Buffer.concat([LINE_BREAK, bytes.subarray(0, length)]);
      end = lines.length;
    }
  }

  /**
   * Removes the written bytes if no other process has written. Returns false if the file is retired and another file is at its
   * path.
   */
  #cutUnlessReplaced(fd: number, expectedEnd: number, bytes: Uint8Array): boolean {
    try {
      const stats = this.#fs.fstatSync(fd);
      const isSuspect = isRetired(stats) || this.#keepsOpenFiles;
      if (isSuspect && !this.#isAtPath(fd)) return false;
      const count = stats.size - expectedEnd;
      // Any other size normally means that another process also wrote, in which case the file must not be truncated.
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

  /** Returns whether the last `count` bytes of the file equal the given bytes. */
  #holds(fd: number, start: number, bytes: Uint8Array, count: number): boolean {
    if (count <= 0 || bytes.length !== count) return false;
    const there = Buffer.alloc(count);
    return this.#fs.readSync(fd, there, 0, count, start) === count && there.equals(bytes);
  }
}

function makeExistsError(path: string): Error {
  return Object.assign(new Error(`${path} already exists`), { code: "EEXIST" });
}

/** Returns whether a file was retired, based on its mode or time. A read-only file cannot be distinguished from a retired one. */
function isRetired({ mode, mtimeMs }: { readonly mode: number; readonly mtimeMs: number }): boolean {
  return (mode & WRITE_BITS) === 0 || mtimeMs < RETIRED_BEFORE_MS;
}
