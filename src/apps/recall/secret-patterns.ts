import { parseExpression } from "../../catalog/query/search-query.ts";
import { expressionReplacer } from "../../catalog/search/expression-matcher.ts";
import type { HideSecrets } from "./cleaner.ts";

const HIDDEN = "[secret]";

/** A replacement in which a pattern has found a word. */
const HIDDEN_AGAIN = /\[*\[secret\]\]+/g;

/**
 * Makes a function that hides what matches any of some patterns.
 *
 * @param text - One regular expression a line, as JavaScript has them; empty lines, and lines that begin with `#`, are ignored.
 * @throws {SessionError} `INVALID_QUERY` if a line is not a regular expression.
 * @returns A function that throws a `TypeError` if an expression takes too long.
 */
export function secretPatterns(text: string): HideSecrets {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const patterns = lines.filter((line) => line !== "" && !line.startsWith("#"));
  const replace = expressionReplacer(
    patterns.map((line) => parseExpression(line, "")),
    HIDDEN,
  );
  return (texts) => replace(texts).map((shown) => shown.replace(HIDDEN_AGAIN, HIDDEN));
}
