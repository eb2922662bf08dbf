import { isPool, type PostgresClient, type PostgresPool, type PostgresQueries } from "./client.ts";
import { TENANT_SETTING } from "./names.ts";
import { type Row, rowsOf } from "./rows.ts";

/** Runs one statement and gives its rows. */
export type RunSql = (text: string, values?: unknown[]) => Promise<Row[]>;

/**
 * The two kinds of client as one, on behalf of one tenant.
 *
 * With a tenant every statement runs in a transaction that says whose it is, since the connections of a pool are
 * shared; without one, the connection's own setting counts.
 */
export class Database {
  readonly client: PostgresClient;
  readonly #tenant: string | undefined;

  constructor(client: PostgresClient, tenant?: string) {
    this.client = client;
    this.#tenant = tenant;
  }

  /** Runs one statement that says itself whose it is, or need not. */
  get run(): RunSql {
    return runnerOf(this.client);
  }

  /** Runs one statement, in a transaction of its own. */
  query(text: string, values: unknown[] = []): Promise<Row[]> {
    if (this.#tenant !== undefined) return this.transaction((run) => run(text, values));
    return this.run(text, values);
  }

  /** Runs statements in one transaction: all of them count, or none. */
  transaction<T>(work: (run: RunSql) => Promise<T>): Promise<T> {
    const tenant = this.#tenant;
    const inTransaction = async (run: RunSql) => {
      if (tenant !== undefined) await run("select set_config($1, $2, true)", [TENANT_SETTING, tenant]);
      return work(run);
    };
    if (isPool(this.client)) return poolTransaction(this.client, inTransaction);
    return this.client.transaction((queries) => inTransaction(runnerOf(queries)));
  }
}

function runnerOf(queries: PostgresQueries): RunSql {
  return async (text, values = []) => rowsOf((await queries.query(text, values)).rows);
}

async function poolTransaction<T>(pool: PostgresPool, work: (run: RunSql) => Promise<T>): Promise<T> {
  const connection = await pool.connect();
  // An error between two statements has no promise to go to; the next statement fails by it.
  const ignore = () => undefined;
  connection.on("error", ignore);
  const run = runnerOf(connection);
  let isBroken = false;
  try {
    await run("begin isolation level read committed");
    const result = await work(run);
    await run("commit");
    return result;
  } catch (error) {
    // What cannot even be rolled back is a connection that nobody else should get.
    isBroken = !(await run("rollback").then(
      () => true,
      () => false,
    ));
    throw error;
  } finally {
    connection.off("error", ignore);
    connection.release(isBroken);
  }
}

/**
 * Lets a pool lose idle connections: its next statement makes another, so that nothing is lost with them, while an
 * `error` that nobody listens to would end the process.
 *
 * @returns Ends that.
 */
export function tolerateLostConnections(pool: PostgresPool): () => void {
  const ignore = () => undefined;
  pool.on("error", ignore);
  return () => {
    pool.off("error", ignore);
  };
}
