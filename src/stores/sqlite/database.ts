import { type Row, toRows } from "../contract/rows.ts";
import {
  isObjectStorage,
  type SqliteClient,
  type SqliteConnection,
  type SqliteStatement,
  type SqliteValue,
} from "./client.ts";

/** Runs a statement and returns its rows. */
export type RunSql = (sql: string, ...values: SqliteValue[]) => Row[];

/** Maximum number of statements that remain prepared. */
const MAX_STATEMENTS = 100;

/**
 * Common interface to all types of clients. Everything is synchronous, so no other code uses the client during a
 * transaction.
 */
export class Database {
  readonly client: SqliteClient;
  /** Runs a statement as its own transaction, or as part of the open transaction. */
  readonly run: RunSql;

  constructor(client: SqliteClient) {
    this.client = client;
    this.run = isObjectStorage(client)
      ? (sql, ...values) => toRows(client.sql.exec(sql, ...values).toArray())
      : makeRunner(client);
  }

  /** Runs read-only statements on a single state of the database. */
  read<T>(work: (run: RunSql) => T): T {
    // No other connection can write to a Durable Object's database.
    return isObjectStorage(this.client) ? work(this.run) : this.#transaction("begin", work);
  }

  /** Runs statements in one transaction. Waits for other writers for as long as the client does. */
  write<T>(work: (run: RunSql) => T): T {
    return isObjectStorage(this.client)
      ? this.client.transactionSync(() => work(this.run))
      : this.#transaction("begin immediate", work);
  }

  #transaction<T>(begin: string, work: (run: RunSql) => T): T {
    this.run(begin);
    try {
      const result = work(this.run);
      this.run("commit");
      return result;
    } catch (error) {
      rollBack(this.run);
      throw error;
    }
  }
}

function rollBack(run: RunSql): void {
  try {
    run("rollback");
  } catch (_rolledBack) {
    // After some errors, such as a full disk, SQLite has already rolled back. The first error is reported.
  }
}

function makeRunner(connection: SqliteConnection): RunSql {
  const prepare = makePreparer(connection);
  return (sql, ...values) => {
    const statement = prepare(sql);
    if (statement.reader !== false) return toRows(statement.all(...values));
    statement.run(...values);
    return [];
  };
}

function makePreparer(connection: SqliteConnection): (sql: string) => SqliteStatement {
  const { query } = connection;
  // Bun caches statements itself. Statements cached here would outlive the connection in Bun.
  if (typeof query === "function") return (sql) => query.call(connection, sql);
  const statements = new Map<string, SqliteStatement>();
  return (sql) => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    if (statements.size >= MAX_STATEMENTS) statements.clear();
    const statement = connection.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
}
