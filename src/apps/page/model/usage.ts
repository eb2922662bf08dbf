import { countInputTokens } from "../../../core/facts/usage.ts";
import { getDollars, type Spent, sumSpent } from "../../../core/facts/usage-tally.ts";
import { groupBy } from "../../../core/format/group-by.ts";
import type { UsedByCall } from "./entry-facts.ts";
import type { SessionModel } from "./session-model.ts";

/** What one call of a model used. */
export interface ModelCall extends UsedByCall {
  readonly ordinal: number;
}

/** Returns all calls of models that say what they used, in the order of the file: of messages, summaries and others. */
export function listModelCalls({ facts }: SessionModel): ModelCall[] {
  return facts.flatMap(({ used }, ordinal) => (used === undefined ? [] : { ordinal, ...used }));
}

/** By what calls are ordered: as they were made, the dearest first, or the largest first. */
export type CallOrder = "time" | "cost" | "tokens";

/** Returns calls in another order; equals stay in that of the file. */
export function orderCalls(calls: readonly ModelCall[], order: CallOrder): ModelCall[] {
  if (order === "time") return [...calls];
  const getSize = (call: ModelCall) => (order === "cost" ? getDollars(call) : call.total);
  return [...calls].sort((a, b) => getSize(b) - getSize(a));
}

/** Adds calls up by model, the dearest first. */
export function sumByModel(calls: readonly ModelCall[]): { model: string; sum: Spent }[] {
  const byModel = groupBy(calls, ({ model }) => model);
  const sums = Array.from(byModel, ([model, some]) => ({ model, sum: sumSpent(some) }));
  return sums.sort((a, b) => getDollars(b.sum) - getDollars(a.sum) || b.sum.total - a.sum.total);
}

/** The part of what went in that a cache served, from 0 to 1. */
export function cacheShare(usage: Spent): number {
  const all = countInputTokens(usage);
  return all === 0 ? 0 : usage.cacheRead / all;
}

/** Puts calls that follow one another together, so that there are at most so many groups. */
export function groupCalls(calls: readonly ModelCall[], max: number): ModelCall[][] {
  const size = Math.max(1, Math.ceil(calls.length / max));
  const groups: ModelCall[][] = [];
  for (let at = 0; at < calls.length; at += size) groups.push(calls.slice(at, at + size));
  return groups;
}
