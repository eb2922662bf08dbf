import { isJsonRecord } from "../../core/format/json.ts";
import type { SessionManager } from "../../session/manager/session-manager.ts";

/**
 * Follows other processes that clear the history of a session: the leaf moves to their mark, a root of its own, so that nothing is
 * appended to what was cleared.
 *
 * @param customType - Type of the marks.
 * @returns A function that reads what others wrote; call it before the history is read or changed.
 */
export function followClears(session: SessionManager, customType: string): () => Promise<void> {
  session.on("foreign_entries", ({ entries }) => {
    const mark = entries.findLast(
      (entry) => entry.parentId === null && isJsonRecord(entry) && entry["customType"] === customType,
    );
    if (mark !== undefined) session.branch(mark.id);
  });
  return async () => {
    await session.refreshAsync();
  };
}
