import { randomBytes } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { FILE_MODE, type FileSystem, ifPresent, syncFolder, writeFully } from "./file-system.ts";
import { hasErrorCode } from "./system-error.ts";

/** What `writeWhole` writes and how. */
export interface WholeFile {
  readonly fs: FileSystem;
  readonly path: string;
  /** The content, piece by piece. */
  readonly pieces: Iterable<Uint8Array | string>;
  /** Permissions; default 0600. */
  readonly mode?: number;
  /** Called when the new content is on disk under a temporary name; if it throws, the old file stays. */
  readonly verify?: (temporaryPath: string) => void;
  /** Name, in the same folder, under which the old file stays beside the new one. */
  readonly backup?: string;
}

/** Bytes gathered for one write. */
const BLOCK_BYTES = 1024 * 1024;

/**
 * Writes a whole file so that at any moment either the old or the new one stands at the path.
 *
 * Temporary file in the same folder, flush, check, rename, flush of the folder. The temporary file is removed if
 * anything fails.
 *
 * @returns Path of the backup, if one was made.
 */
export function writeWhole(file: WholeFile): string | undefined {
  const { fs, path, pieces, mode = FILE_MODE } = file;
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(4).toString("hex")}.tmp`);
  try {
    const fd = fs.openSync(temporary, "wx", FILE_MODE);
    try {
      writePieces(fs, fd, pieces);
      fs.fchmodSync(fd, mode);
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    file.verify?.(temporary);
    const backup = file.backup === undefined ? undefined : keepBeside(fs, path, file.backup);
    fs.renameSync(temporary, path);
    syncFolder(fs, dirname(path));
    return backup;
  } catch (error) {
    removeQuietly(fs, temporary);
    throw error;
  }
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

function removeQuietly(fs: FileSystem, path: string): void {
  try {
    ifPresent(() => fs.unlinkSync(path));
  } catch (error) {
    // The error on the way here is the one to tell; a temporary file that cannot be removed harms nobody.
    if (!(error instanceof Error)) throw error;
  }
}
