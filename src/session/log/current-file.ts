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

/** What a session's lines may be in, and what switching to another file needs. */
interface FileOfSession {
  readonly fs: FileSystem;
  readonly path: string;
  readonly options: FileLogOptions;
  readonly lease: LeaseSlot | undefined;
  /** Appends lines to a file; returns false if another one is at the path. */
  readonly write: (file: OpenFile, lines: readonly LogLine[]) => boolean;
  /** Called when others' writes were noticed. */
  readonly onChange: (change: LogChange) => void;
}

/**
 * What a session's lines are in: nothing yet, or one open file. Everything unusual is decided here: `look` compares the file with
 * the path, reads what others appended, and switches to the file that has replaced it.
 *
 * If a call fails, the state stays as it was, and the next call tries again.
 *
 * @remarks Source: docs/durability.md
 */
export class CurrentFile {
  /** A session that is not written yet, or the open file. */
  state: UnwrittenSession | OpenFile;
  /** The index that callers know: that of `state`, unless a read has found another file since. */
  knownIndex: SessionIndex;
  /** Whether an append recreates a file that was removed. */
  mayRestore = true;
  readonly #session: FileOfSession;
  /** What this session has written last, and what finds a file that follows, which must have it; made when needed. */
  #recent: RecentWrites | undefined;
  #succession: FileSuccession | undefined;
  /** Ordinal from which on callers do not know entries of others yet. */
  #unknownFrom: number | undefined;

  constructor(session: FileOfSession, state: UnwrittenSession | OpenFile) {
    this.#session = session;
    this.state = state;
    this.knownIndex = state.index;
  }

  /** Whether callers know everything that was read. */
  get isKnown(): boolean {
    return this.#unknownFrom === undefined && this.state.index === this.knownIndex;
  }

  /** The open file, for calls that are only made when there is one. */
  get file(): OpenFile {
    if (this.state.isWritten) return this.state;
    throw new TypeError("the session is not written yet");
  }

  /** Remembers lines that this session has written. */
  remember(lines: readonly LogLine[]): void {
    this.#recent ??= new RecentWrites();
    for (const line of lines) this.#recent.add(line);
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
  look(intent: Intent): LogChange | undefined {
    retryUntilUnchanged(() => this.translated(intent, () => this.#lookOnce(intent)));
    return this.report();
  }

  /** Looks, then calls with the file; both again if another file takes the path in between. */
  lookAndCall<T>(intent: Intent, call: (file: OpenFile) => T): T {
    return retryUntilUnchanged(() => {
      this.look(intent);
      return this.translated(intent, () => call(this.file));
    });
  }

  /** Calls when the lines of known entries are found: in the file that has replaced the one that was read, if one has. */
  find<T>(call: () => T): T {
    return retryUntilUnchanged(() =>
      this.translated("read", () => {
        this.#lookOnce("read", true);
        return call();
      }),
    );
  }

  /** Returns the positions of lines in the current file by the ordinals that callers know. */
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

  /** Reports to callers what they do not know yet. */
  report(): LogChange | undefined {
    let change: LogChange | undefined;
    if (this.#unknownFrom !== undefined) {
      change = { kind: "foreign", from: this.#unknownFrom };
      this.#unknownFrom = undefined;
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

  /** Appends, and throws if the file is gone instead of restoring it. */
  withoutRestoring<T>(append: () => T): T {
    const before = this.mayRestore;
    this.mayRestore = false;
    try {
      return append();
    } finally {
      this.mayRestore = before;
    }
  }

  /** Tells whether the path leads to the file as it was left. Anything else is for `look`. */
  isUnchanged(file: OpenFile, intent: Intent): boolean {
    try {
      return file.isUnchanged();
    } catch (error) {
      throw toFileError(this.#session.path, intent, error);
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
    this.#recent ??= new RecentWrites();
    this.#succession ??= new FileSuccession({ ...this.#session, recent: this.#recent });
    return this.#succession;
  }

  /** @param isForLines - Whether to find only what is needed to read lines of known entries. */
  #lookOnce(intent: Intent, isForLines = false): void {
    const { state } = this;
    if (!state.isWritten) {
      if (intent === "read" && !isForLines) this.#join(state);
      return;
    }
    const found = state.findAtPath();
    // Reading lines needs what is new only if pending writes may be behind it.
    const isNeeded = !isForLines || state.index.expectedEnd > state.index.position;
    if (found === "same") state.index.confirmPending();
    else if (found === "grown" && isNeeded) this.#readNew(state, intent);
    else if (found === "replaced") this.state = this.#files.after(state, intent);
    else if (found === "gone") this.#continueWithout(state, intent, isForLines);
  }

  /** Continues with an open file whose path is gone, unless it is being replaced. */
  #continueWithout(file: OpenFile, intent: Intent, isForLines: boolean): void {
    const { fs, path } = this.#session;
    awaitFile(fs, path);
    if (file.findAtPath() !== "gone") throw new FileChangedError("the file was replaced meanwhile");
    if (intent === "write" && !this.mayRestore) throw makeGoneError(path);
    if (intent === "write") this.state = this.#files.restored(file);
    // A retired file may hold what was redacted in the one that took its path.
    else if (isForLines && file.isRetired) throw makeGoneError(path);
    else if (file.isHeld && !file.confirmPending()) this.#readNew(file, intent);
  }

  #readNew(file: OpenFile, intent: Intent): void {
    const { index } = file;
    const from = index.tree.size;
    try {
      if (!file.readNew()) this.state = this.#files.after(file, intent);
    } finally {
      // A read that fails has added the entries before the failure.
      if (from < index.tree.size && index === this.knownIndex) this.#unknownFrom ??= from;
    }
  }

  /** Uses the file that another process made before this session had an entry. */
  #join(session: UnwrittenSession): void {
    const { fs, path, options } = this.#session;
    const size = fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size === 0 || session.index.tree.size > 0) return;
    this.#files.isSettled();
    this.state = readFile(fs, path, options, "read");
  }
}
