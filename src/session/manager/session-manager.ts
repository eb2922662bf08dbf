import { dirname } from "node:path";
import { readLateDetails } from "../../core/context/late-details.ts";
import { findOpenToolCalls } from "../../core/context/open-tool-calls.ts";
import {
  buildSessionProjection,
  type SessionContext,
  type SessionProjection,
} from "../../core/context/session-context.ts";
import { foldSystemMessages } from "../../core/context/system-message.ts";
import { onAbort } from "../../core/format/abort.ts";
import { ARRAY, assertArgument, assertText, OBJECTS } from "../../core/format/arguments.ts";
import type { ImageContent, TextContent, ToolCall, Usage } from "../../core/format/content.ts";
import {
  type AnySessionEntry,
  asSessionEntries,
  asSessionEntry,
  type ContextEditableContent,
  LEAF_CUSTOM_TYPE,
  type SessionEntry,
  type UsageEntry,
} from "../../core/format/entry.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import type { SessionIssue } from "../../core/format/issue.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import type { AssistantMessage } from "../../core/format/message.ts";
import { assertMessage } from "../../core/format/message-check.ts";
import { assertOptions, assertSpelledOptions, CALLBACK, OBJECT, SIGNAL } from "../../core/format/options.ts";
import { assertRedactable, REDACTED_TEXT, redactEntry } from "../../core/format/redact-entry.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import { type LineChange, parseCurrentLine } from "../../core/jsonl/entry-body.ts";
import { NONE } from "../../core/tree/entry-tree.ts";
import { findRecentSession, findSessionById } from "../files/find-session.ts";
import { forgetSession } from "../files/forget-session.ts";
import { staleLeaf } from "../log/expected-leaf.ts";
import type { FileLog } from "../log/file-log.ts";
import type { LoadOptions } from "../log/file-log-options.ts";
import type { SessionLog } from "../log/session-log.ts";
import { getProjectFolder, toAbsolutePath } from "../log/session-paths.ts";
import {
  assertEditable,
  assertReplacement,
  checkArguments,
  hasOnlyResultsSince,
  isToolResult,
  toEditableContent,
  toEntryFields,
} from "./append-checks.ts";
import { makeEndable } from "./endable.ts";
import {
  type AppendableMessage,
  type DraftMaker,
  type EntryDraft,
  type EntryFields,
  type FieldsMaker,
  makeRedactionRecord,
} from "./entry-draft.ts";
import { exportCopy } from "./fork.ts";
import { makeInstructionDrafts, measureInstructionCost } from "./instructions.ts";
import {
  createLog,
  forkLog,
  loadLog,
  makeBranchLog,
  makeLog,
  makeMemoryLog,
  openLog,
  openOrCreateLog,
} from "./open-session.ts";
import type { PartialAnswers } from "./partial-answers.ts";
import type { SessionEventMap, SessionListener } from "./session-events.ts";
import type { SessionInfo, SessionListProgress } from "./session-info.ts";
import {
  assertCwd,
  type DerivedSessions,
  FORK_RULES,
  type ForkOptions,
  getSessionFolder,
  getSessionScope,
  type LogSessionOptions,
  makeHeader,
  type NewSessionOptions,
  REDACT_RULES,
  SESSION_RULES,
  type SessionOptions,
  toSessionOptions,
} from "./session-options.ts";
import { SessionState } from "./session-state.ts";
import { buildTree, type SessionTreeNode, walkTree } from "./session-tree.ts";
import type { RedactTextOptions, SessionTextRedaction } from "./text-redaction.ts";

/** Options for an append. */
export interface AppendOptions {
  /** Id of the parent; null for a new root. Default: the leaf. */
  readonly parentId?: string | null;
  /**
   * Id of the leaf that the caller last saw. If this object's leaf has moved, nothing is appended; `appendIfLeaf` also checks the
   * storage. A tool result may still follow other results, labels, names, and usage appended in the meantime.
   */
  readonly expectedLeafId?: string | null;
  /**
   * Whether to leave this object's leaf where it is, for example for a result on a branch that the user has left. Default: false.
   */
  readonly keepLeaf?: boolean;
  /**
   * Whether to throw `SESSION_NOT_FOUND` if the file was removed, instead of recreating it. Default: the value passed when
   * opening.
   */
  readonly mustExist?: boolean;
}

/** Creates a session without a folder. Exposes the private constructor to this file. */
let make: (log: SessionLog, cwd: string, options: LogSessionOptions) => SessionManager;

/** Creates another session with this session's working directory, folder, and options. This session does not change. */
export let newSessionBeside: (session: SessionManager, options?: NewSessionOptions) => SessionManager;

/** Opens another file (in a store, another id) as `openAsync` does, with this session's options. This session does not change. */
export let loadSessionBeside: (
  session: SessionManager,
  path: string,
  load?: LoadOptions & { readonly cwd?: string },
) => Promise<SessionManager>;

/**
 * Writes the path root → leaf to a new file, as `fork` does, but with this session's header.
 *
 * @returns Absolute path of the file.
 * @throws {SessionError} `SESSION_EXISTS` or `WRITE_FAILED`; nothing was changed.
 */
export let exportBranch: (session: SessionManager, path: string) => string;

/**
 * Opens a session on top of a log, for stores that do not use files.
 *
 * @param options - `derivedSessions` creates derived sessions. File options are ignored.
 */
export function openOverLog(log: SessionLog, options: LogSessionOptions): SessionManager {
  return make(log, options.cwd ?? (log.index.header?.cwd || process.cwd()), options);
}

/**
 * A session: its tree, its leaf (the parent of the next entry), and its file.
 *
 * An append writes the entry to the file, adds it to the tree as a child of the leaf, and makes it the new leaf. If it fails with
 * `WRITE_FAILED`, nothing was changed. Entries are never changed or removed. Looking up an unknown id, of whatever type, returns
 * undefined or an empty array instead of throwing; any other argument of the wrong type throws a `TypeError` that names it. Entries
 * are shared objects; do not modify them. Methods are synchronous unless they return a promise.
 *
 * @remarks Source: docs/guide.md
 */
export class SessionManager {
  readonly #state: SessionState;
  readonly #options: LogSessionOptions;
  #cwd: string;
  #sessionDir: string;

  static {
    make = (log, cwd, options) => new SessionManager(log, cwd, "", options);
    newSessionBeside = (session, options = {}) => session.#sibling(session.#newLog(options));
    loadSessionBeside = (session, path, load = {}) => session.#loadBeside(path, load);
    exportBranch = (session, path) => session.#exportBranch(path);
  }

  private constructor(log: SessionLog, cwd: string, sessionDir: string, options: LogSessionOptions) {
    if (typeof log !== "object" || !("readLines" in log)) {
      throw new TypeError(
        "Sessions are not created with new. Use SessionManager.create(cwd), open(path) or inMemory().",
      );
    }
    this.#state = new SessionState(log, options);
    this.#cwd = cwd;
    this.#sessionDir = sessionDir;
    this.#options = options;
  }

  /**
   * Creates a session for a working directory. Its file is created with the first user or assistant message.
   *
   * @param sessionDir - Folder for the file, or options. Default: the project's folder below the agent's.
   * @throws {SessionError} `INVALID_SESSION_ID`
   */
  static create(
    cwd: string,
    sessionDir?: string | SessionOptions,
    options: NewSessionOptions = {},
  ): SessionManager {
    assertCwd(cwd, "create");
    const given = toSessionOptions(sessionDir);
    return new SessionManager(createLog(cwd, given, options), cwd, getSessionFolder(cwd, given), given);
  }

  /**
   * Opens a session file, even a damaged one. A missing or empty file is opened as a new session.
   *
   * @param path - May be relative, begin with `~`, or be a `file://` URL.
   * @param sessionDir - Folder for sessions derived from this one, or options. Default: the folder of the file.
   * @param cwdOverride - Working directory to use instead of the header's.
   * @throws {SessionError} `NOT_A_SESSION`; the file is not changed.
   */
  static open(path: string, sessionDir?: string | SessionOptions, cwdOverride?: string): SessionManager {
    const given = toOpening(sessionDir, cwdOverride);
    return SessionManager.#over(openLog(path, given), given);
  }

  /**
   * Opens a session file as `open` does, without blocking the event loop for more than a few milliseconds at a time.
   *
   * @throws {SessionError} `NOT_A_SESSION`, or `ABORTED` if the signal aborts.
   */
  static async openAsync(
    path: string,
    sessionDir?: string | (SessionOptions & LoadOptions),
    cwdOverride?: string,
  ): Promise<SessionManager> {
    const given: SessionOptions & LoadOptions = toOpening(sessionDir, cwdOverride);
    // The signal must not abort sessions derived from this one.
    const { onProgress: _onProgress, signal: _signal, ...options } = given;
    return SessionManager.#over(await loadLog(path, options, given), options);
  }

  static #over(log: FileLog, options: SessionOptions): SessionManager {
    const folder = options.sessionDir === undefined ? dirname(log.path) : getSessionFolder("", options);
    const cwd = options.cwd ?? (log.index.header?.cwd || process.cwd());
    return new SessionManager(log, cwd, folder, options);
  }

  /** Opens the project's most recently modified session, or creates one. */
  static continueRecent(cwd: string, sessionDir?: string | SessionOptions): SessionManager {
    assertCwd(cwd, "continueRecent");
    const given = toSessionOptions(sessionDir);
    const recent = findRecentSession(getSessionScope(cwd, given));
    if (recent === undefined) return SessionManager.create(cwd, given);
    return new SessionManager(openLog(recent, { ...given, cwd }), cwd, dirname(recent), given);
  }

  /**
   * Opens the project's session with this exact id, or creates it. If several processes call this at the same time, one creates
   * the session, and all of them open the same file.
   *
   * @param sessionDir - Folder for the file, or options. Default: the project's folder below the agent's.
   * @throws {SessionError} `INVALID_SESSION_ID`; `SESSION_NOT_FOUND` if the mode is `read-only` and the session does not exist.
   * @remarks Cost: one `stat` call per file in the project, plus reading headers until one matches.
   */
  static openOrCreate(cwd: string, id: string, sessionDir?: string | SessionOptions): SessionManager {
    assertCwd(cwd, "openOrCreate");
    const given = toSessionOptions(sessionDir);
    const log = openOrCreateLog(cwd, id, given);
    return new SessionManager(log, cwd, dirname(log.path), given);
  }

  /**
   * Creates a session in memory.
   *
   * @param entries - Initial entries. The given objects are kept, even if JSON cannot represent them. A header among the entries
   * overrides `options.id`.
   */
  static inMemory(
    cwd: string = process.cwd(),
    options: NewSessionOptions & Pick<SessionOptions, "now" | "beforePersist"> = {},
    entries?: readonly (SessionEntry | SessionHeader)[],
  ): SessionManager {
    if (entries !== undefined) assertArgument("entries", entries, OBJECTS);
    const session = new SessionManager(makeMemoryLog(cwd, options, options, entries), cwd, "", options);
    if (entries !== undefined)
      session.#state.cache.adoptGiven(entries.filter((entry) => entry.type !== "session"));
    return session;
  }

  /**
   * Copies a session, usually from another project, to a new session with its own id.
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
    assertCwd(targetCwd, "forkFrom");
    const given = toSessionOptions(sessionDir);
    const log = forkLog(sourcePath, targetCwd, given, options);
    return new SessionManager(log, targetCwd, getSessionFolder(targetCwd, given), given);
  }

  /** Returns the path of the project's session with this exact id; undefined if there is none. */
  static findById(cwd: string, id: string, sessionDir?: string | SessionOptions): string | undefined {
    assertCwd(cwd, "findById");
    return findSessionById(getSessionScope(cwd, toSessionOptions(sessionDir)), id);
  }

  /**
   * Lists the project's sessions, latest first.
   *
   * @param onProgress - Called with the number of loaded files and their total.
   */
  static async list(
    cwd: string,
    sessionDir?: string | SessionOptions,
    onProgress?: SessionListProgress,
    signal?: AbortSignal,
  ): Promise<SessionInfo[]> {
    assertCwd(cwd, "list");
    // As in pi, a program in JavaScript may pass null instead of a function.
    if (onProgress != null) assertArgument("onProgress", onProgress, CALLBACK);
    // Loaded on demand, because opening a session does not require the catalog.
    const { listInfos } = await import("../../catalog/list/list-infos.ts");
    const scope = getSessionScope(cwd, toSessionOptions(sessionDir));
    return listInfos({ ...scope, ...(signal && { signal }) }, onProgress ?? undefined);
  }

  /**
   * Lists all sessions of all projects, latest first.
   *
   * With a `sessionDir`, lists the sessions of that flat folder; other options set other locations.
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
    const places = toSessionOptions(typeof first === "function" ? undefined : first);
    const { sessionDir } = places;
    const onProgress = [first, second].find((one) => typeof one === "function");
    const signal = [second, third].find((one) => typeof one === "object");
    const { listInfos } = await import("../../catalog/list/list-infos.ts");
    const scope = { places, ...(sessionDir !== undefined && { sessionDir }) };
    return listInfos({ ...scope, ...(signal && { signal }) }, onProgress);
  }

  /** Copy of the issues found so far in the session's data. Reading more bodies may add issues. */
  get issues(): SessionIssue[] {
    return this.#state.log.index.issues;
  }

  /**
   * Adds an issue about the session's data, such as stored state that does not match its schema.
   *
   * Fills in the line and offset if the issue has an entry id but no line.
   */
  reportIssue(issue: SessionIssue): void {
    assertArgument("issue", issue, OBJECT);
    const { index } = this.#state.log;
    const ordinal = issue.line === 0 && issue.entryId !== undefined ? index.tree.find(issue.entryId) : NONE;
    index.report(ordinal === NONE ? issue : { ...issue, ...index.spans.at(ordinal) });
  }

  /** Returns the session's id. */
  getSessionId(): string {
    return this.getHeader()?.id ?? "";
  }

  /** Returns the path of the session's file, which may not exist yet; undefined in memory. */
  getSessionFile(): string | undefined {
    return this.#state.log.path;
  }

  /** Returns whether the session has a file. */
  isPersisted(): boolean {
    return this.#state.log.path !== undefined;
  }

  /** Returns the header in the current version; null if there is none. */
  getHeader(): SessionHeader | null {
    return this.#state.log.index.header ?? null;
  }

  /** Returns the display name; undefined if none was set, or it was cleared. */
  getSessionName(): string | undefined {
    return this.#state.labelsAndName.name();
  }

  /** Returns the number of entries. */
  getEntryCount(): number {
    return this.#state.tree.size;
  }

  /** Returns the id of the leaf, the parent of the next entry; null before the first entry. */
  getLeafId(): string | null {
    return this.#state.leafId;
  }

  /** Returns the leaf; undefined before the first entry. */
  getLeafEntry(): SessionEntry | undefined {
    const { leaf } = this.#state;
    return leaf === NONE ? undefined : this.#entryAt(leaf);
  }

  /** Returns an entry by id. */
  getEntry(id: string): SessionEntry | undefined {
    const ordinal = this.#state.tree.find(id);
    return ordinal === NONE ? undefined : this.#entryAt(ordinal);
  }

  /**
   * Returns the children of an entry, in file order.
   *
   * @param parentId - Null returns the roots.
   * @remarks Cost: O(answer).
   */
  getChildren(parentId: string | null): SessionEntry[] {
    const { tree } = this.#state;
    const parent = parentId === null ? NONE : tree.find(parentId);
    if (parent === NONE && parentId !== null) return [];
    return this.#entriesAt(this.#state.fileOrder(tree.children(parent)));
  }

  /** Returns the current label of an entry. */
  getLabel(id: string): string | undefined {
    return this.#state.labelsAndName.labels().get(id)?.label;
  }

  /**
   * Returns the path root → entry.
   *
   * @param fromId - Default: the leaf, also for null.
   * @remarks Cost: O(answer).
   */
  getBranch(fromId?: string | null): SessionEntry[] {
    return this.#entriesAt(this.#path(fromId ?? undefined));
  }

  /**
   * Yields the entries from the leaf to the root.
   *
   * @param options - `type`: yields only entries of this type, and reads only their bodies. `fromId`: starts at this entry
   *   instead of at the leaf.
   * @remarks Cost: O(path) head reads at worst; less if the caller stops early.
   */
  *walkUp(options: { type?: string; fromId?: string } = {}): Generator<SessionEntry, void> {
    assertOptions<object>(options, {});
    const { tree, leaf } = this.#state;
    const { type, fromId } = options;
    let at = fromId === undefined ? leaf : tree.find(fromId);
    for (; at !== NONE; at = tree.parentAt(at)) {
      if (type === undefined || tree.typeAt(at) === type) yield this.#entryAt(at);
    }
  }

  /** Returns the ids of the path root → entry, without reading bodies. */
  getPathIds(fromId?: string): string[] {
    return Array.from(this.#path(fromId), (ordinal) => this.#state.tree.idAt(ordinal));
  }

  /**
   * Returns all entries in file order, without the header, as a new array.
   *
   * @remarks Cost: O(file), the first time.
   */
  getEntries(): SessionEntry[] {
    return this.#entriesAt(this.#state.fileOrder());
  }

  /**
   * Returns the roots with their descendants, with children sorted by time.
   *
   * @remarks Cost: O(file), the first time.
   */
  getTree(): SessionTreeNode[] {
    const { tree, labelsAndName } = this.#state;
    const fileOrder = this.#state.fileOrder();
    return buildTree(tree, this.#entriesAt(fileOrder), labelsAndName.labels(), fileOrder);
  }

  /**
   * Returns the tool calls in the context that have no result, such as calls interrupted by a crash, in order.
   *
   * @param leafId - Default: the leaf.
   * @remarks Cost: O(context). Source: docs/guide.md#after-a-crash
   */
  getOpenToolCalls(leafId?: string): { readonly entryId: string; readonly call: ToolCall }[] {
    const { entries } =
      leafId === undefined ? this.buildSessionProjection() : buildSessionProjection(this.getBranch(leafId));
    return findOpenToolCalls(entries);
  }

  /** Returns the entries without children, in file order. */
  getLeaves(): SessionEntry[] {
    return this.#entriesAt(this.#state.fileOrder(this.#state.tree.leaves()));
  }

  /**
   * Yields an entry and its descendants, parents before children.
   *
   * @param fromId - Default: all roots.
   * @param options - `type`: yields only entries of this type, and reads only their bodies.
   * @remarks Cost: O(1) memory per step, without recursion.
   */
  *walk(fromId?: string, options: { type?: string } = {}): Generator<SessionEntry, void> {
    assertOptions<object>(options, {});
    const { tree } = this.#state;
    const { type } = options;
    const start = fromId === undefined ? NONE : tree.find(fromId);
    if (fromId !== undefined && start === NONE) return;
    const getChildren = (ordinal: number) => this.#state.fileOrder(tree.children(ordinal));
    for (const ordinal of walkTree(start, getChildren))
      if (type === undefined || tree.typeAt(ordinal) === type) yield this.#entryAt(ordinal);
  }

  /** Returns the id of the deepest common ancestor of two entries; null if there is none, or an id is unknown. */
  getCommonAncestorId(a: string, b: string): string | null {
    const { tree } = this.#state;
    return this.#state.getId(tree.commonAncestor(tree.find(a), tree.find(b)));
  }

  /**
   * Returns the entries that form the context at the leaf.
   *
   * @remarks Cost: O(answer). Nothing is reread after an append. Source: docs/format.md#context
   */
  buildContextEntries(): SessionEntry[] {
    return this.#state.context().contextEntries();
  }

  /**
   * Returns the model's context at the leaf, and the source entry of each message.
   *
   * @remarks Cost: O(answer). Nothing is reread after an append. Source: docs/format.md#context
   */
  buildSessionProjection(): SessionProjection {
    return this.#state.context().projection();
  }

  /**
   * Returns the model's context at the leaf: messages, thinking level, and model.
   *
   * @remarks Cost: O(answer). Nothing is reread after an append. Source: docs/format.md#context
   */
  buildSessionContext(): SessionContext {
    return this.#state.context().context();
  }

  /**
   * Reads entries that other processes appended to the file. This object's leaf does not move. For a store, use
   * `refreshAsync`.
   *
   * @returns Entries appended by other processes, in file order.
   * @throws {SessionError} `WRITE_FAILED` if another session is at the path, or a file that lacks other processes' entries;
   *   `VERSION_TOO_NEW` or another read-only error if the file lacks this session's entries and cannot be written.
   * @remarks Cost: one check of the file, plus the new bytes.
   */
  refresh(): SessionEntry[] {
    return asSessionEntries(this.#state.refresh());
  }

  /**
   * Reads entries that other processes appended, in a file or a store. This object's leaf does not move.
   *
   * Unlike `refresh`, this also works for stores, which can only be queried asynchronously. For a store, it also waits until all
   * entries appended by this object are durable.
   *
   * @returns Entries appended by other processes, in order of arrival.
   * @throws {SessionError} `WRITE_FAILED` or `SESSION_NOT_FOUND`
   */
  async refreshAsync(): Promise<SessionEntry[]> {
    const { entries, end } = this.#state.collectForeign();
    try {
      await this.#state.log.pull();
    } finally {
      end();
    }
    return asSessionEntries(entries);
  }

  /**
   * Yields entries as other processes append them, until the signal aborts or the session is closed.
   *
   * `return()` also ends the iteration, even while `next()` waits.
   *
   * @remarks Uses file system events, or checks once per second if events are unavailable.
   */
  watch(options: { signal?: AbortSignal } = {}): AsyncGenerator<SessionEntry, void> {
    assertOptions(options, { signal: SIGNAL });
    return makeEndable((end) => this.#watched(end), options.signal);
  }

  async *#watched(end: AbortSignal): AsyncGenerator<SessionEntry, void> {
    const { log } = this.#state;
    if (isClosed(log)) return;
    const foreign = this.#state.collectForeign();
    const over = new AbortController();
    const forgets = [onAbort(end, () => over.abort()), this.on("closed", () => over.abort())];
    try {
      for await (const _ of log.changes(over.signal)) {
        this.#state.emitForeign();
        yield* asSessionEntries(foreign.entries.splice(0));
      }
    } finally {
      foreign.end();
      for (const forget of forgets) forget();
    }
  }

  /**
   * Calls a listener for every event with the given name.
   *
   * @returns A function that removes the listener.
   */
  on<Name extends keyof SessionEventMap>(name: Name, listener: SessionListener<Name>): () => void {
    return this.#state.events.on(name, listener);
  }

  /**
   * Appends a message. A message without a `timestamp` is given the time of its entry.
   *
   * @returns Id of the new entry.
   * @throws {TypeError} If it is not a message in this format, or has a role that only exists in contexts. The error message
   *   names the invalid fields and the function of `sessiontree/convert` to use.
   * @throws {SessionError} `WRITE_FAILED`; nothing was changed.
   */
  appendMessage(message: AppendableMessage): string {
    assertMessage(message);
    return this.#state.appendMessage(message).id;
  }

  /**
   * Replaces the instructions (the system prompt) of the context. The latest instructions on the branch apply; older instructions
   * remain in the tree. Sections and tools of system messages remain in effect.
   *
   * A change invalidates the provider's prompt cache from the first token. If these instructions are already in effect, nothing
   * is written.
   *
   * @param text - Instructions. An empty string removes them.
   * @returns `entryId`: id of the instructions, if they changed. `voidThinkingIds`: ids of the answers whose thinking Claude 5.1
   *   and later no longer accept. `uncachedTokens`: size of the prompt that a provider may have cached.
   * @throws {SessionError} `ENTRY_INVALID` if the context begins with a compaction by another program that retains messages.
   * @remarks Cost: O(context). Source: docs/guide.md#instructions
   */
  setInstructions(text: string): { entryId?: string; voidThinkingIds: string[]; uncachedTokens: number } {
    const projection = this.buildSessionProjection();
    const drafts = makeInstructionDrafts(projection, this.getPathIds(), text);
    if (drafts.length === 0) return { voidThinkingIds: [], uncachedTokens: 0 };
    const entryId = this.#state.appendAll(drafts).at(-1)?.id ?? "";
    return { entryId, ...measureInstructionCost(projection) };
  }

  /** Appends the thinking level for subsequent entries. */
  appendThinkingLevelChange(thinkingLevel: string): string {
    return this.#state.append(checkArguments({ type: "thinking_level_change", thinkingLevel })).id;
  }

  /** Appends the model for subsequent entries. */
  appendModelChange(provider: string, modelId: string): string {
    return this.#state.append(checkArguments({ type: "model_change", provider, modelId })).id;
  }

  /** Records tokens used outside the conversation, and returns the entry. */
  appendUsage(kind: string, provider: string, model: string, usage: Usage, note?: string): UsageEntry {
    const fields = checkArguments({ type: "usage", kind, provider, model, usage });
    const entry = this.#state.append({ ...fields, ...dropUndefined({ note }) });
    if (!isUsageEntry(entry))
      throw new TypeError("beforePersist removed the usage of a usage entry; keep that field");
    return entry;
  }

  /**
   * Appends a compaction. In contexts, its summary replaces the entries before the first kept entry.
   *
   * @param firstKeptEntryId - Id of the first kept entry; null keeps none.
   * @param tokensBefore - Size of the context before compaction, in tokens.
   */
  appendCompaction<T = unknown>(
    summary: string,
    firstKeptEntryId: string | null,
    tokensBefore: number,
    details?: T,
    fromHook?: boolean,
    usage?: Usage,
  ): string {
    checkArguments({ type: "compaction", summary, firstKeptEntryId: firstKeptEntryId ?? "" });
    const { messages } = this.buildSessionContext();
    return this.#state.append((id, timestampMs) => ({
      type: "compaction",
      summary,
      firstKeptEntryId: firstKeptEntryId ?? id,
      tokensBefore,
      ...dropUndefined({
        details,
        usage,
        fromHook,
        systemMessage: foldSystemMessages(messages, timestampMs),
      }),
    })).id;
  }

  /** Appends an extension's state, which is never part of the context. */
  appendCustomEntry(customType: string, data?: unknown): string {
    return this.#state.append(checkArguments({ type: "custom", customType, ...dropUndefined({ data }) })).id;
  }

  /** Appends an extension's message, which is part of the context. */
  appendCustomMessageEntry<T = unknown>(
    customType: string,
    content: string | (TextContent | ImageContent)[],
    display: boolean,
    details?: T,
  ): string {
    const fields = checkArguments({ type: "custom_message", customType, content, display });
    return this.#state.append({ ...fields, ...dropUndefined({ details }) }).id;
  }

  /** Sets the display name. An empty name clears the display name. Line breaks are replaced with spaces. */
  appendSessionInfo(name: string): string {
    assertText("name", name);
    return this.#state.append({ type: "session_info", name: name.replace(/[\r\n]+/g, " ").trim() }).id;
  }

  /**
   * Sets the label of an entry. An empty string or undefined clears the label.
   *
   * @throws {SessionError} `ENTRY_NOT_FOUND`
   */
  appendLabelChange(targetId: string, label: string | undefined): string {
    this.#state.require(targetId);
    if (label) assertText("label", label);
    return this.#state.append({ type: "label", targetId, ...dropUndefined({ label: label || undefined }) })
      .id;
  }

  /**
   * Changes what an entry of the active branch contributes to later contexts.
   *
   * @param replacement - Null removes its messages.
   * @throws {TypeError} If the replacement is not null and has no content.
   * @throws {SessionError} `ENTRY_NOT_FOUND`, or `ENTRY_INVALID` if the entry cannot be edited.
   */
  appendContextEdit(targetId: string, replacement: null | { content: ContextEditableContent }): string {
    assertReplacement(replacement);
    const target = asSessionEntry(this.#state.cache.entryAt(this.#state.require(targetId)));
    assertEditable(target, this.#state.isOnPath(targetId));
    const edit = replacement === null ? null : { content: toEditableContent(target, replacement.content) };
    return this.#state.append({ type: "context_edit", targetId, replacement: edit }).id;
  }

  /**
   * Appends an entry of any type, under any parent, optionally only if the leaf has not moved.
   *
   * @param draft - Fields of the entry. Use `unknownType` instead of `type` for types that this library does not know. Its id,
   *   parent, and time are ignored; the options determine the parent.
   * @throws {TypeError} If the draft has no type, or its message is not in this format.
   * @throws {SessionError} `ENTRY_INVALID` if the draft is invalid, `STALE_LEAF`, or `ENTRY_NOT_FOUND`; nothing was written.
   */
  append(draft: EntryDraft, options: AppendOptions = {}): string {
    const fields = toEntryFields(draft);
    return this.#state.append(fields, this.#parentFor(options, [fields]), options).id;
  }

  /**
   * Appends several entries in one write: either all of them or none. Each entry is the parent of the next.
   *
   * @param drafts - Drafts as for `append`, or functions that receive the id and time (Unix milliseconds) of the entry.
   * @returns Ids of the new entries. Empty if there are no drafts, in which case nothing is written.
   * @throws {TypeError} As for `append`.
   * @throws {SessionError} `ENTRY_INVALID`, `STALE_LEAF`, `ENTRY_NOT_FOUND`, or `WRITE_FAILED`; nothing was written.
   */
  appendAll(drafts: readonly (EntryDraft | DraftMaker)[], options: AppendOptions = {}): string[] {
    assertArgument("drafts", drafts, ARRAY);
    const fields = drafts.map((draft) =>
      typeof draft === "function"
        ? (id: string, timestampMs: number) => toEntryFields(draft(id, timestampMs))
        : toEntryFields(draft),
    );
    const parent = this.#parentFor(options, fields);
    if (fields.length === 0) return [];
    return this.#state.appendAll(fields, parent, options).map(({ id }) => id);
  }

  /** @throws {SessionError} `STALE_LEAF` or `ENTRY_NOT_FOUND` */
  #parentFor(options: AppendOptions, drafts: readonly (EntryFields | FieldsMaker)[]): number {
    assertOptions<object>(options, {});
    const { expectedLeafId, parentId } = options;
    const isStale = expectedLeafId !== undefined && expectedLeafId !== this.getLeafId();
    if (isStale && !(drafts.every(isToolResult) && hasOnlyResultsSince(this.walkUp(), expectedLeafId)))
      throw staleLeaf(expectedLeafId, this.getLeafId());
    if (parentId === undefined) return this.#state.leaf;
    return parentId === null ? NONE : this.#state.require(parentId);
  }

  /**
   * Appends an entry under the leaf if no other process has continued the session (compare-and-swap in the storage).
   *
   * Waits until all earlier entries and this one are written. Ignores labels, names, and usage written by other processes. In a
   * file, comparing and appending are two steps; in a store with `supports.conditionalAppend`, they are a single step.
   *
   * @param options - `expectedLeafId`: id of the leaf that the caller last saw; null for a session without a conversation.
   *   Default: the current leaf.
   * @returns Id of the new entry.
   * @throws {TypeError} As for `append`.
   * @throws {SessionError} `ENTRY_INVALID`. `STALE_LEAF`: nothing was added, and the tree now includes the other processes'
   *   entries. `WRITE_FAILED`.
   */
  async appendIfLeaf(
    draft: EntryDraft,
    options: Pick<AppendOptions, "expectedLeafId"> = {},
  ): Promise<string> {
    const fields = toEntryFields(draft);
    assertOptions<object>(options, {});
    const { expectedLeafId: expected = this.getLeafId() } = options;
    return (await this.#state.appendIfLeaf(fields, expected)).id;
  }

  /**
   * Throws the error that an append would throw, so that callers can check before they start work.
   *
   * @throws {SessionError} `SESSION_CLOSED`, `READ_ONLY`, or `VERSION_TOO_NEW`; `LEASE_HELD` if another process has taken the
   *   lease from this one.
   */
  assertWritable(): void {
    this.#state.assertWritable();
  }

  /**
   * Moves the leaf to an entry, where the next append begins a branch.
   *
   * @throws {SessionError} `ENTRY_NOT_FOUND`
   */
  branch(branchFromId: string): void {
    this.#state.moveLeaf(this.#state.require(branchFromId));
  }

  /** Moves the leaf before the first entry. The next append creates a new root. */
  resetLeaf(): void {
    this.#state.moveLeaf(NONE);
  }

  /**
   * Moves the leaf and appends a summary of the abandoned branch.
   *
   * @param branchFromId - Id of the new leaf; null moves the leaf before the first entry.
   * @returns Id of the summary.
   * @throws {SessionError} `ENTRY_NOT_FOUND`
   */
  branchWithSummary(
    branchFromId: string | null,
    summary: string,
    details?: unknown,
    fromHook?: boolean,
    usage?: Usage,
  ): string {
    const place = branchFromId === null ? NONE : this.#state.require(branchFromId);
    const fromId = this.getLeafId() ?? "root";
    const fields = checkArguments({ type: "branch_summary", fromId, summary });
    return this.#state.append({ ...fields, ...dropUndefined({ details, usage, fromHook }) }, place).id;
  }

  /** Records the leaf for the next time the session is opened, in an entry that every reader of the format supports. */
  persistLeaf(): string {
    return this.appendCustomEntry(LEAF_CUSTOM_TYPE);
  }

  /** Whether the session is in a store, where sessions are opened by id instead of by path. */
  get isInStore(): boolean {
    return this.#options.derivedSessions !== undefined;
  }

  /** Returns the working directory. */
  getCwd(): string {
    return this.#cwd;
  }

  /** Returns the folder for sessions derived from this one; empty in memory. */
  getSessionDir(): string {
    return this.#sessionDir;
  }

  /** Returns whether `getSessionDir` is the project's default folder. */
  usesDefaultSessionDir(): boolean {
    return this.isPersisted() && this.#sessionDir === getProjectFolder(this.#cwd, this.#options);
  }

  /**
   * Switches this object to a new session. `fork` returns another object instead.
   *
   * @returns Path of the session's file; undefined in memory.
   */
  newSession(options: NewSessionOptions = {}): string | undefined {
    this.#state.assertNotPreparing();
    const log = this.#newLog(options);
    this.#state.replaceLog(log);
    return log.path;
  }

  /**
   * Copies the path root → `at` to another session and returns it. This object keeps its session, unlike with
   * `createBranchedSession`.
   *
   * Omits label entries, and appends the current labels of the path. Entries keep their ids. The copy has its own id and records
   * this session as its parent. In a folder, if the path has no user or assistant message, the file is created with the first
   * such message.
   *
   * @throws {SessionError} `ENTRY_NOT_FOUND`, `INVALID_SESSION_ID`, `SESSION_EXISTS`, or `WRITE_FAILED`; nothing was written.
   * @remarks Cost: O(path).
   */
  fork(options: ForkOptions = {}): SessionManager {
    assertOptions<Pick<ForkOptions, "to">>(options, FORK_RULES);
    const { at = this.getLeafId(), to, ...session } = options;
    if (to === undefined) return this.#sibling(this.#branchedLog(at, session));
    const { derivedSessions: _store, sessionDir: _folder, ...own } = this.#options;
    const path = toAbsolutePath(to);
    const log = makeBranchLog(this.#state, at, this.#cwd, { path }, own, session);
    return new SessionManager(log, this.#cwd, dirname(path), own);
  }

  /** Switches this object to another file, keeping the working directory. */
  setSessionFile(path: string): void {
    this.#state.assertNotPreparing();
    const log = openLog(path, { ...this.#options, cwd: this.#cwd });
    this.#sessionDir = this.#options.sessionDir === undefined ? dirname(log.path) : this.#sessionDir;
    this.#state.replaceLog(log);
  }

  /**
   * Copies the path root → `leafId` to a new session, as `fork` does, and switches this object to it.
   *
   * @returns Path of the new file; undefined in memory.
   * @throws {SessionError} `ENTRY_NOT_FOUND`
   */
  createBranchedSession(leafId: string): string | undefined {
    this.#state.assertNotPreparing();
    const log = this.#branchedLog(leafId);
    this.#state.replaceLog(log, true);
    return log.path;
  }

  /**
   * Rewrites a file from an older version in the current version. The first append does this automatically.
   *
   * @returns Path of the backup; undefined if no upgrade was necessary.
   * @throws {SessionError} `UPGRADE_FAILED`; the file is unchanged.
   */
  upgrade(): string | undefined {
    this.#state.assertWritable();
    return this.#state.log.upgrade();
  }

  /**
   * Permanently removes an entry's content from the session, including details added later, and appends a record of the
   * redaction.
   *
   * Replaces the file atomically, without a backup. Ids and the shape of the tree do not change. Drops lines that are not
   * entries. Does not change backups of earlier upgrades.
   *
   * @param options - `replacement`: text to substitute for the content. Default: `[redacted]`.
   * @returns Id of the record.
   * @throws {SessionError} `ENTRY_NOT_FOUND`, `ENTRY_INVALID` if the entry contains only settings, or `WRITE_FAILED`; the file is
   *   unchanged.
   * @remarks Cost: O(file).
   */
  redactEntry(entryId: string, options: { readonly replacement?: string } = {}): string {
    assertOptions(options, REDACT_RULES);
    const { replacement = REDACTED_TEXT } = options;
    this.#state.assertWritable();
    const entry = this.getEntry(entryId);
    if (entry !== undefined) assertRedactable(entry);
    this.#state.require(entryId);
    const change: LineChange = (line, head) => {
      if (head?.id !== entryId && head?.type !== "custom") return line;
      const found = parseCurrentLine(line, head);
      const isTarget = head.id === entryId || readLateDetails(found)?.targetId === entryId;
      return isTarget ? encodeRecord(redactEntry(found, replacement)) : line;
    };
    const { record } = this.#state.rewrite(
      change,
      (ids) => makeRedactionRecord(ids.length > 1 ? { targetIds: ids } : { targetId: entryId }),
      true,
    );
    if (this.#state.log.path !== undefined) forgetSession(this.#state.log.path);
    return record?.id ?? entryId;
  }

  /**
   * Permanently removes all occurrences of a string from the session, and appends a record that lists the affected entries.
   *
   * Replaces matches in all decoded strings and field names, in JSON inside strings, and in the header. Keeps ids, types, times,
   * and the working directory; the result lists these fields if they match. Removes signatures of changed content. Like
   * `redactEntry`, replaces the file atomically without a backup, and drops lines that are not entries. `redactEverywhere` from
   * `sessiontree/stores` redacts many sessions and the files next to them.
   *
   * @param matching - A string, or a regular expression.
   * @throws {TypeError} If `matching` matches the empty string or the replacement, or takes exponential time; nothing was
   *   changed.
   * @throws {SessionError} `WRITE_FAILED`; the file is unchanged.
   * @remarks Cost: O(file).
   */
  async redactText(
    matching: string | RegExp,
    options: RedactTextOptions = {},
  ): Promise<SessionTextRedaction> {
    // Loaded on demand, because most sessions are never redacted.
    const { redactTextOfSession } = await import("./text-redaction.ts");
    return redactTextOfSession(this.#state, matching, options);
  }

  /**
   * Saves a partial answer in a file next to the session file, so that it survives a crash. Call this method for every piece that
   * arrives.
   *
   * The partial answer belongs to this object and to the leaf at the time of its first piece. It is removed after this object
   * appends an answer. Sessions in memory or in a store keep it in memory.
   *
   * @param options - `everyMs`: minimum interval between saves, in milliseconds. The latest state is saved at the end of each
   *   interval. Default: 1,000.
   * @throws {TypeError} If `message` is not an answer.
   * @throws {SessionError} `WRITE_FAILED`, possibly for an earlier piece; `READ_ONLY` or another read-only error.
   * @remarks Source: docs/guide.md#interrupted-answers
   */
  async savePartialAnswer(
    message: AssistantMessage,
    options: { readonly everyMs?: number } = {},
  ): Promise<void> {
    const { leafId } = this.#state;
    (await this.#partialAnswers()).save(message, leafId, options);
  }

  /**
   * Returns the partial answer that a killed process saved, as an aborted answer to append or discard.
   *
   * Reports damaged partial answers as issues, and also answers for other leaves if this leaf has no partial answer. Ignores
   * partial answers that belong to running processes.
   *
   * @param leafId - Id of the entry being answered. Default: the leaf.
   * @returns The latest partial answer; undefined if there is none.
   */
  async recoverPartialAnswer(leafId?: string): Promise<AssistantMessage | undefined> {
    return (await this.#partialAnswers()).recover(leafId);
  }

  /** Removes the partial answers that `recoverPartialAnswer` returns for a leaf, that this object saved, or that are damaged. */
  async discardPartialAnswer(leafId?: string): Promise<void> {
    (await this.#partialAnswers()).discard(leafId);
  }

  async #partialAnswers(): Promise<PartialAnswers> {
    const { getPartialAnswers } = await import("./partial-answers.ts");
    return getPartialAnswers(this.#state, (issue) => this.reportIssue(issue));
  }

  /** Resolves when all previously appended entries are durable, so that they survive a power failure. */
  async flush(): Promise<void> {
    await this.#state.log.flush();
  }

  /**
   * Flushes and releases the file. Idempotent; later appends throw `SESSION_CLOSED`.
   *
   * @throws {TypeError} Synchronously, if `beforePersist` calls it.
   */
  close(): Promise<void> {
    this.#state.assertNotPreparing();
    return this.#close();
  }

  async #close(): Promise<void> {
    const { log, leaf, events } = this.#state;
    if (isClosed(log)) return;
    const isElsewhere = leaf !== (this.#state.fileOrder().at(-1) ?? NONE);
    try {
      if (this.#options.persistLeafOnClose && isElsewhere && log.readOnlyReason === undefined)
        this.persistLeaf();
    } finally {
      try {
        await log.close();
      } finally {
        // The log may be closed although pending data could not be written.
        if (isClosed(log)) events.emit("closed", {});
      }
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #sibling(log: SessionLog): SessionManager {
    return new SessionManager(log, this.#cwd, this.#sessionDir, this.#options);
  }

  #newLog(options: NewSessionOptions): SessionLog {
    return makeLog(this.#place, this.#cwd, this.#options, options);
  }

  #branchedLog(leafId: string | null, session?: NewSessionOptions): SessionLog {
    return makeBranchLog(this.#state, leafId, this.#cwd, this.#place, this.#options, session);
  }

  async #loadBeside(path: string, load: LoadOptions & { readonly cwd?: string }): Promise<SessionManager> {
    const { cwd: _cwd, ...options } = this.#options;
    if (options.derivedSessions === undefined) return SessionManager.openAsync(path, { ...options, ...load });
    return openOverLog(await options.derivedSessions.load(path, load), toOpening(options, load.cwd));
  }

  #exportBranch(path: string): string {
    this.#state.dropReplaced();
    const header = this.getHeader() ?? makeHeader(this.#cwd, this.#state.options.now());
    return exportCopy(this.#state, path, header, this.#options);
  }

  /** Storage for derived sessions: a store, a folder, or memory if undefined. */
  get #place(): DerivedSessions | string | undefined {
    return this.#options.derivedSessions ?? (this.isPersisted() ? this.#sessionDir : undefined);
  }

  #path(fromId: string | undefined): Int32Array {
    const { tree, leaf } = this.#state;
    return tree.path(fromId === undefined ? leaf : tree.find(fromId));
  }

  #entryAt(ordinal: number): SessionEntry {
    return asSessionEntry(this.#state.cache.entryAt(ordinal));
  }

  #entriesAt(ordinals: ArrayLike<number>): SessionEntry[] {
    return asSessionEntries(this.#state.cache.entriesAt(ordinals));
  }
}

function isClosed(log: SessionLog): boolean {
  return log.readOnlyReason === "closed";
}

/** Returns the fields that are not undefined. */
function dropUndefined(fields: { readonly [name: string]: unknown }): { [name: string]: unknown } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function isUsageEntry(entry: AnySessionEntry): entry is UsageEntry {
  return entry.type === "usage" && "usage" in entry && isJsonRecord(entry.usage);
}

/** Read-only methods of a session; for code that must not change it. */
export type ReadonlySessionManager = Pick<
  SessionManager,
  | "getCwd"
  | "getSessionDir"
  | "getSessionId"
  | "getSessionFile"
  | "getLeafId"
  | "getLeafEntry"
  | "getEntry"
  | "getLabel"
  | "getBranch"
  | "buildContextEntries"
  | "buildSessionProjection"
  | "getHeader"
  | "getEntries"
  | "getTree"
  | "getSessionName"
>;

/** Validates the options for opening a session, and overrides their working directory if one is specified. */
function toOpening<Options extends SessionOptions>(
  given: string | Options | undefined,
  cwdOverride: string | undefined,
): SessionOptions | Options {
  if (given === undefined && cwdOverride === undefined) return {};
  const options = typeof given === "object" ? given : toSessionOptions(given);
  assertSpelledOptions<SessionOptions>(options, SESSION_RULES);
  return cwdOverride === undefined ? options : { ...options, cwd: cwdOverride };
}
