import { fieldsOf } from "../../core/context/entry-fields.ts";
import type { Match, TextPattern } from "../../core/jsonl/text-redactor.ts";
import { parseExpression } from "../query/search-query.ts";
import type { TextMatcher } from "../query/text-matcher.ts";

/** Thrown when an expression took too long. */
export class TooSlowError extends Error {}

/** Milliseconds that an expression may take for one batch of texts that are searched. */
const SEARCH_MS = 250;

/** Milliseconds that it may take for some texts that are redacted, besides their length: on a busy machine, too. */
const REDACTION_MS = 3_000;

/** Characters that most expressions get through in a millisecond, generously. */
const CHARACTERS_PER_MS = 10_000;

const FIRST_MATCHES = `texts.map((text) => { const m = expression.exec(text); return m && [m.index, m.index + m[0].length]; })`;

const IS_IN = `texts.some((text) => {
  for (const match of text.matchAll(expression)) if (match[0]) return true;
  return false;
}) ? [true] : []`;

const ALL_MATCHES = `texts.flatMap((text) =>
  Array.from(text.matchAll(expression), (match) => [match.index, match.index + match[0].length]))`;

/** Makes a matcher of an expression, which throws `TooSlowError` after a quarter of a second, and takes no empty match. */
export function expressionMatcher(source: string, caseSensitive: boolean): TextMatcher {
  const { flags } = parseExpression(source, caseSensitive ? "" : "i");
  const firstMatches = limitedScripts({ source, flags })(FIRST_MATCHES);
  return (texts) =>
    firstMatches(texts, SEARCH_MS).map((found) => {
      const match = matchIn(found);
      return match && { start: match[0], length: match[1] - match[0] };
    });
}

/** Makes the pattern of an expression, which throws a `TypeError` if it takes too long, and takes no empty match. */
export function expressionPattern({ source, flags }: RegExp): TextPattern {
  const scripts = limitedScripts({ source, flags: `${flags.replace(/[dgy]/g, "")}g` });
  const [isIn, allMatches] = [scripts(IS_IN), scripts(ALL_MATCHES)];
  const run = (script: typeof isIn, texts: readonly string[]) => {
    const length = texts.reduce((sum, text) => sum + text.length, 0);
    try {
      return script(texts, Math.ceil(REDACTION_MS + length / CHARACTERS_PER_MS));
    } catch (error) {
      if (!(error instanceof TooSlowError)) throw error;
      throw new TypeError("The expression takes too long on some text; make it simpler.", { cause: error });
    }
  };
  return {
    isLiteral: false,
    isIn: (texts) => run(isIn, texts).length > 0,
    matchesIn: (text) =>
      run(allMatches, [text])
        .map(matchIn)
        .filter((match) => match !== undefined),
  };
}

/**
 * Compiles scripts about an `expression` and `texts`, which throw `TooSlowError` after a number of milliseconds.
 *
 * Some expressions take exponential time on some texts, and the language cannot stop them. The runtime can: it runs them
 * as separate scripts with a time limit.
 */
function limitedScripts(expression: Pick<RegExp, "source" | "flags">) {
  // Loaded only now: opening a session needs no contexts.
  const { createContext, Script } = process.getBuiltinModule("node:vm");
  const { source, flags } = expression;
  const context = createContext({ source, flags, texts: [] });
  new Script("const expression = new RegExp(source, flags)").runInContext(context);
  return (code: string) => {
    const script = new Script(code);
    return (texts: readonly string[], timeout: number): unknown[] => {
      context["texts"] = texts;
      try {
        const found: unknown = script.runInContext(context, { timeout });
        return Array.isArray(found) ? found : [];
      } catch (error) {
        // The error comes from the script's own realm, so it is no instance of our classes.
        const { code: reason, name } = fieldsOf(error);
        const isExhausted = reason === "ERR_SCRIPT_EXECUTION_TIMEOUT" || name === "RangeError";
        throw isExhausted ? new TooSlowError("the expression took too long", { cause: error }) : error;
      } finally {
        context["texts"] = [];
      }
    };
  };
}

/** Reads a match, which comes from another realm; an empty one is none. */
function matchIn(found: unknown): Match | undefined {
  const [start, end]: readonly unknown[] = Array.isArray(found) ? found : [];
  return typeof start === "number" && typeof end === "number" && end > start ? [start, end] : undefined;
}
