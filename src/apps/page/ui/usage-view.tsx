import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { getExcerpt } from "../../../core/facts/excerpt.ts";
import { formatCount, joinNonempty, roundDollars } from "../../../core/facts/number-text.ts";
import { countInputTokens } from "../../../core/facts/usage.ts";
import { explainCost, formatCost, getDollars, type Spent } from "../../../core/facts/usage-tally.ts";
import { formatPercent, formatTime, formatTokens } from "../model/format.ts";
import type { PathView } from "../model/path-items.ts";
import { formatPlace } from "../model/session-model.ts";
import {
  type CallGroup,
  type CallOrder,
  cacheShare,
  getUsage,
  groupCalls,
  type ModelCall,
  orderCalls,
  type SessionUsage,
  sumCosts,
  sumOnPath,
} from "../model/usage.ts";
import { type Bar, BarChart, ChartFrame, PLOT } from "./bars.tsx";
import { LinkButton, Segments } from "./controls.tsx";
import { usePage } from "./page-context.ts";

/** Usage of the session: tokens, cache, and cost, over time and by model. */
export function UsageView({ path }: { path: PathView }) {
  const { session, listed } = usePage();
  const usage = getUsage(session);
  const { calls, all, models } = usage;
  const here = sumOnPath(usage, path);
  // If all calls are on the path, one number is enough.
  const isAllHere = here === all;
  if (calls.length === 0) return <div class="empty">This session does not record any tokens or costs.</div>;
  const onPath = formatPlace(session, path.end);
  const makeNote = (number: string) => (isAllHere ? "" : `${number} ${onPath}`);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="usage" aria-label="Usage" tabIndex={0}>
      <div class="usage-column">
        <div class="tiles">
          <Tile
            name="Model calls"
            value={formatCount(all.calls)}
            note={isAllHere ? `all ${onPath}` : makeNote(formatCount(here.calls))}
          />
          <Tile
            name="Tokens in, with cache"
            value={formatTokens(countInputTokens(all))}
            note={makeNote(formatTokens(countInputTokens(here)))}
          />
          <Tile
            name="Tokens out"
            value={formatTokens(all.output)}
            note={makeNote(formatTokens(here.output))}
          />
          <Tile
            name="From cache"
            value={formatPercent(cacheShare(all))}
            note={`${formatTokens(all.cacheRead)} of the tokens in`}
          />
          <Tile
            name="Cost"
            value={formatCost(all)}
            note={joinNonempty("; ", explainCost(all), makeNote(formatCost(here)))}
          />
        </div>
        {listed !== undefined && formatCost(listed) !== formatCost(all) && (
          <p class="muted">
            The list of sessions shows {formatCost(listed)}: it includes subagents, and counts the usage that
            a fork inherited only for its parent.
          </p>
        )}
        <TokenChart calls={usage.counted} path={path} />
        <CostChart usage={usage} />
        <ModelTable models={models} all={all} />
        <CallTable calls={calls} />
      </div>
    </section>
  );
}

/** A number, and its meaning. */
export function Tile({ name, value, note }: { name: string; value: string; note: string }) {
  return (
    <div class="tile">
      <div class="tile-name">{name}</div>
      <div class="tile-value">{value}</div>
      <div class="tile-note">{note}</div>
    </div>
  );
}

/** Column headings. Some of the input tokens are read from a cache, and some are written to it. */
const COLUMNS = ["Model", "Calls", "In", "From cache", "To cache", "Out", "Cache share", "Cost"];

function formatCells(sum: Spent): string[] {
  const { calls, cacheRead, cacheWrite, output } = sum;
  return [
    formatCount(calls),
    ...[countInputTokens(sum), cacheRead, cacheWrite, output].map(formatTokens),
    formatPercent(cacheShare(sum)),
    formatCost(sum),
  ];
}

function ModelTable({ models, all }: Pick<SessionUsage, "models" | "all">) {
  const rows = models.map(({ model, sum }, index): UsageRow => {
    const name = (
      <>
        <span class={`swatch series-${index % 6}`} />
        {model}
      </>
    );
    return { key: model, name, cells: formatCells(sum) };
  });
  if (models.length > 1) rows.push({ key: "total", name: "total", cells: formatCells(all), isSum: true });
  return <UsageTable title="By model, whole session" columns={COLUMNS} rows={rows} />;
}

/** Cumulative cost of the session at each model call, in areas by model. */
function CostChart({ usage }: { usage: SessionUsage }) {
  const { all } = usage;
  const cost = getDollars(all);
  if (cost === 0) return <p class="muted">No costs are recorded.</p>;
  const { names, sums } = sumCosts(usage);
  const legend = names.map((name, index) => [`series-${index % 6}`, name] as const);
  const step = PLOT.width / Math.max(1, sums.length - 1);
  return (
    <ChartFrame
      title={`Cost so far by model, whole session${all.estimated === null ? "" : ", with estimates"}`}
      legend={legend}
      max={cost}
      write={roundDollars}
    >
      {(y) =>
        names.map((name, index) => {
          const top = sums.map((sum, at) => `${at * step},${y(sliceUpTo(sum, index + 1))}`);
          const bottom = sums.map((sum, at) => `${at * step},${y(sliceUpTo(sum, index))}`).reverse();
          return (
            <polygon key={name} class={`area series-${index % 6}`} points={[...top, ...bottom].join(" ")} />
          );
        })
      }
    </ChartFrame>
  );
}

function sliceUpTo(sum: readonly number[], end: number): number {
  return sum.slice(0, end).reduce((all, one) => all + one, 0);
}

/** Parts of a bar, from the bottom. */
const PARTS = [
  ["cacheRead", "part-cache-read", "in, from cache"],
  ["cacheWrite", "part-cache-write", "in, to cache"],
  ["input", "part-input", "in, not cached"],
  ["output", "part-output", "out"],
] as const;

/** Maximum number of bars: more are too narrow to point at, and slow to draw. */
const MAX_BARS = 120;

/** Tokens of each model call; consecutive calls share a bar if there are very many. */
function TokenChart({ calls, path }: { calls: readonly ModelCall[]; path: PathView }) {
  const { session, go } = usePage();
  const groups = groupCalls(calls, MAX_BARS);
  const sizes = groups.map(
    (group) => PARTS.reduce((all, [name]) => all + group.sum[name], 0) / group.calls.length,
  );
  const together = groups[0]?.calls.length ?? 1;
  const isAnyAside = groups.some((group) => !isOnPath(group, path));
  const mean = together > 1 ? ` (mean of ${formatCount(together)} calls)` : "";
  const aside = `not ${formatPlace(session, path.end)}`;
  const bars = groups.flatMap((group): Bar[] => {
    const { calls: some, sum } = group;
    const [first] = some;
    if (first === undefined) return [];
    const isAside = !isOnPath(group, path);
    return [
      {
        key: first.ordinal,
        title: [formatBarTitle(group), ...(isAside ? [aside] : [])].join("\n"),
        parts: PARTS.map(([name, series]) => [series, sum[name] / some.length] as const),
        isAside,
        onChoose: () => go({ go: "entry", ordinal: first.ordinal }),
      },
    ];
  });
  return (
    <BarChart
      title={`Tokens per model call, whole session${mean}`}
      legend={[
        ...PARTS.map(([, series, word]) => [series, word] as const),
        ...(isAnyAside ? [["part-aside", `faded: ${aside}`] as const] : []),
      ]}
      max={Math.max(0, ...sizes)}
      write={formatTokens}
      bars={bars}
      choose="Show the entry"
    />
  );
}

function isOnPath({ calls }: CallGroup, { indices }: PathView): boolean {
  return calls.some(({ ordinal }) => indices.has(ordinal));
}

function formatBarTitle({ calls, sum }: CallGroup): string {
  const models = [...new Set(calls.map(({ used }) => used.model))].join(", ");
  const parts = PARTS.map(
    ([name, , word]) => `${word}: ${formatCount(Math.round(sum[name] / calls.length))}`,
  );
  return [models, ...parts].join("\n");
}

/** Number of calls listed until the reader requests all. */
const FIRST = 20;

const ORDERS: readonly (readonly [CallOrder, string])[] = [
  ["cost", "by cost"],
  ["tokens", "by tokens"],
  ["time", "in order"],
];

const CALL_COLUMNS = ["Entry", "Cost", "In", "From cache", "Out", "Time", "Model"];

/** Table of all model calls and their usage, which links each one to its entry. */
function CallTable({ calls }: { calls: readonly ModelCall[] }) {
  const { session, go } = usePage();
  const [order, setOrder] = useState<CallOrder>("cost");
  const [isWhole, showWhole] = useState(false);
  const shown = orderCalls(calls, order, isWhole ? calls.length : FIRST);
  const rows = shown.map(({ ordinal, used }): UsageRow => {
    const { model, cacheRead, output } = used;
    const entry = session.entryAt(ordinal);
    const name = (
      <LinkButton onClick={() => go({ go: "entry", ordinal })}>
        {getExcerpt(entry).text || (entry?.id ?? "")}
      </LinkButton>
    );
    const numbers = [countInputTokens(used), cacheRead, output].map(formatCount);
    return { key: ordinal, name, cells: [formatCost(used), ...numbers, formatTime(entry?.timestamp), model] };
  });
  const orders = <Segments label="Order of the calls" choices={ORDERS} chosen={order} onChoose={setOrder} />;
  return (
    <UsageTable
      class="call-table"
      title="Calls, whole session"
      tools={orders}
      columns={CALL_COLUMNS}
      rows={rows}
    >
      {shown.length < calls.length && (
        <LinkButton onClick={() => showWhole(true)}>Show all {formatCount(calls.length)} calls</LinkButton>
      )}
    </UsageTable>
  );
}

/** Row of a usage table. */
interface UsageRow {
  readonly key: string | number;
  readonly name: ComponentChildren;
  readonly cells: readonly string[];
  /** Whether it is the sum of the other rows. */
  readonly isSum?: boolean;
}

interface UsageTableProps {
  readonly class?: string;
  readonly title: string;
  /** Content next to the title. */
  readonly tools?: ComponentChildren;
  /** Names of the columns; the first is for the row names. */
  readonly columns: readonly string[];
  readonly rows: readonly UsageRow[];
  /** Content below the table. */
  readonly children?: ComponentChildren;
}

/** Usage table; on a phone, each row is a card whose cells are labeled with the names of their columns. */
function UsageTable({ class: extra = "", title, tools, columns, rows, children }: UsageTableProps) {
  return (
    <figure class="chart">
      <figcaption>
        {title}
        {tools}
      </figcaption>
      <div class="table-scroll">
        <table class={`model-table ${extra}`.trim()}>
          <thead>
            <tr>
              {columns.map((name) => (
                <th key={name}>{name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ key, name, cells, isSum = false }) => (
              <tr key={key} class={isSum ? "is-sum" : ""}>
                <th scope="row">{name}</th>
                {cells.map((cell, index) => (
                  <td key={columns[index + 1]} data-name={columns[index + 1]}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {children}
    </figure>
  );
}
