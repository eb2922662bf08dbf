import type { Usage } from "../format/content.ts";
import { isJsonRecord } from "../format/json.ts";
import { toCount, toRecord } from "./entry-fields.ts";

/** Returns whether a stored value is a usage object. Its fields may have any value. */
export function isUsage(value: unknown): value is Usage {
  return isJsonRecord(value);
}

/**
 * Returns the size of the context that a usage describes: `totalTokens` or, if it is missing, the sum of its four parts.
 *
 * @returns 0 if the usage has none of these fields.
 */
export function calculateContextTokens(usage: Usage): number {
  const { totalTokens, input, output, cacheRead, cacheWrite } = toRecord(usage);
  return toCount(totalTokens) || toCount(input) + toCount(output) + toCount(cacheRead) + toCount(cacheWrite);
}
