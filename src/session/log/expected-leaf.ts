import { SessionError } from "../../core/format/errors.ts";
import { toSafeString } from "../../core/format/json.ts";
import type { EntryTree } from "../../core/tree/entry-tree.ts";

/** Types of entries that do not continue a conversation and therefore never make an append stale. */
export const COMMUTING_TYPES: readonly string[] = ["label", "session_info", "usage"];

/** Creates the error for an append whose expected leaf is no longer the leaf. */
export function staleLeaf(expectedLeafId: string | null, leafId: string | null): SessionError {
  const message = `The leaf is ${toSafeString(leafId)}, not ${toSafeString(expectedLeafId)}; read the session again, and retry.`;
  return new SessionError("STALE_LEAF", message, { details: { expectedLeafId, leafId } });
}

/**
 * Throws if an entry anywhere in the tree has continued the conversation since the expected leaf. Null means that there must be
 * no conversation.
 */
export function assertLeaf(tree: EntryTree, order: Int32Array, expectedLeafId: string | null): void {
  for (let i = order.length - 1; i >= 0; i--) {
    const ordinal = order[i] ?? 0;
    const id = tree.idAt(ordinal);
    if (id === expectedLeafId) return;
    if (!COMMUTING_TYPES.includes(tree.typeAt(ordinal))) throw staleLeaf(expectedLeafId, id);
  }
  if (expectedLeafId !== null) throw staleLeaf(expectedLeafId, null);
}
