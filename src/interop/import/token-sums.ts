/** Kinds of tokens that are counted. */
export const COUNTED = ["input", "output", "cacheRead", "cacheWrite"] as const;

/** Tokens of one or more calls. */
export type Tokens = Readonly<Record<(typeof COUNTED)[number], number>>;

/** Zero tokens. */
export const NO_TOKENS: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Adds or subtracts tokens. */
export function addTokens(one: Tokens, other: Tokens, times: 1 | -1 = 1): Tokens {
  return {
    input: one.input + times * other.input,
    output: one.output + times * other.output,
    cacheRead: one.cacheRead + times * other.cacheRead,
    cacheWrite: one.cacheWrite + times * other.cacheWrite,
  };
}

/** Returns the smaller of two counts for each kind of token. */
export function takeLesserTokens(one: Tokens, other: Tokens): Tokens {
  return {
    input: Math.min(one.input, other.input),
    output: Math.min(one.output, other.output),
    cacheRead: Math.min(one.cacheRead, other.cacheRead),
    cacheWrite: Math.min(one.cacheWrite, other.cacheWrite),
  };
}
