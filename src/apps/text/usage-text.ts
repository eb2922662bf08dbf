import { formatCount, formatCounted, formatDollars, joinNonempty } from "../../core/facts/number-text.ts";
import { countInputTokens, findUsage, formatModelName, getModelNames } from "../../core/facts/usage.ts";
import type { UsageTotals } from "../../core/facts/usage-tally.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";

/** Size of a context in tokens, split into a part counted by the model and an estimated part. */
export interface ContextSize {
  readonly tokens: number;
  readonly usageTokens: number;
  readonly trailingTokens: number;
}

/** Returns the size of the context before an answer: the input as counted by the model, if it was counted. */
export function getSizeBefore(
  answer: { readonly input: number; readonly cacheRead: number; readonly cacheWrite: number } | undefined,
  size: ContextSize,
): ContextSize {
  const tokens = answer === undefined ? 0 : countInputTokens(answer);
  return tokens === 0 ? size : { tokens, usageTokens: tokens, trailingTokens: 0 };
}

/** Formats the size of a context, and how it was determined. */
export function formatContextSize(size: ContextSize): string {
  const { tokens, usageTokens, trailingTokens } = size;
  if (usageTokens === 0) return `about ${formatCounted(tokens, "token")}, estimated`;
  if (trailingTokens === 0) return `${formatCounted(tokens, "token")}, counted by the model`;
  const parts = `${formatCount(usageTokens)} counted by the model, ${formatCount(trailingTokens)} estimated since`;
  return `about ${formatCounted(tokens, "token")}: ${parts}`;
}

/** Usage of a model call, in words. A string is empty if the entry does not record the value, or if the value is zero. */
export interface UsageTexts {
  /** `9,800 in (9,000 from the cache), 268 out` */
  readonly tokens: string;
  /** `$0.0123` */
  readonly cost: string;
}

/** Formats the usage of an entry: input tokens, with the cached part, output tokens, and cost. */
export function formatUsage(entry: AnySessionEntry | undefined): UsageTexts {
  const usage = findUsage(entry);
  if (usage === undefined) return { tokens: "", cost: "" };
  return { tokens: formatUsedTokens(usage), cost: usage.cost === null ? "" : formatDollars(usage.cost) };
}

function formatUsedTokens(usage: UsageTotals): string {
  const { output, cacheRead, cacheWrite } = usage;
  if (countInputTokens(usage) + output === 0) return "";
  const cached = joinNonempty(
    ", ",
    cacheRead > 0 ? `${formatCount(cacheRead)} from the cache` : "",
    cacheWrite > 0 ? `${formatCount(cacheWrite)} written to it` : "",
  );
  return `${formatCount(countInputTokens(usage))} in${cached && ` (${cached})`}, ${formatCount(output)} out`;
}

/** Formats the model, tokens, and cost of an answer: `acme/acorn-2, tokens: 9,800 in, 268 out, $0.01`. */
export function formatAnswer(entry: AnySessionEntry | undefined): string {
  const { tokens, cost } = formatUsage(entry);
  return joinNonempty(", ", formatModelName(getModelNames(entry)), tokens && `tokens: ${tokens}`, cost);
}
