import { type FileSystem, hasErrorCode } from "../fs/file-system.ts";

/** Permissions of a replaced file. */
const RETIRED_MODE = 0o400;

const WRITE_BITS = 0o222;

/**
 * Makes a replaced file read-only. Writers that still hold it open notice that after their next write, and switch to
 * the new file.
 */
export function retire(fs: FileSystem, fd: number): void {
  try {
    fs.fchmodSync(fd, RETIRED_MODE);
  } catch (error) {
    // Another user's file, or a file system without permissions: writers then notice that the file has no name.
    if (!hasErrorCode(error, "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EINVAL")) throw error;
  }
}

/** Tells by its mode whether a file was retired. A file that is merely read-only looks the same. */
export function looksRetired({ mode }: { readonly mode: number }): boolean {
  return (mode & WRITE_BITS) === 0;
}
