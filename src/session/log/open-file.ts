import { isAscii } from "node:buffer";
import { decodeText } from "../../core/jsonl/decode.ts";
import { LINE_BREAK } from "../../core/jsonl/line-scanner.ts";
import { notASession } from "../../core/jsonl/not-a-session.ts";
import { SessionIndex } from "../../core/jsonl/session-index.ts";
import { type FileState, isSameState } from "../fs/file-identity.ts";
import { type FileSystem, PIECE_BYTES, readRange } from "../fs/file-system.ts";
import { AppendFile, type OpenToRead } from "./append-file.ts";
import { type Intent, toFileError } from "./file-errors.ts";
import type { FileLogOptions } from "./file-log-options.ts";
import { detectFileSource } from "./foreign-file.ts";
import { encodeLines, indexWritten } from "./log-lines.ts";
import { feedSome, feedToEnd } from "./read-session-file.ts";
import type { LogLine } from "./session-log.ts";
import type { OldFile } from "./takeover.ts";

/** Maximum size of a file that is read as text, in bytes. See docs/performance.md#small-sessions. */
const SMALL_FILE_BYTES = 4 * 1024 * 1024;

/** Number of bytes at the start of a line that are sufficient to include its id and time, which make it unique. */
const FINGERPRINT_BYTES = 256;

/**
 * Beginning of a file's last line, used to detect a replaced file.
 *
 * Size and inode are not sufficient: other programs rewrite files in place, the system reuses inodes of deleted files, and after
 * a failed write, a writer replaces its torn line with another line.
 */
export interface FileFingerprint {
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** First ordinal of entries that may have been read before they were completely written. */
  readonly newest: number;
}

const NS_PER_MS = 1_000_000n;

/** Time after a change, in milliseconds, within which another change may leave the file with the same modification time. */
const MTIME_STEP_MS = 3_000;

/** State of the path of an open file: it has the file as read, the file with more data, another file, or no file. */
export type FoundAtPath = "same" | "grown" | "replaced" | "gone";

/**
 * A session file and the index of the data read from it. Never reads another file. If another file is at the path, the log
 * opens that file instead.
 *
 * @remarks If a call fails, it throws the system's error and does not change the state.
 */
export class OpenFile {
  readonly isWritten = true;
  readonly index: SessionIndex;
  /** Whether no other process wrote before or after the last write. */
  isAlone = true;
  readonly #fs: FileSystem;
  readonly #file: AppendFile;
  /** Detects a replaced file. */
  #fingerprint: FileFingerprint | undefined;
  /** State of the path when it last referred to this file. */
  #seen: FileState | undefined;
  /** Whether the file must be reread, because its index has entries that are not in it. */
  #isStale = false;

  /** @param file - File that `index` has read, up to its end. */
  constructor(fs: FileSystem, file: AppendFile, index: SessionIndex, fingerprint?: FileFingerprint) {
    this.#fs = fs;
    this.#file = file;
    this.index = index;
    this.#fingerprint = fingerprint;
  }

  /** Opens the file at a path, for reading with `readSteps`. */
  static at(fs: FileSystem, path: string, maxLineBytes: number | undefined): OpenFile {
    const file = new AppendFile(fs, path);
    const readBytes = (offset: number, length: number) => file.readRange(offset, length);
    return new OpenFile(fs, file, new SessionIndex({ readBytes, decode: decodeAscii, maxLineBytes }));
  }

  /** Whether the descriptor is open, so that the file can be read even if its name was removed. */
  get isHeld(): boolean {
    return this.#file.isHeld;
  }

  /** Whether the open file was replaced by a process that copied its lines. */
  get isRetired(): boolean {
    return this.#file.isRetired;
  }

  /** Whether the open file was deleted as a session, permanently or to the trash. */
  get isDeleted(): boolean {
    return this.#file.isDeleted;
  }

  /** First ordinal of entries that may have been read before they were completely written. */
  get newest(): number | undefined {
    return this.#fingerprint?.newest;
  }

  /** Returns whether two objects have opened the same file. */
  isSameAs(other: OpenFile): boolean {
    return this.#file.isSameAs(other.#file);
  }

  /**
   * Reads the whole file in steps. Yields the number of bytes read and the size of the file after each step.
   *
   * All bytes come from one descriptor, even if another file replaces this one in the meantime.
   *
   * @returns Whether the file was not replaced in the meantime. Data written to a replaced file may not be in any other file.
   */
  *readSteps(stepBytes = SMALL_FILE_BYTES): Generator<[read: number, total: number], boolean> {
    const [fs, index] = [this.#fs, this.index];
    const { fd, close } = this.#file.openToRead();
    try {
      let total = fs.fstatSync(fd).size;
      let small: Uint8Array | undefined;
      if (total <= SMALL_FILE_BYTES) {
        const buffer = Buffer.allocUnsafeSlow(total);
        small = buffer.subarray(0, fs.readSync(fd, buffer, 0, total, 0));
        total = fs.fstatSync(fd).size;
        for (const read of index.readWhole(small, stepBytes)) yield [read, total];
      }
      if (!index.isOrdinary || index.position < total) yield* this.#readRest(fd, total, stepBytes);
      const { opened } = this.#file;
      if (opened !== undefined && Date.now() - Number(opened.mtimeNs / NS_PER_MS) > MTIME_STEP_MS)
        this.#seen = opened;
      const known = small?.length === index.position ? small : undefined;
      this.#fingerprint = takeFingerprint(
        index,
        (offset, length) => known?.slice(offset, offset + length) ?? readRange(fs, fd, offset, length),
      );
      return !this.#file.isSuperseded;
    } finally {
      close();
    }
  }

  /** Reads the remaining bytes of an open file that has anomalies, is large, or is growing. */
  *#readRest(fd: number, size: number, stepBytes: number): Generator<[read: number, total: number], void> {
    const [fs, index] = [this.#fs, this.index];
    let total = size;
    const rest = Math.min(stepBytes, PIECE_BYTES, total - index.position);
    const buffer = Buffer.allocUnsafeSlow(index.isRejected ? 0 : Math.max(0, rest));
    while (index.position < total && !index.isRejected) {
      total = feedSome(fs, fd, index, buffer, total);
      if (index.position <= buffer.length && index.position < total) index.reserve(total);
      yield [index.position, total];
    }
    // A header without a line break after it is only recognized at the end of the file.
    if (!index.isRejected) index.end();
    const { path } = this.#file;
    if (total > 0 && index.header === undefined) throw notASession(path, { path }, detectFileSource(fs, fd));
  }

  /** Compares the file at the path with the file that was read. */
  findAtPath(): FoundAtPath {
    const state = this.#file.stateAtPath();
    if (state === undefined) return "gone";
    if (!this.#isOwnFile(state)) return "replaced";
    this.#seen = state;
    return state.size === this.index.expectedEnd ? "same" : "grown";
  }

  /** Returns whether the file at the path is the one that was read, possibly with more lines. */
  #isOwnFile(state: FileState): boolean {
    const { position, expectedEnd } = this.index;
    if (this.#isStale || !this.#file.isSame(state) || state.size < position) return false;
    if (this.isHeld && state.size === expectedEnd) return true;
    if (isSameState(this.#seen, state)) return true;
    const fingerprint = this.#fingerprint;
    return fingerprint === undefined || this.#file.read((fd) => isIntact(this.#fs, fd, fingerprint));
  }

  /**
   * Confirms the positions of pending writes if no other process wrote to the file, regardless of which file is at the path now.
   * Returns whether they were confirmed.
   */
  confirmPending(): boolean {
    const isAlone = this.#file.state().size === this.index.expectedEnd;
    if (isAlone) this.index.confirmPending();
    return isAlone;
  }

  /** Reads appended data. Returns false if pending writes are not in the file. The file must then be reread. */
  readNew(): boolean {
    const { index } = this;
    const from = index.tree.size;
    index.expectPendingAmongOthers();
    this.#file.read((fd) => {
      feedToEnd(this.#fs, fd, index);
      this.#fingerprint = takeFingerprint(index, (...range) => readRange(this.#fs, fd, ...range), from);
    });
    this.#isStale = index.missingPending.length > 0;
    return !this.#isStale;
  }

  /** Marks the file as stale until it has been reread successfully. */
  markStale(): void {
    this.#isStale = true;
  }

  /** Calls `use` with a descriptor for reading. */
  read<T>(use: (fd: number) => T): T {
    return this.#file.read(use);
  }

  /** Opens the file for reading, regardless of changes to its path, until `close` is called. */
  openToRead(): OpenToRead {
    return this.#file.openToRead();
  }

  /** Returns whether the path refers to this file and the file has not changed. False may also mean that this is uncertain. */
  isUnchanged(): boolean {
    const { position, expectedEnd } = this.index;
    return !this.#isStale && position === expectedEnd && this.#file.isAtPathWith(expectedEnd, this.#seen);
  }

  /**
   * Appends lines. They are at the end of the file if no other process wrote; otherwise, this is assumed until it is confirmed.
   *
   * @returns False if another file is at the path, in which case no lines were added.
   */
  append(lines: readonly LogLine[], isSynced: boolean): boolean {
    const { index } = this;
    const encoded = encodeLines(lines, index.isMidLine);
    const size = this.#file.append(encoded.buffer, encoded.length, index.expectedEnd, isSynced);
    if (size === undefined) return false;
    indexWritten(index, encoded);
    this.#seen = undefined;
    this.isAlone = size === index.expectedEnd;
    if (this.isAlone) index.confirmPending();
    return true;
  }

  /** Completes a torn last line if that turns it into entries. The line break must be read afterward. */
  endTorn(): void {
    const { index } = this;
    if (!index.isMidLine || !this.#file.read((fd) => hasEntriesAtEnd(this.#fs, fd, index))) return;
    this.#file.append(LINE_BREAK, LINE_BREAK.length, index.expectedEnd, false);
  }

  /** Waits until written bytes survive a power failure. */
  sync(): void {
    this.#file.sync();
  }

  /**
   * Calls a function that replaces the file, with the file as it was read.
   *
   * Only during this call does this session write another file at the path.
   */
  replace<T>(replaceOld: (old: OldFile) => T): T {
    const { path } = this.#file;
    return this.#file.read((fd) => replaceOld({ fs: this.#fs, path, fd, copied: this.index.position }));
  }

  /** Closes the descriptor. The next write reopens the file. */
  release(): void {
    this.#file.release();
  }
}

/** Decodes bytes as `decodeText` does, but faster if they are ASCII, which they usually are. */
function decodeAscii(bytes: Uint8Array): string {
  if (!isAscii(bytes)) return decodeText(bytes);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

/** Opens and reads the file at a path. Restarts if the file is replaced in the meantime. */
export function readFile(
  fs: FileSystem,
  path: string,
  { maxLineBytes }: FileLogOptions,
  intent: Intent,
): OpenFile {
  try {
    for (;;) {
      const file = OpenFile.at(fs, path, maxLineBytes);
      const steps = file.readSteps();
      let step = steps.next();
      while (!step.done) step = steps.next();
      if (step.value) return file;
    }
  } catch (error) {
    throw toFileError(path, intent, error);
  }
}

/** Opens and reads the file at a path in steps. Yields the number of bytes read and the size of the file after each step. */
export function* readFileSteps(
  fs: FileSystem,
  path: string,
  { maxLineBytes }: FileLogOptions,
  intent: Intent,
  stepBytes?: number,
): Generator<[read: number, total: number], OpenFile> {
  try {
    for (;;) {
      const file = OpenFile.at(fs, path, maxLineBytes);
      if (yield* file.readSteps(stepBytes)) return file;
    }
  } catch (error) {
    throw toFileError(path, intent, error);
  }
}

/** Creates the fingerprint of the data that an index has read from a file. */
function takeFingerprint(
  index: SessionIndex,
  readBytes: (offset: number, length: number) => Uint8Array,
  newest = index.tree.size - 1,
): FileFingerprint {
  const offset = index.lastLineOffset;
  const length = Math.min(FINGERPRINT_BYTES, Math.max(0, index.position - offset));
  return { offset, bytes: readBytes(offset, length), newest };
}

/** Returns whether a file still has a fingerprint. */
function isIntact(fs: FileSystem, fd: number, { offset, bytes }: FileFingerprint): boolean {
  return readRange(fs, fd, offset, bytes.length).equals(bytes);
}

/** Returns whether a line break would turn a file's torn last line into entries. */
function hasEntriesAtEnd(fs: FileSystem, fd: number, index: SessionIndex): boolean {
  const torn = index.tornTail;
  if (torn === undefined) return false;
  const bytes = readRange(fs, fd, torn.offset, torn.length);
  const alone = new SessionIndex({
    readBytes: (offset, length) => bytes.subarray(offset, offset + length),
    ...(index.header && { header: index.header }),
  });
  alone.feed(bytes);
  alone.feed(LINE_BREAK);
  alone.end();
  return alone.tree.size > 0;
}
