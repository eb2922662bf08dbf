import { inventEntryId } from "../ids.ts";
import type { EntryHeadReader } from "../jsonl/entry-head.ts";
import { type IdKey, idKeyOf, idOfKey } from "../schema/id-key.ts";
import type { JsonRecord } from "../schema/json.ts";
import { EntryTree, NONE } from "../tree/entry-tree.ts";
import type { IssueLog } from "./issue-log.ts";
import { type LinePlace, Places } from "./places.ts";

interface NewEntry {
  readonly type: string;
  readonly id: IdKey;
  readonly parent: IdKey | null;
  readonly timestampMs: number;
  readonly place: LinePlace;
}

/** What an adder asks of its surroundings. */
export interface AdderContext {
  readonly issues: IssueLog;
  /** Gives bytes that were read before. */
  readonly readBytes: (offset: number, length: number) => Uint8Array;
  /** Takes an entry that this process wrote itself off the list of those expected; false if it is not on it. */
  readonly takeOwn: (ordinal: number) => boolean;
}

/**
 * Puts the entries of a file into the tree: decides what an entry hangs on, and what it is called if the file does
 * not say or says it twice.
 *
 * @remarks Source: docs/format.md#ids-and-parents
 */
export class EntryAdder {
  readonly tree = new EntryTree();
  readonly places = new Places();
  /** Id of the session; part of every invented id. */
  sessionId = "";
  /** Version of the file; undefined until it is known. */
  version: number | undefined;
  /** Number of the next record; the header is 0. */
  recordNumber = 0;
  /** Whether a line that could not be read stands behind the last entry. */
  hasDamageBehindLast = false;
  /** How many entries have an id or a parent that the file does not write down. */
  unwritten = 0;
  readonly #context: AdderContext;
  /** The record number of each entry, for version 1 only. */
  readonly #recordNumbers: number[] = [];
  #seesParentKeys = false;
  /** Entries with an id but no `parentId` key. */
  #unstated: number[] = [];

  constructor(context: AdderContext) {
    this.#context = context;
  }

  /** Adds the entry whose head was read at the front of its line. */
  addPlain(head: EntryHeadReader, place: LinePlace): void {
    this.#seesParentKeys = true;
    const { type, id, parent, timestampMs } = head;
    if (this.tree.findKey(id) !== NONE) this.#addTaken({ type, id, parent, timestampMs, place });
    else this.#place(this.tree.add(type, id, parent, timestampMs, this.hasDamageBehindLast), place);
  }

  /** Adds an entry from its parsed record, or from a record of its head. */
  addRecord(record: JsonRecord, type: string, place: LinePlace): void {
    const stated =
      typeof record["id"] === "string" && record["id"] !== "" ? idKeyOf(record["id"]) : undefined;
    this.version ??= stated === undefined ? 1 : 3;
    const timestampMs = timeOf(record["timestamp"]);
    const isLinear = this.version === 1 || (stated === undefined && !Object.hasOwn(record, "parentId"));
    const parent = isLinear ? this.#previous() : this.#statedParent(record);
    if (stated !== undefined && this.tree.findKey(stated) !== NONE) {
      this.#addTaken({ type, id: stated, parent, timestampMs, place });
      return;
    }
    const id = stated ?? this.#inventId();
    if (stated === undefined && this.version >= 2)
      this.#context.issues.put("ID_INVENTED", place, idOfKey(id));
    const ordinal = this.tree.add(type, id, parent, timestampMs, this.hasDamageBehindLast);
    if (!isLinear && !Object.hasOwn(record, "parentId")) this.#unstated.push(ordinal);
    this.#place(ordinal, place);
  }

  /** Ends a batch: decides about parents that were not there, or that nobody wrote down. */
  settle(): void {
    if (!this.#seesParentKeys) {
      for (const ordinal of this.#unstated.filter((one) => one > 0)) {
        this.tree.relink(ordinal, ordinal - 1);
        this.unwritten++;
      }
    }
    this.#unstated = [];
    for (const { ordinal, kind, parentId } of this.tree.settle()) {
      this.#context.issues.putLink(kind, this.places.at(ordinal), this.tree.idAt(ordinal), parentId);
    }
  }

  /** Gives the id of the first entry at or after a record number; for version 1. */
  entryIdFrom(recordNumber: number): string | undefined {
    let [low, high] = [0, this.#recordNumbers.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#recordNumbers[middle] ?? 0) < recordNumber) low = middle + 1;
      else high = middle;
    }
    return low < this.#recordNumbers.length ? this.tree.idAt(low) : undefined;
  }

  #previous(): IdKey | null {
    const { size } = this.tree;
    return size === 0 ? null : this.tree.keyAt(size - 1);
  }

  #statedParent(record: JsonRecord): IdKey | null {
    if (!Object.hasOwn(record, "parentId")) return null;
    this.#seesParentKeys = true;
    const { parentId } = record;
    return typeof parentId === "string" ? idKeyOf(parentId) : null;
  }

  #place(ordinal: number, place: LinePlace): void {
    this.places.set(ordinal, place);
    if (this.version === 1) this.#recordNumbers.push(this.recordNumber);
    this.recordNumber++;
    this.hasDamageBehindLast = false;
  }

  /** Adds an entry whose id another one has: one of our own, the same line again, or a second bearer of the id. */
  #addTaken({ type, id, parent, timestampMs, place }: NewEntry): void {
    const first = this.tree.findKey(id);
    if (this.#context.takeOwn(first)) {
      this.#place(first, place);
      return;
    }
    if (this.#isSameLine(this.places.at(first), place)) {
      this.#context.issues.put("ENTRY_REPEATED", place, idOfKey(id));
      this.recordNumber++;
      return;
    }
    const invented = this.#inventId();
    const ordinal = this.tree.add(type, invented, parent, timestampMs, this.hasDamageBehindLast);
    this.tree.alias(id, ordinal);
    this.#context.issues.put("ID_DUPLICATE", place, idOfKey(invented), idOfKey(id));
    this.#place(ordinal, place);
  }

  #isSameLine(a: LinePlace, b: LinePlace): boolean {
    if (a.length !== b.length) return false;
    const bytes = this.#context.readBytes(a.offset, a.length);
    const others = this.#context.readBytes(b.offset, b.length);
    return bytes.length === others.length && bytes.every((byte, i) => byte === others[i]);
  }

  #inventId(): IdKey {
    this.unwritten++;
    for (let attempt = 0; ; attempt++) {
      const key = idKeyOf(inventEntryId(this.sessionId, this.recordNumber, attempt));
      if (this.tree.findKey(key) === NONE) return key;
    }
  }
}

function timeOf(timestamp: unknown): number {
  if (typeof timestamp === "number") return timestamp;
  return typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
}
