import { encodeDeep } from "./encode-deep.ts";

/**
 * Encodes a record as one line of JSON without its line break.
 *
 * The base fields of an entry come first. What JSON cannot hold is dropped as `JSON.stringify` does; cycles and
 * BigInts are refused.
 *
 * @throws {TypeError} With the path of the value in question.
 */
export function encodeRecord(record: object): string {
  try {
    return JSON.stringify(record);
  } catch (error) {
    // Either there is no JSON for it, or it is deeper than the call stack: the slow way tells.
    return encodeDeep(record, error);
  }
}

/** Writes a value that was read from JSON as JSON again, however deep it is; undefined becomes null. */
export function encodeParsed(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch (error) {
    if (!(error instanceof RangeError) || typeof value !== "object" || value === null) throw error;
    return encodeDeep(value, error, Number.POSITIVE_INFINITY);
  }
}
