import type { UnknownEntry } from "../schema/entry.ts";
import { idKeyOf } from "../schema/id-key.ts";
import { isJsonRecord, type JsonRecord } from "../schema/json.ts";
import { CURRENT_SESSION_VERSION } from "../schema/version.ts";
import { NONE } from "../tree/entry-tree.ts";
import { decodeText, parseRecord } from "./decode.ts";
import type { EntryAdder } from "./entry-adder.ts";
import { hasBody, hasHead } from "./entry-body.ts";
import { USUAL_FRONT, USUAL_TIME_FIELD, USUAL_TYPES } from "./entry-head.ts";

const LF = 0x0a;

/** How the line of a compaction begins, as pi and this library write it. */
const COMPACTION = '\n{"type":"compaction","id":"';

/** Engines keep substrings from this length on as a part of the whole text, which then stays in memory. */
const SHORTEST_SLICE = 13;

/**
 * A session in which nothing is odd: every line is a record of the current version with its own id and an earlier parent.
 *
 * It has the heads as they are spelled, and no tree. In a process that has just started, this is faster than reading heads
 * from bytes: the engine has not compiled that code yet. What it says of a file must be what `LineReader` says.
 */
export class OrdinarySession {
  /** The header, as in the file. */
  readonly header: JsonRecord;
  /** The byte offset of each line break, the header's first. */
  readonly lineEnds: readonly number[];
  /** Whether to parse each line at once: without a compaction, the first context needs nearly all. */
  readonly #isParsing: boolean;
  #isMixed = false;
  /** The lines, the header first; none once they are not needed. */
  #lines: readonly string[];
  /** By ordinal, the entries that were parsed and not taken. */
  readonly #parsed: (UnknownEntry | undefined)[] = [];
  readonly #types: string[] = [];
  readonly #ids: string[] = [];
  readonly #parents: number[] = [];
  readonly #times: string[] = [];
  readonly #knownTypes = new Set<string>();
  readonly #ordinals = new Map<string | null, number>([[null, NONE]]);

  private constructor(
    header: JsonRecord,
    lines: readonly string[],
    lineEnds: readonly number[],
    isParsing: boolean,
  ) {
    this.header = header;
    this.lineEnds = lineEnds;
    this.#lines = lines;
    this.#isParsing = isParsing;
  }

  /**
   * Reads a whole file, in steps of about so many bytes; yields the number of bytes read after each.
   *
   * @returns Undefined if anything is odd. A `SessionIndex` then finds out what it is.
   * @remarks Cost: O(bytes).
   */
  static *read(bytes: Uint8Array, stepBytes: number): Generator<number, OrdinarySession | undefined> {
    const text = decodeText(bytes);
    const lines = text.split("\n");
    // What follows the last line break must be nothing. Other line ends are for the index.
    if (lines.pop() !== "" || text.includes("\r")) return undefined;
    const header = parseRecord(lines[0] ?? "");
    if (header === undefined || !isCurrentHeader(header)) return undefined;
    const ends = lineEndsOf(lines, bytes, text.length);
    const session = new OrdinarySession(header, lines, ends, !text.includes(COMPACTION));
    return (yield* session.#addAll(stepBytes)) ? session : undefined;
  }

  /** Number of entries. */
  get size(): number {
    return this.#ids.length;
  }

  /** Id of the last entry; null if there is none. */
  get lastId(): string | null {
    return this.#ids.at(-1) ?? null;
  }

  /** Byte offset of the last line. */
  get lastLineOffset(): number {
    return (this.lineEnds.at(-2) ?? -1) + 1;
  }

  /** The types of the entries. */
  get types(): ReadonlySet<string> {
    return this.#knownTypes;
  }

  /** Whether an entry has another spelling than the head reader knows. */
  get isMixed(): boolean {
    return this.#isMixed;
  }

  typeAt(ordinal: number): string {
    return this.#types[ordinal] ?? "";
  }

  /** Length of an entry's line in bytes, without the line break. */
  lengthAt(ordinal: number): number {
    return (this.lineEnds[ordinal + 1] ?? 0) - (this.lineEnds[ordinal] ?? 0) - 1;
  }

  /** Returns the ordinal of an id, or NONE. */
  find(id: string): number {
    return this.#ordinals.get(id) ?? NONE;
  }

  /** Returns the ordinals of the path root → last entry. */
  pathToLast(): number[] {
    const path: number[] = [];
    for (let at = this.size - 1; at !== NONE; at = this.#parents[at] ?? NONE) path.push(at);
    return path.reverse();
  }

  /**
   * Returns an entry, which is another object each time.
   *
   * @returns Undefined if its body is damaged or disagrees with its head, or if its line was dropped.
   */
  take(ordinal: number): UnknownEntry | undefined {
    const parsed = this.#parsed[ordinal];
    if (parsed !== undefined) {
      this.#parsed[ordinal] = undefined;
      return parsed;
    }
    const line = this.#lines[ordinal + 1];
    const record = line === undefined ? undefined : parseRecord(line);
    const type = this.#types[ordinal] ?? "";
    const parentId = this.#ids[this.#parents[ordinal] ?? NONE] ?? null;
    const isEntry = record !== undefined && isOrdinary(record, type, this.#ids[ordinal] ?? "", parentId);
    return isEntry ? record : undefined;
  }

  /** Drops the lines, whose text takes as much memory as the file. */
  dropLines(): void {
    this.#lines = [];
  }

  /** Adds the entries to a tree. Returns those that were parsed and not taken, by ordinal. */
  addTo(adder: EntryAdder): Map<number, UnknownEntry> {
    adder.tree.reserve(this.size);
    adder.spans.reserve(this.size);
    for (let ordinal = 0; ordinal < this.size; ordinal++) {
      const parent = this.#ids[this.#parents[ordinal] ?? NONE];
      const head = {
        type: this.typeAt(ordinal),
        id: idKeyOf(this.#ids[ordinal] ?? ""),
        parent: parent === undefined ? null : idKeyOf(parent),
        timestampMs: Date.parse(this.#times[ordinal] ?? ""),
      };
      const offset = (this.lineEnds[ordinal] ?? 0) + 1;
      adder.addHead(head, offset, this.lengthAt(ordinal), ordinal + 2);
    }
    const untaken = new Map<number, UnknownEntry>();
    for (const [ordinal, entry] of this.#parsed.entries())
      if (entry !== undefined) untaken.set(ordinal, entry);
    return untaken;
  }

  /** Adds the entries of all lines; false if one is odd. */
  *#addAll(stepBytes: number): Generator<number, boolean> {
    let stepEnd = stepBytes;
    try {
      for (let i = 1; i < this.#lines.length; i++) {
        if (!this.#add(this.#lines[i] ?? "")) return false;
        const end = this.lineEnds[i] ?? 0;
        if (end < stepEnd) continue;
        yield end;
        stepEnd = end + stepBytes;
      }
    } catch (error) {
      if (error instanceof SyntaxError) return false;
      throw error;
    }
    if (this.#isParsing) this.dropLines();
    return true;
  }

  /**
   * Adds the entry of a line; false if it is odd.
   *
   * @throws {SyntaxError}
   */
  #add(line: string): boolean {
    const front = USUAL_FRONT.exec(line);
    if (front === null) return this.#addOther(line);
    const type = USUAL_TYPES.get(front[1] ?? "") ?? "";
    const id = detached(front[2] ?? "");
    const parentId = front[3] ?? null;
    const timestamp = front[4] ?? "";
    if (!this.#isParsing && !this.#isMixed && isWholeBehind(line, front[0].length))
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
    this.#ordinals.set(id, this.#ids.length);
    this.#types.push(type);
    this.#ids.push(id);
    this.#parents.push(parent);
    this.#times.push(timestamp);
    this.#parsed.push(entry);
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
