import { SessionError } from "../schema/errors.ts";
import type { EntryTree } from "../tree/entry-tree.ts";

/** Entries that neither go on with a conversation nor are in anybody's way. */
export const COMMUTING_TYPES: readonly string[] = ["label", "session_info", "usage"];

/** The error for an entry that was to be appended to a leaf which is another one by now. */
export function staleLeaf(expectedLeafId: string | null, leafId: string | null): SessionError {
  return new SessionError(
    "STALE_LEAF",
    `The leaf is ${leafId}, not ${expectedLeafId}; look at the session again and decide anew.`,
    { details: { expectedLeafId, leafId } },
  );
}

/**
 * Checks that nobody has gone on with a conversation behind an entry, wherever in the tree.
 *
 * @param order - Ordinals in the order of the file.
 * @param expectedLeafId - Null: there is no entry that goes on with one.
 * @throws {SessionError} `STALE_LEAF`
 */
export function assertLeafIn(tree: EntryTree, order: Int32Array, expectedLeafId: string | null): void {
  for (let i = order.length - 1; i >= 0; i--) {
    const ordinal = order[i] ?? 0;
    const id = tree.idAt(ordinal);
    if (id === expectedLeafId) return;
    if (!COMMUTING_TYPES.includes(tree.typeAt(ordinal))) throw staleLeaf(expectedLeafId, id);
  }
  if (expectedLeafId !== null) throw staleLeaf(expectedLeafId, null);
}
