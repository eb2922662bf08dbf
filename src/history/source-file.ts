import { readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import {
  closeQuietly,
  ifPresent,
  openForReading,
  readPieces,
  readRange,
  realFileSystem,
} from "../log/file-system.ts";
import { SessionError } from "../schema/errors.ts";

/** A file of another program, with its state when it was found. */
export interface SourceFile {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
}

const ENDINGS = [".jsonl", ".json", ".jsonl.zst"];

/** Returns the files below a folder that may be sessions, or the file itself, without opening them. */
export function findSourceFiles(path: string): SourceFile[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  if (stats.isFile()) return [{ path, size: stats.size, mtimeMs: stats.mtimeMs }];
  const names = stats.isDirectory() ? (ifPresent(() => readdirSync(path)) ?? []) : [];
  return names.sort().flatMap((name) => {
    const isFolder = !name.includes(".") || ENDINGS.every((ending) => !name.endsWith(ending));
    const inside = join(path, name);
    return isFolder && !isDirectory(inside) ? [] : findSourceFiles(inside);
  });
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Returns a text that changes whenever a file is written to. */
export function stampOf({ path, size, mtimeMs }: SourceFile): string {
  return `${path}:${size}:${mtimeMs}`;
}

/**
 * Reads a file, and decompresses it if necessary.
 *
 * @throws {SessionError} `NOT_A_SESSION` if this version of Node cannot decompress it.
 */
export function readSource(path: string): Uint8Array {
  const bytes = readFileSync(path);
  return path.endsWith(".zst") ? unpack(path, bytes) : bytes;
}

/**
 * Reads a file in pieces, each valid until the next is requested; a compressed file is one piece.
 *
 * @throws {SessionError} `NOT_A_SESSION` if this version of Node cannot decompress it.
 */
export function* readSourcePieces(path: string): Generator<Uint8Array, void> {
  if (path.endsWith(".zst")) {
    yield readSource(path);
    return;
  }
  const fd = openForReading(realFileSystem, path);
  try {
    yield* readPieces(realFileSystem, fd, 0, Number.POSITIVE_INFINITY);
  } finally {
    closeQuietly(realFileSystem, fd);
  }
}

/** Reads the front of a file. */
export function readFront(path: string, length: number): Uint8Array {
  if (path.endsWith(".zst")) return readSource(path).subarray(0, length);
  const fd = openForReading(realFileSystem, path);
  try {
    return readRange(realFileSystem, fd, 0, length);
  } finally {
    closeQuietly(realFileSystem, fd);
  }
}

function unpack(path: string, bytes: Uint8Array): Uint8Array {
  // Not a named import, because older versions of Node lack it.
  const zlib: unknown = createRequire(import.meta.url)("node:zlib");
  const { zstdDecompressSync } = Object(zlib);
  if (typeof zstdDecompressSync === "function") return zstdDecompressSync(bytes);
  throw new SessionError(
    "NOT_A_SESSION",
    `${path} is compressed with zstd, which this version of Node cannot read. Use Node 22.15 or later, or decompress it.`,
    { details: { path } },
  );
}
