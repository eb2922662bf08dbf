import { isContextEdit } from "../../context/project-entry.ts";
import type { SessionManager } from "../../manager/session-manager.ts";
import type { ContextEditEntry, SessionEntry } from "../../schema/entry.ts";
import type { JsonObject } from "../../schema/json.ts";
import { type AppliedOperation, recordOf } from "./item-record.ts";
import { itemsOfMessages } from "./message-items.ts";

/** An entry of the context and its items. */
export interface HistoryPart {
  readonly entry: SessionEntry;
  readonly items: readonly JsonObject[];
}

/**
 * Reads the items of the active branch; makes items from messages that were not stored as items.
 *
 * Omits what a compaction or a context edit removes from the context.
 *
 * @returns Parts in the order of the context, without entries that have no items.
 * @remarks Cost: O(context).
 */
export function readHistory(session: SessionManager): HistoryPart[] {
  const { entries } = session.buildSessionProjection();
  const edits = new Map<string, ContextEditEntry>();
  for (const { sourceEntry } of entries) {
    if (isContextEdit(sourceEntry)) edits.set(sourceEntry.targetId, sourceEntry);
  }
  return entries.flatMap(({ sourceEntry: entry, messages }): HistoryPart[] => {
    // A compaction without messages is not the one that the context begins with.
    if (isContextEdit(entry) || (entry.type === "compaction" && messages.length === 0)) return [];
    // After another writer's edit, the stored items no longer match the message.
    const record = recordOf(edits.get(entry.id) ?? entry);
    const items = record === undefined ? itemsOfMessages(messages) : record.items;
    return items.length === 0 ? [] : [{ entry, items }];
  });
}

/**
 * Reads the operations that were applied on the active branch.
 *
 * @returns The digest of each, by id.
 * @remarks Cost: O(branch).
 */
export function readOperations(session: SessionManager): Map<string, string> {
  return new Map(operationsOf(session.getBranch()).map(({ id, digest }) => [id, digest]));
}

/** Collects the operations that entries record. */
export function operationsOf(entries: readonly SessionEntry[]): AppliedOperation[] {
  return entries.flatMap((entry) => recordOf(entry)?.operations ?? []);
}
