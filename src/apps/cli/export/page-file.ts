import { SessionError } from "../../../core/format/errors.ts";
import { closeQuietly, readRange, realFileSystem, whileHeld } from "../../../session/fs/file-system.ts";
import { removeTemporary } from "../../../session/fs/temporary-files.ts";
import { writeTemporary } from "../../../session/fs/write-whole.ts";
import { fileError } from "../../../session/log/file-errors.ts";
import { writeNewFile } from "../../../session/log/new-file.ts";
import { isThere } from "../../../session/log/replace-file.ts";

/** How a page begins, as this program and others write it. */
const PAGE = /^\s*<!doctype html>/i;

/** Writes a page to an absolute path as `writeNewFile` does, but replaces a page that stands there. */
export function writePageAt(path: string, pieces: Iterable<string | Uint8Array>): void {
  if (!isThere(path, realFileSystem)) {
    writeNewFile({ path, pieces });
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
