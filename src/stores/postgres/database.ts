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

/** SQLSTATE of a server in recovery, such as a standby: another connection may reach the primary. */
const READ_ONLY_SERVER = "25006";

/** Runs a statement and returns its rows. */
export type RunSql = (text: string, values?: unknown[]) => Promise<Row[]>;

/** Tenant and time limit of statements. */
interface DatabaseOptions {
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
  readonly run: RunSql = (text, values) => this.connected((run) => run(text, values));

  /** Runs statements over one connection, each on its own. */
  connected<T>(work: (run: RunSql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { client } = this;
    if (!isPool(client)) return work(makeRunner(client));
    return onConnection(client, this.#timeoutMs, work, signal);
  }

  /** Runs a statement in its own transaction; the signal cancels it, except in an embedded database. */
  query(text: string, values: unknown[] = [], signal?: AbortSignal): Promise<Row[]> {
    if (this.#tenant !== undefined) return this.transaction((run) => run(text, values), signal);
    return this.connected((run) => run(text, values), signal);
  }

  /** Runs statements in one transaction, all or none. */
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

/** Uses a connection of a pool, and returns it to the pool only if it is intact. */
async function onConnection<T>(
  pool: PostgresPool,
  timeoutMs: number,
  work: (run: RunSql) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  refuseAborted(signal);
  const connection = await waitForConnection(pool, timeoutMs);
  // An error between two statements has no promise to reject; the next statement fails with it.
  const ignore = () => undefined;
  connection.on("error", ignore);
  const unlimited = makeRunner(connection);
  const run: RunSql = async (text, values) => {
    // The server might not have started a statement that is sent and immediately canceled: it would cancel nothing, and then
    // start it.
    refuseAborted(signal);
    return waitUnlessAborted(waitFor(unlimited(text, values), timeoutMs), signal);
  };
  let [isBroken, isGivenUp] = [false, false];
  try {
    return await work(run);
  } catch (error) {
    // No other caller should get a connection that cannot even roll back, or whose server is read-only.
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
    // A closing connection may still fail, and has no other listener; the pool listens to a connection that is returned.
    if (!isBroken) connection.off("error", ignore);
    connection.release(isBroken);
    // The server does not notice promptly that the caller no longer waits for a statement.
    if (isGivenUp) cancelStatement(pool, connection.processID, timeoutMs).catch(ignoreError);
  }
}

/** Uses a client of the host for one task on the tables in a schema, and translates the errors of the database. */
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
      throw new Error("the server only reads, as a standby does; use the address of the primary", {
        cause: error,
      });
    throw translateError(error, schema);
  } finally {
    release();
  }
}

/** Milliseconds between two attempts to cancel a statement: doubled each time, a minute in all. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Cancels the statement of one of our server processes repeatedly until the process has ended, because a busy server may start
 * the statement late. With a pooler, the process id belongs to another process, and nothing happens.
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

/** Cancels the statement of a process, unless another process has got its id meanwhile. */
const CANCEL = `select extract(epoch from a.backend_start)::text as started,
    case when a.state = 'active' then pg_cancel_backend(a.pid) end
  from pg_stat_activity a where a.pid = $1 and a.usename = current_user and a.pid <> pg_backend_pid()
    and extract(epoch from a.backend_start)::text = coalesce($2, extract(epoch from a.backend_start)::text)`;

/** Acquires a connection of a pool. If it fails before the caller listens to it, the process does not end. */
export function acquireConnection(pool: PostgresPool): Promise<PostgresConnection> {
  const release = tolerateLostConnections(pool);
  return pool.connect().finally(release);
}

/** Waits for a connection; releases one that arrives too late. */
async function waitForConnection(pool: PostgresPool, timeoutMs: number): Promise<PostgresConnection> {
  const connecting = acquireConnection(pool);
  try {
    return await waitFor(connecting, timeoutMs);
  } catch (error) {
    if (error instanceof NoAnswerError) {
      connecting.then(
        (connection) => {
          // If the pool was ended meanwhile, the connection has no other listener. Of several late connections, one is enough.
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

/** Error for a server that does not answer: it is unknown whether it ran the statement. */
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

/** Number of active `tolerateLostConnections` calls for each pool. */
const tolerated = new WeakMap<PostgresPool, number>();

/**
 * Prevents lost connections of a pool from ending the process, as an `error` event without a listener would.
 *
 * Nothing is lost: the running statement fails, and the next one gets another connection.
 *
 * @param client - Only affects pools.
 * @returns A function that ends the protection; idempotent.
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

/**
 * Classes of SQLSTATE that are final: not supported, data, constraints, authorization, names, rights, limits. After all others,
 * and after errors that the server did not send, a retry may succeed.
 */
const FINAL_CLASSES = ["0A", "22", "23", "28", "3D", "3F", "42", "44", "54"];

/** SQLSTATEs for a missing schema, table, function or column. */
const MISSING_STATES = ["3F000", "42P01", "42883", "42703"];

/**
 * Codes of Node for a rejected server certificate, or a client certificate that the server rejected.
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

/** Messages of `pg`, without a code, for connections that it always refuses. */
const DRIVER_REFUSES = /^SASL: |does not support SSL connections$/;

/** Returns the SQLSTATE of an error; empty if it has none. */
export function getSqlState(error: unknown): string {
  const code = getErrorCode(error);
  return code.length === 5 ? code : "";
}

/** Makes a final error if the call will always be refused; returns other errors unchanged, for a retry. */
export function translateError(error: unknown, schema: string): unknown {
  if (isSessionError(error)) return error;
  const said = getErrorMessage(error);
  const state = getSqlState(error);
  if (FINAL_CLASSES.includes(state.slice(0, 2))) {
    const advice = MISSING_STATES.includes(state)
      ? `call migrateDatabase() of sessiontree/postgres, or run "sessiontree db migrate", to make the tables in schema ${schema}`
      : "correct what it says (address, password, rights), and try again";
    return makeFinalError(
      `The database refuses it (${state}): ${said}; ${advice}.`,
      { sqlState: state },
      error,
    );
  }
  const code = getErrorCode(error);
  if (CERTIFICATE_CODES.some((codes) => codes.test(code))) {
    const advice = "give the client the authority that signed it (ssl.ca, or sslrootcert in the address)";
    return makeFinalError(
      `The certificate of the database's server is refused (${code}): ${said}; ${advice}.`,
      { code },
      error,
    );
  }
  if (!DRIVER_REFUSES.test(said)) return error;
  const advice = "correct the address (password, sslmode), and try again";
  return makeFinalError(`The connection to the database cannot be made: ${said}; ${advice}.`, {}, error);
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
