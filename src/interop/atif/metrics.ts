import { toRecord } from "../../core/context/entry-fields.ts";
import { countInputTokens, findUsage, getCallFields } from "../../core/facts/usage.ts";
import type { UsageTotals } from "../../core/facts/usage-tally.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { type JsonRecord, pickDefined } from "../../core/format/json.ts";
import type { AtifFinalMetrics, AtifMetrics } from "./trajectory.ts";

/** Returns the tokens and reported cost of an entry's model call; undefined if the entry does not report any. */
export function findMetrics(entry: AnySessionEntry | JsonRecord): AtifMetrics | undefined {
  const used = findUsage(entry);
  if (used === undefined) return undefined;
  const usage = toRecord(getCallFields(entry)["usage"]);
  const input = toWhole(countInputTokens(used));
  const output = toWhole(used.output);
  const isCounted = input !== undefined || output !== undefined;
  const metrics = pickDefined({
    // A call with tokens reports both counts. A call with only a cost reports neither.
    prompt_tokens: isCounted ? (input ?? 0) : undefined,
    completion_tokens: isCounted ? (output ?? 0) : undefined,
    cached_tokens: toWhole(used.cacheRead),
    cost_usd: used.cost !== null && used.cost >= 0 ? used.cost : undefined,
    extra: makeMetricsExtra(used, usage, (input ?? 0) + (output ?? 0)),
  });
  return Object.keys(metrics).length === 0 ? undefined : metrics;
}

function makeMetricsExtra(used: UsageTotals, usage: JsonRecord, sum: number): JsonRecord | undefined {
  const extra = pickDefined({
    cache_write_tokens: toWhole(used.cacheWrite),
    cache_write_1h_tokens: toWhole(usage["cacheWrite1h"]),
    reasoning_tokens: toWhole(used.reasoning),
    total_tokens: used.totalTokens === sum ? undefined : toWhole(used.totalTokens),
    cost_from_provider: toRecord(usage["cost"])["totalFromProvider"] === true ? true : undefined,
  });
  return Object.keys(extra).length === 0 ? undefined : extra;
}

/** Rounds a positive number to an integer. Returns undefined for zero, which means that nothing was reported. */
function toWhole(value: unknown): number | undefined {
  const whole = typeof value === "number" && Number.isFinite(value) ? Math.round(value) : 0;
  return whole > 0 ? whole : undefined;
}

/** Returns the sums of metrics. Omits a sum if all of its parts are unknown. */
export function sumMetrics(all: readonly AtifMetrics[]): AtifFinalMetrics {
  const sum = (name: Exclude<keyof AtifMetrics, "extra">) => {
    const known = all.flatMap((metrics) => metrics[name] ?? []);
    return known.length === 0 ? undefined : known.reduce((total, one) => total + one, 0);
  };
  return pickDefined({
    total_prompt_tokens: sum("prompt_tokens"),
    total_completion_tokens: sum("completion_tokens"),
    total_cached_tokens: sum("cached_tokens"),
    total_cost_usd: sum("cost_usd"),
  });
}

/** Returns the sums of a trajectory as the metrics of a single call, so that they can be added to another trajectory's sums. */
export function toMetrics(final: AtifFinalMetrics | undefined): AtifMetrics {
  return pickDefined({
    prompt_tokens: final?.total_prompt_tokens,
    completion_tokens: final?.total_completion_tokens,
    cached_tokens: final?.total_cached_tokens,
    cost_usd: final?.total_cost_usd,
  });
}
