/** Half a surrogate pair, as a text cut inside an emoji ends with; with this flag, whole pairs do not match. */
const HALF_PAIR = /\p{Surrogate}/gu;

/** Replaces halves of surrogate pairs, which UTF-8 cannot encode and providers refuse, by U+FFFD. */
export function toWellFormedText(text: string): string {
  return text.replace(HALF_PAIR, "\ufffd");
}
