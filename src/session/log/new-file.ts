import { dirname } from "node:path";
import { SessionError } from "../../core/format/errors.ts";
import { type FileSystem, makeFolder, realFileSystem } from "../fs/file-system.ts";
import { type Content, writeWhole } from "../fs/write-whole.ts";
import { toFileError } from "./file-errors.ts";
import { isThere } from "./replace-file.ts";

/** Content of a new file. Uses the real file system unless a different one is specified. */
interface NewFile extends Omit<Content, "fs"> {
  readonly fs?: FileSystem | undefined;
}

/** Writes a file that only its owner can read, and creates its folder. The file is created either completely or not at all. */
export function writeNewFile({ fs = realFileSystem, ...content }: NewFile): void {
  const { path } = content;
  // Checked before computing the content. A file created in the meantime is not overwritten either.
  assertFree(path, fs);
  try {
    makeFolder(fs, dirname(path));
    writeWhole({ ...content, fs });
  } catch (error) {
    throw toFileError(path, "write", error);
  }
}

/** Throws if a file exists at a path. */
export function assertFree(path: string, fs: FileSystem): void {
  if (!isThere(path, fs)) return;
  throw new SessionError("SESSION_EXISTS", `${path} already exists; choose another path.`, {
    details: { path },
  });
}
