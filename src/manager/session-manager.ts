import { findRecentSession, findSessionById } from "../catalog/find-session.ts";
import { forgetSession } from "../catalog/forget-session.ts";
import type { SessionContext, SessionProjection } from "../context/session-context.ts";
import { foldSystemMessages } from "../context/system-message.ts";
import { headerSettings } from "../jsonl/session-header.ts";
import { endable } from "../log/endable.ts";
import { staleLeaf } from "../log/expected-leaf.ts";
import type { FileLog } from "../log/file-log.ts";
import type { LoadOptions } from "../log/file-log-options.ts";
import type { SessionLog } from "../log/session-log.ts";
import { projectFolder } from "../log/session-paths.ts";
import type { ImageContent, TextContent, Usage } from "../schema/content.ts";
import {
  type AnySessionEntry,
  asSessionEntries,
  asSessionEntry,
  type ContextEditableContent,
  LEAF_CUSTOM_TYPE,
  type SessionEntry,
  type UsageEntry,
} from "../schema/entry.ts";
import type { SessionHeader } from "../schema/header.ts";
import type { SessionIssue } from "../schema/issue.ts";
import { isJsonRecord } from "../schema/json.ts";
import type { AgentMessage, BranchSummaryMessage, CompactionSummaryMessage } from "../schema/message.ts";
import { NONE } from "../tree/entry-tree.ts";
import { assertDraft, assertMessage, assertReplacement } from "./append-checks.ts";
import { assertEditable, editableContent } from "./context-edits.ts";
import type { DerivedSessions, LogSessionOptions } from "./derived-sessions.ts";
import type { DraftMaker, EntryDraft } from "./entry-draft.ts";
import { exportCopy } from "./fork.ts";
import { branchLog, createLog, forkLog, loadLog, memoryLog, newLog, openLog } from "./open-session.ts";
import { assertRedactable, REDACTION_CUSTOM_TYPE, redactEntry } from "./redaction.ts";
import type { SessionEventName, SessionListener } from "./session-events.ts";
import type { SessionInfo, SessionListProgress } from "./session-info.ts";
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
import { SessionState } from "./session-state.ts";
import { buildTree, type SessionTreeNode, walkTree } from "./session-tree.ts";

/** A message that can be appended: every role but the two that are made while projecting. */
export type AppendableMessage = Exclude<AgentMessage, BranchSummaryMessage | CompactionSummaryMessage>;

/** Where and on what condition an entry is appended. */
export interface AppendOptions {
  /** The entry to hang on; null for a new root. Default: the leaf. */
  readonly parentId?: string | null;
  /** The leaf that the caller has seen; if it is another one by now, nothing is appended. */
  readonly expectedLeafId?: string | null;
}

/**
 * One session: its tree, the leaf on which the next entry hangs, and the file behind it.
 *
 * Every append is in the file before it is in the tree, hangs on the leaf and becomes the leaf; one that fails with
 * `WRITE_FAILED` has changed nothing. Nothing is ever changed or taken away. Look-ups of unknown ids do not throw: they
 * give undefined or an empty array. Entries are shared objects: do not change them. All calls are synchronous unless they
 * return a promise.
 *
 * @remarks Source: docs/guide.md
 */
export class SessionManager {
  readonly #state: SessionState;
  readonly #options: LogSessionOptions;
  #cwd: string;
  #sessionDir: string;

  private constructor(log: SessionLog, cwd: string, sessionDir: string, options: LogSessionOptions) {
    this.#state = new SessionState(log, coreOptions(options));
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
  static overLog(log: SessionLog, options: LogSessionOptions): SessionManager {
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

  /** Returns the path of the project's session with exactly this id; undefined if there is none. */
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
    const { listInfos } = await import("./session-info.ts");
    const scope = sessionScope(cwd, sessionOptions(sessionDir));
    return listInfos({ ...scope, ...(signal && { signal }) }, onProgress);
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
    const { listInfos } = await import("./session-info.ts");
    const scope = { places, ...(sessionDir !== undefined && { sessionDir }) };
    return listInfos({ ...scope, ...(signal && { signal }) }, onProgress);
  }

  /** What was odd in the session's data so far; more may come as bodies are read. A copy. */
  get issues(): SessionIssue[] {
    return this.#state.log.index.issues;
  }

  /**
   * Adds an issue that was found in the session's data, such as stored state that does not fit its schema.
   *
   * Its place is filled in if it names an entry and no line.
   */
  reportIssue(issue: SessionIssue): void {
    const { index } = this.#state.log;
    const ordinal = issue.line === 0 && issue.entryId !== undefined ? index.tree.find(issue.entryId) : NONE;
    index.report(ordinal === NONE ? issue : { ...issue, ...index.spans.at(ordinal) });
  }

  /** Returns the session's id. */
  getSessionId(): string {
    return this.getHeader()?.id ?? "";
  }

  /** Returns the path of the session's file; undefined in memory. The file may not have been made yet. */
  getSessionFile(): string | undefined {
    return this.#state.log.path;
  }

  /** Tells whether the session is kept in a file. */
  isPersisted(): boolean {
    return this.#state.log.path !== undefined;
  }

  /** Returns the header in today's version; null if there is none. */
  getHeader(): SessionHeader | null {
    return this.#state.log.index.header ?? null;
  }

  /** Returns the display name that was set last; undefined if there is none or it was cleared. */
  getSessionName(): string | undefined {
    return this.#state.labelsAndName.name();
  }

  /** Returns the number of entries. */
  getEntryCount(): number {
    return this.#state.tree.size;
  }

  /** Returns the id of the entry on which the next one will hang; null before the first. */
  getLeafId(): string | null {
    return this.#state.leafId;
  }

  /** Returns the entry on which the next one will hang. */
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
   * Returns the entries that hang on an entry, in file order.
   *
   * @param parentId - Null gives the roots.
   * @remarks Cost: O(answer).
   */
  getChildren(parentId: string | null): SessionEntry[] {
    const { tree } = this.#state;
    const parent = parentId === null ? NONE : tree.find(parentId);
    if (parent === NONE && parentId !== null) return [];
    return this.#entriesAt(this.#state.fileOrder(tree.children(parent)));
  }

  /** Returns the label in force on an entry. */
  getLabel(id: string): string | undefined {
    return this.#state.labelsAndName.labels().get(id)?.label;
  }

  /**
   * Returns the path root → entry.
   *
   * @param fromId - Default: the leaf.
   * @remarks Cost: O(answer).
   */
  getBranch(fromId?: string): SessionEntry[] {
    return this.#entriesAt(this.#path(fromId));
  }

  /**
   * Goes from the leaf to the root.
   *
   * @param options - `type`: only entries of this type, and only their bodies are read. `fromId`: instead of the leaf.
   * @remarks Cost: O(path) in heads at worst; stop early to pay less.
   */
  *walkUp(options: { type?: string; fromId?: string } = {}): Generator<SessionEntry, void> {
    const { tree, leaf } = this.#state;
    const { type, fromId } = options;
    let at = fromId === undefined ? leaf : tree.find(fromId);
    for (; at !== NONE; at = tree.parentAt(at)) {
      if (type === undefined || tree.typeAt(at) === type) yield this.#entryAt(at);
    }
  }

  /** Returns the ids of the path root → entry, without reading a body. */
  getPathIds(fromId?: string): string[] {
    return Array.from(this.#path(fromId), (ordinal) => this.#state.tree.idAt(ordinal));
  }

  /**
   * Returns all entries in file order, the header left out; a new array.
   *
   * @remarks Cost: O(file), the first time.
   */
  getEntries(): SessionEntry[] {
    return this.#entriesAt(this.#state.fileOrder());
  }

  /**
   * Returns the roots with all that hangs on them, children by time.
   *
   * @remarks Cost: O(file), the first time.
   */
  getTree(): SessionTreeNode[] {
    const { tree, labelsAndName } = this.#state;
    const fileOrder = this.#state.fileOrder();
    return buildTree(tree, this.#entriesAt(fileOrder), labelsAndName.labels(), fileOrder);
  }

  /** Returns the entries that have no children, in file order. */
  getLeaves(): SessionEntry[] {
    return this.#entriesAt(this.#state.fileOrder(this.#state.tree.leaves()));
  }

  /**
   * Goes through an entry and all that descends from it, parents before children.
   *
   * @param fromId - Default: all roots.
   * @remarks Cost: O(1) memory per step; no recursion.
   */
  *walk(fromId?: string): Generator<SessionEntry, void> {
    const { tree } = this.#state;
    const start = fromId === undefined ? NONE : tree.find(fromId);
    if (fromId !== undefined && start === NONE) return;
    const childrenOf = (ordinal: number) => this.#state.fileOrder(tree.children(ordinal));
    for (const ordinal of walkTree(start, childrenOf)) yield this.#entryAt(ordinal);
  }

  /** Returns the id of the deepest entry on the paths of both; null if there is none or an id is unknown. */
  commonAncestor(a: string, b: string): string | null {
    const { tree } = this.#state;
    return this.#state.idOf(tree.commonAncestor(tree.find(a), tree.find(b)));
  }

  /**
   * Returns the entries that the context at the leaf is made of.
   *
   * @remarks Cost: O(answer); nothing is read again after an append. Source: docs/format.md#context
   */
  buildContextEntries(): SessionEntry[] {
    return this.#state.context().contextEntries();
  }

  /**
   * Returns what the model sees at the leaf, and for each message the entry it comes from.
   *
   * @remarks Cost: O(answer); nothing is read again after an append. Source: docs/format.md#context
   */
  buildSessionProjection(): SessionProjection {
    return this.#state.context().projection(headerSettings(this.#state.log.index.header));
  }

  /**
   * Returns what the model sees at the leaf: messages, thinking level and model.
   *
   * @remarks Cost: O(answer); nothing is read again after an append. Source: docs/format.md#context
   */
  buildSessionContext(): SessionContext {
    return this.#state.context().context(headerSettings(this.#state.log.index.header));
  }

  /**
   * Reads what other processes appended since; the own leaf stays.
   *
   * @returns Their entries, in file order.
   * @throws {SessionError} `WRITE_FAILED` if another file stands at the path now.
   * @remarks Cost: one look at the file, and the new bytes.
   */
  refresh(): SessionEntry[] {
    return asSessionEntries(this.#state.refresh());
  }

  /**
   * Reads what others appended since, wherever the session lives; the own leaf stays.
   *
   * What `refresh` is for files; in a store it also waits until everything appended here is durable.
   *
   * @returns The others' entries, in the order in which they came.
   * @throws {SessionError} `WRITE_FAILED` or `SESSION_NOT_FOUND`
   */
  async pull(): Promise<SessionEntry[]> {
    const entries: SessionEntry[] = [];
    const forget = this.on("foreign_entries", (event) => entries.push(...event.entries.map(asSessionEntry)));
    try {
      await this.#state.log.pull();
    } finally {
      forget();
    }
    return entries;
  }

  /**
   * Yields entries as other processes append them, until the signal aborts.
   *
   * `return()` ends it, too, also while `next()` waits.
   *
   * @remarks Waits for the system's word that the file changed, and looks once a second where none comes.
   */
  watch(options: { signal?: AbortSignal } = {}): AsyncGenerator<SessionEntry, void> {
    return endable((end) => this.#watched(end), options.signal);
  }

  async *#watched(end: AbortSignal): AsyncGenerator<SessionEntry, void> {
    const pending: SessionEntry[] = [];
    const forget = this.on("foreign_entries", ({ entries }) => pending.push(...entries.map(asSessionEntry)));
    try {
      for await (const _ of this.#state.log.changes(end)) {
        this.#state.tellForeign();
        yield* pending.splice(0);
      }
    } finally {
      forget();
    }
  }

  /**
   * Calls a listener whenever something of the name happens.
   *
   * @returns A function that takes the listener away again.
   */
  on<Name extends SessionEventName>(name: Name, listener: SessionListener<Name>): () => void {
    return this.#state.events.on(name, listener);
  }

  /**
   * Appends a message.
   *
   * @returns Id of the new entry.
   * @throws {TypeError} If it is no message of this format, or of a role that is made while projecting; it names the
   *   fields, and the function of `sessiontree/convert` that makes such messages of it.
   * @throws {SessionError} `WRITE_FAILED`, and then nothing has changed.
   */
  appendMessage(message: AppendableMessage): string {
    assertMessage(message);
    return this.#state.appendMessage(message).id;
  }

  /** Appends the thinking level that holds from here on. */
  appendThinkingLevelChange(thinkingLevel: string): string {
    return this.#state.append({ type: "thinking_level_change", thinkingLevel }).id;
  }

  /** Appends the model that is used from here on. */
  appendModelChange(provider: string, modelId: string): string {
    return this.#state.append({ type: "model_change", provider, modelId }).id;
  }

  /** Appends tokens spent beside the conversation, and gives the entry. */
  appendUsage(kind: string, provider: string, model: string, usage: Usage, note?: string): UsageEntry {
    const entry = this.#state.append({ type: "usage", kind, provider, model, usage, ...optional({ note }) });
    if (!isUsageEntry(entry)) throw new TypeError("beforePersist took the usage out of a usage entry");
    return entry;
  }

  /**
   * Appends a compaction: from here on the summary stands for what is before the first kept entry.
   *
   * @param firstKeptEntryId - Null keeps nothing.
   * @param tokensBefore - Size of the context before, in tokens.
   */
  appendCompaction<T = unknown>(
    summary: string,
    firstKeptEntryId: string | null,
    tokensBefore: number,
    details?: T,
    fromHook?: boolean,
    usage?: Usage,
  ): string {
    const { messages } = this.buildSessionContext();
    return this.#state.append((id, timestampMs) => ({
      type: "compaction",
      summary,
      firstKeptEntryId: firstKeptEntryId ?? id,
      tokensBefore,
      ...optional({ details, fromHook, usage, systemMessage: foldSystemMessages(messages, timestampMs) }),
    })).id;
  }

  /** Appends state of an extension, which is never in the context. */
  appendCustomEntry(customType: string, data?: unknown): string {
    return this.#state.append({ type: "custom", customType, ...optional({ data }) }).id;
  }

  /** Appends a message of an extension, which is in the context. */
  appendCustomMessageEntry<T = unknown>(
    customType: string,
    content: string | (TextContent | ImageContent)[],
    display: boolean,
    details?: T,
  ): string {
    return this.#state.append({
      type: "custom_message",
      customType,
      content,
      display,
      ...optional({ details }),
    }).id;
  }

  /** Sets the display name; an empty one clears it. Line breaks become spaces. */
  appendSessionInfo(name: string): string {
    return this.#state.append({ type: "session_info", name: name.replace(/[\r\n]+/g, " ").trim() }).id;
  }

  /**
   * Sets the label of an entry; empty or undefined clears it.
   *
   * @throws {SessionError} `ENTRY_NOT_FOUND`
   */
  appendLabelChange(targetId: string, label: string | undefined): string {
    this.#state.require(targetId);
    return this.#state.append({ type: "label", targetId, ...optional({ label: label || undefined }) }).id;
  }

  /**
   * Changes what an entry of the active branch contributes to the context from here on.
   *
   * @param replacement - Null removes its messages.
   * @throws {TypeError} If it is neither null nor has content.
   * @throws {SessionError} `ENTRY_NOT_FOUND`, or `ENTRY_INVALID` if the entry cannot be edited.
   */
  appendContextEdit(targetId: string, replacement: null | { content: ContextEditableContent }): string {
    assertReplacement(replacement);
    const target = asSessionEntry(this.#state.cache.entryAt(this.#state.require(targetId)));
    assertEditable(target, this.#state.isOnPath(targetId));
    const edit = replacement === null ? null : { content: editableContent(target, replacement.content) };
    return this.#state.append({ type: "context_edit", targetId, replacement: edit }).id;
  }

  /**
   * Appends an entry of any type, at any place, on the condition that the leaf has not moved.
   *
   * @param draft - Its fields; a head among them does not count: the parent is chosen by the options.
   * @throws {TypeError} If it is no draft of an entry.
   * @throws {SessionError} `STALE_LEAF` or `ENTRY_NOT_FOUND`, and then nothing was written.
   */
  append(draft: EntryDraft, options: AppendOptions = {}): string {
    assertDraft(draft);
    return this.#state.append(draft, this.#parentFor(options)).id;
  }

  /**
   * Appends several entries in one write, each the parent of the next: either all of them are there or none.
   *
   * @param drafts - As for `append`; a function is given the id and the time (Unix milliseconds) of its entry.
   * @returns Ids of the new entries; empty if there is no draft, and then nothing is written.
   * @throws {TypeError} If one of them is no draft of an entry.
   * @throws {SessionError} `STALE_LEAF`, `ENTRY_NOT_FOUND` or `WRITE_FAILED`, and then nothing was written.
   */
  appendAll(drafts: readonly (EntryDraft | DraftMaker)[], options: AppendOptions = {}): string[] {
    for (const draft of drafts) if (typeof draft !== "function") assertDraft(draft);
    const parent = this.#parentFor(options);
    return drafts.length === 0 ? [] : this.#state.appendAll(drafts, parent).map(({ id }) => id);
  }

  /** @throws {SessionError} `STALE_LEAF` or `ENTRY_NOT_FOUND` */
  #parentFor({ expectedLeafId, parentId }: AppendOptions): number {
    if (expectedLeafId !== undefined && expectedLeafId !== this.getLeafId()) {
      throw staleLeaf(expectedLeafId, this.getLeafId());
    }
    if (parentId === undefined) return this.#state.leaf;
    return parentId === null ? NONE : this.#state.require(parentId);
  }

  /**
   * Appends an entry under the leaf on the condition that nobody has gone on with the session elsewhere, either: a
   * compare-and-swap in the place where the session lives.
   *
   * Waits until everything before it and the entry itself are there. Labels, names and usage of others do not count. In
   * a file the comparison and the append are two steps; a store says in `supports.conditionalAppend` that they are one.
   *
   * @param expectedLeafId - The leaf that the caller has seen; null for a session without a conversation. Default: the
   *   present one.
   * @returns Id of the new entry.
   * @throws {TypeError} If it is no draft of an entry.
   * @throws {SessionError} `STALE_LEAF`: nothing was added, and what others wrote is in the tree now; `WRITE_FAILED`.
   */
  async appendIfLeaf(draft: EntryDraft, expectedLeafId?: string | null): Promise<string> {
    assertDraft(draft);
    const expected = expectedLeafId === undefined ? this.getLeafId() : expectedLeafId;
    return (await this.#state.appendIfLeaf(draft, expected)).id;
  }

  /**
   * Throws what an append would throw, for whoever wants to know before the work and not after it.
   *
   * @throws {SessionError} `SESSION_CLOSED`, `READ_ONLY` or `VERSION_TOO_NEW`; `LEASE_HELD` if another process has taken
   *   the lease from this one.
   */
  assertWritable(): void {
    this.#state.assertWritable();
  }

  /**
   * Moves the leaf to an entry: the next append begins a branch there.
   *
   * @throws {SessionError} `ENTRY_NOT_FOUND`
   */
  branch(branchFromId: string): void {
    this.#state.moveLeaf(this.#state.require(branchFromId));
  }

  /** Moves the leaf before the first entry: the next append is a new root. */
  resetLeaf(): void {
    this.#state.moveLeaf(NONE);
  }

  /**
   * Moves the leaf and appends there a summary of the branch that was left.
   *
   * @param branchFromId - Null is the place before the first entry.
   * @returns Id of the summary's entry.
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
    return this.#state.append(
      { type: "branch_summary", fromId, summary, ...optional({ details, fromHook, usage }) },
      place,
    ).id;
  }

  /** Makes the present leaf the leaf of the next open, by an entry that any reader of the format follows. */
  persistLeaf(): string {
    return this.appendCustomEntry(LEAF_CUSTOM_TYPE);
  }

  /** Whether the session lives in a store, in which sessions are opened by id and not by path. */
  get isInStore(): boolean {
    return this.#options.derivedSessions !== undefined;
  }

  /** Returns the working directory. */
  getCwd(): string {
    return this.#cwd;
  }

  /** Returns the folder in which sessions made from this one are kept; empty in memory. */
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
    this.#state.assertNotPreparing();
    const log = this.#newLog(options);
    this.#state.replaceLog(log);
    return log.path;
  }

  /** Begins another session with this one's working directory, folder and options; this one stays as it is. */
  createSibling(options: NewSessionOptions = {}): SessionManager {
    return this.#sibling(this.#newLog(options));
  }

  /** Opens another file as `load` does (in a store: another id), with this one's options; this one stays as it is. */
  async loadSibling(
    path: string,
    load: LoadOptions & { readonly cwd?: string } = {},
  ): Promise<SessionManager> {
    const { cwd: _cwd, ...options } = this.#options;
    if (options.derivedSessions === undefined) return SessionManager.load(path, { ...options, ...load });
    return SessionManager.overLog(await options.derivedSessions.load(path, load), opening(options, load.cwd));
  }

  /** Makes a session of the path root → `leafId`, as `createBranchedSession` does; this one stays as it is. */
  forkSibling(leafId: string): SessionManager {
    return this.#sibling(this.#branchedLog(leafId));
  }

  /** Switches this object to another file and keeps the working directory. */
  setSessionFile(path: string): void {
    this.#state.assertNotPreparing();
    const log = openLog(path, { ...this.#options, cwd: this.#cwd });
    this.#sessionDir = this.#options.sessionDir === undefined ? folderOf(log.path) : this.#sessionDir;
    this.#state.replaceLog(log);
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
    this.#state.assertNotPreparing();
    const log = this.#branchedLog(leafId);
    this.#state.replaceLog(log, true);
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
    const header = this.getHeader() ?? newHeader(this.#cwd, this.#state.options.now());
    return exportCopy(this.#state, path, header, this.#options);
  }

  /**
   * Rewrites the file in the current version if it is of an older one; the first append does so by itself.
   *
   * @returns Path of the backup; undefined if there was nothing to do.
   * @throws {SessionError} `UPGRADE_FAILED`, and then the file is as it was.
   */
  upgrade(): string | undefined {
    this.#state.assertWritable();
    return this.#state.log.upgrade();
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
    this.#state.assertWritable();
    const entry = this.getEntry(entryId);
    if (entry !== undefined) assertRedactable(entry);
    const record = { type: "custom", customType: REDACTION_CUSTOM_TYPE, data: { targetId: entryId } };
    const { id } = this.#state.rewrite(entryId, (entry) => redactEntry(entry, replacement), record);
    if (this.#state.log.path !== undefined) forgetSession(this.#state.log.path);
    return id;
  }

  /** Resolves when everything appended so far survives a power cut. */
  async flush(): Promise<void> {
    await this.#state.log.flush();
  }

  /**
   * Flushes and releases the file. Idempotent; appends throw `SESSION_CLOSED` afterwards.
   *
   * @throws {TypeError} At once, if `beforePersist` calls it, which cannot wait.
   */
  close(): Promise<void> {
    this.#state.assertNotPreparing();
    return this.#close();
  }

  async #close(): Promise<void> {
    const { log, leaf, events } = this.#state;
    if (log.readOnlyReason === "closed") return;
    const isElsewhere = leaf !== (this.#state.fileOrder().at(-1) ?? NONE);
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

  #sibling(log: SessionLog): SessionManager {
    return new SessionManager(log, this.#cwd, this.#sessionDir, this.#options);
  }

  #newLog(options: NewSessionOptions): SessionLog {
    return newLog(this.#place, this.#cwd, this.#options, options);
  }

  #branchedLog(leafId: string): SessionLog {
    return branchLog(this.#state, leafId, this.#cwd, this.#place, this.#options);
  }

  /** Where sessions made from this one go: another home, a folder, or memory. */
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

/** The fields that are not undefined. */
function optional(fields: { readonly [name: string]: unknown }): { [name: string]: unknown } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function isUsageEntry(entry: AnySessionEntry): entry is UsageEntry {
  return entry.type === "usage" && "usage" in entry && isJsonRecord(entry.usage);
}
