import { fieldsOf } from "../context/entry-fields.ts";
import { parseJson } from "../jsonl/decode.ts";
import type { ImageContent, TextContent } from "../schema/content.ts";
import { isJsonRecord, type JsonObject, type JsonRecord, type JsonValue } from "../schema/json.ts";

/** Blocks that a user or a tool can send. */
export type InputBlock = TextContent | ImageContent;

/** Returns a nonempty text, or undefined. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Narrows a value that was parsed from JSON to a JSON value. */
export function isJsonValue(value: unknown): value is JsonValue {
  return value !== undefined;
}

/** Narrows a record that was parsed from JSON to a JSON object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return isJsonRecord(value);
}

/** Returns the arguments of a tool call: an object, or the JSON text of one; undefined if it is neither. */
export function argumentsOf(value: unknown): JsonObject | undefined {
  const parsed = typeof value === "string" ? parseJson(value)?.value : value;
  return isJsonObject(parsed) ? parsed : undefined;
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
