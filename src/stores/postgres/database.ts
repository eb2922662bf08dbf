import { setTimeout as pause } from "node:timers/promises";
import { refuseAborted, waitUnlessAborted } from "../../core/format/abort.ts";
import { getErrorMessage, isSessionError, SessionError } from "../../core/format/errors.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import { type Row, toRows } from "../contract/rows.ts";
import {
  isPool,
  type PostgresClient,
  type PostgresConnection,
  type PostgresPool,
  type PostgresQueries,
} from "./client.ts";
import { TENANT_SETTING } from "./names.ts";

/** SQLSTATE of a server in recovery, such as a standby. Another connection may reach the primary. */
const READ_ONLY_SERVER = "25006";

/** Runs a statement and returns its rows. */
export type RunSql = (text: string, values?: unknown[]) => Promise<Row[]>;

/** Tenant and time limit for statements. */
interface DatabaseOptions {
  /** Tenant. Default: the connection's setting. */
  readonly tenant?: string | undefined;
  /** Time after which an unresponsive connection is considered lost, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Common interface to both types of clients, for one tenant.
 *
 * With a tenant, every statement runs in a transaction that sets the tenant, because the connections of a pool are
 * shared. Without a tenant, the connection's setting applies.
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

  /** Runs a statement that specifies the tenant itself or does not need a tenant. */
  readonly run: RunSql = (text, values) => this.connected((run) => run(text, values));

  /** Runs statements over one connection, each in its own transaction. */
  connected<T>(work: (run: RunSql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { client } = this;
    if (!isPool(client)) return work(makeRunner(client));
    return onConnection(client, this.#timeoutMs, work, signal);
  }

  /** Runs a statement in its own transaction. The signal cancels it, except in an embedded database. */
  query(text: string, values: unknown[] = [], signal?: AbortSignal): Promise<Row[]> {
    if (this.#tenant !== undefined) return this.transaction((run) => run(text, values), signal);
    return this.connected((run) => run(text, values), signal);
  }

  /** Runs statements in one transaction. */
  transaction<T>(work: (run: RunSql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const tenant = this.#tenant;
    const inTransaction = async (run: RunSql) => {
      if (tenant !== undefined) await run("select set_config($1, $2, true)", [TENANT_SETTING, tenant]);
      return work(run);
    };
    const { client } = this;
    if (!isPool(client)) return client.transaction((queries) => inTransaction(makeRunner(queries)));
    const committed = async (run: RunSql) => {
      await run("begin isolation level read committed");
      const result = await inTransaction(run);
      await run("commit");
      return result;
    };
    return onConnection(client, this.#timeoutMs, committed, signal);
  }
}

function makeRunner(queries: PostgresQueries): RunSql {
  return async (text, values = []) => toRows((await queries.query(text, values)).rows);
}

/** Runs work on a connection from a pool, and returns the connection to the pool only if it is intact. */
async function onConnection<T>(
  pool: PostgresPool,
  timeoutMs: number,
  work: (run: RunSql) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  refuseAborted(signal);
  const connection = await waitForConnection(pool, timeoutMs);
  // An error between two statements has no promise to reject. The next statement fails because of it.
  const ignore = () => undefined;
  connection.on("error", ignore);
  const unlimited = makeRunner(connection);
  const run: RunSql = async (text, values) => {
    // If a statement is sent and immediately canceled, the server may receive the cancellation first and then run the
    // statement.
    refuseAborted(signal);
    return waitUnlessAborted(waitFor(unlimited(text, values), timeoutMs), signal);
  };
  let [isBroken, isGivenUp] = [false, false];
  try {
    return await work(run);
  } catch (error) {
    // Do not return a connection to the pool if it cannot roll back or its server is read-only.
    isGivenUp = error instanceof NoAnswerError || isSessionError(error, "ABORTED");
    isBroken =
      isGivenUp ||
      getSqlState(error) === READ_ONLY_SERVER ||
      !(await run("rollback").then(
        () => true,
        () => false,
      ));
    throw error;
  } finally {
    // A closing connection may still fail, and it has no other listener. The pool listens to connections that are
    // returned.
    if (!isBroken) connection.off("error", ignore);
    connection.release(isBroken);
    // The server does not notice promptly that the caller stopped waiting for a statement.
    if (isGivenUp) cancelStatement(pool, connection.processID, timeoutMs).catch(ignoreError);
  }
}

/** Runs one task on the tables in a schema with the host's client, and translates database errors. */
export async function withDatabase<T>(
  database: Database,
  schema: string,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const release = tolerateLostConnections(database.client);
  try {
    return await work(database);
  } catch (error) {
    if (getSqlState(error) === READ_ONLY_SERVER)
      throw new Error("the server is read-only, like a standby; use the address of the primary", {
        cause: error,
      });
    throw translateError(error, schema);
  } finally {
    release();
  }
}

/** Milliseconds between attempts to cancel a statement. The pause doubles after each attempt, for a total of about 50 seconds. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Cancels the statement of a server process repeatedly until the process has exited, because a busy server may start
 * the statement late. With a pooler, the process id belongs to another process, and this has no effect.
 */
async function cancelStatement(
  pool: PostgresPool,
  processId: number | null | undefined,
  timeoutMs: number,
): Promise<void> {
  if (typeof processId !== "number") return;
  let started: unknown = null;
  for (let pauseMs = FIRST_PAUSE_MS; pauseMs <= LONGEST_PAUSE_MS; pauseMs *= 2) {
    try {
      const [process] = await runOnce(pool, timeoutMs, CANCEL, [processId, started]);
      if (process === undefined) return;
      started = process["started"];
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error;
    }
    await pause(pauseMs, undefined, { ref: false });
  }
}

/** Runs one statement over a separate connection. */
async function runOnce(
  pool: PostgresPool,
  timeoutMs: number,
  text: string,
  values: unknown[],
): Promise<Row[]> {
  const connection = await waitForConnection(pool, timeoutMs);
  connection.on("error", ignoreError);
  let isBroken = true;
  try {
    const rows = await waitFor(makeRunner(connection)(text, values), timeoutMs);
    isBroken = false;
    return rows;
  } finally {
    if (!isBroken) connection.off("error", ignoreError);
    connection.release(isBroken);
  }
}

/** Cancels the statement of a process, unless its id now belongs to another process. */
const CANCEL = `select extract(epoch from a.backend_start)::text as started,
    case when a.state = 'active' then pg_cancel_backend(a.pid) end
  from pg_stat_activity a where a.pid = $1 and a.usename = current_user and a.pid <> pg_backend_pid()
    and extract(epoch from a.backend_start)::text = coalesce($2, extract(epoch from a.backend_start)::text)`;

/**
 * Acquires a connection from a pool. Prevents the process from crashing if the connection fails before the caller
 * listens to it.
 */
export function acquireConnection(pool: PostgresPool): Promise<PostgresConnection> {
  const release = tolerateLostConnections(pool);
  return pool.connect().finally(release);
}

/** Waits for a connection. Releases a connection that arrives too late. */
async function waitForConnection(pool: PostgresPool, timeoutMs: number): Promise<PostgresConnection> {
  const connecting = acquireConnection(pool);
  try {
    return await waitFor(connecting, timeoutMs);
  } catch (error) {
    if (error instanceof NoAnswerError) {
      connecting.then(
        (connection) => {
          // If the pool has been closed in the meantime, the connection has no other listener. One listener per
          // connection is enough.
          connection.off("error", ignoreError);
          connection.on("error", ignoreError);
          connection.release();
        },
        () => undefined,
      );
    }
    throw error;
  }
}

/** Error for a server that does not respond. It is unknown whether the server ran the statement. */
class NoAnswerError extends Error {}

/** Waits for a promise; throws if it takes longer than `ms` milliseconds. */
export async function waitFor<T>(promise: Promise<T>, ms: number): Promise<T> {
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

/** Number of active `tolerateLostConnections` calls per pool. */
const tolerated = new WeakMap<PostgresPool, number>();

/**
 * Prevents lost connections of a pool from crashing the process, as an `error` event without a listener would.
 *
 * No error is hidden: the running statement fails, and the next statement uses another connection.
 *
 * @param client - Has no effect unless it is a pool.
 * @returns A function that removes this protection. Idempotent.
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
 * Listens to a connection's errors until the caller that acquired it can.
 *
 * The caller continues only after the pool's promise resolves. A connection that fails in the same packet that makes it
 * ready emits its error before the caller continues.
 */
function guardHandover(connection: PostgresConnection): void {
  connection.on("error", ignoreHandoverError);
  // The caller continues in a microtask, and therefore before this callback.
  setImmediate(() => connection.off("error", ignoreHandoverError));
}

function ignoreError(): void {
  // The next statement uses another connection.
}

function ignoreHandoverError(): void {
  // The first statement on the connection fails because of this error.
}

/**
 * SQLSTATE classes of final errors: unsupported features, data, constraints, authorization, names, permissions, limits.
 * After any other error, including errors not sent by the server, a retry may succeed.
 */
const FINAL_CLASSES = ["0A", "22", "23", "28", "3D", "3F", "42", "44", "54"];

/** SQLSTATEs for a missing schema, table, function, or column. */
const MISSING_STATES = ["3F000", "42P01", "42883", "42703"];

/**
 * Node error codes for a rejected server certificate, or for a client certificate that the server rejected.
 *
 * @remarks Source: https://nodejs.org/api/tls.html#x509-certificate-error-codes
 */
const CERTIFICATE_CODES: readonly RegExp[] = [
  /^(?:CERT|CRL)_/,
  /^UNABLE_TO_(?:GET|DECRYPT|DECODE|VERIFY)_/,
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|HOSTNAME_MISMATCH)$/,
  /^(?:INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)$/,
  /^ERROR_IN_(?:CERT|CRL)_/,
  /^ERR_TLS_CERT_/,
  /^ERR_SSL_.*(?:CERTIFICATE|UNKNOWN_CA)/,
];

/** Matches messages of `pg` errors without a code, for connections that always fail. */
const DRIVER_REFUSES = /^SASL: |does not support SSL connections$/;

/** Returns the SQLSTATE of an error; empty if the error has no SQLSTATE. */
export function getSqlState(error: unknown): string {
  const code = getErrorCode(error);
  return code.length === 5 ? code : "";
}

/** Creates a final error if the call would always fail; returns other errors unchanged, so that the call is retried. */
export function translateError(error: unknown, schema: string): unknown {
  if (isSessionError(error)) return error;
  const said = getErrorMessage(error);
  const state = getSqlState(error);
  if (FINAL_CLASSES.includes(state.slice(0, 2))) {
    const advice = MISSING_STATES.includes(state)
      ? `call migrateDatabase() from sessiontree/postgres, or run "sessiontree db migrate", to create the tables in schema ${schema}`
      : "correct the address, password, or permissions, and try again";
    return makeFinalError(
      `The database refused the call (${state}): ${said}; ${advice}.`,
      { sqlState: state },
      error,
    );
  }
  const code = getErrorCode(error);
  if (CERTIFICATE_CODES.some((codes) => codes.test(code))) {
    const advice =
      "configure the certificate authority that signed it (ssl.ca, or sslrootcert in the address)";
    return makeFinalError(
      `The database server's certificate was rejected (${code}): ${said}; ${advice}.`,
      { code },
      error,
    );
  }
  if (!DRIVER_REFUSES.test(said)) return error;
  const advice = "correct the address (password, sslmode), and try again";
  return makeFinalError(`Cannot connect to the database: ${said}; ${advice}.`, {}, error);
}

function makeFinalError(
  message: string,
  details: Readonly<Record<string, string>>,
  cause: unknown,
): SessionError {
  return new SessionError("STORE_UNAVAILABLE", message, { details, cause });
}

function getErrorCode(error: unknown): string {
  const code = isJsonRecord(error) ? error["code"] : undefined;
  return typeof code === "string" ? code : "";
}
