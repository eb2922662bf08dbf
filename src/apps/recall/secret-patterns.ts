import { parseExpression } from "../../catalog/query/search-query.ts";
import { expressionPattern } from "../../catalog/search/expression-matcher.ts";
import type { HideSecrets } from "./clean.ts";

const HIDDEN = "[secret]";

/**
 * Makes a function that hides what matches any of some patterns.
 *
 * @param text - One regular expression a line, as JavaScript has them; empty lines, and lines that begin with `#`, say nothing.
 * @throws {SessionError} `INVALID_QUERY` if a line is no regular expression.
 * @returns A function that throws a `TypeError` if an expression takes too long.
 */
export function secretPatterns(text: string): HideSecrets {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const patterns = lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => expressionPattern(parseExpression(line, "")));
  return (shown) =>
    patterns.reduce(
      (clean, pattern) => (pattern.isIn([clean]) ? withHidden(clean, pattern.matchesIn(clean)) : clean),
      shown,
    );
}

function withHidden(text: string, matches: readonly (readonly [start: number, end: number])[]): string {
  let shown = "";
  let done = 0;
  for (const [start, end] of matches) {
    shown += text.slice(done, start) + HIDDEN;
    done = end;
  }
  return shown + text.slice(done);
}
