import { statSync } from "node:fs";
import { SessionError } from "../../../core/format/errors.ts";
import type { SessionRow } from "../../../session/files/session-row.ts";
import type { SessionSource } from "../session-source.ts";

/**
 * Maximum size of a file that is opened while an agent waits, in bytes: opening is one step that no deadline
 * interrupts.
 */
const MAX_FILE_BYTES = 100 * 1024 * 1024;

/** Returns whether a session takes too long to open while an agent waits. */
export function isTooLarge({ path }: Pick<SessionRow, "path">, maxBytes = MAX_FILE_BYTES): boolean {
  const stats = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && stats.size > maxBytes;
}

/** Returns the same source, but with sessions that take too long to open treated as unreadable. */
export function withoutLarge(source: SessionSource, maxBytes = MAX_FILE_BYTES): SessionSource {
  return {
    ...source,
    read: async (row, signal) => {
      if (!isTooLarge(row, maxBytes)) return source.read(row, signal);
      throw new SessionError(
        "READ_FAILED",
        `${row.path} is too large for a hook; read it with read_entries.`,
      );
    },
  };
}
