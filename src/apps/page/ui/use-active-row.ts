import type { ComponentProps } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { NONE } from "../../../core/tree/entry-tree.ts";
import { ByOrdinal } from "../model/by-ordinal.ts";
import type { PathView } from "../model/path-items.ts";
import { findShownEnd } from "../model/shown-items.ts";
import type { PageTreeRow } from "../model/tree-rows.ts";
import { usePage } from "./page-context.ts";
import type { TreeRows } from "./use-tree-rows.ts";
import { type Sight, useSight } from "./viewport.ts";
import { type Jump, useJump, type VirtualList } from "./virtual-list.tsx";

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
  readonly jump: Jump;
  /** Role, active row, and key handler of the list. */
  readonly list: NonNullable<ComponentProps<typeof VirtualList>["list"]>;
}

/** Follows the viewed entry in the tree, and moves among the rows with the keys. */
export function useActiveRow(tree: TreeRows, path: PathView, sight: Sight): ActiveRow {
  const { session, go, areRecordsShown } = usePage();
  const { rows, detail, toggleRun } = tree;
  const { ordinal: shown, isAtEnd } = useSight(sight);
  const rowsByEntry = useMemo(() => mapRows(rows, session.size), [rows]);
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
  const id = makeTreeRowId(rows[activeAt]?.ordinal ?? NONE);
  return { current, active, jump, list: { role: "tree", active: { index: activeAt, id }, onKeyDown } };
}

/** Maps each entry to its row, or to the row whose run contains it. */
function mapRows(rows: readonly PageTreeRow[], size: number): ByOrdinal {
  const indices = new ByOrdinal(size);
  rows.forEach(({ ordinal, run, isOpen }, index) => {
    indices.set(ordinal, index);
    if (!isOpen) for (const hidden of run) indices.set(hidden, index);
  });
  return indices;
}

/** Returns the id of an entry's row in the document. */
export function makeTreeRowId(ordinal: number): string {
  return `tree-row-${ordinal}`;
}
