import { isJsonRecord, type JsonObject, type JsonValue } from "../../core/format/json.ts";

/** Key of an object that stores bytes, which JSON cannot represent. Such an object has no other keys. */
const BYTES_KEY = "sessiontree.base64";

/**
 * Converts an object to plain JSON for storage. Returns a copy.
 *
 * Undefined properties are omitted, as in JSON. Bytes (`Uint8Array`) are stored as base64.
 *
 * @param what - Name of the object for error messages.
 * @throws {TypeError} With the path of a value that cannot be represented as JSON, so that no data is silently lost.
 */
export function toStoredData(data: unknown, what: string): JsonObject {
  const stored = isJsonRecord(data) ? toStoredValue(data, what, []) : undefined;
  if (isJsonRecord(stored)) return stored;
  throw new TypeError(`${what} must be an object, such as a message.`);
}

/** Restores data that was converted by `toStoredData`. Returns a copy. */
export function loadData(stored: unknown): unknown {
  if (Array.isArray(stored)) return stored.map(loadData);
  if (!isJsonRecord(stored)) return stored;
  const bytes = stored[BYTES_KEY];
  if (typeof bytes === "string") return new Uint8Array(Buffer.from(bytes, "base64"));
  return Object.fromEntries(Object.entries(stored).map(([key, value]) => [key, loadData(value)]));
}

/** Returns a canonical string for a stored value. It is the same for equal values, whatever the order of their keys. */
export function spellCanonically(stored: unknown): string {
  return JSON.stringify(stored, (_, value: unknown) => (isJsonRecord(value) ? sortKeys(value) : value));
}

function sortKeys(record: { [key: string]: unknown }): { [key: string]: unknown } {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function toStoredValue(value: unknown, path: string, above: readonly object[]): JsonValue {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  // JSON has no negative zero. Adding zero makes it positive.
  if (typeof value === "number" && Number.isFinite(value)) return value + 0;
  if (value instanceof Uint8Array) return { [BYTES_KEY]: Buffer.from(value).toString("base64") };
  if (typeof value !== "object") throw notKept(path, `a ${typeof value}`);
  if (above.includes(value)) throw notKept(path, "a cycle");
  const within = [...above, value];
  if (Array.isArray(value)) return value.map((one, i) => toStoredValue(one, `${path}[${i}]`, within));
  if (!isPlain(value)) throw notKept(path, "a class instance");
  if (BYTES_KEY in value) throw notKept(path, `an object with the reserved key ${BYTES_KEY}`);
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(entries.map(([key, one]) => [key, toStoredValue(one, `${path}.${key}`, within)]));
}

/** Returns whether an object is plain, which means that its prototype is `Object.prototype` or null. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function notKept(path: string, what: string): TypeError {
  return new TypeError(`${path} is ${what}, which a session cannot store; pass plain data.`);
}
