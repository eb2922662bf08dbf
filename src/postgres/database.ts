import {
  isPool,
  type PostgresClient,
  type PostgresConnection,
  type PostgresPool,
  type PostgresQueries,
} from "./client.ts";
import { TENANT_SETTING } from "./names.ts";
import { sqlState } from "./postgres-errors.ts";
import { type Row, rowsOf } from "./rows.ts";

/** SQLSTATE of a server in recovery, such as a standby: another connection may reach the primary. */
const READ_ONLY_SERVER = "25006";

/** Runs a statement and returns its rows. */
export type RunSql = (text: string, values?: unknown[]) => Promise<Row[]>;

/** Tenant and time limit of statements. */
export interface DatabaseOptions {
  /** Default: the connection's setting. */
  readonly tenant?: string | undefined;
  /** Milliseconds after which a connection that does not answer counts as lost. */
  readonly timeoutMs?: number | undefined;
}

/**
 * One interface for both kinds of client, for one tenant.
 *
 * With a tenant, every statement runs in a transaction that sets it, because the connections of a pool are shared.
 * Without one, the connection's setting applies.
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

  /** Runs a statement that names the tenant itself, or needs none. */
  readonly run: RunSql = (text, values) => {
    const { client } = this;
    if (!isPool(client)) return runnerOf(client)(text, values);
    return onConnection(client, this.#timeoutMs, (run) => run(text, values));
  };

  /** Runs a statement in its own transaction. */
  query(text: string, values: unknown[] = []): Promise<Row[]> {
    if (this.#tenant !== undefined) return this.transaction((run) => run(text, values));
    return this.run(text, values);
  }

  /** Runs statements in one transaction, all or none. */
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

/** Uses a connection of a pool, and returns it only if it is intact. */
async function onConnection<T>(
  pool: PostgresPool,
  timeoutMs: number,
  work: (run: RunSql) => Promise<T>,
): Promise<T> {
  const connection = await connected(pool, timeoutMs);
  // An error between two statements has no promise to reject; the next statement fails with it.
  const ignore = () => undefined;
  connection.on("error", ignore);
  const unlimited = runnerOf(connection);
  const run: RunSql = (text, values) => within(unlimited(text, values), timeoutMs);
  let isBroken = false;
  try {
    return await work(run);
  } catch (error) {
    // Nobody else should get a connection that cannot even roll back, or whose server only reads.
    isBroken =
      error instanceof NoAnswerError ||
      sqlState(error) === READ_ONLY_SERVER ||
      !(await run("rollback").then(
        () => true,
        () => false,
      ));
    throw error;
  } finally {
    // A closing connection may still fail, and nobody else listens; the pool listens to one that it gets back.
    if (!isBroken) connection.off("error", ignore);
    connection.release(isBroken);
  }
}

/** Acquires a connection of a pool. If it fails before its user listens to it, the process does not end. */
export function acquire(pool: PostgresPool): Promise<PostgresConnection> {
  const release = tolerateLostConnections(pool);
  return pool.connect().finally(release);
}

/** Waits for a connection; releases one that arrives too late. */
async function connected(pool: PostgresPool, timeoutMs: number): Promise<PostgresConnection> {
  const connecting = acquire(pool);
  try {
    return await within(connecting, timeoutMs);
  } catch (error) {
    if (error instanceof NoAnswerError) {
      connecting.then(
        (connection) => {
          // If the pool was ended meanwhile, nobody else listens to the connection.
          connection.on("error", ignoreError);
          connection.release();
        },
        () => undefined,
      );
    }
    throw error;
  }
}

/** Thrown if a server does not answer: it is unknown whether it ran the statement. */
class NoAnswerError extends Error {}

/**
 * Waits for a promise for some milliseconds.
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

/** Number of active `tolerateLostConnections` calls for each pool. */
const tolerated = new WeakMap<PostgresPool, number>();

/**
 * Prevents lost connections of a pool from ending the process, as an `error` event without a listener would.
 *
 * Nothing is lost: the running statement fails, and the next one gets another connection.
 *
 * @param client - Only affects pools.
 * @returns A function that ends this; idempotent.
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
 * Listens to the errors of a connection until its acquirer can.
 *
 * The acquirer runs only after the pool's promise resolves. A connection that fails in the packet in which it becomes
 * ready emits its error before that.
 */
function guardHandover(connection: PostgresConnection): void {
  connection.on("error", ignoreHandoverError);
  // The acquirer runs in a microtask, and so before this.
  setImmediate(() => connection.off("error", ignoreHandoverError));
}

function ignoreError(): void {
  // The next statement opens another connection.
}

function ignoreHandoverError(): void {
  // The first statement on the connection fails with it.
}
