import { type EntryTree, NONE } from "../../tree/entry-tree.ts";
import type { EntryKind } from "../../view/entry-kind.ts";
import type { SessionView } from "../session-view.ts";
import { hideBranches, sidesOf } from "./branches.ts";
import type { Trunk } from "./trunk.ts";

/** A session of so many entries is drawn whole. */
const DRAWN_WHOLE = 40;

/** About so many user messages are drawn beside what must be seen; of more, every second, third, … one. */
const USER_MESSAGES = 40;

/** The last user messages before the leaf are all drawn: people come back to them. */
const LAST_USER_MESSAGES = 5;

/** What is drawn of a session. */
export interface Landmarks {
  /** 1 for each entry that has a line of its own. */
  readonly isDrawn: Uint8Array;
  /** 1 for the first entry of each branch that is not drawn. */
  readonly isHidden: Uint8Array;
}

/**
 * Chooses the entries that get a line of their own: branch points, both ends of branches, labels, compactions, branch
 * summaries, damage, the leaf, and a choice of user messages, so that long sessions stay readable.
 *
 * @param kinds - By ordinal.
 * @remarks Cost: O(entries), and O(n log n) for the branches.
 */
export function chooseLandmarks(
  session: Pick<SessionView, "tree" | "labels" | "leaf">,
  trunk: Trunk,
  kinds: readonly EntryKind[],
): Landmarks {
  const { tree, labels, leaf } = session;
  if (tree.size <= DRAWN_WHOLE) return drawEverything(tree);
  const isDrawn = new Uint8Array(tree.size);
  const holdsMark = new Uint8Array(tree.size);
  for (const id of labels.keys()) {
    const ordinal = tree.find(id);
    if (ordinal !== NONE) holdsMark[ordinal] = isDrawn[ordinal] = 1;
  }
  carryUp(tree, trunk, holdsMark);
  const isHidden = hideBranches(tree, trunk, holdsMark);
  for (let ordinal = 0; ordinal < tree.size; ordinal++) {
    const style = kinds[ordinal]?.style;
    if (style === "summary" || style === "damaged" || tree.isLeaf(ordinal)) isDrawn[ordinal] = 1;
    if (sidesOf(tree, trunk, ordinal).every((head) => isHidden[head] === 1)) continue;
    isDrawn[ordinal] = 1;
    // What goes straight on is one of the branches, too.
    isDrawn[trunk.next[ordinal] ?? ordinal] = 1;
  }
  if (leaf !== NONE) isDrawn[leaf] = 1;
  for (const ordinal of chooseUserMessages(tree, kinds, leaf)) isDrawn[ordinal] = 1;
  return { isDrawn, isHidden };
}

/** Gives every entry a line of its own. */
export function drawEverything({ size }: EntryTree): Landmarks {
  return { isDrawn: new Uint8Array(size).fill(1), isHidden: new Uint8Array(size) };
}

/** Sets a mark also on everything above an entry that has it. */
function carryUp(tree: EntryTree, { order }: Trunk, marks: Uint8Array): void {
  for (let i = order.length - 1; i >= 0; i--) {
    const ordinal = order[i] ?? NONE;
    const parent = tree.parentAt(ordinal);
    if (parent !== NONE && marks[ordinal] === 1) marks[parent] = 1;
  }
}

function chooseUserMessages(tree: EntryTree, kinds: readonly EntryKind[], leaf: number): number[] {
  const all: number[] = [];
  kinds.forEach((kind, ordinal) => {
    if (kind.style === "user") all.push(ordinal);
  });
  const step = Math.ceil(all.length / USER_MESSAGES);
  const chosen = all.filter((_, i) => i % step === 0);
  let left = LAST_USER_MESSAGES;
  for (let at = leaf; at !== NONE && left > 0; at = tree.parentAt(at)) {
    if (kinds[at]?.style !== "user") continue;
    chosen.push(at);
    left--;
  }
  return chosen;
}
