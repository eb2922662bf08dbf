import { detectForeignSource, type ForeignSource } from "../../core/jsonl/foreign-source.ts";
import { notASession } from "../../core/jsonl/not-a-session.ts";
import {
  closeQuietly,
  type FileSystem,
  openForReading,
  readPieces,
  realFileSystem,
} from "../fs/file-system.ts";
import { toFileError } from "./file-errors.ts";

/** Bytes among which to look for the first records of another program; an error must not take long. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Returns the program whose file is open, which lacks a session header; undefined if its records do not tell. */
export function detectFileSource(fs: FileSystem, fd: number, max = MAX_BYTES): ForeignSource | undefined {
  const end = Math.min(fs.fstatSync(fd).size, max);
  return detectForeignSource(() => readPieces(fs, fd, 0, end));
}

/** Makes the error for a file without a session header: it names the program whose file it is. */
export function notASessionAt(path: string, fs: FileSystem = realFileSystem): Error {
  try {
    const fd = openForReading(fs, path);
    try {
      return notASession(path, { path }, detectFileSource(fs, fd));
    } finally {
      closeQuietly(fs, fd);
    }
  } catch (error) {
    return toFileError(path, "read", error);
  }
}
