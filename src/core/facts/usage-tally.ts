import { toNumber, toRecord } from "../context/entry-fields.ts";
import { calculateContextTokens } from "../context/usage.ts";
import type { Usage } from "../format/content.ts";
import { UNKNOWN_NAME } from "../format/message.ts";
import { formatCounted, formatDollars, joinNonempty } from "./number-text.ts";

/** Tokens and cost, added up. */
export interface UsageTotals {
  /** Number of calls that used tokens. Dollars recorded without tokens are not treated as a call. */
  count: number;
  /** Input tokens that were not served by a cache. */
  input: number;
  /** Output tokens, including reasoning. */
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** Part of `output` that was reasoning. */
  reasoning: number;
  totalTokens: number;
  /**
   * Cost in US dollars, as stated in the records; null if none of them states a cost. A zero that was not billed by a provider is
   * treated as missing.
   */
  cost: number | null;
}

const NUMBERS = ["count", "input", "output", "cacheRead", "cacheWrite", "reasoning", "totalTokens"] as const;

/** Provider and model of a call; null if the session does not specify them. */
export interface ModelNames {
  readonly provider: string | null;
  readonly model: string | null;
}

/** Tokens and cost of one model; null if the session does not specify the model. */
export interface ModelUsage extends UsageTotals {
  provider: string | null;
  model: string | null;
}

/** Sums up usage, in total and by model. */
export class UsageTally {
  readonly #total = makeEmptyUsage();
  readonly #byModel = new Map<string, ModelUsage>();

  /** Copy of the current sum. */
  get total(): UsageTotals {
    return { ...this.#total };
  }

  /** Sums by model, most expensive first, as copies. */
  get byModel(): ModelUsage[] {
    const models = Array.from(this.#byModel.values(), (usage) => ({ ...usage }));
    return models.sort(byCost);
  }

  /** Adds the usage of a call, or of several calls to one model. */
  add(usage: UsageTotals, { provider, model }: ModelNames): void {
    const names = { provider, model };
    const key = JSON.stringify(names);
    const ofModel = this.#byModel.get(key) ?? { ...names, ...makeEmptyUsage() };
    this.#byModel.set(key, ofModel);
    addTo(this.#total, usage);
    addTo(ofModel, usage);
  }
}

/** Orders usage totals by cost, and by tokens if the costs are equal, in descending order. */
function byCost(a: UsageTotals, b: UsageTotals): number {
  return (b.cost ?? 0) - (a.cost ?? 0) || b.totalTokens - a.totalTokens;
}

function makeEmptyUsage(): UsageTotals {
  const tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0, totalTokens: 0 };
  return { count: 0, ...tokens, cost: null };
}

/** Returns the numbers in a stored usage object. Missing numbers are 0. */
export function toUsageTotals(usage: Usage): UsageTotals {
  const { input, output, cacheRead, cacheWrite, reasoning, cost } = toRecord(usage);
  const totalTokens = calculateContextTokens(usage);
  return {
    count: totalTokens > 0 ? 1 : 0,
    input: toNumber(input),
    output: toNumber(output),
    cacheRead: toNumber(cacheRead),
    cacheWrite: toNumber(cacheWrite),
    reasoning: toNumber(reasoning),
    totalTokens,
    cost: toKnownCost(cost),
  };
}

/**
 * Returns the stated cost. Programs that do not know prices store zeros, because readers expect numbers. Only a billed zero means
 * that a call was free.
 */
function toKnownCost(cost: unknown): number | null {
  const { total, input, output, cacheRead, cacheWrite, totalFromProvider } = toRecord(cost);
  const sum = toNumber(input) + toNumber(output) + toNumber(cacheRead) + toNumber(cacheWrite);
  const dollars = typeof total === "number" ? toNumber(total) : sum;
  return dollars !== 0 || totalFromProvider === true ? dollars : null;
}

function addTo(sum: UsageTotals, more: UsageTotals): void {
  for (const name of NUMBERS) sum[name] += more[name];
  sum.cost = addDollars(sum.cost, more.cost);
}

/** Adds dollars to a sum. Null means unknown. */
export function addDollars(sum: number | null, more: number | null): number | null {
  return more === null ? sum : (sum ?? 0) + more;
}

/** Returns a stored name; null if it is missing or unknown. */
export function toNameOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" && value !== UNKNOWN_NAME ? value : null;
}

/** Usage of model calls. Stated costs are separate from costs estimated from prices. */
export interface Spent {
  calls: number;
  /** Input tokens that were not served by a cache. */
  input: number;
  /** Output tokens, including reasoning. */
  output: number;
  cacheRead: number;
  cacheWrite: number;
  total: number;
  /** Cost stated in records, in US dollars; null if none is stated. */
  cost: number | null;
  /** Cost estimated from prices for calls without a stated cost, in US dollars; null if there are no such calls. */
  estimated: number | null;
  /** Tokens of calls with neither a stated nor an estimated cost. */
  unpriced: number;
}

/** Returns an empty sum. */
export function makeEmptySpent(): Spent {
  const tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return { calls: 0, ...tokens, unpriced: 0, cost: null, estimated: null };
}

/** Adds up usages. */
export function sumSpent(parts: Iterable<Readonly<Spent>>): Spent {
  const sum = makeEmptySpent();
  for (const part of parts) addSpent(sum, part);
  return sum;
}

/** Adds a usage to a sum. */
export function addSpent(sum: Spent, part: Readonly<Spent>): void {
  // Fields rather than a loop over their names, which takes several times as long.
  sum.calls += part.calls;
  sum.input += part.input;
  sum.output += part.output;
  sum.cacheRead += part.cacheRead;
  sum.cacheWrite += part.cacheWrite;
  sum.total += part.total;
  sum.unpriced += part.unpriced;
  sum.cost = addDollars(sum.cost, part.cost);
  sum.estimated = addDollars(sum.estimated, part.estimated);
}

/** Returns the known cost in US dollars, both stated and estimated; 0 if nothing is known. */
export function getDollars({ cost, estimated }: Readonly<Spent>): number {
  return (cost ?? 0) + (estimated ?? 0);
}

/** Converts usage totals to `Spent`. Tokens without a stated cost are unpriced. */
export function toSpent({ count: calls, totalTokens: total, ...usage }: UsageTotals): Spent {
  const { input, output, cacheRead, cacheWrite, cost } = usage;
  const unpriced = cost === null ? total : 0;
  return { calls, input, output, cacheRead, cacheWrite, total, cost, estimated: null, unpriced };
}

/** Formats a cost: `$3.50`; `~$3.70` if part of it is estimated; a dash if nothing is known. */
export function formatCost({ cost, estimated }: Pick<Spent, "cost" | "estimated">): string {
  if (estimated === null) return formatDollars(cost);
  return `~${formatDollars((cost ?? 0) + estimated)}`;
}

/** Explains a cost: the estimated part, and the number of tokens without a known price. Empty if the whole cost is stated. */
export function explainCost({
  cost,
  estimated,
  unpriced,
}: Pick<Spent, "cost" | "estimated" | "unpriced">): string {
  return joinNonempty(
    "; ",
    estimated === null ? "" : cost === null ? "estimated" : `${formatDollars(estimated)} of it estimated`,
    unpriced === 0 ? "" : `${formatCounted(unpriced, "token")} without a known price`,
  );
}
