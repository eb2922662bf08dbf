import { readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { toArray } from "../../core/context/entry-fields.ts";
import { callIfPresent, realFileSystem } from "../fs/file-system.ts";
import { removeLeftovers as removeTemporaryLeftovers } from "../fs/temporary-files.ts";
import { type FileMark, isKeptAt, isUnchangedAt } from "./file-mark.ts";
import {
  type CacheFileKind,
  type CacheKind,
  parseCacheName,
  readCached,
  writeCachedNow,
} from "./folder-cache.ts";
import { SUMMARIES } from "./summary-columns.ts";

/** Age at which an unfinished file is assumed not to belong to a running process. */
const LEFTOVER_AFTER_MS = 60_000;

/** Interval at which to check rows of folders that no caller lists. */
const SWEEP_EVERY_MS = 24 * 3600 * 1000;

const MAX_SWEPT = 20;

/** Returns whether the data about a file should stay in a cache. */
type KeepTest = (row: { folder: string; name: string; mark: FileMark }) => boolean;

/**
 * Removes rows and filters from all files of a cache. Text that was removed from a session must not stay in a cache. Also removes
 * unreadable files and files that a process is writing, because their content is unknown. That process's work is lost.
 *
 * @throws The system's error.
 */
export function purgeCache(cacheFolder: string, isKept: KeepTest): void {
  for (const path of removeLeftovers(cacheFolder, 0)) purgeFile(path, isKept);
}

/**
 * Removes outdated rows from some of the cache files that the caller does not maintain and that no process has read for a day.
 */
export function sweepCache(cacheFolder: string, isBeingRead: (path: string) => boolean): void {
  let left = MAX_SWEPT;
  for (const path of removeLeftovers(cacheFolder, LEFTOVER_AFTER_MS)) {
    if (left === 0) return;
    if (isBeingRead(path) || !(measureAge(path) >= SWEEP_EVERY_MS)) continue;
    left--;
    purgeFile(path, ({ folder, name, mark }) => isUnchangedAt(join(folder, name), mark));
    const now = new Date();
    callIfPresent(() => utimesSync(path, now, now));
  }
}

/** Lists the files that this library has written in a cache folder, by kind. */
export function listCacheFiles(cacheFolder: string, ...kinds: readonly CacheFileKind[]): string[] {
  const names = callIfPresent(() => readdirSync(cacheFolder)) ?? [];
  return names
    .filter((name) => kinds.some((kind) => kind === parseCacheName(name)))
    .map((name) => join(cacheFolder, name));
}

/**
 * Removes files abandoned by killed processes, and unfinished files of at least a given age. Returns the cache files of
 * folders.
 */
function removeLeftovers(cacheFolder: string, afterMs: number): string[] {
  callIfPresent(() => removeTemporaryLeftovers(realFileSystem, cacheFolder));
  for (const path of listCacheFiles(cacheFolder, "unfinished"))
    if (measureAge(path) >= afterMs) callIfPresent(() => realFileSystem.unlinkSync(path));
  return listCacheFiles(cacheFolder, "folder");
}

/**
 * Returns the age of a file in milliseconds, as an absolute value because a clock may be wrong; NaN if the file does not exist.
 */
function measureAge(path: string): number {
  return Math.abs(Date.now() - (callIfPresent(() => statSync(path).mtimeMs) ?? Number.NaN));
}

function purgeFile(path: string, isKept: KeepTest): void {
  const kind = BYTES_KINDS.find(({ suffix }) => path.endsWith(suffix));
  if (kind !== undefined) purgeCachedFile(path, kind, isKept);
  else purgeCachedFile(path, SUMMARIES, isKept);
}

function purgeCachedFile<Known extends FileMark>(
  path: string,
  kind: CacheKind<Known>,
  isKept: KeepTest,
): void {
  const cached = readCached(path, kind) ?? { folder: "", files: new Map<string, Known>() };
  const { folder, files } = cached;
  const { size } = files;
  for (const [name, mark] of files) if (!isKept({ folder, name, mark })) files.delete(name);
  if (files.size === size && size > 0) return;
  // Another process that is also purging may remove the file being written, or may already have purged rows that were just
  // written.
  const isWritten = files.size > 0 && callIfPresent(() => [writeCachedNow(path, cached, kind)]) !== undefined;
  const isOutdated = () => [...files].some(([name, mark]) => !isKeptAt(join(folder, name), mark));
  if (!isWritten || isOutdated()) callIfPresent(() => realFileSystem.unlinkSync(path));
}

/** Bytes derived from a session file, and the state of that file at the time. */
export interface KnownBytes extends FileMark {
  readonly known: Uint8Array;
}

/** Filters for searches: the hashes of character sequences in each file. */
export const FILTERS = makeBytesKind(".grams");

/** Tables for questions: the hashes of the words in each entry of a file. */
export const TERM_TABLES = makeBytesKind(".terms");

/** Kinds of cache files that contain no text. */
const BYTES_KINDS = [FILTERS, TERM_TABLES];

/** Returns whether a file in a cache folder may contain text from sessions. */
export function canHoldText(path: string): boolean {
  return !BYTES_KINDS.some(({ suffix }) => path.includes(suffix));
}

/** Creates a kind of cache file that stores bytes after the marks of the files. */
function makeBytesKind(suffix: string): CacheKind<KnownBytes> {
  return { suffix, encode: encodeBytes, decode: decodeBytes };
}

function encodeBytes(files: ReadonlyMap<string, KnownBytes>) {
  return {
    columns: Array.from(files, ([name, { size, mtimeMs, ctimeMs, ino, birthtimeMs, known }]) => [
      name,
      ...[size, mtimeMs, ctimeMs, ino, birthtimeMs, known.length],
    ]),
    bytes: Buffer.concat(Array.from(files.values(), ({ known }) => known)),
  };
}

function decodeBytes(
  columns: unknown,
  { bytes }: Parameters<CacheKind<KnownBytes>["decode"]>[1],
): Map<string, KnownBytes> | undefined {
  const all = bytes();
  if (all === undefined) return undefined;
  const files = new Map<string, KnownBytes>();
  let at = 0;
  for (const column of toArray(columns)) {
    const [name, ...numbers] = toArray(column);
    const [size = 0, mtimeMs = 0, ctimeMs = 0, ino = 0, birthtimeMs = 0, length = 0] = numbers.map(Number);
    if (typeof name !== "string") return undefined;
    files.set(name, { size, mtimeMs, ctimeMs, ino, birthtimeMs, known: all.subarray(at, at + length) });
    at += length;
  }
  return at === all.length ? files : undefined;
}
