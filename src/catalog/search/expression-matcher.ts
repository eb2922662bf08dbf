import { limitedScripts, parseMatch } from "../../session/fs/limited-scripts.ts";
import { parseExpression } from "../query/search-query.ts";
import type { TextMatcher } from "../query/text-matcher.ts";

/** Milliseconds that an expression may take for one batch of texts that are searched. */
const SEARCH_MS = 250;

const FIRST_MATCHES = `texts.map((text) => { const m = expression.exec(text); return m && [m.index, m.index + m[0].length]; })`;

/** Makes a matcher of an expression, which throws `TooSlowError` after a quarter of a second, and takes no empty match. */
export function expressionMatcher(source: string, caseSensitive: boolean): TextMatcher {
  const { flags } = parseExpression(source, caseSensitive ? "" : "i");
  const firstMatches = limitedScripts([{ source, flags }])(FIRST_MATCHES);
  return (texts) =>
    firstMatches(texts, SEARCH_MS).map((found) => {
      const match = parseMatch(found);
      return match && { start: match[0], length: match[1] - match[0] };
    });
}
