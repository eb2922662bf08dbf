import { findNewestTips, sortParentsFirst } from "../../core/facts/ancestry.ts";
import { type EntryTree, NONE } from "../../core/tree/entry-tree.ts";
import { type EntryKind, isConversation, KINDS } from "./entry-kind.ts";

/**
 * For each entry, the child that continues its line in the drawing; all other children are side branches.
 *
 * On the path to the leaf, it is the next entry of the path, so that the path is the straight line at the left edge.
 * Elsewhere, it is the child whose subtree contains the newest tip.
 */
export interface Trunk {
  /** Child that continues straight, by ordinal; NONE if there is no child. */
  readonly next: Int32Array;
  readonly root: number;
  /** All entries, parents first. */
  readonly order: Int32Array;
  /** For each entry, the tip in its subtree that was appended last. */
  readonly newestTip: Int32Array;
}

/** Finds the straight line through every entry; `leaf` is NONE in a session without a leaf. */
export function findTrunk(tree: EntryTree, leaf: number): Trunk {
  const order = sortParentsFirst(tree);
  const newestTip = findNewestTips(tree, order);
  const newest = (candidates: Iterable<number>) => {
    let best = NONE;
    for (const one of candidates)
      if (best === NONE || getTipRank(newestTip, one) > getTipRank(newestTip, best)) best = one;
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

function getTipRank(newestTip: Int32Array, ordinal: number): number {
  return newestTip[ordinal] ?? NONE;
}

/** Returns the children of an entry that do not continue straight; for NONE, the other roots. */
export function findSides(
  tree: EntryTree,
  { next, root }: Pick<Trunk, "next" | "root">,
  ordinal: number,
): number[] {
  const straight = ordinal === NONE ? root : (next[ordinal] ?? NONE);
  const sides: number[] = [];
  for (const child of tree.children(ordinal)) if (child !== straight) sides.push(child);
  return sides;
}

/** Row of a drawn tree: an entry, or several entries without their own rows. */
export type TreeRow = RowPosition &
  (
    | { readonly kind: "entry"; readonly ordinal: number }
    /** Consecutive entries, and how many of their branches are not drawn. */
    | { readonly kind: "run"; readonly ordinals: readonly number[]; readonly branches: number }
    /** Branches of one entry that are not drawn, by their first entries. */
    | { readonly kind: "branches"; readonly heads: readonly number[] }
  );

/** Position of a row. */
export interface RowPosition {
  /** Depth of the branch; 0 is the path to the leaf. */
  readonly depth: number;
  /** Whether a side branch or a root begins here. */
  readonly start: "branch" | "root" | undefined;
  /** Lines that pass to its left, from left to right: one for each smaller depth, up to `DEEPEST`. */
  readonly passing: readonly PassingLine[];
}

/** Line that passes a row on the way to entries further below. */
interface PassingLine {
  /** Entries that the line leads to, starting at `from`. */
  readonly to: readonly number[];
  readonly from: number;
}

/** Tree to draw. */
export interface DrawnTree {
  readonly tree: EntryTree;
  readonly trunk: Pick<Trunk, "next" | "root">;
  /** 1 for each entry with its own row, as chosen by `chooseRows`. */
  readonly isDrawn: Uint8Array;
  /** 1 for the first entry of each branch that is not drawn; default: all branches are drawn. */
  readonly isHidden?: Uint8Array;
  /** 1 for each entry that the drawing omits; default: none. */
  readonly isPassed?: Uint8Array;
  /** Depth of the roots that do not lead to the leaf. */
  readonly rootDepth: 0 | 1;
}

/** Deepest level with its own line. */
export const DEEPEST = 9;

/** Minimum number of consecutive entries that are folded. */
export const SHORTEST_RUN = 3;

/** Part that remains to be drawn: a straight line that starts at an entry, or branches without rows. */
type Open = RowPosition & ({ readonly first: number } | { readonly heads: readonly number[] });

/**
 * Yields the rows of the tree from top to bottom: at each branch point, first the side branches, indented by one more level, then
 * the entries that continue straight, at the same level.
 *
 * @remarks Cost: O(entries) in total; does not recurse, and uses memory only for the open branches.
 */
export function* layOutRows(drawn: DrawnTree): Generator<TreeRow, void> {
  const open: Open[] = [];
  openChildren(drawn, open, NONE, { depth: drawn.rootDepth - 1, passing: [] });
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { depth, start, passing } = next;
    if ("heads" in next) yield { kind: "branches", heads: next.heads, depth, start, passing };
    else yield* layOutLine(drawn, open, next);
  }
}

/** Draws from an entry to the next branch point, and opens the children there. */
function* layOutLine(
  drawn: DrawnTree,
  open: Open[],
  { first, depth, start, passing }: RowPosition & { readonly first: number },
): Generator<TreeRow, void> {
  const { tree, trunk, isDrawn, isPassed } = drawn;
  const below: RowPosition = { depth, start: undefined, passing };
  let run: number[] = [];
  for (let at = first; at !== NONE; at = trunk.next[at] ?? NONE) {
    if (isPassed?.[at] === 1) continue;
    if (isDrawn[at] !== 1 && (at !== first || start === undefined)) {
      run.push(at);
      continue;
    }
    yield* runRows(drawn, run, below);
    run = [];
    yield { kind: "entry", ordinal: at, ...below, start: at === first ? start : undefined };
    if (findSides(tree, trunk, at).length === 0) continue;
    openChildren(drawn, open, at, below);
    return;
  }
  yield* runRows(drawn, run, below);
}

/** Draws entries that do not require their own rows; their branches are not drawn. */
function* runRows(
  { tree, trunk }: DrawnTree,
  run: readonly number[],
  position: RowPosition,
): Generator<TreeRow, void> {
  if (run.length >= SHORTEST_RUN) {
    const branches = run.reduce((sum, ordinal) => sum + findSides(tree, trunk, ordinal).length, 0);
    yield { kind: "run", ordinals: run, branches, ...position };
    return;
  }
  for (const ordinal of run) {
    yield { kind: "entry", ordinal, ...position };
    const heads = findSides(tree, trunk, ordinal);
    if (heads.length > 0)
      yield { kind: "branches", heads, ...position, depth: position.depth + 1, start: "branch" };
  }
}

/** Pushes children to the stack so that the side branches come first, and the child that continues straight last. */
function openChildren(
  { tree, trunk, isHidden, rootDepth }: DrawnTree,
  open: Open[],
  at: number,
  { depth, passing }: Pick<RowPosition, "depth" | "passing">,
): void {
  const isRoots = at === NONE;
  const straight = isRoots ? trunk.root : (trunk.next[at] ?? NONE);
  const start = isRoots && rootDepth === 0 ? "root" : undefined;
  if (straight !== NONE) open.push({ first: straight, depth: Math.max(0, depth), start, passing });
  const sides = findSides(tree, trunk, at);
  const to = [...sides, straight];
  const hidden: number[] = [];
  const opened: Open[] = [];
  sides.forEach((head, i) => {
    // Copies for deeper and deeper branches would take memory that is quadratic in the depth.
    const beside = depth >= 0 && depth < DEEPEST ? [...passing, { to, from: i + 1 }] : passing;
    const position: RowPosition = { depth: depth + 1, start: start ?? "branch", passing: beside };
    if (isHidden?.[head] !== 1) opened.push({ first: head, ...position });
    // One row for all of them, at the position of the first.
    else if (hidden.push(head) === 1) opened.push({ heads: hidden, ...position });
  });
  for (const one of opened.reverse()) open.push(one);
}

/** Maximum number of entries in a session for which only runs of program records are folded. */
export const DRAWN_WHOLE = 40;

/** Facts of a session that determine which rows are drawn. */
export interface TreeMarks {
  readonly tree: EntryTree;
  /** Ordinal of the leaf, or NONE. */
  readonly leaf: number;
  /** By ordinal. */
  readonly kinds: readonly EntryKind[];
  /** Ordinals of labeled entries. */
  readonly labeled: Iterable<number>;
}

/**
 * Chooses the entries that always get their own rows: roots, branch points, both ends of branches, labels, compactions, branch
 * summaries, damage, the leaf, and the last message before it.
 *
 * @param isHidden - 1 for the first entry of each branch that is not drawn; default: all branches are drawn.
 * @returns 1 for each chosen entry; the caller may add more.
 */
export function chooseRows(
  { tree, leaf, kinds, labeled }: TreeMarks,
  trunk: Pick<Trunk, "next" | "root">,
  isHidden?: Uint8Array,
): Uint8Array {
  const isDrawn = new Uint8Array(tree.size);
  for (const ordinal of labeled) isDrawn[ordinal] = 1;
  for (const root of tree.children(NONE)) isDrawn[root] = 1;
  for (let ordinal = 0; ordinal < tree.size; ordinal++) {
    const tone = kinds[ordinal]?.tone;
    if (tone === "summary" || tone === "damaged" || tree.isLeaf(ordinal)) isDrawn[ordinal] = 1;
    const sides = findSides(tree, trunk, ordinal).filter((head) => isHidden?.[head] !== 1);
    if (sides.length === 0) continue;
    for (const one of [ordinal, ...sides, trunk.next[ordinal] ?? ordinal]) isDrawn[one] = 1;
  }
  // Labels and names at the very end would hide the last message.
  for (let at = leaf; at !== NONE; at = tree.parentAt(at)) {
    if (at !== leaf && kinds[at]?.tone === "quiet") continue;
    isDrawn[at] = 1;
    if (kinds[at]?.tone !== "quiet") break;
  }
  return isDrawn;
}

/** Chooses the entries that people read: all except entries that only programs read, unless those always have their own rows. */
export function chooseConversation(marks: TreeMarks, trunk: Pick<Trunk, "next" | "root">): Uint8Array {
  const isDrawn = chooseRows(marks, trunk);
  marks.kinds.forEach((kind, ordinal) => {
    if (kind !== KINDS.state) isDrawn[ordinal] = 1;
  });
  return isDrawn;
}

/**
 * Finds the records of state, usage, and imports that a drawing can omit: unlabeled records that are neither branch points nor
 * the leaf.
 *
 * @returns 1 for each such entry.
 * @remarks Cost: O(entries).
 */
export function findHiddenRecords(
  { tree, leaf, kinds, labeled }: TreeMarks,
  trunk: Pick<Trunk, "next" | "root">,
): Uint8Array {
  const isHidden = Uint8Array.from(kinds, (kind) => (isConversation(kind) ? 0 : 1));
  const keep = (ordinal: number) => {
    if (ordinal !== NONE) isHidden[ordinal] = 0;
  };
  for (const ordinal of labeled) keep(ordinal);
  keep(leaf);
  for (let ordinal = NONE; ordinal < tree.size; ordinal++) {
    const sides = findSides(tree, trunk, ordinal);
    if (sides.length > 0) for (const one of [ordinal, ...sides]) keep(one);
  }
  return isHidden;
}

/** Chooses every entry. */
export function chooseAll({ size }: EntryTree): Uint8Array {
  return new Uint8Array(size).fill(1);
}
