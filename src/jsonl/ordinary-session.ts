import type { AnySessionEntry, UnknownEntry } from "../schema/entry.ts";
import { isJsonRecord, type JsonRecord } from "../schema/json.ts";
import { CURRENT_SESSION_VERSION } from "../schema/version.ts";
import { NONE } from "../tree/entry-tree.ts";
import { decodeText } from "./decode.ts";
import { agreesWithFront, USUAL_FRONT } from "./entry-head.ts";

/** A session in which nothing is odd: its records are parsed, and not in a tree yet. */
export interface OrdinarySession {
  /** The header, as in the file. */
  readonly header: JsonRecord;
  /** The entries in the order of the file. */
  readonly entries: readonly UnknownEntry[];
  /** For each entry the index of its parent; NONE for a root. */
  readonly parents: readonly number[];
  /** The types of the entries. */
  readonly types: ReadonlySet<string>;
  /** The byte offset of each line break, the header's first. */
  readonly lineEnds: readonly number[];
  /** Whether an entry has another spelling than the head reader knows. */
  readonly isMixed: boolean;
}

const LF = 0x0a;

/**
 * Parses a whole session file, if every line is a record of the current version with its own id and an earlier parent.
 *
 * Does little more than parsing: in a process that has just started, this is faster than reading heads from bytes.
 *
 * @returns Undefined if anything is odd. A `SessionIndex` then finds out what it is.
 * @remarks Cost: O(bytes).
 */
export function readOrdinarySession(bytes: Uint8Array): OrdinarySession | undefined {
  const text = decodeText(bytes);
  const lines = text.split("\n");
  // What follows the last line break must be nothing. Other line ends are for the index.
  if (lines.pop() !== "" || text.includes("\r")) return undefined;
  try {
    return ordinaryOf(lines, text.length === bytes.length ? undefined : bytes);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** @param bytes - Undefined if each character is one byte. */
function ordinaryOf(lines: readonly string[], bytes: Uint8Array | undefined): OrdinarySession | undefined {
  const header: unknown = JSON.parse(lines[0] ?? "");
  if (!isCurrentHeader(header)) return undefined;
  const entries: UnknownEntry[] = [];
  const parents: number[] = [];
  const types = new Set<string>();
  const ordinals = new Map<string | null, number>([[null, NONE]]);
  const lineEnds: number[] = [];
  let isMixed = false;
  let offset = 0;
  for (const line of lines) {
    const end = bytes === undefined ? offset + line.length : bytes.indexOf(LF, offset);
    offset = end + 1;
    if (lineEnds.push(end) === 1) continue;
    const entry: unknown = JSON.parse(line);
    if (!isOrdinaryEntry(entry)) return undefined;
    const parent = ordinals.get(entry.parentId);
    if (parent === undefined || ordinals.has(entry.id)) return undefined;
    const front = USUAL_FRONT.exec(line);
    if (front === null) isMixed = true;
    else if (!agreesWithFront(entry, front)) return undefined;
    ordinals.set(entry.id, entries.length);
    entries.push(entry);
    parents.push(parent);
    types.add(entry.type);
  }
  return { header, entries, parents, types, lineEnds, isMixed };
}

/** Returns the path root → last entry. */
export function pathToLast({ entries, parents }: OrdinarySession): AnySessionEntry[] {
  const path: AnySessionEntry[] = [];
  for (let at = entries.length - 1; at !== NONE; at = parents[at] ?? NONE) {
    const entry = entries[at];
    if (entry !== undefined) path.push(entry);
  }
  return path.reverse();
}

/** Returns the byte offset of the last line. */
export function offsetOfLast({ lineEnds }: OrdinarySession): number {
  return (lineEnds.at(-2) ?? -1) + 1;
}

function isCurrentHeader(record: unknown): record is JsonRecord {
  return (
    isJsonRecord(record) &&
    record["type"] === "session" &&
    record["version"] === CURRENT_SESSION_VERSION &&
    typeof record["id"] === "string"
  );
}

/** Tells whether a record is an entry that is given to callers as it is. */
function isOrdinaryEntry(record: unknown): record is UnknownEntry {
  if (!isJsonRecord(record)) return false;
  const { type, id, parentId, timestamp, message } = record;
  if (typeof type !== "string" || typeof id !== "string" || typeof timestamp !== "string") return false;
  if (id === "" || (parentId !== null && typeof parentId !== "string")) return false;
  if (type === "message") return isJsonRecord(message) && typeof message["role"] === "string";
  return type !== "session" && type !== "leaf";
}
