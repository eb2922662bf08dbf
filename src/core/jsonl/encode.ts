import { encodeDeep, type NoteReplaced } from "./encode-deep.ts";

/**
 * Encodes a record as one line of JSON without its line break.
 *
 * Puts the base fields of an entry first. Drops what `JSON.stringify` drops; refuses cycles and BigInts.
 *
 * @throws {TypeError} With the path of the value.
 */
export function encodeRecord(record: object): string {
  try {
    return JSON.stringify(record);
  } catch (error) {
    // It has no JSON form, or is deeper than the call stack; the slow path finds out.
    return encodeDeep(record, error);
  }
}

/** Encodes a record like `encodeRecord`, with texts for cycles and BigInts, each of which `note` is told of. */
export function encodeAnyRecord(record: object, note: NoteReplaced = () => undefined): string {
  try {
    return JSON.stringify(record);
  } catch (error) {
    return encodeDeep(record, error, undefined, note);
  }
}

/** Encodes a record like `encodeAnyRecord`; `replaced` is the first thing that JSON cannot hold, and its place. */
export function encodeLiveRecord(record: object): { readonly text: string; readonly replaced?: string } {
  let replaced: string | undefined;
  const text = encodeAnyRecord(record, (what, path) => {
    replaced ??= `${what} at ${path}`;
  });
  return { text, ...(replaced !== undefined && { replaced }) };
}

/** Encodes a value that was read from JSON, at any depth; undefined becomes null. */
export function encodeParsed(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch (error) {
    if (!(error instanceof RangeError) || typeof value !== "object" || value === null) throw error;
    return encodeDeep(value, error, Number.POSITIVE_INFINITY);
  }
}
