import { decodeRecord } from "../jsonl/decode.ts";
import { EntryHeadReader } from "../jsonl/entry-head.ts";
import { LineScanner, type LineSink, type ScannedLine } from "../jsonl/line-scanner.ts";
import { readHeader } from "../reading/session-header.ts";
import { isKnownEntryType } from "../schema/entry.ts";
import { type IdKey, idKeyOf, idOfKey } from "../schema/id-key.ts";
import type { JsonRecord } from "../schema/json.ts";
import { roleInFront, timeInBody } from "./message-bytes.ts";
import {
  type HeaderFacts,
  headerFacts,
  recordTime,
  type SessionSummary,
  SummaryFacts,
} from "./session-summary.ts";

/** Where an earlier scan of a file ended, so that a later one can go on from there. */
export interface ScannedBefore {
  readonly summary: SessionSummary;
  /** Id of the last entry. */
  readonly lastId: string;
}

const CLOSE_BRACE = 0x7d;

/** From this version on entries say what they follow, so that appended lines can be told from repeated ones. */
export const RESUMABLE_VERSION = 3;

/** Numbers kept for each candidate: start and end of its line, time of its entry, time in its body. */
const STRIDE = 4;

/**
 * Summarises a session file whose lines are all in order, and parses next to nothing of it.
 *
 * A file in order has its header first, then entries with ids of their own, each on a line. As soon as a line is
 * anything else the scan says so, and the file is left to the plain way of reading, which knows every rule of damage.
 * A scan can go on behind an earlier one if the entries there follow each other, as long as each new entry follows the
 * last known one or another new one: such an entry cannot be an old one again.
 *
 * @remarks Cost: O(bytes) looked at. Parsed are the header, names, the first user message, the latest message of each
 *   piece, and lines in an unusual spelling. Keys that are spelled with escapes or given twice are not seen.
 */
export class OrdinaryScan implements LineSink {
  readonly #facts: SummaryFacts;
  readonly #isContinued: boolean;
  readonly #issuesBefore: number;
  readonly #scanner = new LineScanner(this);
  readonly #head = new EntryHeadReader();
  readonly #ids = new Set<IdKey>();
  #header: HeaderFacts | undefined;
  #version = 0;
  #lastId: IdKey | undefined;
  #isOrdinary = true;
  /** Whether an entry stands before the one that it follows, or that one is nowhere. */
  #hasLooseEntry = false;
  /** The time in the body of the entry at hand; see `timeInBody`. */
  #bodyMs = 0;
  /** The bytes that are being scanned. */
  #piece: Uint8Array = new Uint8Array(0);
  /** Lines of the piece that may hold the latest message, `STRIDE` numbers each. */
  #candidates: number[] = [];

  constructor(before?: ScannedBefore) {
    this.#facts = new SummaryFacts(before?.summary);
    this.#isContinued = before !== undefined;
    this.#issuesBefore = before?.summary.issueCount ?? 0;
    if (before === undefined) return;
    this.#header = before.summary;
    this.#version = RESUMABLE_VERSION;
    this.#lastId = idKeyOf(before.lastId);
    this.#ids.add(smallKey(this.#lastId));
  }

  /** Whether all lines so far were in order; if not, the summary means nothing. */
  get isOrdinary(): boolean {
    return this.#isOrdinary;
  }

  /** Id of the last entry; undefined if no scan can go on behind it. */
  get lastId(): string | undefined {
    const isEnd = this.#version >= RESUMABLE_VERSION && !this.#hasLooseEntry;
    return isEnd && this.#lastId !== undefined ? idOfKey(this.#lastId) : undefined;
  }

  /** Takes the next bytes; the buffer may be reused afterwards. */
  feed(piece: Uint8Array): void {
    this.#piece = piece;
    this.#scanner.feed(piece);
    this.#settleCandidates();
  }

  /** Ends the file: decides about a last line without a line break. */
  end(): void {
    this.#scanner.end();
  }

  /** The summary so far; undefined if no header has come. */
  get summary(): SessionSummary | undefined {
    return this.#header && this.#facts.summary(this.#header, this.#issuesBefore);
  }

  /** Takes a line from the scanner. */
  line(line: ScannedLine): boolean {
    if (!this.#isOrdinary) return true;
    if (this.#isPlainEntry(line)) {
      this.#takePlainEntry(line);
      return true;
    }
    const record = recordOf(line);
    this.#isOrdinary = record !== undefined && isClearlyWhole(record, line) && this.#takesRecord(record);
    return true;
  }

  /** Takes note of a line over the bound. */
  overlong(): void {
    this.#isOrdinary = false;
  }

  #isPlainEntry({ bytes, start, end, terminated }: ScannedLine): boolean {
    const mayBe = terminated && this.#version >= 2 && bytes[end - 1] === CLOSE_BRACE;
    if (!mayBe || !this.#head.read(bytes, start, end)) return false;
    this.#bodyMs = timeInBody(bytes, this.#head.bodyStart, end, this.#head.type === "message");
    return !Number.isNaN(this.#bodyMs);
  }

  #takePlainEntry(line: ScannedLine): void {
    const { type, id, parent } = this.#head;
    if (!this.#admits(id, parent)) this.#isOrdinary = false;
    else if (type === "message") this.#takePlainMessage(line);
    else if (type === "session_info") this.#facts.noteName(recordOf(line));
  }

  #takePlainMessage(line: ScannedLine): void {
    const { bytes, start, end } = line;
    const { bodyStart, timestampMs } = this.#head;
    this.#facts.messageCount++;
    const role = roleInFront(bytes, bodyStart, end);
    if (role === "other") return;
    const isWanted = role === undefined || (role === "user" && this.#facts.firstMessage === undefined);
    if (isWanted) this.#facts.noteMessage(recordOf(line), timestampMs);
    else if (bytes.buffer === this.#piece.buffer)
      this.#candidates.push(start, end, timestampMs, this.#bodyMs);
    else this.#noteIfLater(bytes, start, end, timestampMs, this.#bodyMs);
  }

  /** Looks at the candidates from the last one back: in a file in order the last is the latest, and none other is parsed. */
  #settleCandidates(): void {
    const found = this.#candidates;
    for (let i = found.length - STRIDE; i >= 0; i -= STRIDE) {
      const [start, end] = [found[i] ?? 0, found[i + 1] ?? 0];
      this.#noteIfLater(this.#piece, start, end, found[i + 2] ?? 0, found[i + 3] ?? Number.NaN);
    }
    this.#candidates = [];
  }

  #noteIfLater(bytes: Uint8Array, start: number, end: number, entryMs: number, bodyMs: number): void {
    const known = this.#facts.lastMessageMs ?? Number.NEGATIVE_INFINITY;
    if (entryMs > known || bodyMs > known)
      this.#facts.noteMessage(decodeRecord(bytes.subarray(start, end)), entryMs);
  }

  #takesRecord(record: JsonRecord): boolean {
    if (this.#header === undefined) return this.#takesHeader(record);
    const { type, id, parentId } = record;
    if (typeof type !== "string" || type === "session") return false;
    const hasId = typeof id === "string" && id !== "";
    const parent = typeof parentId === "string" ? idKeyOf(parentId) : null;
    if (hasId && !this.#admits(idKeyOf(id), parent)) return false;
    if (type === "message") {
      this.#facts.messageCount++;
      this.#facts.noteMessage(record, recordTime(record));
    } else this.#facts.noteName(record);
    return true;
  }

  #takesHeader(record: JsonRecord): boolean {
    const read = record["type"] === "session" ? readHeader(record) : undefined;
    if (read?.stated.version === undefined) return false;
    this.#header = headerFacts(read.header);
    this.#version = read.stated.version;
    return true;
  }

  /** Whether an entry is none that stands in the file before. */
  #admits(id: IdKey, parent: IdKey | null): boolean {
    const key = smallKey(id);
    if (this.#ids.has(key)) return false;
    if (!this.#isKnown(parent)) {
      if (this.#isContinued) return false;
      this.#hasLooseEntry ||= parent !== null;
    }
    this.#ids.add(key);
    this.#lastId = id;
    return true;
  }

  #isKnown(parent: IdKey | null): boolean {
    return parent !== null && (parent === this.#lastId || this.#ids.has(smallKey(parent)));
  }
}

/** Makes the number of an id a signed one: such small numbers take no memory of their own, others do. */
function smallKey(id: IdKey): IdKey {
  return typeof id === "number" ? id | 0 : id;
}

/** Whether a line is a record beyond doubt: where the line break is missing, a value may be a piece of one. */
function isClearlyWhole({ type }: JsonRecord, line: ScannedLine): boolean {
  return line.terminated || type === "session" || (typeof type === "string" && isKnownEntryType(type));
}

function recordOf({ bytes, start, end }: ScannedLine): JsonRecord | undefined {
  return decodeRecord(bytes.subarray(start, end));
}
