import { REDACTED_TEXT } from "../../core/format/redact-entry.ts";
import { literalPattern, TextRedactor } from "../../core/jsonl/text-redactor.ts";
import { expressionPattern } from "../search/expression-matcher.ts";

/** Makes the redactor of a text or an expression, which must match neither the empty text nor the replacement. */
export function makeRedactor(matching: string | RegExp, replacement = REDACTED_TEXT): TextRedactor {
  if (typeof replacement !== "string") throw new TypeError("replacement must be a text.");
  const pattern = patternOf(matching);
  const redactor = new TextRedactor(pattern, replacement);
  if (redactor.isIn(replacement)) {
    throw new TypeError("The replacement holds what is to be redacted; choose another replacement.");
  }
  return redactor;
}

function patternOf(matching: string | RegExp) {
  if (matching instanceof RegExp) {
    // Not by the expression itself, which may have a state.
    const isEmpty = new RegExp(matching.source, matching.flags.replace(/[gy]/g, "")).test("");
    if (!isEmpty) return expressionPattern(matching);
  } else if (typeof matching !== "string") {
    throw new TypeError("matching must be a text or a regular expression.");
  } else if (matching !== "") return literalPattern(matching);
  throw new TypeError(
    "An empty text matches everywhere; give a text or an expression that does not match it.",
  );
}
