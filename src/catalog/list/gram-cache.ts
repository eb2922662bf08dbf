import { join } from "node:path";
import { FILTERS, type KnownFilter } from "../../session/files/cache-files.ts";
import { type FileMark, isKept, isKeptAt, isUnchanged, markOf } from "../../session/files/file-mark.ts";
import { FolderCache } from "../../session/files/folder-cache.ts";
import type { SessionFile } from "../../session/files/session-files.ts";

/** New filters are kept once they are of so many bytes of sessions, or of this part of all. */
const LEAST_NEW_BYTES = 1024 * 1024;
const LEAST_NEW_PART = 1 / 32;

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
        all += known.size;
        isOutdated ||= !isKept(current.get(join(folder, name)), known);
      }
      if (isOutdated || unsaved >= Math.max(LEAST_NEW_BYTES, all * LEAST_NEW_PART))
        await this.#known.save(folder, isKeptAt);
    }
  }
}
