/** A match: where it begins, and where it ends. */
export type Match = readonly [start: number, end: number];

/** A text or a regular expression that is searched for. No match is empty. */
export interface TextPattern {
  /** Whether a match is one certain text, wherever it stands. */
  readonly isLiteral: boolean;
  /** Tells whether one of the texts holds a match. */
  isIn(texts: readonly string[]): boolean;
  /** Returns the matches in a text, in order, without overlap. */
  matchesIn(text: string): readonly Match[];
}

/** Makes the pattern of a literal text, which must not be empty. */
export function literalPattern(wanted: string): TextPattern {
  return {
    isLiteral: true,
    isIn: (texts) => texts.some((text) => text.includes(wanted)),
    matchesIn: (text) => {
      const found: Match[] = [];
      for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
        found.push([at, at + wanted.length]);
      }
      return found;
    },
  };
}
