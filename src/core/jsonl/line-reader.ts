import { isJsonRecord, type JsonRecord, toSafeString } from "../format/json.ts";
import { toSessionName } from "../format/session-name.ts";
import { CURRENT_SESSION_VERSION } from "../format/version.ts";
import { readFrontRecord } from "./concatenated-records.ts";
import { decodeText, parseJson } from "./decode.ts";
import type { EntryAdder } from "./entry-adder.ts";
import { EntryHeadReader, mayHoldSecondHead } from "./entry-head.ts";
import { isVersion4Header } from "./foreign-source.ts";
import { type IssueLog, makeIssue } from "./issue-log.ts";
import { getLengthWithoutZeros, hasEndBrace, type LinePart, splitLineParts } from "./line-parts.ts";
import type { LineSink, ScannedLine } from "./line-scanner.ts";
import type { LineSpan } from "./line-spans.ts";
import { type ReadHeader, readHeader } from "./session-header.ts";

/** Shared by all files, because its results are copied before the next line is read. */
const head = new EntryHeadReader();

/** Number of records at the beginning of a file that may contain the header. */
const FIRST_RECORDS = 16;

const CLOSE_BRACE = 0x7d;

/**
 * Determines the content of each line of a file: the header, one or more entries, an issue, or both.
 *
 * A body is parsed only if the head is not at the start of its line, or if the line seems to contain more than one record.
 */
export class LineReader implements LineSink {
  readonly #issues: IssueLog;
  readonly #adder: EntryAdder;
  #header: ReadHeader | undefined;
  #headerPlace: LineSpan | undefined;
  #recordsBeforeHeader = 0;
  /** Title in a `title` record before the header. */
  #title: string | undefined;
  /** Whether any entry has a form that the head reader does not support. */
  #isMixed = false;
  #isRejected = false;
  #leafRecord: JsonRecord | undefined;

  constructor(adder: EntryAdder, issues: IssueLog) {
    this.#adder = adder;
    this.#issues = issues;
  }

  /** Header; undefined if it has not been read yet. */
  get header(): ReadHeader | undefined {
    return this.#header;
  }

  get headerSpan(): LineSpan | undefined {
    return this.#headerPlace;
  }

  /** Whether the file is not a session because its first records contain no header. */
  get isRejected(): boolean {
    return this.#isRejected || (this.#header === undefined && this.#recordsBeforeHeader >= FIRST_RECORDS);
  }

  /** The `leaf` record, if it is the last line. */
  get leafRecord(): JsonRecord | undefined {
    return this.#leafRecord;
  }

  /** Discards the `leaf` record because an entry follows it. */
  forgetLeafRecord(): void {
    this.#leafRecord = undefined;
  }

  /** Receives a line from the scanner. */
  line(line: ScannedLine): boolean | number {
    if (!this.#hasUsualHead(line)) return this.#takeOtherLine(line);
    this.#leafRecord = undefined;
    this.#adder.addHead(head, line.offset, line.end - line.start, line.line);
    return true;
  }

  #takeOtherLine(line: ScannedLine): boolean | number {
    const { terminated, continued } = line;
    const bytes = line.bytes.subarray(line.start, line.end);
    const length = getLengthWithoutZeros(bytes);
    const text = bytes.subarray(0, length);
    const place = { ...getSpan(line), length };
    if (!terminated && !(continued && length === 0)) return this.#takeFront(text, place, continued);
    const parsed = continued ? undefined : parseJson(decodeText(text));
    if (parsed !== undefined) this.#takeValue(parsed.value, place, text);
    else if (length > 0) this.#takeParts(text, place, continued);
    if (length < bytes.length) {
      const zeros = { ...place, offset: place.offset + length, length: bytes.length - length };
      this.#issues.put("NUL_BYTES", zeros);
      // Zero bytes on their own line replace a record. After a record, they are also damage.
      this.#countDamage(length === 0 && !continued);
    }
    return true;
  }

  /** Reads the record at the start of an unterminated line, or notes that the line is incomplete. */
  #takeFront(text: Uint8Array, place: LineSpan, isRest: boolean): number {
    const front = readFrontRecord(text);
    if (front === undefined) {
      const isValue = hasEndBrace(text) && parseJson(decodeText(text)) !== undefined;
      const code = text.length === 0 ? "NUL_BYTES" : isValue ? "NOT_AN_ENTRY" : "TAIL_TORN";
      this.#issues.tail = makeIssue(code, place);
      return 0;
    }
    const isBehindZeros = text.subarray(0, front.start).includes(0);
    if (isRest || isBehindZeros) this.#takeParts(text.subarray(0, front.end), place, isRest);
    else this.#takeValue(front.record, { ...place, length: front.end }, text.subarray(0, front.end));
    return front.end;
  }

  /** Reports a line that exceeds the limit. */
  overlong(line: LineSpan & { terminated: boolean }): void {
    if (!line.terminated) {
      this.#issues.tail = makeIssue("TAIL_TORN", line);
      return;
    }
    this.#issues.put("LINE_TOO_LONG", line);
    this.#countDamage(true);
  }

  #hasUsualHead(line: ScannedLine): boolean {
    const { bytes, start, end } = line;
    return (
      this.#isTreeLine(line) &&
      head.read(bytes, start, end) &&
      !mayHoldSecondHead(bytes, head, end, this.#isMixed)
    );
  }

  /** Returns whether a line is complete, ends like a record, and belongs to a file whose entries have ids. */
  #isTreeLine({ bytes, end, terminated, continued }: ScannedLine): boolean {
    const { version } = this.#adder;
    return (
      terminated && !continued && version !== undefined && version >= 2 && bytes[end - 1] === CLOSE_BRACE
    );
  }

  #takeValue(value: unknown, place: LineSpan, text: Uint8Array): void {
    this.#leafRecord = undefined;
    const type = isJsonRecord(value) ? value["type"] : undefined;
    if (this.#header === undefined && isJsonRecord(value) && isVersion4Header(value)) this.#isRejected = true;
    if (!isJsonRecord(value) || typeof type !== "string") {
      this.#issues.put("NOT_AN_ENTRY", place);
      this.#countDamage(true);
    } else if (this.#header === undefined) {
      this.takeFirst(value, place);
    } else if (type === "session") {
      this.#issues.put("HEADER_REPEATED", place);
      this.#countOther();
    } else {
      this.#adder.addRecord(value, type, place);
      this.#isMixed ||= !head.read(text, 0, text.length);
      this.#leafRecord = type === "leaf" ? value : undefined;
    }
  }

  /**
   * Adopts the header of an ordinary session, and whether any of its entries have a form that the head reader does not support.
   */
  takeOrdinary(header: JsonRecord, place: LineSpan, isMixed: boolean): void {
    this.takeFirst(header, place);
    this.#isMixed = isMixed;
  }

  /** Reads the first record of a file, which should be its header. */
  takeFirst(record: JsonRecord, place: LineSpan): void {
    if (record["type"] !== "session") {
      if (isTitleSlot(record)) this.#title = toSessionName(record["title"]);
      this.#issues.put("RECORD_BEFORE_HEADER", place);
      this.#countOther();
      return;
    }
    const header = this.isRejected ? undefined : readHeader(this.#titled(record));
    if (header === undefined) {
      this.#isRejected = true;
      this.#issues.put("HEADER_MISSING", place);
      return;
    }
    this.#header = header;
    this.#headerPlace = place;
    this.#adder.sessionId = header.header.id;
    this.#adder.version = header.stated.version;
    this.#adder.recordNumber = 1;
    this.#adder.hasDamageBehindLast = false;
    if (!header.stated.isClear) this.#issues.put("VERSION_UNCLEAR", place);
    if ((header.stated.version ?? 0) > CURRENT_SESSION_VERSION) this.#issues.put("VERSION_TOO_NEW", place);
  }

  /** Adds the title from the record before the header. oh-my-pi keeps this title current instead of the header's. */
  #titled(record: JsonRecord): JsonRecord {
    return this.#title === undefined ? record : { ...record, title: this.#title };
  }

  /** Reads a line that does not parse, or the remainder of a line whose beginning was already read. */
  #takeParts(text: Uint8Array, place: LineSpan, isRest: boolean): void {
    const parts = splitLineParts(text, isRest);
    const isLegible = ({ kind }: LinePart) =>
      kind === "record" || (kind === "head" && this.#header !== undefined);
    const isGlued = isRest || parts.filter(({ kind }) => kind !== "zeros").length > 1;
    if (!isRest && !parts.some(isLegible)) this.#issues.put("LINE_UNREADABLE", place);
    else if (isGlued) this.#issues.put("RECORDS_GLUED", place);
    for (const part of parts) {
      const length = part.end - part.start;
      const partPlace = { offset: place.offset + part.start, length, line: place.line };
      this.#takePart(part, partPlace, text.subarray(part.start, part.end));
    }
  }

  #takePart({ kind, record }: LinePart, place: LineSpan, text: Uint8Array): void {
    if (kind === "record") this.#takeValue(record, place, text);
    else if (kind === "head" && this.#header !== undefined) {
      this.#leafRecord = undefined;
      const id = this.#adder.addRecord(record, toSafeString(record["type"]), place);
      this.#issues.put("BODY_DAMAGED", place, id);
    } else {
      if (kind === "zeros") this.#issues.put("NUL_BYTES", place);
      this.#countDamage(kind === "head" || kind === "lost");
    }
  }

  #countOther(): void {
    this.#adder.recordNumber++;
    if (this.#header === undefined) this.#recordsBeforeHeader++;
  }

  /** Records damage. The damaged line may have contained the parent of the next entry. */
  #countDamage(isRecord: boolean): void {
    if (isRecord) this.#countOther();
    this.#leafRecord = undefined;
    this.#adder.hasDamageBehindLast = true;
  }
}

/** Returns whether a record is the title that oh-my-pi writes before the header and overwrites in place. */
function isTitleSlot(record: JsonRecord): boolean {
  return record["type"] === "title" && typeof record["v"] === "number";
}

function getSpan(line: ScannedLine): LineSpan {
  return { offset: line.offset, length: line.end - line.start, line: line.line };
}
