import { statSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { readToEnd, writeAtomicBytes } from "../fs/atomic-json.ts";
import { sha256 } from "../fs/digest.ts";
import { ifPresent, realFileSystem } from "../fs/file-system.ts";
import { parseJson } from "../jsonl/decode.ts";
import { isJsonRecord } from "../schema/json.ts";
import { isUnchanged } from "./file-summary.ts";
import type { FileMark } from "./scanned-file.ts";
import type { SessionFile } from "./session-files.ts";

/** Incremented whenever the format or the meaning of filters changes. */
const VERSION = 1;

const LF = 0x0a;
const CRC_BYTES = 4;

/** New filters are kept once they are of so many bytes of sessions, or of this part of all. */
const LEAST_NEW_BYTES = 1024 * 1024;
const LEAST_NEW_PART = 1 / 32;

/** The filter of a file, and the state of the file when it was made. */
interface KnownFilter {
  readonly mark: FileMark;
  readonly filter: Uint8Array;
}

/** The filters of one folder's files, by name. */
interface FolderFilters {
  readonly path: string;
  readonly filters: Map<string, KnownFilter>;
  /** Bytes of sessions whose filters are not kept yet. */
  newBytes: number;
}

/** Returns the folder whose filters a file keeps, and the marks of its files; undefined if it is damaged or of another version. */
export function readFilters(path: string): { folder: string; filters: Map<string, KnownFilter> } | undefined {
  const bytes = readToEnd(path);
  if (bytes === undefined || bytes.length < CRC_BYTES) return undefined;
  const body = bytes.subarray(CRC_BYTES);
  if (bytes.readUInt32LE(0) !== crc32(body)) return undefined;
  const head = body.subarray(0, body.indexOf(LF));
  const { version, folder, files } = headOf(head.toString());
  if (version !== VERSION || typeof folder !== "string" || !Array.isArray(files)) return undefined;
  const filters = new Map<string, KnownFilter>();
  let at = head.length + 1;
  for (const file of files) {
    const fields: readonly unknown[] = Array.isArray(file) ? file : [];
    const [name, size, mtimeMs, ino, birthtimeMs, length] = fields;
    if (typeof name !== "string" || typeof size !== "number" || typeof mtimeMs !== "number") return undefined;
    if (typeof ino !== "number" || typeof birthtimeMs !== "number" || typeof length !== "number")
      return undefined;
    filters.set(name, { mark: { size, mtimeMs, ino, birthtimeMs }, filter: body.subarray(at, at + length) });
    at += length;
  }
  return at === body.length ? { folder, filters } : undefined;
}

function headOf(text: string) {
  const parsed = parseJson(text)?.value;
  return isJsonRecord(parsed) ? parsed : {};
}

/**
 * Filters of session files, kept between runs in one file for each folder of sessions, beside the summaries.
 *
 * A filter holds for as long as its file is unchanged. The file is replaced as a whole: if two processes do so at once, one
 * wins, and only work is lost.
 */
export class GramCache {
  readonly #folder: string | undefined;
  readonly #reportError: (error: unknown) => void;
  readonly #loaded = new Map<string, FolderFilters>();

  /**
   * @param folder - Where filters are kept; undefined for nowhere.
   * @param reportError - Called with the system's errors, which only cost time; throws others.
   */
  constructor(folder: string | undefined, reportError: (error: unknown) => void) {
    this.#folder = folder;
    this.#reportError = reportError;
  }

  /** Whether filters are kept. */
  get isKept(): boolean {
    return this.#folder !== undefined;
  }

  /** Returns the filter of a file as it is now; undefined if there is none. */
  get(file: SessionFile, mark: FileMark): Uint8Array | undefined {
    const known = this.#filtersOf(file.folder)?.filters.get(file.name);
    const isCurrent = known !== undefined && isUnchanged(known.mark, mark);
    return isCurrent && known.mark.birthtimeMs === mark.birthtimeMs ? known.filter : undefined;
  }

  /** Stores the filter of a file. */
  put(file: SessionFile, { size, mtimeMs, ino, birthtimeMs }: FileMark, filter: Uint8Array): void {
    const known = this.#filtersOf(file.folder);
    if (known === undefined) return;
    known.filters.set(file.name, { mark: { size, mtimeMs, ino, birthtimeMs }, filter });
    known.newBytes += size;
  }

  /**
   * Saves the filters of folders in which enough is new, or a file was replaced or removed, so that nothing of a text that is
   * gone stays.
   *
   * @param files - All files of the folders.
   */
  async save(files: readonly SessionFile[]): Promise<void> {
    if (this.#loaded.size === 0) return;
    const current = new Map<string, FileMark>(files.map((file) => [file.path, file]));
    for (const [folder, known] of this.#loaded) {
      const { path, filters, newBytes } = known;
      let [all, isOutdated] = [0, false];
      for (const [name, { mark }] of filters) {
        const now = current.get(join(folder, name));
        all += mark.size;
        isOutdated ||= now === undefined || now.ino !== mark.ino || now.size < mark.size;
      }
      if (!isOutdated && newBytes < Math.max(LEAST_NEW_BYTES, all * LEAST_NEW_PART)) continue;
      try {
        for (const [name, { mark }] of filters)
          if (!isUnchangedAt(join(folder, name), mark)) filters.delete(name);
        await writeAtomicBytes(path, filterBytes(folder, filters));
        // A redaction that ran meanwhile may have looked into the caches before these filters were there.
        if (Array.from(filters).some(([name, { mark }]) => !isKeptAt(join(folder, name), mark)))
          ifPresent(() => realFileSystem.unlinkSync(path));
      } catch (error) {
        this.#reportError(error);
      }
    }
  }

  #filtersOf(folder: string): FolderFilters | undefined {
    if (this.#folder === undefined) return undefined;
    let known = this.#loaded.get(folder);
    if (known === undefined) {
      const path = join(this.#folder, `${sha256(folder).slice(0, 32)}.grams`);
      known = { path, filters: this.#load(path, folder), newBytes: 0 };
      this.#loaded.set(folder, known);
    }
    return known;
  }

  #load(path: string, folder: string): FolderFilters["filters"] {
    try {
      const kept = readFilters(path);
      return kept?.folder === folder ? kept.filters : new Map();
    } catch (error) {
      this.#reportError(error);
      return new Map();
    }
  }
}

/** Whether a file is unchanged since its filter was made. */
export function isUnchangedAt(path: string, mark: FileMark): boolean {
  const stats = ifPresent(() => statSync(path));
  return stats?.size === mark.size && stats.mtimeMs === mark.mtimeMs && stats.ino === mark.ino;
}

/** Whether what is known of a file still stands in it: it is unchanged or has grown, and was not replaced. */
export function isKeptAt(path: string, mark: FileMark): boolean {
  const stats = ifPresent(() => statSync(path));
  if (stats === undefined) return false;
  if (stats.size === mark.size) return stats.mtimeMs === mark.mtimeMs && stats.ino === mark.ino;
  // Some systems number no files.
  return stats.size > mark.size && stats.ino === mark.ino && mark.ino !== 0;
}

/** Returns the content of the file that keeps a folder's filters. */
export function filterBytes(folder: string, filters: ReadonlyMap<string, KnownFilter>): Buffer {
  const files = Array.from(filters, ([name, { mark, filter }]) => {
    const { size, mtimeMs, ino, birthtimeMs } = mark;
    return [name, size, mtimeMs, ino, birthtimeMs, filter.length];
  });
  const head = Buffer.from(`${JSON.stringify({ version: VERSION, folder, files })}\n`);
  const body = Buffer.concat([head, ...Array.from(filters.values(), ({ filter }) => filter)]);
  const crc = Buffer.alloc(CRC_BYTES);
  crc.writeUInt32LE(crc32(body));
  return Buffer.concat([crc, body]);
}
