import type { SessionHeader } from "../format/header.ts";
import type { JsonRecord } from "../format/json.ts";
import { CURRENT_SESSION_VERSION } from "../format/version.ts";
import { encodeRecord } from "../jsonl/encode.ts";

/** A field in which two headers differ. */
export interface HeaderDifference {
  readonly field: string;
  /** Undefined if the header does not have it. */
  readonly a: unknown;
  readonly b: unknown;
  /** The merged header's value. */
  readonly merged: unknown;
}

/** Fields in the order in which a header has them; others follow by name. */
const FIRST_FIELDS = ["type", "version", "id", "timestamp", "cwd", "parentSession"];

/** Fields that are only meaningful together. */
const MODEL_FIELDS = ["provider", "modelId"];

/**
 * Merges two headers: keeps the fields of both, and of two values the one that sorts first, such as the earlier time.
 * The result does not depend on their order.
 */
export function mergeHeaders(
  a: SessionHeader,
  b: SessionHeader,
): { header: SessionHeader; differences: HeaderDifference[] } {
  const [one, other]: [JsonRecord, JsonRecord] = [{ ...a }, { ...b }];
  const merged: JsonRecord = {};
  for (const fields of fieldGroups(one, other)) {
    const chosen = chooseOf(fields, one, other);
    for (const field of fields) if (chosen[field] !== undefined) put(merged, field, chosen[field]);
  }
  const header: SessionHeader = {
    type: "session",
    version: CURRENT_SESSION_VERSION,
    id: earlier(a.id, b.id),
    timestamp: earlier(a.timestamp, b.timestamp),
    cwd: earlier(a.cwd, b.cwd),
    ...merged,
  };
  const result: JsonRecord = { ...header };
  const differences = Object.keys(result)
    .filter((field) => textOf(one[field]) !== textOf(other[field]))
    .map((field) => ({ field, a: one[field], b: other[field], merged: result[field] }));
  return { header, differences };
}

/** Returns the text that sorts first; an empty one only if both are empty. */
function earlier(one: string, other: string): string {
  if (one === "" || other === "") return one || other;
  return one < other ? one : other;
}

function fieldGroups(one: JsonRecord, other: JsonRecord): string[][] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  for (const name of ["type", "version", "id", "timestamp", "cwd", ...MODEL_FIELDS]) names.delete(name);
  const groupOf = (name: string) => (FIRST_FIELDS.includes(name) ? 0 : 1);
  const sorted = [...names].sort((x, y) => groupOf(x) - groupOf(y) || (x < y ? -1 : 1));
  return [...sorted.map((name) => [name]), MODEL_FIELDS];
}

/** Returns the header whose values for these fields count. */
function chooseOf(fields: readonly string[], one: JsonRecord, other: JsonRecord): JsonRecord {
  const [text, otherText] = [one, other].map((header) => valuesOf(fields, header));
  if (text === undefined || otherText === undefined) return text === undefined ? other : one;
  return text <= otherText ? one : other;
}

/** Returns the values as text; undefined if there are none. */
function valuesOf(fields: readonly string[], header: JsonRecord): string | undefined {
  if (fields.every((field) => header[field] === undefined)) return undefined;
  return encodeRecord(fields.map((field) => header[field]));
}

function textOf(value: unknown): string {
  return encodeRecord([value]);
}

/** Sets a field, whatever its name. */
function put(record: JsonRecord, field: string, value: unknown): void {
  Object.defineProperty(record, field, { value, writable: true, enumerable: true, configurable: true });
}
