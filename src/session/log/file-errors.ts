import { SessionError } from "../../core/format/errors.ts";
import type { SessionIssue } from "../../core/format/issue.ts";
import { hasErrorCode, NotAPlainFileError } from "../fs/file-system.ts";

/** What a file is used for: reading, waiting until it is on disk, or appending. */
export type Intent = "read" | "flush" | "write";

/** System errors for paths at which no session can be. */
const PATH_ERRORS = ["EISDIR", "ELOOP", "ENAMETOOLONG", "EINVAL", "ENXIO", "ERR_INVALID_ARG_VALUE"];

/** Thrown when another file has taken the path meanwhile, or the file was cut. */
export class FileChangedError extends Error {}

/** How often to retry because another file has taken the path meanwhile. */
const MAX_ATTEMPTS = 20;

/** Retries a call if another file has taken the path meanwhile, or the file has gone: a call that looks again says so. */
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

/** The error for a file that has lost entries. */
export class ReplacedError extends SessionError {
  constructor(path: string) {
    super(
      "WRITE_FAILED",
      `The file at ${path} was replaced by one without entries that this session has. Open it again.`,
      { details: { path } },
    );
  }
}

/** Turns the system's error about a session file into ours; returns our own and programming errors unchanged. */
export function toFileError(path: string, intent: Intent, cause: unknown): Error {
  if (cause instanceof SessionError || cause instanceof TypeError || cause instanceof RangeError)
    return cause;
  const details = { path };
  if (hasErrorCode(cause, "EEXIST")) {
    return new SessionError("SESSION_EXISTS", `${path} exists already. Choose another path, or open it.`, {
      details,
      cause,
    });
  }
  if (intent === "read" && hasErrorCode(cause, "ENOENT", "ENOTDIR")) return makeGoneError(path, cause);
  const reason = cause instanceof Error ? cause.message : String(cause);
  if (intent === "read") {
    const isPath = cause instanceof NotAPlainFileError || hasErrorCode(cause, ...PATH_ERRORS);
    return new SessionError(
      isPath ? "NOT_A_SESSION" : "READ_FAILED",
      `Cannot read ${path}: ${reason}. ${isPath ? "Check the path." : "Try again after fixing the cause."}`,
      { details, cause },
    );
  }
  return new SessionError(
    "WRITE_FAILED",
    `Cannot write to ${path}: ${reason}. The session is intact; try again after fixing the cause.`,
    { details, cause },
  );
}

/** The error for a file whose name is gone and which is not open. */
export function makeGoneError(path: string, cause?: unknown): SessionError {
  return new SessionError(
    "SESSION_NOT_FOUND",
    `${path} no longer exists, and is neither read nor written. Put it back, or start a new session.`,
    { details: { path }, cause },
  );
}

/** The error for writing to a session of a newer version. */
export function makeTooNewError(path: string | undefined, version: number): SessionError {
  return new SessionError(
    "VERSION_TOO_NEW",
    `The session is of version ${version}, newer than this library knows; update sessiontree to write to it.`,
    { details: { path, version } },
  );
}

/** The error for writing to a file that another program wrote in a format of its own. */
export function makeForeignFileError(path: string | undefined): SessionError {
  return new SessionError(
    "READ_ONLY",
    `${path} is another program's: no record in it is of this format. Continue in a copy that forkFrom(path, cwd) makes.`,
    { details: { path } },
  );
}

/** Refuses to rewrite a file with a line that was too long to read: the line would be lost. */
export function assertAllRead(path: string, { issues }: { readonly issues: readonly SessionIssue[] }): void {
  const tooLong = issues.find(({ code }) => code === "LINE_TOO_LONG");
  if (tooLong === undefined) return;
  throw new SessionError(
    "WRITE_FAILED",
    `Line ${tooLong.line} of ${path} is longer than maxLineBytes, and rewriting would lose it. Raise maxLineBytes.`,
    { details: { path, line: tooLong.line } },
  );
}
