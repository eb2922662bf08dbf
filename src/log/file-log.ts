import { dirname } from "node:path";
import { monotonicMs, nextTurn } from "../fs/clock.ts";
import { fileChanges } from "../fs/file-changes.ts";
import {
  type FileSystem,
  hasErrorCode,
  NOT_PERMITTED,
  realFileSystem,
  syncFolder,
} from "../fs/file-system.ts";
import { encodeRecord } from "../jsonl/encode.ts";
import type { LineChange } from "../jsonl/entry-body.ts";
import { DEFAULT_MAX_LINE_BYTES } from "../jsonl/line-scanner.ts";
import type { SpansByOrdinal } from "../jsonl/line-spans.ts";
import type { SessionIndex } from "../jsonl/session-index.ts";
import { refuseAborted } from "../schema/abort.ts";
import { isSessionError, SessionError } from "../schema/errors.ts";
import type { SessionHeader } from "../schema/header.ts";
import { NONE } from "../tree/entry-tree.ts";
import { AppendFile } from "./append-file.ts";
import { copyLines, wholeCopy } from "./canonical-copy.ts";
import { assertLeafIn } from "./expected-leaf.ts";
import {
  assertAllRead,
  FileChangedError,
  fileError,
  gone,
  type Intent,
  ReplacedError,
  untilUnchanged,
} from "./file-errors.ts";
import type { FileLogOptions, LoadOptions } from "./file-log-options.ts";
import { FileSuccession } from "./file-succession.ts";
import { LeaseSlot } from "./lease-slot.ts";
import { OpenFile } from "./open-file.ts";
import { movedSpans, readLinesOf } from "./read-lines.ts";
import { awaitFile, exclusively, finishReplacement, isThere, replaceFile } from "./replace-file.ts";
import type { LogChange, LogLine, ReadOnlyReason, SessionLog, TakeLine, TakeText } from "./session-log.ts";
import type { OldFile } from "./take-over.ts";
import { UnwrittenSession } from "./unwritten-session.ts";
import { upgradeFile } from "./upgrade-file.ts";
import { assertWritable } from "./writable.ts";

/** Bytes read at a time while loading: a millisecond or two of work. */
const LOAD_STEP_BYTES = 256 * 1024;

/** Milliseconds that a load works before it yields to the event loop. */
const LOAD_TURN_MS = 4;

/** How often the file's state is checked in a burst of appends. */
const POLL_EVERY_MS = 1;

/** Appends within that time that are no burst yet. */
const BURST = 8;

const NEVER = Number.NEGATIVE_INFINITY;

/**
 * A session whose lines are in a file.
 *
 * It reads in pieces, keeps heads and spans, and writes each append at once. It is one of two things: a session that is not
 * written yet, or an open file. `#poll` compares that file with the path, and switches to the file that has replaced it;
 * it runs before an append and after it, and in `refresh`, `pull`, `changes`, `flush`, `upgrade` and `rewrite`. `readLines` never reads from a
 * replaced file either, but callers do not see what it switches to, and their ordinals remain valid, until the next poll.
 *
 * If a call fails, the state stays as it was, and the next call tries again.
 *
 * @remarks Source: docs/durability.md
 */
export class FileLog implements SessionLog {
  onChange: ((change: LogChange) => void) | undefined;
  onPersistence: ((state: "ok" | "degraded", error?: Error) => void) | undefined;
  readonly path: string;
  readonly isDegraded = false;
  readonly #fs: FileSystem;
  readonly #options: FileLogOptions;
  readonly #lease: LeaseSlot;
  readonly #files: FileSuccession;
  #state: UnwrittenSession | OpenFile;
  /** The index that callers know: that of `#state`, unless a read has found another file since. */
  #knownIndex: SessionIndex;
  /** Ordinal from which on callers do not know entries of others yet. */
  #unknownFrom: number | undefined;
  #isClosed = false;
  /** Whether this session has written to the file. */
  #hasAppended = false;
  /** What `flush` still has to make durable. */
  #unsynced: "nothing" | "bytes" | "bytes and name" = "nothing";
  #polledBeforeAt = NEVER;
  #polledAfterAt = NEVER;
  /** Appends since the last regular poll. */
  #burst = 0;

  private constructor(path: string, options: FileLogOptions) {
    this.path = path;
    this.#fs = options.fs ?? realFileSystem;
    this.#options = options;
    this.#lease = new LeaseSlot(this.#fs, path, options, (error) => this.onPersistence?.("degraded", error));
    this.#files = new FileSuccession({
      fs: this.#fs,
      path,
      options,
      lease: this.#lease,
      write: (file, lines) => this.#translated("write", () => this.#writeTo(file, lines)),
    });
    this.#state = this.#unwritten([]);
    this.#knownIndex = this.#state.index;
  }

  /** Opens a session file; undefined if it is missing or empty. */
  static open(path: string, options: FileLogOptions = {}): FileLog | undefined {
    const log = FileLog.#begin(path, options);
    if (log === undefined) return undefined;
    log.#start(log.#orRelease(() => log.#files.read("read")));
    return log.#unlessEmpty();
  }

  /** Opens a session file like `open`, in steps of a few milliseconds, between which the event loop runs. */
  static async load(
    path: string,
    options: FileLogOptions = {},
    { onProgress, signal }: LoadOptions = {},
  ): Promise<FileLog | undefined> {
    const log = FileLog.#begin(path, options);
    if (log === undefined) return undefined;
    try {
      let turnStart = monotonicMs();
      for (const [read, total] of log.#load()) {
        onProgress?.(read, total);
        const isDue = monotonicMs() - turnStart >= LOAD_TURN_MS;
        if (isDue) await nextTurn();
        refuseAborted(signal, `Loading ${path} was aborted; load it again.`);
        if (isDue) turnStart = monotonicMs();
      }
    } catch (error) {
      log.#lease.release();
      throw error;
    }
    return log.#unlessEmpty();
  }

  /** Takes the lease of an existing file. */
  static #begin(path: string, options: FileLogOptions): FileLog | undefined {
    const log = new FileLog(path, options);
    if (!isThere(path, options.fs)) return undefined;
    log.#lease.take();
    if (log.readOnlyReason === "mode") return log;
    // Takes over the lines that a killed process left in an old file. A living process does so itself.
    log.#orRelease(() => log.#translated("write", () => finishReplacement(log.#fs, path, 0)));
    return log;
  }

  /**
   * Begins a session whose file is created by the first lasting append.
   *
   * @param path - Path of the file, which must not exist, or be empty.
   * @param start - The header, or the lines that the session begins with.
   */
  static create(
    path: string,
    start: SessionHeader | Iterable<string | Uint8Array>,
    options: FileLogOptions = {},
  ): FileLog {
    const log = new FileLog(path, options);
    log.#lease.take();
    log.#orRelease(() => {
      const session = log.#unwritten("type" in start ? [`${encodeRecord(start)}\n`] : start);
      const isMade = options.createAtOnce === true && !log.#lease.isDenied;
      log.#start(isMade ? log.#make(session, []) : session);
    });
    return log;
  }

  get index(): SessionIndex {
    return this.#knownIndex;
  }

  get readOnlyReason(): ReadOnlyReason | undefined {
    if (this.#isClosed) return "closed";
    if (this.#files.isReader) return "mode";
    return this.#files.refusalOf(this.index);
  }

  readLines(ordinals: Iterable<number>, take: TakeLine, takeText?: TakeText): void {
    if (this.#state instanceof UnwrittenSession) {
      this.#state.readLines(ordinals, take);
      return;
    }
    const { fd, close } = this.#found(() => this.#file.openToRead());
    try {
      const spans = this.#spansForCallers(this.#state.index);
      this.#translated("read", () => readLinesOf(this.#fs, fd, spans, ordinals, take, takeText));
    } finally {
      close();
    }
  }

  append(lines: readonly LogLine[], isLasting: boolean): number {
    const [first] = lines;
    if (first === undefined) return this.index.tree.size;
    assertWritable(this);
    this.#assertReadable(lines);
    const now = monotonicMs();
    if (this.#state instanceof OpenFile) this.#prepareFile(now);
    const { index } = this;
    const ordinal = index.tree.size;
    if (this.#state instanceof OpenFile) this.#appendToOpenFile(lines, now);
    else if (isLasting) this.#state = this.#make(this.#state, lines);
    else this.#state.add(lines);
    // A poll may have read the file anew, and then entries have other ordinals.
    return index === this.index ? ordinal : this.index.tree.find(first.head.id);
  }

  isReplaced(): boolean {
    return this.#found(() => this.#state.index !== this.#knownIndex);
  }

  refresh(): LogChange | undefined {
    return this.#poll("read");
  }

  async pull(): Promise<void> {
    this.refresh();
  }

  async appendIfLeaf(line: LogLine, expectedLeafId: string | null, isLasting: boolean): Promise<void> {
    this.refresh();
    const { tree, spans } = this.index;
    assertLeafIn(tree, spans.allInFileOrder(tree.size), expectedLeafId);
    this.append([line], isLasting);
  }

  async *changes(signal?: AbortSignal): AsyncGenerator<void, void> {
    for await (const _ of fileChanges(this.path, signal)) {
      this.refresh();
      yield;
    }
  }

  upgrade(): string | undefined {
    if (this.#state instanceof UnwrittenSession || !this.index.needsUpgrade) return undefined;
    return this.#replace((old) => {
      // Another process may have done it meanwhile.
      return this.index.needsUpgrade ? upgradeFile(old, this) : undefined;
    });
  }

  rewrite(changeLine: LineChange, more: () => readonly LogLine[]): void {
    if (this.#state instanceof UnwrittenSession) {
      this.#state = this.#state.rewritten(copyLines(this, { ...wholeCopy(this.index), changeLine, more }));
      this.#notify();
      return;
    }
    this.#replace((old) => {
      const pieces = copyLines(this, { ...wholeCopy(this.index), changeLine, more });
      replaceFile({ old, pieces });
      return this.path;
    });
  }

  async flush(): Promise<void> {
    if (!this.#isClosed) this.#flush();
  }

  async close(): Promise<void> {
    this.release();
  }

  release(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      this.#flush();
    } catch (error) {
      // A caller who removed the file and closes the session wants neither.
      if (!isSessionError(error, "SESSION_NOT_FOUND") && !isRefused(error)) throw error;
    } finally {
      if (this.#state instanceof OpenFile) this.#state.release();
      this.#lease.release();
    }
  }

  #start(state: UnwrittenSession | OpenFile): void {
    this.#state = state;
    this.#knownIndex = state.index;
  }

  #unwritten(lines: Iterable<string | Uint8Array>): UnwrittenSession {
    return new UnwrittenSession(
      this.#fs,
      new AppendFile(this.#fs, this.path),
      lines,
      this.#options.maxLineBytes,
    );
  }

  /** Makes the file of a session that is not written yet. */
  #make(session: UnwrittenSession, lines: readonly LogLine[]): OpenFile {
    const isSynced = this.#options.durability === "fsync";
    const file = this.#translated("write", () => session.make(lines, isSynced));
    this.#hasAppended = true;
    if (!isSynced) this.#unsynced = "bytes and name";
    return file;
  }

  *#load(): Generator<[read: number, total: number], void> {
    this.#start(yield* this.#files.readSteps("read", LOAD_STEP_BYTES));
  }

  /** Releases the lease if a call fails. */
  #orRelease<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      this.#lease.release();
      throw error;
    }
  }

  #unlessEmpty(): FileLog | undefined {
    if (this.index.position > 0) return this;
    this.#lease.release();
    return undefined;
  }

  /** Makes sure that the file can be appended to. */
  #prepareFile(now: number): void {
    this.#pollBeforeWrite(now);
    // The poll may have found a file of a newer version, or another program's.
    assertWritable(this);
    this.#endTorn();
    if (this.index.needsUpgrade) this.upgrade();
  }

  #appendToOpenFile(lines: readonly LogLine[], now: number): void {
    try {
      while (!this.#appendOnce(lines)) {
        this.#polledBeforeAt = NEVER;
        this.#prepareFile(now);
        // The process that replaced the file may have copied them.
        if (lines.every(({ head }) => this.index.tree.find(head.id) !== NONE)) break;
      }
    } catch (error) {
      // The rest of a failed write must be read before the next one.
      this.#polledBeforeAt = NEVER;
      throw error;
    }
    this.#pollAfterWrite(now);
  }

  /** Returns false if another file is at the path: nothing was added. */
  #appendOnce(lines: readonly LogLine[]): boolean {
    const isDone = this.#translated("write", () => this.#writeTo(this.#file, lines));
    if (isDone) this.#files.remember(lines);
    return isDone;
  }

  #writeTo(file: OpenFile, lines: readonly LogLine[]): boolean {
    const isSynced = this.#options.durability === "fsync";
    if (!file.append(lines, isSynced)) return false;
    this.#hasAppended = true;
    if (!isSynced && this.#unsynced === "nothing") this.#unsynced = "bytes";
    return true;
  }

  /** Completes a torn last line if that makes it entries, and reads them: new entries may have them as parents. */
  #endTorn(): void {
    if (!this.index.isMidLine) return;
    this.#polled("write", (file) => file.endTorn());
    this.#poll("write");
  }

  #flush(): void {
    if (!this.#hasAppended) return;
    this.#polled("flush", (file) => {
      if (file.findAtPath() === "gone") throw gone(this.path);
      if (this.#unsynced === "nothing") return;
      file.sync();
      if (this.#unsynced === "bytes and name") syncFolder(this.#fs, dirname(this.path));
      this.#unsynced = "nothing";
    });
  }

  /** Readers would lose a line over the bound. */
  #assertReadable(lines: readonly LogLine[]): void {
    const { maxLineBytes = DEFAULT_MAX_LINE_BYTES } = this.#options;
    for (const { text, head } of lines) {
      if (text.length * 3 <= maxLineBytes || Buffer.byteLength(text) <= maxLineBytes) continue;
      throw new SessionError(
        "ENTRY_INVALID",
        `The entry is longer than ${maxLineBytes} bytes; shorten it, or raise maxLineBytes.`,
        { details: { entryId: head.id, maxLineBytes } },
      );
    }
  }

  #pollBeforeWrite(now: number): void {
    const isDue = now - this.#polledBeforeAt >= POLL_EVERY_MS;
    this.#burst = isDue ? 0 : this.#burst + 1;
    if (this.#burst < BURST) {
      this.#poll("write");
      if (isDue) this.#polledBeforeAt = now;
    } else this.#notify();
  }

  #pollAfterWrite(now: number): void {
    if (now - this.#polledAfterAt < POLL_EVERY_MS) return;
    this.#polledAfterAt = now;
    try {
      if (!this.#translated("flush", () => this.#file.confirmPending())) this.#poll("flush");
    } catch (error) {
      // The lines are in the file. The next poll will report what this one could not.
      if (!isSessionError(error) || error instanceof ReplacedError) throw error;
      this.#polledBeforeAt = NEVER;
    }
  }

  /** Replaces the file; retries if it was cut or replaced meanwhile. */
  #replace<T extends string | undefined>(write: (old: OldFile) => T): T {
    return exclusively(this.#fs, this.path, () => {
      // Only an append makes a file that is gone anew.
      const written = this.#polled("flush", (file) => {
        if (file.findAtPath() === "gone") throw gone(this.path);
        assertWritable(this);
        assertAllRead(this.path, this.index);
        return file.replace(write);
      });
      if (written !== undefined) this.#takeReplacement();
      return written;
    });
  }

  /** Reads the new file. If that fails, the replacement has taken effect all the same, and the next poll reads it. */
  #takeReplacement(): void {
    // Where files have no numbers, the new one looks like the old one.
    this.#file.markStale();
    try {
      this.#poll("write");
    } catch (error) {
      if (!isSessionError(error)) throw error;
      this.#polledBeforeAt = NEVER;
    }
  }

  /** Calls when the lines of known entries are found: in the file that has replaced the one that was read, if one has. */
  #found<T>(call: () => T): T {
    return untilUnchanged(() =>
      this.#translated("read", () => {
        this.#pollOnce("read", true);
        return call();
      }),
    );
  }

  /** Returns the positions of lines in the current file by the ordinals that callers know. */
  #spansForCallers({ tree, spans }: SessionIndex): SpansByOrdinal {
    if (this.#knownIndex === this.#state.index) return spans;
    const { tree: known } = this.#knownIndex;
    return movedSpans(spans, (ordinal) => {
      const there = tree.find(known.idAt(ordinal));
      if (there === NONE) throw new ReplacedError(this.path);
      return there;
    });
  }

  /**
   * Compares the file with the path, and reads what is new.
   *
   * Switches to another file of the same session at the path, and appends recent lines of this session that it lacks.
   *
   * @param intent - `write` restores a file that is gone.
   * @throws {SessionError} `WRITE_FAILED` if the file cannot be read or lacks entries; `SESSION_NOT_FOUND` if it is
   *   gone and cannot be restored.
   */
  #poll(intent: Intent): LogChange | undefined {
    untilUnchanged(() => this.#translated(intent, () => this.#pollOnce(intent)));
    return this.#notify();
  }

  /** Polls, then calls with the file; both again if another file takes the path in between. */
  #polled<T>(intent: Intent, call: (file: OpenFile) => T): T {
    return untilUnchanged(() => {
      this.#poll(intent);
      return this.#translated(intent, () => call(this.#file));
    });
  }

  /** @param isForLines - Whether to find only what is needed to read lines of known entries. */
  #pollOnce(intent: Intent, isForLines = false): void {
    const state = this.#state;
    if (state instanceof UnwrittenSession) {
      if (intent === "read" && !isForLines) this.#join(state);
      return;
    }
    const found = state.findAtPath();
    // Reading lines needs what is new only if pending writes may be behind it.
    const isNeeded = !isForLines || state.index.expectedEnd > state.index.position;
    if (found === "same") state.index.confirmPending();
    else if (found === "grown" && isNeeded) this.#readNew(state, intent);
    else if (found === "replaced") this.#state = this.#files.after(state, intent);
    else if (found === "gone") this.#goOnWithout(state, intent, isForLines);
  }

  /** Goes on with an open file whose path is gone, unless it is being replaced. */
  #goOnWithout(file: OpenFile, intent: Intent, isForLines: boolean): void {
    awaitFile(this.#fs, this.path);
    if (file.findAtPath() !== "gone") throw new FileChangedError("the file was replaced meanwhile");
    if (intent === "write") this.#state = this.#files.restored(file);
    // A retired file may hold what was redacted in the one that took its path.
    else if (isForLines && file.isRetired) throw gone(this.path);
    else if (file.isHeld && !file.confirmPending()) this.#readNew(file, intent);
  }

  /** Reports to callers what they do not know yet. */
  #notify(): LogChange | undefined {
    let change: LogChange | undefined;
    if (this.#unknownFrom !== undefined) {
      change = { kind: "foreign", from: this.#unknownFrom };
      this.#unknownFrom = undefined;
      this.onChange?.(change);
    }
    const before = this.#knownIndex;
    if (this.#state.index !== before) {
      this.#knownIndex = this.#state.index;
      change = { kind: "reloaded", before };
      this.onChange?.(change);
    }
    return change;
  }

  #readNew(file: OpenFile, intent: Intent): void {
    const { index } = file;
    const from = index.tree.size;
    try {
      if (!file.readNew()) this.#state = this.#files.after(file, intent);
    } finally {
      // A read that fails has added the entries before the failure.
      if (from < index.tree.size && index === this.#knownIndex) this.#unknownFrom ??= from;
    }
  }

  /** Uses the file that another process made before this session had an entry. */
  #join(session: UnwrittenSession): void {
    const size = this.#fs.statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
    if (size === 0 || session.index.tree.size > 0) return;
    this.#files.isSettled();
    this.#state = this.#files.read("read");
  }

  /** The open file, for calls that are only made when there is one. */
  get #file(): OpenFile {
    if (this.#state instanceof OpenFile) return this.#state;
    throw new TypeError("the session is not written yet");
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

let hasWarned = false;

/** Whether this process is not allowed to flush files, which a host cannot change at run time: says so once. */
function isRefused(error: unknown): boolean {
  if (!isSessionError(error) || !hasErrorCode(error.cause, NOT_PERMITTED)) return false;
  if (!hasWarned) process.emitWarning(NOT_FLUSHED, { code: "SESSIONTREE_NOT_FLUSHED" });
  hasWarned = true;
  return true;
}

const NOT_FLUSHED =
  "This process may not flush files (node --permission): what sessions append survives the process, but not a power cut.";
