import { dirname } from "node:path";
import { closeQuietly, makeFolder, readRange, realFileSystem, whileHeld } from "../../fs/file-system.ts";
import { removeTemporary } from "../../fs/temporary-files.ts";
import { writeTemporary, writeWhole } from "../../fs/write-whole.ts";
import { fileError, isThere } from "../../log/file-errors.ts";
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

/** How a page begins, as this program and others write it. */
const PAGE = /^\s*<!doctype html>/i;

/**
 * Writes a page like `writeNewFile`, and replaces one that stands at the path.
 *
 * @param path - Absolute.
 * @throws {SessionError} `SESSION_EXISTS` if something else than a page stands there, or `WRITE_FAILED`.
 */
export function writePageAt(path: string, pieces: Iterable<string | Uint8Array>): void {
  if (!isThere(path, realFileSystem)) {
    writeNewFile(path, pieces);
    return;
  }
  if (!isPage(path)) {
    throw new SessionError("SESSION_EXISTS", `${path} is no page, and is kept; choose another path.`, {
      details: { path },
    });
  }
  try {
    const temporary = writeTemporary({ fs: realFileSystem, path, pieces });
    try {
      whileHeld(realFileSystem, () => realFileSystem.renameSync(temporary, path));
    } catch (error) {
      removeTemporary(realFileSystem, temporary);
      throw error;
    }
  } catch (error) {
    throw fileError(path, "write", error);
  }
}

function isPage(path: string): boolean {
  try {
    const fd = realFileSystem.openSync(path, "r");
    try {
      return PAGE.test(readRange(realFileSystem, fd, 0, 64).toString());
    } finally {
      closeQuietly(realFileSystem, fd);
    }
  } catch (error) {
    throw fileError(path, "write", error);
  }
}
