import { count, counted } from "./words.ts";

/** The size of a context in tokens, and the parts that a model counted and that were estimated. */
export interface ContextSize {
  readonly tokens: number;
  readonly usageTokens: number;
  readonly trailingTokens: number;
}

/** Writes how large a context is, and how that is known. */
export function contextSizeText(size: ContextSize): string {
  const { tokens, usageTokens, trailingTokens } = size;
  if (usageTokens === 0) return `about ${counted(tokens, "token")}, estimated`;
  if (trailingTokens === 0) return `${counted(tokens, "token")}, counted by the model`;
  const parts = `${count(usageTokens)} counted by the model, ${count(trailingTokens)} estimated since`;
  return `about ${counted(tokens, "token")}: ${parts}`;
}
