import { readdirSync, statSync, utimesSync } from "node:fs";
import { basename, join } from "node:path";
import { type CacheKind, readCached, writeCachedNow } from "../../catalog/list/folder-cache.ts";
import { FILTERS } from "../../catalog/list/gram-cache.ts";
import { namesInCalls } from "../../catalog/list/session-calls.ts";
import { SUMMARIES } from "../../catalog/list/summary-columns.ts";
import { ifPresent, realFileSystem } from "../fs/file-system.ts";
import { removeLeftovers as removeTemporaryLeftovers } from "../fs/temporary-files.ts";
import { type FileMark, isKeptAt, isUnchangedAt } from "./file-mark.ts";

/** The files in which the rows and the filters of one folder are kept, named by a digest of the folder's path. */
const CACHE_FILE = /^[0-9a-f]{32}\.(?:json|grams)$/;

/** Left behind by a process that is killed while it replaces such a file. */
const LEFTOVER = /^[0-9a-f]{32}\.(?:json|grams)\.\d+$/;

/** A leftover of this age belongs to no living process. */
const LEFTOVER_AFTER_MS = 60_000;

/** How often rows of folders that nobody lists are checked. */
const SWEEP_EVERY_MS = 24 * 3600 * 1000;

const MOST_SWEPT = 20;

/** Tells whether what is known of a file stays in a cache. */
type KeepTest = (row: { folder: string; name: string; mark: FileMark }) => boolean;

/** Lists what a cache file keeps of sessions, text by text; nothing if this version does not understand it. */
export function cachedTexts(path: string): string[] {
  const rows = CACHE_FILE.test(basename(path)) ? readCached(path, SUMMARIES)?.files : undefined;
  return [...(rows?.values() ?? [])].flatMap(({ summary, calls }) => {
    const names = namesInCalls(calls?.() ?? new Uint8Array());
    return [summary?.name, summary?.firstMessage, ...names].filter((text) => typeof text === "string");
  });
}

/**
 * Removes rows and filters from all files of a cache: text that is gone from its session must not stay in a cache. Removes
 * unreadable files, and those that a process is writing, too, since nobody knows what is in them: its work is lost.
 *
 * @throws The system's error.
 */
export function purgeCache(cacheFolder: string, isKept: KeepTest): void {
  for (const path of removeLeftovers(cacheFolder, 0)) purgeFile(path, isKept);
}

/** Removes outdated rows from some of the cache files that the caller does not maintain, and nobody has read for a day. */
export function sweepCache(cacheFolder: string, isBeingRead: (path: string) => boolean): void {
  let left = MOST_SWEPT;
  for (const path of removeLeftovers(cacheFolder, LEFTOVER_AFTER_MS)) {
    if (left === 0) return;
    if (isBeingRead(path) || !(ageOf(path) >= SWEEP_EVERY_MS)) continue;
    left--;
    purgeFile(path, ({ folder, name, mark }) => isUnchangedAt(join(folder, name), mark));
    const now = new Date();
    ifPresent(() => utimesSync(path, now, now));
  }
}

/** Removes leftovers that are so old; returns the paths of the other files. */
function removeLeftovers(cacheFolder: string, afterMs: number): string[] {
  ifPresent(() => removeTemporaryLeftovers(realFileSystem, cacheFolder));
  const names = ifPresent(() => readdirSync(cacheFolder)) ?? [];
  for (const path of names.filter((name) => LEFTOVER.test(name)).map((name) => join(cacheFolder, name)))
    if (ageOf(path) >= afterMs) ifPresent(() => realFileSystem.unlinkSync(path));
  return names.filter((name) => CACHE_FILE.test(name)).map((name) => join(cacheFolder, name));
}

/** Milliseconds since a file was written, or until then by a clock that was wrong; NaN if it is gone. */
function ageOf(path: string): number {
  return Math.abs(Date.now() - (ifPresent(() => statSync(path).mtimeMs) ?? Number.NaN));
}

function purgeFile(path: string, isKept: KeepTest): void {
  if (path.endsWith(FILTERS.suffix)) purge(path, FILTERS, isKept);
  else purge(path, SUMMARIES, isKept);
}

function purge<Known extends FileMark>(path: string, kind: CacheKind<Known>, isKept: KeepTest): void {
  const cached = readCached(path, kind) ?? { folder: "", files: new Map<string, Known>() };
  const { folder, files } = cached;
  const { size } = files;
  for (const [name, mark] of files) if (!isKept({ folder, name, mark })) files.delete(name);
  if (files.size === size && size > 0) return;
  // Another process that purges meanwhile may remove what is being written, or may have purged rows that were just written.
  const isWritten = files.size > 0 && ifPresent(() => [writeCachedNow(path, cached, kind)]) !== undefined;
  const isOutdated = () => [...files].some(([name, mark]) => !isKeptAt(join(folder, name), mark));
  if (!isWritten || isOutdated()) ifPresent(() => realFileSystem.unlinkSync(path));
}
