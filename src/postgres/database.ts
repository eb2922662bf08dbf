import {
  isPool,
  type PostgresClient,
  type PostgresConnection,
  type PostgresPool,
  type PostgresQueries,
} from "./client.ts";
import { TENANT_SETTING } from "./names.ts";
import { type Row, rowsOf } from "./rows.ts";

/** Runs one statement and gives its rows. */
export type RunSql = (text: string, values?: unknown[]) => Promise<Row[]>;

/** On whose behalf statements run, and for how long. */
export interface DatabaseOptions {
  /** Undefined: what the connection says. */
  readonly tenant?: string | undefined;
  /** Milliseconds after which a connection that does not answer counts as lost. */
  readonly timeoutMs?: number | undefined;
}

/**
 * The two kinds of client as one, on behalf of one tenant.
 *
 * With a tenant every statement runs in a transaction that says whose it is, since the connections of a pool are
 * shared; without one, the connection's own setting counts.
 */
export class Database {
  readonly client: PostgresClient;
  readonly #tenant: string | undefined;
  readonly #timeoutMs: number;

  constructor(client: PostgresClient, options: DatabaseOptions = {}) {
    const { tenant, timeoutMs = Number.POSITIVE_INFINITY } = options;
    this.client = client;
    this.#tenant = tenant;
    this.#timeoutMs = timeoutMs;
  }

  /** Runs one statement that says itself whose it is, or need not. */
  readonly run: RunSql = (text, values) => {
    const { client } = this;
    if (!isPool(client)) return runnerOf(client)(text, values);
    return onConnection(client, this.#timeoutMs, (run) => run(text, values));
  };

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
    const { client } = this;
    if (!isPool(client)) return client.transaction((queries) => inTransaction(runnerOf(queries)));
    return onConnection(client, this.#timeoutMs, async (run) => {
      await run("begin isolation level read committed");
      const result = await inTransaction(run);
      await run("commit");
      return result;
    });
  }
}

function runnerOf(queries: PostgresQueries): RunSql {
  return async (text, values = []) => rowsOf((await queries.query(text, values)).rows);
}

/** Works with one connection of a pool, and gives it back in order, or not at all. */
async function onConnection<T>(
  pool: PostgresPool,
  timeoutMs: number,
  work: (run: RunSql) => Promise<T>,
): Promise<T> {
  const connection = await connected(pool, timeoutMs);
  // An error between two statements has no promise to go to; the next statement fails by it.
  const ignore = () => undefined;
  connection.on("error", ignore);
  const unlimited = runnerOf(connection);
  const run: RunSql = (text, values) => within(unlimited(text, values), timeoutMs);
  let isBroken = false;
  try {
    return await work(run);
  } catch (error) {
    // What does not even roll back is a connection that nobody else should get.
    isBroken =
      error instanceof NoAnswerError ||
      !(await run("rollback").then(
        () => true,
        () => false,
      ));
    throw error;
  } finally {
    connection.off("error", ignore);
    connection.release(isBroken);
  }
}

/** Waits for a connection; one that comes too late goes back at once. */
async function connected(pool: PostgresPool, timeoutMs: number): Promise<PostgresConnection> {
  const connecting = pool.connect();
  try {
    return await within(connecting, timeoutMs);
  } catch (error) {
    if (error instanceof NoAnswerError) {
      connecting.then(
        (connection) => connection.release(),
        () => undefined,
      );
    }
    throw error;
  }
}

/** Thrown when a server is silent: whether it did what it was asked to is not known. */
class NoAnswerError extends Error {}

/** Waits for a promise so many milliseconds. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  if (ms === Number.POSITIVE_INFINITY) return promise;
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoAnswerError(`the database did not answer for ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, silence]);
  } finally {
    clearTimeout(timer);
  }
}

/** For each pool that is worked with, who listens to its errors, and for how many. */
const tolerated = new WeakMap<PostgresPool, { readonly ignore: () => void; count: number }>();

/**
 * Lets a pool lose idle connections: its next statement makes another, so that nothing is lost with them, while an
 * `error` that nobody listens to would end the process.
 *
 * @returns Ends that; idempotent.
 */
export function tolerateLostConnections(pool: PostgresPool): () => void {
  const known = tolerated.get(pool) ?? { ignore: () => undefined, count: 0 };
  tolerated.set(pool, known);
  if (known.count++ === 0) pool.on("error", known.ignore);
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    if (--known.count === 0) pool.off("error", known.ignore);
  };
}
