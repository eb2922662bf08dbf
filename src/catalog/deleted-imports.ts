import { dirname, join } from "node:path";
import { decodeText, parseRecord } from "../jsonl/decode.ts";
import {
  closeQuietly,
  ifPresent,
  isThere,
  makeFolder,
  openForReading,
  readRange,
  realFileSystem,
} from "../log/file-system.ts";
import { hasErrorCode } from "../log/system-error.ts";
import { writeWhole } from "../log/write-whole.ts";
import { messageOf } from "../schema/errors.ts";
import { digestOf } from "../schema/ids.ts";
import { type ImportOrigin, importOriginIn } from "../schema/import-origin.ts";
import type { JsonRecord } from "../schema/json.ts";
import { defaultDataFolder } from "./data-folder.ts";

/** Bytes in which header and first entry stand, as imports write them. */
const FRONT_BYTES = 8 * 1024;

/** Returns where a session file was imported from, as its first entry says; undefined if it was not imported. */
export function importOriginOf(path: string): ImportOrigin | undefined {
  return importOriginIn(firstEntryOf(path));
}

/** Returns the first entry of a session file; undefined if the file is missing, or no entry can be read there. */
export function firstEntryOf(path: string): JsonRecord | undefined {
  const fd = ifPresent(() => openForReading(realFileSystem, path));
  if (fd === undefined) return undefined;
  try {
    return firstEntryIn(readRange(realFileSystem, fd, 0, FRONT_BYTES));
  } finally {
    closeQuietly(realFileSystem, fd);
  }
}

/** Returns the first entry from the first bytes of a session. */
export function firstEntryIn(bytes: Uint8Array): JsonRecord | undefined {
  return parseRecord(decodeText(bytes).split("\n", 2)[1] ?? "");
}

/**
 * Marks a session of another program as deleted here, so that no import brings it back.
 *
 * A mark that cannot be written becomes a process warning: the deletion matters more. Must come before the deletion: a mark of a
 * session that is still there means nothing.
 *
 * @returns Whether it was not marked before.
 */
export function markDeletedImport(origin: ImportOrigin): boolean {
  const path = markOf(origin);
  try {
    makeFolder(realFileSystem, dirname(path));
    writeWhole({ fs: realFileSystem, path, pieces: [`${JSON.stringify(origin)}\n`] });
    return true;
  } catch (error) {
    if (hasErrorCode(error, "EEXIST")) return false;
    const warning = `The next import will bring back the session ${origin.sourceId} of ${origin.source}, since ${path} cannot be written: ${messageOf(error)}.`;
    process.emitWarning(warning, { code: "SESSIONTREE_DELETED_IMPORT" });
    return false;
  }
}

/** Removes the mark, so that an import brings the session back. */
export function unmarkDeletedImport(origin: ImportOrigin): void {
  ifPresent(() => realFileSystem.unlinkSync(markOf(origin)));
}

/** Tells whether a session of another program was deleted here. */
export function isDeletedImport(origin: ImportOrigin): boolean {
  return isThere(markOf(origin));
}

function markOf({ source, sourceId }: ImportOrigin): string {
  return join(defaultDataFolder(), "deleted-imports", `${digestOf(`${source}\n${sourceId}`)}.json`);
}
