import { monotonicMs, nextTurn } from "../fs/clock.ts";
import { fileChanges } from "../fs/file-changes.ts";
import { type FileSystem, realFileSystem } from "../fs/file-system.ts";
import { encodeRecord } from "../jsonl/encode.ts";
import type { LineChange } from "../jsonl/entry-body.ts";
import { DEFAULT_MAX_LINE_BYTES } from "../jsonl/line-scanner.ts";
import type { SessionIndex } from "../jsonl/session-index.ts";
import { refuseAborted } from "../schema/abort.ts";
import { isSessionError, SessionError } from "../schema/errors.ts";
import type { SessionHeader } from "../schema/header.ts";
import { CURRENT_SESSION_VERSION } from "../schema/version.ts";
import { NONE } from "../tree/entry-tree.ts";
import { copyLines, wholeCopy } from "./canonical-copy.ts";
import { assertLeafIn } from "./expected-leaf.ts";
import { assertAllRead, fileError, isThere, ReplacedError, tooNew, untilUnchanged } from "./file-errors.ts";
import type { FileLogOptions, LoadOptions } from "./file-log-options.ts";
import { LeaseSlot } from "./lease-slot.ts";
import { exclusively, finishReplacement } from "./replace-file.ts";
import { SessionFile } from "./session-file.ts";
import type { LogChange, LogLine, ReadOnlyReason, SessionLog, TakeLine, TakeText } from "./session-log.ts";
import type { OldFile } from "./take-over.ts";
import { rewriteFile, upgradeFile } from "./upgrade-file.ts";

/** Bytes read at a time while loading: a millisecond or two of work. */
const LOAD_STEP_BYTES = 256 * 1024;

/** Milliseconds that a load works before it yields to the event loop. */
const LOAD_TURN_MS = 4;

/** How often the file's state is checked in a burst of appends. */
const LOOK_EVERY_MS = 1;

/** Appends within that time that are no burst yet. */
const BURST = 8;

const NEVER = Number.NEGATIVE_INFINITY;

/**
 * A session whose lines are in a file.
 *
 * It reads in pieces, keeps heads and spans, writes each append at once, and notices other processes' writes.
 *
 * @remarks Source: docs/durability.md
 */
export class FileLog implements SessionLog {
  onPersistence: ((state: "ok" | "degraded", error?: Error) => void) | undefined;
  readonly #fs: FileSystem;
  readonly #options: FileLogOptions;
  readonly #file: SessionFile;
  readonly #lease: LeaseSlot;
  readonly isDegraded = false;
  #isClosed = false;
  #lookedBeforeAt = NEVER;
  #lookedAfterAt = NEVER;
  /** Appends since the last regular check. */
  #burst = 0;

  private constructor(path: string, options: FileLogOptions) {
    this.#fs = options.fs ?? realFileSystem;
    this.#options = options;
    this.#file = new SessionFile(this.#fs, path, options);
    this.#lease = new LeaseSlot(this.#fs, path, options, (error) => this.onPersistence?.("degraded", error));
  }

  /**
   * Opens a session file.
   *
   * @returns Undefined if the file is missing or empty.
   * @throws {SessionError} `NOT_A_SESSION`; the file is left alone.
   */
  static open(path: string, options: FileLogOptions = {}): FileLog | undefined {
    const log = FileLog.#begin(path, options);
    if (log === undefined) return undefined;
    try {
      log.#file.readAll();
    } catch (error) {
      log.#lease.release();
      throw error;
    }
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
      for (const [read, total] of log.#file.readSteps(LOAD_STEP_BYTES)) {
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
    try {
      if (log.readOnlyReason !== "mode") log.#finishReplacement();
    } catch (error) {
      log.#lease.release();
      throw error;
    }
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
    try {
      log.#file.begin("type" in start ? [`${encodeRecord(start)}\n`] : start);
      if (options.createAtOnce && !log.#lease.isDenied) log.#file.appendUnwritten([], true);
      return log;
    } catch (error) {
      log.#lease.release();
      throw error;
    }
  }

  get onChange(): ((change: LogChange) => void) | undefined {
    return this.#file.onChange;
  }

  set onChange(listener: ((change: LogChange) => void) | undefined) {
    this.#file.onChange = listener;
  }

  get path(): string {
    return this.#file.path;
  }

  get index(): SessionIndex {
    return this.#file.index;
  }

  get readOnlyReason(): ReadOnlyReason | undefined {
    if (this.#isClosed) return "closed";
    if (this.#options.mode === "read-only" || this.#lease.isDenied) return "mode";
    if (this.index.version > CURRENT_SESSION_VERSION) return "version";
    return this.index.isForeign ? "foreign" : this.#lease.loss;
  }

  readLines(ordinals: Iterable<number>, take: TakeLine, takeText?: TakeText): void {
    this.#file.readLines(ordinals, take, takeText);
  }

  append(lines: readonly LogLine[], isLasting: boolean): number {
    const [first] = lines;
    if (first === undefined) return this.index.tree.size;
    this.#assertReadable(lines);
    const now = monotonicMs();
    if (!this.#file.isUnwritten) this.#prepareFile(now);
    const { tree } = this.index;
    const ordinal = tree.size;
    if (this.#file.isUnwritten) this.#file.appendUnwritten(lines, isLasting);
    else this.#appendToFile(lines, now);
    // A check may have read the file anew, and then entries have other ordinals.
    return tree === this.index.tree ? ordinal : this.index.tree.find(first.head.id);
  }

  pin(): () => void {
    return this.#file.pin();
  }

  refresh(): LogChange | undefined {
    return this.#file.look("read");
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
    if (this.#file.isUnwritten || !this.index.needsUpgrade) return undefined;
    return this.#replace((old) => {
      // Another process may have done it meanwhile.
      return this.index.needsUpgrade ? upgradeFile(old, this) : undefined;
    });
  }

  rewrite(changeLine: LineChange, more: () => readonly LogLine[]): void {
    if (this.#file.isUnwritten) {
      this.#file.begin(copyLines(this, { ...wholeCopy(this.index), changeLine, more }));
      return;
    }
    this.#replace((old) => {
      rewriteFile(old, this, { ...wholeCopy(this.index), changeLine, more });
      return this.path;
    });
  }

  async flush(): Promise<void> {
    if (!this.#isClosed) this.#file.flush();
  }

  async close(): Promise<void> {
    this.release();
  }

  release(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      this.#file.flush();
    } catch (error) {
      // A caller who removed the file and closes the session wants neither.
      if (!isSessionError(error, "SESSION_NOT_FOUND")) throw error;
    } finally {
      this.#file.release();
      this.#lease.release();
    }
  }

  /** Takes over the lines that a killed process left in an old file. A living process does so itself. */
  #finishReplacement(): void {
    try {
      finishReplacement(this.#fs, this.path, 0);
    } catch (error) {
      throw fileError(this.path, "write", error);
    }
  }

  #unlessEmpty(): FileLog | undefined {
    if (this.index.position > 0) return this;
    this.#lease.release();
    return undefined;
  }

  /** Makes sure that the file can be appended to. */
  #prepareFile(now: number): void {
    this.#lookBeforeWrite(now);
    this.#assertVersion();
    this.#file.endTorn();
    if (this.index.needsUpgrade) this.upgrade();
  }

  #appendToFile(lines: readonly LogLine[], now: number): void {
    try {
      while (!this.#file.append(lines)) {
        this.#lookedBeforeAt = NEVER;
        this.#prepareFile(now);
        // Whoever replaced the file may have copied them.
        if (lines.every(({ head }) => this.index.tree.find(head.id) !== NONE)) break;
      }
    } catch (error) {
      // The rest of a failed write must be read before the next one.
      this.#lookedBeforeAt = NEVER;
      throw error;
    }
    this.#lookAfterWrite(now);
  }

  /** A check may have found a file of a newer version, which must not be written to. */
  #assertVersion(): void {
    const { version } = this.index;
    if (version > CURRENT_SESSION_VERSION) throw tooNew(this.path, version);
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

  #lookBeforeWrite(now: number): void {
    const isDue = now - this.#lookedBeforeAt >= LOOK_EVERY_MS;
    this.#burst = isDue ? 0 : this.#burst + 1;
    if (this.#burst >= BURST) return;
    this.#file.look("write");
    if (isDue) this.#lookedBeforeAt = now;
  }

  #lookAfterWrite(now: number): void {
    if (now - this.#lookedAfterAt < LOOK_EVERY_MS) return;
    this.#lookedAfterAt = now;
    try {
      this.#file.check();
    } catch (error) {
      // The lines are in the file. The next check will tell what this one could not.
      if (!isSessionError(error) || error instanceof ReplacedError) throw error;
      this.#lookedBeforeAt = NEVER;
    }
  }

  /** Replaces the file; retries if it was cut or replaced meanwhile. */
  #replace<T extends string | undefined>(write: (old: OldFile) => T): T {
    return exclusively(this.#fs, this.path, () => {
      const written = untilUnchanged(() => {
        this.#file.look("write");
        this.#assertVersion();
        assertAllRead(this.path, this.index);
        return this.#file.replace(write);
      });
      if (written !== undefined) this.#takeReplacement();
      return written;
    });
  }

  /** Reads the new file. If that fails, the replacement has taken effect all the same, and the next look reads it. */
  #takeReplacement(): void {
    try {
      this.#file.takeReplacement();
    } catch (error) {
      if (!isSessionError(error)) throw error;
      this.#lookedBeforeAt = NEVER;
    }
  }
}
