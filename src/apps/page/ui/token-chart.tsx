import { count } from "../../../core/facts/number-text.ts";
import { type Spent, sumSpent } from "../../../core/facts/spending.ts";
import { tokens } from "../model/format.ts";
import type { PathView } from "../model/path-items.ts";
import { endName } from "../model/session-model.ts";
import { groupCalls, type ModelCall } from "../model/usage.ts";
import { type Bar, BarChart } from "./bars.tsx";
import { usePage } from "./page-context.ts";

/** The parts of a bar, from the bottom. */
const PARTS = [
  ["cacheRead", "part-cache-read", "in, from cache"],
  ["cacheWrite", "part-cache-write", "in, to cache"],
  ["input", "part-input", "in, not cached"],
  ["output", "part-output", "out"],
] as const;

/** More bars than this cannot be told apart. */
const MOST_BARS = 190;

/** Tokens of each model call; calls that follow one another share a bar if there are very many. */
export function TokenChart({ calls, path }: { calls: readonly ModelCall[]; path: PathView }) {
  const { session, go } = usePage();
  // A record of costs alone is no bar.
  const counted = calls.filter(({ total }) => total > 0);
  const groups = groupCalls(counted, MOST_BARS).map((group) => ({ group, sum: sumSpent(group) }));
  const sizes = groups.map(
    ({ group, sum }) => PARTS.reduce((all, [name]) => all + sum[name], 0) / group.length,
  );
  const together = groups[0]?.group.length ?? 1;
  const isAnyAside = groups.some(({ group }) => !isOnPath(group, path));
  const mean = together > 1 ? ` (mean of ${count(together)} calls)` : "";
  const aside = `not on the path to ${endName(session, path.end)}`;
  const bars = groups.flatMap(({ group, sum }): Bar[] => {
    const [first] = group;
    if (first === undefined) return [];
    const isAside = !isOnPath(group, path);
    return [
      {
        key: first.ordinal,
        title: [barTitle(group, sum), ...(isAside ? [aside] : [])].join("\n"),
        parts: PARTS.map(([name, series]) => [series, sum[name] / group.length] as const),
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
      most={Math.max(0, ...sizes)}
      write={tokens}
      bars={bars}
      choose="Show the entry"
    />
  );
}

function isOnPath(group: readonly ModelCall[], { indices }: PathView): boolean {
  return group.some(({ ordinal }) => indices.has(ordinal));
}

function barTitle(group: readonly ModelCall[], sum: Spent): string {
  const models = [...new Set(group.map(({ model }) => model))].join(", ");
  const parts = PARTS.map(([name, , word]) => `${word}: ${count(Math.round(sum[name] / group.length))}`);
  return [models, ...parts].join("\n");
}
