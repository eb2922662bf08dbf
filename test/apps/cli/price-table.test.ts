import { readFileSync } from "node:fs";
import { calcPrice } from "@pydantic/genai-prices";
import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { makeTablePrices, PRICE_TABLE } from "../../../src/apps/cli/price-table.ts";

const MODELS = [
  ["anthropic", "claude-sonnet-4-5"],
  ["anthropic", "claude-opus-4-1"],
  ["openai", "gpt-5-codex"],
  ["google", "gemini-2.5-pro"],
  ["google", "gemini-2.0-flash"],
  ["deepseek", "deepseek-chat"],
  ["reseller", "claude-sonnet-4-5"],
  [null, "gpt-5"],
  ["acme", "acorn-2"],
] as const;

/** Returns prices of the package itself, for each call. */
function askPackage(
  provider: string | null,
  model: string,
  tokens: Record<string, number>,
  time: Date | null,
) {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = tokens;
  const usage = {
    input_tokens: input + cacheRead + cacheWrite,
    cache_read_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
    output_tokens: output,
  };
  const options = time === null ? {} : { timestamp: time };
  const named = provider === null ? null : calcPrice(usage, model, { ...options, providerId: provider });
  return (named ?? calcPrice(usage, model, options))?.total_price;
}

test("a price equals the package's, whatever the model, the day, and the size of the call", () => {
  const prices = makeTablePrices();
  const tokens = fc.oneof(fc.nat(500_000), fc.constantFrom(0, 199_999, 200_000, 200_001, 272_001));
  const call = fc.record({ input: tokens, output: tokens, cacheRead: tokens, cacheWrite: tokens });
  const time = fc.option(
    fc.date({ min: new Date("2024-01-01"), max: new Date("2026-12-31"), noInvalidDate: true }),
  );
  fc.assert(
    fc.property(fc.constantFrom(...MODELS), call, time, ([provider, model], used, when) => {
      const price = prices(provider, model, { ...used, totalTokens: 0 }, when);
      const wanted = askPackage(provider, model, used, when);
      if (wanted === undefined) expect(price).toBeUndefined();
      else expect(price).toBeCloseTo(wanted, 8);
    }),
    { numRuns: 300 },
  );
});

test("the table records the installed version", () => {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(`node_modules/${PRICE_TABLE.name}/package.json`, "utf8")));
  expect(PRICE_TABLE.version).toBe(version);
});
