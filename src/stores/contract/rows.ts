import type { SessionFacts } from "../../core/facts/session-facts.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import { toStorable } from "./line-facts.ts";

/** Row with its columns as parsed by the driver. */
export type Row = { readonly [column: string]: unknown };

/** Returns rows as records. Throws a `TypeError` if a row is not an object. */
export function toRows(rows: readonly unknown[]): Row[] {
  return rows.map((row) => {
    if (isJsonRecord(row)) return row;
    throw new TypeError(
      "The client returned a row that is not an object; configure it to return rows as objects by column.",
    );
  });
}

/** Returns the string in a column; undefined for null. */
export function readText(row: Row, column: string): string | undefined {
  const value = row[column];
  if (value === null || value === undefined) return undefined;
  return typeof value === "string" ? value : refuseColumn(column, "a string");
}

/** Returns the string in a column that must not be null. */
export function readRequiredText(row: Row, column: string): string {
  return readText(row, column) ?? refuseColumn(column, "a string");
}

/** Returns the whole number in a column. Some drivers return bigint values as strings. */
export function readNumber(row: Row, column: string): number {
  const value = row[column];
  const number = typeof value === "string" || typeof value === "bigint" ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number)
    ? number
    : refuseColumn(column, "a number");
}

/** Returns the whole number in a column; undefined for null. */
export function readOptionalNumber(row: Row, column: string): number | undefined {
  return row[column] === null ? undefined : readNumber(row, column);
}

function refuseColumn(column: string, what: string): never {
  throw new TypeError(
    `The client returned something other than ${what} in column ${column}; do not set other type parsers for it.`,
  );
}

/** Returns whether a column can store a string unchanged. */
export function isStorable(text: string): boolean {
  return toStorable(text) === text;
}

/**
 * Converts a string to the form used for case-insensitive search.
 *
 * Uses uppercase because it maps each letter independently of its neighbors, so that a substring remains a substring.
 */
export function searchForm(text: string): string {
  return toStorable(text.toUpperCase());
}

/** Session columns required by `readSessionFacts`. */
export const SESSION_COLUMNS =
  "s.id, s.cwd, s.parent_session, s.name, s.created_ms, s.last_message_ms, s.message_count, s.first_message";

/** Reads the facts of a session from its columns. */
export function readSessionFacts(row: Row): SessionFacts {
  return {
    id: readRequiredText(row, "id"),
    cwd: readRequiredText(row, "cwd"),
    name: readText(row, "name") ?? null,
    parentSession: readText(row, "parent_session") ?? null,
    createdMs: readNumber(row, "created_ms"),
    lastMessageMs: readOptionalNumber(row, "last_message_ms") ?? null,
    messageCount: readNumber(row, "message_count"),
    firstMessage: readText(row, "first_message") ?? null,
  };
}
