import { toRecord } from "../../core/context/entry-fields.ts";

/** Thrown when an expression took too long. */
export class TooSlowError extends Error {}

/** Number of characters that most expressions process per millisecond, with a safety margin. */
const CHARACTERS_PER_MS = 10_000;

/** Expression without state. */
type Expression = Pick<RegExp, "source" | "flags">;

/** Runs a compiled script on strings. Throws `TooSlowError` after the given number of milliseconds. */
export type LimitedScript = (texts: readonly string[], timeoutMs: number) => unknown[];

/** Returns an expression that finds all matches in a string. */
export function makeMatchAll({ source, flags }: RegExp): Expression {
  return { source, flags: `${flags.replace(/[dgy]/g, "")}g` };
}

/**
 * Runs a script on strings, with a time limit that is extended according to their length.
 *
 * @throws {TypeError} If the script exceeds the limit.
 */
export function runWithin(milliseconds: number, script: LimitedScript, texts: readonly string[]): unknown[] {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  try {
    return script(texts, Math.ceil(milliseconds + length / CHARACTERS_PER_MS));
  } catch (error) {
    if (!(error instanceof TooSlowError)) throw error;
    throw new TypeError("The expression takes too long on some text; simplify it.", { cause: error });
  }
}

/**
 * Returns a function that compiles scripts. The scripts can use the variables `expressions`, `expression` (the first of them),
 * `replacement`, and `texts`, and throw `TooSlowError` when a time limit is exceeded.
 *
 * Some expressions take exponential time on some strings, and the language cannot stop them. The runtime can stop them by running
 * them as separate scripts with a time limit.
 */
export function makeLimitedScripts(
  expressions: readonly Expression[],
  replacement = "",
): (code: string) => LimitedScript {
  // Loaded on demand, because opening a session does not require contexts.
  const { createContext, Script } = process.getBuiltinModule("node:vm");
  const context = createContext({ given: expressions, replacement, texts: [] });
  new Script(`const expressions = given.map(({ source, flags }) => new RegExp(source, flags));
    const [expression] = expressions;`).runInContext(context);
  return (code) => {
    const script = new Script(code);
    return (texts, timeout) => {
      context["texts"] = texts;
      try {
        const found: unknown = script.runInContext(context, { timeout });
        return Array.isArray(found) ? found : [];
      } catch (error) {
        // The error comes from the script's own realm, so it is not an instance of our classes.
        const { code: reason, name } = toRecord(error);
        const isExhausted = reason === "ERR_SCRIPT_EXECUTION_TIMEOUT" || name === "RangeError";
        throw isExhausted ? new TooSlowError("the expression took too long", { cause: error }) : error;
      } finally {
        context["texts"] = [];
      }
    };
  };
}

/**
 * Returns whether this runtime can run scripts with a time limit. Cloudflare Workers cannot, but they terminate slow requests
 * themselves.
 */
export function canLimitScripts(): boolean {
  return toRecord(Reflect.get(globalThis, "navigator"))["userAgent"] !== "Cloudflare-Workers";
}

/** Returns the start and end of a match that a script returned; undefined if there is no match or it is empty. */
export function parseMatch(found: unknown): readonly [start: number, end: number] | undefined {
  const [start, end]: readonly unknown[] = Array.isArray(found) ? found : [];
  return typeof start === "number" && typeof end === "number" && end > start ? [start, end] : undefined;
}
