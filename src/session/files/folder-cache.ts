import { join } from "node:path";
import { getOrAdd } from "../../core/format/group-by.ts";
import { hashText } from "../../core/format/ids.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import {
  type BesideJson,
  type KeptJson,
  readAtomicJson,
  writeAtomicJson,
  writeAtomicJsonNow,
} from "../fs/atomic-json.ts";
import { hashSha256 } from "../fs/digest.ts";
import { callIfPresent, realFileSystem } from "../fs/file-system.ts";
import { isTemporaryName } from "../fs/temporary-files.ts";
import type { FileMark } from "./file-mark.ts";
import { isSystemError } from "./skipped-files.ts";

/** Incremented whenever the format or the meaning of the stored data changes. */
const CACHE_VERSION = 9;

/** Kind of data about session files, and its format. There is one cache file per folder of sessions. */
export interface CacheKind<Known extends FileMark> {
  readonly suffix: string;
  encode(files: ReadonlyMap<string, Known>): BesideJson & { readonly columns: object };
  /** Decodes the output of `encode`. Returns undefined if any of the data is invalid. */
  decode(columns: unknown, beside: Omit<KeptJson, "value">): Map<string, Known> | undefined;
}

/** Data about the files of one folder, by name. */
interface CachedFolder<Known> {
  readonly folder: string;
  readonly files: Map<string, Known>;
}

/** Data about the files of one folder, in memory. */
interface LoadedFolder<Known> {
  readonly path: string;
  readonly files: Map<string, Known>;
  /** Amount of unsaved data, in a unit chosen by the owner. */
  unsaved: number;
}

/** Reads the stored data of a folder. Returns undefined if there is no data that this version supports. */
export function readCached<Known extends FileMark>(
  path: string,
  kind: CacheKind<Known>,
): CachedFolder<Known> | undefined {
  const kept = readAtomicJson(path);
  if (kept === undefined || !isJsonRecord(kept.value)) return undefined;
  const { version, folder, files: columns } = kept.value;
  if (version !== CACHE_VERSION || typeof folder !== "string") return undefined;
  const files = kind.decode(columns, kept);
  return files && { folder, files };
}

/** Writes data about the files of a folder synchronously. */
export function writeCachedNow<Known extends FileMark>(
  path: string,
  cached: CachedFolder<Known>,
  kind: CacheKind<Known>,
): void {
  const { value, beside } = encodeContent(cached, kind);
  writeAtomicJsonNow(path, value, beside);
}

function encodeContent<Known extends FileMark>(
  { folder, files }: CachedFolder<Known>,
  kind: CacheKind<Known>,
) {
  const { columns, ...beside } = kind.encode(files);
  return { value: { version: CACHE_VERSION, folder, files: columns }, beside };
}

/**
 * Data about session files that is stored between runs.
 *
 * The cache file of a folder is replaced as a whole. If two processes replace it at the same time, one of them wins, and only
 * work is lost.
 */
export class FolderCache<Known extends FileMark> {
  readonly loaded = new Map<string, LoadedFolder<Known>>();
  readonly #kind: CacheKind<Known>;
  readonly #cacheFolder: string | undefined;
  readonly #onError: (error: unknown) => void;

  /**
   * @param cacheFolder - Folder for the cache; undefined to store nothing.
   * @param onError - Called with system errors. A cache that cannot be read or written only costs time.
   */
  constructor(
    kind: CacheKind<Known>,
    cacheFolder: string | undefined,
    onError: (error: unknown) => void = () => undefined,
  ) {
    this.#kind = kind;
    this.#cacheFolder = cacheFolder;
    this.#onError = onError;
  }

  /** Returns the data about a folder's files; undefined if there is no cache folder. */
  of(folder: string): LoadedFolder<Known> | undefined {
    const cacheFolder = this.#cacheFolder;
    if (cacheFolder === undefined) return undefined;
    return getOrAdd(this.loaded, folder, () => {
      const path = join(cacheFolder, makeFolderCacheName(folder, this.#kind.suffix));
      const cached = this.guarded(() => readCached(path, this.#kind));
      const files = cached?.folder === folder ? cached.files : new Map<string, Known>();
      return { path, files, unsaved: 0 };
    });
  }

  /** Saves the data about a folder's files, excluding outdated data. */
  async save(folder: string, holds: (path: string, known: Known) => boolean): Promise<void> {
    const loaded = this.of(folder);
    if (loaded === undefined) return;
    const { path, files } = loaded;
    const outdated = () => [...files].filter(([name, known]) => !holds(join(folder, name), known));
    try {
      // Text that was redacted or removed since it was read must not be restored in the cache.
      for (const [name] of outdated()) files.delete(name);
      const { value, beside } = encodeContent({ folder, files }, this.#kind);
      loaded.unsaved = 0;
      await writeAtomicJson(path, value, beside);
      // A redaction that was running at the same time may have checked the caches before these rows existed.
      if (outdated().length > 0) callIfPresent(() => realFileSystem.unlinkSync(path));
    } catch (error) {
      this.#report(error);
    }
  }

  /** Runs work on the files of a cache. Reports system errors and throws all others. */
  guarded<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.#report(error);
      return undefined;
    }
  }

  #report(error: unknown): void {
    if (!isSystemError(error)) throw error;
    this.#onError(error);
  }
}

/** Matches the name of a folder's cache file or an import record. While a file is being written, its name ends with a number. */
const NAME = /^(?:([0-9a-f]{32})\.(?:json|grams|terms)|imports-[0-9a-f]{32}\.json)(\.\d+)?$/;

/**
 * Type of a file in a cache folder.
 *
 * `folder`: data about a folder of sessions; `imports`: the record of an import; `unfinished`: either of them while being
 * written; `temporary`: a copy of another program's database. The last two are abandoned by killed processes.
 */
export type CacheFileKind = "folder" | "imports" | "unfinished" | "temporary";

/**
 * Returns the type of a file in a cache folder, based on its name. Returns undefined if this library does not write such files.
 */
export function parseCacheName(name: string): CacheFileKind | undefined {
  if (isTemporaryName(name)) return "temporary";
  const [found, ofFolder, number] = NAME.exec(name) ?? [];
  if (found === undefined) return undefined;
  if (number !== undefined) return "unfinished";
  return ofFolder === undefined ? "imports" : "folder";
}

/** Returns the name of the file that stores data about a folder of sessions. */
function makeFolderCacheName(folder: string, suffix: string): string {
  return `${hashSha256(folder).slice(0, 32)}${suffix}`;
}

/** Returns the name of the file that records imports into a target. */
export function importCacheName(target: string): string {
  return `imports-${hashText(target)}.json`;
}
