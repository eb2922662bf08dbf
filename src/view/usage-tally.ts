import { fieldsOf, numberOf } from "../context/entry-fields.ts";
import { calculateContextTokens, isUsage } from "../context/usage.ts";
import type { Usage } from "../schema/content.ts";

/** Tokens and cost, added up. */
export interface UsageTotals {
  /** How many usages were added up. */
  count: number;
  /** Tokens of input that no cache served. */
  input: number;
  /** Reasoning included. */
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** The part of `output` that was reasoning. */
  reasoning: number;
  totalTokens: number;
  /** In US dollars. */
  cost: number;
}

/** Tokens and cost of one model; null if the session does not name it. */
export interface ModelUsage extends UsageTotals {
  provider: string | null;
  model: string | null;
}

/** Adds up usages, in total and by model. */
export class UsageTally {
  readonly #total = noUsage();
  readonly #byModel = new Map<string, ModelUsage>();

  /** The sum so far; a copy. */
  get total(): UsageTotals {
    return { ...this.#total };
  }

  /** The sums by model, most expensive first; copies. */
  get byModel(): ModelUsage[] {
    const models = Array.from(this.#byModel.values(), (usage) => ({ ...usage }));
    return models.sort(byCost);
  }

  /**
   * Adds a usage.
   *
   * @param usage - As stored: missing numbers count as 0, and anything but an object is ignored.
   */
  add(usage: unknown, provider: unknown, model: unknown): void {
    if (!isUsage(usage)) return;
    const names = { provider: nameOf(provider), model: nameOf(model) };
    const key = JSON.stringify(names);
    const ofModel = this.#byModel.get(key) ?? { ...names, ...noUsage() };
    this.#byModel.set(key, ofModel);
    const totals = usageTotals(usage);
    addTo(this.#total, totals);
    addTo(ofModel, totals);
  }

  /** Adds all usages of another tally. */
  addAll(other: UsageTally): void {
    addTo(this.#total, other.#total);
    for (const [key, usage] of other.#byModel) {
      const { provider, model } = usage;
      const ofModel = this.#byModel.get(key) ?? { provider, model, ...noUsage() };
      this.#byModel.set(key, ofModel);
      addTo(ofModel, usage);
    }
  }
}

/** Orders usages: the most expensive first, of equals the largest. */
export function byCost(a: UsageTotals, b: UsageTotals): number {
  return b.cost - a.cost || b.totalTokens - a.totalTokens;
}

/** Adds usages up. */
export function sumUsage(usages: Iterable<UsageTotals>): UsageTotals {
  const sum = noUsage();
  for (const usage of usages) addTo(sum, usage);
  return sum;
}

function noUsage(): UsageTotals {
  return {
    count: 0,
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    reasoning: 0,
    totalTokens: 0,
    cost: 0,
  };
}

/** Returns the numbers of one stored usage; those that are missing are 0. */
export function usageTotals(usage: Usage): UsageTotals {
  const { input, output, cacheRead, cacheWrite, reasoning, cost } = fieldsOf(usage);
  return {
    count: 1,
    input: numberOf(input),
    output: numberOf(output),
    cacheRead: numberOf(cacheRead),
    cacheWrite: numberOf(cacheWrite),
    reasoning: numberOf(reasoning),
    totalTokens: calculateContextTokens(usage),
    cost: costOf(cost),
  };
}

function costOf(cost: unknown): number {
  const { total, input, output, cacheRead, cacheWrite } = fieldsOf(cost);
  if (typeof total === "number") return numberOf(total);
  return numberOf(input) + numberOf(output) + numberOf(cacheRead) + numberOf(cacheWrite);
}

function addTo(sum: UsageTotals, more: UsageTotals): void {
  sum.count += more.count;
  sum.input += more.input;
  sum.output += more.output;
  sum.cacheRead += more.cacheRead;
  sum.cacheWrite += more.cacheWrite;
  sum.reasoning += more.reasoning;
  sum.totalTokens += more.totalTokens;
  sum.cost += more.cost;
}

function nameOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
