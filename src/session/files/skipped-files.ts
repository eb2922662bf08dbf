import { isSessionError } from "../../core/format/errors.ts";
import { hasErrorCode, NotAPlainFileError } from "../fs/file-system.ts";
import { FileChangedError } from "../log/file-errors.ts";

/** A file or folder that was left out. */
export interface SkippedFile {
  readonly path: string;
  /**
   * `not-a-file`: a folder, pipe, socket or device; it was not opened. `unreadable`: the system refused it, or it was cut
   * while it was read.
   * `not-a-session`: it has no session header. `too-slow`: the expression of a search took too long on it.
   */
  readonly reason: "not-a-file" | "unreadable" | "not-a-session" | "too-slow";
  /** What went wrong, for `unreadable`. */
  readonly error?: unknown;
}

/** Called with each file or folder that is left out. */
export type SkipReport = (skipped: SkippedFile) => void;

/** Ignores what is left out. */
export const ignoreSkipped: SkipReport = () => undefined;

/** Tells whether a caught value is an error of the system or of Node, rather than ours or a programming error. */
export function isSystemError(error: unknown): error is Error {
  return (
    error instanceof Error && "code" in error && typeof error.code === "string" && !isSessionError(error)
  );
}

/** Returns what a call returns, or undefined if the system refuses it. */
export function callUnlessRefused<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

/**
 * Reports an error about one file of many, so that the others go on.
 *
 * A missing file is not reported.
 *
 * @throws The error itself if it is not about the file.
 */
export function reportSkipped(path: string, error: unknown, report: SkipReport): void {
  if (error instanceof NotAPlainFileError) report({ path, reason: "not-a-file" });
  else if (error instanceof FileChangedError) report({ path, reason: "unreadable", error });
  else if (!isSystemError(error)) throw error;
  else if (!hasErrorCode(error, "ENOENT", "ENOTDIR")) report({ path, reason: "unreadable", error });
}
