import { useEffect, useMemo } from "preact/hooks";
import { formatCounted, joinNonempty } from "../../../core/facts/number-text.ts";
import { formatDuration } from "../../../core/facts/times.ts";
import { formatCost, sumSpent } from "../../../core/facts/usage-tally.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import { makeEntryRows } from "../model/conversation-rows.ts";
import { capitalize } from "../model/format.ts";
import type { Position } from "../model/navigation.ts";
import { type PathItem, type PathView, viewPath } from "../model/path-items.ts";
import { estimateHeight } from "../model/row-height.ts";
import { formatBranchName } from "../model/session-model.ts";
import { listShownItems } from "../model/shown-items.ts";
import { LinkButton } from "./controls.tsx";
import { EntryCard } from "./entry-card.tsx";
import { usePage } from "./page-context.ts";
import type { Sight } from "./viewport.ts";
import { useJump, VirtualList } from "./virtual-list.tsx";

interface BesideViewProps {
  readonly path: PathView;
  readonly position: Position;
  /** Receives the entry that the reader is viewing. */
  readonly sight: Sight;
}

/** Two paths side by side, from their fork. */
export function BesideView({ path, position, sight }: BesideViewProps) {
  const { beside = NONE, focus, reveal } = position;
  const { session } = usePage();
  const other = viewPath(session, beside);
  // Memoized arrays, so that a keystroke does not lay anything out again.
  const columns = useMemo(() => {
    const parting = path.items.findIndex(({ ordinal }, at) => other.items[at]?.ordinal !== ordinal);
    const from = parting === -1 ? path.items.length : parting;
    return [path, other].map(({ end, items }) => ({ end, items: items.slice(from) }));
  }, [path, other]);
  const first = columns[0]?.items[0]?.ordinal ?? path.end;
  useEffect(() => sight.move(focus === NONE ? first : focus, false), [sight, focus, first]);
  return (
    <div class="beside">
      {columns.map(({ end, items }) => (
        <Column key={end} end={end} items={items} focus={focus} reveal={reveal} />
      ))}
    </div>
  );
}

interface ColumnProps {
  readonly end: number;
  readonly items: readonly PathItem[];
  readonly focus: number;
  readonly reveal: Position["reveal"];
}

function Column({ end, items: all, focus, reveal }: ColumnProps) {
  const { session, go, areRecordsShown } = usePage();
  const items = useMemo(
    () => listShownItems(session, all, { areRecordsShown }),
    [session, all, areRecordsShown],
  );
  const { rows, rowByOrdinal } = useMemo(() => makeEntryRows(items), [items]);
  const jump = useJump(reveal === undefined ? NONE : (rowByOrdinal.get(focus) ?? NONE), reveal);
  // All items, because some programs store the cost in records, which are hidden.
  const used = useMemo(
    () => sumSpent(all.flatMap(({ ordinal }) => session.facts[ordinal]?.used ?? [])),
    [session, all],
  );
  const [first, last] = [items[0], items.at(-1)].map((item) => Date.parse(item?.entry.timestamp ?? ""));
  const took = (last ?? Number.NaN) - (first ?? Number.NaN);
  const facts = [
    formatCounted(items.length, "entry", "entries"),
    used.calls === 0 ? "" : formatCost(used),
    took > 0 ? formatDuration(took) : "",
  ];
  const name = capitalize(formatBranchName(session, end));
  return (
    <div class="beside-column">
      <p>
        <LinkButton onClick={() => go({ go: "end", ordinal: end })}>{name}</LinkButton>
        <span>{joinNonempty(" · ", ...facts)}</span>
      </p>
      <VirtualList
        class="conversation"
        label={name}
        items={rows}
        getKey={({ ordinal }) => ordinal}
        estimate={(row) => estimateHeight(session, row)}
        render={(row) => (
          <div class="conversation-column">
            <EntryCard row={row} focus={focus} end={NONE} />
          </div>
        )}
        jump={jump}
      />
    </div>
  );
}
