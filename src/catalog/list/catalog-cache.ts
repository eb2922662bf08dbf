import { join } from "node:path";
import { FILTERS, type KnownBytes, sweepCache, TERM_TABLES } from "../../session/files/cache-files.ts";
import { type FileMark, isKept, isKeptAt, isUnchanged, toFileMark } from "../../session/files/file-mark.ts";
import { FolderCache } from "../../session/files/folder-cache.ts";
import { noteCacheFolder } from "../../session/files/forget-session.ts";
import type { SessionFile } from "../../session/files/session-files.ts";
import { type FileSummary, SUMMARIES } from "../../session/files/summary-columns.ts";
import { getCacheFolder } from "../../session/files/user-folders.ts";
import { toAbsolutePath } from "../../session/log/session-paths.ts";
import { isStillTrue } from "./file-summary.ts";

/** Options for keeping summaries between runs. */
export interface CacheOptions {
  /** Whether summaries are kept in the user's cache folder. Default true. */
  readonly cache?: boolean;
  /** Folder to use instead of the user's cache folder. Must not be the sessions folder. */
  readonly cacheDir?: string;
  /** Called with cache errors. Listing continues without the cache. */
  readonly onCacheError?: (error: unknown) => void;
}

/**
 * New filters and tables are saved once they cover at least this many session bytes and at least this fraction of all session
 * bytes.
 */
const MIN_NEW_BYTES = 1024 * 1024;
const MIN_NEW_PART = 1 / 32;

/** Maximum total size of the tables kept per folder, in bytes. The most recently written sessions take precedence. */
const MAX_TABLE_BYTES = 256 * 1024 * 1024;

/**
 * Summaries of session files, text filters, and word tables, kept between runs in one file of each type per sessions folder.
 *
 * An item remains valid as long as its session file has the same size, times, and inode. Outdated rows are removed because
 * they contain session text.
 */
export class CatalogCache {
  /** Cache folder; undefined if caching is disabled. */
  readonly folder: string | undefined;
  readonly #summaries: FolderCache<FileSummary>;
  readonly #filters: FolderCache<KnownBytes>;
  readonly #tables: FolderCache<KnownBytes>;
  readonly #tableBytes = new Map<string, number>();

  constructor({ cache = true, cacheDir = getCacheFolder(), onCacheError }: CacheOptions) {
    this.folder = cache ? toAbsolutePath(cacheDir) : undefined;
    this.#summaries = new FolderCache(SUMMARIES, this.folder, onCacheError);
    this.#filters = new FolderCache(FILTERS, this.folder, onCacheError);
    this.#tables = new FolderCache(TERM_TABLES, this.folder, onCacheError);
    if (this.folder !== undefined) noteCacheFolder(this.folder);
  }

  /** Returns the cached summary of a file, which may be outdated; undefined if it is not cached. */
  getSummary(file: SessionFile): FileSummary | undefined {
    return this.#summaries.of(file.folder)?.files.get(file.name);
  }

  putSummary(file: SessionFile, found: FileSummary): void {
    const known = this.#summaries.of(file.folder);
    if (known === undefined || known.files.get(file.name) === found) return;
    known.files.set(file.name, found);
    known.unsaved++;
  }

  /** Returns the cached filter for a file in its current state; undefined if it is not cached. */
  getFilter(file: SessionFile, mark: FileMark): Uint8Array | undefined {
    return getBytes(this.#filters, file, mark);
  }

  putFilter(file: SessionFile, mark: FileMark, filter: Uint8Array): void {
    putBytes(this.#filters, file, mark, filter);
  }

  /** Returns the cached table for a file in its current state, as bytes; undefined if it is not cached. */
  getTable(file: SessionFile, mark: FileMark): Uint8Array | undefined {
    return getBytes(this.#tables, file, mark);
  }

  putTable(file: SessionFile, mark: FileMark, table: Uint8Array): void {
    const known = this.#tables.of(file.folder)?.files.values() ?? [];
    const before = this.#tableBytes.get(file.folder) ?? countKnownBytes(known);
    if (before + table.length > MAX_TABLE_BYTES) return;
    this.#tableBytes.set(file.folder, before + table.length);
    putBytes(this.#tables, file, mark, table);
  }

  /** Saves new facts, and removes facts about files that no longer exist in the listed folders. */
  async save(folders: readonly string[], files: readonly SessionFile[]): Promise<void> {
    if (this.#filters.loaded.size > 0) await saveBytes(this.#filters, files);
    if (this.#tables.loaded.size > 0) await saveBytes(this.#tables, files);
    await this.#saveSummaries(folders, files);
    this.#summaries.guarded(() => this.#sweep());
  }

  async #saveSummaries(folders: readonly string[], files: readonly SessionFile[]): Promise<void> {
    const there = new Map(folders.map((folder) => [folder, new Set<string>()]));
    for (const { folder, name } of files) there.get(folder)?.add(name);
    for (const [folder, names] of there) {
      // Folders that were not read keep their facts, unless they no longer contain files.
      const known = names.size === 0 ? this.#summaries.of(folder) : this.#summaries.loaded.get(folder);
      if (known === undefined) continue;
      for (const name of known.files.keys())
        if (!names.has(name) && known.files.delete(name)) known.unsaved++;
      if (known.unsaved > 0) await this.#summaries.save(folder, isStillTrue);
    }
  }

  #sweep(): void {
    if (this.folder === undefined) return;
    const ours = new Set(Array.from(this.#summaries.loaded.values(), ({ path }) => path));
    sweepCache(this.folder, (path) => ours.has(path));
  }
}

function countKnownBytes(known: Iterable<KnownBytes>): number {
  let bytes = 0;
  for (const one of known) bytes += one.known.length;
  return bytes;
}

function getBytes(cache: FolderCache<KnownBytes>, file: SessionFile, mark: FileMark): Uint8Array | undefined {
  const found = cache.of(file.folder)?.files.get(file.name);
  return found !== undefined && isUnchanged(found, mark) ? found.known : undefined;
}

function putBytes(
  cache: FolderCache<KnownBytes>,
  file: SessionFile,
  mark: FileMark,
  known: Uint8Array,
): void {
  const folder = cache.of(file.folder);
  if (folder === undefined) return;
  folder.files.set(file.name, { ...toFileMark(mark), known });
  folder.unsaved += mark.size;
}

/** Saves the facts for each folder with enough new facts, or with facts that may contain text from deleted files. */
async function saveBytes(cache: FolderCache<KnownBytes>, files: readonly SessionFile[]): Promise<void> {
  const current = new Map<string, FileMark>(files.map((file) => [file.path, file]));
  for (const [folder, { files: known, unsaved }] of cache.loaded) {
    let [all, isOutdated] = [0, false];
    for (const [name, mark] of known) {
      all += mark.size;
      isOutdated ||= !isKept(current.get(join(folder, name)), mark);
    }
    if (isOutdated || unsaved >= Math.max(MIN_NEW_BYTES, all * MIN_NEW_PART))
      await cache.save(folder, isKeptAt);
  }
}
