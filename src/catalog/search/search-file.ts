import type { BytePattern } from "../../core/jsonl/byte-pattern.ts";
import type { LineSource } from "../../core/jsonl/line-source.ts";
import type { SessionIndex } from "../../core/jsonl/session-index.ts";
import { NONE } from "../../core/tree/entry-tree.ts";
import { readFilePieces, type ScannedFile } from "../../session/files/file-mark.ts";
import type { Pace } from "../../session/files/time-slices.ts";
import { GramCollector } from "../list/gram-filter.ts";
import {
  type FoundEntry,
  readEntries,
  readEntriesOnLines,
  readSource,
  type WholeLine,
} from "../list/read-entries.ts";
import {
  type EntryHit,
  EntrySearch,
  getRequiredTexts,
  needsCalls,
  type SearchPlan,
} from "../query/entry-search.ts";
import { SEARCHED_TYPES } from "../query/search-text.ts";
import { MatchWalk, makeTextPatterns, type TextPatterns } from "../query/text-bytes.ts";

/** Branch of an entry: `active` for the path to the session's leaf, `left` for an abandoned branch. */
export type HitBranch = "active" | "left";

/** Hit in a file. Its branch may not have been determined yet. */
export interface FoundHit extends EntryHit {
  readonly offset: number;
  readonly branch: HitBranch | undefined;
}

/**
 * Finds hits in an open file, batch by batch.
 *
 * @param isInOrder - Whether each line is known to be one current-version record with a unique id. In that case, hits lack their
 * branch unless the plan requires it.
 * @param onFilter - Called with the file's gram filter if all bytes were read.
 * @throws {TooSlowError} If an expression takes too long.
 */
export async function* findInFile(
  file: ScannedFile,
  plan: SearchPlan,
  isInOrder: boolean,
  pace: Pace,
  onFilter?: (filter: Uint8Array) => void,
): AsyncGenerator<FoundHit[], void, undefined> {
  const patterns = findRarest(plan);
  const collector = onFilter && patterns && new GramCollector(file.size);
  const lines = patterns && (await findLinesThatMayHold(file, patterns, pace, collector));
  if (collector !== undefined) onFilter?.(collector.filter);
  if (lines?.length === 0) return;
  const isByLine = !needsCalls(plan) && plan.filters.branch !== "active";
  if (isByLine && isInOrder && lines?.every(isWhole) === true) {
    const search = new EntrySearch(plan, "");
    for await (const batch of readEntriesOnLines(file, lines, pace)) yield findHits(search, batch);
    return;
  }
  const source = await readSource(file, pace);
  if (source !== undefined) yield* findInSource(source, lines, plan, pace);
}

/** Finds hits on the given lines of a session; undefined means all lines. */
export async function* findInSource(
  source: LineSource,
  lines: readonly FoundLine[] | undefined,
  plan: SearchPlan,
  pace: Pace,
): AsyncGenerator<FoundHit[], void, undefined> {
  const { index } = source;
  const search = new EntrySearch(plan, index.header?.cwd ?? "");
  const getBranch = makeBranchLookup(index);
  const isWanted = ({ branch }: FoundHit) => plan.filters.branch !== "active" || branch === "active";
  // What a failure or a result is about is stated in the answer that called the tool.
  const ordinals = listCandidates(index, needsCalls(plan) ? undefined : lines);
  for await (const batch of readEntries(source, ordinals, pace)) {
    yield findHits(search, batch, ({ entryId }) => getBranch(entryId)).filter(isWanted);
  }
}

/** Finds hits on the lines at the given offsets, in ascending order. */
export function findAtOffsets(
  source: LineSource,
  offsets: readonly number[],
  plan: SearchPlan,
  pace: Pace,
): AsyncGenerator<FoundHit[], void, undefined> {
  const lines = offsets.map((at): FoundLine => ({ at, start: at, end: undefined }));
  return findInSource(source, lines, plan, pace);
}

/** Returns whether a file may contain the strings required for a hit, based only on its bytes. */
export async function mayHoldRequired(file: ScannedFile, plan: SearchPlan, pace: Pace): Promise<boolean> {
  const patterns = findRarest(plan);
  return patterns === undefined || (await findLinesThatMayHold(file, patterns, pace)).length > 0;
}

/** Creates a function that returns the branch of an entry. A nonexistent entry is considered active. */
export function makeBranchLookup({ tree, storedLeaf }: SessionIndex): (entryId: string) => HitBranch {
  const active = new Uint8Array(tree.size);
  for (let at = storedLeaf; at !== NONE; at = tree.parentAt(at)) active[at] = 1;
  return (entryId) => {
    const ordinal = tree.find(entryId);
    return ordinal === NONE || active[ordinal] === 1 ? "active" : "left";
  };
}

interface BranchReading<Hit> {
  /** Whether the hits from several sessions may be interleaved. If so, all hits are read first. */
  readonly isMixed: boolean;
  readonly getSession: (hit: Hit) => string;
  /** Reads the branches of all entries in a hit's session; undefined if the session no longer exists. */
  readonly read: (hit: Hit) => Promise<((entryId: string) => HitBranch) | undefined>;
}

/** Adds branches to hits, reading each session once. Omits hits in sessions that no longer exist. */
export async function* withBranches<Hit extends Pick<FoundHit, "entryId" | "branch">>(
  hits: AsyncIterable<Hit>,
  { isMixed, getSession, read }: BranchReading<Hit>,
): AsyncGenerator<Hit & { readonly branch: HitBranch }, void, undefined> {
  let last: { session: string; getBranch: Awaited<ReturnType<typeof read>> } | undefined;
  const getBranch = async (hit: Hit) => {
    if (hit.branch !== undefined) return hit.branch;
    const session = getSession(hit);
    if (last?.session !== session) last = { session, getBranch: await read(hit) };
    return last.getBranch?.(hit.entryId);
  };
  const all: Hit[] = [];
  for await (const hit of hits) {
    if (isMixed) {
      all.push(hit);
      continue;
    }
    const branch = await getBranch(hit);
    if (branch !== undefined) yield { ...hit, branch };
  }
  const branches = new Map<Hit, HitBranch | undefined>();
  for (const hit of all.toSorted((a, b) => (getSession(a) < getSession(b) ? -1 : 1)))
    branches.set(hit, await getBranch(hit));
  for (const hit of all) {
    const branch = branches.get(hit);
    if (branch !== undefined) yield { ...hit, branch };
  }
}

/** Returns the patterns for the longest string that a line with a hit must contain; undefined if any line may have a hit. */
function findRarest(plan: SearchPlan): TextPatterns | undefined {
  let best: TextPatterns | undefined;
  for (const { text, caseSensitive } of getRequiredTexts(plan)) {
    const patterns = makeTextPatterns(text, caseSensitive);
    if ((patterns?.plain.length ?? 0) > (best?.plain.length ?? 0)) best = patterns;
  }
  return best;
}

function findHits(
  search: EntrySearch,
  batch: readonly FoundEntry[],
  getBranch?: (entry: FoundEntry) => HitBranch,
): FoundHit[] {
  return search.findHits(batch.map(({ entry }) => entry)).flatMap(({ at, hit }) => {
    const found = batch[at];
    // Uses the id from the index, because entries of version 1 have no ids.
    return found === undefined
      ? []
      : { ...hit, entryId: found.entryId, offset: found.offset, branch: getBranch?.(found) };
  });
}

function isWhole(line: FoundLine): line is FoundLine & WholeLine {
  return line.start !== undefined && line.end !== undefined;
}

/** Yields the ordinals of searchable entries on the given lines, or on all lines if no lines are given. */
function* listCandidates(
  index: SessionIndex,
  lines: readonly FoundLine[] | undefined,
): Generator<number, void> {
  // On a line with several records, an offset identifies only the first record.
  const isAny = lines === undefined || index.issues.some((issue) => issue.code === "RECORDS_GLUED");
  let next = 0;
  for (const ordinal of index.tree.ordinals()) {
    if (!isAny) {
      const { offset, length } = index.spans.at(ordinal);
      while ((lines[next]?.at ?? Number.POSITIVE_INFINITY) < offset) next++;
      if ((lines[next]?.at ?? Number.POSITIVE_INFINITY) >= offset + length) continue;
    }
    if (SEARCHED_TYPES.has(index.tree.typeAt(ordinal))) yield ordinal;
  }
}

const LF = 0x0a;

/** Number of nonmatching escapes after which the search method changes. */
const MAX_OTHER_ESCAPES = 64;

/** Line that may contain the searched text, with offsets in the file. */
interface FoundLine {
  /** Offset of a byte in the line. */
  readonly at: number;
  /** Offset of the line's first byte; undefined if the line begins in an earlier piece of the file. */
  readonly start: number | undefined;
  /** Offset of the line break; undefined if the line has no line break. */
  end: number | undefined;
}

/**
 * Finds the lines of a file that may contain a string, judging only by the bytes.
 *
 * @param collector - Receives all bytes of the file.
 * @returns Lines in file order; empty if no line can contain the string.
 * @remarks Cost: O(bytes), most of which are skipped. Does not copy or parse lines.
 */
async function findLinesThatMayHold(
  file: ScannedFile,
  { plain, escaped }: TextPatterns,
  pace: Pace,
  collector?: GramCollector,
): Promise<FoundLine[]> {
  const found: FoundLine[] = [];
  let last: FoundLine | undefined;
  const overlap = Math.max(plain.length, escaped.length) - 1;
  /** File offsets of the piece's first byte and of the first byte not yet searched. */
  let [offset, from] = [0, 0];
  let isInFoundLine = false;
  let collected = 0;
  for (const piece of readFilePieces(file, 0, overlap)) {
    const end = offset + piece.length;
    collector?.feed(piece.subarray(collected - offset));
    collected = end;
    const inPlain = new MatchWalk((start) => plain.find(piece, start, piece.length));
    const inEscapes = new MatchWalk((start) => findEscape(piece, escaped, start));
    while (from < end) {
      if (isInFoundLine) {
        const lineBreak = piece.indexOf(LF, from - offset);
        isInFoundLine = lineBreak === -1;
        if (last !== undefined && !isInFoundLine) last.end = offset + lineBreak;
        from = isInFoundLine ? end : offset + lineBreak + 1;
        continue;
      }
      const next = Math.min(inPlain.next(from - offset), inEscapes.next(from - offset));
      if (next === Number.POSITIVE_INFINITY) break;
      from = offset + next;
      last = { at: from, start: startOfLine(piece, next, offset), end: undefined };
      found.push(last);
      isInFoundLine = true;
    }
    offset = end - Math.min(overlap, piece.length);
    if (!isInFoundLine) from = Math.max(from, offset);
    if (pace.isDue) await pace.rest();
  }
  return found;
}

/** Returns the file offset of the line at a position in a piece; undefined if the line begins before the piece. */
function startOfLine(piece: Buffer, place: number, offset: number): number | undefined {
  const lineBreak = piece.lastIndexOf(LF, place);
  return lineBreak === -1 && offset > 0 ? undefined : offset + lineBreak + 1;
}

/**
 * Returns the index of the first escape that matches the pattern, or -1.
 *
 * Most files contain almost no such escapes, and a built-in search for their first two bytes is the fastest way to check. If
 * there are many other escapes, such as terminal colors, searches for the pattern itself.
 */
function findEscape(piece: Buffer, pattern: BytePattern, from: number): number {
  let at = from;
  for (let tries = 0; tries < MAX_OTHER_ESCAPES; tries++) {
    at = piece.indexOf("\\u", at, "latin1");
    if (at === -1 || pattern.find(piece, at, Math.min(piece.length, at + pattern.length)) === at) return at;
    at += 2;
  }
  return pattern.find(piece, at, piece.length);
}
