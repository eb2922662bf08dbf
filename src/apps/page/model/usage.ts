import { countInputTokens } from "../../../core/facts/usage.ts";
import {
  addSpent,
  getDollars,
  makeEmptySpent,
  type Spent,
  sumSpent,
} from "../../../core/facts/usage-tally.ts";
import type { UsedByCall } from "./entry-facts.ts";
import { rememberLatest } from "./latest-results.ts";
import type { PathView } from "./path-items.ts";
import type { SessionModel } from "./session-model.ts";

/** Model call with recorded usage. */
export interface ModelCall {
  readonly ordinal: number;
  readonly used: UsedByCall;
}

/** Usage of a session; each part is computed on first access. */
export class SessionUsage {
  /** All model calls with recorded usage, in file order: from messages, summaries, and other entries. */
  readonly calls: readonly ModelCall[];
  #all: Spent | undefined;
  #models: readonly ModelUsage[] | undefined;
  #counted: readonly ModelCall[] | undefined;

  constructor({ facts }: Pick<SessionModel, "facts">) {
    this.calls = facts.flatMap(({ used }, ordinal) => (used === undefined ? [] : { ordinal, used }));
  }

  /** Sum of all calls. */
  get all(): Spent {
    this.#all ??= sumSpent(this.models.map(({ sum }) => sum));
    return this.#all;
  }

  /** Sums by model, the most expensive first. */
  get models(): readonly ModelUsage[] {
    this.#models ??= sumByModel(this.calls);
    return this.#models;
  }

  /** Calls with tokens; a record can have only a cost. */
  get counted(): readonly ModelCall[] {
    this.#counted ??= this.calls.filter(({ used }) => used.total > 0);
    return this.#counted;
  }
}

/** Returns the usage of a session. */
export const getUsage = rememberLatest((session: SessionModel) => new SessionUsage(session), 1);

/** Sums the calls on a path; returns the sum of all calls if all are on it. */
export const sumOnPath = rememberLatest(
  ({ calls, all }: SessionUsage, { indices }: Pick<PathView, "indices">): Spent => {
    const own = calls.filter(({ ordinal }) => indices.has(ordinal));
    return own.length === calls.length ? all : sumCalls(own);
  },
  2,
);

/** Usage of one model. */
export interface ModelUsage {
  readonly model: string;
  readonly sum: Spent;
}

/** Sort orders for calls: chronological, the most expensive first, or the largest first. */
export type CallOrder = "time" | "cost" | "tokens";

/**
 * Returns calls in a different order; equal calls stay in file order.
 *
 * @param max - Maximum number of calls; the first in that order are returned.
 * @remarks Cost: O(n log n) for all n calls, O(n) for a few.
 */
export const orderCalls = rememberLatest(
  (calls: readonly ModelCall[], order: CallOrder, max: number): readonly ModelCall[] => {
    if (order === "time") return calls.slice(0, max);
    const getSize = ({ used }: ModelCall) => (order === "cost" ? getDollars(used) : used.total);
    if (max >= calls.length) return [...calls].sort((a, b) => getSize(b) - getSize(a));
    const first: ModelCall[] = [];
    let threshold = Number.NEGATIVE_INFINITY;
    for (const call of calls) {
      const size = getSize(call);
      if (first.length === max && size <= threshold) continue;
      first.splice(first.findLastIndex((one) => getSize(one) >= size) + 1, 0, call);
      if (first.length > max) first.pop();
      threshold = getSize(first.at(-1) ?? call);
    }
    return first;
  },
  2,
);

function sumCalls(calls: readonly ModelCall[]): Spent {
  return sumSpent(calls.map(({ used }) => used));
}

function sumByModel(calls: readonly ModelCall[]): ModelUsage[] {
  const byModel = new Map<string, Spent>();
  for (const { used } of calls) {
    const sum = byModel.get(used.model) ?? makeEmptySpent();
    byModel.set(used.model, sum);
    addSpent(sum, used);
  }
  const sums = Array.from(byModel, ([model, sum]) => ({ model, sum }));
  return sums.sort((a, b) => getDollars(b.sum) - getDollars(a.sum) || b.sum.total - a.sum.total);
}

/** Returns the fraction of input tokens read from a cache, from 0 to 1. */
export function cacheShare(usage: Spent): number {
  const all = countInputTokens(usage);
  return all === 0 ? 0 : usage.cacheRead / all;
}

/** Consecutive calls, and their sum. */
export interface CallGroup {
  readonly calls: readonly ModelCall[];
  readonly sum: Spent;
}

/**
 * Merges consecutive calls into groups.
 *
 * @param max - Maximum number of groups.
 */
export const groupCalls = rememberLatest((calls: readonly ModelCall[], max: number): readonly CallGroup[] => {
  const size = Math.max(1, Math.ceil(calls.length / max));
  return Array.from({ length: Math.ceil(calls.length / size) }, (_, index) => {
    const group = calls.slice(index * size, (index + 1) * size);
    return { calls: group, sum: sumCalls(group) };
  });
}, 1);

/** Cumulative costs of a session, by model. */
export interface CostSeries {
  /** Models with their own series, the most expensive first, and `others` if there are more. */
  readonly names: readonly string[];
  /** Cost of each series so far, in US dollars, at each point, starting at zero. */
  readonly sums: readonly (readonly number[])[];
}

/** Maximum number of models with their own series; the others share one. */
const MAX_MODELS = 5;

/** Maximum number of points; more would not change the line. */
const MAX_POINTS = 300;

/** Returns the cumulative costs of a session. */
export const sumCosts = rememberLatest(({ calls, models }: SessionUsage): CostSeries => {
  const isSplit = models.length > MAX_MODELS + 1;
  const own = models.slice(0, isSplit ? MAX_MODELS : undefined).map(({ model }) => model);
  const names = isSplit ? [...own, "others"] : own;
  const indices = new Map(own.map((model, index) => [model, index]));
  const sum = new Array<number>(names.length).fill(0);
  const sums = [[...sum]];
  const step = Math.max(1, Math.ceil(calls.length / MAX_POINTS));
  for (const [number, { used }] of calls.entries()) {
    const at = indices.get(used.model) ?? names.length - 1;
    sum[at] = (sum[at] ?? 0) + getDollars(used);
    if ((number + 1) % step === 0 || number === calls.length - 1) sums.push([...sum]);
  }
  return { names, sums };
}, 1);
