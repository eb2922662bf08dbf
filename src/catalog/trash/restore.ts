import { lstatSync, readFileSync, type Stats, utimesSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { getErrorMessage, SessionError } from "../../core/format/errors.ts";
import { assertOptions, CALLBACK, SIGNAL, TEXT, TEXTS } from "../../core/format/options.ts";
import { listNames } from "../../session/files/session-files.ts";
import type { FileRow } from "../../session/files/session-row.ts";
import { ignoreSkipped, reportSkipped, type SkipReport } from "../../session/files/skipped-files.ts";
import { Pace } from "../../session/files/time-slices.ts";
import { getImportedRoot } from "../../session/files/user-folders.ts";
import {
  callIfPresent,
  hasErrorCode,
  makeFolder,
  openForReading,
  readPieces,
  realFileSystem,
  removeQuietly,
  syncFolder,
} from "../../session/fs/file-system.ts";
import { removeFile } from "../../session/fs/temporary-files.ts";
import { writeWhole } from "../../session/fs/write-whole.ts";
import { toFileError } from "../../session/log/file-errors.ts";
import { unmarkDeleted } from "../../session/log/file-marks.ts";
import { isThere, replaceExclusively } from "../../session/log/replace-file.ts";
import { getSessionsRoot, toAbsolutePath } from "../../session/log/session-paths.ts";
import { isPartialAnswerName, parseWrittenName, partialAnswerPath } from "../../session/log/written-names.ts";
import { markDeletedImport, readMarkedOrigins, unmarkDeletedImport } from "../list/deleted-imports.ts";
import { makeFileRow, summarizeFile } from "../list/file-summary.ts";

/** Session in the system's trash. */
export interface TrashedSession {
  /** Absolute path before deletion. */
  readonly path: string;
  /** Path of the file in the trash. */
  readonly trashPath: string;
  /** Path of the trash's note on the original path. */
  readonly infoPath: string;
  /** Time of deletion, to the second; undefined if the trash does not record it. */
  readonly deleted: Date | undefined;
  /** Size of the file, in bytes. */
  readonly size: number;
  /** The session's row; its `path` is the one in the trash. */
  readonly session: FileRow;
}

/** Options for listing trashed sessions. */
export interface TrashOptions {
  /**
   * Folders in which sessions were: each file system has its own trash. Default: the folders in which sessions are
   * kept. The home folder's trash is always searched.
   */
  readonly folders?: readonly string[];
  /** Called with `.jsonl` files in the trash that are not sessions or cannot be read. */
  readonly onSkipped?: SkipReport;
  /** Stops the work with `ABORTED`. */
  readonly signal?: AbortSignal;
}

/** Note in the trash: the file it describes, and when it was written. */
interface Note extends Omit<TrashedSession, "size" | "session"> {
  readonly notedMs: number;
}

/** Session in the trash, and the time of writing of its note, which is more exact than the time in the note. */
interface Found {
  readonly trashed: TrashedSession;
  readonly notedMs: number;
}

const INFO_SUFFIX = ".trashinfo";
const SESSION_SUFFIX = ".jsonl";

/** Longer than any path: a larger file is not a note of the trash. */
const MAX_INFO_BYTES = 64 * 1024;

/**
 * Lists the sessions in the trash, most recently deleted first.
 *
 * Reads the freedesktop.org trash of Linux desktops, and changes nothing.
 *
 * @returns Empty if the trash has none, or nothing was ever deleted.
 * @throws {SessionError} `SESSION_NOT_FOUND` on macOS and Windows, whose trash programs cannot list; the message says
 *   how to restore a file by hand. `ABORTED`.
 * @remarks Cost: O(notes in the trash + bytes of the sessions).
 */
export async function listTrashed(options: TrashOptions = {}): Promise<TrashedSession[]> {
  assertOptions(options, { folders: TEXTS, onSkipped: CALLBACK, signal: SIGNAL });
  assertReadableTrash();
  const { folders = [getSessionsRoot(), getImportedRoot()], onSkipped = ignoreSkipped, signal } = options;
  const pace = new Pace(signal);
  const found: Found[] = [];
  for (const folder of listTrashFolders(folders.map(toAbsolutePath))) {
    for (const note of readNotes(folder, onSkipped)) {
      const one = note.path.endsWith(SESSION_SUFFIX) ? await lookAt(note, pace, onSkipped) : undefined;
      if (one !== undefined) found.push(one);
      if (pace.isDue) await pace.rest();
    }
  }
  return found.sort(compareLatestFirst).map(({ trashed }) => trashed);
}

/** Lists backups and partial answers of sessions in the trash, with their former paths. */
export function listTrashedBackups(folders: readonly string[]): Omit<Note, "notedMs">[] {
  return listTrashFolders(folders)
    .flatMap((folder) => [...readNotes(folder, ignoreSkipped)])
    .filter(({ path }) => ["backup", "partial"].includes(parseWrittenName(basename(path))?.kind ?? ""));
}

/**
 * Restores a session from the trash to its original path.
 *
 * @param trashed - From `listTrashed`.
 * @param options - `to`: another path, which may be relative, start with `~`, or be a `file://` URL.
 * @returns The absolute path of the restored file.
 * @throws {SessionError} `SESSION_EXISTS` if a file exists at the path, `SESSION_NOT_FOUND` if the session is no longer
 *   in the trash, `WRITE_FAILED`; it is then still in the trash.
 */
export async function restoreSession(
  trashed: Pick<TrashedSession, "path" | "trashPath" | "infoPath">,
  options: { readonly to?: string } = {},
): Promise<string> {
  assertOptions(options, { to: TEXT });
  const { trashPath, infoPath } = trashed;
  const path = toAbsolutePath(options.to ?? trashed.path);
  if (!isFile(trashPath)) throw notInTrash(trashPath);
  try {
    prepareFolder(dirname(path));
    // A redaction may replace the file in the trash at the same time.
    replaceExclusively(realFileSystem, trashPath, () => {
      placeFile(trashPath, path);
      unmarkDeleted(realFileSystem, path);
      syncFolder(realFileSystem, dirname(path));
      removeFile(realFileSystem, trashPath);
    });
  } catch (cause) {
    throw isFile(trashPath) ? toFileError(path, "write", cause) : notInTrash(trashPath);
  }
  for (const origin of readMarkedOrigins(path)) {
    unmarkDeletedImport(origin);
    // The session was deleted again before that.
    if (!isThere(path)) markDeletedImport(origin);
  }
  // Without its file, the note is not listed.
  removeQuietly(realFileSystem, infoPath);
  restorePartials(trashed.path, path);
  return path;
}

/** Restores the partial answers that were deleted with a session; they stay in the trash if the system refuses. */
function restorePartials(before: string, path: string): void {
  for (const { path: partial, trashPath, infoPath } of listTrashedBackups([dirname(before)])) {
    const { owner } = parseWrittenName(basename(partial)) ?? {};
    if (owner === undefined || dirname(partial) !== dirname(before)) continue;
    if (!isPartialAnswerName(basename(partial), before)) continue;
    const number = Number(/-(\d+)\.partial$/.exec(partial)?.[1]);
    try {
      placeFile(trashPath, partialAnswerPath(path, owner, number));
      removeFile(realFileSystem, trashPath);
      removeQuietly(realFileSystem, infoPath);
    } catch (error) {
      const warning = `A partial answer of ${path} stays in the trash, at ${trashPath}: ${getErrorMessage(error)}`;
      process.emitWarning(warning, { code: "SESSIONTREE_CACHE" });
    }
  }
}

function notInTrash(path: string): SessionError {
  const message = `${path} is no longer in the trash. List the trash to see what is there.`;
  return new SessionError("SESSION_NOT_FOUND", message, { details: { path } });
}

function prepareFolder(folder: string): void {
  try {
    makeFolder(realFileSystem, folder);
  } catch (cause) {
    if (!hasErrorCode(cause, "EEXIST")) throw cause;
    // The file itself does not exist, so another file has the path of the folder.
    const message = `${folder} is not a folder. Move the file that is there, or restore the session to another place.`;
    throw new SessionError("WRITE_FAILED", message, { details: { path: folder }, cause });
  }
}

/** Creates a second name for the file, because that overwrites nothing; on another file system, copies the file. */
function placeFile(trashPath: string, path: string): void {
  try {
    realFileSystem.linkSync(trashPath, path);
    return;
  } catch (error) {
    if (hasErrorCode(error, "EEXIST", "ENOENT")) throw error;
  }
  const fd = openForReading(realFileSystem, trashPath);
  try {
    const { size, atime, mtime } = realFileSystem.fstatSync(fd);
    writeWhole({ fs: realFileSystem, path, pieces: readPieces(realFileSystem, fd, 0, size) });
    utimesSync(path, atime, mtime);
  } finally {
    realFileSystem.closeSync(fd);
  }
}

/** Yields the notes of a trash whose files are in it. */
function* readNotes(folder: TrashFolder, report: SkipReport): Generator<Note, void> {
  for (const name of listNames(join(folder.path, "info"), report)) {
    const note = name.endsWith(INFO_SUFFIX) ? readNote(folder, name, report) : undefined;
    if (note !== undefined) yield note;
  }
}

function readNote(folder: TrashFolder, name: string, report: SkipReport): Note | undefined {
  const infoPath = join(folder.path, "info", name);
  const trashPath = join(folder.path, "files", basename(name, INFO_SUFFIX));
  try {
    const stats = callIfPresent(() => lstatSync(infoPath));
    if (!stats?.isFile() || stats.size > MAX_INFO_BYTES) return undefined;
    const { path, deleted } = parseNote(readFileSync(infoPath, "utf8"), folder.top);
    if (path === undefined || !isFile(trashPath)) return undefined;
    return { path, trashPath, infoPath, deleted, notedMs: stats.mtimeMs };
  } catch (error) {
    reportSkipped(trashPath, error, report);
    return undefined;
  }
}

/** Reads the session that a note describes; undefined if it is not a session. */
async function lookAt(note: Note, pace: Pace, report: SkipReport): Promise<Found | undefined> {
  const { notedMs, ...trashed } = note;
  const { trashPath } = trashed;
  try {
    const found = await summarizeFile(trashPath, undefined, pace);
    const session = makeFileRow(trashPath, found);
    if (session !== undefined) return { trashed: { ...trashed, size: found.size, session }, notedMs };
    report({ path: trashPath, reason: "not-a-session" });
  } catch (error) {
    reportSkipped(trashPath, error, report);
  }
  return undefined;
}

function isFile(path: string): boolean {
  return callIfPresent(() => lstatSync(path))?.isFile() ?? false;
}

/** Parses a note: the original path, and the time of deletion. */
function parseNote(
  text: string,
  top: string | undefined,
): { path: string | undefined; deleted: Date | undefined } {
  const lines = text.split(/\r?\n/);
  const valueAt = (key: string) => lines.find((line) => line.startsWith(`${key}=`))?.slice(key.length + 1);
  const given = decodePath(valueAt("Path") ?? "");
  const isUsable = !given.includes("\0");
  const isPlaced = isAbsolute(given) || (top !== undefined && !given.split("/").includes(".."));
  // Local time, by the specification.
  const deleted = new Date(valueAt("DeletionDate")?.trim() ?? "");
  return {
    path: isUsable && isPlaced ? resolve(top ?? "/", given) : undefined,
    deleted: Number.isNaN(deleted.getTime()) ? undefined : deleted,
  };
}

/** Decodes a path as the trash escapes it; "" if it is invalid. */
function decodePath(escaped: string): string {
  try {
    return decodeURIComponent(escaped);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return "";
  }
}

function compareLatestFirst(a: Found, b: Found): number {
  const getTime = ({ trashed }: Found) => trashed.deleted?.getTime() ?? 0;
  const byTime = getTime(b) - getTime(a) || b.notedMs - a.notedMs;
  return byTime || (a.trashed.trashPath < b.trashed.trashPath ? -1 : 1);
}

/** A freedesktop.org trash: a folder that contains `files/` and `info/`. */
interface TrashFolder {
  readonly path: string;
  /** Base of its relative paths: the top of its file system; undefined for the home folder's trash. */
  readonly top: string | undefined;
}

const BY_HAND: { readonly [platform: string]: string } = {
  darwin: "Open the Trash in the Finder, select the file, and choose Put Back from its menu",
  win32: "Open the Recycle Bin, select the file, and choose Restore from its menu",
};

/** Sticky bit: all users may create files in the folder, and remove only their own. */
const STICKY = 0o1000;

/** Throws unless this system has a trash that programs can read; the error explains how to restore a file by hand. */
export function assertReadableTrash(platform: string = process.platform): void {
  const advice = BY_HAND[platform];
  if (advice === undefined) return;
  const message = `No program can look for sessions in the trash of this system. ${advice}.`;
  throw new SessionError("SESSION_NOT_FOUND", message, { details: { platform } });
}

/** Returns the user's trash folders: the home folder's, then those on the file systems of some folders. */
export function listTrashFolders(folders: readonly string[]): TrashFolder[] {
  const { XDG_DATA_HOME: xdg } = process.env;
  // The specification requires that relative paths be ignored.
  const data = xdg !== undefined && isAbsolute(xdg) ? xdg : join(homedir(), ".local", "share");
  const tops = new Set(folders.map(findTop).filter((top) => top !== undefined));
  return [{ path: join(data, "Trash"), top: undefined }, ...[...tops].flatMap(listFoldersAtTop)];
}

function listFoldersAtTop(top: string): TrashFolder[] {
  const uid = process.getuid?.();
  if (uid === undefined) return [];
  const shared = join(top, ".Trash");
  const isShared = isTrusted(shared, ({ mode }) => (mode & STICKY) !== 0);
  const paths = [...(isShared ? [join(shared, String(uid))] : []), join(top, `.Trash-${uid}`)];
  return paths.filter((path) => isTrusted(path, (stats) => stats.uid === uid)).map((path) => ({ path, top }));
}

/** Returns whether a folder, which must not be a link, passes a check. */
function isTrusted(path: string, isRight: (stats: Stats) => boolean): boolean {
  const stats = callIfPresent(() => lstatSync(path));
  return stats?.isDirectory() === true && isRight(stats);
}

/** Returns the top of the file system that a folder is on, or would be on. */
function findTop(folder: string): string | undefined {
  let top: string | undefined;
  let device: number | undefined;
  for (let at = folder; ; at = dirname(at)) {
    const stats = callIfPresent(() => lstatSync(at));
    if (device !== undefined && stats?.dev !== device) return top;
    if (stats !== undefined) [top, device] = [at, stats.dev];
    if (at === dirname(at)) return top;
  }
}
