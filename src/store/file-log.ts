import { setImmediate as nextTurn } from "node:timers/promises";
import { SessionError } from "../errors.ts";
import { encodeRecord } from "../jsonl/encode.ts";
import { SessionIndex } from "../reading/session-index.ts";
import type { AnySessionEntry } from "../schema/entry.ts";
import type { SessionHeader } from "../schema/header.ts";
import { CURRENT_SESSION_VERSION } from "../schema/version.ts";
import { AppendFile, type FileState } from "./append-file.ts";
import { Blocks } from "./blocks.ts";
import { copyLines, wholeCopy } from "./canonical-copy.ts";
import { fileError, gone, notASession, replaced } from "./file-errors.ts";
import type { FileLogOptions, LoadOptions } from "./file-log-options.ts";
import { type FileSystem, isThere, PIECE_BYTES, readRange, realFileSystem } from "./file-system.ts";
import { LeaseSlot } from "./lease-slot.ts";
import { encodeLines } from "./log-lines.ts";
import { readLinesOf } from "./read-lines.ts";
import { feedFile, feedSome, feedWhole, holdsAll } from "./read-session-file.ts";
import type { LogChange, LogLine, SessionLog } from "./session-log.ts";
import { rewriteFile, upgradeFile } from "./upgrade-file.ts";

/** Bytes read at a time while loading: no more than a few milliseconds of work. */
const LOAD_STEP_BYTES = 1024 * 1024;

/** How often the file's state is looked at, at most. */
const LOOK_EVERY_MS = 1;

/**
 * A session whose lines are in a file.
 *
 * It reads in pieces, keeps heads and places, writes each append at once, and notices what other processes write.
 *
 * @remarks Source: docs/durability.md
 */
export class FileLog implements SessionLog {
  onChange: ((change: LogChange) => void) | undefined;
  readonly #fs: FileSystem;
  readonly #options: FileLogOptions;
  readonly #file: AppendFile;
  #index: SessionIndex;
  /** The bytes of a session whose file has not been made yet. */
  #unwritten: Blocks | undefined;
  readonly #lease: LeaseSlot;
  /** Whether something was written that `flush` has not waited for. */
  #isUnsynced = false;
  #isClosed = false;
  #lookedBeforeAt = Number.NEGATIVE_INFINITY;
  #lookedAfterAt = Number.NEGATIVE_INFINITY;

  private constructor(path: string, options: FileLogOptions) {
    this.#fs = options.fs ?? realFileSystem;
    this.#options = options;
    this.#file = new AppendFile(this.#fs, path);
    this.#index = this.#newIndex();
    this.#lease = new LeaseSlot(this.#fs, path, options);
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
      log.#readAll();
    } catch (error) {
      log.#lease.release();
      throw error;
    }
    return log.#unlessEmpty();
  }

  /** Opens a session file like `open`, in steps of a few milliseconds between which other work goes on. */
  static async load(
    path: string,
    options: FileLogOptions = {},
    { onProgress, signal }: LoadOptions = {},
  ): Promise<FileLog | undefined> {
    const log = FileLog.#begin(path, options);
    if (log === undefined) return undefined;
    try {
      for (const total of log.#readSteps(LOAD_STEP_BYTES)) {
        onProgress?.(log.#index.position, total);
        await nextTurn();
        if (signal?.aborted) throw new SessionError("ABORTED", `Loading ${path} was aborted; load it again.`);
      }
    } catch (error) {
      log.#lease.release();
      throw error;
    }
    return log.#unlessEmpty();
  }

  /** Takes the lease of a file that is there. */
  static #begin(path: string, options: FileLogOptions): FileLog | undefined {
    if (!isThere(path, options.fs)) return undefined;
    const log = new FileLog(path, options);
    log.#lease.take();
    return log;
  }

  /**
   * Begins a session whose file is made when the first lasting entry is appended.
   *
   * @param path - Where the file will stand; nothing may stand there but an empty file.
   */
  static create(path: string, header: SessionHeader, options: FileLogOptions = {}): FileLog {
    const log = new FileLog(path, options);
    log.#lease.take();
    log.#unwritten = Blocks.of([`${encodeRecord(header)}\n`]);
    feedWhole(log.#index, log.#unwritten.join());
    if (options.createAtOnce) log.#createFile(new Uint8Array(0));
    return log;
  }

  get path(): string {
    return this.#file.path;
  }

  get index(): SessionIndex {
    return this.#index;
  }

  get readOnlyReason(): "mode" | "version" | "closed" | undefined {
    if (this.#isClosed) return "closed";
    if (this.#options.mode === "read-only" || this.#lease.isDenied) return "mode";
    return this.#index.version > CURRENT_SESSION_VERSION ? "version" : undefined;
  }

  readLines(ordinals: Iterable<number>, take: (ordinal: number, bytes: Uint8Array) => void): void {
    const unwritten = this.#unwritten;
    if (unwritten !== undefined) {
      for (const ordinal of ordinals) {
        const { offset, length } = this.#index.places.at(ordinal);
        take(ordinal, unwritten.read(offset, length));
      }
      return;
    }
    // Where own lines stand is presumed until somebody has looked.
    if (this.#index.expectedEnd > this.#index.position) this.#catchUp();
    this.#translated("read", () => {
      this.#file.read((fd) => readLinesOf(this.#fs, fd, this.#index.places, ordinals, take));
    });
  }

  append(lines: readonly LogLine[], isLasting: boolean): number {
    if (this.#unwritten !== undefined) return this.#appendUnwritten(this.#unwritten, lines, isLasting);
    this.#lookBeforeWrite();
    if (this.#index.needsUpgrade) this.upgrade();
    const encoded = encodeLines(lines, this.#index.isMidLine);
    const isSynced = this.#options.durability === "fsync";
    this.#translated("write", () => this.#file.append(encoded.bytes, this.#index.expectedEnd, isSynced));
    this.#isUnsynced = true;
    const first = encoded.addTo(this.#index);
    this.#lookAfterWrite();
    return first;
  }

  refresh(): LogChange | undefined {
    return this.#unwritten === undefined ? this.#catchUp() : undefined;
  }

  /** Rewrites the file in the current version; see `upgradeFile`. */
  upgrade(): string | undefined {
    if (this.#unwritten !== undefined || !this.#index.needsUpgrade) return undefined;
    const backup = upgradeFile(this.#fs, this.path, this, () => this.#assertUnchanged());
    this.#readReplacement();
    return backup;
  }

  /**
   * Rewrites the file with entries altered; the old one is kept nowhere.
   *
   * @param change - Must keep id, parent and type.
   * @throws {SessionError} `WRITE_FAILED`, and then the file is as it was.
   */
  rewrite(change: (entry: AnySessionEntry) => AnySessionEntry): void {
    if (this.#unwritten !== undefined) {
      const lines = copyLines(this, { ...wholeCopy(this.#index), change });
      this.#unwritten = Blocks.of(lines);
      this.#readReplacement();
      return;
    }
    this.#translated("write", () =>
      rewriteFile(this.#fs, this.path, this, change, () => this.#assertUnchanged()),
    );
    this.#readReplacement();
  }

  async flush(): Promise<void> {
    if (!this.#isUnsynced || this.#isClosed) return;
    this.#translated("write", () => this.#file.sync());
    this.#isUnsynced = false;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    try {
      await this.flush();
    } finally {
      this.#isClosed = true;
      this.#file.release();
      this.#lease.release();
    }
  }

  /** Goes on with the file that was just put in the place of the old one. */
  #readReplacement(): void {
    const before = this.#index;
    this.#file.forget();
    this.#index = this.#newIndex();
    if (this.#unwritten === undefined) this.#readAll();
    else feedWhole(this.#index, this.#unwritten.join());
    this.#tell({ kind: "reloaded", before });
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

  #unlessEmpty(): FileLog | undefined {
    if (this.#index.position > 0) return this;
    this.#lease.release();
    return undefined;
  }

  /** Reads the whole file into the index. */
  #readAll(): void {
    for (const _total of this.#readSteps(PIECE_BYTES));
  }

  /** Reads the whole file into the index, so many bytes at a time; yields the file's size after each. */
  *#readSteps(stepBytes: number): Generator<number, void> {
    const index = this.#index;
    let total = this.#file.look()?.size ?? 0;
    const buffer = Buffer.allocUnsafeSlow(Math.max(1, Math.min(stepBytes, total)));
    do {
      total = this.#translated("read", () => this.#file.read((fd) => feedSome(this.#fs, fd, index, buffer)));
      yield total;
    } while (index.position < total && !index.isRejected);
    // A header without a line break behind it is found at the end.
    if (!index.isRejected) index.end();
    if (total > 0 && index.header === undefined) throw notASession(this.path);
  }

  #appendUnwritten(unwritten: Blocks, lines: readonly LogLine[], isLasting: boolean): number {
    const encoded = encodeLines(lines, false);
    if (isLasting) this.#createFile(encoded.bytes);
    else unwritten.add(encoded.bytes);
    const first = encoded.addTo(this.#index);
    this.#index.confirmOwn();
    return first;
  }

  /** Makes the file of all that was not written yet and `more`. */
  #createFile(more: Uint8Array): void {
    const bytes = this.#unwritten?.join(more) ?? more;
    this.#translated("write", () => this.#file.create(bytes, this.#options.durability === "fsync"));
    this.#unwritten = undefined;
    this.#isUnsynced = true;
  }

  #lookBeforeWrite(): void {
    const now = performance.now();
    if (now - this.#lookedBeforeAt < LOOK_EVERY_MS) return;
    this.#lookedBeforeAt = now;
    this.#catchUp();
  }

  #lookAfterWrite(): void {
    const now = performance.now();
    if (now - this.#lookedAfterAt < LOOK_EVERY_MS) return;
    this.#lookedAfterAt = now;
    if (this.#file.size() === this.#index.expectedEnd) this.#index.confirmOwn();
    else this.#catchUp();
  }

  /** Looks at the file and reads what is new in it. */
  #catchUp(): LogChange | undefined {
    const state = this.#translated("read", () => this.#file.look());
    if (state === undefined) return this.#recreate();
    if (!this.#file.isSame(state) || state.size < this.#index.position) return this.#reload();
    if (state.size === this.#index.expectedEnd) {
      this.#index.confirmOwn();
      return undefined;
    }
    return this.#readNew(state);
  }

  #readNew(state: FileState): LogChange | undefined {
    const from = this.#index.tree.size;
    this.#index.expectOwnAmongOthers();
    this.#translated("read", () => this.#file.read((fd) => feedFile(this.#fs, fd, this.#index, state.size)));
    if (this.#index.missingOwn.length > 0) throw replaced(this.path);
    return from < this.#index.tree.size ? this.#tell({ kind: "foreign", from }) : undefined;
  }

  /** The name is gone: the file is written anew from the descriptor, if that is still open. */
  #recreate(): undefined {
    if (this.readOnlyReason !== undefined) return undefined;
    if (!this.#file.isHeld) throw gone(this.path);
    this.#translated("write", () => this.#file.recreate());
    return undefined;
  }

  /** Another file stands at the path, or this one shrank: it is read anew if it holds all that is known. */
  #reload(): LogChange {
    const before = this.#index;
    this.#file.forget();
    this.#index = this.#newIndex();
    try {
      this.#readAll();
      if (!holdsAll(this.#index, before)) throw replaced(this.path);
    } catch (error) {
      this.#index = before;
      throw error;
    }
    return this.#tell({ kind: "reloaded", before });
  }

  #tell(change: LogChange): LogChange {
    this.onChange?.(change);
    return change;
  }

  #assertUnchanged(): void {
    const state = this.#file.look();
    const isSame = state !== undefined && this.#file.isSame(state) && state.size === this.#index.expectedEnd;
    if (!isSame) throw new Error("another process changed the file meanwhile");
  }

  /** Runs a call of the file system and turns its error into ours. */
  #translated<T>(intent: "read" | "write", call: () => T): T {
    try {
      return call();
    } catch (error) {
      if (error instanceof SessionError) throw error;
      throw fileError(this.path, intent, error);
    }
  }
}
