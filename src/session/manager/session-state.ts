import { cachedProjection } from "../../core/context/cached-projection.ts";
import { readHeaderSettings } from "../../core/context/path-settings.ts";
import type { SelectionIssue } from "../../core/context/select-entries.ts";
import { PathProjection, type ProjectEntry } from "../../core/context/session-context.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { isSessionError, makeEntryNotFoundError } from "../../core/format/errors.ts";
import type { EntryHead } from "../../core/format/head.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import { type LineChange, parseCurrentLine } from "../../core/jsonl/entry-body.ts";
import type { SessionIndex } from "../../core/jsonl/session-index.ts";
import { type EntryTree, NONE } from "../../core/tree/entry-tree.ts";
import { LabelsAndName } from "../../core/tree/labels-and-name.ts";
import { realFileSystem } from "../fs/file-system.ts";
import { readBlobImage } from "../log/blob-images.ts";
import { EntryCache, makePath } from "../log/entry-cache.ts";
import type { LogChange, LogLine, SessionLog } from "../log/session-log.ts";
import { assertWritable } from "../log/write-permission.ts";
import {
  type AppendableMessage,
  type EntryFields,
  type FieldsMaker,
  prepareEntry,
  type WriteOptions,
} from "./entry-draft.ts";
import {
  type BeforePersist,
  EntryMaker,
  isConversation,
  type MadeEntry,
  type MakerOptions,
} from "./entry-maker.ts";
import { ForeignEntries, findAdded, findPlace } from "./log-changes.ts";
import { SessionEvents } from "./session-events.ts";

/**
 * State of a `SessionManager`: a tree, a log, a leaf, and the data derived from them.
 *
 * All appends use `#commit`, except `appendIfLeaf` and `rewrite`, whose entry the log writes as part of a larger step. The leaf
 * moves to an appended entry in `#advance`, to any entry in `moveLeaf`, and to another log's in `#use`.
 */
export class SessionState {
  readonly options: MakerOptions;
  #log: SessionLog;
  /** Data derived from the log is created on demand. */
  #cache: EntryCache | undefined;
  #events: SessionEvents | undefined;
  #labelsAndName: LabelsAndName | undefined;
  #maker: EntryMaker | undefined;
  /** Context at the leaf. Extended by each append, and dropped when the leaf moves in any other way. */
  #context: PathProjection | undefined;
  /** Outlives the context, so that a message remains the same object for as long as its entry does. */
  #cachedProjection: ProjectEntry | undefined;
  #leaf: number;
  /** Id of the leaf, cached because every append needs it; null before the first entry. */
  #leafId: string | null;
  /** Revision of the tree's links when the cache and context were built. */
  #revision: number;
  #isDegraded = false;
  /** Ids of entries that this object wrote with `rewrite` or `appendIfLeaf`, which arrive as a change of the log. */
  readonly #ownIds = new Set<string>();
  #foreign: ForeignEntries | undefined;
  /** Whether the host's `beforePersist` is running. */
  #isPreparing = false;

  constructor(log: SessionLog, { now = Date.now, beforePersist }: Partial<MakerOptions>) {
    this.options = beforePersist ? { now, beforePersist: this.#guarded(beforePersist) } : { now };
    this.#log = log;
    const { index } = log;
    this.#leaf = index.storedLeaf;
    this.#leafId = this.#leaf === NONE ? null : index.tree.idAt(this.#leaf);
    this.#revision = index.revision;
    this.#listen();
  }

  get log(): SessionLog {
    return this.#log;
  }

  get tree(): EntryTree {
    return this.#log.index.tree;
  }

  /** Bodies of the entries. Cached entries have their current parents. */
  get cache(): EntryCache {
    this.#keepUp();
    return this.#entries;
  }

  get events(): SessionEvents {
    this.#events ??= new SessionEvents();
    return this.#events;
  }

  /** The same cache without a check for changed parents, for adding entries and for calls that have already checked. */
  get #entries(): EntryCache {
    this.#cache ??= new EntryCache(this.#log);
    return this.#cache;
  }

  get #make(): EntryMaker {
    this.#maker ??= new EntryMaker(
      this.options,
      (id) => this.#log.index.tree.find(id) !== NONE,
      () => this.#log.keepsObjects === true,
    );
    return this.#maker;
  }

  get labelsAndName(): LabelsAndName {
    this.#labelsAndName ??= this.#newLabelsAndName();
    return this.#labelsAndName;
  }

  /** Ordinal of the leaf, or NONE before the first entry. */
  get leaf(): number {
    return this.#leaf;
  }

  get leafId(): string | null {
    return this.#leafId;
  }

  /** Returns the id of an ordinal; null for NONE. */
  getId(ordinal: number): string | null {
    return ordinal === NONE ? null : this.#log.index.tree.idAt(ordinal);
  }

  /** Returns the ordinal of an id that must exist. */
  require(id: string): number {
    const ordinal = this.tree.find(id);
    if (ordinal !== NONE) return ordinal;
    throw makeEntryNotFoundError(id);
  }

  /** Returns whether an entry is on the path to the leaf. */
  isOnPath(id: string): boolean {
    const ordinal = this.tree.find(id);
    return ordinal !== NONE && this.tree.commonAncestor(ordinal, this.#leaf) === ordinal;
  }

  /** Returns the context at the leaf as a live view, for immediate use. */
  context(): PathProjection {
    this.#keepUp();
    this.#context ??= this.#buildContext();
    if (this.#context.issue !== undefined) this.#reportSelection(this.#context.issue);
    return this.#context;
  }

  #buildContext(): PathProjection {
    this.dropReplaced();
    const [{ tree, header }, entries] = [this.#log.index, this.#entries];
    entries.takeParsed();
    const path = makePath(tree, entries, tree.path(this.#leaf));
    return new PathProjection(path, readHeaderSettings(header), this.#project);
  }

  readonly #project: ProjectEntry = (entry, edit, keepsTail) => {
    this.#cachedProjection ??= cachedProjection((digest) => this.#readBlob(digest));
    return this.#cachedProjection(entry, edit, keepsTail);
  };

  /**
   * Drops data that other processes have replaced. Redacted content must not appear in any context or copy, even if it is still
   * in memory.
   */
  dropReplaced(): void {
    if (this.#log.checkReplaced()) this.#log.refresh();
  }

  /** Sorts ordinals (default: all) in file order, which may differ from numeric order if other processes wrote to the file. */
  fileOrder(given?: Iterable<number>): Int32Array {
    const { spans, tree } = this.#log.index;
    return given === undefined ? spans.allInFileOrder(tree.size) : spans.inFileOrder(given);
  }

  /**
   * Appends an entry under a parent and makes it the leaf, unless the leaf is kept.
   *
   * Writes the entry before adding it to the tree: if writing fails, nothing is changed.
   */
  append(
    draft: EntryFields | FieldsMaker,
    parent: number = this.#leaf,
    options: WriteOptions = {},
  ): AnySessionEntry {
    this.assertWritable();
    const made = this.#make.ofDraft(draft, this.getId(parent));
    this.#commit([made], options);
    return made.entry;
  }

  /** Appends a chain of entries under a parent in one write and makes the last entry the leaf, unless the leaf is kept. */
  appendAll(
    drafts: readonly (EntryFields | FieldsMaker)[],
    parent: number = this.#leaf,
    options: WriteOptions = {},
  ): AnySessionEntry[] {
    this.assertWritable();
    const made = this.#make.ofDrafts(drafts, this.getId(parent));
    this.#commit(made, options);
    return made.map(({ entry }) => entry);
  }

  /** Appends a message under the leaf. */
  appendMessage(message: AppendableMessage): AnySessionEntry {
    this.assertWritable();
    const made = this.#make.ofMessage(message, this.#leafId);
    this.#commit([made]);
    return made.entry;
  }

  /** Appends an entry under the leaf if the stored leaf is the expected one; otherwise, nothing is added. */
  async appendIfLeaf(draft: EntryFields, expectedLeafId: string | null): Promise<AnySessionEntry> {
    this.assertWritable();
    if (expectedLeafId !== null) this.require(expectedLeafId);
    const log = this.#log;
    const { entry, line } = this.#make.ofDraft(draft, expectedLeafId);
    this.#ownIds.add(entry.id);
    try {
      await log.appendIfLeaf(line, expectedLeafId, isConversation(entry));
      this.#emitPersistence("ok");
    } catch (error) {
      if (isSessionError(error, "WRITE_FAILED")) this.#emitPersistence("degraded", error);
      throw error;
    } finally {
      this.#ownIds.delete(entry.id);
    }
    // The session may have switched to another log that does not contain the entry.
    if (log !== this.#log) return entry;
    const ordinal = this.require(entry.id);
    log.readLines([ordinal], (_, bytes) => {
      // Another process may already have redacted it.
      if (new TextDecoder().decode(bytes) === line.text) this.#entries.keepAppended(ordinal, entry, line);
    });
    const there = this.#entries.entryAt(ordinal);
    if (this.leafId === expectedLeafId) this.#advance(ordinal, there);
    else this.#events?.emit("entry_appended", { entry: there });
    return there;
  }

  /**
   * Replaces lines and appends a record of the change, in one step. No other method changes history.
   *
   * @param record - Creates the record from the ids of the changed entries.
   * @param isRecorded - Whether to append the record even if no entry changed.
   * @returns The entry of the record, and the ids of the changed entries.
   */
  rewrite(
    change: LineChange,
    record: (ids: readonly string[]) => EntryFields,
    isRecorded: boolean,
  ): { readonly record: AnySessionEntry | undefined; readonly ids: readonly string[] } {
    this.assertWritable();
    const ids = new Set<string>();
    const isEmpty = () => ids.size === 0 && !isRecorded;
    let made = this.#make.ofDraft(record([]), this.#leafId);
    this.#ownIds.add(made.entry.id);
    const changeLine: LineChange = (line, head) => {
      const changed = change(line, head);
      if (changed === line || head === undefined) return changed;
      ids.add(head.id);
      return this.#preparedLine(changed, head);
    };
    const lines = () => {
      made = this.#make.again(made, record([...ids]));
      return isEmpty() ? [] : [made.line];
    };
    try {
      this.#log.rewrite(changeLine, lines);
    } finally {
      this.#ownIds.delete(made.entry.id);
    }
    if (isEmpty()) return { record: undefined, ids: [] };
    const ordinal = this.tree.find(made.entry.id);
    // The lines were written but could not be read back. The next refresh reads them.
    if (ordinal === NONE) return { record: made.entry, ids: [...ids] };
    this.#entries.keepAppended(ordinal, made.entry, made.line);
    this.#advance(ordinal, made.entry);
    return { record: made.entry, ids: [...ids] };
  }

  /** Passes the changed line of an entry through the host's hook. */
  #preparedLine(line: string, head: EntryHead): string {
    const { beforePersist } = this.options;
    if (beforePersist === undefined) return line;
    const entry = parseCurrentLine(line, head);
    const after = prepareEntry(entry, beforePersist);
    return after === entry ? line : encodeRecord(after);
  }

  /** Moves the leaf; NONE is the position before the first entry. */
  moveLeaf(ordinal: number): void {
    if (ordinal === this.#leaf) return;
    const previousLeafId = this.leafId;
    this.#leaf = ordinal;
    this.#leafId = this.getId(ordinal);
    this.#context = undefined;
    this.#emitLeaf(previousLeafId);
  }

  /**
   * Switches to another log: a new, branched, or opened session.
   *
   * @param isCopy - Whether the new log contains the entries of the current log. If so, entries that are already loaded remain
   *   the same objects.
   */
  replaceLog(log: SessionLog, isCopy = false): void {
    const cache = new EntryCache(log);
    if (isCopy) cache.adopt(this.#entries, this.tree);
    this.#log.onChange = undefined;
    this.#log.onPersistence = undefined;
    this.#log.onRestored = undefined;
    this.#log.release();
    this.#use(log, cache, log.index.storedLeaf);
  }

  /** @throws {SessionError} `SESSION_CLOSED`, `READ_ONLY`, `VERSION_TOO_NEW` or `LEASE_HELD` */
  assertWritable(): void {
    if (this.#isPreparing) this.assertNotPreparing();
    if (this.#log.readOnlyReason !== undefined) assertWritable(this.#log);
  }

  /** Throws if `beforePersist` is running, because it must not change the session. */
  assertNotPreparing(): void {
    if (!this.#isPreparing) return;
    throw new TypeError(
      "beforePersist may only change the entry; append, switch or close the session after the append.",
    );
  }

  #guarded(beforePersist: BeforePersist): BeforePersist {
    return (entry) => {
      this.#isPreparing = true;
      try {
        return beforePersist(entry);
      } finally {
        this.#isPreparing = false;
      }
    };
  }

  /** Writes entries in one write, caches all of them, and then moves the leaf to each and emits its events. */
  #commit(made: readonly MadeEntry[], { mustExist, keepLeaf }: WriteOptions = {}): void {
    const lines: LogLine[] = [];
    let isLasting = false;
    for (const { entry, line } of made) {
      lines.push(line);
      isLasting ||= isConversation(entry);
    }
    const first = this.#write(lines, isLasting, mustExist);
    // If the file was replaced during the write, other entries may be between these.
    const ordinals = made.length === 1 ? [first] : made.map(({ entry }) => this.tree.find(entry.id));
    let i = 0;
    for (const { entry, line } of made) this.#entries.keepAppended(ordinals[i++] ?? NONE, entry, line);
    i = 0;
    for (const { entry } of made) {
      const ordinal = ordinals[i++] ?? NONE;
      if (keepLeaf === true) this.#events?.emit("entry_appended", { entry });
      else this.#advance(ordinal, entry);
    }
  }

  #write(lines: readonly LogLine[], isLasting: boolean, mustExist?: boolean): number {
    try {
      const ordinal = this.#log.append(lines, isLasting, mustExist);
      if (this.#isDegraded) this.#emitPersistence("ok");
      return ordinal;
    } catch (error) {
      const isOfEntry = isSessionError(error, "ENTRY_INVALID");
      if (!isOfEntry && error instanceof Error) this.#emitPersistence("degraded", error);
      throw error;
    }
  }

  #emitPersistence(state: "ok" | "degraded", error?: Error): void {
    const isDegraded = state === "degraded";
    if (isDegraded === this.#isDegraded) return;
    // A log with deferred writes has accepted an entry, but still fails to write.
    if (!isDegraded && this.#log.isDegraded === true) return;
    this.#isDegraded = isDegraded;
    this.#events?.emit("persistence_state", { state, ...(error && { error }) });
  }

  /** Moves the leaf to an appended entry, extends the context, and emits the events. */
  #advance(ordinal: number, entry: AnySessionEntry): void {
    const previous = this.#leaf;
    const previousLeafId = this.#leafId;
    this.#leaf = ordinal;
    this.#leafId = entry.id;
    if (this.#context !== undefined) {
      const isNext = this.#log.index.tree.parentAt(ordinal) === previous;
      if (!isNext || !this.#context.extend(entry)) this.#context = undefined;
    }
    if (this.#events === undefined) return;
    if (this.#events.has("entry_appended")) this.#events.emit("entry_appended", { entry });
    this.#emitLeaf(previousLeafId);
  }

  #emitLeaf(previousLeafId: string | null): void {
    if (this.leafId === previousLeafId || !this.#events?.has("leaf_changed")) return;
    this.#events.emit("leaf_changed", { leafId: this.leafId, previousLeafId });
  }

  /** Drops cached entries that got a new parent, for example because the parent arrived late. */
  #keepUp(): void {
    const { revision } = this.#log.index;
    if (revision === this.#revision) return;
    this.#revision = revision;
    this.#entries.rehang();
    this.#context = undefined;
  }

  #listen(): void {
    this.#log.onChange = (change) => this.#takeChange(change);
    this.#log.onPersistence = (state, error) => this.#emitPersistence(state, error);
    this.#log.onRestored = (ids) => this.#emitRestored(ids);
  }

  /** Reads and returns entries that other processes appended. */
  refresh(): AnySessionEntry[] {
    const change = this.#log.refresh();
    if (change !== undefined) return this.#entries.entriesAt(this.#findNew(change));
    this.emitForeign();
    return [];
  }

  #emitRestored(ids: readonly string[]): void {
    if (!this.#events?.has("entries_restored")) return;
    this.#events?.emit("entries_restored", { entries: this.#getEntries(ids) });
  }

  #getEntries(ids: readonly string[]): AnySessionEntry[] {
    return this.#entries.entriesAt(ids.map((id) => this.tree.find(id)).filter((ordinal) => ordinal !== NONE));
  }

  #takeChange(change: LogChange): void {
    if (change.kind === "reloaded") this.#reload(change.before);
    // Lines from other processes may precede known lines, and labels and names follow file order.
    else this.#labelsAndName = undefined;
    this.#foreign ??= new ForeignEntries();
    for (const ordinal of this.#findNew(change)) this.#foreign.add(this.tree.idAt(ordinal));
    this.emitForeign();
  }

  /** Delivers the entries from other processes to their receivers. Retries later if their bodies cannot currently be read. */
  emitForeign(): void {
    this.#foreign?.deliver((ids) => this.#getEntries(ids), this.#events);
  }

  /** Collects the entries from other processes as they are found, for a call that returns them, until `end` is called. */
  collectForeign(): { readonly entries: AnySessionEntry[]; end(): void } {
    this.#foreign ??= new ForeignEntries();
    return this.#foreign.collect();
  }

  #findNew(change: LogChange): number[] {
    return findAdded(change, this.tree).filter((ordinal) => !this.#ownIds.has(this.tree.idAt(ordinal)));
  }

  #reload(before: SessionIndex): void {
    const cache = new EntryCache(this.#log);
    if (this.#cache !== undefined) cache.adopt(this.#cache, before.tree);
    this.#use(this.#log, cache, findPlace(this.tree, before.tree, this.#leaf));
  }

  #use(log: SessionLog, cache: EntryCache, leaf: number): void {
    const previousLeafId = this.#leafId;
    this.#log = log;
    this.#cache = cache;
    this.#labelsAndName = undefined;
    this.#context = undefined;
    this.#leaf = leaf;
    this.#leafId = this.getId(leaf);
    this.#revision = this.#log.index.revision;
    this.#listen();
    this.#emitLeaf(previousLeafId);
  }

  /** Reads an image that is stored next to the session's file. */
  #readBlob(digest: string): string | undefined {
    const { path } = this.#log;
    return path === undefined ? undefined : readBlobImage(realFileSystem, path, digest);
  }

  #newLabelsAndName(): LabelsAndName {
    return new LabelsAndName(
      this.#log.index,
      (ordinal) => this.#entries.bodyAt(ordinal),
      (ordinals) => this.fileOrder(ordinals),
      this.#log.index.header?.title,
    );
  }

  #reportSelection({ code, entryId, message }: SelectionIssue): void {
    const place = this.#log.index.spans.at(this.tree.find(entryId));
    this.#log.index.report({ code, ...place, message, entryId });
  }
}
