import { describeShortValue } from "./describe-value.ts";
import { findMisspelledName, makeUnknownNameError } from "./known-names.ts";

/** Valid values of an option. */
export interface OptionRule {
  readonly fits: (value: unknown) => boolean;
  /** Completes the sentence "It must be …". */
  readonly words: string;
}

/** Rule for each option of the type. */
export type OptionRules<Options> = { readonly [Name in keyof Options]-?: OptionRule };

/** Creates a rule for an option that accepts one of several strings. */
export function makeChoiceRule(...allowed: readonly string[]): OptionRule {
  const quoted = allowed.map((one) => JSON.stringify(one));
  const words = [quoted.slice(0, -1).join(", "), ...quoted.slice(-1)].filter(Boolean).join(" or ");
  return { fits: (value) => typeof value === "string" && allowed.includes(value), words };
}

/** Creates a rule for a number of at least `min`. Infinity is allowed. */
export function makeNumberRule(min: number, unit: string): OptionRule {
  const words = `a number of ${unit}, ${min} or more`;
  return { fits: (value) => typeof value === "number" && value >= min, words };
}

/** Rule for a number. Infinity is allowed; NaN is not. */
export const COUNT: OptionRule = {
  fits: (value) => typeof value === "number" && !Number.isNaN(value),
  words: "a number",
};

/** Rule for a Boolean. */
export const FLAG: OptionRule = { fits: (value) => typeof value === "boolean", words: "true or false" };

/** Rule for a string, which may be empty. */
export const TEXT: OptionRule = { fits: (value) => typeof value === "string", words: "a string" };

/** Rule for an array of strings. */
export const TEXTS: OptionRule = {
  fits: (value) => Array.isArray(value) && value.every((one) => typeof one === "string"),
  words: "an array of strings",
};

/** Rule for a point in time. */
export const DATE: OptionRule = {
  fits: (value) => value instanceof Date && !Number.isNaN(value.getTime()),
  words: "a valid Date",
};

/** Rule for a function. */
export const CALLBACK: OptionRule = { fits: (value) => typeof value === "function", words: "a function" };

/** Rule for an object of any kind. */
export const OBJECT: OptionRule = {
  fits: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  words: "an object",
};

/** Rule for an AbortSignal from this or another realm. */
export const SIGNAL: OptionRule = {
  fits: (value) => OBJECT.fits(value) && typeof Reflect.get(Object(value), "aborted") === "boolean",
  words: "an AbortSignal",
};

/**
 * Throws if an option is invalid. Options without a rule are ignored, and undefined is treated as absent.
 *
 * @throws {TypeError} With the option's name, its valid values, and its actual value.
 */
export function assertOptions<Options extends object>(options: Options, rules: OptionRules<Options>): void {
  if (!OBJECT.fits(options))
    throw new TypeError(`Options must be an object, but are ${describeShortValue(options)}.`);
  for (const name in rules) {
    const value: unknown = options[name];
    const { fits, words } = rules[name];
    if (value !== undefined && !fits(value)) {
      throw new TypeError(`The option ${name} must be ${words}, but is ${describeShortValue(value)}.`);
    }
  }
}

/**
 * Throws if an option is invalid or has no rule. For functions that write or delete: a misspelled folder or `dryRun` must not
 * be ignored.
 *
 * @throws {TypeError} With the option's name, and the name that was probably meant.
 */
export function assertKnownOptions<Options extends object>(
  options: Options,
  rules: OptionRules<Options>,
): void {
  assertOptions(options, rules);
  const [unknown] = listUnknownOptions(options, rules);
  if (unknown !== undefined) throw makeUnknownNameError("option", unknown, Object.keys(rules));
}

/**
 * Minimum number of characters per changed character in an option that is rejected as misspelled: `model` is not a misspelling of
 * `mode`, nor `sessionId` of `sessionDir`.
 */
const MIN_PER_CHANGE = 8;

/**
 * Throws if an option is invalid or is a misspelling of a missing one with a rule. Other options are ignored, because callers also
 * pass objects that contain options of other functions.
 *
 * @throws {TypeError} With the option's name, and the name that was probably meant.
 */
export function assertSpelledOptions<Options extends object>(
  options: Options,
  rules: OptionRules<Options>,
): void {
  assertOptions(options, rules);
  const missing = Object.keys(rules).filter((name) => Reflect.get(options, name) === undefined);
  const misspelled = listUnknownOptions(options, rules).find((name) =>
    findMisspelledName(name, missing, MIN_PER_CHANGE),
  );
  if (misspelled !== undefined) throw makeUnknownNameError("option", misspelled, Object.keys(rules));
}

function listUnknownOptions(options: object, rules: object): string[] {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return given.map(([name]) => name).filter((name) => !Object.hasOwn(rules, name));
}
