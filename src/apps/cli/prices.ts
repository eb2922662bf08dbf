import { readFileSync } from "node:fs";
import type { PriceFunction } from "../../catalog/usage/usage-groups.ts";
import { getErrorMessage } from "../../core/format/errors.ts";
import { isJsonRecord, type JsonRecord } from "../../core/format/json.ts";
import { parseJson } from "../../core/jsonl/decode.ts";
import type { CommandCall } from "./command.ts";
import { textOption } from "./parameters.ts";
import { makeTablePrices, PRICED, type PricedTokens, sumAt } from "./price-table.ts";
import { resolvePath } from "./session-argument.ts";
import { UsageError } from "./usage-error.ts";

/** Option for a file of prices, used to estimate the cost of calls whose records state no cost. */
export const PRICES = textOption(
  "--prices <file>",
  "dollars per million tokens, as JSON; for calls without a stated cost",
);

/**
 * Returns prices from the `--prices` file or, without one, from a package that is loaded when the first price is requested.
 *
 * @throws {UsageError} If the file cannot be read, or does not contain prices.
 */
export function getPrices({ get, io }: CommandCall): PriceFunction {
  const path = get(PRICES);
  return path === undefined ? makeTablePrices() : readPrices(resolvePath(io.cwd, path));
}

const MILLION = 1_000_000;
const REST = "*";

/**
 * Reads prices from a JSON file: an object of models (`provider/model` or `model`, each also with a `*` at the end) with dollars
 * per million tokens of `input`, `output`, `cacheRead`, and `cacheWrite`.
 *
 * Cached tokens without a price cost as much as input. A call that used any other kind of token without a price has no price.
 *
 * @throws {UsageError} If the file cannot be read or has invalid content.
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

type Price = { readonly [Kind in keyof PricedTokens]?: number | undefined };

function readPriceFile(path: string): ReadonlyMap<string, Price> {
  const wrong = (why: string) =>
    new UsageError(
      `${path} has no prices: ${why}. It must contain JSON such as {"acme/acorn-2": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75}}, in dollars per million tokens.`,
    );
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw wrong(getErrorMessage(error));
  }
  const models = parseJson(text)?.value;
  if (!isJsonRecord(models)) throw wrong("it is not a JSON object");
  return new Map(
    Object.entries(models).map(([name, price]) => {
      if (!isJsonRecord(price)) throw wrong(`${name} is not an object`);
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
