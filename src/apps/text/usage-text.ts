import { formatCount, formatCounted, formatDollars, joinNonempty } from "../../core/facts/number-text.ts";
import { countInputTokens, findUsage, formatModelName, getModelNames } from "../../core/facts/usage.ts";
import type { UsageTotals } from "../../core/facts/usage-tally.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";

/** The size of a context in tokens, and the parts that a model counted and that were estimated. */
export interface ContextSize {
  readonly tokens: number;
  readonly usageTokens: number;
  readonly trailingTokens: number;
}

/** Returns the size of the context before an answer: as the model counted its input, if it did. */
export function getSizeBefore(
  answer: { readonly input: number; readonly cacheRead: number; readonly cacheWrite: number } | undefined,
  size: ContextSize,
): ContextSize {
  const tokens = answer === undefined ? 0 : countInputTokens(answer);
  return tokens === 0 ? size : { tokens, usageTokens: tokens, trailingTokens: 0 };
}

/** Writes how large a context is, and how that is known. */
export function formatContextSize(size: ContextSize): string {
  const { tokens, usageTokens, trailingTokens } = size;
  if (usageTokens === 0) return `about ${formatCounted(tokens, "token")}, estimated`;
  if (trailingTokens === 0) return `${formatCounted(tokens, "token")}, counted by the model`;
  const parts = `${formatCount(usageTokens)} counted by the model, ${formatCount(trailingTokens)} estimated since`;
  return `about ${formatCounted(tokens, "token")}: ${parts}`;
}

/** What a call of a model used, in words; each is empty if the entry does not say, or it was nothing. */
export interface UsageTexts {
  /** `9,800 in (9,000 from the cache), 268 out` */
  readonly tokens: string;
  /** `$0.0123` */
  readonly cost: string;
}

/** Writes what an entry used: tokens that went in, how many of them a cache had, and those that came out; and the cost. */
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

/** Writes which model answered, and for how much: `acme/acorn-2, tokens: 9,800 in, 268 out, $0.01`. */
export function formatAnswer(entry: AnySessionEntry | undefined): string {
  const { tokens, cost } = formatUsage(entry);
  return joinNonempty(", ", formatModelName(getModelNames(entry)), tokens && `tokens: ${tokens}`, cost);
}
