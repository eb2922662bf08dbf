import { isJsonRecord } from "../../core/format/json.ts";

/** A row, with columns as the driver parsed them. */
export type Row = { readonly [column: string]: unknown };

/** Returns rows as records. */
export function rowsOf(rows: readonly unknown[]): Row[] {
  return rows.map((row) => {
    if (isJsonRecord(row)) return row;
    throw new TypeError("The client gave a row that is no object; leave its rows as objects by column.");
  });
}

/** Reads a text; undefined for null. */
export function textOf(row: Row, column: string): string | undefined {
  const value = row[column];
  if (value === null || value === undefined) return undefined;
  return typeof value === "string" ? value : refuse(column, "a text");
}

/** Reads a required text. */
export function requiredText(row: Row, column: string): string {
  return textOf(row, column) ?? refuse(column, "a text");
}

/** Reads a whole number; some drivers return bigint as text. */
export function numberOf(row: Row, column: string): number {
  const value = row[column];
  const number = typeof value === "string" || typeof value === "bigint" ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) ? number : refuse(column, "a number");
}

/** Reads a whole number; undefined for null. */
export function optionalNumber(row: Row, column: string): number | undefined {
  return row[column] === null ? undefined : numberOf(row, column);
}

function refuse(column: string, what: string): never {
  throw new TypeError(
    `The client gave something else than ${what} in column ${column}; set no other type parsers for it.`,
  );
}
