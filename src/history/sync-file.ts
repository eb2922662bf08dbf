import { dirname } from "node:path";
import {
  closeQuietly,
  type FileSystem,
  hasErrorCode,
  makeFolder,
  NotAPlainFileError,
  openForReading,
  readPieces,
  readRange,
  realFileSystem,
} from "../fs/file-system.ts";
import { writeWhole } from "../fs/write-whole.ts";
import type { ImportedSession } from "../import/imported-session.ts";
import { decodeText } from "../jsonl/decode.ts";
import { fileError, untilUnchanged } from "../log/file-errors.ts";
import { FileLog } from "../log/file-log.ts";
import { notASessionAt } from "../log/foreign-file.ts";
import { logLineOf } from "../log/log-lines.ts";
import { type ReadSession, readSessionFile } from "../log/read-session-file.ts";
import { exclusively, replaceFile } from "../log/replace-file.ts";
import { modeOfPlainFile } from "../log/upgrade-file.ts";
import type { AnySessionEntry, UnknownEntry } from "../schema/entry.ts";
import { isSessionError } from "../schema/errors.ts";
import type { SessionHeader } from "../schema/header.ts";
import {
  type ExistingSession,
  entriesOf,
  entryIdsOf,
  type ImportStatus,
  linesOfSession,
  planSync,
  type SyncPlan,
  type SyncStatus,
  strayLeaf,
} from "./sync-plan.ts";

/** What was done to a file; undefined if another process has made or removed it meanwhile. */
type Done = SyncStatus | undefined;

/** A session file that is open for reading. */
interface OpenSession extends ReadSession, ExistingSession {}

/**
 * Updates a session file to match its source; makes it if it is missing. Writes nothing if it matches.
 *
 * A new file appears whole or not at all. Lines of other writers are kept, and so is their leaf.
 *
 * @param mayMake - Tells whether a missing file may be made: it may have been deleted a moment ago.
 * @returns `deleted` if the file is missing and may not be made.
 * @throws {SessionError} `WRITE_FAILED`, also for a link at the path; `NOT_A_SESSION`
 */
export function syncFile(
  path: string,
  header: SessionHeader,
  imported: ImportedSession,
  fs: FileSystem = realFileSystem,
  mayMake: () => boolean = () => true,
): ImportStatus {
  try {
    for (;;) {
      const isThere = isPlainFile(fs, path);
      if (!isThere && !mayMake()) return "deleted";
      const done: Done = isThere
        ? untilUnchanged(() => updateIfThere(fs, path, header, imported))
        : create(fs, path, header, imported);
      if (done !== undefined) return done;
    }
  } catch (error) {
    throw isSessionError(error) ? error : fileError(path, "write", error);
  }
}

/** Returns what `syncFile` would do. */
export function compareFile(path: string, imported: ImportedSession): SyncStatus {
  if (!isPlainFile(realFileSystem, path)) return "new";
  return withSession(realFileSystem, path, (session) => {
    if (session === undefined) return "new";
    return planSync(session, imported, true).kind === "unchanged" ? "unchanged" : "grown";
  });
}

/** Returns the entries of a session file, with the bodies of custom entries only; none if it is missing. */
export function entriesInFile(path: string): readonly UnknownEntry[] {
  if (!isPlainFile(realFileSystem, path)) return [];
  return withSession(realFileSystem, path, (session) => (session === undefined ? [] : entriesOf(session)));
}

/**
 * Tells whether a file has at least a size, and ends with a line: a power cut may leave an empty or a torn one.
 *
 * @param isSuspect - Whether to look for zeros, too, which a power cut may leave anywhere.
 * @remarks Cost: reading one byte; of a suspect file all.
 */
export function isWholeFile(path: string, size: number, isSuspect: boolean): boolean {
  const fs = realFileSystem;
  const stats = fs.statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.size < size || stats.size === 0) return false;
  const fd = openForReading(fs, path);
  try {
    if (readRange(fs, fd, stats.size - 1, 1)[0] !== LINE_FEED) return false;
    if (isSuspect) for (const piece of readPieces(fs, fd, 0, stats.size)) if (piece.includes(0)) return false;
    return true;
  } finally {
    closeQuietly(fs, fd);
  }
}

const LINE_FEED = 0x0a;

/** Returns false if nothing is at the path; refuses a link, a folder or a pipe. */
function isPlainFile(fs: FileSystem, path: string): boolean {
  const stats = fs.lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) return stats !== undefined;
  throw fileError(path, "write", new NotAPlainFileError(`${path} is not a plain file`));
}

/**
 * Without flushes: after a power cut another import completes the files, and a thousand flushes would take longer than everything
 * else.
 */
function unflushed(fs: FileSystem): FileSystem {
  return { ...fs, fsyncSync: () => undefined };
}

function create(fs: FileSystem, path: string, header: SessionHeader, { entries }: ImportedSession): Done {
  makeFolder(fs, dirname(path));
  try {
    writeWhole({ fs: unflushed(fs), path, pieces: linesOfSession(header, entries) });
    return "new";
  } catch (error) {
    if (!hasErrorCode(error, "EEXIST")) throw error;
    return undefined;
  }
}

/** Updates a file; does nothing if it was removed meanwhile. */
function updateIfThere(fs: FileSystem, path: string, header: SessionHeader, imported: ImportedSession): Done {
  try {
    return update(fs, path, header, imported);
  } catch (error) {
    if (isPlainFile(fs, path)) throw error;
    return undefined;
  }
}

function update(fs: FileSystem, path: string, header: SessionHeader, imported: ImportedSession): Done {
  const kind = withSession(fs, path, (session) => session && planSync(session, imported, true).kind);
  if (kind === "unchanged") return kind;
  return exclusively(fs, path, () => {
    if (kind === "append") return append(fs, path, imported);
    return withSession(fs, path, (session, fd) => {
      const entries =
        session === undefined ? imported.entries : entriesToReplace(planSync(session, imported, true));
      // Somebody has written to it meanwhile.
      if (entries === undefined) return undefined;
      const copied = session?.index.position ?? fs.fstatSync(fd).size;
      const pieces = linesOfSession(session?.index.header ?? header, entries);
      replaceFile({ old: { fs, path, fd, copied }, pieces, mode: modeOfPlainFile(fs, path) });
      return session === undefined ? "new" : "grown";
    });
  });
}

function entriesToReplace(plan: SyncPlan): readonly AnySessionEntry[] | undefined {
  return plan.kind === "replace" ? plan.entries : undefined;
}

/** Appends through the session's log, as every writer does, and leaves the leaf to those who wrote at the same moment. */
function append(fs: FileSystem, path: string, imported: ImportedSession): Done {
  const log = FileLog.open(path, { fs });
  if (log === undefined) return undefined;
  try {
    const plan = planSync(
      { index: log.index, readLines: (...given) => log.readLines(...given), rest: "" },
      imported,
      false,
    );
    if (plan.kind !== "append") return "unchanged";
    const before = entryIdsOf(log);
    log.append(plan.entries.map(logLineOf), true);
    log.refresh();
    const stray = strayLeaf(log, before, plan.entries);
    if (stray !== undefined) log.append([logLineOf(stray)], true);
    return "grown";
  } finally {
    log.release();
  }
}

/** Calls with a session as it is; with undefined if the file is what a power cut or a kill left of a new one. */
function withSession<T>(
  fs: FileSystem,
  path: string,
  use: (session: OpenSession | undefined, fd: number) => T,
): T {
  const session = readSessionFile(fs, path);
  try {
    const rest = restOf(fs, session);
    const isBegun = session.index.header !== undefined && !session.index.isRejected;
    if (!isBegun && !isUnbegun(fs, session.fd)) throw notASessionAt(path, fs);
    return use(isBegun ? { ...session, rest } : undefined, session.fd);
  } finally {
    closeQuietly(fs, session.fd);
  }
}

/** Returns the text behind the line of the last entry, if there is any. */
function restOf(fs: FileSystem, { fd, index }: ReadSession): string {
  if (index.issues.length === 0 && !index.isMidLine) return "";
  const last = index.spans.allInFileOrder(index.tree.size).at(-1);
  const end = last === undefined ? 0 : index.spans.offsetAt(last) + index.spans.lengthAt(last);
  const text = decodeText(readRange(fs, fd, end, fs.fstatSync(fd).size - end));
  return text.slice(text.indexOf("\n") + 1);
}

/** Tells whether a file holds at most the beginning of a header, or nothing but zeros. */
function isUnbegun(fs: FileSystem, fd: number): boolean {
  const front = decodeText(readRange(fs, fd, 0, Math.min(fs.fstatSync(fd).size, FRONT_BYTES)));
  const text = front.replaceAll("\0", "");
  return !text.includes("\n") && HEADER_FRONT.startsWith(text.slice(0, HEADER_FRONT.length));
}

const FRONT_BYTES = 64 * 1024;

/** How the header of an imported session begins. */
const HEADER_FRONT = '{"type":"session"';
