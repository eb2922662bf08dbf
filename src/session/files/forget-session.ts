import { readdirSync, realpathSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { getErrorMessage } from "../../core/format/errors.ts";
import { callIfPresent } from "../fs/file-system.ts";
import { toAbsolutePath } from "../log/session-paths.ts";
import { isPartialAnswerName } from "../log/written-names.ts";
import { purgeCache } from "./cache-files.ts";
import { isKeptAt } from "./file-mark.ts";
import { removePages } from "./page-files.ts";
import { getCacheFolder } from "./user-folders.ts";

/** Cache folders that this process has used, except the default one. */
const used = new Set<string>();

/** Records a cache folder, so that `forgetSession` cleans it. */
export function noteCacheFolder(folder: string): void {
  used.add(folder);
}

/**
 * Removes data derived from a session after its text was changed or the session was deleted: its row and the filter of its text
 * from the caches, its pages from the folder for temporary files, and its partial answers. Also removes files that killed
 * processes left.
 *
 * Failed removals become process warnings, because the change to the session has already taken effect.
 *
 * @param path - Absolute path; the file may no longer exist.
 */
export function forgetSession(path: string): void {
  const [folder, name] = [getRealPath(dirname(path)), basename(path)];
  purgeCaches((row) => row.name !== name || getRealPath(row.folder) !== folder, path);
  tryTo("The folder for temporary files may still have a page", path, () => removePages(name));
  tryTo("The folder of the session may still have a partial answer", path, () => {
    for (const partial of partialAnswersNextTo(path)) callIfPresent(() => unlinkSync(partial));
  });
}

/** Returns the paths of a session's partial answers, by the name of its file. */
export function partialAnswersNextTo(path: string): string[] {
  return namesNextTo(path).flatMap((name) =>
    isPartialAnswerName(name, path) ? join(dirname(path), name) : [],
  );
}

/** Returns the names in the folder of a file; none if the folder does not exist. */
export function namesNextTo(path: string): string[] {
  return callIfPresent(() => readdirSync(dirname(path))) ?? [];
}

/**
 * Removes from the caches the rows of all sessions whose files were replaced or removed, not only extended.
 *
 * For work on many sessions; warns as `forgetSession` does.
 *
 * @remarks Cost: O(bytes of the caches), and a check of each file in them.
 */
export function forgetReplaced(): void {
  purgeCaches(({ folder, name, mark }) => isKeptAt(join(folder, name), mark), "sessions that were changed");
}

function purgeCaches(isKept: Parameters<typeof purgeCache>[1], what: string): void {
  for (const cache of cacheFolders())
    tryTo(`The cache of lists in ${cache} may still hold text`, what, () => purgeCache(cache, isKept));
}

function tryTo(fault: string, what: string, remove: () => void): void {
  try {
    remove();
  } catch (error) {
    const warning = `${fault} of ${what}: ${getErrorMessage(error)}. Delete it.`;
    process.emitWarning(warning, { code: "SESSIONTREE_CACHE" });
  }
}

/** Returns the default cache folder and those that this process has used. */
export function cacheFolders(): ReadonlySet<string> {
  return new Set([toAbsolutePath(getCacheFolder()), ...used]);
}

/** Returns the real path of a folder; the given path if it does not exist. */
function getRealPath(folder: string): string {
  return callIfPresent(() => realpathSync(folder)) ?? folder;
}
