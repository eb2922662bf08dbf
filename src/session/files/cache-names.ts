import { digestOf } from "../../core/format/ids.ts";
import { sha256 } from "../fs/digest.ts";
import { isTemporaryName } from "../fs/temporary-files.ts";

/** Such a file, or what an import remembers; a number follows while it is written. */
const NAME = /^(?:([0-9a-f]{32})(?:\.json|\.grams)|imports-[0-9a-f]{32}\.json)(\.\d+)?$/;

/**
 * What a file in a cache folder is.
 *
 * `folder`: what is known of a folder of sessions; `imports`: what an import remembers; `unfinished`: one of them that is being
 * written; `temporary`: a copy of another program's database. Killed processes leave the last two.
 */
export type CacheFileKind = "folder" | "imports" | "unfinished" | "temporary";

/** Returns what a file in a cache folder is, by its name; undefined if this library writes no such file. */
export function parseCacheName(name: string): CacheFileKind | undefined {
  if (isTemporaryName(name)) return "temporary";
  const [found, ofFolder, number] = NAME.exec(name) ?? [];
  if (found === undefined) return undefined;
  if (number !== undefined) return "unfinished";
  return ofFolder === undefined ? "imports" : "folder";
}

/** Returns the name of the file for what is known of a folder of sessions. */
export function folderCacheName(folder: string, suffix: string): string {
  return `${sha256(folder).slice(0, 32)}${suffix}`;
}

/** Returns the name of the file for what imports into a target remember. */
export function importCacheName(target: string): string {
  return `imports-${digestOf(target)}.json`;
}
