import { statSync } from "node:fs";
import { basename } from "node:path";
import { makeHeaderFacts, readAddedFacts, Summarizer } from "../../core/facts/session-facts.ts";
import { OPENING_TYPES, OpeningFinder } from "../../core/facts/session-title.ts";
import type { IssueCode } from "../../core/format/issue.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import { isNameType } from "../../core/format/session-name.ts";
import type { LineSource } from "../../core/jsonl/line-source.ts";
import type { SessionIndex } from "../../core/jsonl/session-index.ts";
import {
  closeFile,
  isSameFile,
  isUnchanged,
  openToScan,
  readFilePieces,
  type ScannedFile,
  toFileMark,
  withScannedFile,
} from "../../session/files/file-mark.ts";
import {
  type FileFacts,
  type FileRow,
  makeSessionRow,
  type SessionRow,
} from "../../session/files/session-row.ts";
import { isSystemError } from "../../session/files/skipped-files.ts";
import type { FileSummary } from "../../session/files/summary-columns.ts";
import { Pace } from "../../session/files/time-slices.ts";
import { NotAPlainFileError, readRange, realFileSystem } from "../../session/fs/file-system.ts";
import { toAbsolutePath } from "../../session/log/session-paths.ts";
import { ListScan, RESUMABLE_VERSION } from "./list-scan.ts";
import { readEntries, readSource } from "./read-entries.ts";
import { CallRecorder, decodeCalls, encodeCalls, type SessionCalls } from "./session-calls.ts";

/** Number of bytes compared at the end of the known part, enough to include the time of the last line. */
const TAIL_BYTES = 48;

const LF = 0x0a;

/**
 * Summarizes a file, reading only its new bytes.
 *
 * @param known - Earlier summary, created when the file was shorter.
 * @param needsCalls - Whether model calls are required; known calls are kept up to date in either case.
 * @remarks Cost: O(bytes), or O(new bytes) if the file has only grown.
 */
export async function summarizeFile(
  path: string,
  known: FileSummary | undefined,
  pace: Pace,
  needsCalls = false,
): Promise<FileSummary> {
  pace.check();
  const file = openToScan(path);
  try {
    const calls = known && decodeSummaryCalls(known);
    const lacksCalls = needsCalls && known?.summary !== undefined && calls === undefined;
    if (known !== undefined && !lacksCalls && isUnchanged(file, known)) return known;
    const extended = known && !lacksCalls ? await scanNewBytes(file, known, calls, pace) : undefined;
    if (extended !== undefined) return makeFileSummary(file, extended, false);
    const scanned = await scanFrom(file, 0, new ListScan(undefined, needsCalls), pace);
    return makeFileSummary(file, scanned ?? (await readFully(file, pace, needsCalls)), true);
  } finally {
    closeFile(file);
  }
}

/**
 * Summarizes one session file in any state, as a list does.
 *
 * @param path - May be relative, start with `~`, or be a `file://` URL.
 * @returns Undefined if the file is not a session.
 * @throws {NotAPlainFileError} If the path is a folder, pipe, socket, or device.
 * @throws The system error if the file is missing or cannot be read.
 * @remarks Cost: O(bytes); the file is scanned rather than parsed if it is in order.
 */
export async function summarizeSession(
  path: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<FileRow | undefined> {
  const file = toAbsolutePath(path);
  return makeFileRow(file, await summarizeFile(file, undefined, new Pace(options.signal)));
}

/** Creates the row of a session file; undefined if the file is not a session. */
export function makeFileRow(
  path: string,
  { summary, issueCount, mtimeMs }: FileSummary,
): FileRow | undefined {
  if (summary === undefined) return undefined;
  const row = makeSessionRow(summary, mtimeMs, basename(path));
  if (issueCount > 0) row.issueCount = issueCount;
  return Object.assign(row, { path });
}

/** Returns the model calls in a summary; undefined if it has none or they cannot be decoded. */
export function decodeSummaryCalls({ calls }: FileSummary): SessionCalls | undefined {
  const bytes = calls?.();
  return bytes && decodeCalls(bytes);
}

interface Found extends Findings {
  readonly tail: string;
}

async function readFully(file: ScannedFile, pace: Pace, needsCalls: boolean): Promise<Found> {
  const found = await summarizeSource(await readSource(file, pace), pace, needsCalls);
  return { ...found, tail: readTail(file, file.size, TAIL_BYTES) };
}

/** Returns whether a summary is still valid: the file is unchanged or has only grown. */
export function isStillTrue(path: string, known: FileSummary): boolean {
  try {
    const stats = statSync(path);
    if (isUnchanged(stats, known)) return true;
    if (!stats.isFile()) return false;
    return withScannedFile(path, (file) => hasGrown(file, known));
  } catch (error) {
    // The file no longer exists, or can no longer be read.
    if (!isSystemError(error) && !(error instanceof NotAPlainFileError)) throw error;
    return false;
  }
}

/** Returns whether the file has only grown since it was read, judging by the last bytes of the known part. */
function hasGrown(file: ScannedFile, known: FileSummary): boolean {
  const { size, end } = known;
  if (end === undefined || !isSameFile(file, known) || file.size <= size) return false;
  return readTail(file, size, end.tail.length) === end.tail;
}

async function scanNewBytes(
  file: ScannedFile,
  known: FileSummary,
  calls: SessionCalls | undefined,
  pace: Pace,
): Promise<Found | undefined> {
  if (known.summary === undefined || known.end === undefined || !hasGrown(file, known)) return undefined;
  const before = { summary: known.summary, lastId: known.end.lastId, calls };
  const scan = new ListScan(before, calls !== undefined);
  const found = await scanFrom(file, known.size, scan, pace);
  return found && { ...found, issueCount: known.issueCount };
}

/** Scans to the end of the file; undefined if a line is not in order. */
async function scanFrom(
  file: ScannedFile,
  start: number,
  scan: ListScan,
  pace: Pace,
): Promise<Found | undefined> {
  let tail = "";
  for (const piece of readFilePieces(file, start)) {
    scan.feed(piece);
    if (!scan.isInOrder) return undefined;
    tail = piece.toString("latin1", Math.max(0, piece.length - TAIL_BYTES));
    if (pace.isDue) await pace.rest();
  }
  scan.end();
  if (!scan.isInOrder) return undefined;
  // The tail of a short last piece begins in the previous piece.
  if (tail.length < Math.min(TAIL_BYTES, file.size)) tail = readTail(file, file.size, TAIL_BYTES);
  return { summary: scan.summary, calls: scan.calls, issueCount: 0, lastId: scan.lastId, tail };
}

function makeFileSummary(
  file: ScannedFile,
  { summary, calls, issueCount, lastId, tail }: Found,
  isWhole: boolean,
): FileSummary {
  // No scan can continue after an unfinished line, because the next bytes belong to that line.
  const isResumable = lastId !== undefined && tail.charCodeAt(tail.length - 1) === LF;
  const end = isResumable ? { lastId, tail } : undefined;
  const bytes = calls && encodeCalls(calls);
  const known = bytes && (() => bytes);
  return { ...toFileMark(file), summary, calls: known, issueCount, end, isWhole };
}

function readTail(file: ScannedFile, end: number, length: number): string {
  const start = Math.max(0, end - length);
  return readRange(realFileSystem, file.fd, start, end - start).toString("latin1");
}

/**
 * Issues that concern links, versions, and ids rather than lines. They cause no data loss, so a list counts them only if there
 * are also other issues.
 */
const HARMLESS: ReadonlySet<IssueCode> = new Set([
  "PARENT_MISSING",
  "PARENT_BRIDGED",
  "PARENT_CYCLE",
  "VERSION_TOO_NEW",
  "VERSION_UNCLEAR",
  "FOREIGN_FORMAT",
  "ID_INVENTED",
]);

/** Result of reading a file. */
interface Findings {
  /** Undefined if the file is not a session. */
  readonly summary: FileFacts | undefined;
  /** Model calls; undefined if the caller does not need them. */
  readonly calls: SessionCalls | undefined;
  /** Total number of issues if any of them concerns a line; otherwise 0. */
  readonly issueCount: number;
  /** Id of the last entry; undefined if no scan can continue after it. */
  readonly lastId: string | undefined;
}

/**
 * Summarizes a session in any state by parsing every relevant entry, as opening the session does.
 *
 * @param source - Undefined if the file is not a session.
 * @param needsCalls - Whether model calls are required.
 */
export async function summarizeSource(
  source: LineSource | undefined,
  pace: Pace,
  needsCalls = false,
): Promise<Findings> {
  const { index } = source ?? {};
  if (source === undefined || index?.header === undefined)
    return { summary: undefined, calls: undefined, issueCount: 0, lastId: undefined };
  const facts = makeHeaderFacts(index.header);
  const summarizer = new Summarizer(facts);
  const openings = new OpeningFinder();
  const recorder = needsCalls ? new CallRecorder(facts.createdMs) : undefined;
  const { tree } = index;
  const ordinals = needsCalls ? tree.ordinals() : listOrdinalsThatMatter(index);
  for await (const batch of readEntries(source, ordinals, pace)) {
    for (const { ordinal, entryId, entry } of batch) {
      const type = tree.typeAt(ordinal);
      // A damaged entry is counted but contributes no other facts.
      const isWhole = isJsonRecord(entry) && entry["type"] === type;
      const entryMs = tree.timeAt(ordinal);
      summarizer.add(isWhole ? readAddedFacts(type, entry, entryMs) : { type });
      if (isWhole) openings.add(type, entry);
      if (isWhole) recorder?.add(entry, index.version > 1 ? entryId : undefined, entryMs);
      else recorder?.pass();
    }
  }
  const isDamaged = index.issues.some((issue) => !HARMLESS.has(issue.code));
  const issueCount = isDamaged ? index.issues.length : 0;
  const isEnd = index.version >= RESUMABLE_VERSION && tree.size > 0 && !hasLooseEntry(index);
  const lastId = isEnd ? tree.idAt(tree.size - 1) : undefined;
  const summary = { ...summarizer.facts, opening: openings.opening };
  return { summary, calls: recorder?.found, issueCount, lastId };
}

/** Returns the row of a session without a file; undefined if the lines are not a session. */
export async function makeRowOfLines(source: LineSource): Promise<SessionRow | undefined> {
  const { summary } = await summarizeSource(source, new Pace());
  return summary && makeSessionRow(summary);
}

/** Returns whether an entry precedes its parent, or its parent is missing. */
function hasLooseEntry({ tree, issues }: SessionIndex): boolean {
  if (issues.some((issue) => issue.code.startsWith("PARENT_"))) return true;
  for (let ordinal = 0; ordinal < tree.size; ordinal++) if (tree.parentAt(ordinal) > ordinal) return true;
  return false;
}

function* listOrdinalsThatMatter({ tree }: SessionIndex): Generator<number, void> {
  for (let ordinal = 0; ordinal < tree.size; ordinal++) {
    const type = tree.typeAt(ordinal);
    if (OPENING_TYPES.has(type) || isNameType(type)) yield ordinal;
  }
}
