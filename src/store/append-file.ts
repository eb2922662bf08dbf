import { constants, type Stats } from "node:fs";
import { dirname } from "node:path";
import { type Descriptor, poolDescriptor, releaseDescriptor, touchDescriptor } from "./descriptors.ts";
import {
  FILE_MODE,
  type FileSystem,
  ifPresent,
  makeFolder,
  openForReading,
  readRange,
  syncFolder,
  writeFully,
  writeSome,
} from "./file-system.ts";

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDWR } = constants;

/** Tells one file from another under the same name. */
export interface FileIdentity {
  readonly dev: number;
  readonly ino: number;
}

/** How a path stands at a moment. */
export interface FileState extends FileIdentity {
  readonly size: number;
}

/** A path that was refused because no plain file stands there. */
export class NotAPlainFileError extends Error {}

/**
 * A file that is only ever appended to, through a descriptor that is opened when needed and kept while in use.
 *
 * @remarks All calls are synchronous and fail with the system's error.
 */
export class AppendFile {
  readonly path: string;
  readonly #fs: FileSystem;
  #identity: FileIdentity | undefined;
  #descriptor: Descriptor | undefined;

  constructor(fs: FileSystem, path: string) {
    this.#fs = fs;
    this.path = path;
  }

  /** The file that was read or made; undefined before. */
  get identity(): FileIdentity | undefined {
    return this.#identity;
  }

  /** Whether the descriptor is open, so that the file can be read even if its name is gone. */
  get isHeld(): boolean {
    return this.#descriptor?.fd !== undefined;
  }

  /** Looks at what stands at the path; undefined if nothing does. */
  look(): FileState | undefined {
    const stats = this.#fs.statSync(this.path, { throwIfNoEntry: false });
    return stats === undefined ? undefined : stateOf(stats);
  }

  /** Whether a state is that of the file that was read or made. */
  isSame(state: FileIdentity): boolean {
    return this.#identity?.ino === state.ino && this.#identity.dev === state.dev;
  }

  /** The size of the file that is written to, whatever its name is now. */
  size(): number {
    return this.#fs.fstatSync(this.#open()).size;
  }

  /**
   * Makes the file, and its folder, with its first bytes. An empty file at the path gives way; anything else is an error.
   *
   * @param isSynced - Whether to wait until file and name survive a power cut.
   */
  create(bytes: Uint8Array, isSynced: boolean): void {
    makeFolder(this.#fs, dirname(this.path));
    const stats = this.#fs.lstatSync(this.path, { throwIfNoEntry: false });
    if (stats?.isFile() && stats.size === 0) this.#fs.unlinkSync(this.path);
    const flags = O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW;
    const fd = this.#fs.openSync(this.path, flags, FILE_MODE);
    try {
      this.#fs.fchmodSync(fd, FILE_MODE);
      writeFully(this.#fs, fd, bytes);
      if (isSynced) this.#fs.fsyncSync(fd);
      if (isSynced) syncFolder(this.#fs, dirname(this.path));
      this.#hold(fd);
    } catch (error) {
      this.#fs.closeSync(fd);
      ifPresent(() => this.#fs.unlinkSync(this.path));
      throw error;
    }
  }

  /** Makes the file anew from the descriptor that is held, after its name has gone. */
  recreate(): void {
    const bytes = this.read((fd) => readRange(this.#fs, fd, 0, this.#fs.fstatSync(fd).size));
    const [identity, descriptor] = [this.#identity, this.#descriptor];
    this.#identity = undefined;
    try {
      this.create(bytes, false);
    } catch (error) {
      // Without a new file the old descriptor is all there is of the session: it is kept for the next try.
      this.#identity = identity;
      this.#descriptor = descriptor;
      throw error;
    }
    if (descriptor !== undefined) releaseDescriptor(descriptor);
  }

  /**
   * Appends bytes in one write.
   *
   * On failure what was partly written is cut off again, unless somebody else wrote behind it.
   *
   * @param expectedEnd - Where the file ends if nobody else wrote.
   * @param isSynced - Whether to wait until the bytes survive a power cut.
   */
  append(bytes: Uint8Array, expectedEnd: number, isSynced: boolean): void {
    const fd = this.#open();
    let written = 0;
    try {
      while (written < bytes.length) written += writeSome(this.#fs, fd, bytes, written);
      if (isSynced) this.#fs.fsyncSync(fd);
    } catch (error) {
      this.#cutBack(fd, expectedEnd, written);
      throw error;
    }
  }

  /** Waits until what was written survives a power cut. */
  sync(): void {
    this.#fs.fsyncSync(this.#open());
  }

  /**
   * Calls with a descriptor for reading: the one that is held, else one for the moment.
   *
   * @throws {NotAPlainFileError} If a folder, pipe, socket or device stands at the path.
   */
  read<T>(use: (fd: number) => T): T {
    const held = this.#descriptor?.fd;
    if (held !== undefined) return use(held);
    const before = this.#fs.statSync(this.path);
    if (!before.isFile()) throw new NotAPlainFileError(`${this.path} is not a plain file`);
    const fd = openForReading(this.#fs, this.path);
    try {
      const state = stateOf(this.#fs.fstatSync(fd));
      this.#identity ??= state;
      if (!this.isSame(state)) throw new Error(`${this.path} is another file now`);
      return use(fd);
    } finally {
      this.#fs.closeSync(fd);
    }
  }

  /** Closes the descriptor; the next write opens it again. */
  release(): void {
    if (this.#descriptor !== undefined) releaseDescriptor(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** Forgets which file it was, because another one took its place on purpose. */
  forget(): void {
    this.release();
    this.#identity = undefined;
  }

  #open(): number {
    const held = this.#descriptor?.fd;
    if (this.#descriptor !== undefined && held !== undefined) {
      touchDescriptor(this.#descriptor);
      return held;
    }
    const fd = this.#fs.openSync(this.path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK);
    try {
      this.#hold(fd);
    } catch (error) {
      this.#fs.closeSync(fd);
      throw error;
    }
    return fd;
  }

  #hold(fd: number): void {
    const stats = this.#fs.fstatSync(fd);
    if (!stats.isFile()) throw new NotAPlainFileError(`${this.path} is not a plain file`);
    const state = stateOf(stats);
    this.#identity ??= state;
    if (!this.isSame(state)) throw new Error(`${this.path} is another file now`);
    this.#descriptor = poolDescriptor(this.#fs, fd, this);
  }

  #cutBack(fd: number, expectedEnd: number, written: number): void {
    try {
      const { size } = this.#fs.fstatSync(fd);
      // Any other size says that somebody else wrote, too, and then nothing may be cut.
      if (written > 0 && size === expectedEnd + written) this.#fs.ftruncateSync(fd, expectedEnd);
    } catch (error) {
      // The write's own error is the one to tell. What stays behind is a torn tail, which the next append isolates.
      if (!(error instanceof Error)) throw error;
    }
  }
}

function stateOf({ dev, ino, size }: Stats): FileState {
  return { dev, ino, size };
}
