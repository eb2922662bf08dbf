import { dirname, join } from "node:path";
import { callQuietly, getErrorMessage, isSessionError, SessionError } from "../../core/format/errors.ts";
import { getMonotonicMs, sleepFor } from "../fs/clock.ts";
import { findFileState, getOpenState, isSameFile } from "../fs/file-identity.ts";
import {
  callIfPresent,
  type FileSystem,
  getPlainFileMode,
  hasErrorCode,
  isKeepingOpenFiles,
  readPieces,
  realFileSystem,
  retryWhileHeld,
  syncFolder,
  withOpenFile,
} from "../fs/file-system.ts";
import { removeFile, removeLeftovers, removeTemporary } from "../fs/temporary-files.ts";
import {
  type Content,
  linkOrCopyFile,
  makeUnderFreeName,
  moveIfFree,
  tryLink,
  writeTemporary,
} from "../fs/write-whole.ts";
import { FileChangedError, toFileError } from "./file-errors.ts";
import { markCopied } from "./file-marks.ts";
import { Lease } from "./lease.ts";
import { hasHeader, type OldFile, takeOver } from "./takeover.ts";
import { lockPath, MAX_STRAYS, makeBackupName, makeOldFilePath, makeStrayPath } from "./written-names.ts";

/** Replacement for an old file. */
export interface Replacement extends Omit<Content, "fs" | "path" | "mode"> {
  readonly old: OldFile;
  /** Name for a copy of the old bytes in the same folder, which is inaccessible to other users. */
  readonly backup?: string;
}

/** Maximum time to wait for another process that is replacing the file, in milliseconds. */
const WAIT_MS = 10_000;

const POLL_MS = 1;

/** Maximum number of attempts to complete a replacement after the rename. */
const SETTLE_ATTEMPTS = 2;

/** Names of the locks of files that this thread is replacing or deleting. */
const here = new Set<string>();

/**
 * Replaces a session file while other processes continue to append to it. Its permissions do not change.
 *
 * The old file has a second, hidden name until all lines appended to it are in the new file. After a crash, the process that
 * finds that name copies the lines. Must be called inside `replaceExclusively`.
 *
 * A failure after the new file is at the path is reported as a process warning, because the replacement has taken effect and the
 * next writer completes it.
 *
 * @returns Path of the backup, if one was requested.
 * @throws {FileChangedError} If the file was truncated, or another file is at the path; nothing was changed.
 * @remarks Source: docs/durability.md#while-a-file-is-replaced
 */
export function replaceFile({ old, backup, ...content }: Replacement): string | undefined {
  const { fs, path } = old;
  const made = [writeTemporary({ ...content, fs, path, mode: getPlainFileMode(fs, path) })];
  const [temporary = ""] = made;
  let backupPath: string | undefined;
  try {
    if (backup !== undefined) {
      backupPath = keepCopy(old, join(dirname(path), backup));
      made.push(backupPath);
    }
    if (!isKeepingOpenFiles(fs) && tryLink(fs, path, makeOldFilePath(path))) renameOver(old, temporary);
    else exchangeFiles(old, temporary);
  } catch (error) {
    for (const name of made) removeTemporary(fs, name);
    throw error;
  }
  settleFile(old);
  return backupPath;
}

/** Renames the new file over the old file, which already has its hidden name. */
function renameOver(old: OldFile, temporary: string): void {
  const { fs, path } = old;
  try {
    syncFolder(fs, dirname(path));
    assertReplaceable(old, path);
    fs.renameSync(temporary, path);
  } catch (error) {
    removeTemporary(fs, makeOldFilePath(path));
    throw error;
  }
}

/**
 * Renames the old file, and then renames the new file to its path. Used if open files cannot be replaced or cannot have a second
 * name.
 */
function exchangeFiles(old: OldFile, temporary: string): void {
  const { fs, path } = old;
  assertReplaceable(old, path);
  retryWhileHeld(fs, () => fs.renameSync(path, makeOldFilePath(path)));
  try {
    assertReplaceable(old, makeOldFilePath(path));
    syncFolder(fs, dirname(path));
    moveToFree(fs, temporary, path);
    removeTemporary(fs, temporary);
  } catch (error) {
    putBack(fs, path);
    throw error;
  }
}

/** Moves a file to an unused path. If another program creates a file there in the meantime, that file is set aside. */
function moveToFree(fs: FileSystem, from: string, path: string): void {
  while (!moveIfFree(fs, from, path)) {
    if (!fs.lstatSync(path).isFile()) throw new FileChangedError(`${path} is not a plain file`);
    retryWhileHeld(fs, () => fs.renameSync(path, findFreeStrayName(fs, path)));
  }
}

/** Undoes the first half of an exchange. If that fails, the next process that uses the file does so. */
function putBack(fs: FileSystem, path: string): void {
  callQuietly(() => finishInterrupted(fs, path));
}

/** Copies the last lines of the old file and removes its hidden name. Retries once. */
function settleFile(old: OldFile): void {
  const { fs, path } = old;
  for (let attempt = 1; ; attempt++) {
    try {
      takeOver(old);
      for (const stray of listStrayNames(fs, path)) takeOverFile(fs, stray, path);
      syncFolder(fs, dirname(path));
      markCopied(fs, makeOldFilePath(path));
      removeOldFile(fs, path);
      // Repeated for other programs that opened the file by its path.
      takeOver(old);
      return;
    } catch (error) {
      if (attempt < SETTLE_ATTEMPTS) continue;
      warnUnsettled(path, error);
      return;
    }
  }
}

function warnUnsettled(path: string, error: unknown): void {
  const warning = `${path} was replaced, but the work after the replacement failed: ${getErrorMessage(error)}. Until the next append or refresh, the old content may still be in ${makeOldFilePath(path)}, and a power failure may bring it back.`;
  process.emitWarning(warning, { code: "SESSIONTREE_REPLACED" });
}

/**
 * Runs a replacement of a session file while no other process replaces it. First completes an interrupted replacement.
 *
 * @param waitMs - Maximum time to wait for another process, in milliseconds. Blocks the thread.
 * @throws {SessionError} `WRITE_FAILED` if another process, or a call further up the stack, is replacing the file.
 */
export function replaceExclusively<T>(fs: FileSystem, path: string, replace: () => T, waitMs = WAIT_MS): T {
  const release = reserveFile(fs, path, waitMs);
  try {
    finishInterrupted(fs, path);
    return replace();
  } finally {
    release();
  }
}

/**
 * Reserves a session file, so that no other process or call can replace or delete it.
 *
 * @returns A function that ends the reservation.
 * @throws {SessionError} `WRITE_FAILED`, as `replaceExclusively` does.
 */
export function reserveFile(fs: FileSystem, path: string, waitMs = WAIT_MS): () => void {
  const lock = lockPath(path);
  if (here.has(lock)) throw makeBusyError(path);
  here.add(lock);
  try {
    const lease = takeLock(fs, path, lock, waitMs);
    return () => {
      try {
        lease.release();
      } finally {
        here.delete(lock);
      }
    };
  } catch (error) {
    here.delete(lock);
    throw error;
  }
}

/**
 * Completes a replacement that a killed process left unfinished, or waits until a running replacement has ended.
 *
 * @returns Whether all lines of the old file are now in the new file.
 * @remarks Cost: one file name lookup if there is nothing to do.
 */
export function finishReplacement(fs: FileSystem, path: string, waitMs: number): boolean {
  if (!isHalfReplaced(fs, path)) return true;
  const deadline = getMonotonicMs() + waitMs;
  do {
    if (here.has(lockPath(path))) {
      if (!isAnythingAt(fs, path)) throw makeBusyError(path);
      // The call further up the stack then finds its work already done.
      takeOverHidden(fs, path);
      return true;
    }
    try {
      replaceExclusively(fs, path, () => undefined, 0);
      return true;
    } catch (error) {
      if (!isSessionError(error) || !isSessionError(error.cause, "LEASE_HELD")) throw error;
      if (getMonotonicMs() >= deadline) return false;
      sleepFor(POLL_MS);
    }
  } while (isHalfReplaced(fs, path));
  return true;
}

/** Returns whether a replacement is running or was interrupted, so that lines of the old file may be missing. */
export function isHalfReplaced(fs: FileSystem, path: string): boolean {
  return isAnythingAt(fs, makeOldFilePath(path));
}

function isAnythingAt(fs: FileSystem, path: string): boolean {
  return callIfPresent(() => fs.lstatSync(path, { throwIfNoEntry: false })) !== undefined;
}

/**
 * Waits for a file that is being replaced. There may be no file at its path for a moment, or for longer if the replacing process
 * was killed. In that case, the old file is restored.
 *
 * @throws {SessionError} `WRITE_FAILED` if another process, or a call further up the stack, takes too long.
 */
export function awaitFile(fs: FileSystem, path: string): void {
  if (!isAnythingAt(fs, path) && !finishReplacement(fs, path, WAIT_MS)) throw makeBusyError(path);
}

/** Returns whether a file exists at a path. If there is none, first waits as `awaitFile` does. */
export function isThere(path: string, fs: FileSystem = realFileSystem): boolean {
  try {
    if (fs.statSync(path, { throwIfNoEntry: false }) !== undefined) return true;
    awaitFile(fs, path);
    return fs.statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw toFileError(path, "read", error);
  }
}

/** Calls a function. If the file does not exist, waits as `awaitFile` does and calls the function again. */
export function retryAfterReplacement<T>(fs: FileSystem, path: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (!hasErrorCode(error, "ENOENT")) throw error;
    awaitFile(fs, path);
    return call();
  }
}

/** Removes files abandoned by an interrupted replacement, for a session that is being deleted. */
export function removeOldFile(fs: FileSystem, path: string): void {
  for (const stray of listStrayNames(fs, path).reverse()) removeFile(fs, stray);
  // Removed last, because it indicates that there may be others.
  removeFile(fs, makeOldFilePath(path));
}

/**
 * Removes files abandoned by killed processes, after copying lines that are not in any other file. Must be called while the
 * file is reserved.
 */
export function finishInterrupted(fs: FileSystem, path: string): void {
  try {
    removeLeftovers(fs, dirname(path));
    if (!isHalfReplaced(fs, path)) return;
    const hidden = makeOldFilePath(path);
    if (isExchangeHalfDone(fs, hidden, path)) moveToFree(fs, hidden, path);
    takeOverHidden(fs, path);
    removeOldFile(fs, path);
  } catch (error) {
    throw toFileError(path, "write", error);
  }
}

/**
 * Returns whether the new file is not at the path yet: no file exists there, or only a file that another program's append created
 * after the old file was moved away.
 */
function isExchangeHalfDone(fs: FileSystem, hidden: string, path: string): boolean {
  const now = fs.lstatSync(path, { throwIfNoEntry: false });
  if (now === undefined) return true;
  return (
    now.isFile() && !isSameFile(findFileState(fs, hidden), findFileState(fs, path)) && !hasHeader(fs, path)
  );
}

/** Copies the lines of an old file that has only its hidden name, and of files that were set aside. */
function takeOverHidden(fs: FileSystem, path: string): void {
  for (const name of [makeOldFilePath(path), ...listStrayNames(fs, path)]) takeOverFile(fs, name, path);
}

function takeOverFile(fs: FileSystem, from: string, path: string): void {
  const [left, now] = [from, path].map((name) => fs.lstatSync(name, { throwIfNoEntry: false }));
  const isReplaced =
    left?.isFile() && now?.isFile() && !isSameFile(findFileState(fs, from), findFileState(fs, path));
  if (!isReplaced) return;
  withOpenFile(fs, from, (fd) => {
    const isTaken = takeOver({ fs, path, fd, copied: 0 });
    if (isTaken) markCopied(fs, from);
    // Another session is at the path. The lines belong to the old session and are not in any other file.
    else
      makeUnderFreeName(join(dirname(path), makeBackupName(path)), (free) => linkOrCopyFile(fs, from, free));
  });
}

/** Creates a copy instead of a second name, because the backup must not receive lines appended to the old file. */
function keepCopy({ fs, path, fd, copied }: OldFile, wanted: string): string {
  const temporary = writeTemporary({ fs, path, pieces: readPieces(fs, fd, 0, copied) });
  try {
    return makeUnderFreeName(wanted, (free) => linkOrCopyFile(fs, temporary, free));
  } finally {
    removeTemporary(fs, temporary);
  }
}

/** Throws unless the old file was changed only by appends. Appended lines are copied later; other changes require a new copy. */
function assertReplaceable({ fs, fd, copied }: OldFile, name: string): void {
  const open = getOpenState(fs, fd);
  if (isSameFile(findFileState(fs, name), open) && open.size >= copied) return;
  throw new FileChangedError("another process changed the file in the meantime");
}

function takeLock(fs: FileSystem, path: string, lock: string, waitMs: number): Lease {
  try {
    return Lease.take(fs, lock, waitMs, () => undefined);
  } catch (error) {
    throw isSessionError(error, "LEASE_HELD")
      ? makeBusyError(path, error)
      : toFileError(path, "write", error);
  }
}

function makeBusyError(path: string, cause?: unknown): SessionError {
  return new SessionError("WRITE_FAILED", `${path} is being replaced or deleted. Try again.`, {
    details: { path },
    cause,
  });
}

/** Returns the names of files that other programs created at the path while no file was there. */
function listStrayNames(fs: FileSystem, path: string): string[] {
  const names: string[] = [];
  for (let number = 1; number <= MAX_STRAYS; number++) {
    const name = makeStrayPath(path, number);
    if (!isAnythingAt(fs, name)) break;
    names.push(name);
  }
  return names;
}

function findFreeStrayName(fs: FileSystem, path: string): string {
  const number = listStrayNames(fs, path).length + 1;
  if (number > MAX_STRAYS) throw new FileChangedError(`another program keeps creating ${path}`);
  return makeStrayPath(path, number);
}
