import { dirname } from "node:path";
import { refuseAborted } from "../../core/format/abort.ts";
import { isSessionError } from "../../core/format/errors.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import type { LineChange } from "../../core/jsonl/entry-body.ts";
import { DEFAULT_MAX_LINE_BYTES } from "../../core/jsonl/line-scanner.ts";
import type { SessionIndex } from "../../core/jsonl/session-index.ts";
import { NONE } from "../../core/tree/entry-tree.ts";
import { getMonotonicMs, waitForTurn } from "../fs/clock.ts";
import { watchFile } from "../fs/file-changes.ts";
import {
  type FileSystem,
  hasErrorCode,
  NOT_PERMITTED,
  realFileSystem,
  syncFolder,
} from "../fs/file-system.ts";
import { AppendFile } from "./append-file.ts";
import { copyLines, planWholeCopy } from "./canonical-copy.ts";
import { appendCarefully, lookAfterWrite } from "./careful-append.ts";
import { CurrentFile } from "./current-file.ts";
import { assertLeaf } from "./expected-leaf.ts";
import { assertAllRead, type Intent, makeGoneError, toFileError } from "./file-errors.ts";
import type { FileLogOptions, LoadOptions } from "./file-log-options.ts";
import { findRefusal } from "./file-succession.ts";
import { LeaseSlot } from "./lease-slot.ts";
import { type OpenFile, readFile, readFileSteps } from "./open-file.ts";
import { readEntryLines } from "./read-lines.ts";
import { RecentWrites } from "./recent-writes.ts";
import {
  finishReplacement,
  isHalfReplaced,
  isThere,
  replaceExclusively,
  replaceFile,
} from "./replace-file.ts";
import type { LogChange, LogLine, ReadOnlyReason, SessionLog, TakeLine, TakeText } from "./session-log.ts";
import type { OldFile } from "./takeover.ts";
import { UnwrittenSession } from "./unwritten-session.ts";
import { upgradeFile } from "./upgrade-file.ts";
import { assertReadable, assertWritable } from "./write-permission.ts";

/** Number of bytes to read at a time while loading, which takes one or two milliseconds. */
const LOAD_STEP_BYTES = 256 * 1024;

/** Time that a load runs before it yields to the event loop, in milliseconds. */
const LOAD_TURN_MS = 4;

/** Interval at which to check the file's state during a burst of appends. */
const POLL_EVERY_MS = 1;

/** Number of appends within that interval that are treated as a burst. */
const BURST = 8;

const NEVER = Number.NEGATIVE_INFINITY;

/**
 * Session whose lines are in a file.
 *
 * An append checks that the file at the path is the known file with the known length, writes its line, and checks the file's
 * state again. If a check fails, `CurrentFile.look` handles the case. It also runs in `refresh`, `pull`, `changes`, `flush`,
 * `upgrade`, and `rewrite`. `readLines` also never reads from a replaced file, but until the next `look`, callers do not see the
 * new file and their ordinals remain valid.
 *
 * If a call fails, the state does not change and the next call retries.
 *
 * @remarks Source: docs/durability.md
 */
export class FileLog implements SessionLog {
  onChange: ((change: LogChange) => void) | undefined;
  onPersistence: ((state: "ok" | "degraded", error?: Error) => void) | undefined;
  readonly path: string;
  readonly #fs: FileSystem;
  readonly #options: FileLogOptions;
  readonly #lease: LeaseSlot | undefined;
  readonly #isReader: boolean;
  readonly #isSynced: boolean;
  readonly #current: CurrentFile;
  #isClosed = false;
  /** Whether this session has written to the file. */
  #hasAppended = false;
  /** Data that `flush` must still make durable. */
  #unsynced: "nothing" | "bytes" | "bytes and name" = "nothing";
  #polledBeforeAt = NEVER;
  #polledAfterAt = NEVER;
  /** Number of appends since the last regular check. */
  #burst = 0;

  private constructor(
    path: string,
    options: FileLogOptions,
    lease: LeaseSlot | undefined,
    state: UnwrittenSession | OpenFile,
  ) {
    const { fs = realFileSystem, durability } = options;
    this.path = path;
    this.#fs = fs;
    this.#options = options;
    this.#lease = lease;
    this.#isReader = options.mode === "read-only" || lease?.isDenied === true;
    this.#isSynced = durability === "fsync";
    if (lease !== undefined) lease.onLoss = (error) => this.onPersistence?.("degraded", error);
    const write = (file: OpenFile, lines: readonly LogLine[]) =>
      this.#current.translated("write", () => this.#writeTo(file, lines));
    const onChange = (change: LogChange) => this.onChange?.(change);
    this.#current = new CurrentFile({ fs, path, options, lease, write, onChange }, state);
    this.#current.mayRestore = options.mustExist !== true;
  }

  /** Opens a session file. Returns undefined if it is missing or empty. */
  static open(path: string, options: FileLogOptions = {}): FileLog | undefined {
    const { fs = realFileSystem, lease: wish = "none" } = options;
    if (!isThere(path, fs)) return undefined;
    const lease = wish === "none" ? undefined : LeaseSlot.of(fs, path, options);
    try {
      finishKilled(fs, path, options, lease);
      const file = readFile(fs, path, options, "read");
      if (file.index.position > 0) return new FileLog(path, options, lease, file);
      lease?.release();
      return undefined;
    } catch (error) {
      lease?.release();
      throw error;
    }
  }

  /** Opens a session file as `open` does, in steps of a few milliseconds. The event loop runs between steps. */
  static async load(
    path: string,
    options: FileLogOptions = {},
    { onProgress, signal }: LoadOptions = {},
  ): Promise<FileLog | undefined> {
    if (!isThere(path, options.fs)) return undefined;
    const { fs = realFileSystem } = options;
    const lease = LeaseSlot.of(fs, path, options);
    try {
      finishKilled(fs, path, options, lease);
      const read: { file?: OpenFile } = {};
      const steps = function* () {
        read.file = yield* readFileSteps(fs, path, options, "read", LOAD_STEP_BYTES);
      };
      let turnStart = getMonotonicMs();
      // If the loop exits with an error, the file is closed.
      for (const progress of steps()) {
        onProgress?.(...progress);
        const isDue = getMonotonicMs() - turnStart >= LOAD_TURN_MS;
        if (isDue) await waitForTurn();
        refuseAborted(signal, `Loading ${path} was aborted; load it again.`);
        if (isDue) turnStart = getMonotonicMs();
      }
      const { file } = read;
      if (file !== undefined && file.index.position > 0) return new FileLog(path, options, lease, file);
      lease?.release();
      return undefined;
    } catch (error) {
      lease?.release();
      throw error;
    }
  }

  /**
   * Creates a session whose file is created by the first lasting append.
   *
   * @param path - Path of the file, which must not exist or must be empty.
   * @param start - The header, or the initial lines of the session.
   */
  static create(
    path: string,
    start: SessionHeader | Iterable<string | Uint8Array>,
    options: FileLogOptions = {},
  ): FileLog {
    const { fs = realFileSystem, maxLineBytes, createAtOnce } = options;
    const lease = LeaseSlot.of(fs, path, options);
    try {
      const lines = "type" in start ? [`${encodeRecord(start)}\n`] : start;
      const session = new UnwrittenSession(fs, new AppendFile(fs, path), lines, maxLineBytes);
      const log = new FileLog(path, options, lease, session);
      if (createAtOnce === true && lease?.isDenied !== true) {
        log.#make(session, []);
        log.#current.knownIndex = log.#current.state.index;
      }
      return log;
    } catch (error) {
      lease?.release();
      throw error;
    }
  }

  get index(): SessionIndex {
    return this.#current.knownIndex;
  }

  get readOnlyReason(): ReadOnlyReason | undefined {
    if (this.#isClosed) return "closed";
    if (this.#isReader) return "mode";
    const { knownIndex } = this.#current;
    return knownIndex.isOrdinary ? this.#lease?.loss : findRefusal(knownIndex, this.#lease);
  }

  readLines(ordinals: Iterable<number>, take: TakeLine, takeText?: TakeText): void {
    const current = this.#current;
    if (!current.state.isWritten) {
      current.state.readLines(ordinals, take);
      return;
    }
    const { fd, close } = current.find(() => current.file.openToRead());
    try {
      const spans = current.spansForCallers();
      current.translated("read", () => readEntryLines(this.#fs, fd, spans, ordinals, take, takeText));
    } finally {
      close();
    }
  }

  append(lines: readonly LogLine[], isLasting: boolean, mustExist = false): number {
    if (mustExist) return this.#current.withoutRestoring(() => this.append(lines, isLasting));
    const { state } = this.#current;
    const ordinal = state.index.tree.size;
    if (lines.length === 0) return ordinal;
    if (this.readOnlyReason !== undefined) assertWritable(this);
    const { maxLineBytes = DEFAULT_MAX_LINE_BYTES } = this.#options;
    for (const line of lines) if (line.text.length * 3 > maxLineBytes) assertReadable(line, maxLineBytes);
    if (!state.isWritten) {
      if (isLasting) this.#make(state, lines);
      else state.add(lines);
      return ordinal;
    }
    const now = getMonotonicMs();
    if (!this.#mayWriteNow(state, now)) return this.#appendCarefully(lines, now, false);
    if (!this.#write(state, lines)) return this.#appendCarefully(lines, now, true);
    // If other processes are also writing, the next check determines the position of the line.
    if (!state.isAlone) this.#lookAfterWrite(now);
    return state.index === this.#current.knownIndex ? ordinal : this.#findFirst(lines);
  }

  /**
   * Checks whether an append may write without further preparation: callers must know all entries of the file, and the file at
   * the path must be the known file with the known length. During a burst, the latter is checked once per millisecond.
   */
  #mayWriteNow(file: OpenFile, now: number): boolean {
    const isDue = now - this.#polledBeforeAt >= POLL_EVERY_MS;
    const { knownIndex, unreportedFrom } = this.#current;
    if (file.index !== knownIndex || unreportedFrom !== undefined || !file.index.isReady) return false;
    this.#burst = isDue ? 0 : this.#burst + 1;
    if (this.#burst >= BURST) return true;
    if (!this.#isUnchanged(file, "write")) {
      this.#polledBeforeAt = NEVER;
      return false;
    }
    if (isDue) this.#polledBeforeAt = now;
    return true;
  }

  /** Returns whether the path refers to the unchanged file. `CurrentFile.look` handles all other cases. */
  #isUnchanged(file: OpenFile, intent: Intent): boolean {
    try {
      return file.isUnchanged();
    } catch (error) {
      throw toFileError(this.path, intent, error);
    }
  }

  /**
   * Writes lines at the end of the known file. Returns false if another file is at the path, in which case no lines were added.
   */
  #write(file: OpenFile, lines: readonly LogLine[]): boolean {
    try {
      if (!this.#writeTo(file, lines)) return false;
    } catch (error) {
      // The remainder of a failed write must be read before the next one.
      this.#polledBeforeAt = NEVER;
      throw toFileError(this.path, "write", error);
    }
    this.#current.recent ??= new RecentWrites();
    for (const line of lines) this.#current.recent.add(line);
    return true;
  }

  #writeTo(file: OpenFile, lines: readonly LogLine[]): boolean {
    if (!file.append(lines, this.#isSynced)) return false;
    this.#hasAppended = true;
    if (!this.#isSynced && this.#unsynced === "nothing") this.#unsynced = "bytes";
    return true;
  }

  /** @param isReplaced - Whether `#write` has just found another file at the path. */
  #appendCarefully(lines: readonly LogLine[], now: number, isReplaced: boolean): number {
    // The next append checks the file, even during a burst, and even if this one fails.
    this.#polledBeforeAt = NEVER;
    appendCarefully(this, this.#current, lines, (file) => this.#write(file, lines), isReplaced);
    this.#lookAfterWrite(now);
    return this.#findFirst(lines);
  }

  /** Reads lines that other processes wrote before or after the lines just written. During a burst, does so once per millisecond. */
  #lookAfterWrite(now: number): void {
    if (now - this.#polledAfterAt < POLL_EVERY_MS) return;
    this.#polledAfterAt = now;
    if (!lookAfterWrite(this.#current)) this.#polledBeforeAt = NEVER;
  }

  #findFirst([first]: readonly LogLine[]): number {
    return first === undefined ? NONE : this.index.tree.find(first.head.id);
  }

  checkReplaced(): boolean {
    const current = this.#current;
    const { state } = current;
    if (state.isWritten && state.index === current.knownIndex && this.#isUnchanged(state, "read"))
      return false;
    return current.find(() => current.state.index !== current.knownIndex);
  }

  refresh(): LogChange | undefined {
    return this.#current.look("read");
  }

  async pull(): Promise<void> {
    this.refresh();
  }

  async appendIfLeaf(line: LogLine, expectedLeafId: string | null, isLasting: boolean): Promise<void> {
    this.refresh();
    const { tree, spans } = this.index;
    assertLeaf(tree, spans.allInFileOrder(tree.size), expectedLeafId);
    this.append([line], isLasting);
  }

  async *changes(signal?: AbortSignal): AsyncGenerator<void, void> {
    for await (const _ of watchFile(this.path, signal)) {
      this.refresh();
      yield;
    }
  }

  upgrade(): string | undefined {
    if (!this.#current.state.isWritten || !this.index.needsUpgrade) return undefined;
    return this.#replace((old) => {
      // Another process may already have upgraded the file.
      return this.index.needsUpgrade ? upgradeFile(old, this) : undefined;
    });
  }

  rewrite(changeLine: LineChange, more: () => readonly LogLine[]): void {
    const current = this.#current;
    if (!current.state.isWritten) {
      current.state = current.state.rewritten(
        copyLines(this, { ...planWholeCopy(this.index), changeLine, more }),
      );
      current.report();
      return;
    }
    this.#replace((old) => {
      const pieces = copyLines(this, { ...planWholeCopy(this.index), changeLine, more });
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
      // A caller that removed the file and closes the session does not expect these errors.
      if (!isSessionError(error, "SESSION_NOT_FOUND") && !isRefused(error)) throw error;
    } finally {
      if (this.#current.state.isWritten) this.#current.state.release();
      this.#lease?.release();
    }
  }

  /** Creates the file for a session that has not been written yet. */
  #make(session: UnwrittenSession, lines: readonly LogLine[]): void {
    const file = this.#current.translated("write", () => session.make(lines, this.#isSynced));
    this.#hasAppended = true;
    if (!this.#isSynced) this.#unsynced = "bytes and name";
    this.#current.state = file;
  }

  #flush(): void {
    if (!this.#hasAppended) return;
    this.#current.lookAndCall("flush", (file) => {
      if (file.findAtPath() === "gone") throw makeGoneError(this.path);
      if (this.#unsynced === "nothing") return;
      file.sync();
      if (this.#unsynced === "bytes and name") syncFolder(this.#fs, dirname(this.path));
      this.#unsynced = "nothing";
    });
  }

  /** Replaces the file. Retries if it was truncated or replaced in the meantime. */
  #replace<T extends string | undefined>(write: (old: OldFile) => T): T {
    return replaceExclusively(this.#fs, this.path, () => {
      // Only appends recreate a file that was removed.
      const written = this.#current.lookAndCall("flush", (file) => {
        if (file.findAtPath() === "gone") throw makeGoneError(this.path);
        assertWritable(this);
        assertAllRead(this.path, this.index);
        return file.replace(write);
      });
      if (written !== undefined) this.#takeReplacement();
      return written;
    });
  }

  /** Reads the new file. If this fails, the replacement has still taken effect, and the next check reads the file. */
  #takeReplacement(): void {
    // On file systems without file numbers, the new file looks like the old one.
    this.#current.file.markStale();
    try {
      this.#current.look("write");
    } catch (error) {
      if (!isSessionError(error)) throw error;
      this.#polledBeforeAt = NEVER;
    }
  }
}

/** Copies the lines that a killed process left in an old file. A process that is still running copies them itself. */
function finishKilled(
  fs: FileSystem,
  path: string,
  options: FileLogOptions,
  lease: LeaseSlot | undefined,
): void {
  if (options.mode === "read-only" || lease?.isDenied === true) return;
  try {
    if (isHalfReplaced(fs, path)) finishReplacement(fs, path, 0);
  } catch (error) {
    throw toFileError(path, "write", error);
  }
}

let hasWarned = false;

/** Returns whether this process is not permitted to flush files, which a host cannot change at run time. Warns once. */
function isRefused(error: unknown): boolean {
  if (!isSessionError(error) || !hasErrorCode(error.cause, NOT_PERMITTED)) return false;
  if (!hasWarned) process.emitWarning(NOT_FLUSHED, { code: "SESSIONTREE_NOT_FLUSHED" });
  hasWarned = true;
  return true;
}

const NOT_FLUSHED =
  "This process is not permitted to flush files (node --permission): appended entries survive the process, but not a power failure.";
