import { useMemo } from "preact/hooks";
import { count, dollars } from "../../../core/facts/number-text.ts";
import { costText, type Spent, sumSpent } from "../../../core/facts/spending.ts";
import { tokensIn } from "../../../core/facts/usage.ts";
import { percent, tokens } from "../model/format.ts";
import type { PathView } from "../model/path-items.ts";
import { endName } from "../model/session-model.ts";
import { cacheShare, modelCalls, sumsByModel } from "../model/usage.ts";
import { CallTable } from "./call-table.tsx";
import { CostChart } from "./cost-chart.tsx";
import { usePage } from "./page-context.ts";
import { TokenChart } from "./token-chart.tsx";
import { type UsageRow, UsageTable } from "./usage-table.tsx";

/** What the session used: tokens, cache and cost, over its course and by model. */
export function UsageView({ path }: { path: PathView }) {
  const { session, listed } = usePage();
  const calls = useMemo(() => modelCalls(session), [session]);
  const all = useMemo(() => sumSpent(calls), [calls]);
  const here = useMemo(
    () => sumSpent(calls.filter(({ ordinal }) => path.indices.has(ordinal))),
    [calls, path],
  );
  if (calls.length === 0) return <div class="empty">No entry says what a model used.</div>;
  const models = sumsByModel(calls);
  const onPath = `on the path to ${endName(session, path.end)}`;
  // Where all is, one number is enough.
  const isAllHere = calls.every(({ ordinal }) => path.indices.has(ordinal));
  const noteOf = (number: string) => (isAllHere ? "" : `${number} ${onPath}`);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="usage" aria-label="Usage" tabIndex={0}>
      <div class="usage-column">
        <div class="tiles">
          <Tile
            name="Model calls"
            value={count(all.calls)}
            note={isAllHere ? `all ${onPath}` : noteOf(count(here.calls))}
          />
          <Tile
            name="Tokens in, with cache"
            value={tokens(tokensIn(all))}
            note={noteOf(tokens(tokensIn(here)))}
          />
          <Tile name="Tokens out" value={tokens(all.output)} note={noteOf(tokens(here.output))} />
          <Tile
            name="From cache"
            value={percent(cacheShare(all))}
            note={`${tokens(all.cacheRead)} of the tokens in`}
          />
          <Tile name="Cost" value={dollars(all.cost)} note={noteOf(dollars(here.cost))} />
          {all.estimated !== null && (
            <Tile
              name="Estimated"
              value={dollars(all.estimated)}
              note={["by prices", noteOf(dollars(here.estimated))].filter(Boolean).join("; ")}
            />
          )}
        </div>
        {listed !== undefined && costText(listed) !== costText(all) && (
          <p class="muted">
            The list of sessions tells {costText(listed)}: it counts subagents here, and what a fork has
            inherited where it was made.
          </p>
        )}
        <TokenChart calls={calls} path={path} />
        <CostChart calls={calls} models={models.map(({ model }) => model)} />
        <ModelTable models={models} all={all} />
        <CallTable calls={calls} />
      </div>
    </section>
  );
}

/** A number, and what it counts. */
export function Tile({ name, value, note }: { name: string; value: string; note: string }) {
  return (
    <div class="tile">
      <div class="tile-name">{name}</div>
      <div class="tile-value">{value}</div>
      <div class="tile-note">{note}</div>
    </div>
  );
}

/** Of what goes in, a part comes from a cache and a part is written to it. */
const COLUMNS = ["Model", "Calls", "In", "From cache", "To cache", "Out", "Cache share", "Cost"];

function cellsOf(sum: Spent): string[] {
  const { calls, cacheRead, cacheWrite, output } = sum;
  return [
    count(calls),
    ...[tokensIn(sum), cacheRead, cacheWrite, output].map(tokens),
    percent(cacheShare(sum)),
    costText(sum),
  ];
}

function ModelTable({ models, all }: { models: ReturnType<typeof sumsByModel>; all: Spent }) {
  const rows = models.map(({ model, sum }, index): UsageRow => {
    const name = (
      <>
        <span class={`swatch series-${index % 6}`} />
        {model}
      </>
    );
    return { key: model, name, cells: cellsOf(sum) };
  });
  if (models.length > 1) rows.push({ key: "total", name: "total", cells: cellsOf(all), isSum: true });
  return <UsageTable title="By model, whole session" columns={COLUMNS} rows={rows} />;
}
