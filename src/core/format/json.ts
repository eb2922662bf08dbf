/** Value that JSON can represent. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { [key: string]: JsonValue };

/** JSON object. */
export type JsonObject = { [key: string]: JsonValue };

/** Parsed JSON object with unknown fields. */
export type JsonRecord = { [key: string]: unknown };

/**
 * Returns the text of a value that others wrote, like `String` for primitive values. Of an object, only the type is named, such as
 * `[object Array]`: `String` would call its `toString`, which JSON can set to a value that is not a function.
 */
export function toSafeString(value: unknown): string {
  const isObject = typeof value === "object" && value !== null;
  return isObject ? Object.prototype.toString.call(value) : String(value);
}

/** Returns whether a parsed value is an object and not an array. */
export function isJsonRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Returns whether JSON can represent a value.
 *
 * JSON cannot represent `undefined`, functions, symbols, BigInts, or non-finite numbers at any depth.
 *
 * @remarks Cost: O(size of the value), at any depth. Circular references are followed once.
 */
export function isJsonValue(value: unknown): value is JsonValue {
  // Uses an explicit stack, because data may be nested deeper than the call stack.
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

/** Returns whether a value is an object that JSON can represent. */
export function isJsonObject(value: unknown): value is JsonObject {
  return isJsonRecord(value) && isJsonValue(value);
}

/** Type whose fields are optional instead of possibly undefined. */
type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Returns a copy of an object without its undefined fields. */
export function pickDefined<T extends object>(fields: T): Defined<T>;
export function pickDefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
