import { readdirSync, statSync, utimesSync } from "node:fs";
import { basename, join } from "node:path";
import {
  type BesideJson,
  readAtomicJson,
  writeAtomicBytesNow,
  writeAtomicJsonNow,
} from "../fs/atomic-json.ts";
import { ifPresent, realFileSystem } from "../fs/file-system.ts";
import { isJsonRecord } from "../schema/json.ts";
import { filterBytes, isUnchangedAt, readFilters } from "./gram-cache.ts";
import type { FileMark } from "./scanned-file.ts";
import { namesInCalls } from "./session-calls.ts";
import { columnsOf, type FolderSummaries, readColumns } from "./summary-columns.ts";

/** Incremented whenever the format or the meaning of cached rows changes. */
const CACHE_VERSION = 5;

/** The files in which the rows and the filters of one folder are kept, named by a digest of the folder's path. */
const CACHE_FILE = /^[0-9a-f]{32}\.(?:json|grams)$/;

const OF_FILTERS = ".grams";

/** Left behind by a process that is killed while it replaces such a file. */
const LEFTOVER = /^[0-9a-f]{32}\.(?:json|grams)\.\d+$/;

/** A leftover of this age belongs to no living process. */
const LEFTOVER_AFTER_MS = 60_000;

/** How often rows of folders that nobody lists are checked. */
const SWEEP_EVERY_MS = 24 * 3600 * 1000;

/** The most folders that are checked at a time. */
const MOST_SWEPT = 20;

/** The cached rows of one folder. */
export interface CachedFolder {
  readonly folder: string;
  readonly files: FolderSummaries;
}

/**
 * Reads the cached rows of a folder.
 *
 * @returns Undefined if there are none, or none that this version understands.
 * @throws The system's error if the file is there and cannot be read.
 */
export function readCachedFolder(path: string): CachedFolder | undefined {
  const kept = readAtomicJson(path);
  if (kept === undefined || !isJsonRecord(kept.value)) return undefined;
  const { version, folder, files: columns } = kept.value;
  if (version !== CACHE_VERSION || typeof folder !== "string") return undefined;
  const files = readColumns(columns, kept.text, kept.bytes);
  return files && { folder, files };
}

/**
 * Lists what a cache file keeps of sessions, text by text.
 *
 * @returns Empty if it is no file of rows that this version understands.
 */
export function cachedTexts(path: string): string[] {
  const rows = CACHE_FILE.test(basename(path)) ? readCachedFolder(path)?.files : undefined;
  return [...(rows?.values() ?? [])].flatMap(({ summary, calls }) => {
    const names = namesInCalls(calls?.() ?? new Uint8Array());
    return [summary?.name, summary?.firstMessage, ...names].filter((text) => typeof text === "string");
  });
}

/** Returns the rows of a folder in the form that `writeAtomicJson` takes. */
export function contentOf({ folder, files }: CachedFolder): { content: object; beside: BesideJson } {
  const { columns, ...beside } = columnsOf(files);
  return { content: { version: CACHE_VERSION, folder, files: columns }, beside };
}

/**
 * Removes rows and filters from all files of a cache: text that is gone from its session must not stay in a cache. Removes
 * unreadable files, and those that a process is writing, too, since nobody knows what is in them: its work is lost.
 *
 * @param isKept - Whether a row stays.
 * @throws The system's error.
 * @remarks Cost: O(bytes of the cache).
 */
export function purgeCache(
  cacheFolder: string,
  isKept: (row: { folder: string; name: string; mark: FileMark }) => boolean,
): void {
  for (const path of removeLeftovers(cacheFolder, 0)) purgeFile(path, isKept);
}

/**
 * Removes outdated rows from some of the cache files that nobody has read for a day.
 *
 * @param isBeingRead - Whether the caller maintains a file already.
 */
export function sweepCache(cacheFolder: string, isBeingRead: (path: string) => boolean): void {
  let left = MOST_SWEPT;
  for (const path of removeLeftovers(cacheFolder, LEFTOVER_AFTER_MS)) {
    if (left === 0) return;
    const age = Date.now() - (ifPresent(() => statSync(path).mtimeMs) ?? Number.NaN);
    if (isBeingRead(path) || !(Math.abs(age) >= SWEEP_EVERY_MS)) continue;
    left--;
    purgeFile(path, ({ folder, name, mark }) => isUnchangedAt(join(folder, name), mark));
    const now = new Date();
    ifPresent(() => utimesSync(path, now, now));
  }
}

/** Removes leftovers that are so old; returns the paths of the other files. */
function removeLeftovers(cacheFolder: string, afterMs: number): string[] {
  const names = ifPresent(() => readdirSync(cacheFolder)) ?? [];
  for (const path of names.filter((name) => LEFTOVER.test(name)).map((name) => join(cacheFolder, name))) {
    const age = Date.now() - (ifPresent(() => statSync(path).mtimeMs) ?? Number.NaN);
    if (Math.abs(age) >= afterMs) ifPresent(() => realFileSystem.unlinkSync(path));
  }
  return names.filter((name) => CACHE_FILE.test(name)).map((name) => join(cacheFolder, name));
}

function purgeFile(path: string, isKept: Parameters<typeof purgeCache>[1]): void {
  if (path.endsWith(OF_FILTERS)) {
    purgeFilters(path, isKept);
    return;
  }
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
  const { content, beside } = contentOf(cached);
  writeAtomicJsonNow(path, content, beside);
}

function purgeFilters(path: string, isKept: Parameters<typeof purgeCache>[1]): void {
  const { folder = "", filters = new Map() } = readFilters(path) ?? {};
  const { size } = filters;
  for (const [name, { mark }] of filters) if (!isKept({ folder, name, mark })) filters.delete(name);
  if (filters.size === 0) ifPresent(() => realFileSystem.unlinkSync(path));
  else if (filters.size < size) writeAtomicBytesNow(path, filterBytes(folder, filters));
}
