import type { SessionManager } from "../manager/session-manager.ts";
import type { SessionEntry } from "../schema/entry.ts";
import { entryNotFound } from "../schema/errors.ts";

/**
 * Returns an entry that must exist.
 *
 * @throws {SessionError} `ENTRY_NOT_FOUND`
 */
export function requireEntry(session: SessionManager, id: string): SessionEntry {
  const entry = session.getEntry(id);
  if (entry !== undefined) return entry;
  throw entryNotFound(id);
}
