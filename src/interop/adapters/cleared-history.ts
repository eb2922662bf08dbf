import { assertSession } from "../../core/format/arguments.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import type { SessionManager } from "../../session/manager/session-manager.ts";

/**
 * Follows other processes that clear a session's history: moves the leaf to their marker, which is a new root, so that nothing
 * is appended to the cleared branch.
 *
 * @param customType - Type of the markers.
 * @returns A function that reads entries written by other processes. Call it before you read or change the history.
 */
export function followClears(session: SessionManager, customType: string): () => Promise<void> {
  assertSession(session);
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
