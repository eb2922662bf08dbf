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
import { defaultDataFolder } from "./data-folder.ts";

/** Numbers of bytes in which header and first entry usually stand, as imports write them, and at most. */
const FRONTS = [8 * 1024, 256 * 1024] as const;

/**
 * Returns where a session file was imported from, as its first entry says; undefined if it was not imported. A fork that was made here
 * has that entry, too, but was not imported.
 */
export function importOriginOf(path: string): ImportOrigin | undefined {
  const fd = ifPresent(() => openForReading(realFileSystem, path));
  if (fd === undefined) return undefined;
  try {
    for (const length of FRONTS) {
      const front = readRange(realFileSystem, fd, 0, length);
      if (isWholeFront(front) || front.length < length) return importOriginInFront(front);
    }
    return undefined;
  } finally {
    closeQuietly(realFileSystem, fd);
  }
}

/** Returns the same for the first bytes of a session. */
export function importOriginInFront(bytes: Uint8Array): ImportOrigin | undefined {
  const [header, first] = decodeText(bytes)
    .split("\n", 2)
    .map((line) => parseRecord(line));
  // The one that an import makes begins with its session; a fork begins later.
  return header?.["timestamp"] === first?.["timestamp"] ? importOriginIn(first) : undefined;
}

/** Tells whether the first bytes of a session hold its first entry. */
export function isWholeFront(bytes: Uint8Array): boolean {
  const end = bytes.indexOf(LINE_FEED);
  return end !== -1 && bytes.includes(LINE_FEED, end + 1);
}

const LINE_FEED = 0x0a;

/**
 * Marks a session of another program as deleted here, so that no import brings it back.
 *
 * A mark that cannot be written becomes a process warning: the deletion matters more. Must come before the deletion: a mark of a
 * session that is still there means nothing.
 *
 * @returns Whether it was not marked before.
 */
export function markDeletedImport(origin: ImportOrigin): boolean {
  try {
    const path = markOf(origin);
    makeFolder(realFileSystem, dirname(path));
    writeWhole({ fs: realFileSystem, path, pieces: [`${JSON.stringify(origin)}\n`] });
    return true;
  } catch (error) {
    if (hasErrorCode(error, "EEXIST")) return false;
    const warning = `The next import will bring back the session ${origin.sourceId} of ${origin.source}, since its mark cannot be written: ${messageOf(error)}.`;
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
