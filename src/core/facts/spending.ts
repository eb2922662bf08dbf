import { dollars } from "./number-text.ts";
import { addDollars, type UsageTotals } from "./usage-tally.ts";

/** What calls of models used, with dollars that records state and dollars by prices apart. */
export interface Spent {
  calls: number;
  /** Tokens of input that no cache served. */
  input: number;
  /** Reasoning included. */
  output: number;
  cacheRead: number;
  cacheWrite: number;
  total: number;
  /** US dollars that records state; null if none does. */
  cost: number | null;
  /** US dollars by prices, of calls whose records state none; null without any. */
  estimated: number | null;
  /** Tokens of calls for which neither is known. */
  unpriced: number;
}

const NUMBERS = ["calls", "input", "output", "cacheRead", "cacheWrite", "total", "unpriced"] as const;

/** Returns a sum of nothing. */
export function nothingSpent(): Spent {
  const tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return { calls: 0, ...tokens, unpriced: 0, cost: null, estimated: null };
}

/** Adds up what was used. */
export function sumSpent(parts: Iterable<Readonly<Spent>>): Spent {
  const sum = nothingSpent();
  for (const part of parts) {
    for (const name of NUMBERS) sum[name] += part[name];
    sum.cost = addDollars(sum.cost, part.cost);
    sum.estimated = addDollars(sum.estimated, part.estimated);
  }
  return sum;
}

/** Returns what was spent as far as it is known: stated and estimated, or 0. */
export function dollarsOf({ cost, estimated }: Readonly<Spent>): number {
  return (cost ?? 0) + (estimated ?? 0);
}

/** Returns what a usage says was spent: what states no cost is unpriced. */
export function spentOf({ count: calls, totalTokens: total, ...usage }: UsageTotals): Spent {
  const { input, output, cacheRead, cacheWrite, cost } = usage;
  const unpriced = cost === null ? total : 0;
  return { calls, input, output, cacheRead, cacheWrite, total, cost, estimated: null, unpriced };
}

/** Writes what was spent: `$3.50`, `$0.20 estimated`, or both; a dash for what is not known. */
export function costText({ cost, estimated }: Pick<Spent, "cost" | "estimated">): string {
  const stated = cost === null && estimated !== null ? "" : dollars(cost);
  const guess = estimated === null ? "" : `${dollars(estimated)} estimated`;
  return [stated, guess].filter(Boolean).join(" + ");
}
