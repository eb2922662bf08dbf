/**
 * Matches lone surrogates, such as at the end of a string that was truncated in the middle of an emoji. With the `u` flag,
 * complete pairs do not match.
 */
const HALF_PAIR = /\p{Surrogate}/gu;

/** Replaces lone surrogates, which UTF-8 cannot encode and providers reject, with U+FFFD. */
export function toWellFormedText(text: string): string {
  return text.replace(HALF_PAIR, "\ufffd");
}
