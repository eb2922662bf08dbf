import { realpathSync } from "node:fs";
import { basename, dirname } from "node:path";
import { ifPresent } from "../fs/file-system.ts";
import { absolutePath } from "../log/session-paths.ts";
import { messageOf } from "../schema/errors.ts";
import { purgeCache } from "./cache-files.ts";
import { defaultCacheFolder } from "./user-folders.ts";

/** Cache folders that this process has used, apart from the default one. */
const used = new Set<string>();

/** Remembers a cache folder, so that `forgetSession` cleans it. */
export function noteCacheFolder(folder: string): void {
  used.add(folder);
}

/**
 * Removes a session's row from the caches, after its text was changed or removed for good.
 *
 * A cache that cannot be cleaned becomes a process warning: the change to the session has already taken effect.
 *
 * @param path - Absolute; the file may be gone.
 * @remarks Cost: O(bytes of the caches).
 */
export function forgetSession(path: string): void {
  const [folder, name] = [realPath(dirname(path)), basename(path)];
  const isKept = (row: { folder: string; name: string }) =>
    row.name !== name || realPath(row.folder) !== folder;
  for (const cache of cacheFolders()) {
    try {
      purgeCache(cache, isKept);
    } catch (error) {
      const warning = `The cache of lists in ${cache} may still hold text of ${path}: ${messageOf(error)}. Delete it.`;
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
