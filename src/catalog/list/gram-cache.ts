import { join } from "node:path";
import { listOf } from "../../core/context/entry-fields.ts";
import { type FileMark, isKeptAt, isUnchanged, markOf } from "../../session/files/file-mark.ts";
import type { SessionFile } from "../../session/files/session-files.ts";
import { type CacheKind, FolderCache } from "./folder-cache.ts";

/** New filters are kept once they are of so many bytes of sessions, or of this part of all. */
const LEAST_NEW_BYTES = 1024 * 1024;
const LEAST_NEW_PART = 1 / 32;

/** The filter of a file, and the state of the file when it was made. */
export interface KnownFilter extends FileMark {
  readonly filter: Uint8Array;
}

/** Filters are kept as bytes behind the marks of their files. */
export const FILTERS: CacheKind<KnownFilter> = {
  suffix: ".grams",
  encode: (files) => ({
    columns: Array.from(files, ([name, { size, mtimeMs, ino, birthtimeMs, filter }]) => [
      name,
      ...[size, mtimeMs, ino, birthtimeMs, filter.length],
    ]),
    bytes: Buffer.concat(Array.from(files.values(), ({ filter }) => filter)),
  }),
  decode: (columns, { bytes }) => {
    const all = bytes();
    if (all === undefined) return undefined;
    const filters = new Map<string, KnownFilter>();
    let at = 0;
    for (const column of listOf(columns)) {
      const [name, ...numbers] = listOf(column);
      const [size = 0, mtimeMs = 0, ino = 0, birthtimeMs = 0, length = 0] = numbers.map(Number);
      if (typeof name !== "string") return undefined;
      filters.set(name, { size, mtimeMs, ino, birthtimeMs, filter: all.subarray(at, at + length) });
      at += length;
    }
    return at === all.length ? filters : undefined;
  },
};

/** Filters of session files, kept between runs beside the summaries. A filter holds for as long as its file is unchanged. */
export class GramCache {
  readonly #known: FolderCache<KnownFilter>;
  readonly isKept: boolean;

  /** @param cacheFolder - Where filters are kept; undefined for nowhere. */
  constructor(cacheFolder: string | undefined, onError?: (error: unknown) => void) {
    this.#known = new FolderCache(FILTERS, cacheFolder, onError);
    this.isKept = cacheFolder !== undefined;
  }

  /** Returns the filter of a file as it is now; undefined if there is none. */
  get(file: SessionFile, mark: FileMark): Uint8Array | undefined {
    const known = this.#known.of(file.folder)?.files.get(file.name);
    return known !== undefined && isUnchanged(known, mark) ? known.filter : undefined;
  }

  put(file: SessionFile, mark: FileMark, filter: Uint8Array): void {
    const known = this.#known.of(file.folder);
    if (known === undefined) return;
    known.files.set(file.name, { ...markOf(mark), filter });
    known.unsaved += mark.size;
  }

  /** Saves the filters of folders in which enough is new, or a filter may tell of text that is gone. */
  async save(files: readonly SessionFile[]): Promise<void> {
    const { loaded } = this.#known;
    if (loaded.size === 0) return;
    const current = new Map<string, FileMark>(files.map((file) => [file.path, file]));
    for (const [folder, { files: filters, unsaved }] of loaded) {
      let [all, isOutdated] = [0, false];
      for (const [name, known] of filters) {
        const now = current.get(join(folder, name));
        all += known.size;
        isOutdated ||= now === undefined || now.ino !== known.ino || now.size < known.size;
      }
      if (isOutdated || unsaved >= Math.max(LEAST_NEW_BYTES, all * LEAST_NEW_PART))
        await this.#known.save(folder, isKeptAt);
    }
  }
}
