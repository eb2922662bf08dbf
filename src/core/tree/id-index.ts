import type { IdKey } from "../format/id-key.ts";

const INITIAL_SLOTS = 64;

/** Maximum number of slots that `clear` keeps. */
const MAX_KEPT_SLOTS = 64 * 1024;

const MAX_USED = 0.5;

/** Maximum number of slots to probe for a key. At half load, random keys require only a few probes. */
const MAX_PROBES = 64;

/**
 * Index of entry ordinals by id key.
 *
 * Numeric keys are stored in an open-addressed table of typed arrays. A `Map` of strings would take five times as much memory and
 * most of the time needed to open a large session.
 *
 * A slot consists of two adjacent numbers. Separate arrays would cost one cache miss each.
 *
 * @remarks Cost: O(1) per call, 8 bytes per slot, at most half of the slots used.
 */
export class IdIndex {
  /** For each slot, the key followed by the ordinal + 1, or 0 if the slot is free. */
  #slots = new Int32Array(INITIAL_SLOTS * 2);
  #used = 0;
  readonly #byText = new Map<string, number>();
  /** Keys without a free slot nearby. A malicious file may contain ids with equal hashes. */
  readonly #crowded = new Map<number, number>();

  /** Removes all keys, but keeps the memory up to a limit. */
  clear(): void {
    if (this.#slots.length > MAX_KEPT_SLOTS * 2) this.#slots = new Int32Array(INITIAL_SLOTS * 2);
    else this.#slots.fill(0);
    this.#used = 0;
    this.#byText.clear();
    this.#crowded.clear();
  }

  /** Reserves memory for a number of keys. */
  reserve(keys: number): void {
    let slots = this.#slots.length / 2;
    while (slots * MAX_USED < keys) slots *= 2;
    if (slots * 2 > this.#slots.length) this.#resize(slots);
  }

  /** Returns the ordinal of a key, or -1. */
  get(key: IdKey): number {
    if (typeof key === "string") return this.#byText.get(key) ?? -1;
    const at = this.#findSlot(key);
    const ordinal = at === -1 ? -1 : (this.#slots[at + 1] ?? 0) - 1;
    return ordinal === -1 && this.#crowded.size > 0 ? (this.#crowded.get(key) ?? -1) : ordinal;
  }

  /** Adds a key unless it exists. Returns the existing ordinal, or -1 if the key was added. */
  add(key: IdKey, ordinal: number): number {
    if (typeof key === "string" || this.#crowded.size > 0) {
      const known = this.get(key);
      if (known === -1) this.set(key, ordinal);
      return known;
    }
    const at = this.#findSlot(key);
    const known = at === -1 ? 0 : (this.#slots[at + 1] ?? 0);
    if (known !== 0) return known - 1;
    this.#fill(at, key, ordinal);
    return -1;
  }

  /** Sets the ordinal of a new or existing key. */
  set(key: IdKey, ordinal: number): void {
    if (typeof key === "string") {
      this.#byText.set(key, ordinal);
      return;
    }
    const at = this.#findSlot(key);
    if (at !== -1 && this.#slots[at + 1] === 0) this.#fill(at, key, ordinal);
    else this.#put(at, key, ordinal);
  }

  /** Writes a key to its free slot, or to the map if there is none. */
  #fill(at: number, key: number, ordinal: number): void {
    if (at === -1 || ++this.#used <= (this.#slots.length / 2) * MAX_USED) this.#put(at, key, ordinal);
    else {
      this.#resize(this.#slots.length);
      this.#put(this.#findSlot(key), key, ordinal);
    }
  }

  #put(at: number, key: number, ordinal: number): void {
    if (at === -1 || (this.#crowded.size > 0 && this.#crowded.has(key))) {
      this.#crowded.set(key, ordinal);
      return;
    }
    this.#slots[at] = key;
    this.#slots[at + 1] = ordinal + 1;
  }

  /** Returns the slot of a key or a free slot for it, or -1 if neither is among the probed slots. */
  #findSlot(key: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let hash = Math.imul(key ^ (key >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    let at = ((hash ^ (hash >>> 16)) << 1) & mask;
    for (let probes = 0; probes < MAX_PROBES; probes++) {
      if (slots[at + 1] === 0 || slots[at] === key) return at;
      at = (at + 2) & mask;
    }
    return -1;
  }

  #resize(count: number): void {
    const slots = this.#slots;
    this.#slots = new Int32Array(count * 2);
    for (let i = 0; i < slots.length; i += 2) {
      const ordinal = (slots[i + 1] ?? 0) - 1;
      const key = slots[i] ?? 0;
      if (ordinal !== -1) this.#put(this.#findSlot(key), key, ordinal);
    }
  }
}
