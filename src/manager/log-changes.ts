import type { LogChange } from "../log/session-log.ts";
import { type EntryTree, NONE } from "../tree/entry-tree.ts";

/** Returns the ordinals of the entries that a change added. */
export function findAdded(change: LogChange, tree: EntryTree): number[] {
  const start = change.kind === "foreign" ? change.from : 0;
  const ordinals = Array.from({ length: tree.size - start }, (_, i) => start + i);
  if (change.kind === "foreign") return ordinals;
  const { before } = change;
  return ordinals.filter((ordinal) => before.tree.find(tree.idAt(ordinal)) === NONE);
}

/** Returns the ordinal of an entry in a tree that was read anew; if its line is gone, that of its nearest ancestor. */
export function findPlace(tree: EntryTree, before: EntryTree, leaf: number): number {
  for (let at = leaf; at !== NONE; at = before.parentAt(at)) {
    const now = tree.find(before.idAt(at));
    if (now !== NONE) return now;
  }
  return NONE;
}
