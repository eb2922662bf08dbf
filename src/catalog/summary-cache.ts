import { join } from "node:path";
import { writeAtomicJson } from "../fs/atomic-json.ts";
import { sha256 } from "../fs/digest.ts";
import { ifPresent, realFileSystem } from "../fs/file-system.ts";
import { absolutePath } from "../log/session-paths.ts";
import { contentOf, readCachedFolder, sweepCache } from "./cache-files.ts";
import { type FileSummary, isStillTrue } from "./file-summary.ts";
import { noteCacheFolder } from "./forget-session.ts";
import type { SessionFile } from "./session-files.ts";
import { isSystemError } from "./skipping.ts";
import type { FolderSummaries } from "./summary-columns.ts";
import { defaultCacheFolder } from "./user-folders.ts";

/** How summaries are kept between runs. */
export interface CacheOptions {
  /** Whether summaries are kept in the user's cache folder. Default true. */
  readonly cache?: boolean;
  /** Another folder for them; not the one with the sessions. */
  readonly cacheDir?: string;
  /** Called with errors of the cache; lists work without it. */
  readonly onCacheError?: (error: unknown) => void;
}

/** The summaries of one folder's files, by name. */
interface FolderCache {
  readonly path: string;
  readonly files: FolderSummaries;
  isDirty: boolean;
}

/**
 * Summaries of session files, kept between runs.
 *
 * One small file for each folder of sessions, valid for as long as a session file has the same size, time and inode.
 * It is replaced as a whole: if two processes do so at once, one wins, and only work is lost. Rows hold text of their
 * sessions, so outdated ones are not kept.
 */
export class SummaryCache {
  readonly #options: CacheOptions;
  /** Where they are kept; undefined for nowhere. */
  readonly folder: string | undefined;
  readonly #loaded = new Map<string, FolderCache>();

  constructor(options: CacheOptions) {
    this.#options = options;
    const { cache = true, cacheDir } = options;
    this.folder = cache ? absolutePath(cacheDir ?? defaultCacheFolder()) : undefined;
    if (this.folder !== undefined) noteCacheFolder(this.folder);
  }

  /** Returns the known summary of a file, which may be outdated; undefined if there is none. */
  get(file: SessionFile): FileSummary | undefined {
    return this.#cacheOf(file.folder)?.files.get(file.name);
  }

  /** Stores the summary of a file. */
  put(file: SessionFile, found: FileSummary): void {
    const cache = this.#cacheOf(file.folder);
    if (cache === undefined || cache.files.get(file.name) === found) return;
    cache.files.set(file.name, found);
    cache.isDirty = true;
  }

  /**
   * Saves all summaries.
   *
   * @param folders - The folders that were listed.
   * @param files - All files in them; summaries of other files in these folders are dropped.
   */
  async save(folders: readonly string[], files: readonly SessionFile[]): Promise<void> {
    const there = new Map<string, SessionFile[]>(folders.map((folder) => [folder, []]));
    for (const file of files) there.get(file.folder)?.push(file);
    for (const [folder, found] of there) {
      // What was not looked at stays as it is, unless no file is left.
      const cache = found.length === 0 ? this.#cacheOf(folder) : this.#loaded.get(folder);
      if (cache === undefined) continue;
      const known = found.filter(({ name }) => cache.files.has(name));
      if (known.length < cache.files.size) {
        const names = new Set(known.map(({ name }) => name));
        for (const name of cache.files.keys()) if (!names.has(name)) cache.files.delete(name);
        cache.isDirty = true;
      }
      if (!cache.isDirty) continue;
      cache.isDirty = false;
      await this.#guarded(async () => {
        // Text that was redacted or removed since it was read must not come back into the cache.
        for (const [name, known] of cache.files) {
          if (!isStillTrue(join(folder, name), known)) cache.files.delete(name);
        }
        const { content, beside } = contentOf({ folder, files: cache.files });
        await writeAtomicJson(cache.path, content, beside);
        // A redaction that ran meanwhile may have looked into the caches before these rows were there.
        if (Array.from(cache.files).some(([name, known]) => !isStillTrue(join(folder, name), known)))
          ifPresent(() => realFileSystem.unlinkSync(cache.path));
      });
    }
    await this.#guarded(async () => this.#sweep());
  }

  #sweep(): void {
    if (this.folder === undefined) return;
    const ours = new Set(Array.from(this.#loaded.values(), ({ path }) => path));
    sweepCache(this.folder, (path) => ours.has(path));
  }

  #cacheOf(folder: string): FolderCache | undefined {
    if (this.folder === undefined) return undefined;
    let cache = this.#loaded.get(folder);
    if (cache === undefined) {
      const name = sha256(folder).slice(0, 32);
      const path = join(this.folder, `${name}.json`);
      cache = { path, files: this.#load(path, folder), isDirty: false };
      this.#loaded.set(folder, cache);
    }
    return cache;
  }

  #load(path: string, folder: string): FolderSummaries {
    try {
      const cached = readCachedFolder(path);
      return cached?.folder === folder ? cached.files : new Map();
    } catch (error) {
      this.reportError(error);
      return new Map();
    }
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.reportError(error);
    }
  }

  /** A cache that cannot be read or written only costs time. */
  reportError(error: unknown): void {
    if (!isSystemError(error)) throw error;
    this.#options.onCacheError?.(error);
  }
}
