/** Position of a match, in UTF-16 units. */
export interface TextMatch {
  readonly start: number;
  readonly length: number;
}

/** Finds the first match in each of several strings. */
export type TextMatcher = (texts: readonly string[]) => (TextMatch | undefined)[];

/** Finds matches in a string. */
export type MatchFinder = (text: string) => TextMatch[];

const SPECIAL = /[\\^$.*+?()[\]{}|]/g;

const WHITE = /\s+/;

/**
 * Creates a finder for a literal string. White space matches any white space.
 *
 * @param max - Maximum number of matches to find in each string, from its beginning.
 * @param isWanted - Returns whether a match counts. Default: all matches count.
 * @remarks Cost: O(characters) for ordinary strings; at worst, multiplied by the length of the literal. Does not
 *   backtrack.
 */
export function makeLiteralFinder(
  wanted: string,
  caseSensitive: boolean,
  max: number,
  isWanted: (text: string, match: TextMatch) => boolean = () => true,
): MatchFinder {
  const pattern = wanted
    .split(WHITE)
    .map((word) => word.replace(SPECIAL, "\\$&"))
    .join("\\s+");
  const expression = new RegExp(pattern, caseSensitive ? "g" : "gi");
  return (text) => {
    const found: TextMatch[] = [];
    expression.lastIndex = 0;
    while (found.length < max) {
      const match = expression.exec(text);
      if (match === null) break;
      const one = { start: match.index, length: match[0].length };
      if (isWanted(text, one)) found.push(one);
    }
    return found;
  };
}
