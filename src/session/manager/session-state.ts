import { type CachedContext, ContextCache } from "../../core/context/context-cache.ts";
import type { EntryPath } from "../../core/context/entry-path.ts";
import type { SelectionIssue } from "../../core/context/select-entries.ts";
import type { SettingsFallback } from "../../core/context/session-context.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { isSessionError, makeEntryNotFoundError } from "../../core/format/errors.ts";
import type { EntryHead } from "../../core/format/head.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import { type LineChange, parseCurrentLine } from "../../core/jsonl/entry-body.ts";
import { readHeaderSettings } from "../../core/jsonl/session-header.ts";
import type { SessionIndex } from "../../core/jsonl/session-index.ts";
import { type EntryTree, NONE } from "../../core/tree/entry-tree.ts";
import { LabelsAndName } from "../../core/tree/labels-and-name.ts";
import { realFileSystem } from "../fs/file-system.ts";
import { readBlobImage } from "../log/blob-images.ts";
import { EntryCache } from "../log/entry-cache.ts";
import type { LogChange, LogLine, SessionLog } from "../log/session-log.ts";
import { assertWritable } from "../log/write-permission.ts";
import { type AppendableMessage, type DraftMaker, type EntryDraft, prepareEntry } from "./entry-draft.ts";
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
 * The state of a `SessionManager`: one tree, one log, one leaf, and what is derived from them.
 *
 * All appends go through `append`; all moves of the leaf through `moveLeaf`.
 */
export class SessionState {
  readonly options: MakerOptions;
  #log: SessionLog;
  /** What is derived from the log is made when it is asked for. */
  #cache: EntryCache | undefined;
  #events: SessionEvents | undefined;
  #labelsAndName: LabelsAndName | undefined;
  #maker: EntryMaker | undefined;
  #context: ContextCache | undefined;
  #fallback: { readonly header: SessionHeader | undefined; readonly settings: SettingsFallback } | undefined;
  #leaf: number;
  /** Id of the leaf, cached because every append needs it; null before the first entry. */
  #leafId: string | null;
  /** Revision of the tree's links that cache and context were built from. */
  #revision: number;
  #isDegraded = false;
  /** Ids of own entries that arrive as a change of the log: those written by `rewrite` or `appendIfLeaf`. */
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

  get cache(): EntryCache {
    this.#keepUp();
    return this.#entries;
  }

  get events(): SessionEvents {
    this.#events ??= new SessionEvents();
    return this.#events;
  }

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

  /** Tells whether an entry is on the path to the leaf. */
  isOnPath(id: string): boolean {
    const ordinal = this.tree.find(id);
    return ordinal !== NONE && this.tree.commonAncestor(ordinal, this.#leaf) === ordinal;
  }

  /** Returns the context at the leaf; a live view. */
  context(): CachedContext {
    this.#keepUp();
    this.#context ??= new ContextCache((digest) => this.#readBlob(digest));
    const context = this.#context.get(() => this.#path());
    if (context.issue !== undefined) this.#reportSelection(context.issue);
    return context;
  }

  /** The settings of the header, which apply if the path to the leaf has none. */
  get fallback(): SettingsFallback {
    const { header } = this.#log.index;
    if (this.#fallback === undefined || this.#fallback.header !== header) {
      this.#fallback = { header, settings: readHeaderSettings(header) };
    }
    return this.#fallback.settings;
  }

  /** The path to the leaf. */
  #path(): EntryPath {
    this.dropReplaced();
    const { tree } = this.#log.index;
    return makePath(tree, this.#entries, tree.path(this.#leaf));
  }

  /** Drops what others have replaced: what was redacted since must be in no context or copy, even if it is in memory. */
  dropReplaced(): void {
    if (this.#log.isReplaced()) this.#log.refresh();
  }

  /** Sorts ordinals (default: all) into the order of the file, which may differ if others wrote as well. */
  fileOrder(given?: Iterable<number>): Int32Array {
    const { spans, tree } = this.#log.index;
    return given === undefined ? spans.allInFileOrder(tree.size) : spans.inFileOrder(given);
  }

  /**
   * Appends an entry under a parent and makes it the leaf.
   *
   * Writes the entry before adding it to the tree: if writing fails, nothing changes.
   */
  append(draft: EntryDraft | DraftMaker, parent: number = this.#leaf, mustExist = false): AnySessionEntry {
    this.assertWritable();
    return this.#add(this.#make.ofDraft(draft, this.getId(parent)), mustExist);
  }

  /** Appends a chain of entries under a parent in one write and makes the last of them the leaf. */
  appendAll(
    drafts: readonly (EntryDraft | DraftMaker)[],
    parent: number = this.#leaf,
    mustExist = false,
  ): AnySessionEntry[] {
    this.assertWritable();
    const made = this.#make.ofDrafts(drafts, this.getId(parent));
    this.#write(
      made.map(({ line }) => line),
      made.some(({ entry }) => isConversation(entry)),
      mustExist,
    );
    const ordinals = made.map(({ entry, line }) => {
      const ordinal = this.tree.find(entry.id);
      this.#entries.remember(ordinal, entry, line.text.length, line.replaced !== undefined);
      return ordinal;
    });
    return made.map(({ entry }, i) => {
      this.#advance(ordinals[i] ?? NONE, entry);
      return entry;
    });
  }

  /** Appends a message under the leaf. */
  appendMessage(message: AppendableMessage): AnySessionEntry {
    this.assertWritable();
    return this.#add((this.#maker ?? this.#make).ofMessage(message, this.#leafId));
  }

  /** Appends an entry under the leaf if the stored leaf is the expected one; else nothing is added. */
  async appendIfLeaf(draft: EntryDraft, expectedLeafId: string | null): Promise<AnySessionEntry> {
    this.assertWritable();
    if (expectedLeafId !== null) this.require(expectedLeafId);
    const log = this.#log;
    const { entry, line } = this.#make.ofDraft(draft, expectedLeafId);
    this.#ownIds.add(entry.id);
    try {
      await log.appendIfLeaf(line, expectedLeafId, isConversation(entry));
      if (!log.isDegraded) this.#emitPersistence("ok");
    } catch (error) {
      if (isSessionError(error, "WRITE_FAILED")) this.#emitPersistence("degraded", error);
      throw error;
    } finally {
      this.#ownIds.delete(entry.id);
    }
    // Meanwhile the session may have switched to another log, which does not hold the entry.
    if (log !== this.#log) return entry;
    const ordinal = this.require(entry.id);
    log.readLines([ordinal], (_, bytes) => {
      // Somebody else may have redacted it by now.
      if (new TextDecoder().decode(bytes) === line.text)
        this.#entries.remember(ordinal, entry, line.text.length, line.replaced !== undefined);
    });
    const there = this.#entries.entryAt(ordinal);
    if (this.leafId === expectedLeafId) this.#advance(ordinal, there);
    else this.#events?.emit("entry_appended", { entry: there });
    return there;
  }

  /**
   * Replaces lines and appends a record of that, in one step. The only call that changes history.
   *
   * @param record - Makes the record of the ids of the entries that changed.
   * @param isRecorded - Whether to append it even if none changed.
   * @returns The record's entry, and those ids.
   */
  rewrite(
    change: LineChange,
    record: (ids: readonly string[]) => EntryDraft,
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
    const { entry, line } = made;
    const ordinal = this.tree.find(entry.id);
    // Written, but what stands there now could not be read: the next look does that.
    if (ordinal === NONE) return { record: entry, ids: [...ids] };
    this.#entries.remember(ordinal, entry, line.text.length, line.replaced !== undefined);
    this.#advance(ordinal, entry);
    return { record: entry, ids: [...ids] };
  }

  /** Passes the changed line of an entry through the host's hook. */
  #preparedLine(line: string, head: EntryHead): string {
    const { beforePersist } = this.options;
    if (beforePersist === undefined) return line;
    const entry = parseCurrentLine(line, head);
    const after = prepareEntry(entry, beforePersist);
    return after === entry ? line : encodeRecord(after);
  }

  /** Moves the leaf; NONE is the place before the first entry. */
  moveLeaf(ordinal: number): void {
    if (ordinal === this.#leaf) return;
    const previousLeafId = this.leafId;
    this.#setLeaf(ordinal, this.getId(ordinal));
    this.#context?.clear();
    this.#emitLeaf(previousLeafId);
  }

  /**
   * Switches to another log: a new, branched or opened session.
   *
   * @param isCopy - Whether the new log holds the entries of this one; those already loaded then stay the same objects.
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

  /** Refuses to change the session while `beforePersist` runs. */
  assertNotPreparing(): void {
    if (!this.#isPreparing) return;
    throw new TypeError(
      "beforePersist may only alter the entry; append, switch or close the session after the append.",
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

  #add({ entry, line }: MadeEntry, mustExist?: boolean): AnySessionEntry {
    const ordinal = this.#write([line], isConversation(entry), mustExist);
    (this.#cache ?? this.#entries).remember(ordinal, entry, line.text.length, line.replaced !== undefined);
    this.#advance(ordinal, entry);
    return entry;
  }

  #write(lines: readonly LogLine[], isLasting: boolean, mustExist?: boolean): number {
    try {
      const ordinal = this.#log.append(lines, isLasting, mustExist);
      if (this.#isDegraded && !this.#log.isDegraded) this.#emitPersistence("ok");
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
    this.#isDegraded = isDegraded;
    this.#events?.emit("persistence_state", { state, ...(error && { error }) });
  }

  #advance(ordinal: number, entry: AnySessionEntry): void {
    const previous = this.#leaf;
    const previousLeafId = this.#leafId;
    this.#leaf = ordinal;
    this.#leafId = entry.id;
    if (this.#context !== undefined) {
      if (this.#log.index.tree.parentAt(ordinal) === previous) this.#context.extend(entry);
      else this.#context.clear();
    }
    if (this.#events === undefined) return;
    if (this.#events.has("entry_appended")) this.#events.emit("entry_appended", { entry });
    this.#emitLeaf(previousLeafId);
  }

  #emitLeaf(previousLeafId: string | null): void {
    if (this.leafId === previousLeafId || !this.#events?.has("leaf_changed")) return;
    this.#events.emit("leaf_changed", { leafId: this.leafId, previousLeafId });
  }

  #setLeaf(ordinal: number, id: string | null): void {
    this.#leaf = ordinal;
    this.#leafId = id;
  }

  /** Drops caches of entries that got a new parent, as when the parent arrived late. */
  #keepUp(): void {
    const { revision } = this.#log.index;
    if (revision === this.#revision) return;
    this.#revision = revision;
    this.#entries.rehang();
    this.#context?.clear();
  }

  #listen(): void {
    this.#log.onChange = (change) => this.#takeChange(change);
    this.#log.onPersistence = (state, error) => this.#emitPersistence(state, error);
    this.#log.onRestored = (ids) => this.#emitRestored(ids);
  }

  /** Reads what others appended; returns their entries. */
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
    // Others' lines may precede known ones, and labels and names follow the order of the file.
    else this.#labelsAndName = undefined;
    this.#foreign ??= new ForeignEntries();
    for (const ordinal of this.#findNew(change)) this.#foreign.add(this.tree.idAt(ordinal));
    this.emitForeign();
  }

  /** Tells others' entries to those that wait for them; again later if their bodies cannot be read now. */
  emitForeign(): void {
    this.#foreign?.deliver((ids) => this.#getEntries(ids), this.#events);
  }

  /** Collects others' entries as they are found, for a call that returns them, until `end`. */
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
    this.#context?.clear();
    this.#setLeaf(leaf, this.getId(leaf));
    this.#revision = this.#log.index.revision;
    this.#listen();
    this.#emitLeaf(previousLeafId);
  }

  /** Reads an image that is stored beside the session's file. */
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

/** Makes a path of heads that reads bodies from the log on demand. */
function makePath(heads: EntryTree, cache: EntryCache, ordinals: Int32Array): EntryPath {
  return {
    length: ordinals.length,
    mayHold: (type) => heads.hasType(type),
    typeAt: (index) => heads.typeAt(ordinals[index] ?? 0),
    entryAt: (index) => cache.bodyAt(ordinals[index] ?? 0),
    entriesAt: (indices) => {
      const wanted = new Int32Array(indices.length);
      for (let i = 0; i < wanted.length; i++) wanted[i] = ordinals[indices[i] ?? 0] ?? 0;
      return cache.bodiesAt(wanted);
    },
    indexOf: (id) => ordinals.lastIndexOf(heads.find(id)),
  };
}
