import type { ContextUsageEstimate } from "../../compaction/tokens.ts";
import { count, counted } from "../../view/words.ts";

/** Writes how large a context is, and how that is known: the same number as on the page. */
export function contextSizeText(size: Omit<ContextUsageEstimate, "lastUsageIndex">): string {
  const { tokens, usageTokens, trailingTokens } = size;
  if (usageTokens === 0) return `about ${counted(tokens, "token")}, estimated`;
  if (trailingTokens === 0) return `${counted(tokens, "token")}, counted by the model`;
  const parts = `${count(usageTokens)} counted by the model, ${count(trailingTokens)} estimated since`;
  return `about ${counted(tokens, "token")}: ${parts}`;
}
