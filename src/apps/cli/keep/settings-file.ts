import {
  accessSync,
  chownSync,
  constants,
  lstatSync,
  readFileSync,
  realpathSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { dirname } from "node:path";
import { callUnlessRefused, isSystemError } from "../../../session/files/skipped-files.ts";
import {
  callIfPresent,
  FILE_MODE,
  hasErrorCode,
  makeFolder,
  realFileSystem,
  removeQuietly,
  retryWhileHeld,
  syncFolder,
} from "../../../session/fs/file-system.ts";
import { removeTemporary } from "../../../session/fs/temporary-files.ts";
import { makeUnderFreeName, writeTemporary, writeWhole } from "../../../session/fs/write-whole.ts";
import { SettingsError } from "./settings-error.ts";

/** Suffix of the backup of an edited file. */
const BACKUP_SUFFIX = ".sessiontree-backup";

/** Maximum size of settings to edit, in bytes. */
const MAX_BYTES = 10 * 1024 * 1024;

const BYTE_ORDER_MARK = "\ufeff";

/** Another program's file, as it was read. */
export interface SettingsFile {
  readonly path: string;
  /** Undefined if the file is missing. */
  readonly bytes: Buffer | undefined;
  /** Without a byte order mark; empty if the file is missing. */
  readonly text: string;
}

/**
 * Reads a settings file; follows symbolic links.
 *
 * @throws {SettingsError} If the path is not a file, cannot be read, or is not UTF-8.
 */
export function readSettingsFile(path: string): SettingsFile {
  const bytes = readBytes(path);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { path, bytes, text };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new SettingsError("it is not UTF-8");
  }
}

/** Throws a `SettingsError` if a file is read-only and must not be replaced. */
export function assertReplaceable(path: string): void {
  const stats = callSystem(() => statSync(path, { throwIfNoEntry: false }));
  if (stats === undefined) return;
  // The owner of a folder could replace a read-only file, and so could root.
  if ((stats.mode & 0o222) === 0) throw new SettingsError("it is read-only");
  callSystem(() => accessSync(path, constants.W_OK));
}

/**
 * Replaces a file, unless it has changed since it was read. Keeps its permissions, and replaces the target of a symbolic link.
 *
 * @param mode - Permissions of a new file.
 * @returns False if the file has changed.
 * @throws {SettingsError} If the file cannot be written.
 */
export function replaceSettingsFile(file: SettingsFile, content: Buffer, mode = FILE_MODE): boolean {
  const { path, bytes } = file;
  assertReplaceable(path);
  return callSystem(() => {
    makeFolder(realFileSystem, dirname(path));
    if (bytes === undefined) writeWhole({ fs: realFileSystem, path, pieces: [content], mode });
    else if (!exchangeFile(file, content)) return false;
    return true;
  }, "EEXIST");
}

/** Replaces the content of a file with a single rename; returns false if the file has changed since it was read. */
function exchangeFile(file: SettingsFile, content: Buffer): boolean {
  const target = realpathSync(file.path);
  const { mode, uid, gid } = statSync(target);
  const fs = realFileSystem;
  const temporary = writeTemporary({ fs, path: target, pieces: [content], mode: mode & 0o777 });
  try {
    // If the owner cannot be set, the user becomes the owner of the file.
    if (uid !== process.getuid?.() || gid !== process.getgid?.())
      callUnlessRefused(() => chownSync(temporary, uid, gid));
    if (!isSettingsUnchanged(file)) return false;
    retryWhileHeld(fs, () => fs.renameSync(temporary, target));
  } finally {
    removeTemporary(fs, temporary);
  }
  syncFolder(fs, dirname(target));
  return true;
}

/** Encodes a file's new text; keeps the file's byte order mark. */
export function encodeSettings({ bytes }: SettingsFile, text: string): Buffer {
  const mark = Buffer.from(BYTE_ORDER_MARK);
  const isMarked = bytes?.subarray(0, mark.length).equals(mark) === true;
  return Buffer.from(isMarked ? BYTE_ORDER_MARK + text : text);
}

/** Removes a file, unless it has changed since it was read; returns false if it has changed. */
export function removeSettingsFile(file: SettingsFile): boolean {
  if (!isSettingsUnchanged(file)) return false;
  callSystem(() => callIfPresent(() => unlinkSync(file.path)));
  return true;
}

/**
 * Copies the content that was read to a file next to the original, under an unused name, readable only by its owner.
 *
 * @param call - Edits the file; if it returns false or throws, the copy is removed.
 * @returns Path of the copy; undefined if `call` returned false.
 */
export function withBackup(
  { path, bytes = Buffer.alloc(0) }: SettingsFile,
  call: (backup: string) => boolean,
): string | undefined {
  const backup = callSystem(() =>
    makeUnderFreeName(path + BACKUP_SUFFIX, (name) =>
      writeWhole({ fs: realFileSystem, path: name, pieces: [bytes] }),
    ),
  );
  let isDone = false;
  try {
    isDone = call(backup);
  } finally {
    if (!isDone) removeQuietly(realFileSystem, backup);
  }
  return isDone ? backup : undefined;
}

function isSettingsUnchanged({ path, bytes }: SettingsFile): boolean {
  const now = readBytes(path);
  return bytes === undefined || now === undefined ? bytes === now : bytes.equals(now);
}

function readBytes(path: string): Buffer | undefined {
  return callSystem(() => {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    const target = callIfPresent(() => realpathSync(path));
    const stats = target === undefined ? undefined : statSync(target, { throwIfNoEntry: false });
    if (target === undefined || stats === undefined) {
      if (isLink) throw new SettingsError("it is a link to a missing file");
      return undefined;
    }
    if (!stats.isFile()) throw new SettingsError("it is not a plain file");
    if (stats.size > MAX_BYTES) throw new SettingsError("it is too large for settings");
    return readFileSync(target);
  });
}

/** Calls the system. Converts system errors to `SettingsError`, except for the error code `no`, for which it returns false. */
function callSystem<T>(call: () => T): T;
function callSystem(call: () => boolean, no: string): boolean;
function callSystem<T>(call: () => T, no?: string): T | false {
  try {
    return call();
  } catch (error) {
    if (no !== undefined && hasErrorCode(error, no)) return false;
    if (isSystemError(error)) throw new SettingsError(`the system refuses it (${error.message})`);
    throw error;
  }
}
