import { join } from "node:path";
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

/** Incremented whenever the format or the meaning of what is kept changes. */
const CACHE_VERSION = 8;

/** One kind of knowledge of session files, and how it is kept: in one file for each folder of sessions. */
export interface CacheKind<Known extends FileMark> {
  readonly suffix: string;
  encode(files: ReadonlyMap<string, Known>): BesideJson & { readonly columns: object };
  /** Reads what `encode` made; undefined if any of it is invalid. */
  decode(columns: unknown, beside: Omit<KeptJson, "value">): Map<string, Known> | undefined;
}

/** What is known of one folder's files, by their names. */
interface CachedFolder<Known> {
  readonly folder: string;
  readonly files: Map<string, Known>;
}

/** The same, in memory. */
interface LoadedFolder<Known> {
  readonly path: string;
  readonly files: Map<string, Known>;
  /** How much has come that is not kept yet, as the owner counts it. */
  unsaved: number;
}

/** Reads what is kept of a folder; undefined if there is nothing, or nothing that this version understands. */
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

/** Writes what is known of the files of a folder, at once. */
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
 * What is known of session files, kept between runs.
 *
 * A folder's file is replaced as a whole: if two processes do so at once, one wins, and only work is lost.
 */
export class FolderCache<Known extends FileMark> {
  readonly loaded = new Map<string, LoadedFolder<Known>>();
  readonly #kind: CacheKind<Known>;
  readonly #cacheFolder: string | undefined;
  readonly #onError: (error: unknown) => void;

  /**
   * @param cacheFolder - Where it is kept; undefined for nowhere.
   * @param onError - Called with the system's errors: a cache that cannot be read or written only costs time.
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

  /** Returns what is known of a folder's files; undefined if nothing is kept. */
  of(folder: string): LoadedFolder<Known> | undefined {
    if (this.#cacheFolder === undefined) return undefined;
    const known = this.loaded.get(folder);
    if (known !== undefined) return known;
    const path = join(this.#cacheFolder, makeFolderCacheName(folder, this.#kind.suffix));
    const cached = this.guarded(() => readCached(path, this.#kind));
    const files = cached?.folder === folder ? cached.files : new Map<string, Known>();
    const loaded = { path, files, unsaved: 0 };
    this.loaded.set(folder, loaded);
    return loaded;
  }

  /** Keeps what is known of a folder's files, but for what no longer holds. */
  async save(folder: string, holds: (path: string, known: Known) => boolean): Promise<void> {
    const loaded = this.of(folder);
    if (loaded === undefined) return;
    const { path, files } = loaded;
    const outdated = () => [...files].filter(([name, known]) => !holds(join(folder, name), known));
    try {
      // Text that was redacted or removed since it was read must not come back into the cache.
      for (const [name] of outdated()) files.delete(name);
      const { value, beside } = encodeContent({ folder, files }, this.#kind);
      loaded.unsaved = 0;
      await writeAtomicJson(path, value, beside);
      // A redaction that ran meanwhile may have looked into the caches before these rows were there.
      if (outdated().length > 0) callIfPresent(() => realFileSystem.unlinkSync(path));
    } catch (error) {
      this.#report(error);
    }
  }

  /** Does something with the files of a cache; an error of the system is reported, and no other. */
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

/** Such a file, or what an import remembers; a number follows while it is written. */
const NAME = /^(?:([0-9a-f]{32})\.(?:json|grams|terms)|imports-[0-9a-f]{32}\.json)(\.\d+)?$/;

/**
 * What a file in a cache folder is.
 *
 * `folder`: what is known of a folder of sessions; `imports`: what an import remembers; `unfinished`: one of them that is being
 * written; `temporary`: a copy of another program's database. Killed processes leave the last two.
 */
export type CacheFileKind = "folder" | "imports" | "unfinished" | "temporary";

/** Returns what a file in a cache folder is, by its name; undefined if this library writes no such file. */
export function parseCacheName(name: string): CacheFileKind | undefined {
  if (isTemporaryName(name)) return "temporary";
  const [found, ofFolder, number] = NAME.exec(name) ?? [];
  if (found === undefined) return undefined;
  if (number !== undefined) return "unfinished";
  return ofFolder === undefined ? "imports" : "folder";
}

/** Returns the name of the file for what is known of a folder of sessions. */
function makeFolderCacheName(folder: string, suffix: string): string {
  return `${hashSha256(folder).slice(0, 32)}${suffix}`;
}

/** Returns the name of the file for what imports into a target remember. */
export function importCacheName(target: string): string {
  return `imports-${hashText(target)}.json`;
}
