import { getErrorMessage, SessionError } from "../../core/format/errors.ts";
import type { SessionIssue } from "../../core/format/issue.ts";
import { hasErrorCode, NotAPlainFileError } from "../fs/file-system.ts";

/** Purpose of accessing a file: reading, waiting until it is on disk, or appending. */
export type Intent = "read" | "flush" | "write";

/** System error codes for paths that cannot be session files. */
const PATH_ERRORS = ["EISDIR", "ELOOP", "ENAMETOOLONG", "EINVAL", "ENXIO", "ERR_INVALID_ARG_VALUE"];

/** Thrown if the file was replaced or truncated. */
export class FileChangedError extends Error {}

/** Maximum number of attempts if the file keeps being replaced. */
const MAX_ATTEMPTS = 20;

/** Retries a call if the file was replaced or removed. The retried call reports the removal. */
export function retryUntilUnchanged<T>(call: () => T): T {
  for (let attempt = 1; ; attempt++) {
    try {
      return call();
    } catch (error) {
      const cause = error instanceof SessionError ? error.cause : error;
      const isChanged = cause instanceof FileChangedError || hasErrorCode(cause, "ENOENT");
      if (!isChanged || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Error for a file that has lost entries. */
export class ReplacedError extends SessionError {
  constructor(path: string) {
    super(
      "WRITE_FAILED",
      `The file at ${path} was replaced by one that lacks entries of this session. Open it again.`,
      { details: { path } },
    );
  }
}

/**
 * Converts a system error for a session file to a `SessionError`. Returns session errors and programming errors unchanged.
 */
export function toFileError(path: string, intent: Intent, cause: unknown): Error {
  if (cause instanceof SessionError || cause instanceof TypeError || cause instanceof RangeError)
    return cause;
  const details = { path };
  if (hasErrorCode(cause, "EEXIST")) {
    return new SessionError("SESSION_EXISTS", `${path} already exists. Choose another path, or open it.`, {
      details,
      cause,
    });
  }
  if (intent === "read" && hasErrorCode(cause, "ENOENT", "ENOTDIR")) return makeGoneError(path, cause);
  const reason = getErrorMessage(cause);
  if (intent === "read") {
    const isPath = cause instanceof NotAPlainFileError || hasErrorCode(cause, ...PATH_ERRORS);
    return new SessionError(
      isPath ? "NOT_A_SESSION" : "READ_FAILED",
      `Cannot read ${path}: ${reason}. ${isPath ? "Check the path." : "Try again after fixing the cause."}`,
      { details, cause },
    );
  }
  const message = `Cannot write to ${path}: ${reason}. The session is intact; try again after fixing the cause.`;
  return new SessionError("WRITE_FAILED", message, { details, cause });
}

/** Creates the error for a file that was removed and is not open. */
export function makeGoneError(path: string, cause?: unknown): SessionError {
  const message = `${path} no longer exists, and cannot be read or written. Restore it, or start a new session.`;
  return new SessionError("SESSION_NOT_FOUND", message, { details: { path }, cause });
}

/** Creates the error for writing to a session with a newer version. */
export function makeTooNewError(path: string | undefined, version: number): SessionError {
  const message = `The session has version ${version}, which is newer than this library supports; update sessiontree to write to it.`;
  return new SessionError("VERSION_TOO_NEW", message, { details: { path, version } });
}

/** Creates the error for writing to a file that another program wrote in its own format. */
export function makeForeignFileError(path: string | undefined): SessionError {
  const message = `${path} belongs to another program: it contains no records in this format. Continue in a copy made with forkFrom(path, cwd).`;
  return new SessionError("READ_ONLY", message, { details: { path } });
}

/** Throws if a file contains a line that was too long to read, because rewriting the file would lose the line. */
export function assertAllRead(path: string, { issues }: { readonly issues: readonly SessionIssue[] }): void {
  const tooLong = issues.find(({ code }) => code === "LINE_TOO_LONG");
  if (tooLong === undefined) return;
  const message = `Line ${tooLong.line} of ${path} is longer than maxLineBytes, and rewriting would lose it. Raise maxLineBytes.`;
  throw new SessionError("WRITE_FAILED", message, { details: { path, line: tooLong.line } });
}
