import type { IdKey } from "../schema/id-key.ts";

/** Room for the entries of most sessions. */
const INITIAL_SLOTS = 512;

/** More of them are not kept for the next file. */
const MAX_KEPT_SLOTS = 64 * 1024;

/** Slots looked at for a number; at half load, honest ones need a few. */
const MAX_PROBES = 64;

/**
 * The ids of one file: texts, and numbers of 32 bits, signed or not.
 *
 * Numbers live in an open-addressed table: with two questions and an answer for each line of a list's files, a `Set`
 * takes several times as long, and leaves more behind.
 *
 * @remarks Cost: O(1) per call, 4 bytes per slot, at most half of the slots used.
 */
export class IdSet {
  /** Keys as signed numbers; 0 where there is none. */
  #slots = new Int32Array(INITIAL_SLOTS);
  #used = 0;
  /** Texts, the number 0, and numbers for which no slot near by was free: a file may choose ids that want the same one. */
  readonly #others = new Set<IdKey>();

  /** Forgets all ids, so that the next file finds memory that is there. */
  clear(): void {
    if (this.#slots.length > MAX_KEPT_SLOTS) this.#slots = new Int32Array(INITIAL_SLOTS);
    else this.#slots.fill(0);
    this.#used = 0;
    this.#others.clear();
  }

  /** Tells whether an id was added. */
  has(key: IdKey): boolean {
    if (typeof key === "string") return this.#others.has(key);
    const number = key | 0;
    const slot = this.#slotOf(number);
    return (slot !== -1 && this.#slots[slot] === number && number !== 0) || this.#hasOther(number);
  }

  /** Adds an id; false if it was there. */
  add(key: IdKey): boolean {
    if (typeof key === "string") return this.#addOther(key);
    const number = key | 0;
    const slot = this.#slotOf(number);
    if (slot === -1 || number === 0) return this.#addOther(number);
    if (this.#slots[slot] === number || this.#hasOther(number)) return false;
    this.#slots[slot] = number;
    this.#used++;
    if (this.#used * 2 > this.#slots.length) this.#grow();
    return true;
  }

  #hasOther(key: IdKey): boolean {
    return this.#others.size > 0 && this.#others.has(key);
  }

  #addOther(key: IdKey): boolean {
    const isNew = !this.#others.has(key);
    if (isNew) this.#others.add(key);
    return isNew;
  }

  /** The slot that holds a number, or the free one where it belongs; -1 if neither is near. */
  #slotOf(number: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    const hash = Math.imul(number, 0x9e3779b1);
    let slot = (hash ^ (hash >>> 15)) & mask;
    for (let probes = 0; probes < MAX_PROBES; probes++) {
      const held = slots[slot];
      if (held === number || held === 0) return slot;
      slot = (slot + 1) & mask;
    }
    return -1;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Int32Array(before.length * 2);
    for (const number of before) {
      if (number === 0) continue;
      const slot = this.#slotOf(number);
      if (slot === -1) this.#others.add(number);
      else this.#slots[slot] = number;
    }
  }
}
