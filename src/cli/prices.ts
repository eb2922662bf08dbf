import { readFileSync } from "node:fs";
import type { PriceFunction } from "../catalog/usage-groups.ts";
import { fieldsOf } from "../context/entry-fields.ts";
import { hasErrorCode } from "../fs/file-system.ts";
import { parseJson } from "../jsonl/decode.ts";
import { messageOf } from "../schema/errors.ts";
import { isJsonRecord, type JsonRecord } from "../schema/json.ts";
import { UsageError } from "./usage-error.ts";

/** What can have a price in a file, in US dollars per million tokens. */
const PRICED = ["input", "output", "cacheRead", "cacheWrite"] as const;

const MILLION = 1_000_000;

/** Stands in for the rest of a name. */
const REST = "*";

/**
 * Reads prices from a JSON file: an object of models (`provider/model` or `model`, also with a `*` at the end), each with dollars per
 * million tokens of `input`, `output`, `cacheRead` and `cacheWrite`.
 *
 * Cached tokens without a price of their own cost what input costs.
 *
 * @throws {UsageError} If the file cannot be read, or says anything else.
 */
export function readPrices(path: string): PriceFunction {
  const prices = pricesIn(path);
  const patterns = [...prices.keys()]
    .filter((name) => name.endsWith(REST))
    .sort((a, b) => b.length - a.length);
  const priceOf = (name: string) =>
    prices.get(name) ?? prices.get(patterns.find((one) => name.startsWith(one.slice(0, -1))) ?? "");
  return (provider, model, usage) => {
    const price = (provider === null ? undefined : priceOf(`${provider}/${model}`)) ?? priceOf(model);
    if (price === undefined) return undefined;
    const { input = 0, cacheRead = input, cacheWrite = input, output = 0 } = price;
    const { input: tokens, cacheRead: read, cacheWrite: written } = usage;
    return (tokens * input + read * cacheRead + written * cacheWrite + usage.output * output) / MILLION;
  };
}

type Price = { readonly [Name in (typeof PRICED)[number]]?: number };

function pricesIn(path: string): ReadonlyMap<string, Price> {
  const wrong = (why: string) =>
    new UsageError(
      `${path} has no prices: ${why}. It must hold JSON such as {"acme/acorn-2": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75}}, in dollars per million tokens.`,
    );
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw wrong(messageOf(error));
  }
  const models = parseJson(text)?.value;
  if (!isJsonRecord(models)) throw wrong("it is no JSON object");
  return new Map(
    Object.entries(models).map(([name, price]) => {
      if (!isJsonRecord(price)) throw wrong(`${name} is no object`);
      const odd = Object.entries(price).find(([kind, value]) => !isPriced(kind) || !isPrice(value));
      if (odd !== undefined) throw wrong(`${name} has ${odd[0]}: ${JSON.stringify(odd[1])}`);
      return [name, numbersIn(price)];
    }),
  );
}

function numbersIn(price: JsonRecord): Price {
  return Object.fromEntries(PRICED.flatMap((kind) => (isPrice(price[kind]) ? [[kind, price[kind]]] : [])));
}

function isPriced(kind: string): boolean {
  return PRICED.some((one) => one === kind);
}

function isPrice(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && Number.isFinite(value);
}

const PACKAGE: string = "@pydantic/genai-prices";

/**
 * Returns the prices of the package `@pydantic/genai-prices`; undefined if it is not installed.
 *
 * A model that a provider does not list is looked for by its name alone, since others resell it.
 */
export async function installedPrices(): Promise<PriceFunction | undefined> {
  const calcPrice = await loadCalcPrice();
  if (calcPrice === undefined) return undefined;
  return (provider, model, usage, time) => {
    const { input, output, cacheRead, cacheWrite } = usage;
    const tokens = {
      input_tokens: input + cacheRead + cacheWrite,
      cache_read_tokens: cacheRead,
      cache_write_tokens: cacheWrite,
      output_tokens: output,
    };
    const options = time === null ? {} : { timestamp: time };
    const named = provider === null ? null : calcPrice(tokens, model, { ...options, providerId: provider });
    const { total_price: price } = fieldsOf(named ?? calcPrice(tokens, model, options));
    return typeof price === "number" ? price : undefined;
  };
}

async function loadCalcPrice(): Promise<((...given: unknown[]) => unknown) | undefined> {
  try {
    const { calcPrice } = fieldsOf({ ...(await import(PACKAGE)) });
    return typeof calcPrice === "function" ? (...given) => calcPrice(...given) : undefined;
  } catch (error) {
    if (hasErrorCode(error, "ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND")) return undefined;
    throw error;
  }
}
