import type { SessionManager } from "../manager/session-manager.ts";
import type { SessionEntry } from "../schema/entry.ts";
import { SessionError } from "../schema/errors.ts";

/**
 * Returns an entry that must exist.
 *
 * @throws {SessionError} `ENTRY_NOT_FOUND`
 */
export function requireEntry(session: SessionManager, id: string): SessionEntry {
  const entry = session.getEntry(id);
  if (entry !== undefined) return entry;
  throw new SessionError(
    "ENTRY_NOT_FOUND",
    `Entry ${id} not found in this session; check the id with getEntries().`,
    { details: { entryId: id } },
  );
}
