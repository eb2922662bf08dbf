import { setTimeout as later } from "node:timers";
import type { AnySessionEntry, UnknownEntry } from "../../core/format/entry.ts";
import { isSessionError } from "../../core/format/errors.ts";
import type { EntryHead } from "../../core/format/head.ts";
import { isJsonRecord, type JsonRecord } from "../../core/format/json.ts";
import { decodeText, parseRecord } from "../../core/jsonl/decode.ts";
import { encodeAnyRecord } from "../../core/jsonl/encode.ts";
import { DAMAGED_TYPE, decodeEntryAt, makeDamagedEntry } from "../../core/jsonl/entry-body.ts";
import { makeIssue } from "../../core/jsonl/issue-log.ts";
import type { SessionIndex } from "../../core/jsonl/session-index.ts";
import { type EntryTree, NONE } from "../../core/tree/entry-tree.ts";
import type { SessionLog } from "./session-log.ts";
import { WeakCache } from "./weak-cache.ts";

/** Bytes of lines whose entries stay cached although nobody holds them. */
const KEPT_BYTES = 16 * 1024 * 1024;

/** Bytes that stay when entries move to the weak cache, so that not every append starts another move. */
const MIN_KEPT_BYTES = 15 * 1024 * 1024;

/** Most bytes of lines whose entries are in the strong cache or wait to leave it. */
const WAITING_BYTES = 256 * 1024 * 1024;

/** Entries that leave the strong cache in one turn of the event loop: a few milliseconds. */
const RELEASED_AT_ONCE = 4096;

/** The cached parts of an entry. */
interface Held {
  readonly entry: AnySessionEntry | undefined;
  readonly message: unknown;
}

/**
 * Returns entries with their bodies, parsed when they are asked for.
 *
 * Callers get the same object for as long as somebody holds the entry or its message, and beyond that for a bounded number
 * of entries. The rest moves to the weak cache in a later turn of the event loop: before, weak references free nothing,
 * since the engine keeps their targets until the job ends.
 *
 * @remarks Cost: O(1) for cached entries, else O(bytes of the line).
 */
export class EntryCache {
  readonly #log: SessionLog;
  /** What opening has parsed, by ordinal: the oldest entries, and a list, since a first context needs nearly all of them. */
  #opened: (AnySessionEntry | undefined)[] = [];
  /** The first of them that is still here, and how many bytes their lines have. */
  #openedFrom = 0;
  #openedBytes = 0;
  readonly #strong = new StrongCache();
  readonly #weak = new WeakCache();
  /** Whether an entry with a damaged body was made. */
  #holdsDamaged = false;
  /** Entries that differ from their lines, since JSON cannot hold them: they are never read again. */
  readonly #live = new Map<number, AnySessionEntry>();
  /** Runs when the next entries leave the strong cache. */
  #timer: NodeJS.Timeout | undefined;

  constructor(log: SessionLog) {
    this.#log = log;
  }

  /** Returns an entry; for a damaged body, an entry of the type `damaged`. */
  entryAt(ordinal: number): AnySessionEntry {
    return (
      this.#known(ordinal) ??
      this.entriesAt([ordinal])[0] ??
      makeDamagedEntry(this.#log.index.tree.headAt(ordinal))
    );
  }

  /** Returns an entry, or undefined if its body is damaged. */
  bodyAt(ordinal: number): AnySessionEntry | undefined {
    const entry = this.entryAt(ordinal);
    return isDamaged(entry) ? undefined : entry;
  }

  /** Returns many entries, undefined in the place of each whose body is damaged. */
  bodiesAt(ordinals: ArrayLike<number>): (AnySessionEntry | undefined)[] {
    const entries: (AnySessionEntry | undefined)[] = this.entriesAt(ordinals);
    if (!this.#holdsDamaged) return entries;
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i];
      if (entry?.type === DAMAGED_TYPE && isDamaged(entry)) entries[i] = undefined;
    }
    return entries;
  }

  /** Returns many entries, reading those that are not held together. */
  entriesAt(ordinals: ArrayLike<number>): AnySessionEntry[] {
    const { index } = this.#log;
    if (index.hasParsed && !this.#log.isReplaced()) this.#takeParsed(index);
    const entries: (AnySessionEntry | undefined)[] = [];
    const missing: number[] = [];
    /** The place of each that is missing. */
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
        // The second request for an entry finds it in the cache.
        entries[places[taken++] ?? 0] = this.#known(ordinal) ?? this.#take(tree, ordinal, text);
      });
    }
    return isComplete(entries) ? entries : entries.filter((entry) => entry !== undefined);
  }

  /** Caches an entry that was just appended, so that callers get this object; for good if its line says something else. */
  remember(ordinal: number, entry: AnySessionEntry, bytes: number, isLive = false): void {
    if (isLive) this.#live.set(ordinal, entry);
    if (ordinal < this.#opened.length) this.#opened[ordinal] = undefined;
    this.#strong.add(ordinal, entry, bytes);
    if (this.#strong.bytes + this.#openedBytes > KEPT_BYTES) this.#releaseLater();
  }

  /**
   * Takes over the entries of the cache for the previous tree: by id, since ordinals may have changed, and only if their
   * lines are the same, since others may have been redacted.
   */
  adopt(other: EntryCache, before: EntryTree): void {
    const { index } = this.#log;
    const { tree } = index;
    // Before what is taken over, which counts.
    this.#takeParsed(index);
    const live = new Set(other.#live.values());
    const held = new Map<number, Held>();
    for (const [ordinal, one] of other.#held()) {
      // A copy has what its lines say.
      if (other.#log !== this.#log && other.#live.has(ordinal)) continue;
      const there = tree.find(before.idAt(ordinal));
      if (there !== NONE) held.set(there, one);
    }
    const ordinals = [...held.keys()].sort((a, b) => a - b);
    try {
      this.#readTexts(ordinals, (ordinal, text) => {
        const record = parseRecord(text);
        const written = record && decodeEntryAt(record, tree, ordinal, this.#log.index);
        const { entry, message } = held.get(ordinal) ?? {};
        if (written === undefined) return;
        if (entry !== undefined && encodeAnyRecord(written) === encodeAnyRecord(entry)) {
          this.remember(ordinal, entry, text.length, live.has(entry));
        } else if (hasSameMessage(written, message)) {
          this.remember(ordinal, withMessage(written, message), text.length);
        }
      });
    } catch (error) {
      // Entries that cannot be read now are not taken over; asking for them gives the reason.
      if (!isSessionError(error)) throw error;
    }
  }

  /** Replaces cached entries that got another parent; their messages stay the same objects. */
  rehang(): void {
    const { tree, spans } = this.#log.index;
    for (const [ordinal, { entry }] of [...this.#held()]) {
      const { parentId } = tree.headAt(ordinal);
      // A collected entry gets its new head when it is read again.
      if (entry === undefined || parentId === entry.parentId) continue;
      const moved = { ...entry, parentId };
      if (this.#live.has(ordinal)) this.#live.set(ordinal, moved);
      if (this.#opened[ordinal] !== undefined) this.#opened[ordinal] = moved;
      else if (this.#strong.get(ordinal) !== undefined) this.#strong.replace(ordinal, moved);
      else this.remember(ordinal, moved, spans.lengthAt(ordinal));
    }
  }

  /** What is held of each entry in the weak cache, and of each in the strong one. */
  *#held(): Generator<[number, Held], void> {
    for (const ordinal of this.#weak.ordinals()) {
      if (this.#strong.get(ordinal) !== undefined) continue;
      const held = { entry: this.#weak.entryAt(ordinal), message: this.#weak.messageAt(ordinal) };
      if (held.entry !== undefined || held.message !== undefined) yield [ordinal, held];
    }
    for (const [ordinal, entry] of this.#opened.entries()) {
      if (entry !== undefined) yield [ordinal, { entry, message: getMessage(entry) }];
    }
    for (const [ordinal, entry] of this.#strong) yield [ordinal, { entry, message: getMessage(entry) }];
    for (const [ordinal, entry] of this.#live) yield [ordinal, { entry, message: getMessage(entry) }];
  }

  #known(ordinal: number): AnySessionEntry | undefined {
    return (
      this.#opened[ordinal] ??
      this.#strong.get(ordinal) ??
      this.#weak.entryAt(ordinal) ??
      this.#live.get(ordinal)
    );
  }

  /** Takes the entries that opening has parsed. */
  #takeParsed(index: SessionIndex): void {
    if (!index.hasParsed) return;
    this.#opened = index.takeParsed();
    // A bound of what they hold: all lines up to the last of them.
    const last = this.#opened.length - 1;
    this.#openedBytes = index.spans.offsetAt(last) + index.spans.lengthAt(last) + 1;
  }

  /** Makes an entry of its line and caches it, with the message object that somebody still holds. */
  #take(heads: EntryTree, ordinal: number, text: string): AnySessionEntry {
    const record = parseRecord(text);
    const read = record && decodeEntryAt(record, heads, ordinal, this.#log.index);
    const message = this.#weak.messageAt(ordinal);
    const entry =
      read === undefined ? this.#reportDamaged(heads.headAt(ordinal)) : withMessage(read, message);
    this.remember(ordinal, entry, text.length);
    return entry;
  }

  #readTexts(ordinals: readonly number[], take: (ordinal: number, text: string) => void): void {
    this.#log.readLines(ordinals, (ordinal, bytes) => take(ordinal, decodeText(bytes)), take);
  }

  #releaseLater(): void {
    // A job may run long, and the timer fires only after it.
    while (this.#strong.bytes + this.#openedBytes > WAITING_BYTES && this.#strong.count > 1)
      this.#releaseOldest();
    this.#timer ??= later(() => this.#releaseSome(), 0).unref();
  }

  #releaseSome(): void {
    this.#timer = undefined;
    for (let i = 0; i < RELEASED_AT_ONCE; i++) {
      if (this.#strong.bytes + this.#openedBytes <= MIN_KEPT_BYTES || this.#strong.count <= 1) return;
      this.#releaseOldest();
    }
    this.#releaseLater();
  }

  /** Moves the oldest entry to the weak cache; it is still found while somebody holds it. */
  #releaseOldest(): void {
    if (this.#openedBytes > 0) {
      this.#releaseOldestOpened();
      return;
    }
    const gone = this.#strong.removeOldest();
    if (gone !== undefined) this.#weak.add(gone.ordinal, gone.entry);
  }

  #releaseOldestOpened(): void {
    const ordinal = this.#openedFrom++;
    const entry = this.#opened[ordinal];
    this.#opened[ordinal] = undefined;
    if (entry !== undefined) this.#weak.add(ordinal, entry);
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

/** Whether an entry that was read holds a message, which may have been held in another place of a tree. */
function hasSameMessage(written: AnySessionEntry, message: unknown): message is JsonRecord {
  const there = getMessage(written);
  return isJsonRecord(there) && isJsonRecord(message) && encodeAnyRecord(there) === encodeAnyRecord(message);
}

/** The entry, with the message object that somebody holds. */
function withMessage(read: UnknownEntry, message: unknown): UnknownEntry {
  if (isJsonRecord(message) && isJsonRecord(read["message"])) read["message"] = message;
  return read;
}

/** Bits of the number of entries in a page: sparse entries take little room, and a shift finds their page. */
const PAGE_BITS = 10;
const PAGE_SIZE = 1 << PAGE_BITS;

/** How many places of removed entries are dropped together. */
const MAX_FORGOTTEN = 4096;

interface Page {
  readonly entries: (AnySessionEntry | undefined)[];
  count: number;
}

/**
 * Entries by ordinal, removed in the order in which they were added.
 *
 * Uses pages and columns rather than a `Map` of objects, because every append and every parsed body passes here.
 */
export class StrongCache {
  readonly #pages: (Page | undefined)[] = [];
  /** Ordinals and bytes in the order of addition, from `#oldest` on. */
  #ordinals: number[] = [];
  #sizes: number[] = [];
  #oldest = 0;
  /** Total bytes of the entries' lines. */
  bytes = 0;

  /** Number of additions that were not removed. */
  get count(): number {
    return this.#ordinals.length - this.#oldest;
  }

  get(ordinal: number): AnySessionEntry | undefined {
    return this.#pages[ordinal >> PAGE_BITS]?.entries[ordinal & (PAGE_SIZE - 1)];
  }

  /** Adds an entry as the latest, in place of an earlier one with the same ordinal. */
  add(ordinal: number, entry: AnySessionEntry, bytes: number): void {
    this.#put(ordinal, entry);
    this.#ordinals.push(ordinal);
    this.#sizes.push(bytes);
    this.bytes += bytes;
  }

  /** Replaces a cached entry. */
  replace(ordinal: number, entry: AnySessionEntry): void {
    this.#put(ordinal, entry);
  }

  /** Removes the oldest addition and returns its entry; undefined if the entry was removed before. */
  removeOldest(): { readonly ordinal: number; readonly entry: AnySessionEntry } | undefined {
    const ordinal = this.#ordinals[this.#oldest];
    if (ordinal === undefined) return undefined;
    this.bytes -= this.#sizes[this.#oldest] ?? 0;
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
