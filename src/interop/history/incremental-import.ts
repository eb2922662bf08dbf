import type { AnySessionEntry } from "../../core/format/entry.ts";
import { decodeText } from "../../core/jsonl/decode.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import { PIECE_BYTES } from "../../session/fs/file-system.ts";
import type { ImportCounts, ImportedSession } from "../import/imported-session.ts";
import { readSourceText, type SourceRecord } from "../import/source-text.ts";
import type { KnownImport, ReadState } from "./import-cache.ts";
import type { ImportTarget, SessionBytes } from "./import-target.ts";
import { MAX_OWN_BYTES, makeStamp, makeTitleStamp, readSourceRange } from "./source-file.ts";
import type { KnownFile, ReadOptions, SourceProgram, SourceSession } from "./source-program.ts";

/** Number of bytes before the new part to reread, to check that they still yield the existing entries. Tried in order. */
const OVERLAPS = [128 * 1024, 2 * 1024 * 1024] as const;

/** Returns the state of a session's files; undefined for a session that must always be read completely. */
export function makeReadState({ files, title }: SourceSession): ReadState | undefined {
  const main = findMain(files);
  if (main === undefined || main.beside !== undefined) return undefined;
  const others = files.filter((file) => file !== main).map(makeStamp);
  return { size: main.size, others: [main.path, ...others, makeTitleStamp(title)].join("\n") };
}

function findMain(files: readonly KnownFile[]): KnownFile | undefined {
  const mains = files.filter(({ facts }) => facts.agentId === undefined);
  return mains.length === 1 ? mains[0] : undefined;
}

/**
 * Imports the records appended to a session's main file since the last import, without reading the rest of the file.
 *
 * Rereads the end of the imported part. Continues only if it yields exactly the end of the existing session, and if no new record
 * depends on earlier records. Otherwise, the caller must read everything.
 *
 * @returns Updated facts about the session; undefined if nothing was imported.
 * @remarks Cost: O(new bytes), plus a search for the new ids in the existing session.
 */
export async function readOn(
  session: SourceSession,
  { tail }: SourceProgram,
  before: KnownImport,
  target: ImportTarget,
  options: ReadOptions,
): Promise<KnownImport | undefined> {
  const { read, location, size } = before;
  const now = makeReadState(session);
  const main = findMain(session.files);
  if (tail === undefined || read === undefined || now === undefined || main === undefined) return undefined;
  if (size === undefined || target.extend === undefined) return undefined;
  if (read.others !== now.others || session.copies.length > 0 || now.size <= read.size) return undefined;
  // Larger parts are read in a separate process.
  if (now.size - read.size > MAX_OWN_BYTES) return undefined;
  let added: Tail | undefined;
  const isGrown = await target.extend(location, size, (existing) => {
    for (const overlap of OVERLAPS) {
      if (overlap >= read.size) return undefined;
      const [old, fresh] = readRecordsAround(main, read.size - overlap, read.size);
      const all = { records: [...old, ...fresh], issues: [] };
      if (fresh.length === 0) return undefined;
      const [oldTail, newTail] = [{ records: old, issues: [] }, all].map((text) =>
        tail.read(text, session, options),
      );
      added = oldTail && newTail && findTail(existing, size, oldTail, newTail);
      if (added !== undefined && tail.isAlone(fresh, old, added.sharedIds)) return added.entries;
    }
    return undefined;
  });
  if (!isGrown || added === undefined) return undefined;
  const { counts, dropped } = added;
  const written = { size: target.getSize(location), writtenMs: Date.now(), read: now };
  return {
    ...before,
    ...written,
    counts: addCounts(before.counts, counts),
    dropped: addCounts(before.dropped, dropped),
  };
}

/** Returns the complete records before and after an offset; empty if any line is damaged. */
function readRecordsAround(
  { path, size }: KnownFile,
  from: number,
  offset: number,
): [SourceRecord[], SourceRecord[]] {
  const bytes = readSourceRange(path, from, size - from);
  const start = bytes.indexOf(LINE_FEED) + 1;
  const middle = offset - from;
  const isWhole = bytes[middle - 1] === LINE_FEED && bytes.at(-1) === LINE_FEED && start < middle;
  if (!isWhole) return [[], []];
  const old = readSourceText(bytes.subarray(start, middle));
  const fresh = readSourceText(bytes.subarray(middle));
  const isIntact = old.issues.length + fresh.issues.length === 0;
  return isIntact ? [[...old.records], [...fresh.records]] : [[], []];
}

const LINE_FEED = 0x0a;

/** Difference between two imports of the end of a file. */
interface Tail {
  readonly entries: readonly AnySessionEntry[];
  /** Ids of the entries that both imports created and that already exist. */
  readonly sharedIds: ReadonlySet<string>;
  readonly counts: Counts;
  readonly dropped: Counts;
}

type Counts = { readonly [name: string]: number };

/**
 * Returns the additional entries from the longer of two parts at the end of a file, if the shorter part yields the end of an
 * existing session.
 */
function findTail(
  existing: SessionBytes,
  size: number,
  shorter: ImportedSession,
  longer: ImportedSession,
): Tail | undefined {
  // When the records are read separately, the parents of the first ones are missing.
  const isOdd =
    longer.issues.length > shorter.issues.length || longer.withdrawnIds.size > shorter.withdrawnIds.size;
  const old = shorter.entries.slice(1);
  const entries = longer.entries.slice(old.length + 1);
  if (isOdd || entries.length === 0) return undefined;
  const wanted = old.map(encodeRecord);
  const length = wanted.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
  const from = Math.max(0, size - length);
  const lines = decodeText(existing.readRange(from, size - from)).split("\n");
  if (lines.pop() !== "") return undefined;
  const sharedIds = new Set<string>();
  for (let back = 1; back <= Math.min(lines.length, old.length); back++) {
    const [one, other] = [old.at(-back), longer.entries[old.length + 1 - back]];
    const line = lines.at(-back);
    if (one === undefined || wanted.at(-back) !== line || encodeRecord(other ?? one) !== line) break;
    sharedIds.add(one.id);
  }
  // An entry with an existing id has a different meaning, or was written by another program.
  if (sharedIds.size === 0 || mayHold(existing, size, new Set(entries.map(({ id }) => id)))) return undefined;
  const [counts, dropped] = [
    subtractCounts(longer.counts, shorter.counts),
    subtractCounts(longer.dropped, shorter.dropped),
  ];
  return { entries, sharedIds, counts, dropped };
}

/** Beginning of an entry's line, and the number of bytes to search for it. */
const HEAD = /^\{"type":"[^"]*","id":"([^"]*)"/;
const HEAD_BYTES = 160;

/** Returns whether a session may contain one of these ids. Returns true if a line does not begin as expected. */
function mayHold(existing: SessionBytes, size: number, ids: ReadonlySet<string>): boolean {
  for (let at = 0; at < size; at += PIECE_BYTES) {
    const bytes = toBuffer(existing.readRange(at, Math.min(PIECE_BYTES + HEAD_BYTES, size - at)));
    const last = Math.min(PIECE_BYTES, size - at - 1);
    let start = bytes.indexOf(LINE_FEED) + 1;
    while (start > 0 && start <= last) {
      const id = HEAD.exec(bytes.toString("latin1", start, start + HEAD_BYTES))?.[1];
      if (id === undefined || ids.has(id)) return true;
      start = bytes.indexOf(LINE_FEED, start) + 1;
    }
  }
  return false;
}

function toBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

function subtractCounts(more: ImportCounts | Counts, less: ImportCounts | Counts): Counts {
  const taken: Counts = { ...less };
  return Object.fromEntries(Object.entries(more).map(([name, count]) => [name, count - (taken[name] ?? 0)]));
}

function addCounts<Named extends ImportCounts | Counts>(one: Named, other: Counts): Named {
  const known: Counts = { ...one };
  const sums = Object.entries(other).map(([name, count]) => [name, count + (known[name] ?? 0)]);
  return { ...one, ...Object.fromEntries(sums) };
}
