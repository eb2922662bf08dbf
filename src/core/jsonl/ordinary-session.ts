import type { UnknownEntry } from "../format/entry.ts";
import type { EntryHead } from "../format/head.ts";
import { idKeyOf } from "../format/id-key.ts";
import { isJsonRecord, type JsonRecord } from "../format/json.ts";
import { CURRENT_SESSION_VERSION } from "../format/version.ts";
import { NONE, type SessionHeads } from "../tree/entry-tree.ts";
import { decodeText, parseRecord } from "./decode.ts";
import type { EntryAdder } from "./entry-adder.ts";
import { hasBody, hasHead } from "./entry-body.ts";
import { USUAL_FRONT, USUAL_TIME_FIELD, USUAL_TYPES } from "./entry-head.ts";
import type { SpansByOrdinal } from "./line-spans.ts";

const LF = 0x0a;

/** How the line of a compaction begins, as pi and this library write it. */
const COMPACTION = '\n{"type":"compaction","id":"';

/** The first entry that a compaction keeps. */
const FIRST_KEPT = /"firstKeptEntryId":"([^"]*)"/;

/** Lines shorter than this are parsed if they are no messages: settings, labels and names. */
const SHORT_LINE = 1024;

/** Engines keep substrings from this length on as a part of the whole text, which then stays in memory. */
const SHORTEST_SLICE = 13;

/**
 * A session in which nothing is odd: every line is a record of the current version with its own id and an earlier parent.
 *
 * It has the heads as they are spelled, and no tree. In a process that has just started, this is faster than reading heads
 * from bytes: the engine has not compiled that code yet. What it says of a file must be what `LineReader` says.
 */
export class OrdinarySession implements SessionHeads, SpansByOrdinal {
  /** The header, as in the file. */
  readonly header: JsonRecord;
  /** The byte offset of each line break, the header's first. */
  readonly lineEnds: readonly number[];
  /** The entries that reading has parsed, by ordinal. */
  readonly parsed: (UnknownEntry | undefined)[] = [];
  /** Messages before this entry are not parsed, since a compaction has summarised them; undefined: all are parsed. */
  readonly #firstKept: string | undefined;
  /** Whether the lines from here on are parsed at once: the first context needs nearly all of them. */
  #isParsing: boolean;
  #isMixed = false;
  readonly #types: string[] = [];
  readonly #ids: string[] = [];
  readonly #parents: number[] = [];
  readonly #times: string[] = [];
  readonly #knownTypes = new Set<string>();
  readonly #ordinals = new Map<string | null, number>([[null, NONE]]);

  private constructor(header: JsonRecord, lineEnds: readonly number[], firstKept: string | undefined) {
    this.header = header;
    this.lineEnds = lineEnds;
    this.#firstKept = firstKept;
    this.#isParsing = firstKept === undefined;
  }

  /** Reads a file in steps of about so many bytes, and yields what was read after each; undefined if anything is odd. */
  static *read(bytes: Uint8Array, stepBytes: number): Generator<number, OrdinarySession | undefined> {
    const text = decodeText(bytes);
    const lines = text.split("\n");
    // What follows the last line break must be nothing. Other line ends are for the index.
    if (lines.pop() !== "" || text.includes("\r")) return undefined;
    const header = parseRecord(lines[0] ?? "");
    if (header === undefined || !isCurrentHeader(header)) return undefined;
    const ends = lineEndsOf(lines, bytes, text.length);
    const session = new OrdinarySession(header, ends, firstKeptIn(text));
    return (yield* session.#addAll(lines, stepBytes)) ? session : undefined;
  }

  get size(): number {
    return this.#ids.length;
  }

  /** Byte offset of the last line. */
  get lastLineOffset(): number {
    return this.offsetAt(this.size - 1);
  }

  /** Whether an entry has another spelling than the head reader knows. */
  get isMixed(): boolean {
    return this.#isMixed;
  }

  hasType(type: string): boolean {
    return this.#knownTypes.has(type);
  }

  typeAt(ordinal: number): string {
    return this.#types[ordinal] ?? "";
  }

  idAt(ordinal: number): string {
    return this.#ids[ordinal] ?? "";
  }

  headAt(ordinal: number): EntryHead {
    const [type, id] = [this.typeAt(ordinal), this.idAt(ordinal)];
    return { type, id, parentId: this.#parentIdAt(ordinal), timestampMs: this.#timeAt(ordinal) };
  }

  isHeadAt(ordinal: number, type: unknown, id: unknown, parentId: unknown): boolean {
    return (
      this.#ids[ordinal] === id && this.#types[ordinal] === type && this.#parentIdAt(ordinal) === parentId
    );
  }

  offsetAt(ordinal: number): number {
    return (this.lineEnds[ordinal] ?? -1) + 1;
  }

  lengthAt(ordinal: number): number {
    return (this.lineEnds[ordinal + 1] ?? 0) - this.offsetAt(ordinal);
  }

  find(id: string): number {
    return this.#ordinals.get(id) ?? NONE;
  }

  path(ordinal: number): Int32Array {
    const path: number[] = [];
    for (let at = ordinal; at !== NONE; at = this.#parents[at] ?? NONE) path.push(at);
    return Int32Array.from(path.reverse());
  }

  addTo(adder: EntryAdder): void {
    adder.tree.reserve(this.size);
    adder.spans.reserve(this.size);
    for (let ordinal = 0; ordinal < this.size; ordinal++) {
      const parentId = this.#parentIdAt(ordinal);
      const head = {
        type: this.typeAt(ordinal),
        id: idKeyOf(this.idAt(ordinal)),
        parent: parentId === null ? null : idKeyOf(parentId),
        timestampMs: this.#timeAt(ordinal),
      };
      adder.addHead(head, this.offsetAt(ordinal), this.lengthAt(ordinal), ordinal + 2);
    }
  }

  #parentIdAt(ordinal: number): string | null {
    return this.#ids[this.#parents[ordinal] ?? NONE] ?? null;
  }

  #timeAt(ordinal: number): number {
    return Date.parse(this.#times[ordinal] ?? "");
  }

  /** Adds the entries of all lines, the header first; false if one is odd. */
  *#addAll(lines: readonly string[], stepBytes: number): Generator<number, boolean> {
    let stepEnd = stepBytes;
    try {
      for (let i = 1; i < lines.length; i++) {
        const wasParsing = this.#isParsing;
        if (!this.#add(lines[i] ?? "")) return false;
        // The answer before what is kept often names the model.
        if (!wasParsing && this.#isParsing && i > 1) this.#parse(i - 2, lines[i - 1] ?? "");
        const end = this.lineEnds[i] ?? 0;
        if (end < stepEnd) continue;
        yield end;
        stepEnd = end + stepBytes;
      }
    } catch (error) {
      if (error instanceof SyntaxError) return false;
      throw error;
    }
    return true;
  }

  /** Parses the line of an entry that was added by its head, if it agrees with that. */
  #parse(ordinal: number, line: string): void {
    const record: unknown = JSON.parse(line);
    const { type, id, parentId } = this.headAt(ordinal);
    if (isOrdinary(record, type, id, parentId)) this.parsed[ordinal] = record;
  }

  /** Adds the entry of a line; false if it is odd. */
  #add(line: string): boolean {
    const front = USUAL_FRONT.exec(line);
    if (front === null) return this.#addOther(line);
    const type = USUAL_TYPES.get(front[1] ?? "") ?? "";
    const id = detached(front[2] ?? "");
    const parentId = front[3] ?? null;
    const timestamp = front[4] ?? "";
    this.#isParsing ||= id === this.#firstKept;
    const isSetting = type !== "message" && line.length < SHORT_LINE;
    const isNeeded = this.#isParsing || this.#isMixed || isSetting;
    if (!isNeeded && isWholeBehind(line, front[0].length))
      return this.#addHead(type, id, parentId, detached(timestamp));
    const record: unknown = JSON.parse(line);
    // If a field occurs twice, it depends on the rest of the line which one counts.
    if (!isOrdinary(record, type, id, parentId) || record.timestamp !== timestamp) return false;
    return this.#addHead(type, id, parentId, record.timestamp, record);
  }

  /** Adds the entry of a line in another spelling. */
  #addOther(line: string): boolean {
    this.#isMixed = true;
    const record: unknown = JSON.parse(line);
    if (!isJsonRecord(record)) return false;
    const { type, id, parentId } = record;
    if (typeof type !== "string" || type === "session" || type === "leaf") return false;
    if (typeof id !== "string" || id === "" || (parentId !== null && typeof parentId !== "string"))
      return false;
    if (!isOrdinary(record, type, id, parentId)) return false;
    return this.#addHead(type, id, parentId, record.timestamp, record);
  }

  #addHead(
    type: string,
    id: string,
    parentId: string | null,
    timestamp: string,
    entry?: UnknownEntry,
  ): boolean {
    const parent = this.#ordinals.get(parentId);
    if (parent === undefined || this.#ordinals.has(id)) return false;
    const ordinal = this.#ids.length;
    this.#ordinals.set(id, ordinal);
    if (entry !== undefined) this.parsed[ordinal] = entry;
    this.#types.push(type);
    this.#ids.push(id);
    this.#parents.push(parent);
    this.#times.push(timestamp);
    this.#knownTypes.add(type);
    return true;
  }
}

/** Returns the byte offsets of the line breaks. */
function lineEndsOf(lines: readonly string[], bytes: Uint8Array, characters: number): number[] {
  // With as many characters as bytes, each is one byte.
  const isAscii = characters === bytes.length;
  const ends: number[] = [];
  let offset = 0;
  for (const line of lines) {
    const end = isAscii ? offset + line.length : bytes.indexOf(LF, offset);
    ends.push(end);
    offset = end + 1;
  }
  return ends;
}

/** Returns the id of the first entry that the last compaction keeps; undefined if there is no compaction. */
function firstKeptIn(text: string): string | undefined {
  const start = text.lastIndexOf(COMPACTION);
  if (start === -1) return undefined;
  const line = text.slice(start + 1, text.indexOf("\n", start + 1));
  return detached(FIRST_KEPT.exec(line)?.[1] ?? "");
}

/** Tells whether the rest of a line ends like a record, and holds no second head. */
function isWholeBehind(line: string, at: number): boolean {
  return line.endsWith("}") && !line.includes(USUAL_TIME_FIELD, at);
}

/** Returns a short text that is no part of a longer one. */
function detached(text: string): string {
  return text.length < SHORTEST_SLICE ? text : ` ${text}`.slice(1);
}

/** Tells whether a record is a header that needs no explanation. Headers of pi's version 4 have a `kind`. */
function isCurrentHeader({ type, version, id, kind }: JsonRecord): boolean {
  return (
    type === "session" && version === CURRENT_SESSION_VERSION && typeof id === "string" && kind === undefined
  );
}

/** Tells whether a record is given to callers as it is: it has a body, and agrees with its head. */
function isOrdinary(
  record: unknown,
  type: string,
  id: string,
  parentId: string | null,
): record is UnknownEntry {
  return (
    isJsonRecord(record) && record["type"] === type && hasHead(record, { id, parentId }) && hasBody(record)
  );
}
