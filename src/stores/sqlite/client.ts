/** Value of a statement parameter. */
export type SqliteValue = string | number | null;

/** Prepared statement. */
export interface SqliteStatement {
  all(...values: SqliteValue[]): unknown[];
  run(...values: SqliteValue[]): unknown;
  /** In `better-sqlite3`: whether the statement returns rows. `all` throws for other statements. */
  readonly reader?: boolean | undefined;
}

/** Database connection: `DatabaseSync` from `node:sqlite`, or `Database` from `bun:sqlite` or `better-sqlite3`. */
export interface SqliteConnection {
  prepare(sql: string): SqliteStatement;
  /** In Bun: prepares a statement once, and throws if the connection is closed. */
  query?(sql: string): SqliteStatement;
}

/** Storage of a Durable Object with SQLite: `ctx.storage`. */
export interface SqliteObjectStorage {
  readonly sql: { exec(sql: string, ...values: SqliteValue[]): { toArray(): unknown[] } };
  transactionSync<T>(work: () => T): T;
}

/** Database opened by the host. This package does not include a driver. */
export type SqliteClient = SqliteConnection | SqliteObjectStorage;

/** Returns whether a client is the storage of a Durable Object. */
export function isObjectStorage(client: SqliteClient): client is SqliteObjectStorage {
  return "transactionSync" in client;
}

/**
 * Throws if `client` is not a supported client.
 *
 * @throws {TypeError}
 */
export function assertSqliteClient(client: SqliteClient): void {
  const has = (name: string) => typeof Reflect.get(Object(client), name) === "function";
  if (has("prepare") || has("transactionSync")) return;
  const advice = has("exec")
    ? "pass ctx.storage instead of ctx.storage.sql, because only ctx.storage provides transactions"
    : "pass a DatabaseSync of node:sqlite, a Database of bun:sqlite or better-sqlite3, or the ctx.storage of a Durable Object";
  throw new TypeError(`The option database is not a SQLite database; ${advice}.`);
}
