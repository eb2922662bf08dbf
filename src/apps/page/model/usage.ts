import { countInputTokens } from "../../../core/facts/usage.ts";
import { getDollars, type Spent, sumSpent } from "../../../core/facts/usage-tally.ts";
import { groupBy } from "../../../core/format/group-by.ts";
import type { UsedByCall } from "./entry-facts.ts";
import type { SessionModel } from "./session-model.ts";

/** Usage of one model call. */
export interface ModelCall extends UsedByCall {
  readonly ordinal: number;
}

/** Returns all model calls with recorded usage, in file order: from messages, summaries, and other entries. */
export function listModelCalls({ facts }: SessionModel): ModelCall[] {
  return facts.flatMap(({ used }, ordinal) => (used === undefined ? [] : { ordinal, ...used }));
}

/** Sort orders for calls: chronological, the most expensive first, or the largest first. */
export type CallOrder = "time" | "cost" | "tokens";

/** Returns calls in a different order; equal calls stay in file order. */
export function orderCalls(calls: readonly ModelCall[], order: CallOrder): ModelCall[] {
  if (order === "time") return [...calls];
  const getSize = (call: ModelCall) => (order === "cost" ? getDollars(call) : call.total);
  return [...calls].sort((a, b) => getSize(b) - getSize(a));
}

/** Adds up calls by model, the most expensive first. */
export function sumByModel(calls: readonly ModelCall[]): { model: string; sum: Spent }[] {
  const byModel = groupBy(calls, ({ model }) => model);
  const sums = Array.from(byModel, ([model, some]) => ({ model, sum: sumSpent(some) }));
  return sums.sort((a, b) => getDollars(b.sum) - getDollars(a.sum) || b.sum.total - a.sum.total);
}

/** Returns the fraction of input tokens read from a cache, from 0 to 1. */
export function cacheShare(usage: Spent): number {
  const all = countInputTokens(usage);
  return all === 0 ? 0 : usage.cacheRead / all;
}

/**
 * Merges consecutive calls into groups.
 *
 * @param max - Maximum number of groups.
 */
export function groupCalls(calls: readonly ModelCall[], max: number): ModelCall[][] {
  const size = Math.max(1, Math.ceil(calls.length / max));
  const groups: ModelCall[][] = [];
  for (let at = 0; at < calls.length; at += size) groups.push(calls.slice(at, at + size));
  return groups;
}
