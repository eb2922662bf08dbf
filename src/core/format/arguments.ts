import { describeValue, isPromise } from "./describe-value.ts";
import { type OptionRule, TEXT } from "./options.ts";

/** Rule for an array. */
export const ARRAY: OptionRule = { fits: Array.isArray, words: "an array" };

/** Rule for an array of objects, such as messages or entries. */
export const OBJECTS: OptionRule = {
  fits: (value) => Array.isArray(value) && value.every((one) => typeof one === "object" && one !== null),
  words: "an array of objects",
};

/** Rule for the content of a message. */
export const BLOCKS: OptionRule = {
  fits: (value) => typeof value === "string" || OBJECTS.fits(value),
  words: "a string or an array of content blocks",
};

/** Rule for the content of a file. Accepts bytes from any realm: test runners and editors run programs in realms of their own. */
export const TEXT_OR_BYTES: OptionRule = {
  fits: (value) =>
    typeof value === "string" || Object.prototype.toString.call(value) === "[object Uint8Array]",
  words: "a string or a Uint8Array",
};

/**
 * Throws if an argument is invalid, so that a program in JavaScript gets an error that names the argument.
 *
 * @param name - Name of the parameter.
 * @throws {TypeError} With the name, the valid values, and the type of the value.
 */
export function assertArgument(name: string, value: unknown, { fits, words }: OptionRule): void {
  if (fits(value)) return;
  const advice = isPromise(value) ? " Await the promise and pass its result." : "";
  throw new TypeError(`The argument ${name} must be ${words}, but is ${describeValue(value)}.${advice}`);
}

/** Returns whether a value can be iterated. */
export function isIterable(value: unknown): boolean {
  return typeof Reflect.get(Object(value), Symbol.iterator) === "function";
}

/** Throws if an argument is not a string. */
export function assertText(name: string, value: unknown): void {
  assertArgument(name, value, TEXT);
}

/**
 * Throws if an argument is not a session. Functions that accept other programs' sessions require only some of its methods.
 *
 * @param method - Method that the function calls.
 */
export function assertSession(session: unknown, method = "getBranch"): void {
  assertMethod("session", session, "a session, such as SessionManager.inMemory() returns", method);
}

/** Throws if an argument is not a store of sessions. */
export function assertStore(name: string, store: unknown): void {
  assertMethod(name, store, "a store, such as fileStore() returns", "exportBytes");
}

/**
 * Throws if an argument does not have a method.
 *
 * @param words - Completes the sentence "It must be …".
 */
export function assertMethod(name: string, value: unknown, words: string, method: string): void {
  const fits = (given: unknown) => typeof Reflect.get(Object(given), method) === "function";
  assertArgument(name, value, { fits, words });
}
