import { useEffect, useMemo, useState } from "preact/hooks";
import { formatCount, formatCounted, joinNonempty } from "../../../core/facts/number-text.ts";
import { getResultToolName } from "../../../core/facts/tool-calls.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import { getEntryTitle, isFailure } from "../../text/entry-kind.ts";
import { DEEPEST, findTrunk } from "../../text/tree-rows.ts";
import { ByOrdinal } from "../model/by-ordinal.ts";
import { failureLine } from "../model/entry-text.ts";
import type { PathView } from "../model/path-items.ts";
import { getKindAt, hasFailedAt } from "../model/session-model.ts";
import { findShownEnd } from "../model/shown-items.ts";
import {
  chooseDetail,
  chooseForDetail,
  makePageTreeRows,
  type PageTreeRow,
  type TreeDetail,
} from "../model/tree-rows.ts";
import { Segments } from "./controls.tsx";
import { usePage } from "./page-context.ts";
import { type Sight, useSight, WIDE } from "./viewport.ts";
import { useJump, VirtualList } from "./virtual-list.tsx";

const DETAILS: readonly (readonly [TreeDetail, string])[] = [
  ["branches", "Branches"],
  ["turns", "Turns"],
  ["all", "All"],
];

/** Movements of the arrow keys, Home, and End among the rows. */
const TREE_STEPS: ReadonlyMap<string, (at: number, rows: number) => number> = new Map([
  ["ArrowDown", (at: number) => at + 1],
  ["ArrowUp", (at: number) => at - 1],
  ["Home", () => 0],
  ["End", (_: number, rows: number) => rows - 1],
]);

/** Tree of the session as a graph: a column of entries, with side branches. */
export function TreePanel({ path, sight }: { path: PathView; sight: Sight }) {
  const { session, go, areRecordsShown } = usePage();
  const [detail, setDetail] = useState<TreeDetail>(() => chooseDetail(session));
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const trunk = useMemo(() => findTrunk(session.tree, session.leaf), [session]);
  const isDrawn = useMemo(() => chooseForDetail(session, trunk, detail), [session, trunk, detail]);
  const rows = useMemo(
    () => makePageTreeRows(session, trunk, isDrawn, open, areRecordsShown),
    [session, trunk, isDrawn, open, areRecordsShown],
  );
  const { ordinal: shown, isAtEnd } = useSight(sight);
  const rowsByEntry = useMemo(() => mapRows(rows, session.size), [rows]);
  const failures = useMemo(
    () => rows.map(({ run }) => run.filter((one) => hasFailedAt(session, one)).length),
    [rows],
  );
  const current = rowsByEntry.get(shown) ?? -1;
  const [active, setActive] = useState<number>();
  const activeAt = active ?? Math.max(0, current);
  // At the end of the path the last row takes priority; the viewed entry is not far above it.
  const end = findShownEnd(session, path.end, { areRecordsShown });
  const wanted = active ?? (isAtEnd ? rowsByEntry.get(end) : undefined) ?? activeAt;
  const jump = useJump(wanted, `${detail}:${shown}:${isAtEnd}:${active}`);
  const below = ({ ordinal, run, isOpen }: PageTreeRow) =>
    trunk.next[isOpen ? ordinal : (run.at(-1) ?? ordinal)] ?? NONE;
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
          {formatCounted(session.size, "entry", "entries")}, {formatCounted(tips, "branch", "branches")}
        </span>
        <Segments label="Detail of the tree" choices={DETAILS} chosen={detail} onChoose={setDetail} />
      </div>
      <VirtualList
        key={`${detail}:${areRecordsShown}`}
        class="tree"
        label={`Tree of ${formatCount(session.size)} entries`}
        items={rows}
        getKey={({ ordinal }) => ordinal}
        estimate={() => TREE_ROW_HEIGHT}
        jump={jump}
        list={{
          role: "tree",
          active: { index: activeAt, id: makeTreeRowId(rows[activeAt]?.ordinal ?? NONE) },
          onKeyDown,
        }}
        render={(row, index) => (
          <TreeRowView
            row={row}
            failedInRun={failures[index] ?? 0}
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

/** Maps each entry to its row, or to the row whose run contains it. */
function mapRows(rows: readonly PageTreeRow[], size: number): ByOrdinal {
  const indices = new ByOrdinal([size - 1]);
  rows.forEach(({ ordinal, run, isOpen }, index) => {
    indices.set(ordinal, index);
    if (!isOpen) for (const hidden of run) indices.set(hidden, index);
  });
  return indices;
}

interface TreeRowProps {
  readonly row: PageTreeRow;
  /** Number of failures among the entries in its run. */
  readonly failedInRun: number;
  /** Whether the viewed entry is in this row. */
  readonly isCurrent: boolean;
  /** Whether the keyboard acts on this row. */
  readonly isActive: boolean;
  /** Position of the row, starting at 1, and the number of rows. */
  readonly position: number;
  readonly size: number;
  readonly path: PathView;
  /** Whether the straight continuation of the line is on the shown path. */
  readonly isBelowOnPath: boolean;
  readonly onChoose: () => void;
  readonly onToggle: () => void;
}

/** Height of a row in pixels: greater on narrow screens, for touch. */
const TREE_ROW_HEIGHT = matchMedia(WIDE).matches ? 30 : 44;

/** Distance between the lines of adjacent depths, in pixels. */
const STEP = 14;
const MIDDLE = TREE_ROW_HEIGHT / 2;

/** Pattern of a failure line without a message. */
const BARE_CODE = /^exit code -?\d+$/;

/** Row of the tree: its part of the graph, and its text. */
function TreeRowView(props: TreeRowProps) {
  const { row, failedInRun, isCurrent, isActive, position, size, path, isBelowOnPath, onChoose, onToggle } =
    props;
  const { session, shownLeaf } = usePage();
  const { ordinal, depth, run, isOpen } = row;
  const entry = session.entryAt(ordinal);
  if (entry === undefined) return null;
  const { tone, word } = getKindAt(session, ordinal);
  const isOnPath = path.indices.has(ordinal);
  const label = session.labels.get(ordinal);
  const isFailed = isFailure(entry);
  const failed = isOpen ? 0 : failedInRun;
  const title = getEntryTitle(session, ordinal);
  // The failure is more informative than the title, unless it is a bare number.
  const failure = failureLine(entry);
  const text = BARE_CODE.test(failure) ? `${failure} · ${title}` : failure || title;
  const hints = [`${word} ${entry.id}`, title, failure, isOnPath ? "" : "On another branch"];
  const runHint = `${isOpen ? "Hide" : "Show"} the ${formatCount(run.length)} entries that follow${failed > 0 ? `; ${formatCount(failed)} of them failed` : ""}`;
  const classes = [
    "tree-row",
    `tone-${tone}`,
    isOnPath ? "is-on-path" : "",
    isCurrent ? "is-current" : "",
    isActive ? "is-active" : "",
    isFailed ? "is-failed" : "",
  ];
  return (
    // The tree itself has the focus and handles the keys; it states which row is active.
    // biome-ignore lint/a11y/useFocusableInteractive: see above
    <div
      class={joinNonempty(" ", ...classes)}
      role="treeitem"
      style={{ height: `${TREE_ROW_HEIGHT}px` }}
      id={makeTreeRowId(ordinal)}
      aria-level={depth + 1}
      aria-posinset={position}
      aria-setsize={size}
      aria-selected={isCurrent}
      {...(run.length > 0 && { "aria-expanded": isOpen })}
    >
      <Graph row={row} path={path} isBelowOnPath={isBelowOnPath} isLeaf={ordinal === shownLeaf} />
      <button
        type="button"
        class="tree-entry"
        tabIndex={-1}
        title={joinNonempty("\n", ...hints)}
        data-entry={entry.id}
        onClick={onChoose}
      >
        {label !== undefined && <span class="chip is-label">{label}</span>}
        {tone !== "user" && <span class="tree-kind">{getResultToolName(entry) || word}</span>}
        {isFailed && <span class="sr-only">failed: </span>}
        <span class="tree-text">{text}</span>
        {ordinal === shownLeaf && <span class="chip is-leaf">now</span>}
      </button>
      {run.length > 0 && (
        <button
          type="button"
          class={failed > 0 ? "tree-run is-failed" : "tree-run"}
          tabIndex={-1}
          title={runHint}
          aria-label={runHint}
          onClick={onToggle}
        >
          {isOpen ? "−" : "+"}
          {formatCount(run.length)}
        </button>
      )}
    </div>
  );
}

/** Returns the id of an entry's row in the document. */
function makeTreeRowId(ordinal: number): string {
  return `tree-row-${ordinal}`;
}

interface GraphProps {
  readonly row: PageTreeRow;
  readonly path: PathView;
  readonly isBelowOnPath: boolean;
  readonly isLeaf: boolean;
}

function Graph({ row, path, isBelowOnPath, isLeaf }: GraphProps) {
  const isOnPath = path.indices.has(row.ordinal);
  const { depth, start, goesOn, run, isOpen } = row;
  const at = Math.min(depth, DEEPEST);
  const x = toX(at);
  const below = run.length > 0 && !isOpen ? "edge is-run" : "edge";
  return (
    <svg class="graph" width={toX(at) + STEP} height={TREE_ROW_HEIGHT} aria-hidden="true">
      {row.passing.slice(0, at).map(({ to, from }, lane) => (
        <path
          key={toX(lane)}
          class={onPath("edge", isAnyOn(path, to, from))}
          d={`M${toX(lane)} 0V${TREE_ROW_HEIGHT}`}
        />
      ))}
      {start === undefined && <path class={onPath("edge", isOnPath)} d={`M${x} 0V${MIDDLE}`} />}
      {start === "branch" && (
        <path
          class={onPath("edge", isOnPath)}
          d={`M${toX(at - 1)} 0C${toX(at - 1)} ${MIDDLE} ${toX(at - 1)} ${MIDDLE} ${x} ${MIDDLE}`}
        />
      )}
      {goesOn && (
        <path class={onPath(below, isOnPath && isBelowOnPath)} d={`M${x} ${MIDDLE}V${TREE_ROW_HEIGHT}`} />
      )}
      <Node row={row} x={x} isLeaf={isLeaf} />
    </svg>
  );
}

/**
 * Node of the graph: summaries are diamonds, failures are crosses, tool results and program notes are small circles, and all
 * others are circles; the leaf has a ring.
 */
function Node({ row, x, isLeaf }: { row: PageTreeRow; x: number; isLeaf: boolean }) {
  const { session } = usePage();
  const tone = getKindAt(session, row.ordinal).tone;
  return (
    <g class="node">
      {isLeaf && <circle class="ring" cx={x} cy={MIDDLE} r={7} />}
      {tone === "summary" ? (
        <rect
          x={x - 4}
          y={MIDDLE - 4}
          width={8}
          height={8}
          rx={1.5}
          transform={`rotate(45 ${x} ${MIDDLE})`}
        />
      ) : hasFailedAt(session, row.ordinal) ? (
        <path class="cross" d={`M${x - 4} ${MIDDLE - 4}l8 8m0-8l-8 8`} />
      ) : (
        <circle cx={x} cy={MIDDLE} r={tone === "quiet" || tone === "tool" ? 3 : 4.5} />
      )}
    </g>
  );
}

function isAnyOn({ indices }: PathView, ordinals: readonly number[], from: number): boolean {
  return ordinals.some((ordinal, index) => index >= from && indices.has(ordinal));
}

function onPath(name: string, isOnPath: boolean): string {
  return isOnPath ? `${name} is-on-path` : name;
}

function toX(depth: number): number {
  return 14 + depth * STEP;
}
