import { readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { readAtomicJson, writeAtomicJsonNow } from "../log/atomic-json.ts";
import { ifPresent, realFileSystem } from "../log/file-system.ts";
import { isJsonRecord } from "../schema/json.ts";
import type { FileMark } from "./open-file.ts";
import { columnsOf, type FolderSummaries, readColumns } from "./summary-columns.ts";

/** Raised whenever what is kept, or what it means, changes. */
const CACHE_VERSION = 2;

/** The file in which the rows of one folder are kept, named by a digest of the folder's path. */
const CACHE_FILE = /^[0-9a-f]{32}\.json$/;

/** What a process leaves that is killed while it replaces such a file. */
const LEFTOVER = /^[0-9a-f]{32}\.json\.\d+$/;

/** After this long nobody is at it any more. */
const LEFTOVER_AFTER_MS = 60_000;

/** So often the rows of folders that nobody lists are looked through, */
const SWEEP_EVERY_MS = 24 * 3600 * 1000;

/** and of so many folders at a time. */
const MOST_SWEPT = 20;

/** What is kept of one folder. */
export interface CachedFolder {
  readonly folder: string;
  readonly files: FolderSummaries;
}

/**
 * Reads what is kept of a folder.
 *
 * @returns Undefined if there is nothing, or nothing that this version understands.
 * @throws The system's error if the file is there and cannot be read.
 */
export function readCachedFolder(path: string): CachedFolder | undefined {
  const kept = readAtomicJson(path);
  const content = isJsonRecord(kept?.value) ? kept.value : {};
  const { version, folder } = content;
  if (version !== CACHE_VERSION || typeof folder !== "string") return undefined;
  const files = readColumns(content["files"], kept?.text ?? "");
  return files && { folder, files };
}

/** Returns what is to be kept of a folder, for `writeAtomicJson`. */
export function contentOf({ folder, files }: CachedFolder): { content: object; text: string } {
  const { columns, text } = columnsOf(files);
  return { content: { version: CACHE_VERSION, folder, files: columns }, text };
}

/** Whether a file is as it was when something was found of it. */
function isUnchangedAt(path: string, mark: FileMark): boolean {
  const stats = ifPresent(() => statSync(path));
  return stats?.size === mark.size && stats.mtimeMs === mark.mtimeMs && stats.ino === mark.ino;
}

/**
 * Takes rows out of all files of a cache, and what killed processes left beside them: text of sessions must not stay
 * in a cache that is nowhere else any more. A file that says nothing legible is removed.
 *
 * @param isKept - Whether a row stays.
 * @throws The system's error.
 * @remarks Cost: O(bytes of the cache).
 */
export function purgeCache(
  cacheFolder: string,
  isKept: (row: { folder: string; name: string; mark: FileMark }) => boolean,
): void {
  for (const path of removeLeftovers(cacheFolder)) purgeFile(path, isKept);
}

/**
 * Does the same with what says nothing true any more, in some files that nobody has looked at for a day.
 *
 * @param isBeingRead - Whether a file is looked after already.
 */
export function sweepCache(cacheFolder: string, isBeingRead: (path: string) => boolean): void {
  let left = MOST_SWEPT;
  for (const path of removeLeftovers(cacheFolder)) {
    if (left === 0) return;
    const age = Date.now() - (ifPresent(() => statSync(path).mtimeMs) ?? Number.NaN);
    if (isBeingRead(path) || !(Math.abs(age) >= SWEEP_EVERY_MS)) continue;
    left--;
    purgeFile(path, ({ folder, name, mark }) => isUnchangedAt(join(folder, name), mark));
    const now = new Date();
    ifPresent(() => utimesSync(path, now, now));
  }
}

/** Removes what killed processes left; returns the paths of the other files. */
function removeLeftovers(cacheFolder: string): string[] {
  const names = ifPresent(() => readdirSync(cacheFolder)) ?? [];
  for (const path of names.filter((name) => LEFTOVER.test(name)).map((name) => join(cacheFolder, name))) {
    const age = Date.now() - (ifPresent(() => statSync(path).mtimeMs) ?? Number.NaN);
    if (Math.abs(age) >= LEFTOVER_AFTER_MS) ifPresent(() => realFileSystem.unlinkSync(path));
  }
  return names.filter((name) => CACHE_FILE.test(name)).map((name) => join(cacheFolder, name));
}

function purgeFile(path: string, isKept: Parameters<typeof purgeCache>[1]): void {
  const cached = readCachedFolder(path);
  if (cached === undefined) {
    ifPresent(() => realFileSystem.unlinkSync(path));
    return;
  }
  const { folder, files } = cached;
  const { size } = files;
  for (const [name, mark] of files) if (!isKept({ folder, name, mark })) files.delete(name);
  if (files.size === size) return;
  if (files.size === 0) {
    ifPresent(() => realFileSystem.unlinkSync(path));
    return;
  }
  const { content, text } = contentOf(cached);
  writeAtomicJsonNow(path, content, text);
}
