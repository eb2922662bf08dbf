import { statSync } from "node:fs";
import { SessionError } from "../../../core/format/errors.ts";
import type { SessionRow } from "../../../session/files/session-row.ts";
import type { SessionSource } from "../session-source.ts";

/** Bytes of a file up to which it is opened while an agent waits: that is one step, which no deadline interrupts. */
const MAX_FILE_BYTES = 100 * 1024 * 1024;

/** Returns whether a session takes too long to open while an agent waits. */
export function isTooLarge({ path }: Pick<SessionRow, "path">, maxBytes = MAX_FILE_BYTES): boolean {
  const stats = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && stats.size > maxBytes;
}

/** Returns the same sessions, of which those that take too long to open count as unreadable. */
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
