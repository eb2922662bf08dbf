import { listOf } from "../../core/context/entry-fields.ts";
import type { FileMark } from "./file-mark.ts";
import type { CacheKind } from "./folder-cache.ts";

/** The filter of a file, and the state of the file when it was made. */
export interface KnownFilter extends FileMark {
  readonly filter: Uint8Array;
}

/** Filters are kept as bytes behind the marks of their files. */
export const FILTERS: CacheKind<KnownFilter> = {
  suffix: ".grams",
  encode: (files) => ({
    columns: Array.from(files, ([name, { size, mtimeMs, ctimeMs, ino, birthtimeMs, filter }]) => [
      name,
      ...[size, mtimeMs, ctimeMs, ino, birthtimeMs, filter.length],
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
      const [size = 0, mtimeMs = 0, ctimeMs = 0, ino = 0, birthtimeMs = 0, length = 0] = numbers.map(Number);
      if (typeof name !== "string") return undefined;
      filters.set(name, { size, mtimeMs, ctimeMs, ino, birthtimeMs, filter: all.subarray(at, at + length) });
      at += length;
    }
    return at === all.length ? filters : undefined;
  },
};
