import { lstatSync, readFileSync, utimesSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { SessionError } from "../../core/format/errors.ts";
import { assertOptions, CALLBACK, SIGNAL, TEXT, TEXTS } from "../../core/format/options.ts";
import { namesIn } from "../../session/files/session-files.ts";
import type { FileRow } from "../../session/files/session-row.ts";
import { ignoreSkipped, reportSkipped, type SkipReport } from "../../session/files/skipped-files.ts";
import { Pace } from "../../session/files/time-slices.ts";
import { importedRoot } from "../../session/files/user-folders.ts";
import {
  hasErrorCode,
  ifPresent,
  makeFolder,
  openForReading,
  readPieces,
  realFileSystem,
  removeQuietly,
  syncFolder,
} from "../../session/fs/file-system.ts";
import { removeFile } from "../../session/fs/temporary-files.ts";
import { writeWhole } from "../../session/fs/write-whole.ts";
import { fileError } from "../../session/log/file-errors.ts";
import { exclusively, isThere } from "../../session/log/replace-file.ts";
import { absolutePath, sessionsRoot } from "../../session/log/session-paths.ts";
import { importOriginOf, markDeletedImport, unmarkDeletedImport } from "../list/deleted-imports.ts";
import { fileRow, summarizeFile } from "../list/file-summary.ts";
import { assertReadableTrash, type TrashFolder, trashFolders } from "./trash-folders.ts";

/** A session in the system's trash. */
export interface TrashedSession {
  /** Absolute path before it was deleted. */
  readonly path: string;
  /** Where its file is now. */
  readonly trashPath: string;
  /** The trash's note of the original path. */
  readonly infoPath: string;
  /** When it was deleted, to the second; undefined if the trash does not say. */
  readonly deleted: Date | undefined;
  /** Bytes of its file. */
  readonly size: number;
  /** Its row; `path` is the one in the trash. */
  readonly session: FileRow;
}

/** Where trashed sessions are looked for. */
export interface TrashOptions {
  /**
   * Folders where sessions were: each file system has its own trash. Default: where sessions are kept. The home folder's
   * trash is always searched.
   */
  readonly folders?: readonly string[];
  /** Called with `.jsonl` files in the trash that are no sessions or cannot be read. */
  readonly onSkipped?: SkipReport;
  /** Ends the work with `ABORTED`. */
  readonly signal?: AbortSignal;
}

/** A session in the trash, and when its note was written, which is more exact than the time in the note. */
interface Found {
  readonly trashed: TrashedSession;
  readonly notedMs: number;
}

const INFO_SUFFIX = ".trashinfo";
const SESSION_SUFFIX = ".jsonl";

/** Longer than any path: a larger file is no note of the trash. */
const MAX_INFO_BYTES = 64 * 1024;

/**
 * Lists the sessions in the trash, most recently deleted first.
 *
 * Reads the freedesktop.org trash, as Linux desktops use it, and changes nothing.
 *
 * @returns Empty if there are none, or nothing was ever deleted.
 * @throws {SessionError} `SESSION_NOT_FOUND` on macOS and Windows, whose trash programs cannot list; the message says how
 *   to restore a file by hand. `ABORTED`.
 * @remarks Cost: O(notes in the trash + bytes of the sessions).
 */
export async function listTrashed(options: TrashOptions = {}): Promise<TrashedSession[]> {
  assertOptions(options, { folders: TEXTS, onSkipped: CALLBACK, signal: SIGNAL });
  assertReadableTrash();
  const { folders = [sessionsRoot(), importedRoot()], onSkipped = ignoreSkipped, signal } = options;
  const pace = new Pace(signal);
  const found: Found[] = [];
  for (const folder of trashFolders(folders.map(absolutePath))) {
    const names = namesIn(join(folder.path, "info"), onSkipped);
    for (const name of names.filter((one) => one.endsWith(INFO_SUFFIX))) {
      const one = await lookAt(folder, name, pace, onSkipped);
      if (one !== undefined) found.push(one);
      if (pace.isDue) await pace.rest();
    }
  }
  return found.sort(latestFirst).map(({ trashed }) => trashed);
}

/**
 * Restores a session from the trash to its original path.
 *
 * @param trashed - From `listTrashed`.
 * @param options - `to` is another path for it, which may be relative, start with `~`, or be a `file://` URL.
 * @returns The absolute path of the restored file.
 * @throws {SessionError} `SESSION_EXISTS` if the path is taken, `SESSION_NOT_FOUND` if it is no longer in the trash,
 *   `WRITE_FAILED`; it is then still in the trash.
 */
export async function restoreSession(
  trashed: Pick<TrashedSession, "path" | "trashPath" | "infoPath">,
  options: { readonly to?: string } = {},
): Promise<string> {
  assertOptions(options, { to: TEXT });
  const { trashPath, infoPath } = trashed;
  const path = absolutePath(options.to ?? trashed.path);
  if (!isFile(trashPath)) throw notInTrash(trashPath);
  try {
    prepareFolder(dirname(path));
    // A redaction replaces the file in the trash.
    exclusively(realFileSystem, trashPath, () => {
      placeAt(trashPath, path);
      syncFolder(realFileSystem, dirname(path));
      removeFile(realFileSystem, trashPath);
    });
  } catch (cause) {
    throw isFile(trashPath) ? fileError(path, "write", cause) : notInTrash(trashPath);
  }
  const origin = importOriginOf(path);
  if (origin !== undefined) {
    unmarkDeletedImport(origin);
    // Deleted once more before that.
    if (!isThere(path)) markDeletedImport(origin);
  }
  // Without its file, the note is not listed.
  removeQuietly(realFileSystem, infoPath);
  return path;
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
    // The file itself does not exist, so something else stands in place of the folder.
    const message = `${folder} is no folder. Move what stands there, or restore the session to another place.`;
    throw new SessionError("WRITE_FAILED", message, { details: { path: folder }, cause });
  }
}

/** Gives the file a second name, since that overwrites nothing; on another file system it is copied. */
function placeAt(trashPath: string, path: string): void {
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

/** Reads the session that a note of the trash is about; undefined if it is none. */
async function lookAt(
  folder: TrashFolder,
  infoName: string,
  pace: Pace,
  report: SkipReport,
): Promise<Found | undefined> {
  const infoPath = join(folder.path, "info", infoName);
  const trashPath = join(folder.path, "files", basename(infoName, INFO_SUFFIX));
  try {
    const note = ifPresent(() => lstatSync(infoPath));
    if (!note?.isFile() || note.size > MAX_INFO_BYTES) return undefined;
    const { path, deleted } = parseNote(readFileSync(infoPath, "utf8"), folder.top);
    if (path === undefined || !isFile(trashPath)) return undefined;
    const found = await summarizeFile(trashPath, undefined, pace);
    const session = fileRow(trashPath, found);
    if (session !== undefined) {
      const { size } = found;
      return { trashed: { path, trashPath, infoPath, deleted, size, session }, notedMs: note.mtimeMs };
    }
    report({ path: trashPath, reason: "not-a-session" });
  } catch (error) {
    reportSkipped(trashPath, error, report);
  }
  return undefined;
}

function isFile(path: string): boolean {
  return ifPresent(() => lstatSync(path))?.isFile() ?? false;
}

/** Reads a note: where the file was, and when it was deleted. No path unless it was a `.jsonl` file. */
function parseNote(
  text: string,
  top: string | undefined,
): { path: string | undefined; deleted: Date | undefined } {
  const lines = text.split(/\r?\n/);
  const valueAt = (key: string) => lines.find((line) => line.startsWith(`${key}=`))?.slice(key.length + 1);
  const given = decoded(valueAt("Path") ?? "");
  const isUsable = given.endsWith(SESSION_SUFFIX) && !given.includes("\0");
  const isPlaced = isAbsolute(given) || (top !== undefined && !given.split("/").includes(".."));
  // By the specification, local time.
  const deleted = new Date(valueAt("DeletionDate")?.trim() ?? "");
  return {
    path: isUsable && isPlaced ? resolve(top ?? "/", given) : undefined,
    deleted: Number.isNaN(deleted.getTime()) ? undefined : deleted,
  };
}

/** Decodes a path as the trash escapes it; "" if it is invalid. */
function decoded(escaped: string): string {
  try {
    return decodeURIComponent(escaped);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return "";
  }
}

function latestFirst(a: Found, b: Found): number {
  const timeOf = ({ trashed }: Found) => trashed.deleted?.getTime() ?? 0;
  const byTime = timeOf(b) - timeOf(a) || b.notedMs - a.notedMs;
  return byTime || (a.trashed.trashPath < b.trashed.trashPath ? -1 : 1);
}
