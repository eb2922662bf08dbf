import { count, counted } from "../../core/facts/number-text.ts";

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
  const tokens = answer === undefined ? 0 : answer.input + answer.cacheRead + answer.cacheWrite;
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
