import { parseExpression } from "../../catalog/query/search-query.ts";
import { limitedScripts, matchingAll, runWithin } from "../../session/fs/limited-scripts.ts";
import type { HideSecrets } from "./cleaner.ts";

const HIDDEN = "[secret]";

/** Milliseconds that patterns may take for a batch of texts, besides their length. */
const REPLACEMENT_MS = 1_000;

/** Replaces what any pattern matches, all of them in one run. */
const REPLACED = `texts.map((text) =>
  expressions.reduce((shown, one) => shown.replace(one, (found) => found && replacement), text))`;

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
  const expressions = patterns.map((line) => matchingAll(parseExpression(line, "")));
  const replaced = limitedScripts(expressions, HIDDEN)(REPLACED);
  return (texts) =>
    runWithin(REPLACEMENT_MS, replaced, texts).map((shown) => String(shown).replace(HIDDEN_AGAIN, HIDDEN));
}
