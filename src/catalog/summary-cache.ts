import { createHash } from "node:crypto";
import { join } from "node:path";
import { isJsonRecord, type JsonRecord } from "../schema/json.ts";
import { readAtomicJson, writeAtomicJson } from "../store/atomic-json.ts";
import { absolutePath } from "../store/session-paths.ts";
import { defaultCacheFolder } from "./cache-folder.ts";
import { type FileSummary, isUnchanged, summarizeFile } from "./file-summary.ts";
import type { Pace } from "./pace.ts";
import type { SessionFile } from "./session-files.ts";
import { parseSummary } from "./session-summary.ts";
import { isSystemError } from "./skipping.ts";

/** How summaries are kept between runs. */
export interface CacheOptions {
  /** Whether summaries are kept in the user's cache folder. Default true. */
  readonly cache?: boolean;
  /** Folder to keep them in instead; not the one with the sessions. */
  readonly cacheDir?: string;
  /** Told what went wrong with the cache; the list itself does not need it. */
  readonly onCacheError?: (error: unknown) => void;
}

/** Raised whenever what is kept, or what it means, changes. */
const CACHE_VERSION = 1;

/** What is known of one folder's files, by name. */
interface FolderCache {
  readonly path: string;
  readonly files: Map<string, FileSummary>;
  isDirty: boolean;
}

/**
 * Summaries of session files, kept between runs.
 *
 * One small file for each folder of sessions, valid for as long as a session file has the same size, time and inode.
 * It is replaced as a whole: of two processes that do so at once, one wins, and nothing is lost but work.
 */
export class SummaryCache {
  readonly #options: CacheOptions;
  readonly #folder: string | undefined;
  readonly #loaded = new Map<string, FolderCache>();

  constructor(options: CacheOptions) {
    this.#options = options;
    const { cache = true, cacheDir } = options;
    this.#folder = cache ? absolutePath(cacheDir ?? defaultCacheFolder()) : undefined;
  }

  /**
   * Gives a file's summary, from what is known of it as far as that goes.
   *
   * @throws As `summarizeFile`.
   */
  async get(file: SessionFile, pace: Pace): Promise<FileSummary> {
    const cache = this.#cacheOf(file.folder);
    const known = cache?.files.get(file.name);
    if (known !== undefined && isUnchanged(known, file)) return known;
    const found = await summarizeFile(file.path, known, pace);
    if (cache !== undefined && found !== known) {
      cache.files.set(file.name, found);
      cache.isDirty = true;
    }
    return found;
  }

  /** Gives what is known of a file that has not changed since; undefined if nothing is. */
  peek(file: SessionFile): FileSummary | undefined {
    const known = this.#cacheOf(file.folder)?.files.get(file.name);
    return known !== undefined && isUnchanged(known, file) ? known : undefined;
  }

  /**
   * Keeps what was found.
   *
   * @param folders - The folders that were looked at.
   * @param files - All files that are there; what is known of others in these folders is forgotten.
   */
  async save(folders: readonly string[], files: readonly SessionFile[]): Promise<void> {
    const paths = new Set(files.map((file) => file.path));
    for (const folder of folders) {
      const cache = this.#cacheOf(folder);
      if (cache === undefined) return;
      for (const name of cache.files.keys()) {
        if (paths.has(join(folder, name))) continue;
        cache.files.delete(name);
        cache.isDirty = true;
      }
      if (!cache.isDirty) continue;
      cache.isDirty = false;
      await this.#guarded(() => writeAtomicJson(cache.path, contentOf(folder, cache.files)));
    }
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

  #load(path: string, folder: string): Map<string, FileSummary> {
    try {
      return parseContent(readAtomicJson(path), folder) ?? new Map();
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

function contentOf(folder: string, files: ReadonlyMap<string, FileSummary>): object {
  return { version: CACHE_VERSION, folder, files: [...files].map(([name, file]) => ({ name, ...file })) };
}

/** Reads a cache; undefined if it is of another version or another folder, or anything of it is not as it should be. */
function parseContent(content: unknown, folder: string): Map<string, FileSummary> | undefined {
  if (!isJsonRecord(content)) return undefined;
  const { version, folder: its, files } = content;
  if (version !== CACHE_VERSION || its !== folder || !Array.isArray(files)) return undefined;
  const parsed = new Map<string, FileSummary>();
  for (const value of files) {
    const file = isJsonRecord(value) ? parseFile(value) : undefined;
    if (file === undefined) return undefined;
    parsed.set(file.name, file.summary);
  }
  return parsed;
}

function parseFile(value: JsonRecord): { name: string; summary: FileSummary } | undefined {
  const { name, size, mtimeMs, ino, summary: itsSummary, end: itsEnd } = value;
  const isMarked = typeof size === "number" && typeof mtimeMs === "number" && typeof ino === "number";
  if (typeof name !== "string" || !isMarked) return undefined;
  const summary = parseSummary(itsSummary);
  const end = isJsonRecord(itsEnd) ? itsEnd : undefined;
  if ((summary === undefined) !== (itsSummary === undefined)) return undefined;
  if (end === undefined) return { name, summary: { size, mtimeMs, ino, summary, end } };
  const { lastId, tail } = end;
  if (typeof lastId !== "string" || typeof tail !== "string") return undefined;
  return { name, summary: { size, mtimeMs, ino, summary, end: { lastId, tail } } };
}
