/** Names what a value is, with its article: `a string`, `an array`, `null`. Never quotes it: it may be long or private. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  return withArticle(Array.isArray(value) ? "array" : typeof value);
}

/** Puts the article before the name of a kind. */
export function withArticle(noun: string): string {
  if (noun === "null" || noun === "undefined") return noun;
  return `${/^[aeio]/.test(noun) ? "an" : "a"} ${noun}`;
}
