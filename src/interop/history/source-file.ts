import { createRequire } from "node:module";
import { toRecord } from "../../core/context/entry-fields.ts";
import { SessionError } from "../../core/format/errors.ts";
import { getOrAdd } from "../../core/format/group-by.ts";
import { hashText } from "../../core/format/ids.ts";
import type { SessionIssue } from "../../core/format/issue.ts";
import type { JsonRecord } from "../../core/format/json.ts";
import { decodeText, parseJson } from "../../core/jsonl/decode.ts";
import { closeFile, openToScan, readFilePieces, withScannedFile } from "../../session/files/file-mark.ts";
import { callIfPresent, readRange, realFileSystem } from "../../session/fs/file-system.ts";
import { toFileError } from "../../session/log/file-errors.ts";
import { makeLeftOutIssue, readSourceText, type SourceText } from "../import/source-text.ts";

/** Another program's file, and its state when it was found. */
export interface SourceFile {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  /** This value also changes if a program rewrites the file and then restores its modification time. */
  readonly ctimeMs: number;
  /** Files that change together with this file. */
  readonly beside?: readonly SourceFile[];
  /** For a database, the path of the copy that this run reads instead. */
  readonly copy?: string;
}

/** Reports a skipped file or folder and the error. */
export type ReportSkipped = (path: string, error: unknown) => void;

/** Maximum size of a file to read, in bytes. Its records must fit in memory. */
const MAX_SOURCE_BYTES = 2 * 1024 ** 3;

/** Maximum size of a file to read as a single string, in bytes. JavaScript engines do not support longer strings. */
export const MAX_TEXT_BYTES = 2 ** 29 - 24;

/** Returns whether a path has a typical database extension. */
export function isDatabaseName(path: string): boolean {
  return /\.(?:db|sqlite3?|vscdb)$/.test(path);
}

/** Returns a string that changes whenever a file, or a file that accompanies it, is written to. */
export function makeStamp({ path, size, mtimeMs, ctimeMs, beside = [] }: SourceFile): string {
  return [`${path}:${size}:${mtimeMs}:${ctimeMs}`, ...beside.map(makeStamp)].join("|");
}

/** Returns a string that changes with a session's title but does not contain it, because caches keep it after a redaction. */
export function makeTitleStamp(title = ""): string {
  return title === "" ? "" : hashText(title);
}

/** Reads a whole file and decompresses it if necessary. */
export function readSource(path: string): Uint8Array {
  const bytes = readAtMost(path, MAX_SOURCE_BYTES);
  return path.endsWith(".zst") ? unpackBytes(path, bytes) : bytes;
}

function readAtMost(path: string, maxBytes: number): Uint8Array {
  return withScannedFile(path, ({ fd, size }) => {
    if (size > maxBytes) throw makeTooLargeError(path);
    return readRange(realFileSystem, fd, 0, size);
  });
}

/** Reads a whole file as a string. See `readSource`. */
export function readSourceAsText(path: string): string {
  const bytes = readSource(path);
  if (bytes.length > MAX_TEXT_BYTES) throw makeTooLargeError(path);
  return decodeText(bytes);
}

/** Reads a file in chunks that overlap by `overlap` bytes. Each is valid until the next. A compressed file is one chunk. */
export function* readSourcePieces(path: string, overlap = 0): Generator<Uint8Array, void> {
  if (path.endsWith(".zst")) {
    yield readSource(path);
    return;
  }
  const file = openToScan(path);
  try {
    if (file.size > MAX_SOURCE_BYTES) throw makeTooLargeError(path);
    yield* readFilePieces(file, 0, overlap);
  } finally {
    closeFile(file);
  }
}

/** Parses the records in a file. */
export function parseSourceFile({ path }: Pick<SourceFile, "path">): SourceText & { readonly path: string } {
  return { path, ...readSourceText(readSourcePieces(path)) };
}

/** Reads part of an uncompressed file. */
export function readSourceRange(path: string, offset: number, length: number): Uint8Array {
  return withScannedFile(path, ({ fd }) => readRange(realFileSystem, fd, offset, length));
}

/** Reads the beginning of an uncompressed file. */
export function readFront(path: string, length: number): Uint8Array {
  return readSourceRange(path, 0, length);
}

/** Returns the error for a file that is too large to read into memory. */
export function makeTooLargeError(path: string): SessionError {
  const message = `${path} is too large to import: the limit is 512 MB for a single document, 2 GB for a file of records, and 64 MB for a list next to sessions. Split it.`;
  return new SessionError("NOT_A_SESSION", message, { details: { path } });
}

function unpackBytes(path: string, bytes: Uint8Array): Uint8Array {
  // Loaded dynamically instead of by a named import, because older versions of Node lack it.
  const zlib: unknown = createRequire(import.meta.url)("node:zlib");
  const { zstdDecompressSync } = Object(zlib);
  if (typeof zstdDecompressSync === "function") {
    return zstdDecompressSync(bytes, { maxOutputLength: MAX_SOURCE_BYTES });
  }
  const message = `${path} is compressed with zstd, which this version of Node cannot read. Use Node 22.15 or later, or decompress it.`;
  throw new SessionError("NOT_A_SESSION", message, { details: { path } });
}

/** Returns a function that adds unreadable files to the issues of a session. */
export function reportInto(issues: SessionIssue[]): ReportSkipped {
  return (path, error) => {
    issues.push(makeLeftOutIssue(toFileError(path, "read", error).message));
  };
}

/** Reads files that programs store next to their sessions. Each file is read only once. */
export class SideFiles {
  /** Issues about unreadable files, unless a report function was given. */
  readonly issues: SessionIssue[] = [];
  readonly #report: ReportSkipped;
  readonly #texts = new Map<string, string>();

  constructor(report?: ReportSkipped) {
    this.#report = report ?? reportInto(this.issues);
  }

  /** Returns the text of a file; empty if the file is missing, unreadable, or larger than 64 MB. */
  getText(path: string): string {
    return getOrAdd(this.#texts, path, () => this.#read(path));
  }

  /** Returns the value in a JSON file; undefined if the file is missing or does not contain valid JSON. */
  getValue(path: string): unknown {
    return parseJson(this.getText(path))?.value;
  }

  /** Returns the fields of the object in a JSON file; empty if the file does not contain an object. */
  getJson(path: string): JsonRecord {
    return toRecord(this.getValue(path));
  }

  #read(path: string): string {
    try {
      return callIfPresent(() => decodeText(readAtMost(path, MAX_OWN_BYTES))) ?? "";
    } catch (error) {
      this.#report(path, error);
      return "";
    }
  }
}

/** Maximum size of a file to read in this process, in bytes. Its content takes up about ten times as much space in memory. */
export const MAX_OWN_BYTES = 64 * 1024 ** 2;

/** Base time for reading any file, and the expected speed for larger files. */
const BASE_MS = 30_000;
const BYTES_PER_MS = 10_000;

/** Returns the maximum time for reading files with the given total size, in milliseconds. */
export function getAllowedMs(bytes: number): number {
  return BASE_MS + bytes / BYTES_PER_MS;
}

/**
 * Returns whether a file is small enough to read in this process. Compressed files never are, because their content can be any
 * size.
 */
export function isSmall({ path, size }: { readonly path: string; readonly size: number }): boolean {
  return size <= MAX_OWN_BYTES && !path.endsWith(".zst");
}
