import { lstatSync, readFileSync, type Stats, utimesSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { assertArgument } from "../../core/format/arguments.ts";
import { getErrorMessage, SessionError } from "../../core/format/errors.ts";
import {
  assertKnownOptions,
  assertOptions,
  CALLBACK,
  type OptionRule,
  SIGNAL,
  TEXT,
  TEXTS,
} from "../../core/format/options.ts";
import { listNames } from "../../session/files/session-files.ts";
import type { FileRow } from "../../session/files/session-row.ts";
import { ignoreSkipped, reportSkipped, type SkipReport } from "../../session/files/skipped-files.ts";
import { Pace } from "../../session/files/time-slices.ts";
import { getImportedRoot } from "../../session/files/user-folders.ts";
import {
  callIfPresent,
  hasErrorCode,
  makeFolder,
  readPieces,
  realFileSystem,
  removeQuietly,
  syncFolder,
  withOpenFile,
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

/** Session in the system trash. */
export interface TrashedSession {
  /** Absolute path before deletion. */
  readonly path: string;
  /** Path of the file in the trash. */
  readonly trashPath: string;
  /** Path of the file in which the trash records the original path. */
  readonly infoPath: string;
  /** Time of deletion, to the second; undefined if the trash does not record it. */
  readonly deleted: Date | undefined;
  /** Size of the file, in bytes. */
  readonly size: number;
  /** Row of the session. Its `path` is the path in the trash. */
  readonly session: FileRow;
}

/** Options for listing trashed sessions. */
export interface TrashOptions {
  /**
   * Folders that contained the sessions, because each file system has its own trash. Default: the sessions folders. The
   * home folder's trash is always searched.
   */
  readonly folders?: readonly string[];
  /** Called with `.jsonl` files in the trash that are not sessions or cannot be read. */
  readonly onSkipped?: SkipReport;
  /** Cancels the operation with `ABORTED`. */
  readonly signal?: AbortSignal;
}

/** Info file in the trash: the file it describes, and the time of writing. */
interface Note extends Omit<TrashedSession, "size" | "session"> {
  readonly notedMs: number;
}

/** Session in the trash, and the time its info file was written, which is more precise than the time recorded in that file. */
interface Found {
  readonly trashed: TrashedSession;
  readonly notedMs: number;
}

const INFO_SUFFIX = ".trashinfo";
const SESSION_SUFFIX = ".jsonl";

/** Maximum size of an info file. Longer than any path, so a larger file is not an info file. */
const MAX_INFO_BYTES = 64 * 1024;

/**
 * Lists the sessions in the trash, most recently deleted first.
 *
 * Reads the freedesktop.org trash that Linux desktops use. Changes nothing.
 *
 * @returns Empty if the trash contains no sessions or does not exist.
 * @throws {SessionError} `SESSION_NOT_FOUND` on macOS and Windows, where programs cannot list the trash; the message
 *   explains how to restore a file manually. `ABORTED`.
 * @remarks Cost: O(files in the trash + bytes of the sessions).
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

/** Lists the backups and partial answers of sessions in the trash, with their former paths. */
export function listTrashedBackups(folders: readonly string[]): Omit<Note, "notedMs">[] {
  return listTrashFolders(folders)
    .flatMap((folder) => [...readNotes(folder, ignoreSkipped)])
    .filter(({ path }) => ["backup", "partial"].includes(parseWrittenName(basename(path))?.kind ?? ""));
}

const TRASHED: OptionRule = {
  fits: (value) =>
    ["path", "trashPath", "infoPath"].every((name) => TEXT.fits(Reflect.get(Object(value), name))),
  words: "a session that listTrashed returned",
};

/**
 * Restores a session from the trash to its original path.
 *
 * @param trashed - Session returned by `listTrashed`.
 * @param options - `to`: a different path, which may be relative, start with `~`, or be a `file://` URL.
 * @returns The absolute path of the restored file.
 * @throws {SessionError} `SESSION_EXISTS` if a file exists at the path, `SESSION_NOT_FOUND` if the session is no longer
 *   in the trash, `WRITE_FAILED`. After an error, a session in the trash remains there.
 */
export async function restoreSession(
  trashed: Pick<TrashedSession, "path" | "trashPath" | "infoPath">,
  options: { readonly to?: string } = {},
): Promise<string> {
  assertKnownOptions(options, { to: TEXT });
  assertArgument("trashed", trashed, TRASHED);
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
    // The session was deleted again in the meantime.
    if (!isThere(path)) markDeletedImport(origin);
  }
  // An info file without its session is not listed.
  removeQuietly(realFileSystem, infoPath);
  restorePartials(trashed.path, path);
  return path;
}

/** Restores the partial answers that were deleted with a session. Partial answers that cannot be restored remain in the trash. */
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
      const warning = `A partial answer of ${path} remains in the trash at ${trashPath}: ${getErrorMessage(error)}`;
      process.emitWarning(warning, { code: "SESSIONTREE_CACHE" });
    }
  }
}

function notInTrash(path: string): SessionError {
  const message = `${path} is no longer in the trash. List the trash to see its sessions.`;
  return new SessionError("SESSION_NOT_FOUND", message, { details: { path } });
}

function prepareFolder(folder: string): void {
  try {
    makeFolder(realFileSystem, folder);
  } catch (cause) {
    if (!hasErrorCode(cause, "EEXIST")) throw cause;
    // The session file itself does not exist, so a file has the path of the folder.
    const message = `${folder} is not a folder. Move the file at this path, or restore the session to another path.`;
    throw new SessionError("WRITE_FAILED", message, { details: { path: folder }, cause });
  }
}

/**
 * Creates a hard link, because that never overwrites a file. Copies the file if it cannot be linked, for example because it is on
 * a different file system.
 */
function placeFile(trashPath: string, path: string): void {
  try {
    realFileSystem.linkSync(trashPath, path);
    return;
  } catch (error) {
    if (hasErrorCode(error, "EEXIST", "ENOENT")) throw error;
  }
  withOpenFile(realFileSystem, trashPath, (fd) => {
    const { size, atime, mtime } = realFileSystem.fstatSync(fd);
    writeWhole({ fs: realFileSystem, path, pieces: readPieces(realFileSystem, fd, 0, size) });
    utimesSync(path, atime, mtime);
  });
}

/** Yields the contents of the info files in a trash folder, except info files whose described files are missing. */
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

/** Reads the session that an info file describes; undefined if it is not a session. */
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

/** Parses the original path and the deletion time in an info file. */
function parseNote(
  text: string,
  top: string | undefined,
): { path: string | undefined; deleted: Date | undefined } {
  const lines = text.split(/\r?\n/);
  const valueAt = (key: string) => lines.find((line) => line.startsWith(`${key}=`))?.slice(key.length + 1);
  const given = decodePath(valueAt("Path") ?? "");
  const isUsable = !given.includes("\0");
  const isPlaced = isAbsolute(given) || (top !== undefined && !given.split("/").includes(".."));
  // Local time, according to the specification.
  const deleted = new Date(valueAt("DeletionDate")?.trim() ?? "");
  return {
    path: isUsable && isPlaced ? resolve(top ?? "/", given) : undefined,
    deleted: Number.isNaN(deleted.getTime()) ? undefined : deleted,
  };
}

/** Decodes a path from an info file; returns "" if it is invalid. */
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

/** Trash folder as specified by freedesktop.org, with subfolders `files/` and `info/`. */
interface TrashFolder {
  readonly path: string;
  /** Base for relative paths: the top folder of the file system; undefined for the home folder's trash. */
  readonly top: string | undefined;
}

const BY_HAND: { readonly [platform: string]: string } = {
  darwin: "Open the Trash in the Finder, select the file, and choose Put Back from its menu",
  win32: "Open the Recycle Bin, select the file, and choose Restore from its menu",
};

/** Sticky bit: all users can create files in the folder, but can remove only their own. */
const STICKY = 0o1000;

/** Throws if programs cannot read the system's trash. The error explains how to restore a file manually. */
export function assertReadableTrash(platform: string = process.platform): void {
  const advice = BY_HAND[platform];
  if (advice === undefined) return;
  const message = `Programs cannot search this system's trash for sessions. ${advice}.`;
  throw new SessionError("SESSION_NOT_FOUND", message, { details: { platform } });
}

/** Returns the user's trash folders: the home folder's trash, then the trashes on the file systems of the given folders. */
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

/** Returns whether a path is a folder, not a link, and passes a check. */
function isTrusted(path: string, isRight: (stats: Stats) => boolean): boolean {
  const stats = callIfPresent(() => lstatSync(path));
  return stats?.isDirectory() === true && isRight(stats);
}

/** Returns the top folder of the file system that a folder is on, or would be on if it existed. */
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
