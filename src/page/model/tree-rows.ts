import { type KindStyle, kindOf } from "../../view/entry-kind.ts";
import { NONE, pathTo, type SessionModel } from "./session-model.ts";

/** How much of the tree is drawn: what changes its course, the user's messages and failures besides, or every entry. */
export type TreeDetail = "branches" | "turns" | "all";

/** A line of the drawing. */
export interface TreeRow {
  readonly ordinal: number;
  /** How many branches to the side this is; 0 is the path to the leaf. */
  readonly depth: number;
  /** The lines that pass to the left of it, from the left: one for each smaller depth that has a line of its own. */
  readonly passing: readonly PassingLine[];
  /** Whether a branch to the side begins here, or a root. */
  readonly start: "branch" | "root" | undefined;
  /** Whether the line goes on below, at the same depth. */
  readonly goesOn: boolean;
  /** The entries that follow in a straight line and have no row of their own. */
  readonly run: readonly number[];
  /** Whether that run is drawn, as the rows that follow. */
  readonly isOpen: boolean;
}

/** A line that leads past a row to entries further below. */
export interface PassingLine {
  /** The entries that it leads to, from `from` on. */
  readonly to: readonly number[];
  readonly from: number;
}

/** What goes straight on at each entry; the rest is to the side. */
export interface Trunk {
  readonly next: Int32Array;
  readonly root: number;
}

/** The deepest that has a line of its own in the drawing: what is deeper still is drawn there. */
export const DEEPEST = 9;

/** A session of so many entries is drawn whole. */
const DRAWN_WHOLE = 40;

/** With more user messages than this, only what changes the course is drawn at first. */
const MOST_TURNS = 300;

/** Fewer entries in a line are not worth folding. */
const SHORTEST_RUN = 3;

/** Tones whose entries always have a row of their own. */
const ALWAYS_DRAWN: ReadonlySet<KindStyle> = new Set<KindStyle>(["summary", "damaged"]);

/** Chooses how much is drawn before anybody has chosen. */
export function usualDetail({ entries }: SessionModel): TreeDetail {
  if (entries.length <= DRAWN_WHOLE) return "all";
  const turns = entries.filter((entry) => kindOf(entry).style === "user").length;
  return turns > MOST_TURNS ? "branches" : "turns";
}

/**
 * Finds the straight line through every entry: on the path to the leaf the next entry of that path, elsewhere the child
 * under which the newest tip hangs.
 *
 * @remarks Cost: O(entries).
 */
export function findTrunk(session: SessionModel): Trunk {
  const { children, roots, newestTip, leaf } = session;
  const newest = (candidates: readonly number[]) =>
    candidates.reduce((best, one) => (rank(newestTip, one) > rank(newestTip, best) ? one : best), NONE);
  const next = Int32Array.from(children, newest);
  const [root = NONE, ...rest] = pathTo(session, leaf);
  let at = root;
  for (const ordinal of rest) {
    next[at] = ordinal;
    at = ordinal;
  }
  return { next, root: root === NONE ? newest(roots) : root };
}

function rank(newestTip: Int32Array, ordinal: number): number {
  return newestTip[ordinal] ?? NONE;
}

/** Chooses the entries that have a row of their own: 1 for each. */
export function chooseRows(session: SessionModel, { next }: Trunk, detail: TreeDetail): Uint8Array {
  const { entries, children, roots, labels, leaf, parents, failures } = session;
  if (detail === "all") return new Uint8Array(entries.length).fill(1);
  const isDrawn = new Uint8Array(entries.length);
  entries.forEach((entry, ordinal) => {
    const { style: tone } = kindOf(entry);
    const isTurn = detail === "turns" && tone === "user";
    if (isTurn || ALWAYS_DRAWN.has(tone) || labels.has(ordinal)) isDrawn[ordinal] = 1;
    const below = children[ordinal] ?? [];
    if (below.length === 0) isDrawn[ordinal] = 1;
    if (below.length < 2) return;
    isDrawn[ordinal] = 1;
    for (const child of below) isDrawn[child] = 1;
  });
  for (const root of roots) isDrawn[root] = 1;
  if (detail === "turns") for (const failure of failures) isDrawn[failure] = 1;
  if (leaf !== NONE) isDrawn[leaf] = 1;
  // Label and name records at the very end would take the leaf's row from what was said last.
  const before = leaf === NONE ? NONE : (parents[leaf] ?? NONE);
  if (before !== NONE && next[before] === leaf) isDrawn[before] = 1;
  return isDrawn;
}

/** A straight line that is still to be drawn. */
interface Line extends Pick<TreeRow, "depth" | "start" | "passing"> {
  /** Its first entry. */
  readonly from: number;
}

/**
 * Gives the rows of a drawing from top to bottom: at each branch point first the branches to the side, one level further
 * in, then what goes straight on, at the same level.
 *
 * @param isDrawn - 1 for entries that have a row of their own.
 * @param open - Entries whose run is drawn all the same.
 * @remarks Cost: O(entries); no recursion.
 */
export function treeRows(
  session: SessionModel,
  trunk: Trunk,
  isDrawn: Uint8Array,
  open: ReadonlySet<number>,
): TreeRow[] {
  const { children, roots } = session;
  const rows: TreeRow[] = [];
  const pending: Line[] = [];
  const openChildren = (below: readonly number[], straight: number, { depth, passing }: Line) => {
    const to = [...below.filter((child) => child !== straight), straight];
    for (let i = to.length - 2; i >= 0; i--) {
      // Copied for ever deeper branches, they would take memory that grows with the square of the depth.
      const beside = depth < DEEPEST ? [...passing, { to, from: i + 1 }] : passing;
      pending.push({ from: to[i] ?? NONE, depth: depth + 1, start: "branch", passing: beside });
    }
    // What goes straight on is drawn last: it was put on the pile first.
    pending.splice(pending.length - (to.length - 1), 0, { from: straight, depth, start: undefined, passing });
  };
  // Further roots come first, as branches do, but hang on nothing.
  for (const root of [trunk.root, ...roots.filter((one) => one !== trunk.root).reverse()]) {
    if (root !== NONE) pending.push({ from: root, depth: 0, start: "root", passing: [] });
  }
  for (let line = pending.pop(); line !== undefined; line = pending.pop()) {
    let { start } = line;
    const { depth, passing } = line;
    for (let at = line.from; at !== NONE; ) {
      const run = runAfter(session, trunk, isDrawn, at);
      const isFolded = run.length >= SHORTEST_RUN;
      const isOpen = isFolded && open.has(at);
      const last = run.at(-1) ?? at;
      const shown = isFolded && !isOpen ? [] : run;
      const goesOn = (ordinal: number) => (trunk.next[ordinal] ?? NONE) !== NONE;
      const own = { ordinal: at, start, goesOn: goesOn(shown.length === 0 ? last : at), isOpen };
      rows.push({ ...own, depth, passing, run: isFolded ? run : [] });
      for (const ordinal of shown) {
        const plain = { start: undefined, run: [], isOpen: false };
        rows.push({ ...plain, ordinal, depth, passing, goesOn: goesOn(ordinal) });
      }
      start = undefined;
      const below = children[last] ?? [];
      at = trunk.next[last] ?? NONE;
      if (below.length < 2) continue;
      openChildren(below, at, line);
      break;
    }
  }
  return rows;
}

/** The entries straight after one that have no row of their own and no branches. */
function runAfter({ children }: SessionModel, { next }: Trunk, isDrawn: Uint8Array, from: number): number[] {
  const run: number[] = [];
  let at = from;
  while ((children[at] ?? []).length === 1) {
    at = next[at] ?? NONE;
    if (at === NONE || isDrawn[at] === 1) break;
    run.push(at);
  }
  return run;
}
