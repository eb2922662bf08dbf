import { readHeaderOf } from "./read-header.ts";
import {
  belongsTo,
  type CatalogScope,
  foldersOf,
  newestFirst,
  type SessionFile,
  sessionFilesIn,
} from "./session-files.ts";
import { ignoreSkipped, reportSkipped, type SkipReport } from "./skipped-files.ts";

/**
 * Returns the path of the session with exactly this id, by reading headers alone.
 *
 * @returns Undefined if there is none; of several, the one written to last.
 * @remarks Cost: a look at each file, and headers until one fits; files named after the id come first.
 */
export function findSessionById(
  scope: CatalogScope,
  id: string,
  onSkipped: SkipReport = ignoreSkipped,
): string | undefined {
  if (id === "") return undefined;
  const files = filesOf(scope, onSkipped);
  const named = files.filter((file) => file.name.includes(id));
  const others = files.filter((file) => !file.name.includes(id));
  return firstBelonging([...named, ...others], scope, onSkipped, (itsId) => itsId === id);
}

/** Does what `findMostRecentSession` does, for any scope. */
export function findRecentSession(
  scope: CatalogScope,
  onSkipped: SkipReport = ignoreSkipped,
): string | undefined {
  return firstBelonging(filesOf(scope, onSkipped), scope, onSkipped, () => true);
}

/**
 * Returns the path of the session whose file was written to last.
 *
 * @param folder - Folder of session files; it may be missing.
 * @param cwd - Only sessions of this project. Default: any.
 * @returns Null if there is none.
 * @remarks Cost: a look at each file, and headers until one fits.
 */
export function mostRecentSession(
  folder: string,
  cwd?: string,
  onSkipped: SkipReport = ignoreSkipped,
): string | null {
  return findRecentSession({ sessionDir: folder, ...(cwd !== undefined && { cwd }) }, onSkipped) ?? null;
}

function filesOf(scope: CatalogScope, report: SkipReport): SessionFile[] {
  const files = foldersOf(scope, report).flatMap((folder) => [...sessionFilesIn(folder, report)]);
  return files.sort(newestFirst);
}

function firstBelonging(
  files: readonly SessionFile[],
  scope: CatalogScope,
  report: SkipReport,
  isWanted: (id: string) => boolean,
): string | undefined {
  const belongs = belongsTo(scope);
  for (const { path, folder } of files) {
    try {
      const header = readHeaderOf(path);
      if (header !== undefined && isWanted(header.id) && belongs(header.cwd, folder)) return path;
    } catch (error) {
      reportSkipped(path, error, report);
    }
  }
  return undefined;
}
