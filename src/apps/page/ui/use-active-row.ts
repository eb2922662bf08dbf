import { useEffect, useState } from "preact/hooks";
import type { PathView } from "../model/path-items.ts";
import { findShownEnd } from "../model/shown-items.ts";
import { usePage } from "./page-context.ts";
import type { TreeRows } from "./use-tree-rows.ts";
import { type Sight, useSight } from "./viewport.ts";
import { type Jump, useJump } from "./virtual-list.tsx";

/** Movements of the arrow keys, Home, and End among the rows. */
const TREE_STEPS: ReadonlyMap<string, (at: number, rows: number) => number> = new Map([
  ["ArrowDown", (at: number) => at + 1],
  ["ArrowUp", (at: number) => at - 1],
  ["Home", () => 0],
  ["End", (_: number, rows: number) => rows - 1],
]);

/** The row that keys act on, next to the row of the viewed entry; all rows are indices. */
interface ActiveRow {
  /** Row of the viewed entry; -1 if it has none. */
  readonly current: number;
  /** Row to which the reader moved with the keys; undefined until then. */
  readonly active: number | undefined;
  /** Row that keys act on. */
  readonly activeAt: number;
  readonly jump: Jump;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/** Follows the viewed entry in the tree, and moves among the rows with the keys. */
export function useActiveRow(tree: TreeRows, path: PathView, sight: Sight): ActiveRow {
  const { session, go, areRecordsShown } = usePage();
  const { rows, rowsByEntry, detail, toggleRun } = tree;
  const { ordinal: shown, isAtEnd } = useSight(sight);
  const current = rowsByEntry.get(shown) ?? -1;
  const [active, setActive] = useState<number>();
  const activeAt = active ?? Math.max(0, current);
  // At the end of the path the last row takes priority; the viewed entry is not far above it.
  const end = findShownEnd(session, path.end, { areRecordsShown });
  const wanted = active ?? (isAtEnd ? rowsByEntry.get(end) : undefined) ?? activeAt;
  const jump = useJump(wanted, `${detail}:${shown}:${isAtEnd}:${active}`);
  // A reader who looks at another entry has left the active row.
  useEffect(() => setActive(undefined), [shown, detail]);
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[activeAt];
    const step = TREE_STEPS.get(event.key);
    if (row === undefined) return;
    if (step !== undefined) setActive(Math.min(rows.length - 1, Math.max(0, step(activeAt, rows.length))));
    else if (event.key === "Enter" || event.key === " ") go({ go: "entry", ordinal: row.ordinal });
    else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      if (row.run.length > 0 && row.isOpen !== (event.key === "ArrowRight")) toggleRun(row.ordinal);
    } else return;
    event.preventDefault();
  };
  return { current, active, activeAt, jump, onKeyDown };
}
