import { REDACTED_TEXT } from "../../core/format/redact-entry.ts";
import { makeLiteralPattern, type TextPattern, TextRedactor } from "../../core/jsonl/text-redactor.ts";
import {
  type LimitedScript,
  makeLimitedScripts,
  makeMatchAll,
  parseMatch,
  runWithin,
} from "../fs/limited-scripts.ts";

/**
 * Maximum time for an expression when redacting, in milliseconds, in addition to the time allowed for the length of the strings.
 * Sufficient on a busy machine.
 */
const REDACTION_MS = 3_000;

const IS_IN = `texts.some((text) => {
  for (const match of text.matchAll(expression)) if (match[0]) return true;
  return false;
}) ? [true] : []`;

const ALL_MATCHES = `texts.flatMap((text) =>
  Array.from(text.matchAll(expression), (match) => [match.index, match.index + match[0].length]))`;

/** Creates a redactor for a string or a regular expression, which must match neither the empty string nor the replacement. */
export function makeRedactor(matching: string | RegExp, replacement = REDACTED_TEXT): TextRedactor {
  if (typeof replacement !== "string") throw new TypeError("replacement must be a string.");
  const pattern = toPattern(matching);
  const redactor = new TextRedactor(pattern, replacement);
  if (redactor.hasMatch(replacement)) {
    throw new TypeError("The replacement contains the text to redact; choose another replacement.");
  }
  return redactor;
}

function toPattern(matching: string | RegExp) {
  if (matching instanceof RegExp) {
    // Tests a copy, because the expression itself may have state.
    const isEmpty = new RegExp(matching.source, matching.flags.replace(/[gy]/g, "")).test("");
    if (!isEmpty) return makeExpressionPattern(matching);
  } else if (typeof matching !== "string") {
    throw new TypeError("matching must be a string or a regular expression.");
  } else if (matching !== "") return makeLiteralPattern(matching);
  throw new TypeError(
    "An empty string matches everywhere; pass a nonempty string, or an expression that does not match an empty string.",
  );
}

/** Creates a pattern from a regular expression. It throws a `TypeError` if matching takes too long, and ignores empty matches. */
function makeExpressionPattern(expression: RegExp): TextPattern {
  const scripts = makeLimitedScripts([makeMatchAll(expression)]);
  const [isIn, allMatches] = [scripts(IS_IN), scripts(ALL_MATCHES)];
  const run = (script: LimitedScript, texts: readonly string[]) => runWithin(REDACTION_MS, script, texts);
  return {
    isLiteral: false,
    hasMatch: (texts) => run(isIn, texts).length > 0,
    findMatches: (text) =>
      run(allMatches, [text])
        .map(parseMatch)
        .filter((match) => match !== undefined),
  };
}
