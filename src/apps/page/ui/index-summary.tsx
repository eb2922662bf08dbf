import { formatCount, formatCounted, roundDollars } from "../../../core/facts/number-text.ts";
import {
  explainCost,
  formatCost,
  getDollars,
  type Spent,
  sumSpent,
} from "../../../core/facts/usage-tally.ts";
import { formatTokens } from "../model/format.ts";
import { dropEmptyYears, type SpentGroup, type SpentSpan, sumByKey, sumSpans } from "../model/index-usage.ts";
import { type Bar, BarChart } from "./bars.tsx";
import { Tile } from "./usage-view.tsx";
import { WIDE } from "./viewport.ts";

/** Maximum number of models with their own color; the others share one. */
const MAX_MODELS = 5;
const OTHERS = "others";

/** Height of the chart, in its units. */
const HEIGHT = 90;

interface IndexSummaryProps {
  readonly groups: readonly SpentGroup[];
  readonly sessions: number;
  /** Called to show only one day or month. */
  readonly onSpan: (name: string) => void;
}

/** Usage of the listed sessions, in total and by day and model. */
export function IndexSummary({ groups, sessions, onSpan }: IndexSummaryProps) {
  const all = sumSpent(groups);
  const { input, cacheRead, cacheWrite, output, calls } = all;
  if (calls === 0) return null;
  return (
    <section class="index-summary" aria-label="Usage">
      <div class="tiles">
        <Tile name="Cost" value={formatCost(all)} note={explainCost(all)} />
        <Tile
          name="Model calls"
          value={formatCount(calls)}
          note={`in ${formatCounted(sessions, "session", "sessions")}`}
        />
        <Tile
          name="Tokens in, with cache"
          value={formatTokens(input + cacheRead + cacheWrite)}
          note={`${formatTokens(cacheRead)} from cache`}
        />
        <Tile
          name="Tokens out"
          value={formatTokens(output)}
          note={`${formatTokens(output / calls)} a call`}
        />
      </div>
      <SpentChart groups={groups} all={all} onSpan={onSpan} />
    </section>
  );
}

/** Cost by day or month, split by model, with estimates faded; tokens if no cost is known. */
function SpentChart({ groups, all, onSpan }: Pick<IndexSummaryProps, "groups" | "onSpan"> & { all: Spent }) {
  const isPriced = getDollars(all) > 0;
  const getSize = (spent: Spent) => (isPriced ? getDollars(spent) : spent.total);
  const sums = [...sumByKey(groups, ({ model }) => model)]
    .filter(([, spent]) => getSize(spent) > 0)
    .sort(([, a], [, b]) => getSize(b) - getSize(a));
  const isSplit = sums.length > MAX_MODELS + 1;
  const models = sums.slice(0, isSplit ? MAX_MODELS : undefined).map(([model]) => model);
  const spans = sumSpans(
    dropEmptyYears(groups, getSize).map((group) =>
      models.includes(group.model) ? group : { ...group, model: OTHERS },
    ),
  );
  const [first, last] = [spans[0]?.name, spans.at(-1)?.name];
  if (first === undefined) return null;
  const series = isSplit ? [...models, OTHERS] : models;
  const bars = spans.map((span): Bar => {
    const parts = series.flatMap((model, index) => {
      const { cost = 0, estimated = 0, total = 0 } = span.models.get(model) ?? {};
      return [
        [`series-${index}`, isPriced ? (cost ?? 0) : total] as const,
        [`series-${index} is-estimated`, isPriced ? (estimated ?? 0) : 0] as const,
      ];
    });
    return {
      key: span.name,
      title: makeTitle(span, series, isPriced),
      parts,
      onChoose: () => onSpan(span.name),
    };
  });
  const legend = series.map((name, index) => [`series-${index}`, name] as const);
  const hasEstimates = isPriced && all.estimated !== null;
  const unit = first.length === 7 ? "month" : "day";
  return (
    // On a phone it would separate the reader from the sessions.
    <details class="index-chart" open={matchMedia(WIDE).matches}>
      <summary>Over time</summary>
      <BarChart
        title={`${isPriced ? "Cost" : "Tokens"} by ${unit} and model, ${first === last ? first : `${first} to ${last}`}`}
        bars={bars}
        choose={`Only this ${unit}`}
        legend={hasEstimates ? [...legend, ["series-5 is-estimated", "faded: estimated"]] : legend}
        max={Math.max(...bars.map(({ parts }) => parts.reduce((sum, [, size]) => sum + size, 0)))}
        write={isPriced ? roundDollars : formatTokens}
        height={HEIGHT}
      />
    </details>
  );
}

function makeTitle({ name, models }: SpentSpan, series: readonly string[], isPriced: boolean): string {
  const lines = series.flatMap((model) => {
    const spent = models.get(model);
    if (spent === undefined) return [];
    return [`${model}: ${formatCost(spent)}, ${formatTokens(spent.total)} tokens`];
  });
  const all = sumSpent(models.values());
  const sum = isPriced ? formatCost(all) : `${formatTokens(all.total)} tokens`;
  const total = lines.length < 2 ? "" : `: ${sum}`;
  return [name + total, ...lines].join("\n");
}
