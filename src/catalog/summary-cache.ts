import { createHash } from "node:crypto";
import { join } from "node:path";
import { writeAtomicJson } from "../log/atomic-json.ts";
import { absolutePath } from "../log/session-paths.ts";
import { contentOf, readCachedFolder, sweepCache } from "./cache-files.ts";
import { defaultCacheFolder } from "./cache-folder.ts";
import { type FileSummary, isStillTrue } from "./file-summary.ts";
import { noteCacheFolder } from "./forget-session.ts";
import type { SessionFile } from "./session-files.ts";
import { isSystemError } from "./skipping.ts";
import type { FolderSummaries } from "./summary-columns.ts";

/** How summaries are kept between runs. */
export interface CacheOptions {
  /** Whether summaries are kept in the user's cache folder. Default true. */
  readonly cache?: boolean;
  /** Folder to keep them in instead; not the one with the sessions. */
  readonly cacheDir?: string;
  /** Told what went wrong with the cache; the list itself does not need it. */
  readonly onCacheError?: (error: unknown) => void;
}

/** What is known of one folder's files, by name. */
interface FolderCache {
  readonly path: string;
  readonly files: FolderSummaries;
  isDirty: boolean;
}

/**
 * Summaries of session files, kept between runs.
 *
 * One small file for each folder of sessions, valid for as long as a session file has the same size, time and inode.
 * It is replaced as a whole: of two processes that do so at once, one wins, and nothing is lost but work. A row holds text
 * of its session, so what is no more true of a file is not kept.
 */
export class SummaryCache {
  readonly #options: CacheOptions;
  readonly #folder: string | undefined;
  readonly #loaded = new Map<string, FolderCache>();

  constructor(options: CacheOptions) {
    this.#options = options;
    const { cache = true, cacheDir } = options;
    this.#folder = cache ? absolutePath(cacheDir ?? defaultCacheFolder()) : undefined;
    if (this.#folder !== undefined) noteCacheFolder(this.#folder);
  }

  /** Returns what is known of a file, which may have changed since; undefined if nothing is. */
  get(file: SessionFile): FileSummary | undefined {
    return this.#cacheOf(file.folder)?.files.get(file.name);
  }

  /** Takes what was found of a file. */
  put(file: SessionFile, found: FileSummary): void {
    const cache = this.#cacheOf(file.folder);
    if (cache === undefined || cache.files.get(file.name) === found) return;
    cache.files.set(file.name, found);
    cache.isDirty = true;
  }

  /**
   * Keeps what was found.
   *
   * @param folders - The folders that were looked at.
   * @param files - All files that are there; what is known of others in these folders is forgotten.
   */
  async save(folders: readonly string[], files: readonly SessionFile[]): Promise<void> {
    const there = new Map<string, Set<string>>(folders.map((folder) => [folder, new Set()]));
    for (const { folder, name } of files) there.get(folder)?.add(name);
    for (const [folder, names] of there) {
      const cache = this.#cacheOf(folder);
      if (cache === undefined) return;
      for (const name of cache.files.keys()) {
        if (names.has(name)) continue;
        cache.files.delete(name);
        cache.isDirty = true;
      }
      if (!cache.isDirty) continue;
      cache.isDirty = false;
      await this.#guarded(async () => {
        // What was redacted or removed since it was read must not come back into the cache.
        for (const [name, known] of cache.files) {
          if (!isStillTrue(join(folder, name), known)) cache.files.delete(name);
        }
        const { content, text } = contentOf({ folder, files: cache.files });
        await writeAtomicJson(cache.path, content, text);
      });
    }
    await this.#guarded(async () => this.#sweep());
  }

  #sweep(): void {
    if (this.#folder === undefined) return;
    const ours = new Set(Array.from(this.#loaded.values(), ({ path }) => path));
    sweepCache(this.#folder, (path) => ours.has(path));
  }

  #cacheOf(folder: string): FolderCache | undefined {
    if (this.#folder === undefined) return undefined;
    let cache = this.#loaded.get(folder);
    if (cache === undefined) {
      const name = createHash("sha256").update(folder).digest("hex").slice(0, 32);
      const path = join(this.#folder, `${name}.json`);
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
      this.#tell(error);
      return new Map();
    }
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#tell(error);
    }
  }

  /** A cache that cannot be read or written costs time and nothing else. */
  #tell(error: unknown): void {
    if (!isSystemError(error)) throw error;
    this.#options.onCacheError?.(error);
  }
}
