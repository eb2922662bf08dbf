import { getErrorMessage, SessionError } from "../../core/format/errors.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import { decodeEntry } from "../../core/jsonl/entry-body.ts";
import { decodeEntryFrom, type LineSource, readLine } from "../../core/jsonl/line-source.ts";
import { NONE } from "../../core/tree/entry-tree.ts";
import type { FileSystem } from "../fs/file-system.ts";
import { copyLines, planWholeCopy } from "./canonical-copy.ts";
import { readSessionFile } from "./read-session-file.ts";
import { replaceFile } from "./replace-file.ts";
import type { OldFile } from "./takeover.ts";
import { makeBackupName } from "./written-names.ts";

/**
 * Rewrites a session file in the current version and keeps a backup.
 *
 * Writes and flushes the copy, and compares it with the original, entry by entry, before renaming it.
 *
 * @param log - Log that has read the whole file.
 * @returns Path of the backup, `<name>.v<version>.bak`, with a number added if that name is taken.
 * @throws {SessionError} `UPGRADE_FAILED`; the file is unchanged.
 */
export function upgradeFile(old: OldFile, log: LineSource): string {
  const { fs, path } = old;
  const { version } = log.index;
  try {
    const backup = replaceFile({
      old,
      pieces: copyLines(log, planWholeCopy(log.index)),
      backup: makeBackupName(path, version),
      verify: (temporary) => assertEqual(fs, log, temporary),
    });
    return backup ?? path;
  } catch (error) {
    const reason = getErrorMessage(error);
    const message = `Cannot upgrade ${path} to version 3: ${reason}. The session is intact; try again after fixing the cause.`;
    throw new SessionError("UPGRADE_FAILED", message, { details: { path }, cause: error });
  }
}

/** Throws unless a copy has the same entries at the same positions in the tree. */
export function assertEqual(fs: FileSystem, log: LineSource, path: string): void {
  const copy = readSessionFile(fs, path);
  try {
    const difference = findDifference(log, copy);
    if (difference !== undefined) throw new Error(`the copy differs: ${difference}`);
  } finally {
    fs.closeSync(copy.fd);
  }
}

function findDifference(log: LineSource, copy: LineSource): string | undefined {
  const { tree } = log.index;
  const copied = copy.index.tree;
  if (copied.size !== tree.size) return `${copied.size} entries instead of ${tree.size}`;
  let difference: string | undefined;
  log.readLines(tree.ordinals(), (ordinal, bytes) => {
    const head = tree.headAt(ordinal);
    const there = copied.find(head.id);
    if (there === NONE) difference ??= `entry ${head.id} is missing`;
    if (difference !== undefined) return;
    const headThere = copied.headAt(there);
    const body = decodeEntry(bytes, head, log.index);
    const isSame =
      head.id === headThere.id &&
      head.parentId === headThere.parentId &&
      (body === undefined ||
        encodeRecord(body) === encodeRecord(decodeEntryFrom(copy, there, readLine(copy, there)) ?? {}));
    if (!isSame) difference ??= `entry ${head.id}`;
  });
  return difference;
}
