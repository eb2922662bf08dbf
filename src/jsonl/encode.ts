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
