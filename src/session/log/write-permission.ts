import { SessionError } from "../../core/format/errors.ts";
import { makeForeignFileError, makeTooNewError } from "./file-errors.ts";
import type { LogLine, SessionLog } from "./session-log.ts";

/**
 * Throws if a session is read-only. All writes of an open session use this check. Repairs and merges, which replace files that
 * are not open, perform the same checks on the content of the file.
 */
export function assertWritable(log: Pick<SessionLog, "readOnlyReason" | "path" | "index">): void {
  const { readOnlyReason: reason, path } = log;
  if (reason === undefined) return;
  if (typeof reason !== "string") throw reason;
  switch (reason) {
    case "closed":
      throw new SessionError("SESSION_CLOSED", "The session is closed; open it again to append.", {
        details: { path },
      });
    case "mode":
      throw new SessionError(
        "READ_ONLY",
        "The session was opened read-only; open it without that mode to append.",
        { details: { path } },
      );
    case "foreign":
      throw makeForeignFileError(path);
    case "version":
      throw makeTooNewError(path, log.index.version);
  }
}

/** Throws if a line exceeds the limit, because readers would lose it. */
export function assertReadable({ text, head }: LogLine, maxLineBytes: number): void {
  if (Buffer.byteLength(text) <= maxLineBytes) return;
  const message = `The entry is longer than ${maxLineBytes} bytes; shorten it, or raise maxLineBytes.`;
  throw new SessionError("ENTRY_INVALID", message, { details: { entryId: head.id, maxLineBytes } });
}
