import { DAMAGED_TYPE, damagedEntry, decodeEntry } from "../jsonl/entry-body.ts";
import { makeIssue } from "../reading/issue-log.ts";
import type { AnySessionEntry } from "../schema/entry.ts";
import { isJsonRecord } from "../schema/json.ts";
import { type EntryTree, NONE } from "../tree/entry-tree.ts";
import { bodyContextOf } from "./canonical-copy.ts";
import type { SessionLog } from "./session-log.ts";

/** Bytes of lines whose entries are kept although nobody holds them. */
const STRONG_BYTES = 16 * 1024 * 1024;

/**
 * Gives entries with their bodies, parsed when they are asked for.
 *
 * Whoever asks twice gets the same object, for as long as somebody holds the entry or its message; a bounded number
 * is kept beyond that.
 *
 * @remarks Cost: O(1) for what is held, else the bytes of the line.
 */
export class EntryCache {
  readonly #log: SessionLog;
  /** Entries that were let go of, while somebody else holds them. */
  readonly #weak = new Map<number, WeakRef<AnySessionEntry>>();
  /** Entries that are kept, in order of arrival. */
  readonly #strong = new Map<number, { entry: AnySessionEntry; bytes: number }>();
  #strongBytes = 0;
  /** Keeps an entry for as long as its message: hosts find entries by `entry.message === message`. */
  readonly #entryOfMessage = new WeakMap<object, AnySessionEntry>();

  constructor(log: SessionLog) {
    this.#log = log;
  }

  /** Gives an entry; one whose body is damaged is given as an entry of the type `damaged`. */
  entryAt(ordinal: number): AnySessionEntry {
    return (
      this.#known(ordinal) ??
      this.entriesAt([ordinal])[0] ??
      damagedEntry(this.#log.index.tree.headAt(ordinal))
    );
  }

  /** Gives an entry, or undefined if its body is damaged. */
  bodyAt(ordinal: number): AnySessionEntry | undefined {
    const entry = this.entryAt(ordinal);
    return isDamaged(entry) ? undefined : entry;
  }

  /** Gives many entries, undefined in the place of each whose body is damaged. */
  bodiesAt(ordinals: Iterable<number>): (AnySessionEntry | undefined)[] {
    return this.entriesAt(ordinals).map((entry) => (isDamaged(entry) ? undefined : entry));
  }

  /** Gives many entries, reading those that are not held together. */
  entriesAt(ordinals: Iterable<number>): AnySessionEntry[] {
    const wanted = [...ordinals];
    const entries = new Map<number, AnySessionEntry>();
    const missing: number[] = [];
    for (const ordinal of wanted) {
      const entry = this.#known(ordinal);
      if (entry === undefined) missing.push(ordinal);
      else entries.set(ordinal, entry);
    }
    if (missing.length > 0) {
      const context = bodyContextOf(this.#log.index);
      this.#log.readLines(missing, (ordinal, bytes) => {
        const head = this.#log.index.tree.headAt(ordinal);
        const entry = decodeEntry(bytes, head, context) ?? this.#reportDamaged(ordinal);
        entries.set(ordinal, entry);
        this.remember(ordinal, entry, bytes.length);
      });
    }
    return wanted.flatMap((ordinal) => entries.get(ordinal) ?? []);
  }

  /** Makes an entry that was just appended the one that is given from now on. */
  remember(ordinal: number, entry: AnySessionEntry, bytes: number): void {
    this.#strongBytes += bytes - (this.#strong.get(ordinal)?.bytes ?? 0);
    this.#strong.set(ordinal, { entry, bytes });
    if (this.#strongBytes > STRONG_BYTES) this.#weaken(ordinal);
  }

  /** Forgets an entry whose line was replaced. */
  forget(ordinal: number): void {
    this.#weak.delete(ordinal);
    this.#strong.delete(ordinal);
  }

  /** Takes over what another cache holds for the tree before: by id, since ordinals may have changed. */
  adopt(other: EntryCache, before: EntryTree): void {
    const { tree } = this.#log.index;
    const held = [...other.#weak].map(([ordinal, reference]) => ({
      ordinal,
      entry: reference.deref(),
      bytes: 0,
    }));
    for (const [ordinal, { entry, bytes }] of other.#strong) held.push({ ordinal, entry, bytes });
    for (const { ordinal, entry, bytes } of held) {
      const there = tree.find(before.idAt(ordinal));
      if (entry !== undefined && there !== NONE) this.remember(there, entry, bytes);
    }
  }

  /** Lets go of the oldest entries; those that somebody holds are still found. */
  #weaken(newest: number): void {
    for (const [ordinal, { entry, bytes }] of this.#strong) {
      if (this.#strongBytes <= STRONG_BYTES || ordinal === newest) return;
      this.#strong.delete(ordinal);
      this.#strongBytes -= bytes;
      this.#weak.set(ordinal, new WeakRef(entry));
      const message = "message" in entry ? entry.message : undefined;
      if (isJsonRecord(message)) this.#entryOfMessage.set(message, entry);
    }
  }

  #known(ordinal: number): AnySessionEntry | undefined {
    return this.#strong.get(ordinal)?.entry ?? this.#weak.get(ordinal)?.deref();
  }

  #reportDamaged(ordinal: number): AnySessionEntry {
    const { tree, places } = this.#log.index;
    this.#log.index.report(makeIssue("BODY_DAMAGED", places.at(ordinal), tree.idAt(ordinal)));
    return damagedEntry(tree.headAt(ordinal));
  }
}

function isDamaged(entry: AnySessionEntry): boolean {
  return entry.type === DAMAGED_TYPE && "originalType" in entry;
}
