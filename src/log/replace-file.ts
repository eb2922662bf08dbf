import { basename, dirname, join } from "node:path";
import { isSessionError, SessionError } from "../schema/errors.ts";
import { sha256 } from "./digest.ts";
import { FileChangedError, fileError } from "./file-errors.ts";
import {
  closeQuietly,
  type FileSystem,
  ifPresent,
  openForReading,
  readPieces,
  syncFolder,
} from "./file-system.ts";
import { Lease, sleep } from "./lease.ts";
import { monotonicMs } from "./monotonic.ts";
import { MAX_NAME_BYTES } from "./session-paths.ts";
import { type OldFile, takeOver } from "./take-over.ts";
import { removeLeftovers, removeTemporary } from "./temporary-files.ts";
import { type Content, linkOrCopy, tryLink, underFreeName, writeTemporary } from "./write-whole.ts";

/** What takes an old file's place. */
export interface Replacement extends Omit<Content, "fs" | "path"> {
  readonly old: OldFile;
  /** Name, in the same folder, under which a copy of the old bytes stays, closed to other users. */
  readonly backup?: string;
}

/** How long to wait for another process that replaces the file. */
const WAIT_MS = 10_000;

const POLL_MS = 1;

/** Bytes of a name that leave room for a dot before it and `.lease` behind it, as file systems count. */
const MAX_KEY_BYTES = MAX_NAME_BYTES - ".".length - ".lease".length;

/** The files that this thread is replacing, by the names of their locks. */
const here = new Set<string>();

/**
 * Puts new content in the place of a session file, to which others go on appending meanwhile.
 *
 * The old file keeps a second, hidden name until every line that was appended to it stands in the new one: whoever
 * finds that name after a crash takes the lines over. Must be called inside `exclusively`.
 *
 * @returns Path of the backup, if one was wanted.
 * @throws {FileChangedError} If the file was cut, or another stands at the path; then nothing has changed.
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
    assertReplaceable(old);
    fs.renameSync(temporary, path);
  } catch (error) {
    for (const name of made) removeTemporary(fs, name);
    throw error;
  }
  takeOver(old);
  syncFolder(fs, folder);
  removeOldFile(fs, path);
  // Once more, for writers who look for the file by its name and know nothing of this.
  takeOver(old);
  return backupPath;
}

/**
 * Runs a replacement of a session file while no other process replaces it; first finishes one that was cut short.
 *
 * @param waitMs - How long to wait for another process; blocks the thread.
 * @throws {SessionError} `WRITE_FAILED` if another process, or a call further up in this one, is replacing the file.
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
 * Finishes a replacement that a killed process has left half done, or waits until a living one is done.
 *
 * @returns Whether every line of the old file is in the new one now.
 * @remarks Cost: one look-up of a name if there is nothing to do.
 */
export function finishReplacement(fs: FileSystem, path: string, waitMs: number): boolean {
  const deadline = monotonicMs() + waitMs;
  while (isHalfReplaced(fs, path)) {
    if (here.has(lockName(path))) {
      // The call further up goes on afterwards, and finds done what is done here.
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

/** Tells whether a replacement is under way, or was cut short, so that lines of the old file may be missing. */
export function isHalfReplaced(fs: FileSystem, path: string): boolean {
  return fs.lstatSync(hiddenName(path), { throwIfNoEntry: false }) !== undefined;
}

/** Removes what a replacement that was cut short has left of a session that goes for good. */
export function removeOldFile(fs: FileSystem, path: string): void {
  ifPresent(() => fs.unlinkSync(hiddenName(path)));
}

/** Clears up what killed processes have left, taking over the lines that nobody else has. */
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

/** Takes over what stands in an old file that has its hidden name only. */
function takeOverHidden(fs: FileSystem, path: string): void {
  const hidden = hiddenName(path);
  const [left, now] = [hidden, path].map((name) => fs.lstatSync(name, { throwIfNoEntry: false }));
  const isReplaced = left?.isFile() && now?.isFile() && (left.ino !== now.ino || left.dev !== now.dev);
  if (!isReplaced) return;
  const fd = openForReading(fs, hidden);
  try {
    const isTaken = takeOver({ fs, path, fd, copied: 0 });
    // Another session stands at the path. The lines are its old owner's, and nobody else has them.
    if (!isTaken) underFreeName(`${path}.bak`, (free) => fs.linkSync(hidden, free));
  } finally {
    closeQuietly(fs, fd);
  }
}

/** Keeps a copy, and not a second name: what is appended to the old file by mistake must not get into it. */
function keepCopy({ fs, path, fd, copied }: OldFile, wanted: string): string {
  const temporary = writeTemporary({ fs, path, pieces: readPieces(fs, fd, 0, copied) });
  try {
    return underFreeName(wanted, (free) => linkOrCopy(fs, temporary, free));
  } finally {
    removeTemporary(fs, temporary);
  }
}

/** What is appended behind the copied bytes is taken over later; anything else calls for a new copy. */
function assertReplaceable({ fs, path, fd, copied }: OldFile): void {
  const named = fs.lstatSync(path, { throwIfNoEntry: false });
  const open = fs.fstatSync(fd);
  if (named?.ino === open.ino && named.dev === open.dev && open.size >= copied) return;
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
  return new SessionError("WRITE_FAILED", `${path} is being replaced at this moment. Try again.`, {
    details: { path },
    cause,
  });
}

function lockName(path: string): string {
  return join(dirname(path), `.${keyOf(path)}`);
}

/** The second name that an old file has while its lines are taken over. */
function hiddenName(path: string): string {
  return join(dirname(path), `.${keyOf(path)}.old`);
}

/** A file's name, or its digest where the name leaves no room for what is put around it. */
function keyOf(path: string): string {
  const name = basename(path);
  return Buffer.byteLength(name) <= MAX_KEY_BYTES ? name : sha256(name).slice(0, 16);
}
