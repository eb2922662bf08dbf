import { fieldsOf, numberOf } from "../context/entry-fields.ts";
import type { Usage } from "../schema/content.ts";

/**
 * Adds the usage of two model calls.
 *
 * @param first - As an adapter returned it; missing numbers count as 0.
 * @param second - Likewise.
 * @returns A new object; one of the arguments if the other is undefined.
 */
export function addUsage(first: Usage | undefined, second: Usage | undefined): Usage | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  const sum = (name: keyof Usage) => numberOf(fieldsOf(first)[name]) + numberOf(fieldsOf(second)[name]);
  const sumCost = (name: keyof Usage["cost"]) =>
    numberOf(fieldsOf(first.cost)[name]) + numberOf(fieldsOf(second.cost)[name]);
  return {
    input: sum("input"),
    output: sum("output"),
    cacheRead: sum("cacheRead"),
    cacheWrite: sum("cacheWrite"),
    ...(first.cacheWrite1h === undefined && second.cacheWrite1h === undefined
      ? {}
      : { cacheWrite1h: sum("cacheWrite1h") }),
    ...(first.reasoning === undefined && second.reasoning === undefined
      ? {}
      : { reasoning: sum("reasoning") }),
    totalTokens: sum("totalTokens"),
    cost: {
      input: sumCost("input"),
      output: sumCost("output"),
      cacheRead: sumCost("cacheRead"),
      cacheWrite: sumCost("cacheWrite"),
      total: sumCost("total"),
    },
  };
}
