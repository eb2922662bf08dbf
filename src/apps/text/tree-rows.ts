import { findNewestTips, sortParentsFirst } from "../../core/facts/ancestry.ts";
import { type EntryTree, NONE } from "../../core/tree/entry-tree.ts";
import { type EntryKind, isConversation, KINDS } from "./entry-kind.ts";

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

/** Returns the entries that hang on an entry to the side of what goes straight on; for NONE, the roots. */
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

/** A row of a drawn tree: an entry, or several that have no row of their own. */
export type TreeRow = RowPosition &
  (
    | { readonly kind: "entry"; readonly ordinal: number }
    /** Entries in a line, and how many branches hang on them that are not drawn. */
    | { readonly kind: "run"; readonly ordinals: readonly number[]; readonly branches: number }
    /** Branches from one entry that are not drawn, by their first entries. */
    | { readonly kind: "branches"; readonly heads: readonly number[] }
  );

/** Where a row stands. */
export interface RowPosition {
  /** How many branches to the side this is; 0 is the path to the leaf. */
  readonly depth: number;
  /** Whether a branch to the side begins here, or a root. */
  readonly start: "branch" | "root" | undefined;
  /** The lines that pass to the left of it, from the left: one for each smaller depth, up to `DEEPEST`. */
  readonly passing: readonly PassingLine[];
}

/** A line that leads past a row to entries further below. */
interface PassingLine {
  /** The entries that it leads to, from `from` on. */
  readonly to: readonly number[];
  readonly from: number;
}

/** What is drawn of a tree. */
export interface DrawnTree {
  readonly tree: EntryTree;
  readonly trunk: Pick<Trunk, "next" | "root">;
  /** 1 for each entry that has a row of its own, as `chooseRows` chooses them. */
  readonly isDrawn: Uint8Array;
  /** 1 for the first entry of each branch that is not drawn; default: all are. */
  readonly isHidden?: Uint8Array;
  /** 1 for each entry that has no row, and is in none for several; default: none. */
  readonly isPassed?: Uint8Array;
  /** Depth of the roots beside the one that leads to the leaf. */
  readonly rootDepth: 0 | 1;
}

/** The deepest level that has a line of its own. */
export const DEEPEST = 9;

/** Fewer entries in a line are not worth folding. */
export const SHORTEST_RUN = 3;

/** What is still to be drawn: a straight line from an entry on, or branches that are not drawn. */
type Open = RowPosition & ({ readonly first: number } | { readonly heads: readonly number[] });

/**
 * Yields the rows of a drawing from top to bottom: at each branch point first the branches to the side, one level further
 * in, then what goes straight on, at the same level.
 *
 * @remarks Cost: O(entries) in all; no recursion, and memory for the branches that are open.
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

/** Draws from an entry on until a branch point, and opens what hangs there. */
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

/** Draws entries that need no row of their own; what branches hang on them are not drawn. */
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

/** Puts children on the stack so that the branches to the side come first, and what goes straight on last. */
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
    // Copied for ever deeper branches, they would take memory that grows with the square of the depth.
    const beside = depth >= 0 && depth < DEEPEST ? [...passing, { to, from: i + 1 }] : passing;
    const position: RowPosition = { depth: depth + 1, start: start ?? "branch", passing: beside };
    if (isHidden?.[head] !== 1) opened.push({ first: head, ...position });
    // One row for all of them, where the first one stood.
    else if (hidden.push(head) === 1) opened.push({ heads: hidden, ...position });
  });
  for (const one of opened.reverse()) open.push(one);
}

/** Of a session of so many entries, at most runs of program records are folded. */
export const DRAWN_WHOLE = 40;

/** What of a session decides which rows are drawn. */
export interface TreeMarks {
  readonly tree: EntryTree;
  /** Ordinal of the leaf, or NONE. */
  readonly leaf: number;
  /** By ordinal. */
  readonly kinds: readonly EntryKind[];
  /** Ordinals of the entries that have a label. */
  readonly labeled: Iterable<number>;
}

/**
 * Chooses the entries that always have a row of their own: roots, branch points, both ends of branches, labels,
 * compactions, branch summaries, damage, the leaf and what was said last before it.
 *
 * @param isHidden - 1 for the first entry of each branch that is not drawn; default: all are.
 * @returns 1 for each; the caller may add more.
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

/**
 * Finds the records of state, usage, and imports that a drawing can do without: those where the tree does not part, without a
 * label, and not at the leaf.
 *
 * @returns 1 for each.
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
