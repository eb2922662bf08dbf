import { fieldsOf } from "../context/entry-fields.ts";
import type { Usage } from "../schema/content.ts";
import { usageOf } from "./answer.ts";

/** Words of OpenAI's two APIs for input and output tokens. */
export interface TokenWords {
  readonly input: "input" | "prompt";
  readonly output: "output" | "completion";
}

/** Reads the usage of an OpenAI response, whose input includes cached tokens. */
export function readOpenAIUsage(usage: object | null | undefined, { input, output }: TokenWords): Usage {
  const counts = fieldsOf(usage);
  const details = fieldsOf(counts[`${input}_tokens_details`]);
  return usageOf({
    inputWithCache: counts[`${input}_tokens`],
    output: counts[`${output}_tokens`],
    cacheRead: details["cached_tokens"],
    cacheWrite: details["cache_write_tokens"],
    reasoning: fieldsOf(counts[`${output}_tokens_details`])["reasoning_tokens"],
    total: counts["total_tokens"],
  });
}
