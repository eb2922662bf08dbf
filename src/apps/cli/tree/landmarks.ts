import { subtreeSizes } from "../../../core/facts/ancestry.ts";
import { sidesOf, type Trunk } from "../../../core/facts/trunk.ts";
import { type EntryTree, NONE } from "../../../core/tree/entry-tree.ts";
import type { EntryKind } from "../../text/entry-kind.ts";
import { chooseConversation, chooseRows, DRAWN_WHOLE, type TreeMarks } from "../../text/row-choice.ts";
import type { DrawnTree } from "../../text/tree-rows.ts";

/** About so many user messages are drawn beside what must be seen; of more, every second, third, … one. */
const USER_MESSAGES = 40;

/** The last user messages before the leaf are all drawn: people come back to them. */
const LAST_USER_MESSAGES = 5;

/** Of more branches than this at one entry, only the first and the last are drawn. */
const MOST_AT_ONE_PLACE = 10;
const FIRST = 2;
const LAST = 6;

/** So many branches to the side are drawn in all; of more, the largest. */
const MOST_IN_ALL = 100;

/** What is drawn of a session. */
export type Landmarks = Pick<DrawnTree, "isDrawn" | "isHidden">;

/**
 * Chooses the entries that get a row of their own: those that always do, and a choice of user messages; of very many
 * branches not all, so that long sessions stay readable.
 *
 * @remarks Cost: O(entries), and O(n log n) for the branches.
 */
export function chooseLandmarks(marks: TreeMarks, trunk: Trunk): Landmarks {
  const { tree, kinds, leaf } = marks;
  if (tree.size <= DRAWN_WHOLE) return { isDrawn: chooseConversation(marks, trunk) };
  const holdsLabel = new Uint8Array(tree.size);
  for (const ordinal of marks.labelled) holdsLabel[ordinal] = 1;
  carryUp(tree, trunk, holdsLabel);
  const isHidden = hideBranches(tree, trunk, holdsLabel);
  const isDrawn = chooseRows(marks, trunk, isHidden);
  for (const ordinal of chooseUserMessages(tree, kinds, leaf)) isDrawn[ordinal] = 1;
  return { isDrawn, isHidden };
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
    if (kind.tone === "user") all.push(ordinal);
  });
  const step = Math.ceil(all.length / USER_MESSAGES);
  const chosen = all.filter((_, i) => i % step === 0);
  let left = LAST_USER_MESSAGES;
  for (let at = leaf; at !== NONE && left > 0; at = tree.parentAt(at)) {
    if (kinds[at]?.tone !== "user") continue;
    chosen.push(at);
    left--;
  }
  return chosen;
}

/**
 * Chooses the branches to the side that are not drawn, where there are more than can be read.
 *
 * @param holdsMark - 1 for entries under which there is something marked; their branches are drawn.
 * @returns 1 for the first entry of each branch that is not drawn.
 * @remarks Cost: O(entries), and O(n log n) for the branches.
 */
function hideBranches(tree: EntryTree, trunk: Trunk, holdsMark: Uint8Array): Uint8Array {
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
