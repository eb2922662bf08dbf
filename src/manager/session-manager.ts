import { findRecentSession, findSessionById } from "../catalog/find-session.ts";
import { forgetSession } from "../catalog/forget-session.ts";
import type { SessionInfo, SessionListProgress } from "../catalog/session-info.ts";
import { FileLog } from "../log/file-log.ts";
import type { LoadOptions } from "../log/file-log-options.ts";
import type { SessionLog } from "../log/session-log.ts";
import { projectFolder } from "../log/session-paths.ts";
import type { SessionEntry } from "../schema/entry.ts";
import type { SessionHeader } from "../schema/header.ts";
import { NONE } from "../tree/entry-tree.ts";
import { exportCopy } from "./fork.ts";
import { branchLog, createLog, forkLog, loadLog, memoryLog, newLog, openLog } from "./open-session.ts";
import { assertRedactable, REDACTION_CUSTOM_TYPE, redactEntry } from "./redaction.ts";
import { SessionAppender } from "./session-appender.ts";
import { SessionCore } from "./session-core.ts";
import type { HomeOptions, SessionHome } from "./session-home.ts";
import {
  coreOptions,
  folderOf,
  type NewSessionOptions,
  newHeader,
  opening,
  type SessionOptions,
  sessionFolder,
  sessionOptions,
  sessionScope,
} from "./session-options.ts";

/**
 * One session: its tree, the leaf on which the next entry hangs, and the file behind it.
 *
 * Every append is in the file before it is in the tree, hangs on the leaf and becomes the leaf. Nothing is ever changed
 * or taken away. All calls are synchronous unless they return a promise.
 *
 * @remarks Source: docs/guide.md
 */
export class SessionManager extends SessionAppender {
  readonly #options: HomeOptions;
  #cwd: string;
  #sessionDir: string;

  private constructor(log: SessionLog, cwd: string, sessionDir: string, options: HomeOptions) {
    super(new SessionCore(log, coreOptions(options)));
    this.#cwd = cwd;
    this.#sessionDir = sessionDir;
    this.#options = options;
  }

  /**
   * Begins a session for a working directory. Its file appears with the first user or assistant message.
   *
   * @param sessionDir - Folder for the file, or options. Default: the project's folder below the agent's.
   * @throws {SessionError} `INVALID_SESSION_ID`
   */
  static create(
    cwd: string,
    sessionDir?: string | SessionOptions,
    options: NewSessionOptions = {},
  ): SessionManager {
    const given = sessionOptions(sessionDir);
    return new SessionManager(createLog(cwd, given, options), cwd, sessionFolder(cwd, given), given);
  }

  /**
   * Opens a session file, whatever state it is in. A missing or empty file is a new session.
   *
   * @param path - May be relative, start with `~`, or be a `file://` URL.
   * @param sessionDir - Folder for sessions made from this one, or options. Default: the file's folder.
   * @param cwdOverride - Working directory instead of the header's.
   * @throws {SessionError} `NOT_A_SESSION`, and the file is as it was.
   */
  static open(path: string, sessionDir?: string | SessionOptions, cwdOverride?: string): SessionManager {
    const given = opening(sessionDir, cwdOverride);
    return SessionManager.#over(openLog(path, given), given);
  }

  /**
   * Opens a session file like `open`, without blocking the event loop for more than a few milliseconds at a time.
   *
   * @throws {SessionError} `NOT_A_SESSION`, or `ABORTED` by the signal
   */
  static async load(
    path: string,
    sessionDir?: string | (SessionOptions & LoadOptions),
    cwdOverride?: string,
  ): Promise<SessionManager> {
    const given: SessionOptions & LoadOptions = opening(sessionDir, cwdOverride);
    // Sessions made from this one must not end with the signal of its loading.
    const { onProgress: _onProgress, signal: _signal, ...options } = given;
    return SessionManager.#over(await loadLog(path, options, given), options);
  }

  /**
   * Goes on with the lines of a log, for stores that keep sessions elsewhere than in files.
   *
   * @param options - `home` is where sessions go that are made from this one; what concerns files means nothing.
   */
  static overLog(log: SessionLog, options: HomeOptions): SessionManager {
    const cwd = options.cwd ?? (log.index.header?.cwd || process.cwd());
    return new SessionManager(log, cwd, "", options);
  }

  static #over(log: FileLog, options: SessionOptions): SessionManager {
    const folder = options.sessionDir === undefined ? folderOf(log.path) : sessionFolder("", options);
    const cwd = options.cwd ?? (log.index.header?.cwd || process.cwd());
    return new SessionManager(log, cwd, folder, options);
  }

  /** Opens the project's session whose file was modified last, or begins one. */
  static continueRecent(cwd: string, sessionDir?: string | SessionOptions): SessionManager {
    const given = sessionOptions(sessionDir);
    const recent = findRecentSession(sessionScope(cwd, given));
    if (recent === undefined) return SessionManager.create(cwd, given);
    return new SessionManager(openLog(recent, { ...given, cwd }), cwd, folderOf(recent), given);
  }

  /**
   * Begins a session that is kept nowhere but in memory.
   *
   * @param entries - What it begins with; a header among them beats `options.id`.
   */
  static inMemory(
    cwd: string = process.cwd(),
    options: NewSessionOptions & Pick<SessionOptions, "now" | "beforePersist"> = {},
    entries?: readonly (SessionEntry | SessionHeader)[],
  ): SessionManager {
    return new SessionManager(memoryLog(cwd, options, options, entries), cwd, "", options);
  }

  /**
   * Copies a session, of another project as a rule, into a new one with its own id.
   *
   * @throws {SessionError} `SESSION_NOT_FOUND` or `NOT_A_SESSION`
   * @remarks Cost: O(source).
   */
  static forkFrom(
    sourcePath: string,
    targetCwd: string,
    sessionDir?: string | SessionOptions,
    options: NewSessionOptions = {},
  ): SessionManager {
    const given = sessionOptions(sessionDir);
    const log = forkLog(sourcePath, targetCwd, given, options);
    return new SessionManager(log, targetCwd, sessionFolder(targetCwd, given), given);
  }

  /** Gives the path of the project's session with exactly this id; undefined if there is none. */
  static findById(cwd: string, id: string, sessionDir?: string | SessionOptions): string | undefined {
    return findSessionById(sessionScope(cwd, sessionOptions(sessionDir)), id);
  }

  /**
   * Lists the project's sessions, latest first.
   *
   * @param onProgress - Called with what was loaded so far and how many there are.
   */
  static async list(
    cwd: string,
    sessionDir?: string | SessionOptions,
    onProgress?: SessionListProgress,
    signal?: AbortSignal,
  ): Promise<SessionInfo[]> {
    // Loaded here: a process that opens one session needs no catalog.
    const { listSessions } = await import("../catalog/list-sessions.ts");
    return listSessions({
      ...sessionScope(cwd, sessionOptions(sessionDir)),
      ...(onProgress && { onProgress }),
      ...(signal && { signal }),
    });
  }

  /**
   * Lists all sessions of all projects, latest first.
   *
   * With a `sessionDir`, those of that one flat folder; with other options, those of the places that they name.
   */
  static listAll(onProgress?: SessionListProgress, signal?: AbortSignal): Promise<SessionInfo[]>;
  static listAll(
    sessionDir?: string | SessionOptions,
    onProgress?: SessionListProgress,
    signal?: AbortSignal,
  ): Promise<SessionInfo[]>;
  static async listAll(
    first?: string | SessionOptions | SessionListProgress,
    second?: SessionListProgress | AbortSignal,
    third?: AbortSignal,
  ): Promise<SessionInfo[]> {
    const places = sessionOptions(typeof first === "function" ? undefined : first);
    const { sessionDir } = places;
    const onProgress = [first, second].find((one) => typeof one === "function");
    const signal = [second, third].find((one) => one instanceof AbortSignal);
    const { listSessions } = await import("../catalog/list-sessions.ts");
    return listSessions({
      places,
      ...(sessionDir !== undefined && { sessionDir }),
      ...(onProgress && { onProgress }),
      ...(signal && { signal }),
    });
  }

  /** Whether the session lives in a store, in which sessions are opened by id and not by path. */
  get isInStore(): boolean {
    return this.#options.home !== undefined;
  }

  /** Gives the working directory. */
  getCwd(): string {
    return this.#cwd;
  }

  /** Gives the folder in which sessions made from this one are kept; empty in memory. */
  getSessionDir(): string {
    return this.#sessionDir;
  }

  /** Tells whether that is the project's default folder. */
  usesDefaultSessionDir(): boolean {
    return this.isPersisted() && this.#sessionDir === projectFolder(this.#cwd, this.#options);
  }

  /**
   * Begins a new session in this object.
   *
   * @returns Path of its file; undefined in memory.
   */
  newSession(options: NewSessionOptions = {}): string | undefined {
    this.core.assertNotPreparing();
    const log = this.#newLog(options);
    this.core.replaceLog(log);
    return log.path;
  }

  /** Begins another session with this one's working directory, folder and options; this one stays as it is. */
  createBeside(options: NewSessionOptions = {}): SessionManager {
    return this.#beside(this.#newLog(options));
  }

  /** Opens another file as `load` does (in a store: another id), with this one's options; this one stays as it is. */
  async loadBeside(
    path: string,
    load: LoadOptions & { readonly cwd?: string } = {},
  ): Promise<SessionManager> {
    const { cwd: _cwd, ...options } = this.#options;
    if (options.home === undefined) return SessionManager.load(path, { ...options, ...load });
    return SessionManager.overLog(await options.home.load(path, load), opening(options, load.cwd));
  }

  /** Makes a session of the path root → `leafId`, as `createBranchedSession` does; this one stays as it is. */
  forkBeside(leafId: string): SessionManager {
    return this.#beside(this.#branchedLog(leafId));
  }

  /** Switches this object to another file and keeps the working directory. */
  setSessionFile(path: string): void {
    this.core.assertNotPreparing();
    const log = openLog(path, { ...this.#options, cwd: this.#cwd });
    this.#sessionDir = this.#options.sessionDir === undefined ? folderOf(log.path) : this.#sessionDir;
    this.core.replaceLog(log);
  }

  /**
   * Makes a session of the path root → `leafId`, and goes on with it in this object.
   *
   * Label entries are taken out of the chain; the labels in force on the path are appended behind it. A path without a
   * user or assistant message makes no file before there is one.
   *
   * @returns Path of the new file; undefined in memory.
   * @throws {SessionError} `ENTRY_NOT_FOUND`
   */
  createBranchedSession(leafId: string): string | undefined {
    this.core.assertNotPreparing();
    const log = this.#branchedLog(leafId);
    this.core.replaceLog(log, true);
    return log.path;
  }

  /**
   * Writes the path root → leaf, as `createBranchedSession` does, under this session's header into a file that is new.
   *
   * @returns Its path, absolute.
   * @throws {SessionError} `SESSION_EXISTS` or `WRITE_FAILED`, and then nothing has changed.
   * @remarks Cost: O(path).
   */
  exportBranch(path: string): string {
    const header = this.getHeader() ?? newHeader(this.#cwd, this.core.options.now());
    return exportCopy(this.core, path, header, this.#options);
  }

  /**
   * Rewrites the file in the current version if it is of an older one; the first append does so by itself.
   *
   * @returns Path of the backup; undefined if there was nothing to do.
   * @throws {SessionError} `UPGRADE_FAILED`, and then the file is as it was.
   */
  upgrade(): string | undefined {
    this.core.assertWritable();
    return this.core.log instanceof FileLog ? this.core.log.upgrade() : undefined;
  }

  /**
   * Takes the content of an entry out of the session for good, and appends a record of that.
   *
   * The one operation that rewrites history: the file is replaced atomically, ids and the tree's shape stay, the old
   * bytes are kept nowhere. Lines that hold no entry are dropped. Backups of earlier upgrades are not touched.
   *
   * @param replacement - What stands in the place of the content. Default `[redacted]`.
   * @returns Id of the record's entry.
   * @throws {SessionError} `ENTRY_NOT_FOUND`, `ENTRY_INVALID` if the entry holds settings only, or `WRITE_FAILED`, and then
   *   the file is as it was.
   * @remarks Cost: O(file).
   */
  redact(entryId: string, replacement = "[redacted]"): string {
    this.core.assertWritable();
    const entry = this.getEntry(entryId);
    if (entry !== undefined) assertRedactable(entry);
    const record = { type: "custom", customType: REDACTION_CUSTOM_TYPE, data: { targetId: entryId } };
    const { id } = this.core.rewrite(entryId, (entry) => redactEntry(entry, replacement), record);
    if (this.core.log.path !== undefined) forgetSession(this.core.log.path);
    return id;
  }

  /** Resolves when everything appended so far survives a power cut. */
  async flush(): Promise<void> {
    await this.core.log.flush();
  }

  /**
   * Flushes and releases the file. Idempotent; appends throw `SESSION_CLOSED` afterwards.
   *
   * @throws {TypeError} At once, if `beforePersist` calls it, which cannot wait.
   */
  close(): Promise<void> {
    this.core.assertNotPreparing();
    return this.#close();
  }

  async #close(): Promise<void> {
    const { log, leaf, events } = this.core;
    if (log.readOnlyReason === "closed") return;
    const isElsewhere = leaf !== (this.core.fileOrder().at(-1) ?? NONE);
    try {
      if (this.#options.persistLeafOnClose && isElsewhere && log.readOnlyReason === undefined)
        this.persistLeaf();
    } finally {
      await log.close();
    }
    events.emit("closed", {});
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #beside(log: SessionLog): SessionManager {
    return new SessionManager(log, this.#cwd, this.#sessionDir, this.#options);
  }

  #newLog(options: NewSessionOptions): SessionLog {
    return newLog(this.#place, this.#cwd, this.#options, options);
  }

  #branchedLog(leafId: string): SessionLog {
    return branchLog(this.core, leafId, this.#cwd, this.#place, this.#options);
  }

  /** Where sessions made from this one go: another home, a folder, or memory. */
  get #place(): SessionHome | string | undefined {
    return this.#options.home ?? (this.isPersisted() ? this.#sessionDir : undefined);
  }
}
