import { usageOf } from "../../convert/answer.ts";
import type { Usage } from "../../schema/content.ts";
import type { JsonRecord } from "../../schema/json.ts";
import { textOf } from "../source-values.ts";

/** Tokens by model. */
export type UsageSums = Map<string, Usage>;

const NAMES = ["input", "output", "cacheRead", "cacheWrite"] as const;

/** Converts the tokens of a call or of several; the source's input includes both caches. */
export function usageOfTokens(tokens: JsonRecord): Usage {
  return usageOf({
    inputWithCache: tokens["inputTokens"],
    output: tokens["outputTokens"],
    cacheRead: tokens["cacheReadTokens"],
    cacheWrite: tokens["cacheWriteTokens"],
    reasoning: tokens["reasoningTokens"],
  });
}

/** Adds tokens. */
export function addUsage(one: Usage, other: Usage): Usage {
  return combined((name) => one[name] + other[name]);
}

/** Returns what a total has beyond what is counted; totals after a rewind may have less. */
export function restOf(total: Usage, counted: Usage = usageOf()): Usage {
  return combined((name) => total[name] - counted[name]);
}

function combined(tokensOf: (name: (typeof NAMES)[number]) => number): Usage {
  return usageOf(Object.fromEntries(NAMES.map((name) => [name, tokensOf(name)])));
}

const APIS: ReadonlyMap<unknown, string> = new Map([
  ["/responses", "openai-responses"],
  ["ws:/responses", "openai-responses"],
  ["/v1/messages", "anthropic-messages"],
]);

/** Returns the API of a call, as its tokens tell it. */
export function apiOf(tokens: JsonRecord | undefined): string {
  return APIS.get(tokens?.["apiEndpoint"]) ?? "openai-completions";
}

/** Returns the provider of a call: GitHub, unless the user brought a key. */
export function providerOf({ isByok, providerType }: JsonRecord): string {
  return (isByok === true ? textOf(providerType) : undefined) ?? "github-copilot";
}
