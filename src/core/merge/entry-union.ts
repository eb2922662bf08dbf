import type { LineSource } from "../jsonl/line-source.ts";
import { NONE } from "../tree/entry-tree.ts";
import type { MergeSide } from "./merge-source.ts";

/** Occurrence of an entry: a copy of the session, and the entry's ordinal in it. */
export interface Member {
  readonly side: MergeSide;
  readonly source: LineSource;
  readonly ordinal: number;
}

/**
 * Entries of two copies as a single set that contains equal entries only once.
 *
 * Entries are numbered. Entries of the first copy are numbered by their ordinals, and those of the second copy follow. Equal
 * entries share the lowest number.
 *
 * @remarks Cost: 8 bytes per entry.
 */
export class EntryUnion {
  /** Total number of entries of both copies, counting shared ones twice. */
  readonly size: number;
  readonly a: LineSource;
  readonly b: LineSource;
  readonly #sizeA: number;
  /** Lowest number of each entry. */
  readonly #first: Int32Array;
  /** Next number with the same entry. */
  readonly #next: Int32Array;
  /** Entries whose lines differ between the copies. */
  readonly #variants = new Set<number>();
  /** Numbers of damaged occurrences, which are incomplete. */
  readonly #damaged = new Set<number>();
  /** Ids of entries that did not keep their own id. */
  readonly #names = new Map<number, string>();

  constructor(a: LineSource, b: LineSource) {
    this.a = a;
    this.b = b;
    this.#sizeA = a.index.tree.size;
    this.size = this.#sizeA + b.index.tree.size;
    this.#first = Int32Array.from({ length: this.size }, (_, i) => i);
    this.#next = new Int32Array(this.size).fill(NONE);
  }

  /** Returns the number of the entry at an ordinal of a copy; NONE for NONE. */
  at(side: MergeSide, ordinal: number): number {
    if (ordinal === NONE) return NONE;
    return this.#first[side === "a" ? ordinal : this.#sizeA + ordinal] ?? NONE;
  }

  /** Returns the number of the entry with an id in a copy, or NONE. */
  find(side: MergeSide, id: string): number {
    return this.at(side, this[side].index.tree.find(id));
  }

  /** Marks two entries as equal. `isVariant` means that their lines differ. */
  unite(one: number, other: number, isVariant: boolean): void {
    const [first, second] = [this.#first[one] ?? one, this.#first[other] ?? other].sort((x, y) => x - y);
    if (first === undefined || second === undefined) return;
    if (isVariant) this.#variants.add(first);
    if (first === second) return;
    if (this.#variants.has(second)) this.#variants.add(first);
    let last = second;
    for (let at = second; at !== NONE; at = this.#next[at] ?? NONE) {
      this.#first[at] = first;
      last = at;
    }
    this.#next[last] = this.#next[first] ?? NONE;
    this.#next[first] = second;
  }

  /** Yields all entries once, those of the first copy first. */
  *entries(): Generator<number, void> {
    for (let at = 0; at < this.size; at++) if (this.#first[at] === at) yield at;
  }

  /** Returns all occurrences of an entry. */
  members(entry: number): Member[] {
    const members: Member[] = [];
    for (let at = entry; at !== NONE; at = this.#next[at] ?? NONE) members.push(this.memberAt(at));
    return members;
  }

  /** Returns the first occurrence of an entry. */
  memberAt(entry: number): Member {
    return entry < this.#sizeA
      ? { side: "a", source: this.a, ordinal: entry }
      : { side: "b", source: this.b, ordinal: entry - this.#sizeA };
  }

  /** Marks an occurrence as damaged. Other occurrences may be intact. */
  markDamaged({ side, ordinal }: Member): void {
    this.#damaged.add(side === "a" ? ordinal : this.#sizeA + ordinal);
  }

  /** Returns an entry's time in Unix milliseconds. */
  getTime(entry: number): number {
    let at = entry;
    while (this.#damaged.has(at) && (this.#next[at] ?? NONE) !== NONE) at = this.#next[at] ?? NONE;
    const { source, ordinal } = this.memberAt(this.#damaged.has(at) ? entry : at);
    return source.index.tree.timeAt(ordinal);
  }

  /** Returns whether an entry occurs only once. */
  isSingle(entry: number): boolean {
    return this.#next[entry] === NONE;
  }

  /** Returns whether the lines of an entry differ. */
  isVariant(entry: number): boolean {
    return this.#variants.has(entry);
  }

  /** Assigns an id to an entry. */
  name(entry: number, id: string): void {
    this.#names.set(entry, id);
  }

  /** Returns the final id of an entry. */
  getId(entry: number): string {
    const name = this.#names.get(entry);
    if (name !== undefined) return name;
    const { source, ordinal } = this.memberAt(entry);
    return source.index.tree.idAt(ordinal);
  }

  /** Whether any entry was given a new id. */
  get hasNames(): boolean {
    return this.#names.size > 0;
  }
}
