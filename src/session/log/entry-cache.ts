import { setTimeout as later } from "node:timers";
import type { EntryPath } from "../../core/context/entry-path.ts";
import type { AnySessionEntry, UnknownEntry } from "../../core/format/entry.ts";
import { isSessionError } from "../../core/format/errors.ts";
import type { EntryHead } from "../../core/format/head.ts";
import { isJsonRecord, type JsonRecord } from "../../core/format/json.ts";
import { decodeText, parseRecord } from "../../core/jsonl/decode.ts";
import { encodeAnyRecord, encodeLiveRecord } from "../../core/jsonl/encode.ts";
import { DAMAGED_TYPE, decodeEntryAt, makeDamagedEntry } from "../../core/jsonl/entry-body.ts";
import { makeIssue } from "../../core/jsonl/issue-log.ts";
import { type EntryTree, NONE } from "../../core/tree/entry-tree.ts";
import type { LogLine, SessionLog } from "./session-log.ts";
import { WeakCache } from "./weak-cache.ts";

/** Total size of lines, in bytes, whose entries remain cached although no caller references them. */
const KEPT_BYTES = 16 * 1024 * 1024;

/** Total size, in bytes, that remains after entries move to the weak cache, so that not every append starts another move. */
const MIN_KEPT_BYTES = 15 * 1024 * 1024;

/** Maximum total size, in bytes, of lines whose entries are in the strong cache or waiting to leave it. */
const WAITING_BYTES = 256 * 1024 * 1024;

/** Number of entries that leave the strong cache in one turn of the event loop, which takes a few milliseconds. */
const RELEASED_AT_ONCE = 4096;

/** Cached parts of an entry. */
interface Held {
  readonly entry: AnySessionEntry | undefined;
  readonly message: unknown;
}

/**
 * Cache of entries with their bodies, parsed on demand.
 *
 * Callers receive the same object as long as any caller references the entry or its message. A limited number of other entries is
 * also kept. The rest move to the weak cache in a later turn of the event loop, because the engine keeps the targets of new weak
 * references until the current job ends.
 *
 * @remarks Cost: O(1) for cached entries, otherwise O(bytes of the line).
 */
export class EntryCache {
  readonly #log: SessionLog;
  /**
   * The oldest entries, which were parsed when the session was opened, by ordinal. They are in an array because the first context
   * requires nearly all of them.
   */
  #opened: (AnySessionEntry | undefined)[] = [];
  /** First of these entries that has not been released, and the total size of their lines in bytes. */
  #openedFrom = 0;
  #openedBytes = 0;
  /** Entries that were read or appended later. Created with the first one. */
  #strong: StrongCache | undefined;
  /** Entries that have left the strong cache. Created with the first one. */
  #weak: WeakCache | undefined;
  /** Whether an entry with a damaged body was created. */
  #holdsDamaged = false;
  /** Entries that differ from their lines because JSON cannot represent them. They are never reread. */
  readonly #live = new Map<number, AnySessionEntry>();
  /** Runs when the next entries leave the strong cache. */
  #timer: NodeJS.Timeout | undefined;

  constructor(log: SessionLog) {
    this.#log = log;
  }

  /** Returns an entry; for a damaged body, an entry of type `damaged`. */
  entryAt(ordinal: number): AnySessionEntry {
    return (
      this.#known(ordinal) ??
      this.entriesAt([ordinal])[0] ??
      makeDamagedEntry(this.#log.index.tree.headAt(ordinal))
    );
  }

  /** Returns an entry, or undefined if its body is damaged. */
  bodyAt(ordinal: number): AnySessionEntry | undefined {
    const entry = this.#opened[ordinal] ?? this.entryAt(ordinal);
    return this.#holdsDamaged && isDamaged(entry) ? undefined : entry;
  }

  /** Returns many entries, with undefined in place of each entry whose body is damaged. */
  bodiesAt(ordinals: ArrayLike<number>): (AnySessionEntry | undefined)[] {
    const entries: (AnySessionEntry | undefined)[] = this.entriesAt(ordinals);
    if (!this.#holdsDamaged) return entries;
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i];
      if (entry?.type === DAMAGED_TYPE && isDamaged(entry)) entries[i] = undefined;
    }
    return entries;
  }

  /** Returns many entries. Reads uncached entries in a single call. */
  entriesAt(ordinals: ArrayLike<number>): AnySessionEntry[] {
    const opened = this.#opened;
    const entries: AnySessionEntry[] = [];
    for (let place = 0; place < ordinals.length; place++) {
      const entry = opened[ordinals[place] ?? NONE];
      if (entry === undefined) return this.#readAt(ordinals);
      entries.push(entry);
    }
    return entries;
  }

  /**
   * Adopts the entries parsed when the session was opened. Callers must first check whether the file was replaced, because lines
   * may have been redacted.
   */
  takeParsed(): void {
    const { index } = this.#log;
    const parsed = index.takeParsed();
    if (parsed.length === 0) return;
    this.#opened = parsed;
    // Upper bound of their size: all lines.
    this.#openedBytes = index.position;
  }

  #readAt(ordinals: ArrayLike<number>): AnySessionEntry[] {
    const { index } = this.#log;
    if (index.hasParsed && !this.#log.checkReplaced()) this.takeParsed();
    const entries: (AnySessionEntry | undefined)[] = [];
    const missing: number[] = [];
    /** Position of each missing entry in the result. */
    const places: number[] = [];
    const opened = this.#opened;
    for (let place = 0; place < ordinals.length; place++) {
      const ordinal = ordinals[place] ?? NONE;
      const entry = opened[ordinal] ?? this.#known(ordinal);
      entries.push(entry);
      if (entry !== undefined) continue;
      missing.push(ordinal);
      places.push(place);
    }
    if (missing.length > 0) {
      const { tree } = index;
      let taken = 0;
      this.#readTexts(missing, (ordinal, text) => {
        // A repeated ordinal finds its entry in the cache.
        entries[places[taken++] ?? 0] = this.#known(ordinal) ?? this.#take(tree, ordinal, text);
      });
    }
    return isComplete(entries) ? entries : entries.filter((entry) => entry !== undefined);
  }

  /**
   * Caches an entry that was just appended, so that callers receive this object. The entry is kept permanently if it differs from
   * its line.
   */
  keepAppended(ordinal: number, entry: AnySessionEntry, { text, replaced }: LogLine): void {
    if (replaced !== undefined) this.#live.set(ordinal, entry);
    this.#keep(ordinal, entry, text.length);
  }

  /** @param size - Size of the entry's line; see `StrongCache`. */
  #keep(ordinal: number, entry: AnySessionEntry, size: number): void {
    if (ordinal < this.#opened.length) this.#opened[ordinal] = undefined;
    this.#strong ??= new StrongCache();
    this.#strong.add(ordinal, entry, size);
    if (this.#strong.size + this.#openedBytes > KEPT_BYTES) this.#releaseLater();
  }

  /**
   * Adopts entries from the cache of the previous tree. They are matched by id, because ordinals may have changed, and only
   * adopted if their lines are equal, because other lines may have been redacted.
   */
  adopt(other: EntryCache, before: EntryTree): void {
    const { index } = this.#log;
    const { tree } = index;
    // Called first, because adopted entries take precedence over parsed ones.
    this.takeParsed();
    const live = new Set(other.#live.values());
    const held = new Map<number, Held>();
    for (const [ordinal, one] of other.#held()) {
      // A copy contains only what its lines contain.
      if (other.#log !== this.#log && other.#live.has(ordinal)) continue;
      const there = tree.find(before.idAt(ordinal));
      if (there !== NONE) held.set(there, one);
    }
    try {
      this.#adoptEqual(held, (entry) => live.has(entry));
    } catch (error) {
      // Entries that cannot currently be read are not adopted. Reading them later reports the reason.
      if (!isSessionError(error)) throw error;
    }
  }

  /** Adopts the objects from which the lines in memory were created. They are kept permanently if JSON cannot represent them. */
  adoptGiven(given: readonly AnySessionEntry[]): void {
    const { tree } = this.#log.index;
    const held = new Map<number, Held>();
    for (const entry of given) {
      const ordinal = tree.find(entry.id);
      if (ordinal !== NONE) held.set(ordinal, { entry, message: getMessage(entry) });
    }
    this.#adoptEqual(held, (entry) => encodeLiveRecord(entry).replaced !== undefined);
  }

  /** Adopts each entry that equals its line, or only its message if the rest differs. */
  #adoptEqual(held: ReadonlyMap<number, Held>, isLive: (entry: AnySessionEntry) => boolean): void {
    const { index } = this.#log;
    const ordinals = [...held.keys()].sort((a, b) => a - b);
    this.#readTexts(ordinals, (ordinal, text) => {
      const record = parseRecord(text);
      const written = record && decodeEntryAt(record, index.tree, ordinal, index);
      const { entry, message } = held.get(ordinal) ?? {};
      if (written === undefined) return;
      if (entry !== undefined && encodeAnyRecord(written) === encodeAnyRecord(entry)) {
        if (isLive(entry)) this.#live.set(ordinal, entry);
        this.#keep(ordinal, entry, text.length);
      } else if (hasSameMessage(written, message)) {
        this.#keep(ordinal, withMessage(written, message), text.length);
      }
    });
  }

  /** Replaces cached entries that were given a different parent. Their messages remain the same objects. */
  rehang(): void {
    const { tree, spans } = this.#log.index;
    for (const [ordinal, { entry }] of [...this.#held()]) {
      const { parentId } = tree.headAt(ordinal);
      // A collected entry is given its new head when it is read again.
      if (entry === undefined || parentId === entry.parentId) continue;
      const moved = { ...entry, parentId };
      if (this.#live.has(ordinal)) this.#live.set(ordinal, moved);
      if (this.#opened[ordinal] !== undefined) this.#opened[ordinal] = moved;
      else if (this.#strong?.get(ordinal) !== undefined) this.#strong.replace(ordinal, moved);
      else this.#keep(ordinal, moved, spans.lengthAt(ordinal));
    }
  }

  /** Yields the cached parts of each entry, starting with the weak cache. */
  *#held(): Generator<[number, Held], void> {
    for (const ordinal of this.#weak?.ordinals() ?? []) {
      if (this.#strong?.get(ordinal) !== undefined) continue;
      const held = { entry: this.#weak?.entryAt(ordinal), message: this.#weak?.messageAt(ordinal) };
      if (held.entry !== undefined || held.message !== undefined) yield [ordinal, held];
    }
    for (const [ordinal, entry] of this.#opened.entries()) {
      if (entry !== undefined) yield [ordinal, { entry, message: getMessage(entry) }];
    }
    for (const [ordinal, entry] of this.#strong ?? []) yield [ordinal, { entry, message: getMessage(entry) }];
    for (const [ordinal, entry] of this.#live) yield [ordinal, { entry, message: getMessage(entry) }];
  }

  #known(ordinal: number): AnySessionEntry | undefined {
    return (
      this.#opened[ordinal] ??
      this.#strong?.get(ordinal) ??
      this.#weak?.entryAt(ordinal) ??
      this.#live.get(ordinal)
    );
  }

  /** Creates and caches an entry from its line, with the message object that a caller still references. */
  #take(heads: EntryTree, ordinal: number, text: string): AnySessionEntry {
    const record = parseRecord(text);
    const read = record && decodeEntryAt(record, heads, ordinal, this.#log.index);
    const message = this.#weak?.messageAt(ordinal);
    const entry =
      read === undefined ? this.#reportDamaged(heads.headAt(ordinal)) : withMessage(read, message);
    this.#keep(ordinal, entry, text.length);
    return entry;
  }

  #readTexts(ordinals: readonly number[], take: (ordinal: number, text: string) => void): void {
    this.#log.readLines(ordinals, (ordinal, bytes) => take(ordinal, decodeText(bytes)), take);
  }

  /** Total size, in bytes, of the lines of all entries that are not in the weak cache. */
  get #heldBytes(): number {
    return (this.#strong?.size ?? 0) + this.#openedBytes;
  }

  get #count(): number {
    return this.#strong?.count ?? 0;
  }

  #releaseLater(): void {
    // A job may run for a long time, and the timer fires only after it ends.
    while (this.#heldBytes > WAITING_BYTES && this.#count > 1) this.#releaseOldest();
    this.#timer ??= later(() => this.#releaseSome(), 0).unref();
  }

  #releaseSome(): void {
    this.#timer = undefined;
    for (let i = 0; i < RELEASED_AT_ONCE; i++) {
      if (this.#heldBytes <= MIN_KEPT_BYTES || this.#count <= 1) return;
      this.#releaseOldest();
    }
    this.#releaseLater();
  }

  /** Moves the oldest entry to the weak cache, where it can be found as long as a caller references it. */
  #releaseOldest(): void {
    if (this.#openedBytes > 0) {
      this.#releaseOldestOpened();
      return;
    }
    const gone = this.#strong?.removeOldest();
    if (gone !== undefined) this.#addWeak(gone.ordinal, gone.entry);
  }

  #addWeak(ordinal: number, entry: AnySessionEntry): void {
    this.#weak ??= new WeakCache();
    this.#weak.add(ordinal, entry);
  }

  #releaseOldestOpened(): void {
    const ordinal = this.#openedFrom++;
    const entry = this.#opened[ordinal];
    this.#opened[ordinal] = undefined;
    if (entry !== undefined) this.#addWeak(ordinal, entry);
    this.#openedBytes -= this.#log.index.spans.lengthAt(ordinal) + 1;
    if (this.#openedFrom < this.#opened.length) return;
    this.#opened = [];
    this.#openedFrom = 0;
    this.#openedBytes = 0;
  }

  #reportDamaged(head: EntryHead): AnySessionEntry {
    const { index } = this.#log;
    index.report(makeIssue("BODY_DAMAGED", index.spans.at(index.tree.find(head.id)), head.id));
    this.#holdsDamaged = true;
    return makeDamagedEntry(head);
  }
}

function isComplete(entries: (AnySessionEntry | undefined)[]): entries is AnySessionEntry[] {
  return !entries.includes(undefined);
}

function isDamaged(entry: AnySessionEntry): boolean {
  return entry.type === DAMAGED_TYPE && "originalType" in entry;
}

function getMessage(entry: AnySessionEntry): unknown {
  return "message" in entry ? entry.message : undefined;
}

/**
 * Returns whether an entry that was read contains the given message, which may have been cached at another position in a tree.
 */
function hasSameMessage(written: AnySessionEntry, message: unknown): message is JsonRecord {
  const there = getMessage(written);
  return isJsonRecord(there) && isJsonRecord(message) && encodeAnyRecord(there) === encodeAnyRecord(message);
}

/** Returns the entry with the message object that a caller references. */
function withMessage(read: UnknownEntry, message: unknown): UnknownEntry {
  if (isJsonRecord(message) && isJsonRecord(read["message"])) read["message"] = message;
  return read;
}

/**
 * Number of bits in an ordinal that identify an entry within a page. With pages, sparse entries use little memory, and a shift
 * finds their page.
 */
const PAGE_BITS = 10;
const PAGE_SIZE = 1 << PAGE_BITS;

/** Number of removed entries after which their positions are dropped. */
const MAX_FORGOTTEN = 4096;

interface Page {
  readonly entries: (AnySessionEntry | undefined)[];
  count: number;
}

/**
 * Cache of entries by ordinal, removed in the order in which they were added.
 *
 * Uses pages and columns instead of a `Map` of objects for speed, because every append and every parsed body uses it. The size of
 * a line is usually its length in UTF-16 code units, because counting its bytes would take longer; in ASCII, both are equal.
 */
export class StrongCache {
  readonly #pages: (Page | undefined)[] = [];
  /** Ordinals and sizes in the order of addition, from `#oldest` on. */
  #ordinals: number[] = [];
  #sizes: number[] = [];
  #oldest = 0;
  /** Total size of the entries' lines. */
  size = 0;

  /** Number of additions that have not been removed. */
  get count(): number {
    return this.#ordinals.length - this.#oldest;
  }

  get(ordinal: number): AnySessionEntry | undefined {
    return this.#pages[ordinal >> PAGE_BITS]?.entries[ordinal & (PAGE_SIZE - 1)];
  }

  /** Adds an entry as the latest, in place of an earlier one with the same ordinal. */
  add(ordinal: number, entry: AnySessionEntry, size: number): void {
    this.#put(ordinal, entry);
    this.#ordinals.push(ordinal);
    this.#sizes.push(size);
    this.size += size;
  }

  /** Replaces a cached entry. */
  replace(ordinal: number, entry: AnySessionEntry): void {
    this.#put(ordinal, entry);
  }

  /** Removes the oldest addition and returns its entry. Returns undefined if the entry was already removed. */
  removeOldest(): { readonly ordinal: number; readonly entry: AnySessionEntry } | undefined {
    const ordinal = this.#ordinals[this.#oldest];
    if (ordinal === undefined) return undefined;
    this.size -= this.#sizes[this.#oldest] ?? 0;
    if (++this.#oldest >= MAX_FORGOTTEN) {
      this.#ordinals = this.#ordinals.slice(this.#oldest);
      this.#sizes = this.#sizes.slice(this.#oldest);
      this.#oldest = 0;
    }
    const entry = this.get(ordinal);
    if (entry === undefined) return undefined;
    this.#remove(ordinal);
    return { ordinal, entry };
  }

  /** Yields all entries with their ordinals, in ascending order. */
  *[Symbol.iterator](): Generator<[number, AnySessionEntry], void> {
    for (const [number, page] of this.#pages.entries()) {
      for (const [place, entry] of (page?.entries ?? []).entries()) {
        if (entry !== undefined) yield [number * PAGE_SIZE + place, entry];
      }
    }
  }

  #put(ordinal: number, entry: AnySessionEntry): void {
    const number = ordinal >> PAGE_BITS;
    const place = ordinal & (PAGE_SIZE - 1);
    let page = this.#pages[number];
    if (page === undefined) {
      page = { entries: new Array<AnySessionEntry | undefined>(PAGE_SIZE).fill(undefined), count: 0 };
      this.#pages[number] = page;
    }
    if (page.entries[place] === undefined) page.count++;
    page.entries[place] = entry;
  }

  #remove(ordinal: number): void {
    const number = ordinal >> PAGE_BITS;
    const page = this.#pages[number];
    if (page === undefined) return;
    page.entries[ordinal & (PAGE_SIZE - 1)] = undefined;
    if (--page.count === 0) this.#pages[number] = undefined;
  }
}

/** Creates a path that reads bodies from the log on demand. */
export function makePath(heads: EntryTree, cache: EntryCache, ordinals: Int32Array): EntryPath {
  return {
    length: ordinals.length,
    mayHold: (type) => heads.hasType(type),
    typeAt: (index) => heads.typeAt(ordinals[index] ?? 0),
    entryAt: (index) => cache.bodyAt(ordinals[index] ?? 0),
    entriesAt: (indices) => {
      if (indices === undefined) return cache.bodiesAt(ordinals);
      const wanted = new Int32Array(indices.length);
      for (let i = 0; i < wanted.length; i++) wanted[i] = ordinals[indices[i] ?? 0] ?? 0;
      return cache.bodiesAt(wanted);
    },
    indexOf: (id) => ordinals.lastIndexOf(heads.find(id)),
  };
}
