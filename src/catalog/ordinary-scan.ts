import { decodeRecord } from "../jsonl/decode.ts";
import { EntryHeadReader } from "../jsonl/entry-head.ts";
import { LineScanner, type LineSink, type ScannedLine } from "../jsonl/line-scanner.ts";
import { readHeader } from "../jsonl/session-header.ts";
import { isKnownEntryType } from "../schema/entry.ts";
import { type IdKey, idKeyOf, idOfKey } from "../schema/id-key.ts";
import type { JsonRecord } from "../schema/json.ts";
import { isNameType } from "../schema/session-name.ts";
import { NONE } from "../tree/entry-tree.ts";
import { IdIndex } from "../tree/id-index.ts";
import { roleInFront, timeInBody } from "./message-bytes.ts";
import { MessageLineReader } from "./message-line.ts";
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

const LF = 0x0a;
const CR = 0x0d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** A line as far as it counts here. */
type OneLine = Pick<ScannedLine, "bytes" | "start" | "end" | "terminated">;

/** From this version on entries say what they follow, so that appended lines can be told from repeated ones. */
export const RESUMABLE_VERSION = 3;

/** Numbers kept for each candidate: start and end of its line, time of its entry, time in its body. */
const STRIDE = 4;

/** Lines of a piece that may hold the latest message. One list for all scans, since each is done with it at the end of a piece. */
const candidates = new Float64Array(512 * STRIDE);

/** Read lines for all scans. */
const message = new MessageLineReader();
const head = new EntryHeadReader();

/** Kept for the next file, since fresh memory for each of thousands of files would pile up. */
let spareIds: IdIndex | undefined;

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
  readonly #ids = spareIds ?? new IdIndex();
  #header: HeaderFacts | undefined;
  #version = 0;
  #lastId: IdKey | undefined;
  #isOrdinary = true;
  /** Whether an entry stands before the one that it follows, or that one is nowhere. */
  #hasLooseEntry = false;
  /** The time in the body of the entry at hand; see `timeInBody`. */
  #bodyMs = 0;
  /** The bytes that are being scanned. */
  #bytes: Uint8Array = new Uint8Array(0);
  /** How much of `candidates` is in use. */
  #candidateNumbers = 0;

  constructor(before?: ScannedBefore) {
    spareIds = undefined;
    this.#facts = new SummaryFacts(before?.summary);
    this.#isContinued = before !== undefined;
    this.#issuesBefore = before?.summary.issueCount ?? 0;
    if (before === undefined) return;
    this.#header = before.summary;
    this.#version = RESUMABLE_VERSION;
    this.#lastId = smallKey(idKeyOf(before.lastId));
    this.#ids.set(this.#lastId, 0);
  }

  /** Whether all lines so far were in order; if not, the summary means nothing. */
  get isOrdinary(): boolean {
    return this.#isOrdinary;
  }

  /** Id of the last entry; undefined if no scan can go on behind it. */
  get lastId(): string | undefined {
    const isEnd = this.#version >= RESUMABLE_VERSION && !this.#hasLooseEntry;
    const key = this.#lastId;
    return isEnd && key !== undefined ? idOfKey(typeof key === "number" ? key >>> 0 : key) : undefined;
  }

  /** Takes the next bytes; the buffer may be reused afterwards. */
  feed(piece: Buffer): void {
    message.look(piece);
    // Engines are fast with one kind of array; a Buffer is another kind, whose search for a byte is the quicker one.
    this.#bytes = message.array;
    for (let at = 0; at < piece.length && this.#isOrdinary; ) {
      const lineBreak = piece.indexOf(LF, at);
      const next = lineBreak === -1 ? piece.length : lineBreak + 1;
      const isInPiece = lineBreak !== -1 && this.#header !== undefined && !this.#scanner.isMidLine;
      if (isInPiece && this.#bytes[at] === OPEN_BRACE) this.#takeLine(at, lineBreak);
      else this.#scanner.feed(piece.subarray(at, next));
      at = next;
    }
    this.#settleCandidates();
  }

  /** Ends the file: decides about a last line without a line break. */
  end(): void {
    this.#scanner.end();
    this.#ids.clear();
    spareIds = this.#ids;
  }

  /** The summary so far; undefined if no header has come. */
  get summary(): SessionSummary | undefined {
    return this.#header && this.#facts.summary(this.#header, this.#issuesBefore);
  }

  /** Takes a line that stands in the piece, line break excluded. */
  #takeLine(start: number, lineBreak: number): void {
    const bytes = this.#bytes;
    const end = bytes[lineBreak - 1] === CR ? lineBreak - 1 : lineBreak;
    if (this.#version >= 2 && message.read(start, end)) this.#takeMessage(start, end);
    else this.line({ bytes, start, end, terminated: true });
  }

  #takeMessage(start: number, end: number): void {
    const { id, parent, role, times } = message;
    const facts = this.#facts;
    if (!this.#admits(id, parent)) this.#isOrdinary = false;
    facts.messageCount++;
    if (role === "other") return;
    if (role === "user" && facts.firstMessage === undefined)
      facts.noteMessage(decodeRecord(this.#bytes.subarray(start, end)), times[0]);
    else {
      const at = this.#placeForCandidate(start, end);
      candidates[at] = times[0] ?? 0;
      candidates[at + 1] = times[1] ?? 0;
    }
  }

  /** Takes a line from the scanner. */
  line(line: OneLine): boolean {
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

  #isPlainEntry({ bytes, start, end, terminated }: OneLine): boolean {
    const mayBe = terminated && this.#version >= 2 && bytes[end - 1] === CLOSE_BRACE;
    if (!mayBe || !head.read(bytes, start, end)) return false;
    this.#bodyMs = timeInBody(bytes, head.bodyStart, end, head.type === "message");
    return !Number.isNaN(this.#bodyMs);
  }

  #takePlainEntry(line: OneLine): void {
    const { type, id, parent } = head;
    if (!this.#admits(smallKey(id), smallKey(parent))) this.#isOrdinary = false;
    else if (type === "message") this.#takePlainMessage(line);
    else if (isNameType(type)) this.#facts.noteName(recordOf(line));
  }

  #takePlainMessage(line: OneLine): void {
    const { bytes, start, end } = line;
    const { bodyStart, timestampMs } = head;
    this.#facts.messageCount++;
    const role = roleInFront(bytes, bodyStart, end);
    if (role === "other") return;
    const isWanted = role === undefined || (role === "user" && this.#facts.firstMessage === undefined);
    if (isWanted) this.#facts.noteMessage(recordOf(line), timestampMs);
    else if (bytes === this.#bytes) {
      const at = this.#placeForCandidate(start, end);
      candidates[at] = timestampMs;
      candidates[at + 1] = this.#bodyMs;
    } else this.#noteIfLater(bytes, start, end, timestampMs, this.#bodyMs);
  }

  /** Adds a candidate; gives where its two times go. */
  #placeForCandidate(start: number, end: number): number {
    if (this.#candidateNumbers === candidates.length) this.#settleCandidates();
    const at = this.#candidateNumbers;
    candidates[at] = start;
    candidates[at + 1] = end;
    this.#candidateNumbers = at + STRIDE;
    return at + 2;
  }

  /** Looks at the candidates from the last one back: in a file in order the last is the latest, and none other is parsed. */
  #settleCandidates(): void {
    let known = this.#facts.lastMessageMs ?? Number.NEGATIVE_INFINITY;
    for (let i = this.#candidateNumbers - STRIDE; i >= 0; i -= STRIDE) {
      const entryMs = candidates[i + 2] ?? 0;
      if (!(entryMs > known || (candidates[i + 3] ?? 0) > known)) continue;
      const line = this.#bytes.subarray(candidates[i], candidates[i + 1]);
      this.#facts.noteMessage(decodeRecord(line), entryMs);
      known = this.#facts.lastMessageMs ?? known;
    }
    this.#candidateNumbers = 0;
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
    const parent = typeof parentId === "string" ? smallKey(idKeyOf(parentId)) : null;
    if (hasId && !this.#admits(smallKey(idKeyOf(id)), parent)) return false;
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
    if (parent === null || (parent !== this.#lastId && this.#ids.get(parent) === NONE)) {
      if (this.#isContinued) return false;
      this.#hasLooseEntry ||= parent !== null;
    }
    this.#lastId = id;
    if (this.#ids.get(id) !== NONE) return false;
    this.#ids.set(id, 0);
    return true;
  }
}

/** Makes the number of an id a signed one: such small numbers take no memory of their own, others do. */
function smallKey<K extends IdKey | null>(id: K): K | number {
  return typeof id === "number" ? id | 0 : id;
}

/** Whether a line is a record beyond doubt: where the line break is missing, a value may be a piece of one. */
function isClearlyWhole({ type }: JsonRecord, line: OneLine): boolean {
  return line.terminated || type === "session" || (typeof type === "string" && isKnownEntryType(type));
}

function recordOf({ bytes, start, end }: OneLine): JsonRecord | undefined {
  return decodeRecord(bytes.subarray(start, end));
}
