import { lstatSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { getErrorMessage, isSessionError, SessionError } from "../../core/format/errors.ts";
import { assertKnownOptions, FLAG, SIGNAL } from "../../core/format/options.ts";
import { readFileHeader } from "../../session/files/find-session.ts";
import { forgetSession, partialAnswersNextTo } from "../../session/files/forget-session.ts";
import { listPartialAnswers } from "../../session/files/partial-answer-files.ts";
import { callUnlessRefused } from "../../session/files/skipped-files.ts";
import { Pace } from "../../session/files/time-slices.ts";
import { callIfPresent, hasErrorCode, realFileSystem, syncFolder } from "../../session/fs/file-system.ts";
import { removeFile } from "../../session/fs/temporary-files.ts";
import { markDeleted, unmarkDeleted } from "../../session/log/file-marks.ts";
import { notASessionAt } from "../../session/log/foreign-file.ts";
import { LeaseSlot } from "../../session/log/lease-slot.ts";
import {
  awaitFile,
  finishInterrupted,
  isThere,
  removeOldFile,
  reserveFile,
} from "../../session/log/replace-file.ts";
import { toAbsolutePath } from "../../session/log/session-paths.ts";
import { deleteMarked, readMarkedOrigins } from "../list/deleted-imports.ts";

/** Options for deleting a session. */
export interface DeleteOptions {
  /** Whether to delete the session permanently instead of moving it to the trash. Default false. */
  readonly permanent?: boolean;
  /** Whether to delete the file even if it is not a session or another process holds its lease. Default false. */
  readonly force?: boolean;
  /** Cancels the operation with `ABORTED`, unless the deletion has already begun. */
  readonly signal?: AbortSignal;
}

/** Result of a deletion. */
export interface DeletedSession {
  /** Absolute path before deletion. */
  readonly path: string;
  /** `trash` if the file was moved to the system trash; `permanent` if it was deleted permanently. */
  readonly method: "trash" | "permanent";
}

/**
 * Deletes a session file: moves it to the system trash, from which it can be restored, or deletes it permanently.
 *
 * Also deletes its lease file and partial answers, but not its backups. Does not follow a symbolic link. A session that
 * was imported from another program is not imported again.
 *
 * @param path - May be relative, start with `~`, or be a `file://` URL.
 * @throws {SessionError} `SESSION_NOT_FOUND` if the path is not a regular file, `NOT_A_SESSION` if it belongs to another
 *   program, or is not a session and would be deleted permanently, `LEASE_HELD` if a process has its lease,
 *   `WRITE_FAILED` if the system has no trash or refuses, or the file is being replaced, `ABORTED`. After an error, the file
 *   remains at its path.
 */
export async function deleteSession(path: string, options: DeleteOptions = {}): Promise<DeletedSession> {
  assertKnownOptions(options, { permanent: FLAG, force: FLAG, signal: SIGNAL });
  const { permanent = false, force = false, signal } = options;
  const pace = new Pace(signal);
  pace.check();
  const absolute = toAbsolutePath(path);
  callIfPresent(() => awaitFile(realFileSystem, absolute));
  // Check this first, because the trash package ignores missing files.
  assertPlainFile(absolute);
  if (!force) assertSessionFile(absolute, permanent);
  const trash = permanent ? undefined : await loadTrash(absolute);
  pace.check();
  const lease = new LeaseSlot(realFileSystem, absolute, { lease: force ? "none" : "fail" });
  takeUnlessFull(() => lease.take(), `${absolute}.lease`);
  let release: (() => void) | undefined;
  try {
    release = takeUnlessFull(() => reserveFile(realFileSystem, absolute));
    // Another process may have deleted the file in the meantime.
    assertPlainFile(absolute);
    const partials = findPartialAnswers(absolute);
    await deleteMarked(callUnlessRefused(() => readMarkedOrigins(absolute)) ?? [], () =>
      deleteFile(absolute, trash),
    );
    for (const path of partials) await deletePartial(path, trash);
  } finally {
    release?.();
    lease.release();
  }
  forgetSession(absolute);
  return { path: absolute, method: permanent ? "permanent" : "trash" };
}

/**
 * Throws if a file is not a session: before a permanent deletion, for all such files; for the trash, only for files
 * known to belong to another program.
 */
function assertSessionFile(path: string, isForGood: boolean): void {
  if (isForGood) {
    if (readFileHeader(path) === undefined) throw notASessionAt(path);
    return;
  }
  const error = notASessionAt(path);
  if (isSessionError(error) && error.details["source"] !== undefined) throw error;
}

/**
 * Acquires a lease or lock. On a full disk, continues without it if its file does not exist; otherwise, sessions on that disk
 * could not be deleted.
 */
function takeUnlessFull<T>(take: () => T, file?: string): T | undefined {
  try {
    return take();
  } catch (error) {
    const isFull = error instanceof Error && hasErrorCode(error.cause, "ENOSPC", "EDQUOT");
    if (!isFull || (file !== undefined && isThere(file))) throw error;
    return undefined;
  }
}

/** Throws if a path is not a regular file. A link to a file is not considered a regular file. */
export function assertPlainFile(path: string): void {
  const stats = callIfPresent(() => lstatSync(path));
  if (stats?.isFile()) return;
  const message = stats?.isSymbolicLink()
    ? `${path} is a symbolic link, not a session file. Delete the session it points to, or remove the link manually.`
    : `There is no session file at ${path}. Check the path.`;
  throw new SessionError("SESSION_NOT_FOUND", message, { details: { path } });
}

/** Removes a file or moves it to the trash, so that sessions that have it open do not recreate it. */
async function deleteFile(path: string, trash: Trash | undefined): Promise<void> {
  // Otherwise, old content left by a killed process would reappear.
  if (trash !== undefined) finishInterrupted(realFileSystem, path);
  markDeleted(realFileSystem, path);
  try {
    if (trash === undefined) removeForGood(path);
    else await putIntoTrash(path, trash);
  } catch (error) {
    unmarkDeleted(realFileSystem, path);
    throw error;
  }
}

function removeForGood(path: string): void {
  try {
    removeFile(realFileSystem, path);
    removeOldFile(realFileSystem, path);
    syncFolder(realFileSystem, dirname(path));
  } catch (cause) {
    throw makeRefusedError(path, "remove it", "Remove it manually.", cause);
  }
}

/** Returns the partial answers of a session, even if its file was renamed. */
function findPartialAnswers(path: string): string[] {
  const id = callUnlessRefused(() => readFileHeader(path))?.id;
  const listed = listPartialAnswers(path, id).map((partial) => partial.path);
  return [...new Set([...listed, ...partialAnswersNextTo(path)])];
}

/**
 * Deletes a partial answer in the same way as its session. If this fails, emits a process warning.
 */
async function deletePartial(path: string, trash: Trash | undefined): Promise<void> {
  try {
    if (trash === undefined) removeFile(realFileSystem, path);
    else if (isThere(path)) await putIntoTrash(path, trash);
  } catch (error) {
    const warning = `A partial answer of a deleted session may still be at ${path}: ${getErrorMessage(error)}`;
    process.emitWarning(warning, { code: "SESSIONTREE_CACHE" });
  }
}

type Trash = typeof import("trash").default;

/**
 * Loads the `trash` package lazily, because it has many dependencies and most programs delete nothing.
 *
 * Resolves it at run time, instead of letting a bundler include it, because parts of a bundled copy fail after the file is in the
 * trash.
 */
async function loadTrash(path: string): Promise<Trash> {
  try {
    const found = createRequire(import.meta.url).resolve("trash");
    const { default: trash }: { default: Trash } = await import(pathToFileURL(found).href);
    return trash;
  } catch (cause) {
    throw makeRefusedError(
      path,
      "move it to the trash without the trash package",
      "Install it next to the program or bundle, or delete the session permanently.",
      cause,
    );
  }
}

async function putIntoTrash(path: string, trash: Trash): Promise<void> {
  try {
    // Disables glob patterns, because a name such as `a[1].jsonl` would match other files.
    await trash(path, { glob: false });
  } catch (cause) {
    throw makeRefusedError(path, "move it to the trash", "Delete it permanently instead.", cause);
  }
}

function makeRefusedError(path: string, what: string, advice: string, cause: unknown): SessionError {
  const [reason = ""] = getErrorMessage(cause).split(/\.?(?:\n|$)/, 1);
  const message = `${path} was not deleted, because the system did not ${what}: ${reason}. ${advice}`;
  return new SessionError("WRITE_FAILED", message, { details: { path }, cause });
}
