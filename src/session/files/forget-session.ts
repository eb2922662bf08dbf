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

/** Records a cache folder, so that `forgetSession` also cleans it. */
export function noteCacheFolder(folder: string): void {
  used.add(folder);
}

/**
 * Removes data derived from a session after its text was changed or the session was deleted: its row and text filter in the
 * caches, its pages in the temporary folder, and its partial answers. Also removes files abandoned by killed processes.
 *
 * If a removal fails, a process warning is emitted, because the change to the session has already taken effect.
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

/** Returns the paths of a session's partial answers, based on its file name. */
export function partialAnswersNextTo(path: string): string[] {
  return namesNextTo(path).flatMap((name) =>
    isPartialAnswerName(name, path) ? join(dirname(path), name) : [],
  );
}

/** Returns the names of all files in a file's folder. Empty if the folder does not exist. */
export function namesNextTo(path: string): string[] {
  return callIfPresent(() => readdirSync(dirname(path))) ?? [];
}

/**
 * Removes the rows of all sessions whose files were removed or replaced, not just extended, from the caches.
 *
 * Intended for work on many sessions. Emits warnings as `forgetSession` does.
 *
 * @remarks Cost: O(bytes of the caches), plus a check of each file in them.
 */
export function forgetReplaced(): void {
  purgeCaches(({ folder, name, mark }) => isKeptAt(join(folder, name), mark), "sessions that were changed");
}

function purgeCaches(isKept: Parameters<typeof purgeCache>[1], what: string): void {
  for (const cache of cacheFolders())
    tryTo(`The cache of lists in ${cache} may still contain text`, what, () => purgeCache(cache, isKept));
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

/** Returns the real path of a folder, or the given path if the folder does not exist. */
function getRealPath(folder: string): string {
  return callIfPresent(() => realpathSync(folder)) ?? folder;
}
