import { nodeVm, parseExpression, runLimited } from "./expressions.ts";

/** The place of a match, in UTF-16 units. */
export interface TextMatch {
  readonly start: number;
  readonly length: number;
}

/** Finds the first match in each of several texts. */
export type TextMatcher = (texts: readonly string[]) => (TextMatch | undefined)[];

/** Milliseconds that an expression may take for one batch of texts. */
const MAX_MS = 250;

/** Makes a matcher for a literal text. */
export function literalMatcher(text: string, caseSensitive: boolean): TextMatcher {
  if (caseSensitive) {
    return (texts) =>
      texts.map((one) => {
        const start = one.indexOf(text);
        return start === -1 ? undefined : { start, length: text.length };
      });
  }
  // A literal text needs no backtracking: the time is linear.
  const expression = new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "i");
  return (texts) =>
    texts.map((one) => {
      const match = expression.exec(one);
      return match === null ? undefined : { start: match.index, length: match[0].length };
    });
}

/**
 * Makes a matcher for a regular expression, with a quarter of a second for each call.
 *
 * Some expressions take exponential time on some texts, and the language cannot stop them. The runtime can: it runs the
 * expression as a separate script with a time limit. Empty matches do not count.
 *
 * @throws {TypeError} If it is no regular expression.
 * @returns A matcher that throws `TooSlowError`.
 */
export function expressionMatcher(source: string, caseSensitive: boolean): TextMatcher {
  const { flags } = parseExpression(source, caseSensitive ? "" : "i");
  const { createContext, Script } = nodeVm();
  const context = createContext({ source, flags, texts: [] });
  new Script("const expression = new RegExp(source, flags)").runInContext(context);
  const script = new Script(
    "texts.flatMap((text) => { const m = expression.exec(text); return m && m[0] ? [m.index, m[0].length] : [-1, 0]; })",
  );
  return (texts) => {
    context["texts"] = texts;
    const found = runLimited(() => script.runInContext(context, { timeout: MAX_MS }));
    return texts.map((_, i) => {
      const [start, length] = [found[2 * i], found[2 * i + 1]];
      return typeof start === "number" && typeof length === "number" && start >= 0
        ? { start, length }
        : undefined;
    });
  };
}
