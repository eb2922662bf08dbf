import type { IdKey } from "../schema/id-key.ts";

const INITIAL_SLOTS = 64;

/** Slots looked at for a key; at half load, honest keys need a few. */
const MAX_PROBES = 64;

/**
 * Finds the ordinal of an entry by its id key.
 *
 * Numeric keys live in an open-addressed table of typed arrays: a `Map` of strings takes five times the memory and
 * most of the time of opening a large session.
 *
 * @remarks Cost: O(1) per call, 8 bytes per slot, at most half of the slots used.
 */
export class IdIndex {
  #ordinals = new Int32Array(INITIAL_SLOTS).fill(-1);
  #keys = new Uint32Array(INITIAL_SLOTS);
  #used = 0;
  readonly #byText = new Map<string, number>();
  /** Keys for which the table had no free slot near by: a file may choose ids that all want the same one. */
  readonly #crowded = new Map<number, number>();

  /** Gives the ordinal of a key, or -1. */
  get(key: IdKey): number {
    if (typeof key === "string") return this.#byText.get(key) ?? -1;
    const ordinal = this.#ordinals[this.#slotOf(key)] ?? -1;
    return ordinal === -1 && this.#crowded.size > 0 ? (this.#crowded.get(key) ?? -1) : ordinal;
  }

  /** Remembers where a key stands; a key that is known is moved. */
  set(key: IdKey, ordinal: number): void {
    if (typeof key === "string") {
      this.#byText.set(key, ordinal);
      return;
    }
    let slot = this.#slotOf(key);
    if (slot === -1 || this.#crowded.has(key)) {
      this.#crowded.set(key, ordinal);
      return;
    }
    if (this.#ordinals[slot] === -1) {
      if (++this.#used * 2 > this.#ordinals.length) {
        this.#grow();
        slot = this.#slotOf(key);
        if (slot === -1) {
          this.#crowded.set(key, ordinal);
          return;
        }
      }
      this.#keys[slot] = key;
    }
    this.#ordinals[slot] = ordinal;
  }

  /** The slot that holds the key, or the free one where it belongs; -1 if neither is near. */
  #slotOf(key: number): number {
    const mask = this.#ordinals.length - 1;
    let hash = Math.imul(key ^ (key >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    let slot = (hash ^ (hash >>> 16)) & mask;
    for (let probes = 0; probes < MAX_PROBES; probes++) {
      if (this.#ordinals[slot] === -1 || this.#keys[slot] === key) return slot;
      slot = (slot + 1) & mask;
    }
    return -1;
  }

  #grow(): void {
    const ordinals = this.#ordinals;
    const keys = this.#keys;
    this.#ordinals = new Int32Array(ordinals.length * 2).fill(-1);
    this.#keys = new Uint32Array(ordinals.length * 2);
    for (let i = 0; i < ordinals.length; i++) {
      const ordinal = ordinals[i] ?? -1;
      if (ordinal === -1) continue;
      const key = keys[i] ?? 0;
      const slot = this.#slotOf(key);
      if (slot === -1) this.#crowded.set(key, ordinal);
      else {
        this.#keys[slot] = key;
        this.#ordinals[slot] = ordinal;
      }
    }
  }
}
