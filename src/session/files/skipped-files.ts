import { isSessionError } from "../../core/format/errors.ts";
import { hasErrorCode, NotAPlainFileError } from "../fs/file-system.ts";
import { FileChangedError } from "../log/file-errors.ts";

/** File or folder that was skipped. */
export interface SkippedFile {
  readonly path: string;
  /**
   * Reason for skipping.
   *
   * `not-a-file`: a folder, pipe, socket, or device; it was not opened. `unreadable`: the system refused access, or the file was
   * truncated while it was being read. `not-a-session`: the file has no session header. `too-slow`: the search expression took
   * too long on it.
   */
  readonly reason: "not-a-file" | "unreadable" | "not-a-session" | "too-slow";
  /** The error, if the reason is `unreadable`. */
  readonly error?: unknown;
}

/** Called for each skipped file or folder. */
export type SkipReport = (skipped: SkippedFile) => void;

/** Ignores skipped files and folders. */
export const ignoreSkipped: SkipReport = () => undefined;

/** Returns whether a caught value is a system or Node.js error, rather than an error from this library or a programming error. */
export function isSystemError(error: unknown): error is Error {
  return (
    error instanceof Error && "code" in error && typeof error.code === "string" && !isSessionError(error)
  );
}

/** Returns the result of a call, or undefined if it fails with a system error. */
export function callUnlessRefused<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

/**
 * Reports an error about one of many files, so that the remaining files can be processed.
 *
 * A missing file is not reported.
 *
 * @throws The given error if it is not about the file.
 */
export function reportSkipped(path: string, error: unknown, report: SkipReport): void {
  if (error instanceof NotAPlainFileError) report({ path, reason: "not-a-file" });
  else if (error instanceof FileChangedError) report({ path, reason: "unreadable", error });
  else if (!isSystemError(error)) throw error;
  else if (!hasErrorCode(error, "ENOENT", "ENOTDIR")) report({ path, reason: "unreadable", error });
}
