import { decodeText, parseJson } from "../jsonl/decode.ts";
import { EntryHeadReader, mayHoldSecondHead } from "../jsonl/entry-head.ts";
import { recordInFront } from "../jsonl/glued.ts";
import { LineScanner, type LineSink, type ScannedLine } from "../jsonl/line-scanner.ts";
import type { EntryHead } from "../schema/head.ts";
import type { SessionHeader } from "../schema/header.ts";
import { idKeyOf } from "../schema/id-key.ts";
import type { SessionIssue } from "../schema/issue.ts";
import { isJsonRecord, type JsonRecord } from "../schema/json.ts";
import { CURRENT_SESSION_VERSION } from "../schema/version.ts";
import { type EntryTree, NONE } from "../tree/entry-tree.ts";
import { EntryAdder } from "./entry-adder.ts";
import { IssueLog, makeIssue } from "./issue-log.ts";
import { endsWithBrace, type LinePart, lengthWithoutZeros, partsOfLine } from "./line-parts.ts";
import { OwnLines } from "./own-lines.ts";
import type { LinePlace, Places } from "./places.ts";
import { type ReadHeader, readHeader } from "./session-header.ts";

/** What a `SessionIndex` is made with. */
export interface SessionIndexOptions {
  /** Gives bytes that were fed before; asked for only when two lines have the same id. */
  readonly readBytes: (offset: number, length: number) => Uint8Array;
  /** Bytes; longer lines are an issue. Default 256 MiB. */
  readonly maxLineBytes?: number;
  /** A header to go by, for a file that has lost its own. */
  readonly header?: SessionHeader;
}

/** A header is looked for among this many records. */
const FIRST_RECORDS = 16;

const CLOSE_BRACE = 0x7d;
const LINE_BREAK = new Uint8Array([0x0a]);

/**
 * Reads a session's bytes into its header, its tree of heads and its issues, and knows where each line stands.
 *
 * Every line becomes the header, an entry or an issue. Bodies are parsed only where a head is not at the front of its
 * line, or where the line looks as if it held more than one record. Ids that the file does not give are derived from
 * the session id and the record's number, so that every reading finds the same ones.
 *
 * @remarks Cost: O(bytes), about 62 bytes of memory per entry. Source: docs/format.md#reading
 */
export class SessionIndex {
  readonly #issues = new IssueLog();
  readonly #adder: EntryAdder;
  readonly #scanner: LineScanner;
  readonly #head = new EntryHeadReader();
  #header: ReadHeader | undefined;
  #headerPlace: LinePlace | undefined;
  #recordsBeforeHeader = 0;
  /** Whether an entry was spelled in another way than the head reader knows. */
  #isMixed = false;
  #isRejected = false;
  /** The `leaf` record that is the last line. */
  #leafRecord: JsonRecord | undefined;
  readonly #own = new OwnLines();

  constructor(options: SessionIndexOptions) {
    const { readBytes, maxLineBytes, header } = options;
    this.#adder = new EntryAdder({
      issues: this.#issues,
      readBytes,
      takeOwn: (ordinal) => this.#own.take(ordinal),
    });
    const sink: LineSink = {
      line: (line) => this.#takeLine(line),
      overlong: (line) => this.#takeOverlong(line),
    };
    this.#scanner = new LineScanner(sink, maxLineBytes === undefined ? {} : { maxLineBytes });
    if (header === undefined) return;
    const place = { line: 1, offset: 0, length: 0 };
    this.#takeFirstRecord({ ...header }, place);
    this.#issues.put("HEADER_MISSING", place);
  }

  get tree(): EntryTree {
    return this.#adder.tree;
  }

  get places(): Places {
    return this.#adder.places;
  }

  /** The header in today's version; undefined if none has come. */
  get header(): SessionHeader | undefined {
    return this.#header?.header;
  }

  get headerPlace(): LinePlace | undefined {
    return this.#headerPlace;
  }

  /** Version of the file; that of today where nothing tells. */
  get version(): number {
    return this.#adder.versionSoFar ?? CURRENT_SESSION_VERSION;
  }

  /** Whether the first records hold no header, so that this is no session. */
  get isRejected(): boolean {
    return this.#isRejected || (this.#header === undefined && this.#recordsBeforeHeader >= FIRST_RECORDS);
  }

  /** Whether the heads of the file are not as the current version writes them: it must be rewritten before it grows. */
  get needsUpgrade(): boolean {
    return this.version < CURRENT_SESSION_VERSION || this.#adder.unwritten > 0;
  }

  /** Bytes that were read or are known to stand there. */
  get position(): number {
    return this.#scanner.position;
  }

  /** Where the file ends if nobody else writes. */
  get expectedEnd(): number {
    return this.position + this.#own.bytes;
  }

  /** Whether the next line must begin with a line break. */
  get isMidLine(): boolean {
    return this.#own.isEmpty && this.#scanner.isMidLine;
  }

  /** Own entries that the file was expected to hold and that were not found in it. */
  get missingOwn(): number[] {
    return this.#own.ordinals;
  }

  /** What was odd so far; a copy. */
  get issues(): SessionIssue[] {
    return this.#issues.list();
  }

  /** Adds an issue that was found while a body was read. */
  report(issue: SessionIssue): void {
    this.#issues.add(issue);
  }

  /** Takes the next bytes. */
  feed(chunk: Uint8Array): void {
    this.#issues.tail = undefined;
    this.#scanner.feed(chunk);
  }

  /** Ends a batch of bytes: decides about the last line and about parents that were not there. */
  end(): void {
    this.#issues.tail = undefined;
    this.#scanner.end();
    this.#adder.settle();
  }

  /**
   * Adds an entry that is about to stand behind all others, and presumes its place until `confirmOwn`.
   *
   * @param length - Bytes of its line, line break included.
   * @param hasBreak - Whether a line break was written before it, to close a torn line.
   */
  addOwn(head: EntryHead, length: number, hasBreak: boolean): number {
    const offset = this.expectedEnd + (hasBreak ? 1 : 0);
    const parent = head.parentId === null ? null : idKeyOf(head.parentId);
    const ordinal = this.tree.add(head.type, idKeyOf(head.id), parent, head.timestampMs);
    const line = this.#scanner.line + this.#own.breaks + (hasBreak ? 1 : 0);
    this.places.set(ordinal, { offset, length: length - 1, line });
    this.#own.add({ ordinal, length, hasBreak });
    this.#leafRecord = undefined;
    return ordinal;
  }

  /** Says that all own entries stand where they were presumed to. */
  confirmOwn(): void {
    if (this.#own.isEmpty) return;
    for (const { ordinal, length, hasBreak } of this.#own.drain()) {
      if (hasBreak) this.feed(LINE_BREAK);
      this.#scanner.skip(length, 1);
      this.#adder.placeOwn(ordinal);
    }
    // What stood on a torn line that was closed may name parents.
    this.#adder.settle();
  }

  /** Says that own entries stand somewhere among the bytes that will be fed next, and not where they were presumed to. */
  expectOwnAmongOthers(): void {
    this.#own.disperse();
  }

  /** Gives the id of the first entry at or after a record number; for version 1. */
  entryIdFrom(recordNumber: number): string | undefined {
    return this.#adder.entryIdFrom(recordNumber);
  }

  /** Where the file says that the leaf is: at its last entry, or at the target of a `leaf` record that is its last line. */
  get storedLeaf(): number {
    const targetId = this.#leafRecord?.["targetId"];
    const target = typeof targetId === "string" ? this.tree.find(targetId) : NONE;
    return target === NONE ? this.tree.size - 1 : target;
  }

  #takeLine(line: ScannedLine): boolean | number {
    if (!this.#isPlainEntry(line)) return this.#takeOtherLine(line);
    this.#leafRecord = undefined;
    this.#adder.addPlain(this.#head, placeOf(line));
    return true;
  }

  #takeOtherLine(line: ScannedLine): boolean | number {
    const { terminated, continued } = line;
    const bytes = line.bytes.subarray(line.start, line.end);
    const length = lengthWithoutZeros(bytes);
    const text = bytes.subarray(0, length);
    const place = { ...placeOf(line), length };
    if (!terminated && !(continued && length === 0)) return this.#takeFront(text, place, continued);
    const parsed = continued ? undefined : parseJson(decodeText(text));
    if (parsed !== undefined) this.#takeValue(parsed.value, place, text);
    else if (length > 0) this.#takeParts(text, place, continued);
    if (length < bytes.length) {
      const zeros = { ...place, offset: place.offset + length, length: bytes.length - length };
      this.#issues.put("NUL_BYTES", zeros);
      // Zeros on a line of their own stand for a record; behind one they are damage all the same.
      this.#countDamage(length === 0 && !continued);
    }
    return true;
  }

  /** Takes the record that an unterminated line begins with, or takes note that there is none yet. */
  #takeFront(text: Uint8Array, place: LinePlace, isRest: boolean): number {
    const front = recordInFront(text);
    if (front === undefined) {
      const isValue = endsWithBrace(text) && parseJson(decodeText(text)) !== undefined;
      const code = text.length === 0 ? "NUL_BYTES" : isValue ? "NOT_AN_ENTRY" : "TAIL_TORN";
      this.#issues.tail = makeIssue(code, place);
      return 0;
    }
    const isBehindZeros = text.subarray(0, front.start).includes(0);
    if (isRest || isBehindZeros) this.#takeParts(text.subarray(0, front.end), place, isRest);
    else this.#takeValue(front.record, { ...place, length: front.end }, text.subarray(0, front.end));
    return front.end;
  }

  #takeOverlong(line: LinePlace & { terminated: boolean }): void {
    if (!line.terminated) {
      this.#issues.tail = makeIssue("TAIL_TORN", line);
      return;
    }
    this.#issues.put("LINE_TOO_LONG", line);
    this.#countDamage(true);
  }

  #isPlainEntry({ bytes, start, end, terminated, continued }: ScannedLine): boolean {
    const { version } = this.#adder;
    return (
      terminated &&
      !continued &&
      version !== undefined &&
      version >= 2 &&
      bytes[end - 1] === CLOSE_BRACE &&
      this.#head.read(bytes, start, end) &&
      !mayHoldSecondHead(bytes, this.#head, end, this.#isMixed)
    );
  }

  #takeValue(value: unknown, place: LinePlace, text: Uint8Array): void {
    this.#leafRecord = undefined;
    const type = isJsonRecord(value) ? value["type"] : undefined;
    if (!isJsonRecord(value) || typeof type !== "string") {
      this.#issues.put("NOT_AN_ENTRY", place);
      this.#countDamage(true);
    } else if (this.#header === undefined) {
      this.#takeFirstRecord(value, place);
    } else if (type === "session") {
      this.#issues.put("HEADER_REPEATED", place);
      this.#countOther();
    } else {
      this.#adder.addRecord(value, type, place);
      this.#isMixed ||= !this.#head.read(text, 0, text.length);
      this.#leafRecord = type === "leaf" ? value : undefined;
    }
  }

  #takeFirstRecord(record: JsonRecord, place: LinePlace): void {
    if (record["type"] !== "session") {
      this.#issues.put("RECORD_BEFORE_HEADER", place);
      this.#countOther();
      return;
    }
    const header = this.isRejected ? undefined : readHeader(record);
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
    if (this.version > CURRENT_SESSION_VERSION) this.#issues.put("VERSION_TOO_NEW", place);
  }

  /** Takes a line that does not parse, or what follows a record on a line whose front was taken. */
  #takeParts(text: Uint8Array, place: LinePlace, isRest: boolean): void {
    const parts = partsOfLine(text, isRest);
    const hasRecord = parts.some(({ kind }) => kind === "record");
    if (hasRecord || isRest) this.#issues.put("RECORDS_GLUED", place);
    else if (this.#header === undefined || !parts.some(({ kind }) => kind === "head")) {
      this.#issues.put("LINE_UNREADABLE", place);
    }
    for (const part of parts) {
      const length = part.end - part.start;
      const partPlace = { offset: place.offset + part.start, length, line: place.line };
      this.#takePart(part, partPlace, text.subarray(part.start, part.end));
    }
  }

  #takePart({ kind, record }: LinePart, place: LinePlace, text: Uint8Array): void {
    if (kind === "record") this.#takeValue(record, place, text);
    else if (kind === "head" && this.#header !== undefined) {
      this.#leafRecord = undefined;
      const id = this.#adder.addRecord(record, String(record["type"]), place);
      this.#issues.put("BODY_DAMAGED", place, id);
    } else this.#countDamage(kind !== "noise");
  }

  #countOther(): void {
    this.#adder.recordNumber++;
    if (this.#header === undefined) this.#recordsBeforeHeader++;
  }

  /** Takes note of damage: what follows may have had it as its parent. */
  #countDamage(isRecord: boolean): void {
    if (isRecord) this.#countOther();
    this.#leafRecord = undefined;
    this.#adder.hasDamageBehindLast = true;
  }
}

function placeOf(line: ScannedLine): LinePlace {
  return { offset: line.offset, length: line.end - line.start, line: line.line };
}
