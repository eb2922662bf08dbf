/** Position of a match, in UTF-16 units. */
export interface TextMatch {
  readonly start: number;
  readonly length: number;
}

/** Finds the first match in each of several texts. */
export type TextMatcher = (texts: readonly string[]) => (TextMatch | undefined)[];

/** Finds matches in a text. */
export type MatchFinder = (text: string) => TextMatch[];

const SPECIAL = /[\\^$.*+?()[\]{}|]/g;

const WHITE = /\s+/;

/**
 * Creates a finder of a literal string; any white space matches any other.
 *
 * @param max - It finds at most this many matches in each text, from its beginning.
 * @param isWanted - Returns whether a match counts. Default: all do.
 * @remarks Cost: O(characters) for ordinary texts; times the length of the text that is looked for at worst. Nothing
 *   backtracks.
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
