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

/** A file that is unfinished at this age belongs to no living process. */
const LEFTOVER_AFTER_MS = 60_000;

/** How often rows of folders that nobody lists are checked. */
const SWEEP_EVERY_MS = 24 * 3600 * 1000;

const MAX_SWEPT = 20;

/** Tells whether what is known of a file stays in a cache. */
type KeepTest = (row: { folder: string; name: string; mark: FileMark }) => boolean;

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

/** Lists the files in a cache folder that this library has written there, by kind. */
export function listCacheFiles(cacheFolder: string, ...kinds: readonly CacheFileKind[]): string[] {
  const names = callIfPresent(() => readdirSync(cacheFolder)) ?? [];
  return names
    .filter((name) => kinds.some((kind) => kind === parseCacheName(name)))
    .map((name) => join(cacheFolder, name));
}

/** Removes what killed processes left, and files that are unfinished at such an age; returns the files of folders. */
function removeLeftovers(cacheFolder: string, afterMs: number): string[] {
  callIfPresent(() => removeTemporaryLeftovers(realFileSystem, cacheFolder));
  for (const path of listCacheFiles(cacheFolder, "unfinished"))
    if (measureAge(path) >= afterMs) callIfPresent(() => realFileSystem.unlinkSync(path));
  return listCacheFiles(cacheFolder, "folder");
}

/** Milliseconds since a file was written, or until then by a clock that was wrong; NaN if it is gone. */
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
  // Another process that purges meanwhile may remove what is being written, or may have purged rows that were just written.
  const isWritten = files.size > 0 && callIfPresent(() => [writeCachedNow(path, cached, kind)]) !== undefined;
  const isOutdated = () => [...files].some(([name, mark]) => !isKeptAt(join(folder, name), mark));
  if (!isWritten || isOutdated()) callIfPresent(() => realFileSystem.unlinkSync(path));
}

/** Bytes that are known of a file, and the state of the file when they were made. */
export interface KnownBytes extends FileMark {
  readonly known: Uint8Array;
}

/** Filters of searches: which characters in a row a file holds, as hashes. */
export const FILTERS = makeBytesKind(".grams");

/** Tables of questions: which entries of a file hold which words, as hashes. */
export const TERM_TABLES = makeBytesKind(".terms");

/** The kinds of which files hold no text. */
const BYTES_KINDS = [FILTERS, TERM_TABLES];

/** Returns whether a file in a cache folder can hold text of sessions. */
export function canHoldText(path: string): boolean {
  return !BYTES_KINDS.some(({ suffix }) => path.includes(suffix));
}

/** Makes a kind of knowledge that is kept as bytes after the marks of the files. */
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
