import { isJsonRecord, toSafeString } from "./json.ts";

/** Describes a value for an error message, without its content, which may be private. */
export function describeValue(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (isPromise(value)) return "a promise";
  if (typeof value === "string") return "a string";
  if (typeof value === "function" || typeof value === "symbol") return `a ${typeof value}`;
  return isJsonRecord(value) ? "an object" : toSafeString(value);
}

/** Returns whether a value is a promise, which was probably not awaited. */
export function isPromise(value: unknown): boolean {
  return isJsonRecord(value) && typeof value["then"] === "function";
}
