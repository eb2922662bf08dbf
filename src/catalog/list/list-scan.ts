import { makeHeaderFacts, readAddedFacts, Summarizer } from "../../core/facts/session-facts.ts";
import { OPENING_TYPES, OpeningFinder } from "../../core/facts/session-title.ts";
import { isKnownEntryType } from "../../core/format/entry.ts";
import { fromIdKey, type IdKey, toIdKey } from "../../core/format/id-key.ts";
import type { JsonRecord } from "../../core/format/json.ts";
import { isNameType } from "../../core/format/session-name.ts";
import { getRecordTime } from "../../core/format/timestamps.ts";
import { BytePattern, MAX_HELD_BYTES } from "../../core/jsonl/byte-pattern.ts";
import { decodeRecord } from "../../core/jsonl/decode.ts";
import { EntryHeadReader } from "../../core/jsonl/entry-head.ts";
import { isAt, toDataView, toSpelling } from "../../core/jsonl/escaped-words.ts";
import { LineScanner, type LineSink, type ScannedLine } from "../../core/jsonl/line-scanner.ts";
import { readHeader } from "../../core/jsonl/session-header.ts";
import { NONE } from "../../core/tree/entry-tree.ts";
import { IdIndex } from "../../core/tree/id-index.ts";
import type { FileFacts } from "../../session/files/session-row.ts";
import { CallRecorder, type SessionCalls } from "./session-calls.ts";

const BEFORE_ROLE = toSpelling(`,"message":{"role":"`);
const USER = toSpelling(`"role":"user"`);
const ASSISTANT = toSpelling(`"role":"assistant"`);
const BEFORE_TEXT = toSpelling(`,"content":[{"type":"text","text":"`);
const TIMESTAMP = BytePattern.of(`"timestamp"`);

/** Where the role begins behind a head. */
const ROLE_AT = `,"message":{`.length;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const CLOSE_BRACE = 0x7d;

/** A longer number may not be exact. */
const MAX_DIGITS = 15;

const NO_BYTES = new Uint8Array(0);

/**
 * Reads from the bytes behind an entry's head what a list needs of its message, without parsing them.
 *
 * Findings are kept in fields, since this is the hot loop of listing.
 */
export class MessageBodyReader {
  /** Read where every known writer puts it; `other` for all other roles, undefined if only a parse can tell. */
  role: "user" | "assistant" | "other" | undefined;
  /** The bytes that were read last, as a view that reads words and as a buffer that finds bytes. */
  #held: Uint8Array = NO_BYTES;
  #view = toDataView(NO_BYTES);
  #buffer: Buffer = Buffer.alloc(0);

  /** Reads the role, and returns the time behind the head as `findTimeInBody` does. */
  read(bytes: Uint8Array, from: number, end: number): number {
    this.#look(bytes);
    return findTimeInBody(bytes, this.#readRole(from, end), end, true);
  }

  /** Most lines stand in the same bytes; large buffers are not held on to. */
  #look(bytes: Uint8Array): void {
    if (bytes === this.#held) return;
    this.#view = toDataView(bytes);
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#held = bytes.buffer.byteLength > MAX_HELD_BYTES ? NO_BYTES : bytes;
  }

  /** Reads the role; returns where a time may first begin, which is behind the text. */
  #readRole(from: number, end: number): number {
    const view = this.#view;
    const role = from + ROLE_AT;
    if (!isAt(view, from, end, BEFORE_ROLE)) this.role = undefined;
    else if (isAt(view, role, end, USER)) {
      this.role = "user";
      return this.#behindText(role + USER.length, end);
    } else if (isAt(view, role, end, ASSISTANT)) {
      this.role = "assistant";
      return this.#behindText(role + ASSISTANT.length, end);
    } else this.role = "other";
    return from;
  }

  #behindText(from: number, end: number): number {
    if (!isAt(this.#view, from, end, BEFORE_TEXT)) return from;
    const quote = this.#buffer.indexOf(QUOTE, from + BEFORE_TEXT.length);
    return quote === -1 || quote >= end ? from : quote;
  }
}

/**
 * Looks for times in the body of an entry without parsing it.
 *
 * The body of a message has one, a plain number; other bodies have none. In a body with more, something else has a time,
 * such as arguments of tools, or a second record on the same line: only a parse can tell.
 *
 * @param from - One past the head, or later if no time can begin before.
 * @returns The time of a message, or `-Infinity` if there is none; NaN if only a parse can tell.
 */
export function findTimeInBody(bytes: Uint8Array, from: number, end: number, isMessage: boolean): number {
  const at = TIMESTAMP.find(bytes, from, end);
  if (at === -1) return Number.NEGATIVE_INFINITY;
  const behind = at + TIMESTAMP.length;
  const isOnly = isMessage && TIMESTAMP.find(bytes, behind, end) === -1;
  return isOnly && bytes[behind] === COLON ? readPlainNumber(bytes, behind + 1, end) : Number.NaN;
}

/** Returns the number that starts here, if it is written as plain digits; else NaN. */
function readPlainNumber(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  let at = start;
  for (; at < end; at++) {
    const digit = (bytes[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  const isPlain =
    at > start && at - start <= MAX_DIGITS && (bytes[at] === COMMA || bytes[at] === CLOSE_BRACE);
  return isPlain ? value : Number.NaN;
}

/** Where an earlier scan of a file ended, so that a later one can continue there. */
interface ScannedBefore {
  readonly summary: FileFacts;
  readonly lastId: string;
  /** The calls of models up to there; undefined if nobody asks for them. */
  readonly calls?: SessionCalls | undefined;
}

/** Stands in each entry that says what a model used. */
const USAGE = BytePattern.of(`"usage"`);

type OneLine = Pick<ScannedLine, "bytes" | "start" | "end" | "offset" | "terminated">;

/** From this version on entries name their parents, so that appended lines differ from repeated ones. */
export const RESUMABLE_VERSION = 3;

/** Numbers kept for each candidate: start and end of its line, time of its entry, time in its body. */
const STRIDE = 4;

/** Lines of a piece that may hold the latest message. One list for all scans: each is done with it at the end of a piece. */
const candidates = new Float64Array(512 * STRIDE);

/** Readers for all scans: their findings are used before the next line is read. */
const head = new EntryHeadReader();
const body = new MessageBodyReader();

/** Kept for the next file, since fresh memory for each of thousands of files would pile up. */
let spareIds: IdIndex | undefined;

/**
 * Summarizes a session file whose lines are all in order, and parses next to nothing of it.
 *
 * Lists do not take lines from `SessionIndex`, as everything else does, because reading 400 sessions of 100 MB into trees
 * takes 65 ms before a row is made, where the scan takes 51 with the rows, and `summarizeSource` 430.
 *
 * A file in order has its header first, then entries with ids of their own, each on a line. As soon as a line is
 * anything else the scan says so, and the file is left to the full path, which knows every rule of damage. A scan can
 * continue an earlier one if the entries there follow each other, as long as each new entry follows the last known one
 * or another new one: such an entry cannot be an old one again.
 *
 * @remarks Cost: O(bytes) looked at. Parsed are the header, names, the messages up to the first prompt that is answered, the latest
 *   message of each piece, and lines in an unusual spelling. Keys that are spelled with escapes or given twice are not seen.
 */
export class ListScan implements LineSink {
  readonly #isContinued: boolean;
  readonly #scanner = new LineScanner(this);
  readonly #ids = spareIds ?? new IdIndex();
  /** Undefined until the header has come. */
  #summarizer: Summarizer | undefined;
  readonly #openings: OpeningFinder;
  /** Undefined if nobody asks for calls, and until the header has come. */
  #recorder: CallRecorder | undefined;
  readonly #needsCalls: boolean;
  #version = 0;
  #lastId: IdKey | undefined;
  #isInOrder = true;
  /** Whether an entry stands before its parent, or its parent is missing. */
  #hasLooseEntry = false;
  #piece: Uint8Array = new Uint8Array(0);
  /** Where they begin, counted from where the scan began. */
  #pieceOffset = 0;
  #candidateNumbers = 0;

  /**
   * @param before - Where the scan begins; undefined for the start of the file.
   * @param needsCalls - Whether the calls of models are asked for.
   */
  constructor(before: ScannedBefore | undefined, needsCalls: boolean) {
    spareIds = undefined;
    this.#isContinued = before !== undefined;
    this.#needsCalls = needsCalls;
    this.#openings = new OpeningFinder(before?.summary.opening);
    if (before === undefined) return;
    this.#summarizer = new Summarizer(before.summary);
    if (needsCalls) this.#recorder = new CallRecorder(before.summary.createdMs, before.calls);
    this.#version = RESUMABLE_VERSION;
    this.#lastId = toIdKey(before.lastId);
    this.#ids.set(this.#lastId, 0);
  }

  /** Whether all lines so far were in order; if not, the summary means nothing. */
  get isInOrder(): boolean {
    return this.#isInOrder;
  }

  /** Id of the last entry; undefined if no scan can continue behind it. */
  get lastId(): string | undefined {
    const isEnd = this.#version >= RESUMABLE_VERSION && !this.#hasLooseEntry;
    const key = this.#lastId;
    return isEnd && key !== undefined ? fromIdKey(key) : undefined;
  }

  /** Takes the next bytes; the buffer may be reused afterwards. */
  feed(piece: Buffer): void {
    this.#piece = piece;
    this.#pieceOffset = this.#scanner.position;
    this.#scanner.feed(piece);
    this.#resolveCandidates();
  }

  /** Ends the file: decides about a last line without a line break. */
  end(): void {
    this.#scanner.end();
    this.#ids.clear();
    spareIds = this.#ids;
  }

  /** The summary so far; undefined if no header has come. */
  get summary(): FileFacts | undefined {
    const facts = this.#summarizer?.facts;
    return facts && { ...facts, opening: this.#openings.opening };
  }

  /** The calls of models so far; undefined if nobody asks for them, or no header has come. */
  get calls(): SessionCalls | undefined {
    return this.#recorder?.found;
  }

  line(line: OneLine): boolean {
    if (this.#isInOrder && !this.#takesUsualEntry(line)) this.#takeRecord(line);
    return true;
  }

  overlong(): void {
    this.#isInOrder = false;
  }

  /** Takes an entry in the usual spelling, whose body need not be parsed; returns false for any other line. */
  #takesUsualEntry(line: OneLine): boolean {
    const { bytes, start, end, terminated } = line;
    const mayBe = terminated && this.#version >= 2 && bytes[end - 1] === CLOSE_BRACE;
    if (!mayBe || !head.read(bytes, start, end)) return false;
    const { type, id, parent, bodyStart } = head;
    const isMessage = type === "message";
    const bodyMs = isMessage
      ? body.read(bytes, bodyStart, end)
      : findTimeInBody(bytes, bodyStart, end, false);
    if (Number.isNaN(bodyMs)) return false;
    if (this.#recorder !== undefined) recordCalls(this.#recorder, line);
    const summarizer = this.#summarizer;
    if (summarizer === undefined || !this.#admits(id, parent)) this.#isInOrder = false;
    else if (isMessage) this.#takeUsualMessage(summarizer, line, bodyMs);
    else if (isNameType(type)) this.#takeContent(summarizer, type, line);
    else if (this.#openings.isOpen && OPENING_TYPES.has(type)) this.#takeContent(summarizer, type, line);
    return true;
  }

  #takeUsualMessage(summarizer: Summarizer, line: OneLine, bodyMs: number): void {
    const { role } = body;
    summarizer.messageCount++;
    if (role === "other") return;
    const isWanted =
      role === undefined ||
      (role === "user" && (summarizer.lacksFirstMessage || !this.#openings.isSettled)) ||
      (role === "assistant" && this.#openings.isOpen);
    // A line that began in the piece before stands elsewhere, and cannot wait.
    if (isWanted || line.offset < this.#pieceOffset) this.#takeContent(summarizer, "message", line);
    else this.#addCandidate(line.start, line.end, head.timestampMs, bodyMs);
  }

  /** Takes what a counted entry's line holds, whose head was just read. */
  #takeContent(summarizer: Summarizer, type: string, { bytes, start, end }: OneLine): void {
    const record = addContent(summarizer, type, bytes.subarray(start, end), head.timestampMs);
    if (record !== undefined && !this.#openings.isSettled) this.#openings.add(type, record);
  }

  #takeRecord(line: OneLine): void {
    const record = decodeRecord(line.bytes.subarray(line.start, line.end));
    this.#isInOrder = record !== undefined && isClearlyWhole(record, line) && this.#takesRecord(record);
  }

  #addCandidate(start: number, end: number, entryMs: number, bodyMs: number): void {
    if (this.#candidateNumbers === candidates.length) this.#resolveCandidates();
    const at = this.#candidateNumbers;
    candidates[at] = start;
    candidates[at + 1] = end;
    candidates[at + 2] = entryMs;
    candidates[at + 3] = bodyMs;
    this.#candidateNumbers = at + STRIDE;
  }

  /** Looks at the candidates from the last one back: in a file in order the last is the latest, and none other is parsed. */
  #resolveCandidates(): void {
    const summarizer = this.#summarizer;
    if (summarizer === undefined) return;
    for (let i = this.#candidateNumbers - STRIDE; i >= 0; i -= STRIDE) {
      const entryMs = candidates[i + 2] ?? 0;
      const known = summarizer.lastMessageMs;
      if (!(entryMs > known || (candidates[i + 3] ?? 0) > known)) continue;
      const line = this.#piece.subarray(candidates[i], candidates[i + 1]);
      addContent(summarizer, "message", line, entryMs);
    }
    this.#candidateNumbers = 0;
  }

  #takesRecord(record: JsonRecord): boolean {
    if (this.#summarizer === undefined) return this.#takesHeader(record);
    const { type, id, parentId } = record;
    if (typeof type !== "string" || type === "session") return false;
    const hasId = typeof id === "string" && id !== "";
    const parent = typeof parentId === "string" ? toIdKey(parentId) : null;
    if (hasId && !this.#admits(toIdKey(id), parent)) return false;
    const entryMs = getRecordTime(record);
    this.#summarizer.add(readAddedFacts(type, record, entryMs));
    this.#openings.add(type, record);
    this.#recorder?.add(record, hasId && this.#version > 1 ? id : undefined, entryMs);
    return true;
  }

  #takesHeader(record: JsonRecord): boolean {
    const read = record["type"] === "session" ? readHeader(record) : undefined;
    if (read?.stated.version === undefined) return false;
    const facts = makeHeaderFacts(read.header);
    this.#summarizer = new Summarizer(facts);
    if (this.#needsCalls) this.#recorder = new CallRecorder(facts.createdMs);
    this.#version = read.stated.version;
    return true;
  }

  /** Whether no earlier entry of the file has the same id. */
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

/** Adds the call that a usual entry tells of, whose head was just read. */
function recordCalls(recorder: CallRecorder, { bytes, start, end }: OneLine): void {
  const mayTell = recorder.isAtFront || USAGE.find(bytes, start, end) !== -1;
  const record = mayTell ? decodeRecord(bytes.subarray(start, end)) : undefined;
  if (record?.["type"] === head.type) recorder.add(record, fromIdKey(head.id), head.timestampMs);
  else recorder.pass();
}

/** Adds what a counted entry's line holds, and returns it; one that does not parse, or has another type after all, adds nothing. */
function addContent(
  summarizer: Summarizer,
  type: string,
  line: Uint8Array,
  entryMs: number,
): JsonRecord | undefined {
  const record = decodeRecord(line);
  if (record?.["type"] !== type) return undefined;
  summarizer.addContent(readAddedFacts(type, record, entryMs));
  return record;
}

/** Whether a line is certainly a whole record: without a line break, a value may be a part of one. */
function isClearlyWhole({ type }: JsonRecord, line: OneLine): boolean {
  return line.terminated || type === "session" || (typeof type === "string" && isKnownEntryType(type));
}
