import { type EntryTree, NONE } from "../../tree/entry-tree.ts";
import { type EntryKind, type EntryKinds, KindCount } from "../../view/entry-kind.ts";
import { sidesOf } from "./branches.ts";
import type { Landmarks } from "./landmarks.ts";
import type { Trunk } from "./trunk.ts";

/** A line of the drawing. */
export type TreeRow = RowPlace &
  (
    | { readonly kind: "entry"; readonly ordinal: number }
    /** Entries in a line, not drawn one by one, and how many branches hang on them. */
    | { readonly kind: "run"; readonly counts: KindCount; readonly branches: number }
    /** Branches from one place, not drawn one by one. */
    | { readonly kind: "branches"; readonly counts: KindCount; readonly branches: number }
    /** The place before the first entry, where several roots begin. */
    | { readonly kind: "start"; readonly roots: number }
  );

interface RowPlace {
  /** How many branches to the side this is; 0 is the path to the leaf. */
  readonly depth: number;
  /** Whether a branch to the side begins here. */
  readonly isBranchStart: boolean;
}

/** What the rows are made of. */
export interface DrawnTree extends EntryKinds {
  readonly tree: EntryTree;
  readonly trunk: Trunk;
  readonly landmarks: Landmarks;
}

/** Fewer entries in a line are not worth folding. */
const SHORTEST_RUN = 3;

/** What is still to be drawn: a straight line from an entry on, or branches that are not drawn one by one. */
type Open = RowPlace & ({ readonly ordinal: number } | { readonly folded: readonly number[] });

/**
 * Gives the lines of a drawing from top to bottom: at each branch point first the branches to the side, one level
 * further in, then what goes straight on, at the same level.
 *
 * @remarks Cost: O(entries) in all; no recursion, and memory for the branches that are open.
 */
export function* treeRows(drawn: DrawnTree): Generator<TreeRow, void> {
  const open: Open[] = [];
  const { tree, trunk } = drawn;
  const others = sidesOf(tree, trunk, NONE);
  if (others.length > 0) yield { kind: "start", roots: others.length + 1, depth: 0, isBranchStart: false };
  openChildren(drawn, open, others, trunk.root, 0);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if ("folded" in next) yield foldedBranches(drawn, next.folded, next.depth);
    else yield* straightLine(drawn, open, next);
  }
}

/** Draws from an entry on until a branch point, and opens what hangs there. */
function* straightLine(
  drawn: DrawnTree,
  open: Open[],
  from: RowPlace & { readonly ordinal: number },
): Generator<TreeRow, void> {
  const { tree, trunk, landmarks } = drawn;
  const { depth } = from;
  let { isBranchStart } = from;
  let run: number[] = [];
  for (let at = from.ordinal; at !== NONE; at = trunk.next[at] ?? NONE) {
    if (landmarks.isDrawn[at] !== 1 && !isBranchStart) {
      run.push(at);
      continue;
    }
    yield* runRows(drawn, run, depth);
    run = [];
    yield { kind: "entry", ordinal: at, depth, isBranchStart };
    isBranchStart = false;
    const sides = sidesOf(tree, trunk, at);
    if (sides.length === 0) continue;
    openChildren(drawn, open, sides, trunk.next[at] ?? NONE, depth);
    return;
  }
  yield* runRows(drawn, run, depth);
}

/** Draws entries that need no line of their own; such a line has no branches that are drawn. */
function* runRows(drawn: DrawnTree, run: readonly number[], depth: number): Generator<TreeRow, void> {
  const { tree, trunk } = drawn;
  if (run.length < SHORTEST_RUN) {
    for (const ordinal of run) {
      yield { kind: "entry", ordinal, depth, isBranchStart: false };
      const sides = sidesOf(tree, trunk, ordinal);
      if (sides.length > 0) yield foldedBranches(drawn, sides, depth + 1);
    }
    return;
  }
  const counts = new KindCount();
  let branches = 0;
  for (const ordinal of run) {
    countEntry(drawn, ordinal, counts);
    branches += sidesOf(tree, trunk, ordinal).length;
  }
  yield { kind: "run", counts, branches, depth, isBranchStart: false };
}

/** Puts children on the stack so that the branches to the side come first, and `straight` last. */
function openChildren(
  { landmarks }: DrawnTree,
  open: Open[],
  sides: readonly number[],
  straight: number,
  depth: number,
): void {
  if (straight !== NONE) open.push({ ordinal: straight, depth, isBranchStart: false });
  const place = { depth: depth + 1, isBranchStart: true };
  const folded: number[] = [];
  const opened: Open[] = [];
  for (const ordinal of sides) {
    if (landmarks.isHidden[ordinal] !== 1) opened.push({ ordinal, ...place });
    // One line for all of them, where the first one stood.
    else if (folded.push(ordinal) === 1) opened.push({ folded, ...place });
  }
  for (const one of opened.reverse()) open.push(one);
}

/** The row for branches that are not drawn, with all that hangs on them counted. */
function foldedBranches(drawn: DrawnTree, heads: readonly number[], depth: number): TreeRow {
  const counts = new KindCount();
  const open = [...heads];
  for (let ordinal = open.pop(); ordinal !== undefined; ordinal = open.pop()) {
    countEntry(drawn, ordinal, counts);
    for (const child of drawn.tree.children(ordinal)) open.push(child);
  }
  return { kind: "branches", branches: heads.length, counts, depth, isBranchStart: true };
}

function countEntry({ kinds, failures }: EntryKinds, ordinal: number, counts: KindCount): void {
  const kind: EntryKind | undefined = kinds[ordinal];
  if (kind === undefined) throw new RangeError(`entry ${ordinal} has no kind`);
  counts.add(kind, failures.has(ordinal));
}
