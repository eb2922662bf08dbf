import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { messageOf } from "../../core/format/errors.ts";
import { ifPresent } from "../fs/file-system.ts";
import { absolutePath } from "../log/session-paths.ts";
import { purgeCache } from "./cache-files.ts";
import { isKeptAt } from "./file-mark.ts";
import { defaultCacheFolder } from "./user-folders.ts";

/** Cache folders that this process has used, apart from the default one. */
const used = new Set<string>();

/** Remembers a cache folder, so that `forgetSession` cleans it. */
export function noteCacheFolder(folder: string): void {
  used.add(folder);
}

/**
 * Removes a session's row and the filter of its text from the caches, after its text was changed or removed for good.
 *
 * A cache that cannot be cleaned becomes a process warning: the change to the session has already taken effect.
 *
 * @param path - Absolute; the file may be gone.
 */
export function forgetSession(path: string): void {
  const [folder, name] = [realPath(dirname(path)), basename(path)];
  purgeCaches((row) => row.name !== name || realPath(row.folder) !== folder, path);
}

/**
 * Removes the rows of all sessions whose files were replaced or removed, and did not only grow, from the caches.
 *
 * For work on many sessions; warns as `forgetSession` does.
 *
 * @remarks Cost: O(bytes of the caches), and a check of each file in them.
 */
export function forgetReplaced(): void {
  purgeCaches(({ folder, name, mark }) => isKeptAt(join(folder, name), mark), "sessions that were changed");
}

function purgeCaches(isKept: Parameters<typeof purgeCache>[1], what: string): void {
  for (const cache of cacheFolders()) {
    try {
      purgeCache(cache, isKept);
    } catch (error) {
      const warning = `The cache of lists in ${cache} may still hold text of ${what}: ${messageOf(error)}. Delete it.`;
      process.emitWarning(warning, { code: "SESSIONTREE_CACHE" });
    }
  }
}

/** Returns the default cache folder and those that this process has used. */
export function cacheFolders(): ReadonlySet<string> {
  return new Set([absolutePath(defaultCacheFolder()), ...used]);
}

/** The real path of a folder; the given path if it is gone. */
function realPath(folder: string): string {
  return ifPresent(() => realpathSync(folder)) ?? folder;
}
