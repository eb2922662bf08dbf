import { dirname } from "node:path";
import { SessionError } from "../../core/format/errors.ts";
import { type FileSystem, makeFolder, realFileSystem } from "../fs/file-system.ts";
import { type Content, writeWhole } from "../fs/write-whole.ts";
import { toFileError } from "./file-errors.ts";
import { isThere } from "./replace-file.ts";

/** Content for a new file, in the real file system unless another is named. */
interface NewFile extends Omit<Content, "fs"> {
  readonly fs?: FileSystem | undefined;
}

/** Writes a file that only its owner can read, in a folder that is made; it is there as a whole or not at all. */
export function writeNewFile({ fs = realFileSystem, ...content }: NewFile): void {
  const { path } = content;
  // Before anything is computed; a file that is made meanwhile stays as well.
  assertFree(path, fs);
  try {
    makeFolder(fs, dirname(path));
    writeWhole({ ...content, fs });
  } catch (error) {
    throw toFileError(path, "write", error);
  }
}

/** Checks that nothing is at a path. */
export function assertFree(path: string, fs: FileSystem): void {
  if (!isThere(path, fs)) return;
  throw new SessionError("SESSION_EXISTS", `${path} exists already; choose another path.`, {
    details: { path },
  });
}
