import { useEffect, useMemo, useState } from "preact/hooks";
import { count, counted } from "../../../core/facts/number-text.ts";
import { findTrunk } from "../../../core/facts/trunk.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import type { PathView } from "../model/path-items.ts";
import {
  chooseForDetail,
  type PageTreeRow,
  pageTreeRows,
  type TreeDetail,
  usualDetail,
} from "../model/tree-rows.ts";
import { usePage } from "./page-context.ts";
import { Segments } from "./segments.tsx";
import { TREE_ROW_HEIGHT, TreeRowView, treeRowId } from "./tree-row.tsx";
import { type Sight, useSight } from "./viewport.ts";
import { useJump, VirtualList } from "./virtual-list.tsx";

const DETAILS: readonly (readonly [TreeDetail, string])[] = [
  ["branches", "Branches"],
  ["turns", "Turns"],
  ["all", "All"],
];

/** Where keys lead among so many rows. */
const TREE_STEPS: ReadonlyMap<string, (at: number, rows: number) => number> = new Map([
  ["ArrowDown", (at: number) => at + 1],
  ["ArrowUp", (at: number) => at - 1],
  ["Home", () => 0],
  ["End", (_: number, rows: number) => rows - 1],
]);

/** The tree of the session as a graph: a column of entries, with branches to the side. */
export function TreePanel({ path, sight }: { path: PathView; sight: Sight }) {
  const { session, go } = usePage();
  const [detail, setDetail] = useState<TreeDetail>(() => usualDetail(session));
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const trunk = useMemo(() => findTrunk(session.tree, session.leaf), [session]);
  const isDrawn = useMemo(() => chooseForDetail(session, trunk, detail), [session, trunk, detail]);
  const rows = useMemo(() => pageTreeRows(session, trunk, isDrawn, open), [session, trunk, isDrawn, open]);
  const { ordinal: shown, isAtEnd } = useSight(sight);
  const rowsByEntry = useMemo(() => rowsOf(rows), [rows]);
  const current = rowsByEntry.get(shown) ?? -1;
  const [active, setActive] = useState<number>();
  const activeAt = active ?? Math.max(0, current);
  // At the end of the path its last row is what is wanted, and what is looked at stands not far above it.
  const wanted = active ?? (isAtEnd ? rowsByEntry.get(path.end) : undefined) ?? activeAt;
  const jump = useJump(wanted, `${detail}:${shown}:${isAtEnd}:${active}`);
  const below = ({ ordinal, run, isOpen }: PageTreeRow) =>
    trunk.next[isOpen ? ordinal : (run.at(-1) ?? ordinal)] ?? NONE;
  // A reader who looks elsewhere has left the row of the keys.
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
  const toggleRun = (ordinal: number) => {
    const next = new Set(open);
    if (!next.delete(ordinal)) next.add(ordinal);
    setOpen(next);
  };
  const tips = useMemo(() => [...session.tree.leaves()].length, [session]);
  return (
    <>
      <div class="panel-bar">
        <span class="panel-facts">
          {counted(session.size, "entry", "entries")}, {counted(tips, "branch", "branches")}
        </span>
        <Segments label="Detail of the tree" choices={DETAILS} chosen={detail} onChoose={setDetail} />
      </div>
      <VirtualList
        key={detail}
        class="tree"
        label={`Tree of ${count(session.size)} entries`}
        items={rows}
        keyOf={({ ordinal }) => ordinal}
        estimate={() => TREE_ROW_HEIGHT}
        jump={jump}
        list={{
          role: "tree",
          active: { index: activeAt, id: treeRowId(rows[activeAt]?.ordinal ?? NONE) },
          onKeyDown,
        }}
        render={(row, index) => (
          <TreeRowView
            row={row}
            isCurrent={index === current}
            isActive={index === active}
            position={index + 1}
            size={rows.length}
            path={path}
            isBelowOnPath={path.indices.has(below(row))}
            onChoose={() => go({ go: "entry", ordinal: row.ordinal })}
            onToggle={() => toggleRun(row.ordinal)}
          />
        )}
      />
    </>
  );
}

/** The row of each entry, or the one in whose run it is. */
function rowsOf(rows: readonly PageTreeRow[]): Map<number, number> {
  const indices = new Map<number, number>();
  rows.forEach(({ ordinal, run, isOpen }, index) => {
    indices.set(ordinal, index);
    if (!isOpen) for (const hidden of run) indices.set(hidden, index);
  });
  return indices;
}
