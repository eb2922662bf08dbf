import { foreignFile, tooNew } from "../log/file-errors.ts";
import type { ReadOnlyReason, SessionLog } from "../log/session-log.ts";
import { SessionError } from "../schema/errors.ts";

/** Makes the error that says why a session is read-only, and what to do. */
export function notWritable(reason: ReadOnlyReason, { path, index }: SessionLog): SessionError {
  if (typeof reason !== "string") return reason;
  if (reason === "closed") {
    return new SessionError("SESSION_CLOSED", "The session is closed; open it again to append.", {
      details: { path },
    });
  }
  if (reason === "mode") {
    const message = "The session was opened read-only; open it without that mode to append.";
    return new SessionError("READ_ONLY", message, { details: { path } });
  }
  return reason === "foreign" ? foreignFile(path) : tooNew(path, index.version);
}
