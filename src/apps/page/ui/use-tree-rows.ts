import { useState } from "preact/hooks";
import type { Trunk } from "../../text/tree-rows.ts";
import type { SessionModel } from "../model/session-model.ts";
import {
  chooseDetail,
  chooseForDetail,
  getTrunk,
  makePageTreeRows,
  type PageTreeRow,
  type TreeDetail,
} from "../model/tree-rows.ts";

/** Rows of the tree, and the reader's choices that determine them. */
export interface TreeRows {
  readonly trunk: Trunk;
  readonly rows: readonly PageTreeRow[];
  readonly detail: TreeDetail;
  readonly setDetail: (detail: TreeDetail) => void;
  /** Opens or closes the run of an entry. */
  readonly toggleRun: (ordinal: number) => void;
}

const NOTHING: ReadonlySet<number> = new Set();

/** Lays out the rows of the tree at the chosen detail, with the opened runs. */
export function useTreeRows(session: SessionModel, areRecordsShown: boolean): TreeRows {
  const [detail, setDetail] = useState<TreeDetail>(() => chooseDetail(session));
  const [open, setOpen] = useState(NOTHING);
  const trunk = getTrunk(session);
  const isDrawn = chooseForDetail(session, trunk, detail);
  const rows = makePageTreeRows(session, trunk, isDrawn, open, areRecordsShown);
  const toggleRun = (ordinal: number) => {
    const next = new Set(open);
    if (!next.delete(ordinal)) next.add(ordinal);
    setOpen(next);
  };
  return { trunk, rows, detail, setDetail, toggleRun };
}
