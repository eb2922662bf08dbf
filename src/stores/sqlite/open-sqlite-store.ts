import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { toRecord } from "../../core/context/entry-fields.ts";
import { assertText } from "../../core/format/arguments.ts";
import { getErrorMessage, isSessionError, SessionError } from "../../core/format/errors.ts";
import { assertOptions, FLAG } from "../../core/format/options.ts";
import type { SessionStore } from "../contract/session-store.ts";
import { type RemoteStoreOptions, remoteStore } from "../remote/remote-store.ts";
import { type RetryOptions, repeatUntilAnswered, retryPace } from "../remote/retries.ts";
import type { SqliteConnection } from "./client.ts";
import { Database } from "./database.ts";
import {
  listMigrationSql,
  listTables,
  type MigrationResult,
  migrateTables,
  readTableVersion,
} from "./migrate.ts";
import { SqliteBackend, type SqliteOptions } from "./sqlite-backend.ts";
import { translateError } from "./sqlite-errors.ts";

/** Options for a SQLite store, including retries. */
export interface SqliteStoreOptions extends SqliteOptions, RemoteStoreOptions {}

/** Options for opening a store by its file path. */
export interface OpenSqliteOptions extends RemoteStoreOptions {
  /** Whether the file and its tables must already exist. Otherwise, they are created. Default false. */
  readonly mustExist?: boolean;
}

/** Connection that can be closed. */
interface OwnConnection extends SqliteConnection {
  close(): void;
}

/**
 * Milliseconds that a call blocks while another process writes. After that, the store waits without blocking and
 * repeats the call.
 */
const BUSY_MS = 250;

/**
 * Creates a session store in a SQLite database opened by the host. The first call creates the tables alongside any existing
 * tables.
 *
 * Does not change connection settings, but enables the write-ahead log for a database without tables.
 *
 * @throws {TypeError} If `database` is not a supported database.
 * @remarks Source: docs/sqlite.md
 */
export function sqliteStore(options: SqliteStoreOptions): SessionStore {
  return remoteStore(new SqliteBackend(options), options);
}

/**
 * Opens a store by its file path, with `node:sqlite`, with `bun:sqlite` in Bun, or with the `better-sqlite3` package if
 * the host has installed it.
 *
 * @param path - Path of the file. Creates the file if it is missing, but not its folder.
 * @returns A store that closes the file when it is closed.
 * @throws {SessionError} `PACKAGE_MISSING` if no SQLite driver is available; `STORE_UNAVAILABLE` if the file cannot be opened, is
 * damaged, or belongs to another program; `VERSION_TOO_NEW`; `READ_ONLY`.
 */
export async function openSqliteStore(path: string, options: OpenSqliteOptions = {}): Promise<SessionStore> {
  assertText("path", path);
  assertOptions<Pick<OpenSqliteOptions, "mustExist">>(options, { mustExist: FLAG });
  const { mustExist = false, ...settings } = options;
  if (mustExist && !existsSync(path)) throw makeMissingTablesError(path, "There is no database");
  const connection = openConnection(path);
  try {
    await askDatabase(connection, path, settings, (database) => {
      if (readOwnVersion(database, path) > 0) return;
      if (mustExist) throw makeMissingTablesError(path, "There are no tables for sessions in");
      migrateTables(database);
    });
  } catch (error) {
    connection.close();
    throw error;
  }
  return remoteStore(new OwningBackend(connection, path), settings);
}

/** Creates, migrates, or drops the tables in a file. Creates the file if it is missing. If `to` is 0, drops all sessions. */
export async function migrateSqlite(
  path: string,
  { to, ...pace }: { readonly to?: number | undefined } & RetryOptions = {},
): Promise<MigrationResult> {
  return useDatabase(path, path, pace, (database) => migrateTables(database, to));
}

/** Returns the statements that `migrateSqlite` would run now. */
export async function sqliteMigrationSql(
  path: string,
  { to, ...pace }: { readonly to?: number | undefined } & RetryOptions = {},
): Promise<string[]> {
  // Do not create a file only to list the statements.
  const opened = existsSync(path) ? path : ":memory:";
  return useDatabase(path, opened, pace, (database) => listMigrationSql(database, to));
}

/** Opens a file for one task on its tables. */
async function useDatabase<T>(
  path: string,
  opened: string,
  pace: RetryOptions,
  work: (database: Database) => T,
): Promise<T> {
  const connection = openConnection(opened);
  try {
    return await askDatabase(connection, path, pace, (database) => {
      readOwnVersion(database, path);
      return work(database);
    });
  } finally {
    connection.close();
  }
}

/** Runs work on a database, and repeats it while other processes are writing. */
function askDatabase<T>(
  connection: SqliteConnection,
  path: string,
  pace: RetryOptions,
  work: (database: Database) => T,
): Promise<T> {
  const database = new Database(connection);
  return repeatUntilAnswered(async () => {
    try {
      return work(database);
    } catch (error) {
      throw translateError(error, path);
    }
  }, retryPace(pace));
}

/** Reads the version of the tables. Throws if the database contains only another program's tables. */
function readOwnVersion({ run }: Database, path: string): number {
  const version = readTableVersion(run);
  const others = version === 0 ? listTables(run) : [];
  if (others.length === 0) return version;
  const message = `${path} belongs to another program: it contains the table ${others[0]}. Choose another file, or pass your own handle to sqliteStore(), which adds tables to it.`;
  throw new SessionError("STORE_UNAVAILABLE", message, { details: { path } });
}

function makeMissingTablesError(path: string, what: string): SessionError {
  const message = `${what} ${path}. Correct the path, or create it with "sessiontree db migrate --store sqlite:${path}".`;
  return new SessionError("STORE_UNAVAILABLE", message, { details: { path } });
}

/** Backend that owns its connection and closes it. */
class OwningBackend extends SqliteBackend {
  #connection: OwnConnection | undefined;

  constructor(connection: OwnConnection, path: string) {
    super({ database: connection }, path);
    this.#connection = connection;
  }

  override async close(): Promise<void> {
    await super.close();
    this.#connection?.close();
    this.#connection = undefined;
  }
}

function openConnection(path: string): OwnConnection {
  const Driver = findDriver();
  let connection: OwnConnection | undefined;
  try {
    connection = new Driver(path);
    connection.prepare(`pragma busy_timeout = ${BUSY_MS}`).all();
    return connection;
  } catch (error) {
    connection?.close();
    const translated = translateError(error, path);
    if (isSessionError(translated)) throw translated;
    const message = `The database ${path} cannot be opened: ${getErrorMessage(error)}. Check that its folder exists, and that this user may read and write both.`;
    throw new SessionError("STORE_UNAVAILABLE", message, { details: { path }, cause: error });
  }
}

type Driver = new (path: string) => OwnConnection;

/** Returns a class that opens databases. Drivers are loaded only when needed, and none of them are dependencies. */
function findDriver(): Driver {
  const require = createRequire(import.meta.url);
  // These are not imports, because only Bun has the first module, and older versions of Node lack the second.
  const { Database: BunDatabase } = Object(process.getBuiltinModule("bun:sqlite"));
  const { DatabaseSync } = Object(process.getBuiltinModule("node:sqlite"));
  const builtIn: unknown = BunDatabase ?? DatabaseSync;
  if (builtIn !== undefined) return toDriver(builtIn);
  try {
    return toDriver(require("better-sqlite3"));
  } catch (error) {
    const isMissing = toRecord(error)["code"] === "MODULE_NOT_FOUND";
    throw new SessionError(
      "PACKAGE_MISSING",
      isMissing
        ? "This version of Node has no SQLite; use Node 22.13 or later, or npm install better-sqlite3@12."
        : `The package better-sqlite3 cannot be loaded: ${getErrorMessage(error)}. Run "npm rebuild better-sqlite3", or use Node 22.13 or later.`,
      { cause: error },
    );
  }
}

function toDriver(found: unknown): Driver {
  if (isDriver(found)) return found;
  throw new TypeError("The module has no class that opens databases; update it.");
}

function isDriver(found: unknown): found is Driver {
  return typeof found === "function";
}
