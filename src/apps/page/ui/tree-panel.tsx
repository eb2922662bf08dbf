import { useMemo } from "preact/hooks";
import { formatCount, formatCounted, joinNonempty } from "../../../core/facts/number-text.ts";
import { getResultToolName } from "../../../core/facts/tool-calls.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import { getEntryTitle, isFailure } from "../../text/entry-kind.ts";
import { DEEPEST } from "../../text/tree-rows.ts";
import { failureLine } from "../model/entry-text.ts";
import type { PathView } from "../model/path-items.ts";
import { getKindAt, hasFailedAt } from "../model/session-model.ts";
import type { PageTreeRow, TreeDetail } from "../model/tree-rows.ts";
import { Segments } from "./controls.tsx";
import { usePage } from "./page-context.ts";
import { makeTreeRowId, useActiveRow } from "./use-active-row.ts";
import { useTreeRows } from "./use-tree-rows.ts";
import { type Sight, WIDE } from "./viewport.ts";
import { VirtualList } from "./virtual-list.tsx";

const DETAILS: readonly (readonly [TreeDetail, string])[] = [
  ["branches", "Branches"],
  ["turns", "Turns"],
  ["all", "All"],
];

/** Tree of the session as a graph: a column of entries, with side branches. */
export function TreePanel({ path, sight }: { path: PathView; sight: Sight }) {
  const { session, go, areRecordsShown } = usePage();
  const tree = useTreeRows(session, areRecordsShown);
  const { trunk, rows, detail, setDetail, toggleRun } = tree;
  const { current, active, jump, list } = useActiveRow(tree, path, sight);
  const below = ({ ordinal, run, isOpen }: PageTreeRow) =>
    trunk.next[isOpen ? ordinal : (run.at(-1) ?? ordinal)] ?? NONE;
  const failures = useMemo(
    () => rows.map(({ run }) => run.filter((one) => hasFailedAt(session, one)).length),
    [rows],
  );
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
        list={list}
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
  const title = getEntryTitle(session, ordinal);
  // The failure is more informative than the title, unless it is a bare number.
  const failure = failureLine(entry);
  const text = BARE_CODE.test(failure) ? `${failure} · ${title}` : failure || title;
  const hints = [`${word} ${entry.id}`, title, failure, isOnPath ? "" : "On another branch"];
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
      {run.length > 0 && <RunToggle row={row} failed={isOpen ? 0 : failedInRun} onToggle={onToggle} />}
    </div>
  );
}

interface RunToggleProps {
  readonly row: PageTreeRow;
  /** Number of hidden failures. */
  readonly failed: number;
  readonly onToggle: () => void;
}

/** Button that opens or closes a run. */
function RunToggle({ row: { run, isOpen }, failed, onToggle }: RunToggleProps) {
  const hint = `${isOpen ? "Hide" : "Show"} the ${formatCount(run.length)} entries that follow${failed > 0 ? `; ${formatCount(failed)} of them failed` : ""}`;
  return (
    <button
      type="button"
      class={failed > 0 ? "tree-run is-failed" : "tree-run"}
      tabIndex={-1}
      title={hint}
      aria-label={hint}
      onClick={onToggle}
    >
      {isOpen ? "−" : "+"}
      {formatCount(run.length)}
    </button>
  );
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
