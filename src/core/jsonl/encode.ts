import { encodeDeep, type NoteReplaced } from "./encode-deep.ts";

/**
 * Encodes a record as one line of JSON without a line break.
 *
 * Keeps the order of fields. Omits the values that `JSON.stringify` omits. Rejects cycles and BigInts.
 *
 * @throws {TypeError} With the path of the value.
 */
export function encodeRecord(record: object): string {
  try {
    return JSON.stringify(record);
  } catch (error) {
    // Either the record has no JSON form, or it is nested deeper than the call stack. The slow path determines which.
    return encodeDeep(record, error);
  }
}

/** Encodes a record as `encodeRecord` does, but replaces cycles and BigInts with strings and reports each one to `note`. */
export function encodeAnyRecord(record: object, note: NoteReplaced = () => undefined): string {
  try {
    return JSON.stringify(record);
  } catch (error) {
    return encodeDeep(record, error, undefined, note);
  }
}

/** Encodes a record as `encodeAnyRecord` does. `replaced` describes the first value that JSON cannot represent, with its path. */
export function encodeLiveRecord(record: object): { readonly text: string; readonly replaced?: string } {
  let replaced: string | undefined;
  const text = encodeAnyRecord(record, (what, path) => {
    replaced ??= `${what} at ${path}`;
  });
  return { text, ...(replaced !== undefined && { replaced }) };
}

/** Encodes a value that was parsed from JSON, at any depth. Undefined is converted to null. */
export function encodeParsed(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch (error) {
    if (!(error instanceof RangeError) || typeof value !== "object" || value === null) throw error;
    return encodeDeep(value, error, Number.POSITIVE_INFINITY);
  }
}
