import { fromIdKey, type IdKey, toIdKey } from "../format/id-key.ts";
import { inventEntryId } from "../format/ids.ts";
import { type JsonRecord, toSafeString } from "../format/json.ts";
import { ColumnTree } from "../tree/column-tree.ts";
import { NONE } from "../tree/entry-tree.ts";
import type { LinkFinding } from "../tree/pending-parents.ts";
import { RepeatedLines } from "./duplicate-lines.ts";
import type { StatedHead } from "./entry-head.ts";
import { isStranger } from "./foreign-source.ts";
import type { IssueLog } from "./issue-log.ts";
import { type LineSpan, SpanColumns } from "./line-spans.ts";

interface NewEntry extends StatedHead {
  readonly place: LineSpan;
  /** Whether the line has no `parentId` key, so that its parent may be the previous entry. */
  readonly isUnstated: boolean;
}

/** Dependencies of an adder. */
export interface AdderContext {
  readonly issues: IssueLog;
  /** Rereads earlier bytes. */
  readonly readBytes: (offset: number, length: number) => Uint8Array;
  /** Removes an entry from the pending writes of this process. Returns false if it was not pending. */
  readonly takePending: (ordinal: number) => boolean;
}

/**
 * Adds the entries of a file to the tree. Determines their parents, and resolves missing and duplicate ids.
 *
 * @remarks Source: docs/format.md#ids-and-parents
 */
export class EntryAdder {
  readonly tree = new ColumnTree();
  readonly spans = new SpanColumns();
  /** Id of the session, from which entry ids are derived. */
  sessionId = "";
  /** Version of the file; undefined until it is known. */
  version: number | undefined;
  /** Number of the next record. The header is number 0. */
  recordNumber = 0;
  /** Whether unreadable data follows the last entry. */
  hasDamageBehindLast = false;
  /** Number of entries whose id or parent is not in the file. */
  unwritten = 0;
  /** Number of records that are treated as entries only because they have a `type` field. */
  strangers = 0;
  readonly #context: AdderContext;
  readonly #repeated: RepeatedLines;
  /** Record number of each entry. Used only for version 1. */
  readonly #recordNumbers: number[] = [];
  /** Last entry in the file. */
  #last = NONE;
  #seesParentKeys = false;
  /** Entries with an id but no `parentId` key. */
  #unstated: number[] = [];
  /** Number of entries without a `parentId` key that became children of the previous entry. */
  #chained = 0;

  constructor(context: AdderContext) {
    this.#context = context;
    this.#repeated = new RepeatedLines(this.spans, context.readBytes);
  }

  /** Version of the file, if known. As long as no ids have been found, the file is treated as a version 1 list. */
  get versionSoFar(): number | undefined {
    return this.version ?? (this.tree.size > 0 ? 1 : undefined);
  }

  /** Adds an entry whose head is at the start of its line. */
  addHead(head: StatedHead, offset: number, length: number, line: number): void {
    this.#seesParentKeys = true;
    const { type, id, parent, timestampMs } = head;
    const ordinal = this.tree.add(type, id, parent, timestampMs, this.#fallback());
    if (ordinal !== NONE) this.#place(ordinal, offset, length, line);
    else
      this.#addTaken({ type, id, parent, timestampMs, place: { offset, length, line }, isUnstated: false });
  }

  /** Adds an entry from its parsed record or from the fields of its head. Returns its id. */
  addRecord(record: JsonRecord, type: string, place: LineSpan): string {
    const stated =
      typeof record["id"] === "string" && record["id"] !== "" ? toIdKey(record["id"]) : undefined;
    if (this.version === undefined && stated !== undefined) this.#becomeTree();
    const isUnstated = !Object.hasOwn(record, "parentId");
    const isList = (this.version ?? 1) === 1;
    const isLinear = isList || (stated === undefined && isUnstated);
    if (!isUnstated) this.#seesParentKeys = true;
    const odd = isLinear ? undefined : this.#oddParent(record["parentId"]);
    const isAfterLast = isLinear || odd?.kind === "bridged";
    const entry = {
      type,
      id: stated ?? this.#inventId(),
      parent: isAfterLast ? this.#previous() : getStatedParent(record),
      timestampMs: parseTimestamp(record["timestamp"]),
      place,
      isUnstated: isUnstated && !isLinear,
    };
    if (isStranger(record, type)) this.strangers++;
    const { size } = this.tree;
    const ordinal = this.#add(entry);
    const id = this.tree.idAt(ordinal);
    if (stated === undefined && !isList) this.#context.issues.put("ID_INVENTED", place, id);
    const isNew = ordinal === size;
    if (odd !== undefined && isNew)
      this.#context.issues.putLink({ ...odd, ordinal, isOver: false }, place, id);
    return id;
  }

  /** Records that an entry of this process, which is already in the tree, is the last entry in the file. */
  placePending(ordinal: number): void {
    this.#last = ordinal;
    this.recordNumber++;
    this.hasDamageBehindLast = false;
  }

  /** Ends a batch: resolves parents that were missing or not stated. */
  resolveParents(): void {
    this.#chain();
    for (const finding of this.tree.resolveParents()) {
      this.#context.issues.putLink(finding, this.spans.at(finding.ordinal), this.tree.idAt(finding.ordinal));
    }
  }

  /** Makes entries without a `parentId` key children of the previous entry, as long as no entry has the key. */
  #chain(): void {
    const isChain = !this.#seesParentKeys;
    const first = isChain ? this.#chained : 0;
    const end = isChain ? this.#unstated.length : this.#chained;
    for (const ordinal of this.#unstated.slice(first, end)) {
      this.tree.relink(ordinal, isChain ? ordinal - 1 : NONE);
      this.unwritten += isChain ? 1 : -1;
      if (ordinal > 0) this.#reportUnstated(ordinal, !isChain);
    }
    this.#chained = isChain ? end : 0;
    if (!isChain) this.#unstated = [];
  }

  /** Reports that an entry became a child of the previous entry, or that it is no longer a child. */
  #reportUnstated(ordinal: number, isOver: boolean): void {
    const finding = { ordinal, kind: "unstated", parentId: "", isOver } as const;
    this.#context.issues.putLink(finding, this.spans.at(ordinal), this.tree.idAt(ordinal));
  }

  /** Returns the id of the first entry at or after a record number. Used for version 1. */
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
    return this.#last === NONE ? null : this.tree.keyAt(this.#last);
  }

  /** Returns the finding about a parent that is neither a string nor null. */
  #oddParent(parentId: unknown): Pick<LinkFinding, "kind" | "parentId"> | undefined {
    if (typeof parentId === "string" || parentId === null || parentId === undefined) return undefined;
    const kind = this.#fallback() === NONE ? "missing" : "bridged";
    return { kind, parentId: typeof parentId === "object" ? "that is not a string" : toSafeString(parentId) };
  }

  /** Returns the replacement for a missing parent, which is the previous entry if the parent may have been on a damaged line. */
  #fallback(): number {
    return this.hasDamageBehindLast ? this.#last : NONE;
  }

  #add(entry: NewEntry): number {
    const { type, id, parent, timestampMs, place, isUnstated } = entry;
    const ordinal = this.tree.add(type, id, parent, timestampMs, this.#fallback());
    if (ordinal === NONE) return this.#addTaken(entry);
    if (isUnstated && ordinal > 0) this.#unstated.push(ordinal);
    this.#place(ordinal, place.offset, place.length, place.line);
    return ordinal;
  }

  #place(ordinal: number, offset: number, length: number, line: number): void {
    this.spans.set(ordinal, offset, length, line);
    if ((this.version ?? 1) === 1) this.#recordNumbers.push(this.recordNumber);
    this.placePending(ordinal);
  }

  /** Treats the file as a tree because an id was found. From this point on, missing ids are issues. */
  #becomeTree(): void {
    this.version = 3;
    for (const ordinal of this.tree.ordinals()) {
      this.#context.issues.put("ID_INVENTED", this.spans.at(ordinal), this.tree.idAt(ordinal));
    }
  }

  /** Adds an entry whose id is taken: a pending write, a repeated line, or another entry with the same id. */
  #addTaken(entry: NewEntry): number {
    const { id, place } = entry;
    const first = this.tree.findKey(id);
    if (this.#context.takePending(first)) {
      this.#place(first, place.offset, place.length, place.line);
      return first;
    }
    const same = this.#repeated.find(id, first, place, this.tree.size);
    if (same !== NONE) {
      this.#context.issues.put("ENTRY_REPEATED", place, this.tree.idAt(same));
      this.recordNumber++;
      return same;
    }
    const invented = this.#inventId();
    this.#context.issues.put("ID_DUPLICATE", place, fromIdKey(invented), fromIdKey(id));
    const ordinal = this.#add({ ...entry, id: invented });
    this.tree.alias(id, ordinal);
    return ordinal;
  }

  #inventId(): IdKey {
    this.unwritten++;
    for (let attempt = 0; ; attempt++) {
      const key = toIdKey(inventEntryId(this.sessionId, this.recordNumber, attempt));
      if (this.tree.findKey(key) === NONE) return key;
    }
  }
}

function parseTimestamp(timestamp: unknown): number {
  if (typeof timestamp === "number") return timestamp;
  return typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
}

function getStatedParent({ parentId }: JsonRecord): IdKey | null {
  return typeof parentId === "string" ? toIdKey(parentId) : null;
}
