import type { SessionHeader } from "../../core/format/header.ts";
import { SessionIndex } from "../../core/jsonl/session-index.ts";
import { callIfPresent, readPieces, readRange, realFileSystem, withOpenFile } from "../fs/file-system.ts";
import { retryAfterReplacement } from "../log/replace-file.ts";
import {
  type CatalogScope,
  compareNewestFirst,
  getScopeFolders,
  listSessionFiles,
  makeScopeTest,
  type SessionFile,
} from "./session-files.ts";
import { ignoreSkipped, reportSkipped, type SkipReport } from "./skipped-files.ts";

/**
 * Returns the path of the session with this exact id, by reading only headers.
 *
 * @returns The path of the most recently written match; undefined if there is none.
 * @remarks Cost: one `stat` call per file, plus reading headers until one matches. Files named after the id are read first.
 */
export function findSessionById(
  scope: CatalogScope,
  id: string,
  onSkipped: SkipReport = ignoreSkipped,
): string | undefined {
  // An id may be any value in a program in JavaScript.
  if (typeof id !== "string" || id === "") return undefined;
  const files = listScopeFiles(scope, onSkipped);
  const named = files.filter((file) => file.name.includes(id));
  const others = files.filter((file) => !file.name.includes(id));
  return findFirstBelonging([...named, ...others], scope, onSkipped, (itsId) => itsId === id);
}

/** Returns the path of the session whose file was written most recently, as `findMostRecentSession` does, for any scope. */
export function findRecentSession(
  scope: CatalogScope,
  onSkipped: SkipReport = ignoreSkipped,
): string | undefined {
  return findFirstBelonging(listScopeFiles(scope, onSkipped), scope, onSkipped, () => true);
}

/**
 * Returns the path of the session whose file was written most recently.
 *
 * @param folder - Folder of session files; may be missing.
 * @param cwd - Project to which the session must belong. Default: any project.
 * @returns Null if there is none.
 * @remarks Cost: one `stat` call per file, plus reading headers until one matches.
 */
export function findMostRecentSession(
  folder: string,
  cwd?: string,
  onSkipped: SkipReport = ignoreSkipped,
): string | null {
  return findRecentSession({ sessionDir: folder, ...(cwd !== undefined && { cwd }) }, onSkipped) ?? null;
}

function listScopeFiles(scope: CatalogScope, report: SkipReport): SessionFile[] {
  const files = getScopeFolders(scope, report).flatMap((folder) => [...listSessionFiles(folder, report)]);
  return files.sort(compareNewestFirst);
}

function findFirstBelonging(
  files: readonly SessionFile[],
  scope: CatalogScope,
  report: SkipReport,
  isWanted: (id: string) => boolean,
): string | undefined {
  const belongs = makeScopeTest(scope);
  for (const { path, folder } of files) {
    try {
      const header = readFileHeader(path);
      if (header !== undefined && isWanted(header.id) && belongs(header.cwd, folder)) return path;
    } catch (error) {
      reportSkipped(path, error, report);
    }
  }
  return undefined;
}

/** Maximum number of bytes to search for a header, which is at the beginning of a file. */
const MAX_HEADER_BYTES = 16 * 1024 * 1024;

/** Number of bytes sufficient for nearly every header. */
const FIRST_BYTES = 4096;

/** Reads only the header of a session file. Returns undefined if the file does not exist or is not a session. */
export function readFileHeader(path: string): SessionHeader | undefined {
  const read = () => withOpenFile(realFileSystem, path, readHeader);
  return callIfPresent(() => retryAfterReplacement(realFileSystem, path, read));
}

function readHeader(fd: number): SessionHeader | undefined {
  const stats = realFileSystem.fstatSync(fd);
  if (!stats.isFile()) return undefined;
  const readBytes = (offset: number, length: number) => readRange(realFileSystem, fd, offset, length);
  const index = new SessionIndex({ readBytes });
  const isDone = () => index.header !== undefined || index.isRejected;
  index.feed(readBytes(0, FIRST_BYTES));
  const end = Math.min(stats.size, MAX_HEADER_BYTES);
  if (!isDone()) {
    for (const piece of readPieces(realFileSystem, fd, FIRST_BYTES, end)) {
      index.feed(piece);
      if (isDone()) break;
    }
  }
  if (!isDone()) index.end();
  return index.header;
}
