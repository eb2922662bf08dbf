import { z } from "zod";
import { isJsonRecord, type JsonObject, type JsonValue } from "./json.ts";

/**
 * Tells whether a value is one that JSON can hold.
 *
 * `undefined`, functions, symbols, BigInts and non-finite numbers are not, at any depth.
 *
 * @remarks Cost: O(size of the value), at any depth; a value that contains itself is walked once.
 */
function isJsonValue(value: unknown): value is JsonValue {
  // An explicit stack, since data may be nested deeper than the call stack.
  const stack: unknown[] = [value];
  const seen = new Set<object>();
  while (stack.length > 0) {
    const next = stack.pop();
    if (next === null || typeof next === "string" || typeof next === "boolean") continue;
    if (typeof next === "number" && Number.isFinite(next)) continue;
    if (typeof next !== "object") return false;
    if (seen.has(next)) continue;
    seen.add(next);
    for (const child of Array.isArray(next) ? next : Object.values(next)) stack.push(child);
  }
  return true;
}

/** Tells whether a value is an object that JSON can hold. */
function isJsonObject(value: unknown): value is JsonObject {
  return isJsonRecord(value) && isJsonValue(value);
}

/** Schema of any JSON value. One check instead of a recursive schema, so that depth cannot exhaust the call stack. */
export const jsonValueSchema = z.custom<JsonValue>(isJsonValue, "expected JSON data");

/** Schema of a tool call's arguments: any JSON object, typed so that callers need no cast. */
export const toolArgumentsSchema = z.custom<{ [name: string]: ReturnType<typeof JSON.parse> }>(
  isJsonObject,
  "expected a JSON object",
);

/** Schema of any JSON object. */
export const jsonObjectSchema = z.custom<JsonObject>(isJsonObject, "expected a JSON object");

/** The same for a field that types declare as a mere object, since schema libraries type it. */
export const plainObjectSchema = z.custom<object>(isJsonObject, "expected a JSON object");
