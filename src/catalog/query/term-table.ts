import { readWords } from "./words.ts";

/** Facts of an entry in a table. */
export interface TableEntry {
  /** Byte offset of the entry's line. */
  readonly offset: number;
  /** Time in Unix milliseconds; NaN if the entry has no time. */
  readonly timeMs: number;
  /** Index of the entry's role in the caller's numbering; -1 for no role. */
  readonly role: number;
  /** Number of words in the entry. */
  readonly words: number;
}

/** Weight of a word that occurs once in a message's own text. */
export const WEIGHT_UNIT = 10;

/** Maximum weight of a word in an entry. */
const MAX_WEIGHT = 255;

/** Number of bytes before the entries, for the number of entries and the number of hash bits that select a bucket. */
const FRONT_BYTES = 5;

/** Number of bytes per entry, for its offset, time, number of words, and role plus one. */
const ENTRY_BYTES = 8 + 8 + 4 + 1;

/** Number of bytes of a hash that are stored in its bucket. The remaining bits select the bucket. */
const HASH_BYTES = 3;
const MIN_BUCKET_BITS = 32 - 8 * HASH_BYTES;
const MAX_BUCKET_BITS = 20;

/** Maximum average number of words per bucket. */
const BUCKET_WORDS = 16;

/**
 * Index of the words in a session's entries. Maps each word to the entries that contain it, with its weight in each entry.
 *
 * Words are stored as hashes, which can collide, so results must be verified.
 */
export class TermTable {
  /** Serialized form of the table. */
  readonly bytes: Uint8Array;
  /** Number of entries. */
  readonly size: number;
  readonly #view: DataView;
  readonly #bucketBits: number;
  readonly #bucketsAt: number;

  /** @throws {RangeError} If the bytes are not a table. */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.size = this.#view.getUint32(0);
    this.#bucketBits = this.#view.getUint8(4);
    this.#bucketsAt = FRONT_BYTES + this.size * ENTRY_BYTES;
    // The last bucket ends where the bytes end.
    if (this.#getBucketEnd(2 ** this.#bucketBits - 1) !== bytes.length) throw new RangeError("not a table");
  }

  /**
   * @throws {RangeError} If the table has no such entry.
   */
  getEntry(at: number): TableEntry {
    const start = FRONT_BYTES + at * ENTRY_BYTES;
    const view = this.#view;
    return {
      offset: view.getFloat64(start),
      timeMs: view.getFloat64(start + 8),
      words: view.getUint32(start + 16),
      role: view.getUint8(start + 20) - 1,
    };
  }

  /**
   * Calls a function for each entry that contains a word, in order.
   *
   * @remarks Cost: O(entries that contain the word).
   */
  findWord(hash: number, take: (entry: number, weight: number) => void): void {
    const bucket = getBucket(hash, this.#bucketBits);
    const bytes = this.bytes;
    // Damaged bytes must neither hang a search nor yield entries that do not exist.
    const end = Math.min(bytes.length, this.#getBucketEnd(bucket));
    let at = bucket === 0 ? this.#bucketsAt + 4 * 2 ** this.#bucketBits : this.#getBucketEnd(bucket - 1);
    while (at < end) {
      const isWord = this.#isHash(at, hash);
      at += HASH_BYTES;
      let [length, shift] = [0, 0];
      for (let more = true; more; shift += 7) {
        const byte = bytes[at++] ?? 0;
        length += (byte & 0x7f) * 2 ** shift;
        more = byte >= 0x80;
      }
      if (isWord) {
        this.#readPostings(at, Math.min(end, at + length), take);
        return;
      }
      at += length;
    }
  }

  #getBucketEnd(bucket: number): number {
    return this.#view.getUint32(this.#bucketsAt + 4 * bucket);
  }

  #isHash(at: number, hash: number): boolean {
    const { bytes } = this;
    return (
      bytes[at] === (hash & 0xff) &&
      bytes[at + 1] === ((hash >> 8) & 0xff) &&
      bytes[at + 2] === ((hash >> 16) & 0xff)
    );
  }

  #readPostings(from: number, end: number, take: (entry: number, weight: number) => void): void {
    const { bytes } = this;
    let entry = 0;
    for (let at = from; at < end; ) {
      let [more, shift] = [true, 0];
      for (; more; shift += 7) {
        const byte = bytes[at++] ?? 0;
        entry += (byte & 0x7f) << shift;
        more = byte >= 0x80;
      }
      const weight = bytes[at++] ?? 0;
      if (entry >= 0 && entry < this.size) take(entry, weight);
    }
  }
}

/** Parses a serialized table; undefined if the bytes are not a table. */
export function parseTermTable(bytes: Uint8Array): TermTable | undefined {
  try {
    return new TermTable(bytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function getBucket(hash: number, bits: number): number {
  return hash >>> (32 - bits);
}

const MIN_SLOTS = 1 << 14;

/** Builds tables, and reuses its memory for each new table. */
export class TermTableBuilder {
  /** For each slot: a hash (0 for an empty slot), and the number of the word with this hash. */
  #slots = new Uint32Array(MIN_SLOTS);
  #numbers = new Uint32Array(MIN_SLOTS);
  /** For each word number: its hash, and its weight in the current entry. */
  #hashes = new Uint32Array(MIN_SLOTS);
  #weights = new Uint8Array(MIN_SLOTS);
  /** For each word number: the last entry that contains it, and the bytes of its postings. */
  #lastEntries = new Uint32Array(MIN_SLOTS);
  #sizes = new Uint32Array(MIN_SLOTS);
  /** Numbers of the words in the current entry. */
  #current = new Uint32Array(MIN_SLOTS);
  #found = 0;
  #words = 0;
  #wordCount = 0;
  /** For each entry: the numbers and weights of its words, and the end of its postings. */
  #postingWords = new Uint32Array(MIN_SLOTS);
  #postingWeights = new Uint8Array(MIN_SLOTS);
  #postings = 0;
  readonly #ends: number[] = [];
  readonly #entries: TableEntry[] = [];
  #weight = 0;
  readonly #take = (hash: number) => this.#addWord(hash);

  /** Adds the words in a string to the current entry. */
  addText(text: string, weight: number): void {
    this.#weight = weight;
    readWords(text, this.#take);
  }

  /** Ends the current entry. */
  endEntry(facts: Omit<TableEntry, "words">): void {
    const entry = this.#entries.length;
    const [found, start] = [this.#found, this.#postings];
    while (start + found > this.#postingWords.length) {
      this.#postingWords = copyInto(new Uint32Array(this.#postingWords.length * 2), this.#postingWords);
      this.#postingWeights = copyInto(new Uint8Array(this.#postingWords.length), this.#postingWeights);
    }
    const [current, weights, sizes, lastEntries] = [
      this.#current,
      this.#weights,
      this.#sizes,
      this.#lastEntries,
    ];
    for (let i = 0; i < found; i++) {
      const number = current[i] ?? 0;
      this.#postingWords[start + i] = number;
      this.#postingWeights[start + i] = weights[number] ?? 0;
      weights[number] = 0;
      sizes[number] = (sizes[number] ?? 0) + measureVarint(entry - (lastEntries[number] ?? 0)) + 1;
      lastEntries[number] = entry;
    }
    this.#postings = start + found;
    this.#ends.push(this.#postings);
    this.#entries.push({ ...facts, words: this.#wordCount });
    [this.#found, this.#wordCount] = [0, 0];
  }

  /** Returns a table of all entries added so far, and starts the next table. */
  build(): TermTable {
    const table = new TermTable(this.#write());
    this.clear();
    return table;
  }

  /** Discards all added entries, and starts a new table. */
  clear(): void {
    this.#slots.fill(0);
    for (const numbers of [this.#weights, this.#sizes, this.#lastEntries]) numbers.fill(0, 0, this.#words);
    [this.#words, this.#found, this.#wordCount, this.#postings] = [0, 0, 0, 0];
    [this.#ends.length, this.#entries.length] = [0, 0];
  }

  #write(): Uint8Array {
    const words = this.#words;
    const bits = Math.ceil(Math.log2(Math.max(1, words / BUCKET_WORDS)));
    const bucketBits = Math.min(MAX_BUCKET_BITS, Math.max(MIN_BUCKET_BITS, bits));
    const bucketsAt = FRONT_BYTES + this.#entries.length * ENTRY_BYTES;
    const wordsAt = bucketsAt + 4 * 2 ** bucketBits;
    let length = wordsAt + words * HASH_BYTES;
    for (let number = 0; number < words; number++) {
      const size = this.#sizes[number] ?? 0;
      length += size + measureVarint(size);
    }
    const bytes = new Uint8Array(length);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, this.#entries.length);
    view.setUint8(4, bucketBits);
    for (const [i, entry] of this.#entries.entries()) writeEntry(view, FRONT_BYTES + i * ENTRY_BYTES, entry);
    this.#writePostings(bytes, this.#writeWords(bytes, bucketsAt, bucketBits));
    return bytes;
  }

  /** Writes the buckets and their words, and returns the start of each word's postings. */
  #writeWords(bytes: Uint8Array, bucketsAt: number, bucketBits: number): Uint32Array {
    const view = new DataView(bytes.buffer);
    const starts = new Uint32Array(this.#words);
    let [at, bucket] = [bucketsAt + 4 * 2 ** bucketBits, 0];
    for (const number of this.#groupWords(bucketBits)) {
      const [hash, size] = [this.#hashes[number] ?? 0, this.#sizes[number] ?? 0];
      for (; bucket < getBucket(hash, bucketBits); bucket++) view.setUint32(bucketsAt + 4 * bucket, at);
      for (let shift = 0; shift < 8 * HASH_BYTES; shift += 8) bytes[at++] = hash >>> shift;
      at = writeVarint(bytes, at, size);
      starts[number] = at;
      at += size;
    }
    for (; bucket < 2 ** bucketBits; bucket++) view.setUint32(bucketsAt + 4 * bucket, at);
    return starts;
  }

  /** Writes each word's postings: the entries that contain it, and its weight in each entry. */
  #writePostings(bytes: Uint8Array, next: Uint32Array): void {
    const lastEntries = this.#lastEntries.fill(0, 0, this.#words);
    for (let [i, entry] = [0, 0]; entry < this.#ends.length; entry++) {
      for (const end = this.#ends[entry] ?? 0; i < end; i++) {
        const number = this.#postingWords[i] ?? 0;
        const at = writeVarint(bytes, next[number] ?? 0, entry - (lastEntries[number] ?? 0));
        bytes[at] = this.#postingWeights[i] ?? 0;
        next[number] = at + 1;
        lastEntries[number] = entry;
      }
    }
  }

  /** Returns the numbers of all words, grouped by bucket. */
  #groupWords(bucketBits: number): Uint32Array {
    const next = new Uint32Array(2 ** bucketBits + 1);
    for (let number = 0; number < this.#words; number++) {
      const bucket = getBucket(this.#hashes[number] ?? 0, bucketBits) + 1;
      next[bucket] = (next[bucket] ?? 0) + 1;
    }
    for (let bucket = 1; bucket < next.length; bucket++)
      next[bucket] = (next[bucket] ?? 0) + (next[bucket - 1] ?? 0);
    const order = new Uint32Array(this.#words);
    for (let number = 0; number < this.#words; number++) {
      const bucket = getBucket(this.#hashes[number] ?? 0, bucketBits);
      const at = next[bucket] ?? 0;
      order[at] = number;
      next[bucket] = at + 1;
    }
    return order;
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
    this.#weights = copyInto(new Uint8Array(size), this.#weights);
    this.#lastEntries = copyInto(new Uint32Array(size), this.#lastEntries);
    this.#sizes = copyInto(new Uint32Array(size), this.#sizes);
    this.#current = copyInto(new Uint32Array(size), this.#current);
  }
}

function copyInto<T extends Uint32Array | Uint8Array>(to: T, from: T): T {
  to.set(from);
  return to;
}

function writeEntry(view: DataView, at: number, { offset, timeMs, words, role }: TableEntry): void {
  view.setFloat64(at, offset);
  view.setFloat64(at + 8, timeMs);
  view.setUint32(at + 16, words);
  view.setUint8(at + 20, role + 1);
}

/** Returns the size of a number in bytes when written with seven bits per byte. */
function measureVarint(number: number): number {
  let length = 1;
  for (let rest = number >>> 7; rest > 0; rest >>>= 7) length++;
  return length;
}

/** Writes a number with seven bits per byte, and returns the index after it. */
function writeVarint(bytes: Uint8Array, start: number, number: number): number {
  let [at, rest] = [start, number];
  for (; rest >= 0x80; rest >>>= 7) bytes[at++] = (rest & 0x7f) | 0x80;
  bytes[at++] = rest;
  return at;
}
