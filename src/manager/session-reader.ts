import type { SessionContext, SessionProjection } from "../context/session-context.ts";
import { headerSettings } from "../jsonl/session-header.ts";
import { fileChanges } from "../log/file-changes.ts";
import { endable } from "../log/on-abort.ts";
import { asSessionEntries, asSessionEntry, type SessionEntry } from "../schema/entry.ts";
import type { SessionHeader } from "../schema/header.ts";
import type { SessionIssue } from "../schema/issue.ts";
import { NONE } from "../tree/entry-tree.ts";
import type { SessionCore } from "./session-core.ts";
import type { SessionEventName, SessionListener } from "./session-events.ts";
import { buildTree, type SessionTreeNode, walkTree } from "./session-tree.ts";

/**
 * All that can be asked of a session; see `SessionManager` for what can be done to it.
 *
 * Look-ups of unknown ids do not throw: they give undefined or an empty array. Entries are shared objects: do not change them.
 */
export class SessionReader {
  /** State behind the methods; not part of the API. */
  protected readonly core: SessionCore;

  protected constructor(core: SessionCore) {
    this.core = core;
  }

  /** What was odd in the session's data so far; more may come as bodies are read. A copy. */
  get issues(): SessionIssue[] {
    return this.core.log.index.issues;
  }

  /**
   * Adds an issue that was found in the session's data, such as stored state that does not fit its schema.
   *
   * Its place is filled in if it names an entry and no line.
   */
  reportIssue(issue: SessionIssue): void {
    const { index } = this.core.log;
    const ordinal = issue.line === 0 && issue.entryId !== undefined ? index.tree.find(issue.entryId) : NONE;
    index.report(ordinal === NONE ? issue : { ...issue, ...index.places.at(ordinal) });
  }

  /** Gives the session's id. */
  getSessionId(): string {
    return this.getHeader()?.id ?? "";
  }

  /** Gives the path of the session's file; undefined in memory. The file may not have been made yet. */
  getSessionFile(): string | undefined {
    return this.core.log.path;
  }

  /** Tells whether the session is kept in a file. */
  isPersisted(): boolean {
    return this.core.log.path !== undefined;
  }

  /** Gives the header in today's version; null if there is none. */
  getHeader(): SessionHeader | null {
    return this.core.log.index.header ?? null;
  }

  /** Gives the display name that was set last; undefined if there is none or it was cleared. */
  getSessionName(): string | undefined {
    return this.core.bookkeeping.name();
  }

  /** Gives the number of entries. */
  getEntryCount(): number {
    return this.core.tree.size;
  }

  /** Gives the id of the entry on which the next one will hang; null before the first. */
  getLeafId(): string | null {
    return this.core.leafId;
  }

  /** Gives the entry on which the next one will hang. */
  getLeafEntry(): SessionEntry | undefined {
    const { leaf } = this.core;
    return leaf === NONE ? undefined : this.#entryAt(leaf);
  }

  /** Gives an entry by id. */
  getEntry(id: string): SessionEntry | undefined {
    const ordinal = this.core.tree.find(id);
    return ordinal === NONE ? undefined : this.#entryAt(ordinal);
  }

  /**
   * Gives the entries that hang on an entry, in file order.
   *
   * @param parentId - Null gives the roots.
   * @remarks Cost: O(answer).
   */
  getChildren(parentId: string | null): SessionEntry[] {
    const { tree } = this.core;
    const parent = parentId === null ? NONE : tree.find(parentId);
    if (parent === NONE && parentId !== null) return [];
    return this.#entriesAt(this.core.fileOrder(tree.children(parent)));
  }

  /** Gives the label in force on an entry. */
  getLabel(id: string): string | undefined {
    return this.core.bookkeeping.labels().get(id)?.label;
  }

  /**
   * Gives the path root → entry.
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
    const { tree, leaf } = this.core;
    const { type, fromId } = options;
    let at = fromId === undefined ? leaf : tree.find(fromId);
    for (; at !== NONE; at = tree.parentAt(at)) {
      if (type === undefined || tree.typeAt(at) === type) yield this.#entryAt(at);
    }
  }

  /** Gives the ids of the path root → entry, without reading a body. */
  getPathIds(fromId?: string): string[] {
    return Array.from(this.#path(fromId), (ordinal) => this.core.tree.idAt(ordinal));
  }

  /**
   * Gives all entries in file order, the header left out; a new array.
   *
   * @remarks Cost: O(file), the first time.
   */
  getEntries(): SessionEntry[] {
    return this.#entriesAt(this.core.fileOrder());
  }

  /**
   * Gives the roots with all that hangs on them, children by time.
   *
   * @remarks Cost: O(file), the first time.
   */
  getTree(): SessionTreeNode[] {
    const { tree, bookkeeping } = this.core;
    const fileOrder = this.core.fileOrder();
    return buildTree(tree, this.#entriesAt(fileOrder), bookkeeping.labels(), fileOrder);
  }

  /** Gives the entries that have no children, in file order. */
  getLeaves(): SessionEntry[] {
    return this.#entriesAt(this.core.fileOrder(this.core.tree.leaves()));
  }

  /**
   * Goes through an entry and all that descends from it, parents before children.
   *
   * @param fromId - Default: all roots.
   * @remarks Cost: O(1) memory per step; no recursion.
   */
  *walk(fromId?: string): Generator<SessionEntry, void> {
    const { tree } = this.core;
    const start = fromId === undefined ? NONE : tree.find(fromId);
    if (fromId !== undefined && start === NONE) return;
    const childrenOf = (ordinal: number) => this.core.fileOrder(tree.children(ordinal));
    for (const ordinal of walkTree(start, childrenOf)) yield this.#entryAt(ordinal);
  }

  /** Gives the id of the deepest entry on the paths of both; null if there is none or an id is unknown. */
  commonAncestor(a: string, b: string): string | null {
    const { tree } = this.core;
    return this.core.idOf(tree.commonAncestor(tree.find(a), tree.find(b)));
  }

  /**
   * Gives the entries that the context at the leaf is made of.
   *
   * @remarks Cost: O(answer); nothing is read again after an append. Source: docs/format.md#context
   */
  buildContextEntries(): SessionEntry[] {
    return this.core.context().contextEntries();
  }

  /**
   * Gives what the model sees at the leaf, and for each message the entry it comes from.
   *
   * @remarks Cost: O(answer); nothing is read again after an append. Source: docs/format.md#context
   */
  buildSessionProjection(): SessionProjection {
    return this.core.context().projection(headerSettings(this.core.log.index.header));
  }

  /**
   * Gives what the model sees at the leaf: messages, thinking level and model.
   *
   * @remarks Cost: O(answer); nothing is read again after an append. Source: docs/format.md#context
   */
  buildSessionContext(): SessionContext {
    return this.core.context().context(headerSettings(this.core.log.index.header));
  }

  /**
   * Reads what other processes appended since; the own leaf stays.
   *
   * @returns Their entries, in file order.
   * @throws {SessionError} `WRITE_FAILED` if another file stands at the path now.
   * @remarks Cost: one look at the file, and the new bytes.
   */
  refresh(): SessionEntry[] {
    return asSessionEntries(this.core.refresh());
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
    const { log } = this.core;
    if (log.pull === undefined) return this.refresh();
    const entries: SessionEntry[] = [];
    const forget = this.on("foreign_entries", (event) => entries.push(...event.entries.map(asSessionEntry)));
    try {
      await log.pull();
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
    const changes = this.#changes(end);
    if (changes === undefined) return;
    const pending: SessionEntry[] = [];
    const forget = this.on("foreign_entries", ({ entries }) => {
      for (const entry of entries) pending.push(asSessionEntry(entry));
    });
    try {
      for await (const _ of changes) {
        yield* pending.splice(0);
      }
    } finally {
      forget();
    }
  }

  /** Yields whenever others may have written, having taken that in; undefined if there are no others. */
  #changes(signal: AbortSignal): AsyncIterable<void> | undefined {
    const { log } = this.core;
    if (log.changes !== undefined) return log.changes(signal);
    return log.path === undefined ? undefined : this.#refreshed(fileChanges(log.path, signal));
  }

  async *#refreshed(changes: AsyncIterable<void>): AsyncGenerator<void, void> {
    for await (const _ of changes) {
      this.refresh();
      yield;
    }
  }

  /**
   * Calls a listener whenever something of the name happens.
   *
   * @returns A function that takes the listener away again.
   */
  on<Name extends SessionEventName>(name: Name, listener: SessionListener<Name>): () => void {
    return this.core.events.on(name, listener);
  }

  #path(fromId: string | undefined): Int32Array {
    const { tree, leaf } = this.core;
    return tree.path(fromId === undefined ? leaf : tree.find(fromId));
  }

  #entryAt(ordinal: number): SessionEntry {
    return asSessionEntry(this.core.cache.entryAt(ordinal));
  }

  #entriesAt(ordinals: ArrayLike<number>): SessionEntry[] {
    return asSessionEntries(this.core.cache.entriesAt(ordinals));
  }
}
