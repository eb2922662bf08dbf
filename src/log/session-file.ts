import { dirname } from "node:path";
import { type FileSystem, makeFolder, PIECE_BYTES, readRange, syncFolder } from "../fs/file-system.ts";
import { copyOpenFile } from "../fs/write-whole.ts";
import { linesInMemory } from "../jsonl/line-spans.ts";
import { notASession } from "../jsonl/not-a-session.ts";
import { SessionIndex } from "../jsonl/session-index.ts";
import { AppendFile, type FileState, LINE_BREAK } from "./append-file.ts";
import { Blocks } from "./blocks.ts";
import {
  FileChangedError,
  fileError,
  gone,
  type Intent,
  ReplacedError,
  untilUnchanged,
} from "./file-errors.ts";
import {
  endsInEntries,
  type FileFingerprint,
  fingerprintOfHeader,
  isIntact,
  takeFingerprint,
} from "./file-fingerprint.ts";
import type { FileLogOptions } from "./file-log-options.ts";
import { sourceOfFile } from "./foreign-file.ts";
import { addLines, bytesOf, encodeLines } from "./log-lines.ts";
import { movedSpans, readLinesOf } from "./read-lines.ts";
import { feedFile, feedSome, feedToEnd, feedWhole, missingFrom } from "./read-session-file.ts";
import { RecentWrites } from "./recent-writes.ts";
import { finishReplacement, isHalfReplaced } from "./replace-file.ts";
import type { LogChange, LogLine, TakeLine, TakeText } from "./session-log.ts";
import type { OldFile } from "./take-over.ts";

/** How long to wait for another process that is replacing the file. */
const REPLACEMENT_WAIT_MS = 2_000;

/** Bytes up to which a file is read as text: see docs/performance.md#small-sessions. */
const SMALL_FILE_BYTES = 4 * 1024 * 1024;

/**
 * A session's file and its index, kept consistent while others append to the file, replace or remove it.
 *
 * A new session's lines stay in memory until the file is made. `look` reports each change it finds to `onChange`. If
 * it fails, the state stays as it was, and the next call tries again.
 */
export class SessionFile {
  onChange: ((change: LogChange) => void) | undefined;
  readonly path: string;
  readonly #fs: FileSystem;
  readonly #options: FileLogOptions;
  #file: AppendFile;
  #index: SessionIndex;
  /** The lines of a session whose file does not exist yet. */
  #unwritten: Blocks | undefined;
  readonly #recent = new RecentWrites();
  /** Detects a replaced file. */
  #fingerprint: FileFingerprint | undefined;
  /** State of the file when it last matched the index. */
  #seen: FileState | undefined;
  /** Whether another file has probably taken the path. */
  #isDoubtful = false;
  /** Whether this session has written to the file. */
  #hasAppended = false;
  /** What `flush` still has to make durable. */
  #unsynced: "nothing" | "bytes" | "bytes and name" = "nothing";

  constructor(fs: FileSystem, path: string, options: FileLogOptions) {
    this.#fs = fs;
    this.path = path;
    this.#options = options;
    this.#file = new AppendFile(fs, path);
    this.#index = this.#newIndex();
  }

  get index(): SessionIndex {
    return this.#index;
  }

  /** Whether the file does not exist yet. */
  get isUnwritten(): boolean {
    return this.#unwritten !== undefined;
  }

  /** Holds lines in memory for a file to be made later, instead of earlier ones if there are any. */
  begin(lines: Iterable<string | Uint8Array>): void {
    const before = this.isUnwritten ? this.#index : undefined;
    const unwritten = Blocks.of(lines);
    this.#unwritten = unwritten;
    this.#index = this.#newIndex();
    feedWhole(this.#index, unwritten.join());
    if (before !== undefined) this.#tell({ kind: "reloaded", before });
  }

  /** Reads the whole file. */
  readAll(intent: Intent = "read"): void {
    for (const _step of this.readSteps(SMALL_FILE_BYTES, intent));
  }

  /**
   * Reads the whole file in steps; yields the bytes read and the size of the file after each step.
   *
   * Begins anew if the file is replaced meanwhile: what is written to the old one after that may be in no other file.
   *
   * @throws {SessionError} `NOT_A_SESSION`
   */
  *readSteps(stepBytes: number, intent: Intent = "read"): Generator<[read: number, total: number], void> {
    while (!(yield* this.#readOnce(stepBytes, intent))) {
      this.#file = new AppendFile(this.#fs, this.path);
      this.#index = this.#newIndex();
    }
  }

  /** Returns false if the file has been replaced. */
  *#readOnce(stepBytes: number, intent: Intent): Generator<[read: number, total: number], boolean> {
    const index = this.#index;
    // All bytes come from one open file, whatever takes the path meanwhile.
    const unpin = this.#translated(intent, () => this.#file.pin());
    try {
      let total = this.#translated(intent, () => this.#file.state().size);
      let small: Uint8Array | undefined;
      if (total <= SMALL_FILE_BYTES) {
        [small, total] = this.#readSmall(total, intent);
        for (const read of index.readWhole(small, stepBytes)) yield [read, total];
      }
      const rest = Math.min(stepBytes, PIECE_BYTES, total - index.position);
      const buffer = Buffer.allocUnsafeSlow(index.isRejected ? 0 : Math.max(0, rest));
      while (index.position < total && !index.isRejected) {
        total = this.#translated(intent, () =>
          this.#file.read((fd) => feedSome(this.#fs, fd, index, buffer, total)),
        );
        if (index.position <= buffer.length && index.position < total) index.reserve(total);
        yield [index.position, total];
      }
      // Only the end shows a header that has no line break behind it.
      if (!index.isRejected) index.end();
      if (total > 0 && index.header === undefined) {
        const source = this.#translated(intent, () => this.#file.read((fd) => sourceOfFile(this.#fs, fd)));
        throw notASession(this.path, { path: this.path }, source);
      }
      this.#seen = undefined;
      const known = small?.length === index.position ? small : undefined;
      this.#fingerprint = this.#translated(intent, () =>
        takeFingerprint(
          index,
          (offset, length) =>
            known?.slice(offset, offset + length) ??
            this.#file.read((fd) => readRange(this.#fs, fd, offset, length)),
        ),
      );
      return !this.#translated(intent, () => this.#file.isReplaced);
    } finally {
      unpin();
    }
  }

  /** Reads the bytes of a small file, and then its size. */
  #readSmall(size: number, intent: Intent): [bytes: Uint8Array, total: number] {
    const buffer = Buffer.allocUnsafeSlow(size);
    return this.#translated(intent, () =>
      this.#file.read((fd) => [
        buffer.subarray(0, this.#fs.readSync(fd, buffer, 0, size, 0)),
        this.#fs.fstatSync(fd).size,
      ]),
    );
  }

  /**
   * Keeps the current lines readable, whatever takes the path, until the returned function is called.
   *
   * @throws {SessionError} As `look`.
   */
  pin(): () => void {
    return untilUnchanged(() => {
      if (this.isUnwritten) return () => undefined;
      this.look("read");
      return this.#translated("read", () => this.#file.pin());
    });
  }

  /** Pins the file after locating pending writes. A file that is not open may have been replaced. */
  #pinSettled(): () => void {
    if (!this.#file.isOpen) return this.pin();
    const { expectedEnd, position } = this.#index;
    if (expectedEnd > position) this.check("read");
    return untilUnchanged(() => this.#translated("read", () => this.#file.pin()));
  }

  /** Calls with the file as it was read, so that the caller can replace it. */
  replace<T>(replaceOld: (old: OldFile) => T): T {
    const unpin = this.pin();
    try {
      const { path } = this;
      return this.#file.read((fd) => replaceOld({ fs: this.#fs, path, fd, copied: this.#index.position }));
    } finally {
      unpin();
    }
  }

  /** Reads the lines of entries; see `SessionLog`. */
  readLines(ordinals: Iterable<number>, take: TakeLine, takeText?: TakeText): void {
    const unwritten = this.#unwritten;
    if (unwritten !== undefined) {
      const readBytes = (offset: number, length: number) => unwritten.read(offset, length);
      linesInMemory(readBytes, this.#index.spans, ordinals, take);
      return;
    }
    const asked = this.#index;
    const unpin = this.#pinSettled();
    try {
      const index = this.#index;
      const now = (ordinal: number) => index.heads.find(asked.heads.idAt(ordinal));
      const there = index === asked ? index.lines : movedSpans(index.lines, now);
      this.#translated("read", () =>
        this.#file.read((fd) => readLinesOf(this.#fs, fd, there, ordinals, take, takeText)),
      );
    } finally {
      unpin();
    }
  }

  /**
   * Appends lines. Assumes that they are at the end of the file until `check` or `look`.
   *
   * @returns False if another file is at the path: nothing was added, and `look` switches to that file.
   * @throws {SessionError} `WRITE_FAILED`, and then nothing was added.
   */
  append(lines: readonly LogLine[]): boolean {
    if (this.#unwritten !== undefined)
      throw new TypeError("the file does not exist yet; use appendUnwritten");
    const encoded = encodeLines(lines, this.#index.isMidLine);
    const isSynced = this.#options.durability === "fsync";
    const { buffer, length } = encoded;
    const isThere = this.#translated("write", () =>
      this.#file.append(buffer, length, this.#index.expectedEnd, isSynced),
    );
    if (!isThere) return false;
    addLines(this.#index, encoded);
    for (const line of lines) this.#recent.add(line);
    this.#hasAppended = true;
    if (!isSynced && this.#unsynced === "nothing") this.#unsynced = "bytes";
    return true;
  }

  /**
   * Completes a torn last line if that makes it entries, and reads them: new entries may have them as parents.
   *
   * @throws {SessionError} `WRITE_FAILED`
   */
  endTorn(): void {
    const look = () => this.look("write");
    untilUnchanged(() => {
      if (!this.#index.isMidLine) return;
      this.#translated("write", () => {
        const isNeeded = this.#file.read((fd) => endsInEntries(this.#fs, fd, this.#index));
        if (isNeeded) this.#file.append(LINE_BREAK, LINE_BREAK.length, this.#index.expectedEnd, false);
      });
      look();
    }, look);
  }

  /**
   * Adds lines to a session whose file does not exist yet.
   *
   * @param isMade - Whether to make the file now, with these and all earlier lines.
   * @throws {SessionError} `SESSION_EXISTS` or `WRITE_FAILED`; nothing was added.
   */
  appendUnwritten(lines: readonly LogLine[], isMade: boolean): void {
    const unwritten = this.#unwritten;
    if (unwritten === undefined) throw new TypeError("the file exists already; use append");
    const encoded = encodeLines(lines, false);
    if (isMade) this.#make(unwritten.join(bytesOf(encoded)));
    else unwritten.add(bytesOf(encoded));
    addLines(this.#index, encoded);
    this.#index.confirmPending();
  }

  /** Checks after an append whether others wrote as well. */
  check(intent: "read" | "flush" = "flush"): void {
    const { size } = this.#translated(intent, () => this.#file.state());
    if (size === this.#index.expectedEnd) this.#index.confirmPending();
    else this.look(intent);
  }

  /**
   * Checks the file and reads what is new in it.
   *
   * Switches to another file of the same session at the path, and appends recent lines of this session that it lacks.
   *
   * @param intent - `write` restores a file that is gone.
   * @throws {SessionError} `WRITE_FAILED` if the file cannot be read or lacks entries; `SESSION_NOT_FOUND` if it is
   *   gone and cannot be restored.
   */
  look(intent: Intent): LogChange | undefined {
    return untilUnchanged(() => this.#lookOnce(intent));
  }

  #lookOnce(intent: Intent): LogChange | undefined {
    if (this.#unwritten !== undefined) return intent === "read" ? this.#join() : undefined;
    const state = this.#translated(intent, () => this.#file.look());
    if (state === undefined) return intent === "write" ? this.#recreate() : this.#locateOwn(intent);
    if (!this.#isKnown(state, intent)) return this.#reload(intent);
    if (state.size !== this.#index.expectedEnd) return this.#readNew(state, intent);
    this.#index.confirmPending();
    this.#seen = state;
    return undefined;
  }

  /** Switches to the file that has just replaced the old one. */
  takeReplacement(): void {
    this.#file.release();
    this.#isDoubtful = true;
    this.look("write");
  }

  /**
   * Waits until everything appended is durable.
   *
   * @throws {SessionError} `WRITE_FAILED`, or `SESSION_NOT_FOUND` if the file is gone.
   */
  flush(): void {
    if (!this.#hasAppended) return;
    untilUnchanged(() => {
      this.look("flush");
      if (this.#translated("flush", () => this.#file.look()) === undefined) throw gone(this.path);
      if (this.#unsynced === "nothing") return;
      this.#translated("flush", () => {
        this.#file.sync();
        if (this.#unsynced === "bytes and name") syncFolder(this.#fs, dirname(this.path));
      });
      this.#unsynced = "nothing";
    });
  }

  release(): void {
    this.#file.release();
  }

  /** Locates pending writes in a file whose path is gone. */
  #locateOwn(intent: Intent): LogChange | undefined {
    if (!this.#file.isOpen) return undefined;
    const state = this.#translated(intent, () => this.#file.state());
    if (state.size !== this.#index.expectedEnd) return this.#readNew(state, intent);
    this.#index.confirmPending();
    return undefined;
  }

  #newIndex(): SessionIndex {
    const { maxLineBytes } = this.#options;
    return new SessionIndex({
      readBytes: (offset, length) =>
        this.#unwritten?.read(offset, length) ??
        this.#file.read((fd) => readRange(this.#fs, fd, offset, length)),
      ...(maxLineBytes !== undefined && { maxLineBytes }),
    });
  }

  #make(bytes: Uint8Array): void {
    const isSynced = this.#options.durability === "fsync";
    this.#translated("write", () => this.#file.create(bytes, isSynced));
    this.#unwritten = undefined;
    this.#hasAppended = true;
    if (!isSynced) this.#unsynced = "bytes and name";
    this.#fingerprint = fingerprintOfHeader(bytes, this.#index);
  }

  /** Whether the file at the path is the one that was read, perhaps with more lines. */
  #isKnown(state: FileState, intent: Intent): boolean {
    const { position, expectedEnd } = this.#index;
    if (this.#isDoubtful || !this.#file.isSame(state) || state.size < position) return false;
    if (this.#file.isHeld && state.size === expectedEnd) return true;
    if (state.size === this.#seen?.size && state.mtimeMs === this.#seen.mtimeMs) return true;
    const fingerprint = this.#fingerprint;
    if (fingerprint === undefined) return true;
    return this.#translated(intent, () => this.#file.read((fd) => isIntact(this.#fs, fd, fingerprint)));
  }

  #readNew(state: FileState, intent: Intent): LogChange | undefined {
    const index = this.#index;
    const from = index.tree.size;
    index.expectPendingAmongOthers();
    this.#translated(intent, () => {
      this.#file.read((fd) => {
        feedFile(this.#fs, fd, index, state.size);
        const readBytes = (offset: number, length: number) => readRange(this.#fs, fd, offset, length);
        this.#fingerprint = takeFingerprint(index, readBytes, from);
      });
    });
    if (index.missingPending.length > 0) return this.#reload(intent);
    this.#seen = state;
    return from < index.tree.size ? this.#tell({ kind: "foreign", from }) : undefined;
  }

  /** Restores a file whose path is gone, from its descriptor if that is still open and complete. */
  #recreate(): LogChange | undefined {
    const file = this.#file;
    // A retired file may hold what was redacted in the one that took its path.
    const isRetired = this.#translated("write", () => file.isRetired);
    if (!file.isOpen || isRetired || !this.#isWholeIn(file)) throw gone(this.path);
    this.#translated("write", () => {
      makeFolder(this.#fs, dirname(this.path));
      file.read((fd) => copyOpenFile(this.#fs, fd, this.path));
    });
    return this.#reload("write");
  }

  /** Whether an open file still holds the session: it may have been emptied before it was removed. */
  #isWholeIn(file: AppendFile): boolean {
    const index = this.#newIndex();
    this.#translated("write", () => file.read((fd) => feedToEnd(this.#fs, fd, index)));
    return index.header !== undefined && missingFrom(index, this.#index).length === 0;
  }

  /** Uses the file that another process made before this session had an entry. */
  #join(): LogChange | undefined {
    const size = this.#translated("read", () => this.#file.look()?.size ?? 0);
    const unwritten = this.#unwritten;
    if (size === 0 || this.#index.tree.size > 0) return undefined;
    this.#unwritten = undefined;
    try {
      return this.#reload("read", true);
    } catch (error) {
      this.#unwritten = unwritten;
      this.#isDoubtful = false;
      throw error;
    }
  }

  /** Reads the file anew, because it was replaced or altered, if it holds the same session. */
  #reload(intent: Intent, isOthers = false): LogChange {
    // Must come first: while another process replaces the file, lines may still be missing in it.
    const isWhole = this.#isReplacementDone(intent);
    const [file, index, fingerprint] = [this.#file, this.#index, this.#fingerprint];
    this.#isDoubtful = true;
    this.#file = new AppendFile(this.#fs, this.path);
    this.#index = this.#newIndex();
    let unpin: () => void = () => undefined;
    try {
      unpin = this.#translated(intent, () => this.#file.pin());
      this.readAll(intent);
      if (!isOthers && this.#index.header?.id !== index.header?.id) throw new ReplacedError(this.path);
      const unaltered = this.#translated(intent, () =>
        this.#file.read((fd) => this.#recent.unalteredIn(this.#fs, fd, this.#index)),
      );
      const putBack = isWhole ? this.#putBack(file, index, fingerprint) : [];
      this.#recent.keepOnly(new Set([...unaltered, ...putBack.map(({ head }) => head.id)]));
    } catch (error) {
      this.#file.release();
      [this.#file, this.#index, this.#fingerprint] = [file, index, fingerprint];
      throw error;
    } finally {
      unpin();
    }
    file.release();
    this.#isDoubtful = false;
    return this.#tell({ kind: "reloaded", before: index });
  }

  /** Waits for another process that is replacing the file, or finishes its work. A reader does neither. */
  #isReplacementDone(intent: Intent): boolean {
    const isReader = this.#options.mode === "read-only";
    return this.#translated(intent, () =>
      isReader
        ? !isHalfReplaced(this.#fs, this.path)
        : finishReplacement(this.#fs, this.path, REPLACEMENT_WAIT_MS),
    );
  }

  /**
   * Appends again the recent lines of this session that the file lacks, if their parents are in it.
   *
   * Does nothing after a replacement that copied all lines: what is missing then was removed on purpose.
   */
  #putBack(
    oldFile: AppendFile,
    before: SessionIndex,
    fingerprint: FileFingerprint | undefined,
  ): readonly LogLine[] {
    const isSame = this.#file.isSameAs(oldFile);
    const isTaken = !isSame && this.#translated("write", () => oldFile.isRetired);
    const newest = (isSame || isTaken ? fingerprint?.newest : undefined) ?? Number.POSITIVE_INFINITY;
    const { own, isOwnStuck, areOthers } = this.#recent.missingFrom(this.#index, before, newest);
    const isOwnLost = own.length > 0 && !isTaken;
    // Only the old file can tell whether it was retired.
    if (isOwnLost && !oldFile.isHeld) throw new ReplacedError(this.path);
    if (isOwnLost && !this.append(own)) {
      throw fileError(this.path, "write", new FileChangedError("another file is at the path now"));
    }
    if (areOthers || (isOwnStuck && !isTaken)) throw new ReplacedError(this.path);
    return isTaken ? [] : own;
  }

  #tell(change: LogChange): LogChange {
    this.onChange?.(change);
    return change;
  }

  /** Runs a file system call and translates its error. */
  #translated<T>(intent: Intent, call: () => T): T {
    try {
      return call();
    } catch (error) {
      throw fileError(this.path, intent, error);
    }
  }
}
