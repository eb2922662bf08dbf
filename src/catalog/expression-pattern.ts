import type { Match, TextPattern } from "../jsonl/text-pattern.ts";
import { nodeVm, runLimited, TooSlowError } from "./expressions.ts";

/** Milliseconds that an expression may take for some texts, besides their length: on a busy machine, too. */
const LEAST_MS = 3_000;

/** Characters that an ordinary expression gets through in a millisecond, generously. */
const CHARACTERS_PER_MS = 10_000;

const IS_IN = `texts.some((text) => {
  for (const match of text.matchAll(expression)) if (match[0]) return true;
  return false;
}) ? [true] : []`;

const MATCHES = `texts.flatMap((text) =>
  Array.from(text.matchAll(expression), (match) => [match.index, match.index + match[0].length]))`;

/**
 * Makes the pattern of a regular expression; empty matches do not count.
 *
 * Some expressions take exponential time. The runtime ends them.
 *
 * @returns A pattern that throws a `TypeError` then.
 */
export function expressionPattern({ source, flags }: RegExp): TextPattern {
  const { createContext, Script } = nodeVm();
  const context = createContext({ source, flags: `${flags.replace(/[dgy]/g, "")}g`, texts: [] });
  new Script("const expression = new RegExp(source, flags)").runInContext(context);
  const [isIn, matches] = [new Script(IS_IN), new Script(MATCHES)];
  const run = (script: InstanceType<typeof Script>, texts: readonly string[]) => {
    const length = texts.reduce((sum, text) => sum + text.length, 0);
    const timeout = Math.ceil(LEAST_MS + length / CHARACTERS_PER_MS);
    context["texts"] = texts;
    try {
      return runLimited(() => script.runInContext(context, { timeout }));
    } catch (error) {
      if (!(error instanceof TooSlowError)) throw error;
      throw new TypeError("The expression takes too long on some text; make it simpler.", { cause: error });
    } finally {
      context["texts"] = [];
    }
  };
  return {
    isLiteral: false,
    isIn: (texts) => run(isIn, texts).length > 0,
    matchesIn: (text) => run(matches, [text]).flatMap(matchOf),
  };
}

/** Reads a match, which comes from another realm; an empty one is none. */
function matchOf(found: unknown): Match[] {
  const [start, end]: readonly unknown[] = Array.isArray(found) ? found : [];
  return typeof start === "number" && typeof end === "number" && end > start ? [[start, end]] : [];
}
