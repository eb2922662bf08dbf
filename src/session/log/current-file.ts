import type { SpansByOrdinal } from "../../core/jsonl/line-spans.ts";
import type { SessionIndex } from "../../core/jsonl/session-index.ts";
import { NONE } from "../../core/tree/entry-tree.ts";
import type { FileSystem } from "../fs/file-system.ts";
import {
  FileChangedError,
  type Intent,
  makeGoneError,
  ReplacedError,
  retryUntilUnchanged,
  toFileError,
} from "./file-errors.ts";
import type { FileLogOptions } from "./file-log-options.ts";
import { FileSuccession } from "./file-succession.ts";
import type { LeaseSlot } from "./lease-slot.ts";
import { type OpenFile, readFile } from "./open-file.ts";
import { moveSpans } from "./read-lines.ts";
import { RecentWrites } from "./recent-writes.ts";
import { awaitFile } from "./replace-file.ts";
import type { LogChange, LogLine } from "./session-log.ts";
import type { UnwrittenSession } from "./unwritten-session.ts";

/** A session's file, and the dependencies needed to switch to another file. */
interface FileOfSession {
  readonly fs: FileSystem;
  readonly path: string;
  readonly options: FileLogOptions;
  readonly lease: LeaseSlot | undefined;
  /** Appends lines to a file; returns false if another file is at the path. */
  readonly write: (file: OpenFile, lines: readonly LogLine[]) => boolean;
  /** Called when other processes' writes were detected. */
  readonly onChange: (change: LogChange) => void;
}

/**
 * Current storage of a session's lines: either no file yet, or one open file. Handles all unusual cases: `look` checks which file
 * is at the path, reads lines that other processes appended, and switches to a file that has replaced this one.
 *
 * If a call fails, the state does not change and the next call retries.
 *
 * @remarks Source: docs/durability.md
 */
export class CurrentFile {
  /** Session that has not been written yet, or the open file. */
  state: UnwrittenSession | OpenFile;
  /** Index that callers use. It is the index of `state`, unless a read has found another file in the meantime. */
  knownIndex: SessionIndex;
  /** Whether an append recreates a file that was removed. */
  mayRestore = true;
  /** First ordinal of entries from other processes that callers do not know about yet. */
  unreportedFrom: number | undefined;
  /** Latest writes of this session, which a replacement file must contain. Created by the first one. */
  recent: RecentWrites | undefined;
  readonly #session: FileOfSession;
  /** Finds the file that replaced this one. Created on demand. */
  #succession: FileSuccession | undefined;

  constructor(session: FileOfSession, state: UnwrittenSession | OpenFile) {
    this.#session = session;
    this.state = state;
    this.knownIndex = state.index;
  }

  /** The open file. Used only by calls that require one. */
  get file(): OpenFile {
    if (this.state.isWritten) return this.state;
    throw new TypeError("the session is not written yet");
  }

  /**
   * Checks which file is at the path, and reads new lines.
   *
   * If another file of the same session is at the path, switches to it and appends recent lines of this session that it lacks.
   *
   * @param intent - Purpose of the call. `write` restores a file that was removed.
   * @throws {SessionError} `WRITE_FAILED` if the file cannot be read or lacks entries; `SESSION_NOT_FOUND` if it was removed and
   *   cannot be restored.
   */
  look(intent: Intent): LogChange | undefined {
    retryUntilUnchanged(() => this.translated(intent, () => this.#lookOnce(intent)));
    return this.report();
  }

  /** Calls `look`, and then `call` with the file. Repeats both calls if another file replaces it in the meantime. */
  lookAndCall<T>(intent: Intent, call: (file: OpenFile) => T): T {
    return retryUntilUnchanged(() => {
      this.look(intent);
      return this.translated(intent, () => call(this.file));
    });
  }

  /** Runs `call` after locating the lines of known entries. If the file was replaced, they are in the new file. */
  find<T>(call: () => T): T {
    return retryUntilUnchanged(() =>
      this.translated("read", () => {
        this.#lookOnce("read", true);
        return call();
      }),
    );
  }

  /** Returns the positions of lines in the current file, indexed by the ordinals that callers use. */
  spansForCallers(): SpansByOrdinal {
    const { tree, spans } = this.state.index;
    if (this.knownIndex === this.state.index) return spans;
    const { tree: known } = this.knownIndex;
    return moveSpans(spans, (ordinal) => {
      const there = tree.find(known.idAt(ordinal));
      if (there === NONE) throw new ReplacedError(this.#session.path);
      return there;
    });
  }

  /** Reports changes that callers do not know about yet. */
  report(): LogChange | undefined {
    let change: LogChange | undefined;
    if (this.unreportedFrom !== undefined) {
      change = { kind: "foreign", from: this.unreportedFrom };
      this.unreportedFrom = undefined;
      this.#session.onChange(change);
    }
    const before = this.knownIndex;
    if (this.state.index !== before) {
      this.knownIndex = this.state.index;
      change = { kind: "reloaded", before };
      this.#session.onChange(change);
    }
    return change;
  }

  /** Runs an append that throws if the file was removed instead of restoring it. */
  withoutRestoring<T>(append: () => T): T {
    const before = this.mayRestore;
    this.mayRestore = false;
    try {
      return append();
    } finally {
      this.mayRestore = before;
    }
  }

  /** Runs a file system call and translates its error. */
  translated<T>(intent: Intent, call: () => T): T {
    try {
      return call();
    } catch (error) {
      throw toFileError(this.#session.path, intent, error);
    }
  }

  get #files(): FileSuccession {
    this.recent ??= new RecentWrites();
    this.#succession ??= new FileSuccession({ ...this.#session, recent: this.recent });
    return this.#succession;
  }

  /** @param isForLines - Whether to read only the data needed to read lines of known entries. */
  #lookOnce(intent: Intent, isForLines = false): void {
    const { state } = this;
    if (!state.isWritten) {
      if (intent === "read" && !isForLines) this.#join(state);
      return;
    }
    const found = state.findAtPath();
    // Reading lines requires the new data only if pending writes may follow it.
    const isNeeded = !isForLines || state.index.expectedEnd > state.index.position;
    if (found === "same") state.index.confirmPending();
    else if (found === "grown" && isNeeded) this.#readNew(state, intent);
    else if (found === "replaced") this.state = this.#files.after(state, intent);
    else if (found === "gone") this.#continueWithout(state, intent, isForLines);
  }

  /** Continues with an open file that is no longer at its path, unless it is being replaced. */
  #continueWithout(file: OpenFile, intent: Intent, isForLines: boolean): void {
    const { fs, path } = this.#session;
    awaitFile(fs, path);
    if (file.findAtPath() !== "gone") throw new FileChangedError("the file was replaced in the meantime");
    if (intent === "write" && !this.mayRestore) throw makeGoneError(path);
    if (intent === "write") this.state = this.#files.restored(file);
    // A retired file may contain content that was redacted in the file that replaced it.
    else if (isForLines && file.isRetired) throw makeGoneError(path);
    else if (file.isHeld && !file.confirmPending()) this.#readNew(file, intent);
  }

  #readNew(file: OpenFile, intent: Intent): void {
    const { index } = file;
    const from = index.tree.size;
    try {
      if (!file.readNew()) this.state = this.#files.after(file, intent);
    } finally {
      // A failed read has still added the entries before the failure.
      if (from < index.tree.size && index === this.knownIndex) this.unreportedFrom ??= from;
    }
  }

  /** Switches to a file that another process created before this session had any entries. */
  #join(session: UnwrittenSession): void {
    const { fs, path, options } = this.#session;
    const size = fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size === 0 || session.index.tree.size > 0) return;
    this.#files.isSettled();
    this.state = readFile(fs, path, options, "read");
  }
}
