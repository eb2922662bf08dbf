import { count, counted, dollars, joined } from "../../core/facts/number-text.ts";
import { modelName, namesOf, tokensIn, usageOf } from "../../core/facts/usage.ts";
import type { UsageTotals } from "../../core/facts/usage-tally.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";

/** The size of a context in tokens, and the parts that a model counted and that were estimated. */
export interface ContextSize {
  readonly tokens: number;
  readonly usageTokens: number;
  readonly trailingTokens: number;
}

/** Returns the size of the context before an answer: as the model counted its input, if it did. */
export function sizeBefore(
  answer: { readonly input: number; readonly cacheRead: number; readonly cacheWrite: number } | undefined,
  size: ContextSize,
): ContextSize {
  const tokens = answer === undefined ? 0 : tokensIn(answer);
  return tokens === 0 ? size : { tokens, usageTokens: tokens, trailingTokens: 0 };
}

/** Writes how large a context is, and how that is known. */
export function contextSizeText(size: ContextSize): string {
  const { tokens, usageTokens, trailingTokens } = size;
  if (usageTokens === 0) return `about ${counted(tokens, "token")}, estimated`;
  if (trailingTokens === 0) return `${counted(tokens, "token")}, counted by the model`;
  const parts = `${count(usageTokens)} counted by the model, ${count(trailingTokens)} estimated since`;
  return `about ${counted(tokens, "token")}: ${parts}`;
}

/** What a call of a model used, in words; each is empty if the entry does not say, or it was nothing. */
export interface UsageTexts {
  /** `9,800 in (9,000 from the cache), 268 out` */
  readonly tokens: string;
  /** `$0.0123` */
  readonly cost: string;
}

/** Writes what an entry used: tokens that went in, how many of them a cache had, and those that came out; and the cost. */
export function usageTexts(entry: AnySessionEntry | undefined): UsageTexts {
  const usage = usageOf(entry);
  if (usage === undefined) return { tokens: "", cost: "" };
  return { tokens: tokensText(usage), cost: usage.cost === null ? "" : dollars(usage.cost) };
}

function tokensText(usage: UsageTotals): string {
  const { output, cacheRead, cacheWrite } = usage;
  if (tokensIn(usage) + output === 0) return "";
  const cached = joined(
    ", ",
    cacheRead > 0 ? `${count(cacheRead)} from the cache` : "",
    cacheWrite > 0 ? `${count(cacheWrite)} written to it` : "",
  );
  return `${count(tokensIn(usage))} in${cached && ` (${cached})`}, ${count(output)} out`;
}

/** Writes which model answered, and for how much: `acme/acorn-2, tokens: 9,800 in, 268 out, $0.01`. */
export function answerText(entry: AnySessionEntry | undefined): string {
  const { tokens, cost } = usageTexts(entry);
  return joined(", ", modelName(namesOf(entry)), tokens && `tokens: ${tokens}`, cost);
}
