import { type EntryTree, NONE } from "../tree/entry-tree.ts";
import { newestTips, parentsFirst } from "./ancestry.ts";

/**
 * Which child of each entry goes straight on in the drawing, and what is to the side.
 *
 * On the path to the leaf it is the next entry of the path, so that the path is the straight line at the left edge.
 * Elsewhere it is the child under which the newest tip hangs.
 */
export interface Trunk {
  /** The child that goes straight on, by ordinal; NONE where there is no child. */
  readonly next: Int32Array;
  readonly root: number;
  /** All entries, parents before children. */
  readonly order: Int32Array;
  /** The tip that came last into the file, of those at and below each entry. */
  readonly newestTip: Int32Array;
}

/** Finds the straight line through every entry; NONE stands for the leaf of a session that has none. */
export function findTrunk(tree: EntryTree, leaf: number): Trunk {
  const order = parentsFirst(tree);
  const newestTip = newestTips(tree, order);
  const newest = (candidates: Iterable<number>) => {
    let best = NONE;
    for (const one of candidates)
      if (best === NONE || rank(newestTip, one) > rank(newestTip, best)) best = one;
    return best;
  };
  const next = Int32Array.from({ length: tree.size }, (_, ordinal) => newest(tree.children(ordinal)));
  let root = newest(tree.children(NONE));
  for (let at = leaf; at !== NONE; at = tree.parentAt(at)) {
    const parent = tree.parentAt(at);
    if (parent === NONE) root = at;
    else next[parent] = at;
  }
  return { next, root, order, newestTip };
}

function rank(newestTip: Int32Array, ordinal: number): number {
  return newestTip[ordinal] ?? NONE;
}

/** Returns the entries that hang on an entry to the side of what goes straight on; for NONE, the roots. */
export function sidesOf(
  tree: EntryTree,
  { next, root }: Pick<Trunk, "next" | "root">,
  ordinal: number,
): number[] {
  const straight = ordinal === NONE ? root : (next[ordinal] ?? NONE);
  const sides: number[] = [];
  for (const child of tree.children(ordinal)) if (child !== straight) sides.push(child);
  return sides;
}
