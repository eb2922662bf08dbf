import { isSessionError } from "../../core/format/errors.ts";
import { NONE } from "../../core/tree/entry-tree.ts";
import type { CurrentFile } from "./current-file.ts";
import { ReplacedError } from "./file-errors.ts";
import type { OpenFile } from "./open-file.ts";
import type { LogLine, SessionLog } from "./session-log.ts";
import { assertWritable } from "./write-permission.ts";

/**
 * Appends lines to a file in an unusual state: it has changed or was replaced, callers do not know all of its entries, it ends
 * with a torn line, or it must be upgraded first. Repeats this as long as the file keeps being replaced.
 *
 * @param write - Writes the lines at the end of a file. Returns false if another file is at the path, in which case no lines were
 *   added.
 * @param isReplaced - Whether `write` has just returned false.
 */
export function appendCarefully(
  log: SessionLog,
  current: CurrentFile,
  lines: readonly LogLine[],
  write: (file: OpenFile) => boolean,
  isReplaced: boolean,
): void {
  for (let isAgain = isReplaced; ; isAgain = true) {
    prepareFile(log, current);
    // The process that replaced the file may have copied the lines.
    if (isAgain && lines.every(({ head }) => log.index.tree.find(head.id) !== NONE)) return;
    if (write(current.file)) return;
  }
}

/** Ensures that the file can be appended to. */
function prepareFile(log: SessionLog, current: CurrentFile): void {
  current.look("write");
  // `look` may have found a file with a newer version or another program's file.
  assertWritable(log);
  if (log.index.isMidLine) endTorn(current);
  if (log.index.needsUpgrade) log.upgrade();
}

/** Completes a torn last line if that turns it into entries, and reads them. New entries may have them as parents. */
function endTorn(current: CurrentFile): void {
  current.lookAndCall("write", (file) => file.endTorn());
  current.look("write");
}

/**
 * Reads lines that other processes wrote before or after the lines just written, to find the positions of the latter.
 *
 * @returns Whether this succeeded. If not, the lines are still in the file, and the next `look` reports the error.
 */
export function lookAfterWrite(current: CurrentFile): boolean {
  try {
    if (!current.translated("flush", () => current.file.confirmPending())) current.look("flush");
    return true;
  } catch (error) {
    if (!isSessionError(error) || error instanceof ReplacedError) throw error;
    return false;
  }
}
