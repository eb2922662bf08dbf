/** A value that JSON can hold. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { [key: string]: JsonValue };

/** A JSON object. */
export type JsonObject = { [key: string]: JsonValue };

/** A parsed line of which nothing is known but that it is a JSON object. */
export type JsonRecord = { [key: string]: unknown };

/** Tells whether a parsed value is an object and no array. */
export function isJsonRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Tells whether a value is one that JSON can hold.
 *
 * `undefined`, functions, symbols, BigInts and non-finite numbers are not, at any depth.
 *
 * @remarks Cost: O(size of the value), at any depth; a value that contains itself is walked once.
 */
export function isJsonValue(value: unknown): value is JsonValue {
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
export function isJsonObject(value: unknown): value is JsonObject {
  return isJsonRecord(value) && isJsonValue(value);
}

/** A type without its fields that may be undefined, except as fields that may be missing. */
type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Copies an object without the fields that are undefined. */
export function pickDefined<T extends object>(fields: T): Defined<T>;
export function pickDefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
