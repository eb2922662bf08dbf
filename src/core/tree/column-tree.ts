import type { EntryHead } from "../format/head.ts";
import { fromIdKey, type IdKey, toIdKey } from "../format/id-key.ts";
import { withRoom } from "./columns.ts";
import { type EntryTree, findCommonAncestor, getDepth, NONE } from "./entry-tree.ts";
import { IdIndex } from "./id-index.ts";
import { findCycleBreaks } from "./parent-links.ts";
import { LateParents, type LinkFinding } from "./pending-parents.ts";

/**
 * Tree of a large or damaged session. It is stored in columns of numbers, because one object with two strings per entry would
 * require several times the memory.
 *
 * @remarks Cost: about 54 bytes per entry with eight-character ids. Source: docs/architecture.md
 */
export class ColumnTree implements EntryTree {
  #size = 0;
  #keys = new Int32Array(0);
  readonly #textIds = new Map<number, string>();
  #parents = new Int32Array(0);
  #types = new Int32Array(0);
  #times = new Float64Array(0);
  #firstChild = new Int32Array(0);
  #lastChild = new Int32Array(0);
  #nextSibling = new Int32Array(0);
  #firstRoot = NONE;
  #lastRoot = NONE;
  readonly #typeNames: string[] = [];
  readonly #typeCodes = new Map<string, number>();
  readonly #index = new IdIndex();
  /** Ids that a later entry took over for parent lookups. See `alias`. */
  readonly #aliases = new Map<IdKey, number>();
  readonly #late = new LateParents();
  #revision = 0;
  /** Last id that was compared, and its ordinal. It is nearly always the next entry's parent. */
  #comparedId = "";
  #comparedAt = NONE;
  /** Links that change at the next `resolveParents`. */
  #moved: { ordinal: number; parent: number }[] = [];
  #over: LinkFinding[] = [];
  /** Former parents of entries whose links were removed to break cycles. */
  #cuts: ReadonlyMap<number, number> = new Map();

  /** Changes whenever an existing entry is given a different parent. */
  get revision(): number {
    return this.#revision;
  }

  /** Number of entries. */
  get size(): number {
    return this.#size;
  }

  /** Reserves memory for a number of entries, which is cheaper than growing step by step. */
  reserve(entries: number): void {
    this.#reserve(entries);
    this.#index.reserve(entries);
  }

  /**
   * Adds an entry unless its id is taken.
   *
   * @param parent - Key of the parent, looked up among existing entries; null for a root.
   * @param fallback - Ordinal of the parent to use if the stated parent never arrives; NONE makes the entry a root.
   * @returns The entry's ordinal; NONE if another entry has the id, in which case nothing is added.
   * @remarks Cost: O(1). Call `resolveParents` after a batch to resolve missing parents.
   */
  add(type: string, id: IdKey, parent: IdKey | null, timestampMs: number, fallback = NONE): number {
    const ordinal = this.#size;
    const parentOrdinal = parent === null ? NONE : this.#getParent(parent);
    if (this.#index.add(id, ordinal) !== -1) return NONE;
    if (ordinal >= this.#keys.length) this.#reserve(ordinal + 1);
    this.#size = ordinal + 1;
    if (typeof id === "number") this.#keys[ordinal] = id;
    else this.#textIds.set(ordinal, id);
    this.#types[ordinal] = this.#getCode(type);
    this.#times[ordinal] = timestampMs;
    if (this.#late.isAnyWaiting) this.#welcome(id, ordinal);
    if (parent === id && parentOrdinal === NONE) this.relink(ordinal, ordinal);
    else if (parent !== null && parentOrdinal === NONE) this.#late.wait(ordinal, parent, fallback);
    this.#hang(ordinal, parentOrdinal);
    return ordinal;
  }

  /**
   * Makes later entries with the parent `key` children of `ordinal`, although another entry has the id.
   *
   * Used for a second entry with the same id, because later entries refer to it instead of the first entry.
   */
  alias(key: IdKey, ordinal: number): void {
    this.#aliases.set(key, ordinal);
  }

  /** Moves an entry to another parent, or NONE, at the next `resolveParents`, which also breaks cycles. */
  relink(ordinal: number, parent: number): void {
    this.#moved.push({ ordinal, parent });
  }

  /**
   * Resolves parents that were not found when their entries were added. Parents that arrived later are linked. Other entries are
   * attached to their fallback, or become roots. A cycle that late parents create is broken at its first entry.
   *
   * The resulting tree does not depend on how the entries are split into batches.
   *
   * @returns Findings to report.
   * @remarks Cost: O(entries added since the last call), or O(all) if a parent arrived late.
   */
  resolveParents(): LinkFinding[] {
    const findings = this.#over;
    this.#over = [];
    for (const { finding, fallback } of this.#late.resolve()) {
      findings.push(finding);
      if (fallback !== NONE) this.relink(finding.ordinal, fallback);
    }
    if (this.#moved.length === 0) return findings;
    this.#revision++;
    const cuts = this.#cuts;
    // A broken cycle may no longer exist, so check again.
    for (const [ordinal, parent] of cuts) this.#parents[ordinal] = parent;
    for (const { ordinal, parent } of this.#moved) this.#parents[ordinal] = parent;
    this.#moved = [];
    this.#breakCycles();
    for (const cut of cuts) if (!isCut(this.#cuts, cut)) findings.push(this.#cycleAt(cut, true));
    for (const cut of this.#cuts) if (!isCut(cuts, cut)) findings.push(this.#cycleAt(cut, false));
    return findings;
  }

  /** Returns the ordinal of an id, or NONE. */
  find(id: string): number {
    // A program in JavaScript may look up null or a number.
    return typeof id === "string" ? this.#index.get(toIdKey(id)) : NONE;
  }

  /** Returns the ordinal of an id key, or NONE. */
  findKey(key: IdKey): number {
    return this.#index.get(key);
  }

  keyAt(ordinal: number): IdKey {
    const text = this.#textIds.size > 0 ? this.#textIds.get(ordinal) : undefined;
    return text ?? this.#keys[ordinal] ?? 0;
  }

  idAt(ordinal: number): string {
    return fromIdKey(this.keyAt(ordinal));
  }

  /** Returns the type of an entry. All entries of a type share the same string object. */
  typeAt(ordinal: number): string {
    return this.#typeNames[this.#types[ordinal] ?? 0] ?? "";
  }

  /** Returns whether any entry has a type. */
  hasType(type: string): boolean {
    return this.#typeCodes.has(type);
  }

  /** Returns the ordinal of an entry's parent, or NONE for a root. */
  parentAt(ordinal: number): number {
    return this.#parents[ordinal] ?? NONE;
  }

  timeAt(ordinal: number): number {
    return this.#times[ordinal] ?? Number.NaN;
  }

  /** Returns an entry's head as an object. */
  headAt(ordinal: number): EntryHead {
    const parent = this.parentAt(ordinal);
    return {
      type: this.typeAt(ordinal),
      id: this.idAt(ordinal),
      parentId: parent === NONE ? null : this.idAt(parent),
      timestampMs: this.timeAt(ordinal),
    };
  }

  /** Returns whether an entry's head has these values, without creating an object. */
  isHeadAt(ordinal: number, type: unknown, id: unknown, parentId: unknown): boolean {
    const parent = this.parentAt(ordinal);
    const isUnder = parent === NONE ? parentId === null : this.#isIdAt(parent, parentId);
    return isUnder && this.#isIdAt(ordinal, id) && type === this.typeAt(ordinal);
  }

  /**
   * Yields the children of an entry, or the roots for NONE, in file order.
   *
   * @remarks Cost: O(answer).
   */
  *children(ordinal: number): Generator<number, void> {
    let child = ordinal === NONE ? this.#firstRoot : (this.#firstChild[ordinal] ?? NONE);
    while (child !== NONE) {
      yield child;
      child = this.#nextSibling[child] ?? NONE;
    }
  }

  /** Yields the ordinals of all entries, in order. */
  *ordinals(): Generator<number, void> {
    for (let i = 0; i < this.#size; i++) yield i;
  }

  /** Returns whether an entry has no children. */
  isLeaf(ordinal: number): boolean {
    return this.#firstChild[ordinal] === NONE;
  }

  /** Yields the entries without children, in file order. */
  *leaves(): Generator<number, void> {
    for (let i = 0; i < this.#size; i++) if (this.isLeaf(i)) yield i;
  }

  /**
   * Returns the path root → entry; empty for NONE.
   *
   * @remarks Cost: O(depth), 4 bytes per entry.
   */
  path(ordinal: number): Int32Array {
    const path = new Int32Array(getDepth(this, ordinal));
    for (let at = ordinal, i = path.length - 1; i >= 0; i--, at = this.parentAt(at)) path[i] = at;
    return path;
  }

  commonAncestor(a: number, b: number): number {
    return findCommonAncestor(this, a, b);
  }

  #isIdAt(ordinal: number, id: unknown): boolean {
    if (typeof id !== "string") return false;
    if (ordinal === this.#comparedAt) return id === this.#comparedId;
    if (toIdKey(id) !== this.keyAt(ordinal)) return false;
    this.#comparedId = id;
    this.#comparedAt = ordinal;
    return true;
  }

  #getParent(key: IdKey): number {
    if (this.#aliases.size > 0) {
      const alias = this.#aliases.get(key);
      if (alias !== undefined) return alias;
    }
    // The parent of most entries is the previous entry, which does not require a table lookup.
    const last = this.#size - 1;
    return last >= 0 && this.keyAt(last) === key ? last : this.#index.get(key);
  }

  #hang(ordinal: number, parent: number): void {
    this.#parents[ordinal] = parent;
    this.#firstChild[ordinal] = NONE;
    this.#lastChild[ordinal] = NONE;
    this.#nextSibling[ordinal] = NONE;
    this.#appendChild(parent, ordinal);
  }

  #appendChild(parent: number, child: number): void {
    const last = parent === NONE ? this.#lastRoot : (this.#lastChild[parent] ?? NONE);
    if (last !== NONE) this.#nextSibling[last] = child;
    else if (parent === NONE) this.#firstRoot = child;
    else this.#firstChild[parent] = child;
    if (parent === NONE) this.#lastRoot = child;
    else this.#lastChild[parent] = child;
  }

  #welcome(key: IdKey, ordinal: number): void {
    const welcomed = this.#late.welcome(key);
    if (welcomed === undefined) return;
    for (const waiting of welcomed.ordinals) this.relink(waiting, ordinal);
    for (const finding of welcomed.over) this.#over.push(finding);
  }

  #cycleAt([ordinal, parent]: readonly [number, number], isOver: boolean): LinkFinding {
    return { ordinal, kind: "cycle", parentId: this.idAt(parent), isOver };
  }

  #breakCycles(): void {
    this.#cuts = new Map(findCycleBreaks(this.#parents, this.#size).map((one) => [one, this.parentAt(one)]));
    for (const ordinal of this.#cuts.keys()) this.#parents[ordinal] = NONE;
    this.#firstRoot = NONE;
    this.#lastRoot = NONE;
    this.#firstChild.fill(NONE);
    this.#lastChild.fill(NONE);
    this.#nextSibling.fill(NONE);
    for (let i = 0; i < this.#size; i++) this.#appendChild(this.parentAt(i), i);
  }

  #getCode(type: string): number {
    let code = this.#typeCodes.get(type);
    if (code === undefined) {
      code = this.#typeNames.push(type) - 1;
      this.#typeCodes.set(type, code);
    }
    return code;
  }

  #reserve(size: number): void {
    if (size <= this.#keys.length) return;
    this.#keys = withRoom(this.#keys, size);
    this.#parents = withRoom(this.#parents, size);
    this.#types = withRoom(this.#types, size);
    this.#times = withRoom(this.#times, size);
    this.#firstChild = withRoom(this.#firstChild, size);
    this.#lastChild = withRoom(this.#lastChild, size);
    this.#nextSibling = withRoom(this.#nextSibling, size);
  }
}

function isCut(cuts: ReadonlyMap<number, number>, [ordinal, parent]: readonly [number, number]): boolean {
  return cuts.get(ordinal) === parent;
}
