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

/** Distance from the end of the head to the role. */
const ROLE_AT = `,"message":{`.length;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const CLOSE_BRACE = 0x7d;

/** Maximum number of digits for which a number is guaranteed to be exact. */
const MAX_DIGITS = 15;

const NO_BYTES = new Uint8Array(0);

/**
 * Reads the facts that a list needs from a message's body, without parsing it.
 *
 * Stores its results in fields because it runs in a hot loop when sessions are listed.
 */
export class MessageBodyReader {
  /**
   * Role, read from the position where all known writers put it; `other` for other roles, undefined if the line must be parsed.
   */
  role: "user" | "assistant" | "other" | undefined;
  /** Most recently read bytes, as a view for reading words and as a buffer for searching. */
  #held: Uint8Array = NO_BYTES;
  #view = toDataView(NO_BYTES);
  #buffer: Buffer = Buffer.alloc(0);

  /** Reads the role, and returns the time after the head as `findTimeInBody` does. */
  read(bytes: Uint8Array, from: number, end: number): number {
    this.#look(bytes);
    return findTimeInBody(bytes, this.#readRole(from, end), end, true);
  }

  /** Sets the bytes to read. Most lines are in the same buffer; large buffers are not retained. */
  #look(bytes: Uint8Array): void {
    if (bytes === this.#held) return;
    this.#view = toDataView(bytes);
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#held = bytes.buffer.byteLength > MAX_HELD_BYTES ? NO_BYTES : bytes;
  }

  /** Reads the role, and returns the first position after the text, where a time can begin. */
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
 * Searches the body of an entry for times, without parsing it.
 *
 * A message body contains one time, which is a plain number; other bodies do not contain a time. Any other time belongs to
 * something else, such as tool arguments or a second record on the same line, and requires parsing.
 *
 * @param from - Index after the head, or a later index if no time can begin before it.
 * @returns Time of a message; `-Infinity` if there is no time; NaN if parsing is required.
 */
export function findTimeInBody(bytes: Uint8Array, from: number, end: number, isMessage: boolean): number {
  const at = TIMESTAMP.find(bytes, from, end);
  if (at === -1) return Number.NEGATIVE_INFINITY;
  const behind = at + TIMESTAMP.length;
  const isOnly = isMessage && TIMESTAMP.find(bytes, behind, end) === -1;
  return isOnly && bytes[behind] === COLON ? readPlainNumber(bytes, behind + 1, end) : Number.NaN;
}

/** Returns the number at an index if it is written as plain digits; otherwise NaN. */
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

/** State at the end of an earlier scan of a file, from which a later scan can continue. */
interface ScannedBefore {
  readonly summary: FileFacts;
  readonly lastId: string;
  /** Model calls found so far; undefined if they are not needed. */
  readonly calls?: SessionCalls | undefined;
}

/** Key in each entry that records model usage. */
const USAGE = BytePattern.of(`"usage"`);

type OneLine = Pick<ScannedLine, "bytes" | "start" | "end" | "offset" | "terminated">;

/** First version whose entries reference their parents. The references distinguish appended lines from repeated lines. */
export const RESUMABLE_VERSION = 3;

/** Number of values stored for each candidate: start and end of its line, time of its entry, time in its body. */
const STRIDE = 4;

/**
 * Lines in a piece of the file that may contain the latest message. All scans share one array because it is empty at the end of
 * each piece.
 */
const candidates = new Float64Array(512 * STRIDE);

/** Readers shared by all scans, because their results are used before the next line is read. */
const head = new EntryHeadReader();
const body = new MessageBodyReader();

/** Id index reused for the next file, because allocating one for each of thousands of files would be slow. */
let spareIds: IdIndex | undefined;

/**
 * Summarizes a session file whose lines are all in order, parsing almost nothing.
 *
 * Unlike all other code, lists do not read lines through `SessionIndex`. For 400 sessions (100 MB in total), building
 * the trees takes 65 ms before the first row is created, `summarizeSource` takes 430 ms, and the scan takes 51 ms
 * including the rows.
 *
 * A file in order has its header first, then entries with unique ids, one per line. If it finds any other line, the scan reports
 * that the file is not in order; the file must then be read in full, applying all rules for damaged files. A scan can
 * continue an earlier scan if all entries in it follow their parents, as long as the parent of each new entry is the last known
 * entry or another new entry: such an entry cannot repeat an old entry.
 *
 * @remarks Cost: O(bytes), scanned. Parses only the header, names, messages up to the first answered prompt, the latest
 *   message of each piece, and lines with unusual formatting. Ignores keys that contain escapes or are duplicated.
 */
export class ListScan implements LineSink {
  readonly #isContinued: boolean;
  readonly #scanner = new LineScanner(this);
  readonly #ids = spareIds ?? new IdIndex();
  /** Undefined until the header has been read. */
  #summarizer: Summarizer | undefined;
  readonly #openings: OpeningFinder;
  /** Undefined if calls are not needed or the header has not been read yet. */
  #recorder: CallRecorder | undefined;
  readonly #needsCalls: boolean;
  #version = 0;
  #lastId: IdKey | undefined;
  #isInOrder = true;
  /** Whether an entry precedes its parent, or its parent is missing. */
  #hasLooseEntry = false;
  #piece: Uint8Array = new Uint8Array(0);
  /** Offset of the piece, relative to the start of the scan. */
  #pieceOffset = 0;
  #candidateNumbers = 0;

  /**
   * @param before - State from which the scan continues; undefined to start at the beginning of the file.
   * @param needsCalls - Whether model calls are required.
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

  /** Whether all lines so far were in order; if not, the summary is invalid. */
  get isInOrder(): boolean {
    return this.#isInOrder;
  }

  /** Id of the last entry; undefined if no scan can continue after it. */
  get lastId(): string | undefined {
    const isEnd = this.#version >= RESUMABLE_VERSION && !this.#hasLooseEntry;
    const key = this.#lastId;
    return isEnd && key !== undefined ? fromIdKey(key) : undefined;
  }

  /** Processes the next bytes; the buffer may be reused after the call. */
  feed(piece: Buffer): void {
    this.#piece = piece;
    this.#pieceOffset = this.#scanner.position;
    this.#scanner.feed(piece);
    this.#resolveCandidates();
  }

  /** Ends the scan, and processes the last line if it has no line break. */
  end(): void {
    this.#scanner.end();
    this.#ids.clear();
    spareIds = this.#ids;
  }

  /** Summary so far; undefined if no header has been read. */
  get summary(): FileFacts | undefined {
    const facts = this.#summarizer?.facts;
    return facts && { ...facts, opening: this.#openings.opening };
  }

  /** Model calls so far; undefined if they are not needed, or if no header has been read. */
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

  /** Processes an entry with the usual formatting, whose body need not be parsed; returns false for any other line. */
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
    // A line that began in the previous piece is in another buffer, and must be read now.
    if (isWanted || line.offset < this.#pieceOffset) this.#takeContent(summarizer, "message", line);
    else this.#addCandidate(line.start, line.end, head.timestampMs, bodyMs);
  }

  /** Processes the content of a counted entry, whose head was just read. */
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

  /**
   * Processes the candidates from last to first: in a file in order, the last one is the latest, so no other candidate is parsed.
   */
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

  /**
   * Returns whether an entry is valid at this position: its id is new and, in a continued scan, its parent is known. Records
   * whether any entry lacks an earlier parent.
   */
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

/** Adds the model call recorded in an entry with the usual formatting, whose head was just read. */
function recordCalls(recorder: CallRecorder, { bytes, start, end }: OneLine): void {
  const mayTell = recorder.isAtFront || USAGE.find(bytes, start, end) !== -1;
  const record = mayTell ? decodeRecord(bytes.subarray(start, end)) : undefined;
  if (record?.["type"] === head.type) recorder.add(record, fromIdKey(head.id), head.timestampMs);
  else recorder.pass();
}

/** Adds the content of a counted entry and returns its record; ignores an entry that cannot be parsed or has a different type. */
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

/** Returns whether a line is certainly a complete record. A line without a line break may be only part of a record. */
function isClearlyWhole({ type }: JsonRecord, line: OneLine): boolean {
  return line.terminated || type === "session" || (typeof type === "string" && isKnownEntryType(type));
}
