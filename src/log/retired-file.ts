import type { FileSystem } from "./file-system.ts";
import { hasErrorCode } from "./system-error.ts";

/** Permissions of a file that has been replaced. */
const RETIRED_MODE = 0o400;

const WRITE_BITS = 0o222;

/**
 * Takes the right to write away from a file whose name another one has: writers who hold it open see that after their
 * own write, and go to the new file.
 */
export function retire(fs: FileSystem, fd: number): void {
  try {
    fs.fchmodSync(fd, RETIRED_MODE);
  } catch (error) {
    // Somebody else's file, or a file system without permissions: that the file has no name must tell.
    if (!hasErrorCode(error, "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EINVAL")) throw error;
  }
}

/** Tells by its mode whether a file was retired; one that nobody may write to looks the same. */
export function looksRetired({ mode }: { readonly mode: number }): boolean {
  return (mode & WRITE_BITS) === 0;
}
