import { NotAPlainFileError } from "../log/file-errors.ts";
import { hasErrorCode } from "../log/system-error.ts";
import { isSessionError } from "../schema/errors.ts";

/** A file or folder that was left out. */
export interface SkippedFile {
  readonly path: string;
  /**
   * `not-a-file`: a folder, pipe, socket or device; it was not opened. `unreadable`: the system refused it.
   * `not-a-session`: it has no session header. `too-slow`: the expression of a search took too long on it.
   */
  readonly reason: "not-a-file" | "unreadable" | "not-a-session" | "too-slow";
  /** The system's error, for `unreadable`. */
  readonly error?: unknown;
}

/** Takes note of what is left out. */
export type SkipReport = (skipped: SkippedFile) => void;

/** Takes no note. */
export const ignoreSkipped: SkipReport = () => undefined;

/** Tells whether a caught value is an error of the system or of Node, and neither ours nor a mistake in a program. */
export function isSystemError(error: unknown): error is Error {
  return (
    error instanceof Error && "code" in error && typeof error.code === "string" && !isSessionError(error)
  );
}

/**
 * Takes what went wrong with one file of many: it is reported, and the others go on.
 *
 * A file that is gone is nothing to report.
 *
 * @throws The error itself if it is not about the file.
 */
export function reportSkipped(path: string, error: unknown, report: SkipReport): void {
  if (error instanceof NotAPlainFileError) report({ path, reason: "not-a-file" });
  else if (!isSystemError(error)) throw error;
  else if (!hasErrorCode(error, "ENOENT", "ENOTDIR")) report({ path, reason: "unreadable", error });
}
