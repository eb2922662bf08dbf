import { isDeepStrictEqual } from "node:util";
import type { SessionEntry } from "../../core/format/entry.ts";
import { isSessionError } from "../../core/format/errors.ts";
import { type EntryTree, NONE } from "../../core/tree/entry-tree.ts";
import { FileLog } from "../log/file-log.ts";
import { namedSessionPath } from "../log/session-paths.ts";
import { SessionManager } from "../manager/session-manager.ts";

/** Tells whether an entry of a fork was copied from its parent. */
export type IsInherited = (entry: SessionEntry) => boolean;

/** Fields that hold ids: in files without ids, they differ in each copy of an entry. */
const ID_FIELDS = ["id", "parentId", "firstKeptEntryId"];

/**
 * Finds the entries that a fork has inherited from its parent.
 *
 * A copy keeps id and time, so an entry is inherited if the parent session has one with the same id and time. Files of
 * version 1 hold no ids, and derived ids differ: there, the common beginning of both is inherited. If the parent's file
 * cannot be read, or is on another machine, the entries older than the fork's header are.
 *
 * @remarks Cost: O(parent file) in heads, if the session names a parent; without ids, its bodies as well.
 */
export function inheritedIn(session: SessionManager): IsInherited {
  const header = session.getHeader();
  if (!header?.parentSession) return () => false;
  const path = namedSessionPath(header.parentSession, session.getSessionFile());
  const parent = path === undefined ? undefined : parentTree(path);
  const createdMs = Date.parse(header.timestamp);
  if (path === undefined || parent === undefined) return ({ timestamp }) => Date.parse(timestamp) < createdMs;
  const isById = ({ id, timestamp }: SessionEntry) => isSameTime(parent, parent.find(id), timestamp);
  const entries = session.getEntries();
  const [first] = entries;
  // Comparing is worthwhile only if both begin with an entry of the same time under different ids.
  if (first === undefined || isById(first) || !isSameTime(parent, 0, first.timestamp)) return isById;
  const shared = new Set(sharedStart(entries, entriesOf(path)).map(({ id }) => id));
  return (entry) => shared.has(entry.id) || isById(entry);
}

function isSameTime(tree: EntryTree, ordinal: number, timestamp: string): boolean {
  if (ordinal === NONE || ordinal >= tree.size) return false;
  return Object.is(tree.timeAt(ordinal), Date.parse(timestamp));
}

/** The entries at the beginning of a fork that equal those of its parent, apart from ids. */
function sharedStart(entries: readonly SessionEntry[], parents: readonly SessionEntry[]): SessionEntry[] {
  const end = entries.findIndex((entry, i) => !isDeepStrictEqual(withoutIds(entry), withoutIds(parents[i])));
  return end === -1 ? [...entries] : entries.slice(0, end);
}

function withoutIds(entry: SessionEntry | undefined): object {
  return Object.fromEntries(Object.entries(entry ?? {}).filter(([name]) => !ID_FIELDS.includes(name)));
}

function entriesOf(path: string): SessionEntry[] {
  return SessionManager.open(path, { mode: "read-only" }).getEntries();
}

function parentTree(path: string): EntryTree | undefined {
  try {
    return FileLog.open(path, { mode: "read-only" })?.index.tree;
  } catch (error) {
    if (isSessionError(error, "NOT_A_SESSION") || isSessionError(error, "READ_FAILED")) return undefined;
    throw error;
  }
}
