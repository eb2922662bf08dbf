import { type BigIntStats, readdirSync, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, sep } from "node:path";
import { closeFile, openToScan, piecesOf, type ScannedFile } from "../catalog/scanned-file.ts";
import { ifPresent, NotAPlainFileError, readRange, realFileSystem } from "../fs/file-system.ts";
import { decodeText } from "../jsonl/decode.ts";
import { SessionError } from "../schema/errors.ts";

/** A file of another program, with its state when it was found. */
export interface SourceFile {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
}

/** Takes a file or folder that is left out, and why. */
export type ReportSkipped = (path: string, error: unknown) => void;

const ENDINGS = [".jsonl", ".json", ".jsonl.zst"];

/** Size of the largest file that is read: its records must fit into memory. */
const MAX_SOURCE_BYTES = 2 * 1024 ** 3;

/** Size of the largest file that is read as one text: engines allow no longer strings. */
export const MAX_TEXT_BYTES = 2 ** 29 - 24;

/**
 * Returns the files that may be sessions, without opening them: those named, and those below folders that are named.
 *
 * Follows links after everything else, and never to a folder or file that it has seen.
 */
export function findSourceFiles(paths: readonly string[], report: ReportSkipped): SourceFile[] {
  const walk = new SourceWalk(report);
  for (const path of paths) walk.follow(path);
  walk.followLinks();
  return [...walk.files.values()];
}

class SourceWalk {
  /** By path. */
  readonly files = new Map<string, SourceFile>();
  readonly #report: ReportSkipped;
  /** Folders and files that were seen, by device and number. */
  readonly #seen = new Set<string>();
  #links: string[] = [];

  constructor(report: ReportSkipped) {
    this.#report = report;
  }

  /** Takes what a path leads to, unless it was seen. */
  follow(path: string): void {
    this.#try(path, () => {
      const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
      if (stats === undefined || this.#seen.has(identityOf(stats))) return;
      if (stats.isDirectory()) this.#takeFolders(path);
      else this.#takeFile(path, stats);
    });
  }

  /** Takes what links lead to; one that leads to a folder around it is reported. */
  followLinks(): void {
    for (let path = this.#links.shift(); path !== undefined; path = this.#links.shift()) {
      const link = path;
      this.#try(link, () => {
        if (leadsUpwards(link)) throw new NotAPlainFileError("it is a link to a folder that it lies in");
        if (hasEnding(link) || isFolder(link)) this.follow(link);
      });
    }
  }

  #takeFolders(path: string): void {
    const folders = [path];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      folders.push(...this.#takeFolder(folder).reverse());
    }
  }

  /** Takes the files of a folder; returns the folders in it. */
  #takeFolder(folder: string): string[] {
    const inside: string[] = [];
    this.#try(folder, () => {
      const identity = identityOf(statSync(folder, { bigint: true }));
      if (this.#seen.has(identity)) return;
      this.#seen.add(identity);
      const entries = readdirSync(folder, { withFileTypes: true });
      for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
        const path = join(folder, entry.name);
        if (entry.isSymbolicLink()) this.#links.push(path);
        else if (entry.isDirectory()) inside.push(path);
        else if (hasEnding(path))
          this.#try(path, () => this.#takeFile(path, statSync(path, { bigint: true })));
      }
    });
    return inside;
  }

  #takeFile(path: string, stats: BigIntStats): void {
    if (!stats.isFile()) throw new NotAPlainFileError("it is not a file");
    this.#seen.add(identityOf(stats));
    this.files.set(path, { path, size: Number(stats.size), mtimeMs: Number(stats.mtimeNs) / 1e6 });
  }

  /** Calls, and reports what fails, except that something is gone. */
  #try(path: string, call: () => void): void {
    try {
      ifPresent(call);
    } catch (error) {
      this.#report(path, error);
    }
  }
}

function hasEnding(path: string): boolean {
  return ENDINGS.some((ending) => path.endsWith(ending));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Tells whether a link leads to a folder that it lies in. */
function leadsUpwards(link: string): boolean {
  const target = realpathSync(link);
  const folder = realpathSync(dirname(link));
  return folder === target || folder.startsWith(target.endsWith(sep) ? target : `${target}${sep}`);
}

/** Returns a text that changes whenever a file is written to. */
export function stampOf({ path, size, mtimeMs }: SourceFile): string {
  return `${path}:${size}:${mtimeMs}`;
}

/**
 * Reads a file whole, and decompresses it if necessary.
 *
 * @throws {SessionError} `NOT_A_SESSION` if it is too large, or this version of Node cannot decompress it.
 */
export function readSource(path: string): Uint8Array {
  const bytes = withSource(path, ({ fd, size }) => {
    if (size > MAX_SOURCE_BYTES) throw tooLarge(path);
    return readRange(realFileSystem, fd, 0, size);
  });
  return path.endsWith(".zst") ? unpack(path, bytes) : bytes;
}

/** Reads a file whole as text; see `readSource`. */
export function readSourceAsText(path: string): string {
  const bytes = readSource(path);
  if (bytes.length > MAX_TEXT_BYTES) throw tooLarge(path);
  return decodeText(bytes);
}

/**
 * Reads a file in pieces, each valid until the next is requested; a compressed file is one piece.
 *
 * @param overlap - Bytes of each piece that are repeated at the start of the next one.
 * @throws {SessionError} `NOT_A_SESSION` if it is too large, or this version of Node cannot decompress it.
 */
export function* readSourcePieces(path: string, overlap = 0): Generator<Uint8Array, void> {
  if (path.endsWith(".zst")) {
    yield readSource(path);
    return;
  }
  const file = openToScan(path);
  try {
    if (file.size > MAX_SOURCE_BYTES) throw tooLarge(path);
    yield* piecesOf(file, 0, overlap);
  } finally {
    closeFile(file);
  }
}

/** Reads the front of a file that is not compressed. */
export function readFront(path: string, length: number): Uint8Array {
  return withSource(path, ({ fd }) => readRange(realFileSystem, fd, 0, length));
}

function withSource<T>(path: string, read: (file: ScannedFile) => T): T {
  const file = openToScan(path);
  try {
    return read(file);
  } finally {
    closeFile(file);
  }
}

/** Returns the error for a file that cannot be read into memory. */
export function tooLarge(path: string): SessionError {
  const message = `${path} is too large to import: one text may have 512 MB, and a file of records 2 GB. Split it.`;
  return new SessionError("NOT_A_SESSION", message, { details: { path } });
}

function unpack(path: string, bytes: Uint8Array): Uint8Array {
  // Not a named import, because older versions of Node lack it.
  const zlib: unknown = createRequire(import.meta.url)("node:zlib");
  const { zstdDecompressSync } = Object(zlib);
  if (typeof zstdDecompressSync === "function") {
    return zstdDecompressSync(bytes, { maxOutputLength: MAX_SOURCE_BYTES });
  }
  throw new SessionError(
    "NOT_A_SESSION",
    `${path} is compressed with zstd, which this version of Node cannot read. Use Node 22.15 or later, or decompress it.`,
    { details: { path } },
  );
}
