import type { UnknownEntry } from "../schema/entry.ts";
import { isJsonRecord, type JsonRecord } from "../schema/json.ts";
import { CURRENT_SESSION_VERSION } from "../schema/version.ts";
import { NONE } from "../tree/entry-tree.ts";
import { decodeText, parseRecord } from "./decode.ts";
import { hasBody } from "./entry-body.ts";
import { USUAL_FRONT } from "./entry-head.ts";

const LF = 0x0a;

/** Occurs in a second record on a line with the usual spelling; inside a text, its quotes would be escaped. */
const USUAL_TIME = '"timestamp":"';

/** How the line of a compaction begins, as pi and this library write it. */
const COMPACTION = '\n{"type":"compaction","id":"';

/**
 * A session in which nothing is odd: every line is a record of the current version with its own id and an earlier parent.
 *
 * It has the heads as they are spelled, and no tree. In a process that has just started, this is faster than reading heads
 * from bytes: the engine has not compiled that code yet.
 */
export class OrdinarySession {
  /** The header, as in the file. */
  readonly header: JsonRecord;
  /** The byte offset of each line break, the header's first. */
  readonly lineEnds: readonly number[];
  /** The lines, the header first. */
  readonly lines: readonly string[];
  /** The entries that were parsed, by ordinal. */
  readonly entries = new Map<number, UnknownEntry>();
  /** Whether an entry has another spelling than the head reader knows. */
  isMixed = false;
  /** Whether to parse each line at once: without a compaction, the first context needs nearly all. */
  readonly #isParsing: boolean;
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
    this.#isParsing = isParsing;
    this.lines = lines;
    this.lineEnds = lineEnds;
  }

  /**
   * Reads a whole file, in steps of about so many bytes.
   *
   * @returns Undefined if anything is odd. A `SessionIndex` then finds out what it is.
   * @remarks Cost: O(bytes).
   */
  static *read(bytes: Uint8Array, stepBytes: number): Generator<void, OrdinarySession | undefined> {
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

  /** The types of the entries. */
  get types(): ReadonlySet<string> {
    return this.#knownTypes;
  }

  /** Returns the head of an entry. */
  headAt(ordinal: number): { type: string; id: string; parentId: string | null; timestamp: string } {
    return {
      type: this.#types[ordinal] ?? "",
      id: this.#ids[ordinal] ?? "",
      parentId: this.#ids[this.#parents[ordinal] ?? NONE] ?? null,
      timestamp: this.#times[ordinal] ?? "",
    };
  }

  /** Byte offset of the last line. */
  get lastLineOffset(): number {
    return (this.lineEnds.at(-2) ?? -1) + 1;
  }

  typeAt(ordinal: number): string {
    return this.#types[ordinal] ?? "";
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

  /** Returns an entry, the same object each time; undefined if its body is damaged or disagrees with its head. */
  entryAt(ordinal: number): UnknownEntry | undefined {
    const known = this.entries.get(ordinal);
    if (known !== undefined) return known;
    const record = parseRecord(this.lines[ordinal + 1] ?? "");
    if (record === undefined || !this.#agrees(record, ordinal)) return undefined;
    this.entries.set(ordinal, record);
    return record;
  }

  /** Adds the entries of all lines; false if one is odd. */
  *#addAll(stepBytes: number): Generator<void, boolean> {
    let stepEnd = stepBytes;
    try {
      for (let i = 1; i < this.lines.length; i++) {
        if (!this.#add(this.lines[i] ?? "")) return false;
        if ((this.lineEnds[i] ?? 0) < stepEnd) continue;
        yield;
        stepEnd += stepBytes;
      }
      return true;
    } catch (error) {
      if (error instanceof SyntaxError) return false;
      throw error;
    }
  }

  /**
   * Adds the entry of a line; false if it is odd.
   *
   * @throws {SyntaxError}
   */
  #add(line: string): boolean {
    const front = USUAL_FRONT.exec(line);
    const isClear =
      front !== null && !this.#isParsing && !this.isMixed && isWholeBehind(line, front[0].length);
    if (isClear) return this.#addHead(front[1] ?? "", front[2] ?? "", front[3] ?? null, front[4] ?? "");
    if (front === null) this.isMixed = true;
    const record: unknown = JSON.parse(line);
    if (!isOrdinary(record)) return false;
    // A field may occur twice: what the line begins with counts for the index.
    if (front !== null && !agreesWithFront(record, front)) return false;
    this.entries.set(this.size, record);
    return this.#addHead(record.type, record.id, record.parentId, record.timestamp);
  }

  #addHead(type: string, id: string, parentId: string | null, timestamp: string): boolean {
    const parent = this.#ordinals.get(parentId);
    if (parent === undefined || this.#ordinals.has(id)) return false;
    this.#ordinals.set(id, this.#ids.length);
    this.#types.push(type);
    this.#ids.push(id);
    this.#parents.push(parent);
    this.#times.push(timestamp);
    this.#knownTypes.add(type);
    return true;
  }

  #agrees(record: JsonRecord, ordinal: number): record is UnknownEntry {
    const { type, id, parentId, timestamp } = this.headAt(ordinal);
    return (
      record["id"] === id &&
      record["parentId"] === parentId &&
      record["timestamp"] === timestamp &&
      record["type"] === type &&
      hasBody(record)
    );
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
  return line.endsWith("}") && !line.includes(USUAL_TIME, at);
}

function isCurrentHeader({ type, version, id }: JsonRecord): boolean {
  return type === "session" && version === CURRENT_SESSION_VERSION && typeof id === "string";
}

/** Tells whether a record is an entry that is given to callers as it is. */
function isOrdinary(record: unknown): record is UnknownEntry {
  if (!isJsonRecord(record)) return false;
  const { type, id, parentId, timestamp } = record;
  if (typeof type !== "string" || typeof id !== "string" || typeof timestamp !== "string") return false;
  if (id === "" || (parentId !== null && typeof parentId !== "string")) return false;
  return type !== "session" && type !== "leaf" && hasBody(record);
}

function agreesWithFront(record: UnknownEntry, front: RegExpExecArray): boolean {
  return (
    record.id === front[2] &&
    record.parentId === (front[3] ?? null) &&
    record.timestamp === front[4] &&
    record.type === front[1]
  );
}
