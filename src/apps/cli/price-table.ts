import { createRequire } from "node:module";
import type { PriceFunction } from "../../catalog/usage/usage-groups.ts";
import { toRecord } from "../../core/context/entry-fields.ts";
import { getOrAdd } from "../../core/format/group-by.ts";
import { isJsonRecord, type JsonRecord } from "../../core/format/json.ts";

/** Kinds of tokens that have a price, in US dollars per million. */
export const PRICED = ["input", "output", "cacheRead", "cacheWrite"] as const;

/** Number per kind of token. */
export type PricedTokens = Readonly<Record<(typeof PRICED)[number], number>>;

/** Name, version, and date of the price table. A test compares the version with the lockfile. */
export const PRICE_TABLE = { name: "@pydantic/genai-prices", version: "0.1.8", date: "2026-09-23" } as const;

/** Formats an explanation of the `~` that marks an estimated cost. */
export function formatPriceTable(): string {
  const { name, version, date } = PRICE_TABLE;
  return `"~": estimated in part, with the prices of ${name} ${version}, ${date}.`;
}

const MILLION = 1_000_000;

/** Returns the cost of tokens, with a separate rate for each kind. */
export function sumAt(
  rates: { readonly [Kind in keyof PricedTokens]?: number | undefined },
  tokens: PricedTokens,
): number {
  return PRICED.reduce((sum, kind) => sum + tokens[kind] * (rates[kind] ?? 0), 0);
}

/** Creates a function that returns the price of a call from the package's table, which is loaded on first use. */
export function makeTablePrices(): PriceFunction {
  const models = new Map<string, ModelPrice>();
  let ask: AskPackage | undefined;
  return (provider, model, usage, time) => {
    const getPrice = getOrAdd(models, `${provider}/${model}`, () => {
      ask ??= loadPackage();
      return makeModelPrice(ask, provider, model);
    });
    return getPrice(usage, time);
  };
}

/** US dollars per token of each kind; null if no price is known. */
type Rates = PricedTokens | null;

/** Returns the price of a call of one model at a time. */
type ModelPrice = (tokens: PricedTokens, time: Date | null) => number | undefined;

/** Requests the price of a call of one model from the package. */
type AskModel = (tokens: PricedTokens) => Found;

const NO_TOKENS: PricedTokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Tokens of a call whose price shows when and from which size on the prices of its model change. */
const PROBE: PricedTokens = { ...NO_TOKENS, input: 1, output: 1 };

/** Creates the prices of one model, requested from the package once for each period and call size with different prices. */
function makeModelPrice(ask: AskPackage, provider: string | null, model: string): ModelPrice {
  // If the provider does not list the model, looks it up without the provider, because providers also resell others' models.
  const askAt = (time: Date | null): AskModel => {
    const options = time === null ? {} : { timestamp: time };
    return (tokens) => {
      const given = toPackageTokens(tokens);
      const named = provider === null ? null : ask(given, model, { ...options, providerId: provider });
      return toRecord(named ?? ask(given, model, options));
    };
  };
  const changes = getChanges(toRecord(askAt(null)(PROBE).model));
  const periods = new Map<number, AskRates>();
  return (tokens, time) => {
    if (changes === undefined) return toPrice(askAt(time)(tokens));
    const day = time?.toISOString().slice(0, 10);
    const period = day === undefined ? -1 : changes.filter((change) => change <= day).length;
    const rates = getOrAdd(periods, period, () => makePeriodRates(askAt(time)))(tokens);
    return rates === null ? undefined : sumAt(rates, tokens);
  };
}

/** Returns the rates for a call of this size. */
type AskRates = (tokens: PricedTokens) => Rates;

/** Creates the rates of one model during a period without price changes. */
function makePeriodRates(ask: AskModel): AskRates {
  const starts = getStarts(toRecord(ask(PROBE).model_price));
  const rates = new Map<number, Rates>();
  return ({ input, cacheRead, cacheWrite }) => {
    const size = starts.filter((start) => input + cacheRead + cacheWrite > start).length;
    const first = size === 0 ? Math.min(MILLION, starts[0] ?? MILLION) : (starts[size - 1] ?? 0) + 1;
    return getOrAdd(rates, size, () => askRates(ask, first));
  };
}

/** Requests the price of each kind of token, for calls with this number of input tokens. */
function askRates(ask: AskModel, input: number): Rates {
  const price = (tokens: Partial<PricedTokens>) => toPrice(ask({ ...NO_TOKENS, ...tokens })) ?? 0;
  if (toPrice(ask({ ...NO_TOKENS, input })) === undefined) return null;
  const ofInput = price({ input });
  return {
    input: ofInput / input,
    output: (price({ input, output: MILLION }) - ofInput) / MILLION,
    cacheRead: price({ cacheRead: input }) / input,
    cacheWrite: price({ cacheWrite: input }) / input,
  };
}

/** The package's result; an empty record if no price is known. */
interface Found extends JsonRecord {
  readonly total_price?: unknown;
  readonly model?: unknown;
  readonly model_price?: unknown;
}

function toPrice({ total_price: price }: Found): number | undefined {
  return typeof price === "number" ? price : undefined;
}

function getChanges({ prices }: { readonly prices?: unknown }): readonly string[] | undefined {
  if (!Array.isArray(prices)) return [];
  const constraints = prices.map((one: unknown) => toRecord(toRecord(one)["constraint"]));
  const days = constraints.map(({ start_date: day }) => day).filter((day) => typeof day === "string");
  const isByDay = constraints.every(
    (one) => Object.keys(one).length === 0 || typeof one["start_date"] === "string",
  );
  return isByDay ? days.sort() : undefined;
}

function getStarts(prices: JsonRecord): number[] {
  const starts = new Set<number>();
  for (const price of Object.values(prices)) {
    const tiers = isJsonRecord(price) ? price["tiers"] : undefined;
    if (!Array.isArray(tiers)) continue;
    for (const { start } of tiers.map(toRecord)) if (typeof start === "number") starts.add(start);
  }
  return [...starts].sort((a, b) => a - b);
}

/** Converts tokens to the package's counts, where input includes cached tokens. */
function toPackageTokens({ input, output, cacheRead, cacheWrite }: PricedTokens): Record<string, number> {
  return {
    input_tokens: input + cacheRead + cacheWrite,
    cache_read_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
    output_tokens: output,
  };
}

type AskPackage = (tokens: Record<string, number>, model: string, options: object) => unknown;

/** Loads the package on demand, because loading takes longer than the rest of the work here. */
function loadPackage(): AskPackage {
  const loaded: typeof import("@pydantic/genai-prices") = createRequire(import.meta.url)(PRICE_TABLE.name);
  return (tokens, model, options) => loaded.calcPrice(tokens, model, options);
}
