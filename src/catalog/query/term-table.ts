import { readWords } from "./words.ts";

/** Facts of an entry in a table. */
export interface TableEntry {
  /** Byte offset of its line. */
  readonly offset: number;
  /** Unix milliseconds; NaN if it has no time. */
  readonly timeMs: number;
  /** Number of its role, as the caller counts roles. */
  readonly role: number;
}

/** Weight of a word that occurs once in what was said; a weight in an entry is at most `MAX_WEIGHT`. */
export const WEIGHT_UNIT = 10;
const MAX_WEIGHT = 255;
const WEIGHT_BITS = 8;

/** Numbers of an entry: offset, time, role, and number of its words. */
const FACTS = 4;

/** Two counts are at the start of the bytes. */
const FRONT_BYTES = 8;

/**
 * The words of a session's entries: which entries hold each word, and with what weight.
 *
 * Words are hashes, of which two can be equal by chance: what a table finds must be verified.
 */
export class TermTable {
  /** What `TermTable.decode` reads. */
  readonly bytes: Uint8Array;
  /** Number of entries. */
  readonly size: number;
  readonly #facts: Float64Array;
  readonly #hashes: Uint32Array;
  readonly #ends: Uint32Array;
  readonly #postings: Uint32Array;

  private constructor(bytes: Uint8Array<ArrayBuffer>, size: number, words: number) {
    this.bytes = bytes;
    this.size = size;
    const { buffer } = bytes;
    this.#facts = new Float64Array(buffer, FRONT_BYTES, size * FACTS);
    const hashes = FRONT_BYTES + this.#facts.byteLength;
    this.#hashes = new Uint32Array(buffer, hashes, words);
    this.#ends = new Uint32Array(buffer, hashes + 4 * words, words);
    this.#postings = new Uint32Array(buffer, hashes + 8 * words);
  }

  /** Reads a table from its bytes; undefined if they are none. */
  static decode(kept: Uint8Array): TermTable | undefined {
    if (kept.length < FRONT_BYTES || kept.length % 4 !== 0) return undefined;
    // A copy, because numbers are aligned.
    const bytes = new Uint8Array(kept);
    const [size = 0, words = 0] = new Uint32Array(bytes.buffer, 0, 2);
    const least = FRONT_BYTES + size * FACTS * 8 + words * 8;
    return least > bytes.length ? undefined : new TermTable(bytes, size, words);
  }

  /** Makes a table of what a builder has collected. */
  static of(facts: Float64Array, words: { hashes: Uint32Array; ends: Uint32Array; postings: Uint32Array }) {
    const { hashes, ends, postings } = words;
    const start = FRONT_BYTES + facts.byteLength;
    const bytes = new Uint8Array(start + 4 * (2 * hashes.length + postings.length));
    const size = facts.length / FACTS;
    new Uint32Array(bytes.buffer, 0, 2).set([size, hashes.length]);
    const table = new TermTable(bytes, size, hashes.length);
    table.#facts.set(facts);
    table.#hashes.set(hashes);
    table.#ends.set(ends);
    table.#postings.set(postings);
    return table;
  }

  getEntry(at: number): TableEntry {
    const [offset = 0, timeMs = Number.NaN, role = -1] = this.#facts.subarray(at * FACTS, at * FACTS + 3);
    return { offset, timeMs, role };
  }

  /** Returns the number of words in an entry. */
  countWords(at: number): number {
    return this.#facts[at * FACTS + 3] ?? 0;
  }

  /**
   * Calls a function with each entry that holds a word, in order.
   *
   * @remarks Cost: O(log words + entries).
   */
  findWord(hash: number, take: (entry: number, weight: number) => void): void {
    let [low, high] = [0, this.#hashes.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#hashes[middle] ?? 0) < hash) low = middle + 1;
      else high = middle;
    }
    if (this.#hashes[low] !== hash) return;
    const end = this.#ends[low] ?? 0;
    for (let at = low === 0 ? 0 : (this.#ends[low - 1] ?? 0); at < end; at++) {
      const posting = this.#postings[at] ?? 0;
      take(posting >>> WEIGHT_BITS, posting & MAX_WEIGHT);
    }
  }
}

const MIN_SLOTS = 1 << 12;

/** Builds tables, one after another. */
export class TermTableBuilder {
  /** A hash in each slot, 0 for none, and the number of its word. */
  #slots = new Uint32Array(MIN_SLOTS);
  #numbers = new Uint32Array(MIN_SLOTS);
  /** By number of a word: its hash, how many entries hold it, and its weight in the current entry. */
  #hashes = new Uint32Array(MIN_SLOTS);
  #counts = new Uint32Array(MIN_SLOTS);
  #weights = new Uint16Array(MIN_SLOTS);
  /** Numbers of the words of the current entry. */
  #current = new Uint32Array(MIN_SLOTS);
  #found = 0;
  #words = 0;
  /** Numbers of words and postings, in the order of the entries. */
  #postingWords: number[] = [];
  #postings: number[] = [];
  #facts: number[] = [];
  #wordCount = 0;
  #weight = 0;
  readonly #take = (hash: number) => this.#addWord(hash);

  /** Adds a text of the current entry. */
  addText(text: string, weight: number): void {
    this.#weight = weight;
    readWords(text, this.#take);
  }

  /** Ends the current entry. */
  endEntry({ offset, timeMs, role }: TableEntry): void {
    const entry = this.#facts.length / FACTS;
    for (let i = 0; i < this.#found; i++) {
      const number = this.#current[i] ?? 0;
      this.#postingWords.push(number);
      this.#postings.push(((entry << WEIGHT_BITS) | Math.min(MAX_WEIGHT, this.#weights[number] ?? 0)) >>> 0);
      this.#weights[number] = 0;
      this.#counts[number] = (this.#counts[number] ?? 0) + 1;
    }
    this.#facts.push(offset, timeMs, role, this.#wordCount);
    [this.#found, this.#wordCount] = [0, 0];
  }

  /** Returns the table of the entries so far, and begins the next one. */
  build(): TermTable {
    const words = this.#words;
    const order = this.#sortWords();
    const hashes = new Uint32Array(words);
    const ends = new Uint32Array(words);
    const next = new Uint32Array(words);
    let end = 0;
    for (const [at, number] of order.entries()) {
      next[number] = end;
      end += this.#counts[number] ?? 0;
      hashes[at] = this.#hashes[number] ?? 0;
      ends[at] = end;
    }
    const postings = new Uint32Array(end);
    for (const [i, number] of this.#postingWords.entries()) {
      const at = next[number] ?? 0;
      postings[at] = this.#postings[i] ?? 0;
      next[number] = at + 1;
    }
    const table = TermTable.of(Float64Array.from(this.#facts), { hashes, ends, postings });
    this.#reset();
    return table;
  }

  /** Returns the numbers of words in the order of their hashes. */
  #sortWords(): number[] {
    const words = this.#words;
    const sorted = new Float64Array(words);
    for (let number = 0; number < words; number++)
      sorted[number] = (this.#hashes[number] ?? 0) * 2 ** 20 + number;
    return Array.from(sorted.sort(), (both) => both % 2 ** 20);
  }

  #reset(): void {
    this.#slots.fill(0);
    this.#counts.fill(0, 0, this.#words);
    this.#words = 0;
    [this.#postingWords, this.#postings, this.#facts] = [[], [], []];
  }

  #addWord(hash: number): void {
    this.#wordCount++;
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (let own = this.#slots[slot]; own !== hash; own = this.#slots[slot]) {
      if (own === 0) {
        this.#addNew(hash, slot);
        return;
      }
      slot = (slot + 1) & mask;
    }
    const number = this.#numbers[slot] ?? 0;
    const weight = this.#weights[number] ?? 0;
    if (weight === 0) this.#current[this.#found++] = number;
    this.#weights[number] = Math.min(MAX_WEIGHT, weight + this.#weight);
  }

  #addNew(hash: number, slot: number): void {
    const number = this.#words++;
    this.#slots[slot] = hash;
    this.#numbers[slot] = number;
    this.#hashes[number] = hash;
    this.#weights[number] = this.#weight;
    this.#current[this.#found++] = number;
    if (this.#words * 2 > this.#slots.length) this.#grow();
  }

  #grow(): void {
    const size = this.#slots.length * 2;
    const mask = size - 1;
    const [slots, numbers] = [new Uint32Array(size), new Uint32Array(size)];
    for (let number = 0; number < this.#words; number++) {
      const hash = this.#hashes[number] ?? 0;
      let slot = hash & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = hash;
      numbers[slot] = number;
    }
    [this.#slots, this.#numbers] = [slots, numbers];
    this.#hashes = copyInto(new Uint32Array(size), this.#hashes);
    this.#counts = copyInto(new Uint32Array(size), this.#counts);
    this.#weights = copyInto(new Uint16Array(size), this.#weights);
    this.#current = copyInto(new Uint32Array(size), this.#current);
  }
}

function copyInto<T extends Uint32Array | Uint16Array>(to: T, from: T): T {
  to.set(from);
  return to;
}
