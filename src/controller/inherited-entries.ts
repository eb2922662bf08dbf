import { isSessionError } from "../errors.ts";
import type { SessionManager } from "../manager/session-manager.ts";
import type { SessionEntry } from "../schema/entry.ts";
import { FileLog } from "../store/file-log.ts";
import { absolutePath } from "../store/session-paths.ts";
import { type EntryTree, NONE } from "../tree/entry-tree.ts";

/** Tells whether an entry of a fork was copied from its parent. */
export type IsInherited = (entry: SessionEntry) => boolean;

/**
 * Tells the entries that a fork has from its parent from its own.
 *
 * A copy keeps id and time, so an entry is inherited if the parent session has one of the same id and time. Where the
 * parent's file cannot be read any more, the entries older than the fork's header are.
 *
 * @remarks Cost: O(parent file) in heads, if the session names a parent.
 */
export function inheritedIn(session: SessionManager): IsInherited {
  const header = session.getHeader();
  if (!header?.parentSession) return () => false;
  const parent = parentTree(header.parentSession);
  const createdMs = Date.parse(header.timestamp);
  return ({ id, timestamp }) => {
    const timeMs = Date.parse(timestamp);
    if (parent === undefined) return timeMs < createdMs;
    const ordinal = parent.find(id);
    return ordinal !== NONE && Object.is(parent.timeAt(ordinal), timeMs);
  };
}

function parentTree(path: string): EntryTree | undefined {
  try {
    return FileLog.open(absolutePath(path), { mode: "read-only" })?.index.tree;
  } catch (error) {
    if (isSessionError(error, "NOT_A_SESSION")) return undefined;
    throw error;
  }
}
