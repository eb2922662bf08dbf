import { lstatSync, readdirSync, readFileSync, utimesSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { fileError } from "../log/file-errors.ts";
import {
  ifPresent,
  makeFolder,
  openForReading,
  readPieces,
  realFileSystem,
  removeQuietly,
  syncFolder,
} from "../log/file-system.ts";
import { absolutePath, sessionsRoot } from "../log/session-paths.ts";
import { hasErrorCode } from "../log/system-error.ts";
import { writeWhole } from "../log/write-whole.ts";
import { SessionError } from "../schema/errors.ts";
import { assertOptions, CALLBACK, SIGNAL, TEXT, TEXTS } from "../schema/options.ts";
import { summarizeFile } from "./file-summary.ts";
import { Pace } from "./pace.ts";
import { type FileRow, fileRow } from "./session-row.ts";
import { ignoreSkipped, reportSkipped, type SkipReport } from "./skipping.ts";
import { assertReadableTrash, type TrashFolder, trashFolders } from "./trash-folders.ts";

/** A session in the system's trash. */
export interface TrashedSession {
  /** Absolute path where it stood. */
  readonly path: string;
  /** Where its file is now. */
  readonly trashPath: string;
  /** The file in which the trash notes where it stood. */
  readonly infoPath: string;
  /** When it was deleted, to the second; undefined if the trash does not say. */
  readonly deleted: Date | undefined;
  /** Bytes of its file. */
  readonly size: number;
  /** What a list would say of it; its `path` is the one in the trash. */
  readonly session: FileRow;
}

/** Where trashed sessions are looked for. */
export interface TrashOptions {
  /**
   * Folders where sessions were: each file system has a trash of its own. Default: where sessions are kept. That of the
   * home folder is always looked into.
   */
  readonly folders?: readonly string[];
  /** Told of what is in the trash, is a `.jsonl` file, and is no session or cannot be read. */
  readonly onSkipped?: SkipReport;
  /** Ends the work with `ABORTED`. */
  readonly signal?: AbortSignal;
}

/** A session in the trash, and when its note was written, which is finer than what the note says. */
interface Found {
  readonly trashed: TrashedSession;
  readonly notedMs: number;
}

const INFO_SUFFIX = ".trashinfo";
const SESSION_SUFFIX = ".jsonl";

/** Longer than any path; what is longer is no note of the trash. */
const MAX_INFO_BYTES = 64 * 1024;

/**
 * Lists the sessions in the trash, the one deleted last first.
 *
 * Looks into the trash that freedesktop.org describes, as the desktops of Linux have it; nothing is changed.
 *
 * @returns Empty if there are none, or nothing was ever deleted.
 * @throws {SessionError} `SESSION_NOT_FOUND` on macOS and Windows, whose trash no program can look into; the message
 *   says how a file is brought back by hand. `ABORTED`.
 * @remarks Cost: a look at each note in the trash, and the bytes of the sessions.
 */
export async function listTrashed(options: TrashOptions = {}): Promise<TrashedSession[]> {
  assertOptions(options, { folders: TEXTS, onSkipped: CALLBACK, signal: SIGNAL });
  assertReadableTrash();
  const { folders = [sessionsRoot()], onSkipped = ignoreSkipped, signal } = options;
  const pace = new Pace(signal);
  const found: Found[] = [];
  for (const folder of trashFolders(folders.map(absolutePath))) {
    for (const name of namesIn(join(folder.path, "info"), onSkipped)) {
      const one = await lookAt(folder, name, pace, onSkipped);
      if (one !== undefined) found.push(one);
      if (pace.isDue) await pace.rest();
    }
  }
  return found.sort(latestFirst).map(({ trashed }) => trashed);
}

/**
 * Brings a session back from the trash to where it stood.
 *
 * @param trashed - One that `listTrashed` gave.
 * @param options - `to` is another place for it: a path that may be relative, start with `~`, or be a `file://` URL.
 * @returns The absolute path where it stands now.
 * @throws {SessionError} `SESSION_EXISTS` if something stands there, `SESSION_NOT_FOUND` if it is not in the trash any
 *   more, `WRITE_FAILED`; it is then still in the trash.
 */
export async function restoreSession(
  trashed: Pick<TrashedSession, "path" | "trashPath" | "infoPath">,
  options: { readonly to?: string } = {},
): Promise<string> {
  assertOptions(options, { to: TEXT });
  const { trashPath, infoPath } = trashed;
  const path = absolutePath(options.to ?? trashed.path);
  if (!isFile(trashPath)) {
    throw new SessionError(
      "SESSION_NOT_FOUND",
      `${trashPath} is not in the trash any more. List what is there.`,
      {
        details: { path: trashPath },
      },
    );
  }
  try {
    prepareFolder(dirname(path));
    placeAt(trashPath, path);
    syncFolder(realFileSystem, dirname(path));
    realFileSystem.unlinkSync(trashPath);
  } catch (cause) {
    throw fileError(path, "write", cause);
  }
  // Without its file the note says nothing, and no list shows it.
  removeQuietly(realFileSystem, infoPath);
  return path;
}

/** Makes the folder if it is gone. */
function prepareFolder(folder: string): void {
  try {
    makeFolder(realFileSystem, folder);
  } catch (cause) {
    if (!hasErrorCode(cause, "EEXIST")) throw cause;
    // The file itself is not there: it is the folder in whose place something stands.
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

function namesIn(folder: string, report: SkipReport): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(INFO_SUFFIX));
  } catch (error) {
    reportSkipped(folder, error, report);
    return [];
  }
}

/** Returns what a note of the trash is about; undefined if that is no session. */
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
    const { summary, mtimeMs, size } = await summarizeFile(trashPath, undefined, pace);
    if (summary !== undefined) {
      const session = fileRow(trashPath, summary, mtimeMs);
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

/** Reads where a file stood and when it was deleted; no path if it was no `.jsonl` file. */
function parseNote(
  text: string,
  top: string | undefined,
): { path: string | undefined; deleted: Date | undefined } {
  const lines = text.split(/\r?\n/);
  const valueAt = (key: string) => lines.find((line) => line.startsWith(`${key}=`))?.slice(key.length + 1);
  const given = decoded(valueAt("Path") ?? "");
  const isUsable = given.endsWith(SESSION_SUFFIX) && !given.includes("\0");
  const isPlaced = isAbsolute(given) || (top !== undefined && !given.split("/").includes(".."));
  // Without a zone it is local time, as the specification has it.
  const deleted = new Date(valueAt("DeletionDate")?.trim() ?? "");
  return {
    path: isUsable && isPlaced ? resolve(top ?? "/", given) : undefined,
    deleted: Number.isNaN(deleted.getTime()) ? undefined : deleted,
  };
}

/** Decodes what the trash has escaped; gives "" for what is no text. */
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
