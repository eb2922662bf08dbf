/** Splits a query into the words that must all be found. */
export function wordsOf(query: string): string[] {
  return query.split(/\s+/).filter(Boolean);
}
