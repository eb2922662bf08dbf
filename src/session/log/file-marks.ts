import { callIfPresent, type FileSystem, hasErrorCode, isKeepingOpenFiles } from "../fs/file-system.ts";

/** Permissions of a replaced file. */
const RETIRED_MODE = 0o400;

/** Permissions that no retired file has. */
export const WRITE_BITS = 0o222;

/**
 * Modification time to set on a replaced file if permissions do not persist. It is the earliest time that every file system
 * supports.
 */
const RETIRED_AT = new Date("1980-01-02T00:00:00Z");

/** Upper limit for recognizing that time, because file times are rounded, and some file systems store local times. */
export const RETIRED_BEFORE_MS = Date.parse("1980-02-01T00:00:00Z");

/** Makes a replaced file read-only. Its writers detect this after their next write and switch to the new file. */
export function retireFile(fs: FileSystem, fd: number): void {
  // On these systems, writers detect that the old file is no longer at the path.
  if (isKeepingOpenFiles(fs)) return;
  try {
    fs.fchmodSync(fd, RETIRED_MODE);
  } catch (error) {
    // The file belongs to another user, or the file system has no permissions. Writers then detect that the file no longer has a
    // name.
    if (!hasErrorCode(error, ...NO_MODES)) throw error;
  }
}

/** Error codes for file systems that do not store modes, and for files of other users. */
const NO_MODES = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EINVAL"];

/** The sticky bit. It has no meaning for a file, survives writes, and does not affect reads. */
export const DELETED_BIT = 0o1000;

/**
 * Marks a file before it is deleted, so that sessions that have it open do not recreate it. If the system does not support the
 * mark, those sessions recreate the file.
 */
export function markDeleted(fs: FileSystem, path: string): void {
  try {
    callIfPresent(() => fs.chmodSync(path, (fs.statSync(path).mode & 0o777) | DELETED_BIT));
  } catch (error) {
    if (!hasErrorCode(error, ...NO_MODES, "EFTYPE", "EROFS")) throw error;
  }
}

/** Removes the mark from a file that was not deleted after all, or was restored. */
export function unmarkDeleted(fs: FileSystem, path: string): void {
  const { mode = 0 } = fs.statSync(path, { throwIfNoEntry: false }) ?? {};
  if ((mode & DELETED_BIT) !== 0) fs.chmodSync(path, mode & 0o777);
}

/** Marks a replaced file whose lines were copied, so that sessions that still have it open do not restore the lines. */
export function markCopied(fs: FileSystem, path: string): void {
  if (isKeepingOpenFiles(fs)) callIfPresent(() => fs.utimesSync(path, RETIRED_AT, RETIRED_AT));
}
