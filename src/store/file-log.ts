import { dirname } from "node:path";
import { SessionError } from "../errors.ts";
import { encodeRecord } from "../jsonl/encode.ts";
import { SessionIndex } from "../reading/session-index.ts";
import type { SessionHeader } from "../schema/header.ts";
import { CURRENT_SESSION_VERSION } from "../schema/version.ts";
import { AppendFile, type FileState, NotAPlainFileError } from "./append-file.ts";
import { Blocks } from "./blocks.ts";
import {
  type FileSystem,
  ifPresent,
  makeFolder,
  readRange,
  realFileSystem,
  syncFolder,
} from "./file-system.ts";
import { encodeLines } from "./log-lines.ts";
import { readLinesOf } from "./read-lines.ts";
import { feedFile } from "./read-session-file.ts";
import type { LogChange, LogLine, SessionLog } from "./session-log.ts";
import { hasErrorCode } from "./system-error.ts";
import { upgradeFile } from "./upgrade-file.ts";

/** When an append counts as done: in the hands of the operating system, or on the disk. */
export type Durability = "os" | "fsync";

/** How a session file is used. */
export interface FileLogOptions {
  /** `read-only` never writes and holds no descriptor. Default `read-write`. */
  readonly mode?: "read-write" | "read-only";
  /** `os` (default): an append survives the process. `fsync`: it survives a power cut. */
  readonly durability?: Durability;
  /** Bytes; longer lines are an issue. Default 256 MiB. */
  readonly maxLineBytes?: number;
  /** Whether a new session's file is made at once instead of with the first message. */
  readonly createAtOnce?: boolean;
  /** For tests. */
  readonly fs?: FileSystem;
}

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
  #isClosed = false;
  #lookedBeforeAt = Number.NEGATIVE_INFINITY;
  #lookedAfterAt = Number.NEGATIVE_INFINITY;

  private constructor(path: string, options: FileLogOptions) {
    this.#fs = options.fs ?? realFileSystem;
    this.#options = options;
    this.#file = new AppendFile(this.#fs, path);
    this.#index = this.#newIndex();
  }

  /**
   * Opens a session file.
   *
   * @returns Undefined if the file is missing or empty.
   * @throws {SessionError} `NOT_A_SESSION`; the file is left alone.
   */
  static open(path: string, options: FileLogOptions = {}): FileLog | undefined {
    const log = new FileLog(path, options);
    const size = log.#translated("read", () => ifPresent(() => log.#readAll()));
    return size === undefined || size === 0 ? undefined : log;
  }

  /** Tells whether anything stands at a path. */
  static exists(path: string, options: FileLogOptions = {}): boolean {
    const fs = options.fs ?? realFileSystem;
    return fs.statSync(path, { throwIfNoEntry: false }) !== undefined;
  }

  /**
   * Begins a session whose file is made when the first lasting entry is appended.
   *
   * @param path - Where the file will stand; nothing may stand there but an empty file.
   */
  static create(path: string, header: SessionHeader, options: FileLogOptions = {}): FileLog {
    const log = new FileLog(path, options);
    const unwritten = new Blocks();
    unwritten.add(new TextEncoder().encode(`${encodeRecord(header)}\n`));
    log.#unwritten = unwritten;
    log.#index.feed(unwritten.join());
    log.#index.end();
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
    if (this.#options.mode === "read-only") return "mode";
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
    const before = this.#index;
    this.#file.forget();
    this.#index = this.#newIndex();
    this.#translated("read", () => this.#readAll());
    this.#tell({ kind: "reloaded", before });
    return backup;
  }

  async flush(): Promise<void> {
    if (this.#unwritten !== undefined || this.readOnlyReason !== undefined || !this.#file.isHeld) return;
    this.#translated("write", () => this.#file.sync());
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    await this.flush();
    this.#isClosed = true;
    this.#file.release();
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

  /** Reads the whole file into the index; gives its size. */
  #readAll(): number {
    return this.#file.read((fd) => {
      const { size } = this.#fs.fstatSync(fd);
      feedFile(this.#fs, fd, this.#index, size);
      if (size > 0 && this.#index.header === undefined) throw notASession(this.path);
      return size;
    });
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
    this.#translated("write", () => {
      makeFolder(this.#fs, dirname(this.path));
      this.#removeEmpty();
      this.#file.create(bytes);
      if (this.#options.durability !== "fsync") return;
      this.#file.sync();
      syncFolder(this.#fs, dirname(this.path));
    });
    this.#unwritten = undefined;
  }

  /** An empty file at the place of a new session gives way to it. */
  #removeEmpty(): void {
    const stats = this.#fs.lstatSync(this.path, { throwIfNoEntry: false });
    if (stats?.isFile() && stats.size === 0) this.#fs.unlinkSync(this.path);
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
    if (!this.#file.isHeld) {
      throw new SessionError(
        "SESSION_NOT_FOUND",
        `${this.path} is gone, and nothing can be appended to it. Put it back, or start a new session.`,
        { details: { path: this.path } },
      );
    }
    this.#translated("write", () => {
      const bytes = this.#file.read((fd) => readRange(this.#fs, fd, 0, this.#fs.fstatSync(fd).size));
      this.#file.forget();
      makeFolder(this.#fs, dirname(this.path));
      this.#file.create(bytes);
    });
    return undefined;
  }

  /** Another file stands at the path, or this one shrank: it is read anew if it holds all that is known. */
  #reload(): LogChange {
    const before = this.#index;
    this.#file.forget();
    this.#index = this.#newIndex();
    try {
      this.#translated("read", () => this.#readAll());
      const isSame = this.#index.header?.id === before.header?.id;
      for (let i = 0; i < before.tree.size; i++) {
        if (!isSame || this.#index.tree.find(before.tree.idAt(i)) < 0) throw replaced(this.path);
      }
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

function fileError(path: string, intent: "read" | "write", cause: unknown): SessionError {
  const details = { path };
  if (hasErrorCode(cause, "EEXIST")) {
    return new SessionError("SESSION_EXISTS", `${path} exists already. Choose another path, or open it.`, {
      details,
      cause,
    });
  }
  const reason = cause instanceof Error ? cause.message : String(cause);
  if (intent === "read" || cause instanceof NotAPlainFileError) {
    return new SessionError(
      "NOT_A_SESSION",
      `Cannot read ${path}: ${reason}. Check the path and its permissions.`,
      {
        details,
        cause,
      },
    );
  }
  return new SessionError(
    "WRITE_FAILED",
    `Cannot write to ${path}: ${reason}. Nothing was added; append again when the cause is gone.`,
    { details, cause },
  );
}

function notASession(path: string): SessionError {
  return new SessionError(
    "NOT_A_SESSION",
    `${path} is no session: it has no session header. If one was lost, "sessiontree repair" can rebuild it.`,
    { details: { path } },
  );
}

function replaced(path: string): SessionError {
  return new SessionError(
    "WRITE_FAILED",
    `Another file stands at ${path} now, without entries that this session has. Open it anew.`,
    { details: { path } },
  );
}
