import { sweepCache } from "../../session/files/cache-files.ts";
import { noteCacheFolder } from "../../session/files/forget-session.ts";
import type { SessionFile } from "../../session/files/session-files.ts";
import { defaultCacheFolder } from "../../session/files/user-folders.ts";
import { absolutePath } from "../../session/log/session-paths.ts";
import { type FileSummary, isStillTrue } from "./file-summary.ts";
import { FolderCache } from "./folder-cache.ts";
import { SUMMARIES } from "./summary-columns.ts";

/** How summaries are kept between runs. */
export interface CacheOptions {
  /** Whether summaries are kept in the user's cache folder. Default true. */
  readonly cache?: boolean;
  /** Another folder for them; not the one with the sessions. */
  readonly cacheDir?: string;
  /** Called with errors of the cache; lists work without it. */
  readonly onCacheError?: (error: unknown) => void;
}

/**
 * Summaries of session files, kept between runs.
 *
 * Valid for as long as a session file has the same size, time and inode. Rows hold text of their sessions, so outdated ones
 * are not kept.
 */
export class SummaryCache {
  /** Where they are kept; undefined for nowhere. */
  readonly folder: string | undefined;
  readonly #known: FolderCache<FileSummary>;

  constructor({ cache = true, cacheDir = defaultCacheFolder(), onCacheError }: CacheOptions) {
    this.folder = cache ? absolutePath(cacheDir) : undefined;
    this.#known = new FolderCache(SUMMARIES, this.folder, onCacheError);
    if (this.folder !== undefined) noteCacheFolder(this.folder);
  }

  /** Returns the known summary of a file, which may be outdated; undefined if there is none. */
  get(file: SessionFile): FileSummary | undefined {
    return this.#known.of(file.folder)?.files.get(file.name);
  }

  put(file: SessionFile, found: FileSummary): void {
    const known = this.#known.of(file.folder);
    if (known === undefined || known.files.get(file.name) === found) return;
    known.files.set(file.name, found);
    known.unsaved++;
  }

  /** Saves what is new in the folders that were listed; what is known of files that are no longer there is dropped. */
  async save(folders: readonly string[], files: readonly SessionFile[]): Promise<void> {
    const there = new Map(folders.map((folder) => [folder, new Set<string>()]));
    for (const { folder, name } of files) there.get(folder)?.add(name);
    for (const [folder, names] of there) {
      // What was not looked at stays as it is, unless no file is left.
      const known = names.size === 0 ? this.#known.of(folder) : this.#known.loaded.get(folder);
      if (known === undefined) continue;
      for (const name of known.files.keys())
        if (!names.has(name) && known.files.delete(name)) known.unsaved++;
      if (known.unsaved > 0) await this.#known.save(folder, isStillTrue);
    }
    this.#known.guarded(() => this.#sweep());
  }

  #sweep(): void {
    if (this.folder === undefined) return;
    const ours = new Set(Array.from(this.#known.loaded.values(), ({ path }) => path));
    sweepCache(this.folder, (path) => ours.has(path));
  }
}
