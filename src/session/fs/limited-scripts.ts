import { toRecord } from "../../core/context/entry-fields.ts";

/** Thrown when an expression took too long. */
export class TooSlowError extends Error {}

/** Characters that most expressions get through in a millisecond, generously. */
const CHARACTERS_PER_MS = 10_000;

/** An expression without a state. */
type Expression = Pick<RegExp, "source" | "flags">;

/** Runs a compiled script on strings; throws `TooSlowError` after some milliseconds. */
export type LimitedScript = (texts: readonly string[], timeoutMs: number) => unknown[];

/** Returns an expression that matches everywhere in a string. */
export function makeMatchAll({ source, flags }: RegExp): Expression {
  return { source, flags: `${flags.replace(/[dgy]/g, "")}g` };
}

/**
 * Runs a script on strings, for some milliseconds and the time that their length takes.
 *
 * @throws {TypeError} If it takes longer.
 */
export function runWithin(milliseconds: number, script: LimitedScript, texts: readonly string[]): unknown[] {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  try {
    return script(texts, Math.ceil(milliseconds + length / CHARACTERS_PER_MS));
  } catch (error) {
    if (!(error instanceof TooSlowError)) throw error;
    throw new TypeError("The expression takes too long on some text; make it simpler.", { cause: error });
  }
}

/**
 * Compiles scripts about `expressions`, the first of them as `expression`, a `replacement` and `texts`, which throw `TooSlowError` after a number of milliseconds.
 *
 * Some expressions take exponential time on some texts, and the language cannot stop them. The runtime can: it runs them
 * as separate scripts with a time limit.
 */
export function makeLimitedScripts(
  expressions: readonly Expression[],
  replacement = "",
): (code: string) => LimitedScript {
  // Loaded only now: opening a session needs no contexts.
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
        // The error comes from the script's own realm, so it is no instance of our classes.
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
 * Returns whether this runtime can run scripts with a time limit. Cloudflare's Workers cannot: they end a request that takes too long
 * themselves.
 */
export function canLimitScripts(): boolean {
  return toRecord(Reflect.get(globalThis, "navigator"))["userAgent"] !== "Cloudflare-Workers";
}

/** Returns the start and end of a match that a script returned; undefined if there is none, or an empty one. */
export function parseMatch(found: unknown): readonly [start: number, end: number] | undefined {
  const [start, end]: readonly unknown[] = Array.isArray(found) ? found : [];
  return typeof start === "number" && typeof end === "number" && end > start ? [start, end] : undefined;
}
