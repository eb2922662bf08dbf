import { type EntryTree, NONE } from "../../tree/entry-tree.ts";
import { parentsFirst } from "./ancestry.ts";

/**
 * Which child of each entry goes straight on in the drawing, and what is to the side.
 *
 * On the path to the leaf it is the next entry of the path, so that the path is the straight line at the left edge.
 * Elsewhere it is the child under which the newest entry hangs.
 */
export interface Trunk {
  /** The child that goes straight on, by ordinal; NONE where there is no child. */
  readonly next: Int32Array;
  /** The root that goes straight on. */
  readonly root: number;
  /** All entries, parents before children. */
  readonly order: Int32Array;
}

/**
 * Finds the straight line through every entry.
 *
 * @param leaf - Ordinal of the leaf, or NONE.
 * @remarks Cost: O(entries); no recursion.
 */
export function findTrunk(tree: EntryTree, leaf: number): Trunk {
  const order = parentsFirst(tree);
  const next = new Int32Array(tree.size).fill(NONE);
  const newest = Int32Array.from(order.keys());
  let root = NONE;
  for (let i = order.length - 1; i >= 0; i--) {
    const ordinal = order[i] ?? NONE;
    const parent = tree.parentAt(ordinal);
    const best = parent === NONE ? root : (next[parent] ?? NONE);
    if (best === NONE || (newest[ordinal] ?? 0) > (newest[best] ?? 0)) {
      if (parent === NONE) root = ordinal;
      else next[parent] = ordinal;
    }
    if (parent !== NONE) newest[parent] = Math.max(newest[parent] ?? 0, newest[ordinal] ?? 0);
  }
  for (let at = leaf; at !== NONE; at = tree.parentAt(at)) {
    const parent = tree.parentAt(at);
    if (parent === NONE) root = at;
    else next[parent] = at;
  }
  return { next, root, order };
}
