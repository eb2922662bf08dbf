import { isJsonRecord, toSafeString } from "./json.ts";

/** Maximum length of a quoted value; longer values are described by their type. */
const MAX_VALUE_LENGTH = 40;

/** Describes a value for an error message, without its content, which may be private. */
export function describeValue(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (isPromise(value)) return "a promise";
  if (typeof value === "string") return "a string";
  if (typeof value === "function" || typeof value === "symbol") return `a ${typeof value}`;
  return isJsonRecord(value) ? "an object" : toSafeString(value);
}

/** Describes a value that is unlikely to be private, such as an option, for an error message. Short strings are quoted. */
export function describeShortValue(value: unknown): string {
  if (typeof value !== "string") return describeValue(value);
  return value.length <= MAX_VALUE_LENGTH ? JSON.stringify(value) : "a longer string";
}

/** Returns whether a value is a promise, which was probably not awaited. */
export function isPromise(value: unknown): boolean {
  return isJsonRecord(value) && typeof value["then"] === "function";
}
