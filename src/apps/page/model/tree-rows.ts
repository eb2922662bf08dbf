import { NONE } from "../../../core/tree/entry-tree.ts";
import {
  chooseAll,
  chooseRows,
  DRAWN_WHOLE,
  layOutRows,
  type RowPosition,
  type Trunk,
} from "../../text/tree-rows.ts";
import type { SessionModel } from "./session-model.ts";

/** How much of the tree is drawn: what changes its course, the user's messages and failures besides, or every entry. */
export type TreeDetail = "branches" | "turns" | "all";

/** A row of the drawing, with the entries in a straight line behind it that have no row of their own. */
export interface PageTreeRow extends RowPosition {
  readonly ordinal: number;
  /** Whether the line goes on below, at the same depth. */
  readonly goesOn: boolean;
  readonly run: readonly number[];
  /** Whether that run is drawn, as the rows that follow. */
  readonly isOpen: boolean;
}

/** With more user messages than this, only what changes the course is drawn at first. */
const MAX_TURNS = 300;

/** Chooses how much is drawn before the reader has chosen. */
export function chooseDetail({ kinds }: SessionModel): TreeDetail {
  if (kinds.length <= DRAWN_WHOLE) return "all";
  const turns = kinds.filter(({ tone }) => tone === "user").length;
  return turns > MAX_TURNS ? "branches" : "turns";
}

/** Chooses the entries that have a row of their own: 1 for each. */
export function chooseForDetail(session: SessionModel, trunk: Trunk, detail: TreeDetail): Uint8Array {
  const { tree, kinds, failures, leaf, labels } = session;
  if (detail === "all") return chooseAll(tree);
  const isDrawn = chooseRows({ tree, leaf, kinds, labeled: labels.keys() }, trunk);
  if (detail === "branches") return isDrawn;
  kinds.forEach(({ tone }, ordinal) => {
    if (tone === "user") isDrawn[ordinal] = 1;
  });
  for (const failure of failures) isDrawn[failure] = 1;
  return isDrawn;
}

/**
 * Returns the rows of the drawing from top to bottom.
 *
 * @param isDrawn - 1 for entries that have a row of their own.
 * @param open - Entries whose run is drawn all the same.
 * @remarks Cost: O(entries).
 */
export function makePageTreeRows(
  { tree }: Pick<SessionModel, "tree">,
  trunk: Trunk,
  isDrawn: Uint8Array,
  open: ReadonlySet<number>,
): PageTreeRow[] {
  const rows: PageTreeRow[] = [];
  const goesOn = (ordinal: number) => (trunk.next[ordinal] ?? NONE) !== NONE;
  const add = (ordinal: number, { depth, start, passing }: RowPosition) =>
    rows.push({ ordinal, depth, start, passing, goesOn: goesOn(ordinal), run: [], isOpen: false });
  for (const row of layOutRows({ tree, trunk, isDrawn, rootDepth: 0 })) {
    if (row.kind === "entry") add(row.ordinal, row);
    const head = row.kind === "run" ? rows.pop() : undefined;
    if (row.kind !== "run" || head === undefined) continue;
    const isOpen = open.has(head.ordinal);
    rows.push({ ...head, run: row.ordinals, isOpen, goesOn: isOpen || goesOn(row.ordinals.at(-1) ?? NONE) });
    if (isOpen) for (const ordinal of row.ordinals) add(ordinal, row);
  }
  return rows;
}
