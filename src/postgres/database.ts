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
    // A connection that is closed may still fail, and nobody else listens to it; the pool does to one that it gets back.
    if (!isBroken) connection.off("error", ignore);
    connection.release(isBroken);
  }
}

/**
 * Acquires a connection of a pool. One that fails before its user listens to it does not end the process, whatever has
 * become of the store meanwhile.
 */
export function acquire(pool: PostgresPool): Promise<PostgresConnection> {
  const release = tolerateLostConnections(pool);
  return pool.connect().finally(release);
}

/** Waits for a connection; one that comes too late goes back at once. */
async function connected(pool: PostgresPool, timeoutMs: number): Promise<PostgresConnection> {
  const connecting = acquire(pool);
  try {
    return await within(connecting, timeoutMs);
  } catch (error) {
    if (error instanceof NoAnswerError) {
      connecting.then(
        (connection) => {
          // The pool may have been ended meanwhile, and then nobody else listens to the connection.
          connection.on("error", ignoreError);
          connection.release();
        },
        () => undefined,
      );
    }
    throw error;
  }
}

/** Thrown when a server is silent: whether it did what it was asked to is not known. */
class NoAnswerError extends Error {}

/**
 * Waits for a promise so many milliseconds.
 *
 * @throws {Error} If it takes longer.
 */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
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

/** Users of each pool that asked for `tolerateLostConnections` and have not ended it. */
const tolerated = new WeakMap<PostgresPool, number>();

/**
 * Keeps connections that a pool loses from ending the process, as an `error` event without a listener does.
 *
 * Nothing is lost with such a connection: the statement that runs on it fails, and the next one gets another connection.
 *
 * @param client - A client that is no pool is left alone.
 * @returns Ends this; idempotent.
 */
export function tolerateLostConnections(client: PostgresClient): () => void {
  if (!isPool(client)) return () => undefined;
  const users = tolerated.get(client) ?? 0;
  tolerated.set(client, users + 1);
  if (users === 0) {
    client.on("error", ignoreError);
    client.on("acquire", guardHandover);
  }
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    const left = (tolerated.get(client) ?? 1) - 1;
    tolerated.set(client, left);
    if (left > 0) return;
    client.off("error", ignoreError);
    client.off("acquire", guardHandover);
  };
}

/**
 * Listens to the errors of a connection until whoever acquired it can.
 *
 * The pool resolves a promise, and its consumer runs after that. A connection that fails in the same packet in which it
 * becomes ready emits its error in between.
 */
function guardHandover(connection: PostgresConnection): void {
  connection.on("error", ignoreHandoverError);
  // The consumer runs in a microtask, and so before this.
  setImmediate(() => connection.off("error", ignoreHandoverError));
}

function ignoreError(): void {
  // The next statement makes another connection.
}

function ignoreHandoverError(): void {
  // The first statement on the connection fails by it.
}
