import { SessionError } from "../../core/format/errors.ts";
import { detectForeignSource, type ForeignSource } from "../../core/jsonl/foreign-source.ts";
import { notASession } from "../../core/jsonl/not-a-session.ts";
import { type FileSystem, readPieces, realFileSystem, withOpenFile } from "../fs/file-system.ts";
import { toFileError } from "./file-errors.ts";

/** Maximum number of bytes to search for records of another program, so that errors are reported quickly. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Returns the program that wrote an open file without a session header; undefined if its records do not identify one. */
export function detectFileSource(fs: FileSystem, fd: number, max = MAX_BYTES): ForeignSource | undefined {
  const end = Math.min(fs.fstatSync(fd).size, max);
  return detectForeignSource(() => readPieces(fs, fd, 0, end));
}

/** Creates the error for a file without a session header. The message names the program that wrote the file. */
export function notASessionAt(path: string, fs: FileSystem = realFileSystem): Error {
  try {
    return withOpenFile(fs, path, (fd) => {
      if (fs.fstatSync(fd).size === 0) return makeEmptyFileError(path);
      return notASession(path, { path }, detectFileSource(fs, fd));
    });
  } catch (error) {
    return toFileError(path, "read", error);
  }
}

/** Creates the error for an empty file, which an append makes a session. */
export function makeEmptyFileError(path: string): SessionError {
  const message = `${path} is empty. The first append makes it a session.`;
  return new SessionError("NOT_A_SESSION", message, { details: { path } });
}
