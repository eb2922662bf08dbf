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
import { addLines, encodeLines } from "./log-lines.ts";
import { feedSome, feedToEnd } from "./read-session-file.ts";
import type { LogLine } from "./session-log.ts";
import type { OldFile } from "./takeover.ts";

/** Bytes up to which a file is read as text: see docs/performance.md#small-sessions. */
const SMALL_FILE_BYTES = 4 * 1024 * 1024;

/** Enough of a line to hold its id and time, which make it unique. */
const FINGERPRINT_BYTES = 256;

/**
 * The beginning of a file's last line, which detects a replaced file.
 *
 * Size and inode are not enough: other programs rewrite files in place, the system reuses the inode of a deleted file, and
 * a writer that failed replaces its torn line by another.
 */
export interface FileFingerprint {
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** Ordinal from which on entries may have been read while their writer was not done with them. */
  readonly newest: number;
}

const NS_PER_MS = 1_000_000n;

/** A change within so many milliseconds after another may leave the file with the same time. */
const MTIME_STEP_MS = 3_000;

/** What the path of an open file leads to now: the file as it was read, the file with more in it, another one, or nothing. */
export type FoundAtPath = "same" | "grown" | "replaced" | "gone";

/**
 * One session file and the index of what was read of it. It never reads another file: where the path leads to one,
 * its log opens that instead.
 *
 * @remarks All calls fail with the system's error, and change nothing then.
 */
export class OpenFile {
  readonly isWritten = true;
  readonly index: SessionIndex;
  /** Whether the file had nothing after what was just written, and nothing of others before it. */
  isAlone = true;
  readonly #fs: FileSystem;
  readonly #file: AppendFile;
  /** Detects a replaced file. */
  #fingerprint: FileFingerprint | undefined;
  /** State of the path when it last led to this file. */
  #seen: FileState | undefined;
  /** Whether the file must be read anew: its index has entries that are not in it. */
  #isStale = false;

  /** @param file - What `index` has read, up to its end. */
  constructor(fs: FileSystem, file: AppendFile, index: SessionIndex, fingerprint?: FileFingerprint) {
    this.#fs = fs;
    this.#file = file;
    this.index = index;
    this.#fingerprint = fingerprint;
  }

  /** Opens the file at a path, to be read by `readSteps`. */
  static at(fs: FileSystem, path: string, maxLineBytes: number | undefined): OpenFile {
    const file = new AppendFile(fs, path);
    const readBytes = (offset: number, length: number) => file.readRange(offset, length);
    return new OpenFile(fs, file, new SessionIndex({ readBytes, decode: decodeAscii, maxLineBytes }));
  }

  /** Whether the descriptor is open, so that the file can be read even if its name is gone. */
  get isHeld(): boolean {
    return this.#file.isHeld;
  }

  /** Whether the open file was replaced by a process that copied its lines. */
  get isRetired(): boolean {
    return this.#file.isRetired;
  }

  /** Whether the open file was deleted as a session, for good or into the trash. */
  get isDeleted(): boolean {
    return this.#file.isDeleted;
  }

  /** Ordinal from which on entries may have been read while their writer was not done with them. */
  get newest(): number | undefined {
    return this.#fingerprint?.newest;
  }

  /** Whether two objects have opened the same file. */
  isSameAs(other: OpenFile): boolean {
    return this.#file.isSameAs(other.#file);
  }

  /**
   * Reads the whole file in steps; yields the bytes read and the size of the file after each step.
   *
   * All bytes come from one descriptor, whatever takes the path meanwhile.
   *
   * @returns Whether the file was not replaced meanwhile: what is written to a replaced one may be in no other file.
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

  /** Reads what is not read yet of the open file, of which something is odd, or which is large or grows. */
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
    // Only the end shows a header that has no line break behind it.
    if (!index.isRejected) index.end();
    const { path } = this.#file;
    if (total > 0 && index.header === undefined) throw notASession(path, { path }, detectFileSource(fs, fd));
  }

  /** Compares what is at the path with what was read. */
  findAtPath(): FoundAtPath {
    const state = this.#file.stateAtPath();
    if (state === undefined) return "gone";
    if (!this.#isKnown(state)) return "replaced";
    this.#seen = state;
    return state.size === this.index.expectedEnd ? "same" : "grown";
  }

  /** Whether the file at the path is the one that was read, perhaps with more lines. */
  #isKnown(state: FileState): boolean {
    const { position, expectedEnd } = this.index;
    if (this.#isStale || !this.#file.isSame(state) || state.size < position) return false;
    if (this.isHeld && state.size === expectedEnd) return true;
    if (isSameState(this.#seen, state)) return true;
    const fingerprint = this.#fingerprint;
    return fingerprint === undefined || this.#file.read((fd) => isIntact(this.#fs, fd, fingerprint));
  }

  /** Confirms the positions of pending writes if nobody else wrote, whatever the path leads to; false otherwise. */
  confirmPending(): boolean {
    const isAlone = this.#file.state().size === this.index.expectedEnd;
    if (isAlone) this.index.confirmPending();
    return isAlone;
  }

  /** Reads what was appended. Returns false if pending writes are not in the file, which must then be read anew. */
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

  /** Marks the file to be read anew, until that has worked. */
  markStale(): void {
    this.#isStale = true;
  }

  /** Calls `use` with a descriptor for reading. */
  read<T>(use: (fd: number) => T): T {
    return this.#file.read(use);
  }

  /** Opens the file for reading, whatever happens to its path until `close`. */
  openToRead(): OpenToRead {
    return this.#file.openToRead();
  }

  /** Tells whether the path leads to this file as it was left. False may only mean that this is not certain. */
  isUnchanged(): boolean {
    const { position, expectedEnd } = this.index;
    return !this.#isStale && position === expectedEnd && this.#file.isAtPathWith(expectedEnd, this.#seen);
  }

  /**
   * Appends lines, which are at the end if nobody else has written; else they are assumed there until confirmed.
   *
   * @returns False if another file is at the path: nothing was added.
   */
  append(lines: readonly LogLine[], isSynced: boolean): boolean {
    const { index } = this;
    const encoded = encodeLines(lines, index.isMidLine);
    const size = this.#file.append(encoded.buffer, encoded.length, index.expectedEnd, isSynced);
    if (size === undefined) return false;
    addLines(index, encoded);
    this.#seen = undefined;
    this.isAlone = size === index.expectedEnd;
    if (this.isAlone) index.confirmPending();
    return true;
  }

  /** Completes a torn last line if that makes it entries; the line break must then be read. */
  endTorn(): void {
    const { index } = this;
    if (!index.isMidLine || !this.#file.read((fd) => hasEntriesAtEnd(this.#fs, fd, index))) return;
    this.#file.append(LINE_BREAK, LINE_BREAK.length, index.expectedEnd, false);
  }

  /** Waits until written bytes survive a power cut. */
  sync(): void {
    this.#file.sync();
  }

  /**
   * Calls with the file as it was read, for a replacement.
   *
   * The only call during which this session puts another file at the path.
   */
  replace<T>(replaceOld: (old: OldFile) => T): T {
    const { path } = this.#file;
    return this.#file.read((fd) => replaceOld({ fs: this.#fs, path, fd, copied: this.index.position }));
  }

  /** Closes the descriptor; the next write opens it again. */
  release(): void {
    this.#file.release();
  }
}

/** Decodes bytes of which most are ASCII, as `decodeText` does: ASCII need not be decoded. */
function decodeAscii(bytes: Uint8Array): string {
  if (!isAscii(bytes)) return decodeText(bytes);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

/** Opens the file at a path and reads it; begins again if it is replaced meanwhile. */
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

/** Does the same in steps, and yields the bytes read and the size of the file after each. */
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

/** Takes the fingerprint of what an index has read of a file. */
function takeFingerprint(
  index: SessionIndex,
  readBytes: (offset: number, length: number) => Uint8Array,
  newest = index.tree.size - 1,
): FileFingerprint {
  const offset = index.lastLineOffset;
  const length = Math.min(FINGERPRINT_BYTES, Math.max(0, index.position - offset));
  return { offset, bytes: readBytes(offset, length), newest };
}

/** Tells whether a file still has a fingerprint. */
function isIntact(fs: FileSystem, fd: number, { offset, bytes }: FileFingerprint): boolean {
  return readRange(fs, fd, offset, bytes.length).equals(bytes);
}

/** Tells whether a line break would make entries of a file's torn last line. */
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
