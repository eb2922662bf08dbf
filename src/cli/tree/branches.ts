import { type EntryTree, NONE } from "../../tree/entry-tree.ts";
import { subtreeSizes } from "../../view/ancestry.ts";
import { sidesOf, type Trunk } from "../../view/trunk.ts";

/** Of more branches than this at one place, only the first and the last are drawn. */
const MOST_AT_ONE_PLACE = 10;
const FIRST = 2;
const LAST = 6;

/** So many branches to the side are drawn in all; of more, the largest. */
const MOST_IN_ALL = 100;

/**
 * Chooses the branches to the side that are not drawn, where there are more than can be read.
 *
 * @param holdsMark - 1 for entries under which there is something marked; their branches are drawn.
 * @returns 1 for the first entry of each branch that is not drawn.
 * @remarks Cost: O(entries), and O(n log n) for the branches.
 */
export function hideBranches(tree: EntryTree, trunk: Trunk, holdsMark: Uint8Array): Uint8Array {
  const isHidden = new Uint8Array(tree.size);
  const candidates: number[] = [];
  for (let ordinal = NONE; ordinal < tree.size; ordinal++) {
    const sides = sidesOf(tree, trunk, ordinal);
    const isCrowded = sides.length > MOST_AT_ONE_PLACE;
    sides.forEach((head, i) => {
      if (holdsMark[head] === 1) return;
      if (isCrowded && i >= FIRST && i < sides.length - LAST) isHidden[head] = 1;
      else candidates.push(head);
    });
  }
  if (candidates.length <= MOST_IN_ALL) return isHidden;
  const sizes = subtreeSizes(tree, trunk.order);
  // A branch within another one is smaller than that, so no branch is drawn whose surroundings are not.
  candidates.sort((a, b) => (sizes[b] ?? 0) - (sizes[a] ?? 0) || b - a);
  for (const head of candidates.slice(MOST_IN_ALL)) isHidden[head] = 1;
  return isHidden;
}
