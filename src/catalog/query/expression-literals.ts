/** Quantifiers that make the token before them optional. */
const OPTIONAL = /^(?:[*?]|\{0+[,}])/;

/** Matches a quantifier. Braces without a number are literal characters. */
const QUANTIFIER = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/;

/** Matches a backslash followed by a literal character. */
const ESCAPED_LITERAL = /^\\[^\p{L}\p{N}]/u;

const ESCAPE = /^\\(?:u\{[0-9a-f]+\}|u[0-9a-f]{4}|x[0-9a-f]{2}|c[a-z]|[pP]\{[^}]*\}|k<[^>]*>|\d+|.)/isu;

const CLASS = /^\[(?:\\.|[^\]\\])*\]/s;

/**
 * Returns strings that every match of a regular expression contains, ignoring case, for backends that index words.
 *
 * Ignores groups and alternatives.
 *
 * @returns Empty if none can be determined.
 */
export function getRequiredLiterals(source: string): string[] {
  const literals: string[] = [];
  let run = "";
  const endRun = () => {
    if (run !== "") literals.push(run);
    run = "";
  };
  let depth = 0;
  for (let rest = source; rest !== ""; ) {
    const [token, literal] = readToken(rest);
    rest = rest.slice(token.length);
    if (token === "|" && depth === 0) return [];
    if (token === "(") depth++;
    if (token === ")") depth--;
    const [quantifier = ""] = QUANTIFIER.exec(rest) ?? [];
    const isHeld = literal !== "" && depth === 0 && !OPTIONAL.test(quantifier);
    if (isHeld) run += literal;
    if (!isHeld || quantifier !== "") endRun();
    rest = rest.slice(quantifier.length);
  }
  endRun();
  return literals;
}

/** Reads the first token of an expression and the literal character it represents; empty if it is not a literal. */
function readToken(rest: string): [token: string, literal: string] {
  const [escaped] = ESCAPED_LITERAL.exec(rest) ?? [];
  if (escaped !== undefined) return [escaped, escaped.slice(1)];
  const [odd] = CLASS.exec(rest) ?? ESCAPE.exec(rest) ?? [];
  if (odd !== undefined) return [odd, ""];
  const [character = ""] = rest;
  return [character, "()|.^$[]{}*+?\\".includes(character) ? "" : character];
}
