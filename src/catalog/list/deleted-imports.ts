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
  hasErrorCode,
  makeFolder,
  readRange,
  realFileSystem,
  withOpenFile,
} from "../../session/fs/file-system.ts";
import { writeWhole } from "../../session/fs/write-whole.ts";
import { retryAfterReplacement } from "../../session/log/replace-file.ts";

/** Initial number of bytes to read, enough for the header and first entry of most imports, and maximum number of bytes. */
const FRONTS = [8 * 1024, 256 * 1024] as const;

/**
 * Returns the origin recorded in the first entry of an imported session file; undefined if the file was not imported. A fork of
 * an imported session also has that entry but is not treated as imported.
 */
export function readImportOrigin(path: string): ImportOrigin | undefined {
  return importOriginInFront(readFront(path) ?? NOTHING);
}

const NOTHING = new Uint8Array(0);

/** Returns the origins to mark when a session file is deleted: its own origin and, if it was imported, that of its source. */
export function readMarkedOrigins(path: string): readonly ImportOrigin[] {
  return markedOriginsInFront(readFront(path) ?? NOTHING);
}

/** Same as `readMarkedOrigins`, for the first bytes of a session. */
export function markedOriginsInFront(bytes: Uint8Array): readonly ImportOrigin[] {
  const id = parseRecord(decodeText(bytes).split("\n", 1)[0] ?? "")?.["id"];
  const origin = importOriginInFront(bytes);
  return [...(origin === undefined ? [] : [origin]), ...(typeof id === "string" ? [makeOwnOrigin(id)] : [])];
}

/**
 * Reads the beginning of a session file, including the complete first entry if it ends within 256 KiB; undefined if the file
 * is missing.
 */
export function readFront(path: string): Uint8Array | undefined {
  const read = (fd: number) => {
    const front = readRange(realFileSystem, fd, 0, FRONTS[0]);
    return isWholeFront(front) || front.length < FRONTS[0]
      ? front
      : readRange(realFileSystem, fd, 0, FRONTS[1]);
  };
  return callIfPresent(() =>
    retryAfterReplacement(realFileSystem, path, () => withOpenFile(realFileSystem, path, read)),
  );
}

/** Reads the beginning of a session until its first entry is complete or more than 256 KiB have been read. */
export async function readFrontBytes(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  let front = Buffer.alloc(0);
  for await (const piece of bytes) {
    front = Buffer.concat([front, piece]);
    if (isWholeFront(front) || front.length > FRONTS[1]) break;
  }
  return front;
}

/** Returns the origin of an imported session, from its first bytes. */
export function importOriginInFront(bytes: Uint8Array): ImportOrigin | undefined {
  const header = parseRecord(decodeText(bytes).split("\n", 1)[0] ?? "");
  const first = parseFirstEntry(bytes);
  // An import writes the same time in the header and the first entry; a fork has a later header.
  return header?.["timestamp"] === first?.["timestamp"] ? findImportOrigin(first) : undefined;
}

/** Returns whether a session was imported from a program; `any` matches all programs. */
export function isFromSource(origin: ImportOrigin | undefined, source: string): boolean {
  return origin !== undefined && (source === "any" || source === origin.source);
}

/** Parses the first entry in the first bytes of a session. */
export function parseFirstEntry(bytes: Uint8Array): JsonRecord | undefined {
  return parseRecord(decodeText(bytes).split("\n", 2)[1] ?? "");
}

/** Returns whether the first bytes of a session contain its whole first entry. */
function isWholeFront(bytes: Uint8Array): boolean {
  const end = bytes.indexOf(LINE_FEED);
  return end !== -1 && bytes.includes(LINE_FEED, end + 1);
}

const LINE_FEED = 0x0a;

/** Thrown if the deletion marks are unreadable, because any missing session may have been deleted. */
export class UnreadableMarks extends SessionError {
  readonly folder: string;

  constructor(folder: string, cause: unknown) {
    const message = `Cannot read ${folder}: ${getErrorMessage(cause)}. This folder records deleted sessions; until it is readable, imports only update existing sessions. Make it readable and import again.`;
    super("READ_FAILED", message, { details: { path: folder }, cause });
    this.folder = folder;
  }
}

/**
 * Marks another program's session as deleted, so that imports do not restore it.
 *
 * If the mark cannot be written, emits a process warning and continues, because the deletion matters more. Call this before
 * deleting the session: a mark has no effect while its session exists.
 *
 * @param onError - Called instead of emitting a process warning.
 * @returns True if a mark was written; false if the session was already marked or the mark cannot be written.
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
  warnOnce(`${what} because its mark cannot be written: ${getErrorMessage(error)}.`);
}

/**
 * Removes a deletion mark, so that the next import restores the session.
 *
 * If marks cannot be removed, emits only one process warning, because a mark has no effect while the session exists
 * here.
 */
export function unmarkDeletedImport(origin: ImportOrigin): void {
  const folder = getMarksFolder();
  try {
    callIfPresent(() => realFileSystem.unlinkSync(makeMark(origin)));
  } catch (error) {
    if (warnedFolders.has(folder)) return;
    warnedFolders.add(folder);
    warnOnce(`Restored sessions remain marked as deleted in ${folder}: ${getErrorMessage(error)}.`);
  }
}

/**
 * Deletes a session and marks it as deleted, so that it is not restored from its import source or from any program that it was
 * exported to. If the deletion fails and the session certainly still exists, removes the new marks.
 *
 * @param origins - Result of `readMarkedOrigins`.
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
  // A concurrent restore may have removed the mark in the meantime. Write errors were reported above.
  for (const origin of origins) markDeletedImport(origin, () => undefined);
}

const warnedFolders = new Set<string>();

function warnOnce(message: string): void {
  process.emitWarning(message, { code: "SESSIONTREE_DELETED_IMPORT" });
}

/** Returns whether another program's session is marked as deleted. Throws `UnreadableMarks` if the marks cannot be read. */
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
