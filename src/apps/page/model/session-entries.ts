import type { ViewSource } from "../../../core/facts/tool-calls.ts";
import type { AnySessionEntry } from "../../../core/format/entry.ts";
import type { SessionIssue } from "../../../core/format/issue.ts";
import { splitRuns } from "../../../core/jsonl/byte-runs.ts";
import { decodeText, parseRecord } from "../../../core/jsonl/decode.ts";
import { decodeEntryAt, makeDamagedEntry } from "../../../core/jsonl/entry-body.ts";
import { makeIssue } from "../../../core/jsonl/issue-log.ts";
import { collectIssues } from "../../../core/jsonl/read-session.ts";
import { SessionIndex } from "../../../core/jsonl/session-index.ts";
import type { EntryTree } from "../../../core/tree/entry-tree.ts";
import { type EntryFacts, FactsReader, type LinkedSession } from "./entry-facts.ts";

const LF = 0x0a;

/** Bytes of a session, and their offset in its file. */
interface LineBlock {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/**
 * Bytes of a session that arrives in chunks, in blocks of whole lines.
 *
 * Copies only lines that span several chunks.
 */
export class LineBlocks {
  readonly #blocks: LineBlock[] = [];
  /** Parts of an incomplete line that follows all blocks. */
  #rest: Uint8Array[] = [];
  #restOffset = 0;
  #size = 0;

  /** Number of bytes. */
  get size(): number {
    return this.#size;
  }

  /** Appends the next bytes, which must not change later. */
  append(piece: Uint8Array): void {
    this.#size += piece.length;
    const first = this.#rest.length === 0 ? 0 : piece.indexOf(LF) + 1;
    const last = piece.lastIndexOf(LF) + 1;
    if (last > 0 && first > 0) this.#add(joinBytes([...this.#rest.splice(0), piece.subarray(0, first)]));
    if (last > first) this.#add(piece.subarray(first, last));
    if (last < piece.length) this.#rest.push(piece.subarray(last));
  }

  #add(bytes: Uint8Array): void {
    this.#blocks.push({ offset: this.#restOffset, bytes });
    this.#restOffset += bytes.length;
  }

  /** Yields the bytes of a range, block by block. */
  *between(start: number, end: number): Generator<LineBlock, void> {
    if (this.#rest.length > 1) this.#rest = [joinBytes(this.#rest)];
    const [rest = new Uint8Array(0)] = this.#rest;
    let from = start;
    for (let at = this.#indexAt(start); from < Math.min(end, this.#size); at++) {
      const block = this.#blocks[at] ?? { offset: this.#restOffset, bytes: rest };
      const bytes = block.bytes.subarray(from - block.offset, end - block.offset);
      yield { offset: from, bytes };
      from += bytes.length;
    }
  }

  /** Returns bytes of one line. */
  read(offset: number, length: number): Uint8Array {
    const [{ bytes } = { bytes: new Uint8Array(0) }] = this.between(offset, offset + length);
    return bytes;
  }

  /** Returns the index of the block that contains an offset; the number of blocks if the offset is after all of them. */
  #indexAt(offset: number): number {
    let [low, high] = [0, this.#blocks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const block = this.#blocks[middle];
      if (block !== undefined && block.offset + block.bytes.length <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Maximum total size of the lines whose entries stay parsed, in bytes. */
const KEPT_BYTES = 8 * 1024 * 1024;

/** Maximum number of entries, and bytes of their lines, that are read at once. */
const RUN = 1024;
const RUN_BYTES = 256 * 1024;

/** Bytes used to estimate the number of entries of a session. */
const SAMPLE_BYTES = 1024 * 1024;

/** Yields the numbers of a range. */
function* countFrom(start: number, end: number): Generator<number, void> {
  for (let at = start; at < end; at++) yield at;
}

/** Receives an entry, or undefined for a damaged body. */
type TakeEntry = (ordinal: number, entry: AnySessionEntry | undefined) => void;

/**
 * Entries of a session that is read in chunks and may grow.
 *
 * Keeps only the bytes, the data of the heads, and a few facts about each entry, because parsed entries would take several times
 * the memory. Parses a body on access.
 */
export class SessionEntries implements ViewSource {
  /** All bytes so far. */
  readonly bytes = new LineBlocks();
  readonly index = new SessionIndex({ readBytes: (offset, length) => this.bytes.read(offset, length) });
  readonly #known: ReadonlyMap<string, LinkedSession>;
  readonly #reader: FactsReader;
  readonly #facts: EntryFacts[] = [];
  /** Estimated tokens that each entry contributes to a context, if its facts are known. */
  readonly #tokens: number[] = [];
  /** Facts of entries that are shown before the facts of all entries are known. */
  #earlyFacts: ReadonlyMap<number, EntryFacts> = new Map();
  /** Recently accessed entries (latest last), the size of their lines in bytes, and the tree revision that they match. */
  readonly #parsed = new Map<number, AnySessionEntry>();
  #parsedBytes = 0;
  #revision = 0;
  /** Number of bytes to reserve memory for. */
  #expected: number;

  /**
   * @param known - Sessions that exist, by the path or id that this session uses for them; complete before facts are read.
   * @param size - Expected number of bytes; 0 if unknown.
   */
  constructor(known: ReadonlyMap<string, LinkedSession>, size = 0) {
    this.#expected = size;
    this.#known = known;
    this.#reader = new FactsReader(known);
  }

  get tree(): EntryTree {
    return this.index.tree;
  }

  /** Issues in the bytes. */
  get issues(): SessionIssue[] {
    return collectIssues(this.index, () =>
      [...this.bytes.between(0, this.bytes.size)].map(({ bytes }) => bytes),
    );
  }

  /** Whether the facts of all entries are known. */
  get isWhole(): boolean {
    return this.#facts.length === this.tree.size;
  }

  /** Facts of each entry, by ordinal; a copy, with holes until all facts are known. */
  get facts(): readonly EntryFacts[] {
    if (this.isWhole) return this.#facts.slice();
    const facts = new Array<EntryFacts>(this.tree.size);
    this.#facts.forEach((one, ordinal) => {
      facts[ordinal] = one;
    });
    for (const [ordinal, one] of this.#earlyFacts) facts[ordinal] = one;
    return facts;
  }

  /**
   * Estimated tokens that each entry contributes to a context, by ordinal; a live view of the values that `readFacts` has read.
   */
  get tokens(): readonly number[] {
    return this.#tokens;
  }

  /**
   * Appends the next bytes, which are kept and must not change later; call `end` before reading anything.
   *
   * @remarks Cost: O(bytes). Parses no body.
   */
  append(piece: Uint8Array): void {
    this.bytes.append(piece);
    this.index.feed(piece);
    if (this.#expected < SAMPLE_BYTES || this.bytes.size < SAMPLE_BYTES) return;
    this.index.reserve(this.#expected);
    this.#expected = 0;
  }

  /** Completes what was appended. */
  end(): void {
    this.index.end();
    if (this.#revision === this.index.revision) return;
    this.#revision = this.index.revision;
    this.#parsed.clear();
    this.#parsedBytes = 0;
  }

  /**
   * Gathers the facts of entries whose facts are unknown.
   *
   * @param isDue - Returns whether to stop.
   * @returns Whether all are known.
   * @remarks Cost: O(bytes of their lines).
   */
  readFacts(isDue: () => boolean = () => false): boolean {
    const { tree, index } = this;
    const missing = countFrom(this.#facts.length, tree.size);
    for (const run of this.#splitRuns(missing)) {
      if (isDue()) return false;
      this.#readRun(run, (ordinal, entry) => {
        if (entry === undefined)
          index.report(makeIssue("BODY_DAMAGED", index.spans.at(ordinal), tree.idAt(ordinal)));
        const measured = this.#reader.measure(entry ?? makeDamagedEntry(tree.headAt(ordinal)));
        this.#facts.push(measured.facts);
        this.#tokens.push(measured.tokens);
      });
    }
    return true;
  }

  /** Gathers the facts of some entries, to be used until the facts of all entries are known. */
  readEarlyFacts(ordinals: Iterable<number>): void {
    const facts = new Map<number, EntryFacts>();
    // The model that wrote a summary is only known after all earlier entries have been read.
    const reader = new FactsReader(this.#known);
    this.readEntries(ordinals, (ordinal, entry) => {
      const known = entry ?? makeDamagedEntry(this.tree.headAt(ordinal));
      facts.set(ordinal, reader.measure(known).facts);
    });
    this.#earlyFacts = facts;
  }

  /** Adds estimated costs of calls whose records state no cost, by entry id. */
  addEstimates(estimates: ReadonlyMap<string, number>): void {
    for (const [id, estimated] of estimates) {
      const ordinal = this.tree.find(id);
      const facts = this.#facts[ordinal];
      if (facts?.used?.cost === null)
        this.#facts[ordinal] = { ...facts, used: { ...facts.used, estimated, unpriced: 0 } };
    }
  }

  /** Returns an entry, with the type `damaged` for a damaged body; undefined if the entry does not exist. */
  entryAt(ordinal: number): AnySessionEntry | undefined {
    if (ordinal < 0 || ordinal >= this.tree.size) return undefined;
    const known = this.#parsed.get(ordinal);
    if (known !== undefined) return known;
    let entry: AnySessionEntry = makeDamagedEntry(this.tree.headAt(ordinal));
    this.#readRun([ordinal], (_, read = entry) => {
      entry = read;
    });
    this.#keep(ordinal, entry);
    return entry;
  }

  #keep(ordinal: number, entry: AnySessionEntry): void {
    const { spans } = this.index;
    this.#parsed.set(ordinal, entry);
    this.#parsedBytes += spans.lengthAt(ordinal);
    for (const oldest of this.#parsed.keys()) {
      if (this.#parsedBytes <= KEPT_BYTES) return;
      this.#parsed.delete(oldest);
      this.#parsedBytes -= spans.lengthAt(oldest);
    }
  }

  readEntries(ordinals: Iterable<number>, take: TakeEntry): void {
    for (const run of this.#splitRuns(ordinals)) this.#readRun(run, take);
  }

  #splitRuns(ordinals: Iterable<number>): Generator<number[], void> {
    const { spans } = this.index;
    return splitRuns(ordinals, RUN, { max: RUN_BYTES, of: (ordinal) => spans.lengthAt(ordinal) });
  }

  #readRun(run: readonly number[], take: TakeEntry): void {
    const texts = this.#decodeTexts(run);
    run.forEach((ordinal, i) => {
      const record = parseRecord(texts[i] ?? "");
      take(ordinal, record && decodeEntryAt(record, this.tree, ordinal, this.index));
    });
  }

  /** Returns the text of each line. Consecutive lines are decoded a whole block at a time, which is many times as fast. */
  #decodeTexts(run: readonly number[]): string[] {
    const { spans } = this.index;
    const [first = 0] = run;
    const start = spans.offsetAt(first);
    let end = start - 1;
    const isRow = run.every((ordinal) => {
      const isNext = spans.offsetAt(ordinal) === end + 1;
      end = spans.offsetAt(ordinal) + spans.lengthAt(ordinal);
      return isNext;
    });
    if (!isRow)
      return run.map((ordinal) =>
        decodeText(this.bytes.read(spans.offsetAt(ordinal), spans.lengthAt(ordinal))),
      );
    return Array.from(this.bytes.between(start, end), ({ offset, bytes }) => {
      // The line break at the end of a block does not begin another line.
      const isLast = offset + bytes.length === end;
      return decodeText(isLast ? bytes : bytes.subarray(0, -1)).split("\n");
    }).flat();
  }
}
