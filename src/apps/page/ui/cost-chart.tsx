import { roundDollars } from "../../../core/facts/number-text.ts";
import { dollarsOf, sumSpent } from "../../../core/facts/spending.ts";
import { groupCalls, type ModelCall } from "../model/usage.ts";
import { ChartFrame, PLOT } from "./chart-frame.tsx";

/** The models with an area of their own; the others share one. */
const MOST_MODELS = 5;

/** More points than this make no other line. */
const MOST_POINTS = 300;

/** What the session has cost so far, at each model call, in areas by model. */
export function CostChart({ calls, models }: { calls: readonly ModelCall[]; models: readonly string[] }) {
  const all = sumSpent(calls);
  const cost = dollarsOf(all);
  if (cost === 0) return <p class="muted">No entry says what it cost.</p>;
  const isSplit = models.length > MOST_MODELS + 1;
  const names = isSplit ? models.slice(0, MOST_MODELS) : models;
  const series = isSplit ? [...names, "others"] : names;
  const sums = runningSums(calls, names, series.length);
  const legend = series.map((name, index) => [`series-${index % 6}`, name] as const);
  const step = PLOT.width / Math.max(1, sums.length - 1);
  return (
    <ChartFrame
      title={`Cost so far by model, whole session${all.estimated === null ? "" : ", with estimates"}`}
      legend={legend}
      most={cost}
      write={roundDollars}
    >
      {(y) =>
        series.map((name, index) => {
          const top = sums.map((sum, at) => `${at * step},${y(upTo(sum, index + 1))}`);
          const bottom = sums.map((sum, at) => `${at * step},${y(upTo(sum, index))}`).reverse();
          return (
            <polygon key={name} class={`area series-${index % 6}`} points={[...top, ...bottom].join(" ")} />
          );
        })
      }
    </ChartFrame>
  );
}

/** The cost of each series up to each point, from nothing on. */
function runningSums(calls: readonly ModelCall[], names: readonly string[], size: number): number[][] {
  const sums: number[][] = [new Array<number>(size).fill(0)];
  for (const group of groupCalls(calls, MOST_POINTS)) {
    const sum = [...(sums.at(-1) ?? [])];
    for (const call of group) {
      const named = names.indexOf(call.model);
      const at = named === -1 ? size - 1 : named;
      sum[at] = (sum[at] ?? 0) + dollarsOf(call);
    }
    sums.push(sum);
  }
  return sums;
}

function upTo(sum: readonly number[], end: number): number {
  return sum.slice(0, end).reduce((all, one) => all + one, 0);
}
