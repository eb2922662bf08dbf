import { basename, dirname, join } from "node:path";
import { monotonicMs } from "../fs/clock.ts";
import { sha256 } from "../fs/digest.ts";
import { isSameFile } from "../fs/file-identity.ts";
import {
  closeQuietly,
  type FileSystem,
  ifPresent,
  openForReading,
  readPieces,
  syncFolder,
} from "../fs/file-system.ts";
import { removeLeftovers, removeTemporary } from "../fs/temporary-files.ts";
import { type Content, linkOrCopy, tryLink, underFreeName, writeTemporary } from "../fs/write-whole.ts";
import { isSessionError, messageOf, SessionError } from "../schema/errors.ts";
import { FileChangedError, fileError } from "./file-errors.ts";
import { Lease, sleep } from "./lease.ts";
import { MAX_NAME_BYTES } from "./session-paths.ts";
import { type OldFile, takeOver } from "./take-over.ts";

/** What replaces an old file. */
export interface Replacement extends Omit<Content, "fs" | "path"> {
  readonly old: OldFile;
  /** Name in the same folder for a copy of the old bytes, closed to other users. */
  readonly backup?: string;
}

/** How long to wait for another process that is replacing the file. */
const WAIT_MS = 10_000;

const POLL_MS = 1;

/** Attempts to finish a replacement after the rename. */
const SETTLE_ATTEMPTS = 2;

/** Bytes of a name that leave room for a dot before it and `.lease` behind it, as file systems count. */
const MAX_KEY_BYTES = MAX_NAME_BYTES - ".".length - ".lease".length;

/** Names of the locks of files that this thread is replacing. */
const here = new Set<string>();

/**
 * Replaces a session file while others continue to append to it.
 *
 * The old file keeps a second, hidden name until all lines appended to it are in the new one. After a crash, the process
 * that finds that name copies the lines. Must be called inside `exclusively`.
 *
 * What fails after the rename becomes a process warning: the replacement has taken effect, and the next writer finishes
 * it.
 *
 * @returns Path of the backup, if one was requested.
 * @throws {FileChangedError} If the file was cut, or another one is at the path; nothing changed.
 * @remarks Source: docs/durability.md#while-a-file-is-replaced
 */
export function replaceFile({ old, backup, ...content }: Replacement): string | undefined {
  const { fs, path } = old;
  const folder = dirname(path);
  const temporary = writeTemporary({ ...content, fs, path });
  const hidden = hiddenName(path);
  const made = [temporary];
  let backupPath: string | undefined;
  try {
    if (backup !== undefined) {
      backupPath = keepCopy(old, join(folder, backup));
      made.push(backupPath);
    }
    if (tryLink(fs, path, hidden)) made.push(hidden);
    syncFolder(fs, folder);
    putAtPath(old, temporary);
  } catch (error) {
    for (const name of made) removeTemporary(fs, name);
    throw error;
  }
  settle(old);
  return backupPath;
}

/**
 * Puts the new file in place of the old one, which stays open. The one step that a system needs another way for that does not
 * rename over an open file.
 */
function putAtPath(old: OldFile, temporary: string): void {
  assertReplaceable(old);
  old.fs.renameSync(temporary, old.path);
}

/** Copies the last lines of the old file, and removes its hidden name; tries again once. */
function settle(old: OldFile): void {
  const { fs, path } = old;
  for (let attempt = 1; ; attempt++) {
    try {
      takeOver(old);
      syncFolder(fs, dirname(path));
      removeOldFile(fs, path);
      // Again, for writers that open the file by its path and know nothing of this.
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
  const warning = `${path} has been replaced, but the work behind that failed: ${messageOf(error)}. Until the next append or refresh, the old content may still be in ${hiddenName(path)}, and a power cut may bring it back.`;
  process.emitWarning(warning, { code: "SESSIONTREE_REPLACED" });
}

/**
 * Replaces a session file while no other process does so. First finishes a replacement that was interrupted.
 *
 * @param waitMs - How long to wait for another process; blocks the thread.
 * @throws {SessionError} `WRITE_FAILED` if another process, or a call further up the stack, is replacing the file.
 */
export function exclusively<T>(fs: FileSystem, path: string, replace: () => T, waitMs = WAIT_MS): T {
  const lock = lockName(path);
  if (here.has(lock)) throw busy(path);
  here.add(lock);
  try {
    const lease = takeLock(fs, path, lock, waitMs);
    try {
      finish(fs, path);
      return replace();
    } finally {
      lease.release();
    }
  } finally {
    here.delete(lock);
  }
}

/**
 * Finishes a replacement that a killed process left unfinished, or waits until a running one is done.
 *
 * @returns Whether all lines of the old file are in the new one now.
 * @remarks Cost: one look-up of a name if nothing is to be done.
 */
export function finishReplacement(fs: FileSystem, path: string, waitMs: number): boolean {
  const deadline = monotonicMs() + waitMs;
  while (isHalfReplaced(fs, path)) {
    if (here.has(lockName(path))) {
      // The call further up the stack then finds its work done.
      takeOverHidden(fs, path);
      return true;
    }
    try {
      exclusively(fs, path, () => undefined, 0);
      return true;
    } catch (error) {
      if (!isSessionError(error) || !isSessionError(error.cause, "LEASE_HELD")) throw error;
      if (monotonicMs() >= deadline) return false;
      sleep(POLL_MS);
    }
  }
  return true;
}

/** Tells whether a replacement is running or was interrupted, so that lines of the old file may be missing. */
export function isHalfReplaced(fs: FileSystem, path: string): boolean {
  return fs.lstatSync(hiddenName(path), { throwIfNoEntry: false }) !== undefined;
}

/** Removes what an interrupted replacement left of a session that is being deleted. */
export function removeOldFile(fs: FileSystem, path: string): void {
  ifPresent(() => fs.unlinkSync(hiddenName(path)));
}

/** Removes what killed processes left, after copying lines that are nowhere else. */
function finish(fs: FileSystem, path: string): void {
  try {
    removeLeftovers(fs, dirname(path));
    if (!isHalfReplaced(fs, path)) return;
    takeOverHidden(fs, path);
    removeOldFile(fs, path);
  } catch (error) {
    throw fileError(path, "write", error);
  }
}

/** Copies the lines of an old file that has only its hidden name. */
function takeOverHidden(fs: FileSystem, path: string): void {
  const hidden = hiddenName(path);
  const [left, now] = [hidden, path].map((name) => fs.lstatSync(name, { throwIfNoEntry: false }));
  const isReplaced = left?.isFile() && now?.isFile() && !isSameFile(left, now);
  if (!isReplaced) return;
  const fd = openForReading(fs, hidden);
  try {
    const isTaken = takeOver({ fs, path, fd, copied: 0 });
    // Another session is at the path. The lines belong to the old one, and are nowhere else.
    if (!isTaken) underFreeName(`${path}.bak`, (free) => fs.linkSync(hidden, free));
  } finally {
    closeQuietly(fs, fd);
  }
}

/** Makes a copy rather than a second name: the backup must not get lines that others append to the old file. */
function keepCopy({ fs, path, fd, copied }: OldFile, wanted: string): string {
  const temporary = writeTemporary({ fs, path, pieces: readPieces(fs, fd, 0, copied) });
  try {
    return underFreeName(wanted, (free) => linkOrCopy(fs, temporary, free));
  } finally {
    removeTemporary(fs, temporary);
  }
}

/** Checks that only appends have changed the old file: those are copied later, anything else needs a new copy. */
function assertReplaceable({ fs, path, fd, copied }: OldFile): void {
  const named = fs.lstatSync(path, { throwIfNoEntry: false });
  const open = fs.fstatSync(fd);
  if (named !== undefined && isSameFile(named, open) && open.size >= copied) return;
  throw new FileChangedError("another process changed the file meanwhile");
}

function takeLock(fs: FileSystem, path: string, lock: string, waitMs: number): Lease {
  try {
    return Lease.take(fs, lock, waitMs, () => undefined);
  } catch (error) {
    throw isSessionError(error, "LEASE_HELD") ? busy(path, error) : fileError(path, "write", error);
  }
}

function busy(path: string, cause?: unknown): SessionError {
  return new SessionError("WRITE_FAILED", `${path} is being replaced. Try again.`, {
    details: { path },
    cause,
  });
}

function lockName(path: string): string {
  return join(dirname(path), `.${keyOf(path)}`);
}

/** The hidden name of an old file while its last lines are copied. */
function hiddenName(path: string): string {
  return join(dirname(path), `.${keyOf(path)}.old`);
}

/** A file's name, or its digest where the name leaves no room for what is put around it. */
function keyOf(path: string): string {
  const name = basename(path);
  return Buffer.byteLength(name) <= MAX_KEY_BYTES ? name : sha256(name).slice(0, 16);
}
