import { NONE } from "../../../core/tree/entry-tree.ts";
import {
  chooseAll,
  chooseRows,
  DRAWN_WHOLE,
  findTrunk,
  layOutRows,
  type RowPosition,
  SHORTEST_RUN,
  type Trunk,
} from "../../text/tree-rows.ts";
import { rememberLatest } from "./latest-results.ts";
import { isHiddenRecord, type SessionModel } from "./session-model.ts";

/** Level of detail in the tree: only entries that change its course; those plus user messages and failures; or every entry. */
export type TreeDetail = "branches" | "turns" | "all";

/** Row in the tree, with the entries that follow it in a straight line but do not have their own rows. */
export interface PageTreeRow extends RowPosition {
  readonly ordinal: number;
  /** Whether the line continues below, at the same depth. */
  readonly goesOn: boolean;
  readonly run: readonly number[];
  /** Whether that run is drawn, as the rows that follow. */
  readonly isOpen: boolean;
}

/** Maximum number of user messages that are drawn at first; if there are more, only entries that change the course are drawn. */
const MAX_TURNS = 300;

/** Chooses the initial detail. */
export function chooseDetail({ kinds }: SessionModel): TreeDetail {
  if (kinds.length <= DRAWN_WHOLE) return "all";
  const turns = kinds.filter(({ tone }) => tone === "user").length;
  return turns > MAX_TURNS ? "branches" : "turns";
}

/** Returns the trunk of a session's tree: the line that the session continues. */
export const getTrunk = rememberLatest(({ tree, leaf }: SessionModel) => findTrunk(tree, leaf), 1);

/** Chooses the entries that get their own rows: 1 for each. */
export const chooseForDetail = rememberLatest(chooseDrawn, 1);

function chooseDrawn(session: SessionModel, trunk: Trunk, detail: TreeDetail): Uint8Array {
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
 * Returns the rows of the tree from top to bottom.
 *
 * @param isDrawn - 1 for entries that have a row of their own.
 * @param open - Entries whose run is drawn anyway.
 * @param areRecordsShown - Whether records of state, usage, and imports are drawn where the tree does not fork.
 * @remarks Cost: O(entries).
 */
export const makePageTreeRows = rememberLatest(layOutPageTree, 1);

function layOutPageTree(
  session: SessionModel,
  trunk: Trunk,
  isDrawn: Uint8Array,
  open: ReadonlySet<number>,
  areRecordsShown: boolean,
): readonly PageTreeRow[] {
  const isHidden = (ordinal: number) => !areRecordsShown && isHiddenInTree(session, ordinal);
  const rows = new PageTreeRows(trunk, isHidden);
  for (const row of layOutRows({ tree: session.tree, trunk, isDrawn, rootDepth: 0 })) {
    if (row.kind === "entry") rows.addEntry(row.ordinal, row);
    if (row.kind === "run") rows.addRun(row.ordinals, row, open);
  }
  return rows.rows;
}

/** Returns whether the tree can omit an entry: a hidden record where the line does not fork. */
function isHiddenInTree(session: SessionModel, ordinal: number): boolean {
  const [, second] = session.tree.children(ordinal);
  return second === undefined && isHiddenRecord(session, ordinal);
}

/** Collects rows, and leaves out hidden entries. */
class PageTreeRows {
  readonly rows: PageTreeRow[] = [];
  readonly #next: Int32Array;
  readonly #isHidden: (ordinal: number) => boolean;
  /** Start of a line whose first entry is hidden; undefined if there is no such line. */
  #start: RowPosition["start"];

  constructor({ next }: Pick<Trunk, "next">, isHidden: (ordinal: number) => boolean) {
    this.#next = next;
    this.#isHidden = isHidden;
  }

  addEntry(ordinal: number, { depth, start = this.#start, passing }: RowPosition): void {
    this.#start = this.#isHidden(ordinal) ? start : undefined;
    if (this.#isHidden(ordinal)) return;
    this.rows.push({ ordinal, depth, start, passing, goesOn: this.#goesOn(ordinal), run: [], isOpen: false });
  }

  /** Adds a run to the row before it; a run that starts a line or is short gets its own rows. */
  addRun(ordinals: readonly number[], position: RowPosition, open: ReadonlySet<number>): void {
    const shown = ordinals.filter((ordinal) => !this.#isHidden(ordinal));
    if (this.#start !== undefined) for (const first of shown.splice(0, 1)) this.addEntry(first, position);
    const head = shown.length < SHORTEST_RUN ? undefined : this.rows.pop();
    const isOpen = head !== undefined && open.has(head.ordinal);
    if (head !== undefined) {
      const goesOn = isOpen || this.#goesOn(shown.at(-1) ?? NONE);
      this.rows.push({ ...head, run: shown, isOpen, goesOn });
    }
    if (head === undefined || isOpen) for (const ordinal of shown) this.addEntry(ordinal, position);
  }

  #goesOn(ordinal: number): boolean {
    let at = this.#next[ordinal] ?? NONE;
    while (at !== NONE && this.#isHidden(at)) at = this.#next[at] ?? NONE;
    return at !== NONE;
  }
}
