import { isJsonRecord, type JsonRecord } from "../../core/format/json.ts";

/** A database of SQLite, opened for reading. */
export interface Database {
  /** Yields the rows of a query, one at a time. */
  rows(query: string, ...values: readonly (string | number)[]): Iterable<JsonRecord>;
  /** Returns the names of a table's columns; empty if there is no such table. */
  columns(table: string): ReadonlySet<unknown>;
}

/** Tells whether this version of Node can read databases: from 22.13 on. */
export function canReadDatabases(): boolean {
  return databaseClass() !== undefined;
}

/** Calls with a database that is opened read-only, and closes it. */
export function withDatabase<T>(path: string, call: (database: Database) => T): T {
  const DatabaseSync = databaseClass();
  if (DatabaseSync === undefined) throw new Error("This version of Node cannot read databases.");
  const opened = new DatabaseSync(path, { readOnly: true });
  const rows: Database["rows"] = function* (query, ...values) {
    for (const row of opened.prepare(query).iterate(...values)) if (isJsonRecord(row)) yield row;
  };
  try {
    return call({
      rows,
      columns: (table) => {
        // Views and virtual tables run programs of their own.
        const [found] = rows(
          "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? AND rootpage > 0",
          table,
        );
        const columns = found === undefined ? [] : rows("SELECT name FROM pragma_table_info(?)", table);
        return new Set(Array.from(columns, ({ name }) => name));
      },
    });
  } finally {
    opened.close();
  }
}

/** Takes what a database's log holds into the database itself, so that it can be read without the log. */
export function foldLog(path: string): void {
  const DatabaseSync = databaseClass();
  if (DatabaseSync === undefined) return;
  const opened = new DatabaseSync(path);
  try {
    opened.exec("PRAGMA trusted_schema = OFF; PRAGMA journal_mode = DELETE");
  } finally {
    opened.close();
  }
}

/** What this room uses of Node's module. */
interface OpenDatabase {
  prepare(query: string): { iterate(...values: readonly (string | number)[]): Iterable<unknown> };
  exec(statements: string): void;
  close(): void;
}

type DatabaseClass = new (path: string, options?: { readonly readOnly: boolean }) => OpenDatabase;

function databaseClass(): DatabaseClass | undefined {
  // Not a named import, because older versions of Node lack it.
  const { DatabaseSync } = Object(process.getBuiltinModule("node:sqlite"));
  return typeof DatabaseSync === "function" ? DatabaseSync : undefined;
}
