import type { SessionFacts } from "../../core/facts/session-facts.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import { toStorable } from "./line-facts.ts";

/** A row, with columns as the driver parsed them. */
export type Row = { readonly [column: string]: unknown };

/** Returns rows as records. */
export function toRows(rows: readonly unknown[]): Row[] {
  return rows.map((row) => {
    if (isJsonRecord(row)) return row;
    throw new TypeError(
      "The client returned a row that is not an object; configure it to return rows as objects by column.",
    );
  });
}

/** Reads a string; undefined for null. */
export function readText(row: Row, column: string): string | undefined {
  const value = row[column];
  if (value === null || value === undefined) return undefined;
  return typeof value === "string" ? value : refuseColumn(column, "a text");
}

/** Reads a required string. */
export function readRequiredText(row: Row, column: string): string {
  return readText(row, column) ?? refuseColumn(column, "a text");
}

/** Reads a whole number; some drivers return bigint as a string. */
export function readNumber(row: Row, column: string): number {
  const value = row[column];
  const number = typeof value === "string" || typeof value === "bigint" ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number)
    ? number
    : refuseColumn(column, "a number");
}

/** Reads a whole number; undefined for null. */
export function readOptionalNumber(row: Row, column: string): number | undefined {
  return row[column] === null ? undefined : readNumber(row, column);
}

function refuseColumn(column: string, what: string): never {
  throw new TypeError(
    `The client gave something else than ${what} in column ${column}; set no other type parsers for it.`,
  );
}

/** Returns whether a column can hold a string unchanged. */
export function isStorable(text: string): boolean {
  return toStorable(text) === text;
}

/**
 * Returns the form of a string for case-insensitive search.
 *
 * Upper case, because it maps each letter independently of its neighbors: a part of a string remains a part.
 */
export function searchForm(text: string): string {
  return toStorable(text.toUpperCase());
}

/** Columns of a session, as `readSessionFacts` reads them. */
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
