import { dirname } from "node:path";
import { linesInMemory } from "../jsonl/line-spans.ts";
import { SessionIndex } from "../jsonl/session-index.ts";
import { AppendFile, type FileState, LINE_BREAK } from "./append-file.ts";
import { Blocks } from "./blocks.ts";
import {
  FileChangedError,
  fileError,
  gone,
  type Intent,
  laneSession,
  notASession,
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
import { type FileSystem, makeFolder, PIECE_BYTES, readRange, syncFolder } from "./file-system.ts";
import { addLines, bytesOf, encodeLines } from "./log-lines.ts";
import { movedSpans, readLinesOf } from "./read-lines.ts";
import { feedFile, feedSome, feedToEnd, feedWhole, missingFrom } from "./read-session-file.ts";
import { RecentWrites } from "./recent-writes.ts";
import { finishReplacement, isHalfReplaced } from "./replace-file.ts";
import type { LogChange, LogLine, TakeLine, TakeRecord, TakeText } from "./session-log.ts";
import type { OldFile } from "./take-over.ts";
import { copyOpenFile } from "./write-whole.ts";

/** How long to wait for another process that is replacing the file. */
const REPLACEMENT_WAIT_MS = 2_000;

/** Bytes up to which a file is parsed when it is read, unless it is compacted: see docs/performance.md#small-sessions. */
const SMALL_FILE_BYTES = 4 * 1024 * 1024;

/**
 * A session's file and what is known of it, kept together while others append to the file, replace or remove it.
 *
 * It begins unwritten, as bytes in memory, or is read. Every change that a look finds is told to `onChange`. A look
 * that fails leaves everything as it was known before, so that the next one fails, or succeeds, anew.
 */
export class SessionFile {
  onChange: ((change: LogChange) => void) | undefined;
  readonly path: string;
  readonly #fs: FileSystem;
  readonly #options: FileLogOptions;
  #file: AppendFile;
  #index: SessionIndex;
  /** The bytes of a session whose file has not been made yet. */
  #unwritten: Blocks | undefined;
  readonly #recent = new RecentWrites();
  /** Detects a replaced file. */
  #fingerprint: FileFingerprint | undefined;
  /** The file when it was last looked at and found as it was known. */
  #seen: FileState | undefined;
  /** Whether the file is known not to be the one that was read. */
  #isDoubtful = false;
  /** Whether this session has written to the file, so that its callers count on it. */
  #hasAppended = false;
  /** What was written that `flush` has not waited for. */
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

  /** Whether the file has not been made yet. */
  get isUnwritten(): boolean {
    return this.#unwritten !== undefined;
  }

  /** Begins with bytes that are not to be written yet, in the place of others if there are any. */
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
    for (const _total of this.readSteps(SMALL_FILE_BYTES, intent));
  }

  /**
   * Reads the whole file, so many bytes at a time; yields its size after each.
   *
   * @throws {SessionError} `NOT_A_SESSION`
   */
  *readSteps(stepBytes: number, intent: Intent = "read"): Generator<number, void> {
    const index = this.#index;
    // One open file from the first byte to the last, whatever takes the path meanwhile.
    const unpin = this.#translated(intent, () => this.#file.pin());
    try {
      let total = this.#translated(intent, () => this.#file.state().size);
      const isSmall = total <= SMALL_FILE_BYTES;
      const atOnce = isSmall ? stepBytes : Math.min(stepBytes, PIECE_BYTES);
      const buffer = Buffer.allocUnsafeSlow(Math.max(1, Math.min(atOnce, total)));
      do {
        total = this.#translated(intent, () =>
          this.#file.read((fd) => feedSome(this.#fs, fd, index, buffer, total, isSmall)),
        );
        if (index.position <= buffer.length && index.position < total) index.reserve(total);
        yield total;
      } while (index.position < total && !index.isRejected);
      // A header without a line break behind it is found at the end.
      if (!index.isRejected) index.end();
      if (index.isLaneSession) throw laneSession(this.path);
      if (total > 0 && index.header === undefined) throw notASession(this.path);
      this.#seen = undefined;
      this.#fingerprint = this.#translated(intent, () =>
        this.#file.read((fd) => takeFingerprint(this.#fs, fd, index)),
      );
    } finally {
      index.keepRecords(false);
      unpin();
    }
  }

  /**
   * Reads the lines as they stand now, whatever takes the path, until the function returned is called.
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

  /**
   * Pins the file once it is known where all lines stand: one that is not open may have been replaced, and where own
   * lines stand is presumed until somebody has looked.
   */
  #pinSettled(): () => void {
    if (!this.#file.isOpen) return this.pin();
    const { expectedEnd, position } = this.#index;
    if (expectedEnd > position) this.check("read");
    return untilUnchanged(() => this.#translated("read", () => this.#file.pin()));
  }

  /** Calls with the file as it was read, to be replaced. */
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
  readLines(ordinals: Iterable<number>, take: TakeLine, takeText?: TakeText, takeRecord?: TakeRecord): void {
    const unwritten = this.#unwritten;
    if (unwritten !== undefined) {
      const readBytes = (offset: number, length: number) => unwritten.read(offset, length);
      linesInMemory(readBytes, this.#index.spans, ordinals, take);
      return;
    }
    const { tree } = this.#index;
    const unpin = this.#pinSettled();
    try {
      const { tree: treeNow, spans } = this.#index;
      const now = (ordinal: number) => treeNow.find(tree.idAt(ordinal));
      const there = treeNow === tree ? spans : movedSpans(spans, now);
      const read = (some: Iterable<number>) =>
        this.#translated("read", () =>
          this.#file.read((fd) => readLinesOf(this.#fs, fd, there, some, take, takeText)),
        );
      if (treeNow === tree && takeRecord !== undefined && this.#index.hasRecords)
        takeRecords(this.#index, ordinals, takeRecord, read);
      else read(ordinals);
    } finally {
      unpin();
    }
  }

  /**
   * Appends lines behind all others, and presumes that they stand at the end until `check` or `look`.
   *
   * @returns False if another file stands at the path: nothing was added, and a look goes over to that file.
   * @throws {SessionError} `WRITE_FAILED`, and then nothing was added.
   */
  append(lines: readonly LogLine[]): boolean {
    if (this.#unwritten !== undefined) throw new TypeError("the file has not been made yet");
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
   * Ends a torn last line that turns into entries by that, and reads them: what hangs on an id may hang on them then.
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
   * Adds lines to a session whose file has not been made.
   *
   * @param isMade - Whether the file is made now, of these lines and all before.
   * @throws {SessionError} `SESSION_EXISTS` or `WRITE_FAILED`, and then nothing was added.
   */
  appendUnwritten(lines: readonly LogLine[], isMade: boolean): void {
    const unwritten = this.#unwritten;
    if (unwritten === undefined) throw new TypeError("the file has been made already");
    const encoded = encodeLines(lines, false);
    if (isMade) this.#make(unwritten.join(bytesOf(encoded)));
    else unwritten.add(bytesOf(encoded));
    addLines(this.#index, encoded);
    this.#index.confirmPending();
  }

  /** Finds out, after an append, whether others wrote, too. */
  check(intent: "read" | "flush" = "flush"): void {
    const { size } = this.#translated(intent, () => this.#file.state());
    if (size === this.#index.expectedEnd) this.#index.confirmPending();
    else this.look(intent);
  }

  /**
   * Looks at the file and reads what is new in it.
   *
   * Goes over to another file of the same session, and puts back what that lacks of the lines appended here lately.
   *
   * @param intent - `write` makes a file that has gone anew.
   * @throws {SessionError} If the file cannot be read, or is one that lacks entries: `WRITE_FAILED`; `SESSION_NOT_FOUND`
   *   if it has gone and cannot be made anew.
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

  /** Goes on with the file that was just put in the place of the old one. */
  takeReplacement(): void {
    this.#file.release();
    this.#isDoubtful = true;
    this.look("write");
  }

  /**
   * Waits until everything that was appended survives a power cut.
   *
   * @throws {SessionError} `WRITE_FAILED`, or `SESSION_NOT_FOUND` if the file has gone.
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

  /** Locates pending writes in a file whose name has gone. */
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

  /** Whether what stands at the path is the file that was read, maybe with more lines behind. */
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
        this.#fingerprint = takeFingerprint(this.#fs, fd, index, from);
      });
    });
    if (index.missingPending.length > 0) return this.#reload(intent);
    this.#seen = state;
    return from < index.tree.size ? this.#tell({ kind: "foreign", from }) : undefined;
  }

  /** The name is gone: the file is written anew from the descriptor, if that is still open and holds what is known. */
  #recreate(): LogChange | undefined {
    const file = this.#file;
    if (!file.isOpen || !this.#isWholeIn(file)) throw gone(this.path);
    this.#translated("write", () => {
      makeFolder(this.#fs, dirname(this.path));
      file.read((fd) => copyOpenFile(this.#fs, fd, this.path));
    });
    return this.#reload("write");
  }

  /** Whether an open file still holds the session: it may have been emptied before its name went. */
  #isWholeIn(file: AppendFile): boolean {
    const index = this.#newIndex();
    this.#translated("write", () => file.read((fd) => feedToEnd(this.#fs, fd, index)));
    return index.header !== undefined && missingFrom(index, this.#index).length === 0;
  }

  /** Somebody else has made the file before this session had an entry: it is theirs then. */
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

  /** Another file stands at the path, or this one is not what it was: it is read anew if it is the same session. */
  #reload(intent: Intent, isOthers = false): LogChange {
    // First of all: what is missing in the new file while its maker is still at it is on its way.
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

  /** Finishes, or waits for, a replacement of the file by another process; a session that only reads does neither. */
  #isReplacementDone(intent: Intent): boolean {
    const isReader = this.#options.mode === "read-only";
    return this.#translated(intent, () =>
      isReader
        ? !isHalfReplaced(this.#fs, this.path)
        : finishReplacement(this.#fs, this.path, REPLACEMENT_WAIT_MS),
    );
  }

  /**
   * Appends once more what the file lacks of the lines that were appended here lately, each if its parent is there.
   *
   * Not after a replacement that took all lines along: what is missing then was taken away on purpose.
   */
  #putBack(
    oldFile: AppendFile,
    before: SessionIndex,
    fingerprint: FileFingerprint | undefined,
  ): readonly LogLine[] {
    const isSame = this.#file.isSameAs(oldFile);
    const newest = (isSame ? fingerprint?.newest : undefined) ?? Number.POSITIVE_INFINITY;
    const { own, isOwnStuck, areOthers } = this.#recent.missingFrom(this.#index, before, newest);
    const isTaken = !isSame && this.#translated("write", () => oldFile.isRetired);
    const isOwnLost = own.length > 0 && !isTaken;
    // Only the old file can tell whether it was retired.
    if (isOwnLost && !oldFile.isHeld) throw new ReplacedError(this.path);
    if (isOwnLost && !this.append(own)) {
      throw fileError(this.path, "write", new FileChangedError("another file stands at the path by now"));
    }
    if (areOthers || (isOwnStuck && !isTaken)) throw new ReplacedError(this.path);
    return isTaken ? [] : own;
  }

  #tell(change: LogChange): LogChange {
    this.onChange?.(change);
    return change;
  }

  /** Runs a call of the file system and turns its error into ours. */
  #translated<T>(intent: Intent, call: () => T): T {
    try {
      return call();
    } catch (error) {
      throw fileError(this.path, intent, error);
    }
  }
}

/** Hands over the records that the index has kept, and reads the other lines, all in the order given. */
function takeRecords(
  index: SessionIndex,
  ordinals: Iterable<number>,
  take: TakeRecord,
  read: (ordinals: readonly number[]) => void,
): void {
  let missing: number[] = [];
  const readMissing = () => {
    if (missing.length > 0) read(missing);
    missing = [];
  };
  for (const ordinal of ordinals) {
    const record = index.takeRecord(ordinal);
    if (record === undefined) {
      missing.push(ordinal);
      continue;
    }
    readMissing();
    take(ordinal, record, index.spans.lengthAt(ordinal));
  }
  readMissing();
}
