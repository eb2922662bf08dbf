import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { PriceFunction } from "../../catalog/usage/usage-groups.ts";
import { toNumber, toRecord } from "../../core/context/entry-fields.ts";
import { getErrorMessage } from "../../core/format/errors.ts";
import { isJsonRecord, type JsonRecord } from "../../core/format/json.ts";
import { parseJson } from "../../core/jsonl/decode.ts";
import { hasErrorCode } from "../../session/fs/file-system.ts";
import type { CommandCall } from "./command.ts";
import { textOption } from "./parameters.ts";
import { resolvePath } from "./session-argument.ts";
import { UsageError } from "./usage-error.ts";

/** Names a file with prices, to estimate what calls cost of which no record says so. */
export const PRICES = textOption(
  "--prices <file>",
  "dollars per million tokens, as JSON; for calls without a stated cost",
);

/** Returns the prices of the file that a call names, else of the package that is installed, if there are any. */
export function loadPrices({ get, io }: CommandCall): { prices?: PriceFunction } {
  const path = get(PRICES);
  const prices = path === undefined ? loadInstalledPrices() : readPrices(resolvePath(io.cwd, path));
  return prices === undefined ? {} : { prices };
}

/** What can have a price in a file, in US dollars per million tokens. */
const PRICED = ["input", "output", "cacheRead", "cacheWrite"] as const;

const MILLION = 1_000_000;
const REST = "*";

/**
 * Reads prices from a JSON file: an object of models (`provider/model` or `model`, also with a `*` at the end), each with dollars per
 * million tokens of `input`, `output`, `cacheRead` and `cacheWrite`.
 *
 * Cached tokens without a price of their own cost what input costs. A call that used a kind of tokens without a price has none.
 *
 * @throws {UsageError} If the file cannot be read, or says anything else.
 */
function readPrices(path: string): PriceFunction {
  const prices = readPriceFile(path);
  const patterns = [...prices.keys()]
    .filter((name) => name.endsWith(REST))
    .sort((a, b) => b.length - a.length);
  const getPrice = (name: string) =>
    prices.get(name) ?? prices.get(patterns.find((one) => name.startsWith(one.slice(0, -1))) ?? "");
  return (provider, model, usage) => {
    const price = (provider === null ? undefined : getPrice(`${provider}/${model}`)) ?? getPrice(model);
    if (price === undefined) return undefined;
    const { input, cacheRead = input, cacheWrite = input, output } = price;
    const rates = { input, cacheRead, cacheWrite, output };
    if (PRICED.some((kind) => usage[kind] > 0 && rates[kind] === undefined)) return undefined;
    return sumAt(rates, usage) / MILLION;
  };
}

type ByKind = Readonly<Record<(typeof PRICED)[number], number>>;

type Price = { readonly [Kind in keyof ByKind]?: number | undefined };

function sumAt(prices: Price, usage: ByKind): number {
  return PRICED.reduce((sum, kind) => sum + usage[kind] * (prices[kind] ?? 0), 0);
}

function readPriceFile(path: string): ReadonlyMap<string, Price> {
  const wrong = (why: string) =>
    new UsageError(
      `${path} has no prices: ${why}. It must hold JSON such as {"acme/acorn-2": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75}}, in dollars per million tokens.`,
    );
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw wrong(getErrorMessage(error));
  }
  const models = parseJson(text)?.value;
  if (!isJsonRecord(models)) throw wrong("it is no JSON object");
  return new Map(
    Object.entries(models).map(([name, price]) => {
      if (!isJsonRecord(price)) throw wrong(`${name} is no object`);
      const kinds: readonly string[] = PRICED;
      const odd = Object.entries(price).find(([kind, value]) => !kinds.includes(kind) || !isPrice(value));
      if (odd !== undefined) throw wrong(`${name} has ${odd[0]}: ${JSON.stringify(odd[1])}`);
      return [name, pickNumbers(price)];
    }),
  );
}

function pickNumbers(price: JsonRecord): Price {
  return Object.fromEntries(PRICED.flatMap((kind) => (isPrice(price[kind]) ? [[kind, price[kind]]] : [])));
}

function isPrice(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && Number.isFinite(value);
}

/**
 * Returns the prices of the package `@pydantic/genai-prices`; undefined if it is not installed.
 *
 * A model that a provider does not list is looked for by its name alone, since others resell it.
 */
function loadInstalledPrices(): PriceFunction | undefined {
  const calcPrice = loadCalcPrice();
  if (calcPrice === undefined) return undefined;
  const rates = new Map<string, Rates>();
  return (provider, model, usage, time) => {
    const options = time === null ? {} : { timestamp: time };
    const resultFor = (tokens: object) => {
      const named = provider === null ? null : calcPrice(tokens, model, { ...options, providerId: provider });
      return toRecord(named ?? calcPrice(tokens, model, options));
    };
    const key = `${provider}/${model}`;
    const known = rates.get(key) ?? getRates(resultFor);
    rates.set(key, known);
    if (known === "unknown") return undefined;
    if (known === "varying") return toNumberOrNothing(resultFor(toPackageTokens(usage))["total_price"]);
    return sumAt(known, usage);
  };
}

/** Dollars per token, where they depend on neither the time nor the size of a call. */
type Rates = "unknown" | "varying" | Readonly<Record<(typeof PRICED)[number], number>>;

/** Asks for prices of single kinds of tokens: one question to the package takes longer than thousands of sums. */
function getRates(resultFor: (tokens: object) => JsonRecord): Rates {
  const getRate = (kind: (typeof PRICED)[number]) => {
    const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    return toNumber(resultFor(toPackageTokens({ ...none, [kind]: MILLION }))["total_price"]) / MILLION;
  };
  const {
    total_price: price,
    model,
    model_price: prices,
  } = resultFor(toPackageTokens({ input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }));
  if (toNumberOrNothing(price) === undefined) return "unknown";
  const isFixed = !Array.isArray(toRecord(model)["prices"]);
  const isFlat = Object.values(toRecord(prices)).every((one) => typeof one === "number");
  if (!isFixed || !isFlat) return "varying";
  return {
    input: getRate("input"),
    output: getRate("output"),
    cacheRead: getRate("cacheRead"),
    cacheWrite: getRate("cacheWrite"),
  };
}

/** Returns tokens as the package counts them: its input includes what a cache had. */
function toPackageTokens({
  input,
  output,
  cacheRead,
  cacheWrite,
}: Record<(typeof PRICED)[number], number>): object {
  return {
    input_tokens: input + cacheRead + cacheWrite,
    cache_read_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
    output_tokens: output,
  };
}

function toNumberOrNothing(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** Loads the package where it is used: it takes longer than all else here. */
function loadCalcPrice(): ((...given: unknown[]) => unknown) | undefined {
  try {
    const loaded: unknown = createRequire(import.meta.url)("@pydantic/genai-prices");
    const { calcPrice } = toRecord(loaded);
    return typeof calcPrice === "function" ? (...given) => calcPrice(...given) : undefined;
  } catch (error) {
    if (hasErrorCode(error, "ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND")) return undefined;
    throw error;
  }
}
