import { isSessionError } from "../errors.ts";
import { encodeRecord } from "../jsonl/encode.ts";
import { type BodyContext, DAMAGED_TYPE, damagedEntry, decodeEntry } from "../jsonl/entry-body.ts";
import { makeIssue } from "../reading/issue-log.ts";
import type { SessionIndex } from "../reading/session-index.ts";
import type { AnySessionEntry } from "../schema/entry.ts";
import type { EntryHead } from "../schema/head.ts";
import { isJsonRecord } from "../schema/json.ts";
import type { AgentMessage } from "../schema/message.ts";
import { type EntryTree, NONE } from "../tree/entry-tree.ts";
import { bodyContextOf } from "./canonical-copy.ts";
import type { SessionLog } from "./session-log.ts";

/** Bytes of lines whose entries are kept although nobody holds them. */
const STRONG_BYTES = 16 * 1024 * 1024;

/** So many places of entries that were let go of are dropped together. */
const MAX_FORGOTTEN = 4096;

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
  /** Entries that are kept. */
  readonly #strong = new Map<number, { entry: AnySessionEntry; bytes: number }>();
  /** Their ordinals in order of arrival, from `#oldest` on: a `Map` from whose front much was deleted is slow to walk. */
  #arrivals: number[] = [];
  #oldest = 0;
  #strongBytes = 0;
  #context: (BodyContext & { readonly index: SessionIndex }) | undefined;
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
      // The log may look at its place meanwhile, and give ordinals another meaning: what was asked for stays the same.
      const { tree } = this.#log.index;
      this.#log.readLines(missing, (ordinal, bytes) => {
        const head = tree.headAt(ordinal);
        const entry = decodeEntry(bytes, head, this.#bodyContext()) ?? this.#reportDamaged(head);
        entries.set(ordinal, entry);
        this.remember(ordinal, entry, bytes.length);
      });
    }
    return wanted.flatMap((ordinal) => entries.get(ordinal) ?? []);
  }

  /** Makes an entry that was just appended the one that is given from now on. */
  remember(ordinal: number, entry: AnySessionEntry, bytes: number): void {
    const before = this.#strong.get(ordinal);
    if (before === undefined) this.#arrivals.push(ordinal);
    this.#strongBytes += bytes - (before?.bytes ?? 0);
    this.#strong.set(ordinal, { entry, bytes });
    while (this.#strongBytes > STRONG_BYTES && this.#strong.size > 1) this.#weakenOldest();
  }

  /**
   * Takes over what another cache holds for the tree before: by id, since ordinals may have changed, and only what the
   * log still says the same, since the other lines may have been redacted.
   *
   * @remarks Cost: O(bytes of what is held).
   */
  adopt(other: EntryCache, before: EntryTree): void {
    const { tree } = this.#log.index;
    const held = new Map<number, AnySessionEntry>();
    for (const [ordinal, entry] of other.#held()) {
      const there = tree.find(before.idAt(ordinal));
      if (there !== NONE) held.set(there, entry);
    }
    const ordinals = [...held.keys()].sort((a, b) => a - b);
    try {
      this.#log.readLines(ordinals, (ordinal, bytes) => {
        const entry = held.get(ordinal);
        const written = decodeEntry(bytes, tree.headAt(ordinal), this.#bodyContext());
        if (entry === undefined || written === undefined) return;
        if (encodeRecord(written) === encodeRecord(entry)) this.remember(ordinal, entry, bytes.length);
        else if (saysTheSame(written, entry)) {
          this.remember(ordinal, { ...written, message: entry.message }, bytes.length);
        }
      });
    } catch (error) {
      // What cannot be read now is not taken over; whoever asks for it will be told why.
      if (!isSessionError(error)) throw error;
    }
  }

  /** Gives the entries that have got another parent in the tree their new head; their messages stay the same objects. */
  rehang(): void {
    const { tree } = this.#log.index;
    for (const [ordinal, entry] of [...this.#held()]) {
      const { parentId } = tree.headAt(ordinal);
      if (parentId === entry.parentId) continue;
      const bytes = this.#strong.get(ordinal)?.bytes ?? 0;
      this.#weak.delete(ordinal);
      this.remember(ordinal, { ...entry, parentId }, bytes);
    }
  }

  *#held(): Generator<[number, AnySessionEntry], void> {
    for (const [ordinal, reference] of this.#weak) {
      const entry = reference.deref();
      if (entry !== undefined) yield [ordinal, entry];
    }
    for (const [ordinal, { entry }] of this.#strong) yield [ordinal, entry];
  }

  /** What bodies are decoded with, made anew only when the log was read anew. */
  #bodyContext(): BodyContext {
    const { index } = this.#log;
    if (this.#context?.index !== index) this.#context = { index, ...bodyContextOf(index) };
    return this.#context;
  }

  /** Lets go of the oldest entry; if somebody holds it, it is still found. */
  #weakenOldest(): void {
    const ordinal = this.#arrivals[this.#oldest++] ?? NONE;
    if (this.#oldest === MAX_FORGOTTEN) {
      this.#arrivals = this.#arrivals.slice(this.#oldest);
      this.#oldest = 0;
    }
    const kept = this.#strong.get(ordinal);
    if (kept === undefined) return;
    this.#strong.delete(ordinal);
    this.#strongBytes -= kept.bytes;
    this.#weak.set(ordinal, new WeakRef(kept.entry));
    const message = "message" in kept.entry ? kept.entry.message : undefined;
    if (isJsonRecord(message)) this.#entryOfMessage.set(message, kept.entry);
  }

  #known(ordinal: number): AnySessionEntry | undefined {
    return this.#strong.get(ordinal)?.entry ?? this.#weak.get(ordinal)?.deref();
  }

  #reportDamaged(head: EntryHead): AnySessionEntry {
    const { index } = this.#log;
    index.report(makeIssue("BODY_DAMAGED", index.places.at(index.tree.find(head.id)), head.id));
    return damagedEntry(head);
  }
}

function isDamaged(entry: AnySessionEntry): boolean {
  return entry.type === DAMAGED_TYPE && "originalType" in entry;
}

/** Whether two entries hold the same message in different places of a tree. */
function saysTheSame(
  written: AnySessionEntry,
  entry: AnySessionEntry,
): entry is AnySessionEntry & { message: AgentMessage } {
  if (!("message" in written && "message" in entry)) return false;
  const messages = [written.message, entry.message];
  return messages.every(isJsonRecord) && encodeRecord(messages[0] ?? {}) === encodeRecord(messages[1] ?? {});
}
