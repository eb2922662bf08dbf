import { toRecord } from "../../core/context/entry-fields.ts";
import { assertText } from "../../core/format/arguments.ts";
import { SessionError } from "../../core/format/errors.ts";
import { pickDefined } from "../../core/format/json.ts";
import { assertOptions, FLAG, makeNumberRule } from "../../core/format/options.ts";
import type { SessionStore } from "../contract/session-store.ts";
import { type RemoteStoreOptions, remoteStore } from "../remote/remote-store.ts";
import { type RetryOptions, repeatUntilAnswered, retryPace } from "../remote/retries.ts";
import { type MigrateOptions, type MigrationResult, migrateDatabase, migrationSql } from "./migrate.ts";
import { PostgresBackend, type PostgresOptions } from "./postgres-backend.ts";

/** Options for a PostgreSQL store, including retries. */
export interface PostgresStoreOptions extends PostgresOptions, RemoteStoreOptions {}

/** Options for opening a store by its address. The address takes precedence. */
export interface OpenPostgresOptions extends Omit<PostgresStoreOptions, "client" | "searchClient"> {
  /** Whether to create or migrate the tables first. Default false. */
  readonly migrate?: boolean;
  /** Maximum number of connections. Searches use up to two more. If 1, watching polls. Default 4. */
  readonly maxConnections?: number;
}

/** Connection that can be closed. */
interface OwnConnection {
  end(): Promise<void>;
}

/** Pool that can be closed, such as `Pool` from `pg`. */
type OwnPool = InstanceType<typeof import("pg").Pool>;

/** Milliseconds until a connection attempt fails. */
const CONNECT_MS = 10_000;

/** Number of connections reserved for searches, so that searches do not take connections from other calls. */
const SEARCH_CONNECTIONS = 2;

/** Returns whether a string is an address that `openPostgresStore` accepts. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(text);
}

/**
 * Creates a session store in PostgreSQL. Call `migrateDatabase` first to create the tables.
 *
 * Connects at the first call. If a pool loses its connections, no data is lost: appended entries are written when the
 * server is reachable again.
 *
 * @throws {TypeError} If the schema is not a valid name, or a database cannot store the tenant.
 * @remarks Source: docs/postgres.md
 */
export function postgresStore(options: PostgresStoreOptions): SessionStore {
  return remoteStore(new PostgresBackend(options), options);
}

/**
 * Opens a store, given the address of its database. The host must install the `pg` package.
 *
 * @param url - `postgres://user:password@host:port/database`; this package reads `?schema=` and `?tenant=`, and the
 *   driver reads everything else.
 * @returns A store that closes its connections when it is closed.
 * @throws {TypeError} If `url` is not a PostgreSQL address.
 * @throws {SessionError} `STORE_UNAVAILABLE` if the package is not installed, or the tables cannot be created;
 *   `VERSION_TOO_NEW`.
 */
export async function openPostgresStore(
  url: string,
  options: OpenPostgresOptions = {},
): Promise<SessionStore> {
  assertOptions<Pick<OpenPostgresOptions, "migrate" | "maxConnections">>(options, {
    migrate: FLAG,
    maxConnections: makeNumberRule(1, "connections"),
  });
  assertText("url", url);
  const { address, ...own } = readAddress(url);
  const { migrate: isMigrated = false, maxConnections = 4, ...given } = options;
  // Listening requires a separate connection.
  const settings = { ...given, ...own, ...(maxConnections < 2 && { notify: false }) };
  const pool = await makePool(address, maxConnections);
  const searches = await makePool(address, SEARCH_CONNECTIONS);
  const backend = new OwningBackend({ ...settings, client: pool, searchClient: searches }, [pool, searches]);
  if (!isMigrated) return remoteStore(backend, settings);
  try {
    const place = { client: pool, ...(settings.schema !== undefined && { schema: settings.schema }) };
    await repeatUntilAnswered(() => migrateDatabase(place), retryPace(settings));
  } catch (error) {
    await backend.close();
    throw error;
  }
  return remoteStore(backend, settings);
}

/**
 * Creates, migrates, or drops a store's tables, like `migrateDatabase`, given the address of the database.
 *
 * @param options - `to`: the target version; 0 drops all tables and all sessions.
 * @throws {TypeError} If `url` is not a PostgreSQL address, or `to` is not a version.
 */
export function migratePostgres(
  url: string,
  options: Pick<MigrateOptions, "to"> & RetryOptions = {},
): Promise<MigrationResult> {
  return askPostgres(url, options, migrateDatabase);
}

/** Returns the statements that `migratePostgres` would run now, like `migrationSql`. */
export function postgresMigrationSql(
  url: string,
  options: Pick<MigrateOptions, "to"> & RetryOptions = {},
): Promise<string[]> {
  return askPostgres(url, options, migrationSql);
}

/** Runs one task on the tables of a database with a new pool, then closes the pool. */
async function askPostgres<T>(
  url: string,
  { to, ...pace }: Pick<MigrateOptions, "to"> & RetryOptions,
  ask: (options: MigrateOptions) => Promise<T>,
): Promise<T> {
  const { address, schema } = readAddress(url);
  const client = await makePool(address, 1);
  const place = { client, ...(schema !== undefined && { schema }), ...(to !== undefined && { to }) };
  try {
    return await repeatUntilAnswered(() => ask(place), retryPace(pace));
  } finally {
    await client.end();
  }
}

/** Backend that owns its pools and closes them. */
class OwningBackend extends PostgresBackend {
  readonly #pools: readonly OwnPool[];
  readonly #connections = new Set<OwnConnection>();
  #ended: Promise<unknown> | undefined;

  constructor(options: PostgresStoreOptions, pools: readonly OwnPool[]) {
    super(options);
    this.#pools = pools;
    for (const pool of pools) {
      pool.on("connect", (connection) => this.#connections.add(connection));
      pool.on("remove", (connection) => this.#connections.delete(connection));
    }
  }

  override async close(options: { readonly discard?: boolean } = {}): Promise<void> {
    await super.close(options);
    this.#ended ??= Promise.all(this.#pools.map((pool) => pool.end()));
    if (!options.discard) {
      await this.#ended;
      return;
    }
    // The pool waits for connections in use, so close them here. A connection that is being opened has its own time
    // limit.
    for (const connection of this.#connections) connection.end().catch(() => undefined);
    this.#ended.catch(() => undefined);
  }
}

function readAddress(text: string): { address: string; schema?: string; tenant?: string } {
  if (!isPostgresUrl(text)) {
    throw new TypeError(
      "The address of a PostgreSQL store must look like postgres://user@host/database; correct it.",
    );
  }
  const url = new URL(text);
  const [schema, tenant] = ["schema", "tenant"].map((name) => {
    const value = url.searchParams.get(name) ?? undefined;
    url.searchParams.delete(name);
    return value;
  });
  return { address: url.href, ...pickDefined({ schema, tenant }) };
}

async function makePool(address: string, max: number): Promise<OwnPool> {
  const Pool = await loadDriver();
  return new Pool({
    connectionString: address,
    max,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    allowExitOnIdle: true,
  });
}

async function loadDriver(): Promise<typeof import("pg").Pool> {
  try {
    return (await import("pg")).default.Pool;
  } catch (error) {
    if (toRecord(error)["code"] !== "ERR_MODULE_NOT_FOUND") throw error;
    const message = "The pg package, which connects to PostgreSQL, is not installed; run npm install pg.";
    throw new SessionError("STORE_UNAVAILABLE", message, { cause: error });
  }
}
