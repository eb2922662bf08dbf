import type { UnknownEntry } from "../format/entry.ts";
import type { EntryHead } from "../format/head.ts";
import type { SessionHeader } from "../format/header.ts";
import { fromIdKey, type IdKey, toIdKey } from "../format/id-key.ts";
import { isJsonRecord, type JsonRecord } from "../format/json.ts";
import { CURRENT_SESSION_VERSION } from "../format/version.ts";
import { type EntryTree, findCommonAncestor, NONE } from "../tree/entry-tree.ts";
import { decodeText } from "./decode.ts";
import { USUAL_FRONT, USUAL_PLAIN, USUAL_TIME_FIELD, USUAL_TYPES } from "./entry-head.ts";
import type { LineSpan, LineSpans } from "./line-spans.ts";
import { readHeader } from "./session-header.ts";

const LF = 0x0a;

/** ASCII character that does not occur in printable text and that JSON does not escape. */
const DELETE = "\x7f";

/** Result for a line that `LineIndex` must read. */
const ODD = -1;

/** Beginning of a compaction's line, as written by pi and this library. */
const COMPACTION = '\n{"type":"compaction","id":"';

/** First entry that a compaction keeps. */
const FIRST_KEPT = /"firstKeptEntryId":"([^"]*)"/;

/** Maximum length of non-message lines to parse. They are settings, labels, and names. */
const SHORT_LINE = 1024;

/** Minimum length at which engines store a substring as a reference to the whole string, which then stays in memory. */
const SHORTEST_SLICE = 13;

/** Maximum length of a line's beginning for which none of its strings can be too long for a head. */
const MAX_SHORT_FRONT = 255;

/** Maximum number of entries for which arrays of strings take less time than columns and not much more memory. */
const MAX_ENTRIES = 32_768;

/**
 * Session without anomalies. Every line is a record in the current version with its own id and an earlier parent.
 *
 * Stores the tree and the line spans of its entries in arrays of the file's strings and a map of ids. Entries written by this
 * process are added at the end. In a process that has just started, this is faster than reading heads from bytes into columns,
 * because the engine has not compiled that code yet. The results must equal those of `LineIndex`, which takes over at the first
 * anomaly.
 */
export class OrdinarySession implements EntryTree, LineSpans {
  readonly revision = 0;
  /** Header, as stored in the file. */
  readonly headerRecord: JsonRecord & SessionHeader;
  readonly header: SessionHeader;
  /** Byte offset after the last line that was read or whose position is confirmed. */
  confirmedEnd = 0;
  /** Entries parsed during reading, by ordinal. */
  readonly parsed: (UnknownEntry | undefined)[] = [];
  /** Number of entries that were read or whose position is confirmed. */
  #confirmed = 0;
  /** Byte offset of each line break, starting with the header's. */
  readonly #lineEnds: number[];
  /**
   * Id of the first kept entry. Messages before it are not parsed, because a compaction has summarized them. If undefined, all
   * messages are parsed.
   */
  #firstKept: string | undefined;
  /** Whether subsequent lines are parsed immediately, because the first context requires nearly all of them. */
  #isParsing: boolean;
  #isMixed = false;
  /** Whether all characters of the file are printable ASCII. */
  #isPlain = false;
  readonly #types: string[] = [];
  readonly #ids: string[] = [];
  readonly #parents: number[] = [];
  /** Times of entries that were read. */
  readonly #times: string[] = [];
  /** Times of entries written by this process, which follow the entries that were read, in Unix milliseconds. */
  readonly #ownTimes: number[] = [];
  readonly #knownTypes = new Set<string>();
  readonly #ordinals = new Map<unknown, number>([[null, NONE]]);
  /** Children of each entry, starting with those of NONE. Created on demand. */
  #children: number[][] | undefined;

  private constructor(header: JsonRecord & SessionHeader, lineEnds: number[], firstKept: string | undefined) {
    this.headerRecord = header;
    // Headers without a parent session are used as read.
    this.header = header.parentSession === undefined ? header : (readHeader(header)?.header ?? header);
    this.#lineEnds = lineEnds;
    this.#firstKept = firstKept;
    this.#isParsing = firstKept === undefined;
  }

  /**
   * Reads a file in steps of about `stepBytes`, and yields the offset after each step. Returns undefined at the first anomaly.
   *
   * @param decode - Faster equivalent of `decodeText`, if available.
   */
  static *read(
    bytes: Uint8Array,
    stepBytes: number,
    decode = decodeText,
  ): Generator<number, OrdinarySession | undefined> {
    const text = decode(bytes);
    const lines = text.split("\n");
    // The file must end with a line break. Other kinds of line breaks require `LineIndex`.
    if (lines.pop() !== "" || text.includes("\r")) return undefined;
    const header = parseHeader(lines[0] ?? "");
    if (header === undefined) return undefined;
    // If there are as many characters as bytes, each character takes one byte.
    const isAscii = text.length === bytes.length;
    const ends = isAscii ? addUpLengths(lines) : findLineEnds(lines, bytes);
    const session = new OrdinarySession(header, ends, findFirstKept(text));
    session.#isPlain = isAscii && !text.includes(DELETE);
    return (yield* session.#addAll(lines, stepBytes)) ? session : undefined;
  }

  get size(): number {
    return this.#ids.length;
  }

  /** Byte offset after the last line. */
  get end(): number {
    return (this.#lineEnds[this.#ids.length] ?? 0) + 1;
  }

  /** Length of the header's line. */
  get headerLength(): number {
    return this.#lineEnds[0] ?? 0;
  }

  /** Byte offset of the last line whose position is confirmed. */
  get lastLineOffset(): number {
    return (this.#lineEnds[this.#confirmed - 1] ?? -1) + 1;
  }

  /** Whether any entry has a form that `EntryHeadReader` does not support. */
  get isMixed(): boolean {
    return this.#isMixed;
  }

  /** Number of entries that were read or whose position is confirmed. */
  get confirmed(): number {
    return this.#confirmed;
  }

  /**
   * Adds an entry written by this process, whose line of `length` bytes is at the end of the file. Returns false if the entry is
   * an anomaly.
   */
  addOwn({ type, id, parentId, timestampMs }: EntryHead, length: number): boolean {
    const parent = this.#ordinals.get(parentId);
    const size = this.#ids.length;
    if (parent === undefined || this.#ordinals.has(id) || size >= MAX_ENTRIES) return false;
    this.#lineEnds.push((this.#lineEnds[size] ?? 0) + length);
    this.#ownTimes.push(timestampMs);
    this.#push(type, id, parent);
    return true;
  }

  /** Confirms that the lines of the first `count` entries of this process, or of all of them, are at their assumed positions. */
  confirm(count = this.#ids.length - this.#confirmed): void {
    this.#confirmed += count;
    this.confirmedEnd = (this.#lineEnds[this.#confirmed] ?? 0) + 1;
  }

  find(id: string): number {
    return this.#ordinals.get(id) ?? NONE;
  }

  findKey(key: IdKey): number {
    return this.find(fromIdKey(key));
  }

  keyAt(ordinal: number): IdKey {
    return toIdKey(this.idAt(ordinal));
  }

  idAt(ordinal: number): string {
    return this.#ids[ordinal] ?? "";
  }

  typeAt(ordinal: number): string {
    return this.#types[ordinal] ?? "";
  }

  hasType(type: string): boolean {
    return this.#knownTypes.has(type);
  }

  parentAt(ordinal: number): number {
    return this.#parents[ordinal] ?? NONE;
  }

  timeAt(ordinal: number): number {
    const read = this.#times.length;
    return ordinal < read
      ? Date.parse(this.#times[ordinal] ?? "")
      : (this.#ownTimes[ordinal - read] ?? Number.NaN);
  }

  headAt(ordinal: number): EntryHead {
    const [type, id, timestampMs] = [this.typeAt(ordinal), this.idAt(ordinal), this.timeAt(ordinal)];
    return { type, id, parentId: this.#parentIdAt(ordinal), timestampMs };
  }

  isHeadAt(ordinal: number, type: unknown, id: unknown, parentId: unknown): boolean {
    return (
      this.#ids[ordinal] === id && this.#types[ordinal] === type && this.#parentIdAt(ordinal) === parentId
    );
  }

  children(ordinal: number): Iterable<number> {
    return (this.#linkChildren()[ordinal + 1] ?? []).values();
  }

  ordinals(): Iterable<number> {
    return this.#ids.keys();
  }

  isLeaf(ordinal: number): boolean {
    return this.#linkChildren()[ordinal + 1]?.length === 0;
  }

  *leaves(): Generator<number, void> {
    for (let i = 0; i < this.size; i++) if (this.isLeaf(i)) yield i;
  }

  path(ordinal: number): Int32Array {
    const parents = this.#parents;
    const path: number[] = [];
    for (let at = ordinal; at !== NONE; at = parents[at] ?? NONE) path.push(at);
    return Int32Array.from(path.reverse());
  }

  commonAncestor(a: number, b: number): number {
    return findCommonAncestor(this, a, b);
  }

  at(ordinal: number): LineSpan {
    // The header is line 1, and no line is blank.
    return { offset: this.offsetAt(ordinal), length: this.lengthAt(ordinal), line: ordinal + 2 };
  }

  offsetAt(ordinal: number): number {
    return (this.#lineEnds[ordinal] ?? -1) + 1;
  }

  lengthAt(ordinal: number): number {
    return (this.#lineEnds[ordinal + 1] ?? 0) - this.offsetAt(ordinal);
  }

  inFileOrder(given: Iterable<number>): Int32Array {
    return Int32Array.from(given).sort();
  }

  allInFileOrder(count: number): Int32Array {
    return Int32Array.from({ length: count }, (_, ordinal) => ordinal);
  }

  #parentIdAt(ordinal: number): string | null {
    return this.#ids[this.#parents[ordinal] ?? NONE] ?? null;
  }

  #linkChildren(): number[][] {
    this.#children ??= [[]];
    for (let ordinal = this.#children.length - 1; ordinal < this.size; ordinal++) {
      this.#children.push([]);
      this.#children[this.parentAt(ordinal) + 1]?.push(ordinal);
    }
    return this.#children;
  }

  /** Adds the entries of all lines after the header. Returns false at the first anomaly. */
  *#addAll(lines: readonly string[], stepBytes: number): Generator<number, boolean> {
    let [at, stepEnd] = [1, stepBytes];
    try {
      while (at < lines.length) {
        const isParsing = this.#isParsing || this.#isMixed;
        at = isParsing ? this.#addParsed(lines, at, stepEnd) : this.#addByHead(lines, at);
        if (at === ODD) return false;
        const end = this.#lineEnds[at - 1] ?? 0;
        if (end < stepEnd) continue;
        yield end;
        stepEnd = end + stepBytes;
      }
    } catch (error) {
      if (error instanceof SyntaxError) return false;
      throw error;
    }
    this.confirm();
    return true;
  }

  /**
   * Parses lines up to approximately an offset, and adds their entries. This is a single loop with local variables, because
   * nothing is inlined in a process that has just started.
   *
   * @returns Number of the next line, or ODD.
   */
  #addParsed(lines: readonly string[], from: number, end: number): number {
    const [ordinals, types, ids, times] = [this.#ordinals, this.#types, this.#ids, this.#times];
    const [parents, parsed, lineEnds, knownTypes] = [
      this.#parents,
      this.parsed,
      this.#lineEnds,
      this.#knownTypes,
    ];
    const isPlain = this.#isPlain;
    let at = from;
    for (; at < lines.length; at++) {
      const line = lines[at] ?? "";
      const record: unknown = JSON.parse(line);
      if (!isOrdinaryRecord(record)) return ODD;
      const { type, id, parentId, timestamp } = record;
      const parent = ordinals.get(parentId);
      if (parent === undefined || ordinals.has(id)) return ODD;
      const quoted = parentId === null ? "null" : `"${parentId}"`;
      const front = `{"type":"${type}","id":"${id}","parentId":${quoted},"timestamp":"${timestamp}",`;
      if (!line.startsWith(front)) {
        // If a field occurs twice, the rest of the line determines which one applies.
        if (USUAL_FRONT.test(line)) return ODD;
        this.#isMixed = true;
      } else if (!USUAL_TYPES.has(type) || front.length > MAX_SHORT_FRONT || !isPlain) {
        if (!isUsual(type, id, timestamp)) this.#isMixed = true;
      }
      const ordinal = ids.length;
      ordinals.set(id, ordinal);
      parsed[ordinal] = record;
      ids.push(id);
      types.push(type);
      parents.push(parent);
      times.push(timestamp);
      knownTypes.add(type);
      if ((lineEnds[at] ?? 0) >= end) return at + 1;
    }
    return at;
  }

  /**
   * Adds the entry of a line that the first context does not require, without parsing its body. Returns the number of the next
   * line, or ODD.
   */
  #addByHead(lines: readonly string[], at: number): number {
    const line = lines[at] ?? "";
    const front = USUAL_FRONT.exec(line);
    const type = USUAL_TYPES.get(front?.[1] ?? "");
    const id = front?.[2] ?? "";
    const isKept = id === this.#firstKept;
    const isSetting = type !== "message" && line.length < SHORT_LINE;
    if (front === null || type === undefined || isKept || isSetting || !isWholeAfter(line, front[0].length)) {
      this.#isParsing = isKept;
      // The answer before the first kept entry often specifies the model.
      if (isKept) this.#parseLast(lines[at - 1] ?? "");
      return this.#addParsed(lines, at, 0);
    }
    const parent = this.#ordinals.get(front[3] ?? null);
    if (parent === undefined || this.#ordinals.has(id)) return ODD;
    this.#times.push(detachText(front[4] ?? ""));
    this.#push(type, detachText(id), parent);
    return at + 1;
  }

  /** Parses the line of the last entry, which was added from its head only. Keeps the record if it matches the head. */
  #parseLast(line: string): void {
    const ordinal = this.size - 1;
    if (ordinal < 0 || this.parsed[ordinal] !== undefined) return;
    const record: unknown = JSON.parse(line);
    if (isOrdinaryRecord(record) && this.isHeadAt(ordinal, record.type, record.id, record.parentId))
      this.parsed[ordinal] = record;
  }

  #push(type: string, id: string, parent: number): void {
    this.#ordinals.set(id, this.#ids.length);
    this.#types.push(type);
    this.#ids.push(id);
    this.#parents.push(parent);
    this.#knownTypes.add(type);
  }
}

/** Returns the byte offsets of line breaks for lines in which each character takes one byte. */
function addUpLengths(lines: readonly string[]): number[] {
  const ends: number[] = [];
  let end = -1;
  for (let i = 0; i < lines.length; i++) {
    end += (lines[i]?.length ?? 0) + 1;
    ends.push(end);
  }
  return ends;
}

/** Returns the byte offsets of line breaks for any lines. */
function findLineEnds(lines: readonly string[], bytes: Uint8Array): number[] {
  let offset = 0;
  return lines.map(() => {
    const end = bytes.indexOf(LF, offset);
    offset = end + 1;
    return end;
  });
}

/** Returns the id of the first entry that the last compaction keeps; undefined if there is no compaction. */
function findFirstKept(text: string): string | undefined {
  // Engines search forward much faster than backward.
  if (!text.includes(COMPACTION)) return undefined;
  const start = text.lastIndexOf(COMPACTION);
  const line = text.slice(start + 1, text.indexOf("\n", start + 1));
  return detachText(FIRST_KEPT.exec(line)?.[1] ?? "");
}

/** Returns whether the rest of a line ends like a record and contains no second head. */
function isWholeAfter(line: string, at: number): boolean {
  return line.endsWith("}") && !line.includes(USUAL_TIME_FIELD, at);
}

/** Returns a copy of a string that does not keep a longer string in memory. */
function detachText(text: string): string {
  return text.length < SHORTEST_SLICE ? text : ` ${text}`.slice(1);
}

/** Returns whether `EntryHeadReader` supports the form of a head at the start of a line. */
function isUsual(type: string, id: string, timestamp: string): boolean {
  return USUAL_TYPES.has(type) && USUAL_PLAIN.test(id) && USUAL_PLAIN.test(timestamp);
}

/** Parses a header that needs no conversion. Returns undefined for any other. Headers of pi's version 4 have a `kind`. */
function parseHeader(line: string): (JsonRecord & SessionHeader) | undefined {
  try {
    const record: unknown = JSON.parse(line);
    return isCurrentHeader(record) ? record : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isCurrentHeader(record: unknown): record is JsonRecord & SessionHeader {
  if (!isJsonRecord(record)) return false;
  const { type, version, id, kind, timestamp, cwd, parentSession, branchedFrom } = record;
  return (
    type === "session" &&
    version === CURRENT_SESSION_VERSION &&
    typeof id === "string" &&
    typeof timestamp === "string" &&
    typeof cwd === "string" &&
    kind === undefined &&
    branchedFrom === undefined &&
    (parentSession === undefined || typeof parentSession === "string")
  );
}

/** Returns whether a record is an entry that callers can receive unchanged, which requires a head and a body. */
function isOrdinaryRecord(record: unknown): record is UnknownEntry & { readonly parentId: string | null } {
  if (!isJsonRecord(record)) return false;
  const { type, id, timestamp, message } = record;
  if (typeof id !== "string" || id === "" || typeof timestamp !== "string") return false;
  if (type !== "message") return typeof type === "string" && type !== "session" && type !== "leaf";
  return isJsonRecord(message) && typeof message["role"] === "string";
}
