import { fieldsOf } from "../context/entry-fields.ts";

/** Thrown when an expression took too long. */
export class TooSlowError extends Error {}

/** Loads Node's contexts when an expression is first run: opening a session needs none. */
export function nodeVm(): typeof import("node:vm") {
  return process.getBuiltinModule("node:vm");
}

/**
 * Compiles the source as a Unicode expression if possible, else by the older, laxer rules.
 *
 * @throws {TypeError} If it is no regular expression.
 */
export function parseExpression(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, `${flags}u`);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  try {
    return new RegExp(source, flags);
  } catch (error) {
    throw new TypeError(`${JSON.stringify(source)} is no regular expression; correct it.`, { cause: error });
  }
}

/**
 * Runs an expression in a context with a time limit.
 *
 * @throws {TooSlowError}
 */
export function runLimited(run: () => unknown): unknown[] {
  try {
    const found = run();
    return Array.isArray(found) ? found : [];
  } catch (error) {
    // The error comes from the script's own realm, so it is no instance of our classes.
    const { code, name } = fieldsOf(error);
    const isExhausted = code === "ERR_SCRIPT_EXECUTION_TIMEOUT" || name === "RangeError";
    throw isExhausted ? new TooSlowError("the expression took too long", { cause: error }) : error;
  }
}
