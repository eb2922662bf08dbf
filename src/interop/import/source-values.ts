import { fieldsOf } from "../../core/context/entry-fields.ts";
import type { JsonRecord, JsonValue } from "../../core/format/json.ts";

/** Returns a nonempty text, or undefined. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns the text of content, joined: of a text, a block with a text, or a list of these. */
export function textIn(content: unknown): string {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  return parts.map((part) => textOf(part) ?? textOf(fieldsOf(part)["text"]) ?? "").join("");
}

/** Narrows what was parsed from JSON to a value: a field that is missing is undefined. */
export function isPresent(value: unknown): value is JsonValue {
  return value !== undefined;
}

/** Time format of most programs, on a day that every month has: it need not be parsed. */
const PLAIN_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** Returns an ISO time in UTC with milliseconds, from an ISO text or Unix milliseconds; undefined if it is neither. */
export function isoTimeOf(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  if (typeof value === "string" && PLAIN_TIME.test(value)) return value;
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** Returns the fields of a record's field. */
export function member(record: JsonRecord, name: string): JsonRecord {
  return fieldsOf(record[name]);
}
