import { dirname } from "node:path";
import {
  closeQuietly,
  createFile,
  FILE_MODE,
  type FileSystem,
  hasErrorCode,
  readPieces,
  removeQuietly,
  retryWhileHeld,
  setMode,
  syncFolder,
  writeFully,
} from "./file-system.ts";
import { makeTemporaryPath, removeLeftovers, removeTemporary } from "./temporary-files.ts";

/** Content of a new file. */
export interface Content {
  readonly fs: FileSystem;
  readonly path: string;
  /** Content in pieces. A piece may be reused after the next one is requested. */
  readonly pieces: Iterable<Uint8Array | string>;
  /** Permissions. Default: 0600. */
  readonly mode?: number;
  /** Called when the content is on disk under a temporary name. If this function throws, no file is created. */
  readonly verify?: (temporaryPath: string) => void;
}

/** Number of bytes to combine into one write. */
const BLOCK_BYTES = 1024 * 1024;

/**
 * Writes a new file completely or not at all.
 *
 * First removes temporary files of killed processes from the folder.
 *
 * If a file already exists at the path, throws the system's `EEXIST` error without changing that file.
 */
export function writeWhole(content: Content): void {
  const { fs, path } = content;
  removeLeftovers(fs, dirname(path));
  putAtFreePath(fs, writeTemporary(content), path);
}

/**
 * Moves a temporary file whose content is on disk to a path that must be unused. Removes the temporary file even if this fails.
 */
export function putAtFreePath(fs: FileSystem, temporary: string, path: string): void {
  try {
    linkOrCopyFile(fs, temporary, path);
  } finally {
    removeTemporary(fs, temporary);
  }
  try {
    syncFolder(fs, dirname(path));
  } catch (error) {
    removeQuietly(fs, path);
    throw error;
  }
}

/**
 * Writes content to a temporary file next to its path, waits until it is on disk, and verifies it.
 *
 * @returns The temporary path. The caller must move or remove the file.
 */
export function writeTemporary({ fs, path, pieces, mode = FILE_MODE, verify }: Content): string {
  const temporary = makeTemporaryPath(dirname(path));
  try {
    const fd = createFile(fs, temporary);
    try {
      writePieces(fs, fd, pieces);
      setMode(fs, fd, mode);
      fs.fsyncSync(fd);
    } catch (error) {
      closeQuietly(fs, fd);
      throw error;
    }
    fs.closeSync(fd);
    verify?.(temporary);
    return temporary;
  } catch (error) {
    removeTemporary(fs, temporary);
    throw error;
  }
}

/** Copies an open file to a path, unless another process has already done so. */
export function copyOpenFile(fs: FileSystem, fd: number, path: string): void {
  try {
    writeWhole({ fs, path, pieces: readPieces(fs, fd, 0, fs.fstatSync(fd).size) });
  } catch (error) {
    if (!hasErrorCode(error, "EEXIST")) throw error;
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
    // Copied, because the producer may reuse its buffer for the next piece.
    const bytes = Buffer.from(piece);
    block.push(bytes);
    size += bytes.length;
    if (size >= BLOCK_BYTES) flush();
  }
  flush();
}

/**
 * Creates a file under an unused name: the requested name or, if it is taken, the name with a number.
 *
 * @param make - Creates the file. Must throw `EEXIST` if the name is taken.
 * @returns The name that was used.
 */
export function makeUnderFreeName(wanted: string, make: (path: string) => void): string {
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

/** Adds a second name, which must be unused, to a file, or copies the file if the file system does not support links. */
export function linkOrCopyFile(fs: FileSystem, path: string, to: string): void {
  if (tryLink(fs, path, to)) return;
  fs.copyFileSync(path, to, COPY_EXCLUSIVELY);
  try {
    const fd = fs.openSync(to, "r+");
    try {
      fs.fsyncSync(fd);
    } finally {
      closeQuietly(fs, fd);
    }
  } catch (error) {
    removeQuietly(fs, to);
    throw error;
  }
}

/** Adds a second name, which must be unused, to a file. Returns false if the file system does not support links. */
export function tryLink(fs: FileSystem, path: string, to: string): boolean {
  try {
    fs.linkSync(path, to);
    return true;
  } catch (error) {
    if (!hasErrorCode(error, ...NO_LINKS)) throw error;
    return false;
  }
}

/**
 * Error codes that mean that links are not supported. Windows reports `EISDIR`, Android reports `EACCES`, and mounted stores
 * report `EIO`.
 */
const NO_LINKS = ["EPERM", "EACCES", "EIO", "EISDIR", "EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

/**
 * Moves a file to a path unless a file already exists there. The old name is then removed or refers to the same file.
 *
 * @returns False if a file already exists at the path.
 * @remarks If links are not supported, a file that is created at the path between two system calls is lost.
 */
export function moveIfFree(fs: FileSystem, from: string, path: string): boolean {
  try {
    if (tryLink(fs, from, path)) return true;
  } catch (error) {
    if (hasErrorCode(error, "EEXIST")) return false;
    throw error;
  }
  if (fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined) return false;
  retryWhileHeld(fs, () => fs.renameSync(from, path));
  return true;
}

/** `COPYFILE_EXCL` of `node:fs`. */
const COPY_EXCLUSIVELY = 1;
