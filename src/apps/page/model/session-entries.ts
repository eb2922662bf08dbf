import type { ViewSource } from "../../../core/facts/entry-source.ts";
import type { AnySessionEntry } from "../../../core/format/entry.ts";
import type { SessionIssue } from "../../../core/format/issue.ts";
import { runsOf } from "../../../core/jsonl/byte-runs.ts";
import { decodeText, parseRecord } from "../../../core/jsonl/decode.ts";
import { damagedEntry, entryAt } from "../../../core/jsonl/entry-body.ts";
import { makeIssue } from "../../../core/jsonl/issue-log.ts";
import { issuesOf } from "../../../core/jsonl/read-session.ts";
import { SessionIndex } from "../../../core/jsonl/session-index.ts";
import type { EntryTree } from "../../../core/tree/entry-tree.ts";
import { type EntryFacts, FactsReader } from "./entry-facts.ts";
import { LineBlocks } from "./line-blocks.ts";
import type { LinkedSession } from "./linked-sessions.ts";

/** Bytes of lines whose entries stay parsed. */
const KEPT_BYTES = 8 * 1024 * 1024;

/** Entries, and bytes of their lines, that are read at once. */
const RUN = 1024;
const RUN_BYTES = 256 * 1024;

/** Bytes from which it is guessed how many entries a session has. */
const SAMPLE_BYTES = 1024 * 1024;

/** Told an entry, or undefined for a damaged body. */
type TakeEntry = (ordinal: number, entry: AnySessionEntry | undefined) => void;

/**
 * The entries of a session that is read piece by piece, and may grow.
 *
 * Only the bytes are kept, what stands in the heads, and a few facts of each entry: what was parsed would take several times the room.
 * A body is parsed when somebody asks for it.
 */
export class SessionEntries implements ViewSource {
  /** All bytes so far. */
  readonly bytes = new LineBlocks();
  readonly index = new SessionIndex({ readBytes: (offset, length) => this.bytes.read(offset, length) });
  readonly #reader: FactsReader;
  readonly #facts: EntryFacts[] = [];
  /** Entries that were asked for, the latest last, the bytes of their lines, and the revision of the tree that they agree with. */
  readonly #parsed = new Map<number, AnySessionEntry>();
  #parsedBytes = 0;
  #revision = 0;
  /** Bytes for whose entries room is to be made. */
  #expected: number;

  /**
   * @param known - Sessions that exist, by the path or id by which this one names them; complete once facts are read.
   * @param size - Bytes that are to come; 0 if that is not known.
   */
  constructor(known: ReadonlyMap<string, LinkedSession>, size = 0) {
    this.#expected = size;
    this.#reader = new FactsReader(known);
  }

  get tree(): EntryTree {
    return this.index.tree;
  }

  /** What is wrong with the bytes. */
  get issues(): SessionIssue[] {
    return issuesOf(this.index, () => [...this.bytes.between(0, this.bytes.size)].map(({ bytes }) => bytes));
  }

  /** What is known of each entry, by ordinal: of those that `readFacts` has read. */
  get facts(): readonly EntryFacts[] {
    return this.#facts;
  }

  /**
   * Reads the next bytes, which are kept and must not change any more; `end` must follow before anything is asked.
   *
   * @remarks Cost: O(bytes). No body is parsed.
   */
  append(piece: Uint8Array): void {
    this.bytes.append(piece);
    this.index.feed(piece);
    if (this.#expected < SAMPLE_BYTES || this.bytes.size < SAMPLE_BYTES) return;
    this.index.reserve(this.#expected);
    this.#expected = 0;
  }

  /** Ends what was appended. */
  end(): void {
    this.index.end();
    if (this.#revision === this.index.revision) return;
    this.#revision = this.index.revision;
    this.#parsed.clear();
    this.#parsedBytes = 0;
  }

  /**
   * Gathers the facts of entries whose facts are not known.
   *
   * @param isDue - Tells whether to stop.
   * @returns Whether all are known.
   * @remarks Cost: O(bytes of their lines).
   */
  readFacts(isDue: () => boolean = () => false): boolean {
    const { tree, index } = this;
    const missing = Array.from({ length: tree.size - this.#facts.length }, (_, i) => this.#facts.length + i);
    for (const run of this.#runsOf(missing)) {
      if (isDue()) return false;
      this.#readRun(run, (ordinal, entry) => {
        if (entry === undefined)
          index.report(makeIssue("BODY_DAMAGED", index.spans.at(ordinal), tree.idAt(ordinal)));
        this.#facts.push(this.#reader.factsOf(entry ?? damagedEntry(tree.headAt(ordinal))));
      });
    }
    return true;
  }

  /** Takes in what prices say of calls whose records state no cost, by the ids of their entries. */
  addEstimates(estimates: ReadonlyMap<string, number>): void {
    for (const [id, estimated] of estimates) {
      const ordinal = this.tree.find(id);
      const facts = this.#facts[ordinal];
      if (facts?.used?.cost === null)
        this.#facts[ordinal] = { ...facts, used: { ...facts.used, estimated, unpriced: 0 } };
    }
  }

  /** Returns an entry, for a damaged body one of the type `damaged`; undefined where there is none. */
  entryAt(ordinal: number): AnySessionEntry | undefined {
    if (ordinal < 0 || ordinal >= this.tree.size) return undefined;
    const known = this.#parsed.get(ordinal);
    if (known !== undefined) return known;
    let entry: AnySessionEntry = damagedEntry(this.tree.headAt(ordinal));
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
    for (const run of this.#runsOf(ordinals)) this.#readRun(run, take);
  }

  #runsOf(ordinals: Iterable<number>): Generator<number[], void> {
    const { spans } = this.index;
    return runsOf(ordinals, RUN, { most: RUN_BYTES, of: (ordinal) => spans.lengthAt(ordinal) });
  }

  #readRun(run: readonly number[], take: TakeEntry): void {
    const texts = this.#textsOf(run);
    run.forEach((ordinal, i) => {
      const record = parseRecord(texts[i] ?? "");
      take(ordinal, record && entryAt(record, this.tree, ordinal, this.index));
    });
  }

  /** Returns the text of each line; of lines one behind the other, all of a block are decoded at once, which is many times as quick. */
  #textsOf(run: readonly number[]): string[] {
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
      // A block ends with a line break, behind which there is nothing.
      const isLast = offset + bytes.length === end;
      return decodeText(isLast ? bytes : bytes.subarray(0, -1)).split("\n");
    }).flat();
  }
}
