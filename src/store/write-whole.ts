import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import {
  closeQuietly,
  createFile,
  FILE_MODE,
  type FileSystem,
  readPieces,
  removeQuietly,
  syncFolder,
  writeFully,
} from "./file-system.ts";
import { hasErrorCode } from "./system-error.ts";

/** What `writeWhole` writes and how. */
export interface WholeFile {
  readonly fs: FileSystem;
  readonly path: string;
  /** The content, piece by piece. */
  readonly pieces: Iterable<Uint8Array | string>;
  /** Whether nothing may stand at the path: something that does is an error, `EEXIST`, and stays. */
  readonly isNew?: boolean;
  /** Permissions; default 0600. */
  readonly mode?: number;
  /** Called when the new content is on disk under a temporary name; if it throws, the old file stays. */
  readonly verify?: (temporaryPath: string) => void;
  /** Name, in the same folder, under which the old file stays beside the new one, closed to other users. */
  readonly backup?: string;
}

/** Bytes gathered for one write. */
const BLOCK_BYTES = 1024 * 1024;

/**
 * Writes a whole file so that at any moment either the old or the new one stands at the path.
 *
 * Temporary file in the same folder, flush, check, rename, flush of the folder. If anything fails before the rename,
 * temporary file and backup are removed and the old file is as it was; after it, the new file stands, unless it took
 * the place of none.
 *
 * @returns Path of the backup, if one was made.
 */
export function writeWhole(file: WholeFile): string | undefined {
  const { fs, path } = file;
  // A short name of its own, since the file's may be as long as the system allows.
  const temporary = join(dirname(path), `.${randomBytes(8).toString("hex")}.tmp`);
  let backup: string | undefined;
  try {
    writeTemporary(temporary, file);
    file.verify?.(temporary);
    if (file.backup !== undefined) backup = keepBeside(fs, path, file.backup);
    if (file.isNew) linkOrCopy(fs, temporary, path);
    else fs.renameSync(temporary, path);
  } catch (error) {
    if (backup !== undefined) removeQuietly(fs, backup);
    removeQuietly(fs, temporary);
    throw error;
  }
  if (file.isNew) removeQuietly(fs, temporary);
  if (backup !== undefined) closeToOthers(fs, backup);
  try {
    syncFolder(fs, dirname(path));
  } catch (error) {
    if (file.isNew) removeQuietly(fs, path);
    throw error;
  }
  return backup;
}

/** Copies an open file to a path, unless somebody else who has it open has done so. */
export function copyOpenFile(fs: FileSystem, fd: number, path: string): void {
  try {
    writeWhole({ fs, path, pieces: readPieces(fs, fd, 0, fs.fstatSync(fd).size), isNew: true });
  } catch (error) {
    if (!hasErrorCode(error, "EEXIST")) throw error;
  }
}

function writeTemporary(temporary: string, { fs, pieces, mode = FILE_MODE }: WholeFile): void {
  const fd = createFile(fs, temporary);
  try {
    writePieces(fs, fd, pieces);
    if (mode !== FILE_MODE) fs.fchmodSync(fd, mode);
    fs.fsyncSync(fd);
  } catch (error) {
    closeQuietly(fs, fd);
    throw error;
  }
  fs.closeSync(fd);
}

function writePieces(fs: FileSystem, fd: number, pieces: Iterable<Uint8Array | string>): void {
  let block: Buffer[] = [];
  let size = 0;
  const flush = () => {
    writeFully(fs, fd, Buffer.concat(block));
    block = [];
    size = 0;
  };
  for (const piece of pieces) {
    // Copied, since the giver may reuse its buffer for the next piece.
    const bytes = Buffer.from(piece);
    block.push(bytes);
    size += bytes.length;
    if (size >= BLOCK_BYTES) flush();
  }
  flush();
}

/** Gives the file at `path` a second name in the same folder, numbered if it is taken. */
function keepBeside(fs: FileSystem, path: string, name: string): string {
  return underFreeName(join(dirname(path), name), (backup) => linkOrCopy(fs, path, backup));
}

/**
 * Makes something under a name that is free: the one wanted, else with a number behind it.
 *
 * @param make - Fails with `EEXIST` if the name is taken.
 * @returns The name.
 */
export function underFreeName(wanted: string, make: (path: string) => void): string {
  for (let number = 0; ; number++) {
    const path = number === 0 ? wanted : `${wanted}.${number}`;
    try {
      make(path);
      return path;
    } catch (error) {
      if (!hasErrorCode(error, "EEXIST")) throw error;
    }
  }
}

function linkOrCopy(fs: FileSystem, path: string, backup: string): void {
  try {
    fs.linkSync(path, backup);
  } catch (error) {
    // Some file systems have no second names.
    if (!hasErrorCode(error, "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK")) throw error;
    fs.copyFileSync(path, backup, COPY_EXCLUSIVELY);
  }
}

/** `COPYFILE_EXCL` of `node:fs`. */
const COPY_EXCLUSIVELY = 1;

/** Takes a backup's old permissions, which the new file has, away from it; that it is there matters more. */
function closeToOthers(fs: FileSystem, backup: string): void {
  try {
    fs.chmodSync(backup, FILE_MODE);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
}
