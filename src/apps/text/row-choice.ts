import { sidesOf, type Trunk } from "../../core/facts/trunk.ts";
import { type EntryTree, NONE } from "../../core/tree/entry-tree.ts";
import { type EntryKind, KINDS } from "./entry-kind.ts";

/** Of a session of so many entries, at most runs of state entries are folded. */
export const DRAWN_WHOLE = 40;

/** What of a session decides which rows are drawn. */
export interface TreeMarks {
  readonly tree: EntryTree;
  /** Ordinal of the leaf, or NONE. */
  readonly leaf: number;
  /** By ordinal. */
  readonly kinds: readonly EntryKind[];
  /** Ordinals of the entries that have a label. */
  readonly labelled: Iterable<number>;
}

/**
 * Chooses the entries that always have a row of their own: roots, branch points, both ends of branches, labels,
 * compactions, branch summaries, damage, the leaf and what was said last before it.
 *
 * @param isHidden - 1 for the first entry of each branch that is not drawn; default: all are.
 * @returns 1 for each; the caller may add more.
 */
export function chooseRows(
  { tree, leaf, kinds, labelled }: TreeMarks,
  trunk: Pick<Trunk, "next" | "root">,
  isHidden?: Uint8Array,
): Uint8Array {
  const isDrawn = new Uint8Array(tree.size);
  for (const ordinal of labelled) isDrawn[ordinal] = 1;
  for (const root of tree.children(NONE)) isDrawn[root] = 1;
  for (let ordinal = 0; ordinal < tree.size; ordinal++) {
    const tone = kinds[ordinal]?.tone;
    if (tone === "summary" || tone === "damaged" || tree.isLeaf(ordinal)) isDrawn[ordinal] = 1;
    const sides = sidesOf(tree, trunk, ordinal).filter((head) => isHidden?.[head] !== 1);
    if (sides.length === 0) continue;
    for (const one of [ordinal, ...sides, trunk.next[ordinal] ?? ordinal]) isDrawn[one] = 1;
  }
  // Labels and names at the very end would hide what was said last.
  for (let at = leaf; at !== NONE; at = tree.parentAt(at)) {
    if (at !== leaf && kinds[at]?.tone === "quiet") continue;
    isDrawn[at] = 1;
    if (kinds[at]?.tone !== "quiet") break;
  }
  return isDrawn;
}

/** Chooses what a person reads: every entry but those that only their programs read, unless they always have a row of their own. */
export function chooseConversation(marks: TreeMarks, trunk: Pick<Trunk, "next" | "root">): Uint8Array {
  const isDrawn = chooseRows(marks, trunk);
  marks.kinds.forEach((kind, ordinal) => {
    if (kind !== KINDS.state) isDrawn[ordinal] = 1;
  });
  return isDrawn;
}

/** Chooses every entry. */
export function chooseAll({ size }: EntryTree): Uint8Array {
  return new Uint8Array(size).fill(1);
}
