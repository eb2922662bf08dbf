import { join } from "node:path";
import { getErrorMessage, isSessionError, SessionError } from "../../core/format/errors.ts";
import { hashText } from "../../core/format/ids.ts";
import {
  findImportOrigin,
  type ImportOrigin,
  makeOwnOrigin,
  OWN_SOURCE,
} from "../../core/format/import-origin.ts";
import type { JsonRecord } from "../../core/format/json.ts";
import { decodeText, parseRecord } from "../../core/jsonl/decode.ts";
import { getDataFolder } from "../../session/files/user-folders.ts";
import {
  callIfPresent,
  closeQuietly,
  hasErrorCode,
  makeFolder,
  openForReading,
  readRange,
  realFileSystem,
} from "../../session/fs/file-system.ts";
import { writeWhole } from "../../session/fs/write-whole.ts";
import { retryAfterReplacement } from "../../session/log/replace-file.ts";

/** Numbers of bytes in which header and first entry usually stand, as imports write them, and at most. */
const FRONTS = [8 * 1024, 256 * 1024] as const;

/**
 * Returns where a session file was imported from, as its first entry says; undefined if it was not imported. A fork that was made here
 * has that entry, too, but was not imported.
 */
export function readImportOrigin(path: string): ImportOrigin | undefined {
  return importOriginInFront(readFront(path) ?? NOTHING);
}

const NOTHING = new Uint8Array(0);

/** Returns the names under which a session file is marked when it is deleted: its own, and that of what it was imported from. */
export function readMarkedOrigins(path: string): readonly ImportOrigin[] {
  return markedOriginsInFront(readFront(path) ?? NOTHING);
}

/** Does the same as `readMarkedOrigins` for the first bytes of a session. */
export function markedOriginsInFront(bytes: Uint8Array): readonly ImportOrigin[] {
  const id = parseRecord(decodeText(bytes).split("\n", 1)[0] ?? "")?.["id"];
  const origin = importOriginInFront(bytes);
  return [...(origin === undefined ? [] : [origin]), ...(typeof id === "string" ? [makeOwnOrigin(id)] : [])];
}

/** Reads a session file until its first entry is there; undefined if it is missing. */
export function readFront(path: string): Uint8Array | undefined {
  const open = () => openForReading(realFileSystem, path);
  const fd = callIfPresent(() => retryAfterReplacement(realFileSystem, path, open));
  if (fd === undefined) return undefined;
  try {
    const front = readRange(realFileSystem, fd, 0, FRONTS[0]);
    return isWholeFront(front) || front.length < FRONTS[0]
      ? front
      : readRange(realFileSystem, fd, 0, FRONTS[1]);
  } finally {
    closeQuietly(realFileSystem, fd);
  }
}

/** Reads the bytes of a session until its first entry is there. */
export async function readFrontBytes(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  let front = Buffer.alloc(0);
  for await (const piece of bytes) {
    front = Buffer.concat([front, piece]);
    if (isWholeFront(front) || front.length > FRONTS[1]) break;
  }
  return front;
}

/** Returns where a session was imported from, from its first bytes. */
export function importOriginInFront(bytes: Uint8Array): ImportOrigin | undefined {
  const header = parseRecord(decodeText(bytes).split("\n", 1)[0] ?? "");
  const first = parseFirstEntry(bytes);
  // A session begins when the entry says that an import made; a fork begins later.
  return header?.["timestamp"] === first?.["timestamp"] ? findImportOrigin(first) : undefined;
}

/** Tells whether a session was imported from a program; `any` selects all of them. */
export function isFromSource(origin: ImportOrigin | undefined, source: string): boolean {
  return origin !== undefined && (source === "any" || source === origin.source);
}

/** Returns the first entry from the first bytes of a session. */
export function parseFirstEntry(bytes: Uint8Array): JsonRecord | undefined {
  return parseRecord(decodeText(bytes).split("\n", 2)[1] ?? "");
}

/** Tells whether the first bytes of a session hold its first entry. */
function isWholeFront(bytes: Uint8Array): boolean {
  const end = bytes.indexOf(LINE_FEED);
  return end !== -1 && bytes.includes(LINE_FEED, end + 1);
}

const LINE_FEED = 0x0a;

/** Thrown when the marks of deleted sessions cannot be read: any session that is not here may have been deleted. */
export class UnreadableMarks extends SessionError {
  readonly folder: string;

  constructor(folder: string, cause: unknown) {
    const message = `Cannot read ${folder}: ${getErrorMessage(cause)}. It lists the deleted sessions; until it can be read, only sessions that are already here are updated. Make it readable, and import again.`;
    super("READ_FAILED", message, { details: { path: folder }, cause });
    this.folder = folder;
  }
}

/**
 * Marks a session of another program as deleted here, so that no import brings it back.
 *
 * A mark that cannot be written becomes a process warning: the deletion matters more. Must come before the deletion: a mark of a
 * session that is still there means nothing.
 *
 * @param onError - Called instead of that warning.
 * @returns Whether it was not marked before.
 */
export function markDeletedImport(
  origin: ImportOrigin,
  onError: (error: unknown) => void = (error) => warnUnmarked(origin, error),
): boolean {
  try {
    makeFolder(realFileSystem, getMarksFolder());
    const { source, sourceId } = origin;
    writeWhole({
      fs: realFileSystem,
      path: makeMark(origin),
      pieces: [`${JSON.stringify({ source, sourceId })}\n`],
    });
    return true;
  } catch (error) {
    if (hasErrorCode(error, "EEXIST")) return false;
    onError(error);
    return false;
  }
}

function warnUnmarked({ source, sourceId }: ImportOrigin, error: unknown): void {
  const what =
    source === OWN_SOURCE
      ? `An import will bring back the session ${sourceId} if it was continued in another program`
      : `The next import will bring back the session ${sourceId} of ${source}`;
  warnOnce(`${what}, since its mark cannot be written: ${getErrorMessage(error)}.`);
}

/**
 * Removes the mark, so that an import brings the session back.
 *
 * A mark that cannot be removed becomes a process warning, one for all: it means nothing while the session is here.
 */
export function unmarkDeletedImport(origin: ImportOrigin): void {
  const folder = getMarksFolder();
  try {
    callIfPresent(() => realFileSystem.unlinkSync(makeMark(origin)));
  } catch (error) {
    if (warnedFolders.has(folder)) return;
    warnedFolders.add(folder);
    warnOnce(`Sessions that are here again stay marked as deleted in ${folder}: ${getErrorMessage(error)}.`);
  }
}

/**
 * Deletes a session, and marks it, so that neither what it was imported from nor what it was exported to brings it back; a failure removes
 * the marks if the session is surely still there.
 *
 * @param origins - Its names, from `readMarkedOrigins`.
 */
export async function deleteMarked(
  origins: readonly ImportOrigin[],
  deleteIt: () => void | Promise<void>,
): Promise<void> {
  let isWarned = false;
  const marked = origins.filter((origin) =>
    markDeletedImport(origin, (error) => {
      if (!isWarned) warnUnmarked(origin, error);
      isWarned = true;
    }),
  );
  try {
    await deleteIt();
  } catch (error) {
    const mayBeGone =
      isSessionError(error, "STORE_UNAVAILABLE") || isSessionError(error, "SESSION_NOT_FOUND");
    if (!mayBeGone) for (const origin of marked) unmarkDeletedImport(origin);
    throw error;
  }
  // Who restored it a moment ago may have removed the mark meanwhile. What cannot be written was told above.
  for (const origin of origins) markDeletedImport(origin, () => undefined);
}

const warnedFolders = new Set<string>();

function warnOnce(message: string): void {
  process.emitWarning(message, { code: "SESSIONTREE_DELETED_IMPORT" });
}

/** Tells whether a session of another program was deleted here, if that can be read. */
export function isDeletedImport(origin: ImportOrigin): boolean {
  try {
    return realFileSystem.statSync(makeMark(origin), { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw new UnreadableMarks(getMarksFolder(), error);
  }
}

function makeMark({ source, sourceId }: ImportOrigin): string {
  return join(getMarksFolder(), `${hashText(`${source}\n${sourceId}`)}.json`);
}

function getMarksFolder(): string {
  return join(getDataFolder(), "deleted-imports");
}
