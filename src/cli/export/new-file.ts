import { dirname } from "node:path";
import { fileError } from "../../log/file-errors.ts";
import { isThere, makeFolder, realFileSystem } from "../../log/file-system.ts";
import { writeWhole } from "../../log/write-whole.ts";
import { SessionError } from "../../schema/errors.ts";

/**
 * Writes a file that only its owner can read, and whose folder is made; it is there as a whole or not at all.
 *
 * @param path - Absolute.
 * @throws {SessionError} `SESSION_EXISTS` if something stands at the path, or `WRITE_FAILED`.
 */
export function writeNewFile(path: string, pieces: Iterable<string | Uint8Array>): void {
  if (isThere(path, realFileSystem)) {
    throw new SessionError("SESSION_EXISTS", `${path} exists already; choose another path.`, {
      details: { path },
    });
  }
  try {
    makeFolder(realFileSystem, dirname(path));
    writeWhole({ fs: realFileSystem, path, pieces });
  } catch (error) {
    throw error instanceof SessionError ? error : fileError(path, "write", error);
  }
}
