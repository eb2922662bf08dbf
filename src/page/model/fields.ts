import type { JsonObject } from "../../core.ts";

/** Fields of a stored value, about which nothing is known. */
export type Fields = { readonly [name: string]: unknown };

const NO_FIELDS: Fields = Object.freeze({});

/** Gives the fields of a stored value; none if it is no object. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : NO_FIELDS;
}

/** Tells whether a stored value is an object. */
export function isFields(value: unknown): value is Fields | JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Gives a value if it is a text, else the empty text. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Gives a value if it is a number that one can reckon with, else 0. */
export function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/** Gives a value if it is a list, else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Writes a stored value as JSON over several lines; what cannot be written so is named. */
export function prettyJson(value: unknown): string {
  try {
    const json: unknown = JSON.stringify(value, null, 2);
    return textOf(json);
  } catch (error) {
    // Only nesting deeper than the stack gets here: the value came out of JSON.
    return `(cannot be shown: ${error instanceof Error ? error.message : "unknown reason"})`;
  }
}
