import type { SessionFacts } from "../../core/facts/session-facts.ts";
import { SessionError } from "../../core/format/errors.ts";
import {
  assertOptions,
  FLAG,
  makeNumberRule,
  OBJECT,
  type OptionRules,
  TEXT,
} from "../../core/format/options.ts";
import { isStorable, readNumber, readSessionFacts, readText } from "../contract/rows.ts";
import type {
  Amendment,
  AppendCondition,
  AppendReceipt,
  BackendListQuery,
  BackendSearchQuery,
  BackendSupport,
  FactsWithUsage,
  FoundLine,
  LinePage,
  NewEntryLine,
  NewLine,
  SessionBackend,
} from "../contract/session-backend.ts";
import { sessionNotFound, writesLost } from "../contract/store-errors.ts";
import { type AppendPlace, amendSession, appendEntries } from "./append.ts";
import type { PostgresClient } from "./client.ts";
import { createSession } from "./create.ts";
import { Database, getSqlState, tolerateLostConnections, translateError } from "./database.ts";
import { Listener } from "./listener.ts";
import { makeNewerTablesError, readVersion, SCHEMA_VERSION } from "./migrate.ts";
import { DEFAULT_SCHEMA, type Names, quoteNames } from "./names.ts";
import {
  listSql,
  makeFoundLinesSql,
  makeSessionSql,
  makeUsageSql,
  mayFindLinesSql,
  type Query,
  readSql,
  searchSql,
  watchSql,
} from "./queries.ts";
import { assertTenant, readFactsWithUsage, readStoredLine } from "./rows.ts";

/** Options for a PostgreSQL store. */
export interface PostgresOptions {
  /** A `Pool` from `pg`, a `PGlite`, or an object with the same shape. The caller must close it after closing the store. */
  readonly client: PostgresClient;
  /** Schema of the tables. Default `sessiontree`. */
  readonly schema?: string;
  /** Tenant that owns the sessions. Default: the connection's `sessiontree.tenant` setting, or no tenant. */
  readonly tenant?: string;
  /**
   * Whether appends to watched sessions notify watchers. Default true. The server commits such transactions one at a
   * time, so polling is cheaper if thousands of watched sessions grow concurrently.
   */
  readonly notify?: boolean;
  /**
   * Milliseconds after which an unresponsive connection from a pool is considered lost, and the call is retried over
   * another connection. Default 30,000.
   */
  readonly timeoutMs?: number;
  /** Client for searches, so that searches do not take connections from other calls. Default: `client`. */
  readonly searchClient?: PostgresClient;
}

const TIMEOUT_MS = 30_000;

const POSTGRES_RULES: OptionRules<PostgresOptions> = {
  client: OBJECT,
  schema: TEXT,
  tenant: TEXT,
  notify: FLAG,
  timeoutMs: makeNumberRule(1, "milliseconds"),
  searchClient: OBJECT,
};

const NO_RIGHT = "42501";
const CANCELLED = "57014";

/**
 * Backend for sessions in PostgreSQL, with one row per session and one row per line.
 *
 * Appends lock the session's row, so that the database determines the order of the lines.
 */
export class PostgresBackend implements SessionBackend {
  readonly supports: BackendSupport;
  readonly subscribe?: (
    id: string,
    onMore: () => void,
    options: { readonly signal: AbortSignal },
  ) => Promise<void>;
  readonly #names: Names;
  readonly #place: AppendPlace;
  readonly #database: Database;
  readonly #searches: Database;
  readonly #listener: Listener;
  /** Ends `tolerateLostConnections`. */
  readonly #release: () => unknown;
  #hasTables = false;
  /** Whether the role may call the function that finds lines. If not, each search checks again. */
  #mayFindLines = false;

  /**
   * @throws {TypeError} If the schema is not a valid name, a database cannot store the tenant, or an option is invalid.
   */
  constructor(options: PostgresOptions) {
    assertOptions<PostgresOptions>(options, POSTGRES_RULES);
    const { client, schema = DEFAULT_SCHEMA, tenant, notify = true, timeoutMs = TIMEOUT_MS } = options;
    const { searchClient = client } = options;
    this.#names = quoteNames(schema);
    if (tenant !== undefined) assertTenant(tenant);
    const { channel } = this.#names;
    this.#place = { names: this.#names, tenant, channel: notify ? channel : undefined, lockMs: timeoutMs };
    this.#database = new Database(client, { tenant, timeoutMs });
    this.#searches = new Database(searchClient, { tenant, timeoutMs });
    const mark = (keys: readonly string[]) => this.#run(watchSql(this.#names, keys));
    const send = (payload: string) => this.#database.run("select pg_notify($1, $2)", [channel, payload]);
    this.#listener = new Listener({ client, channel, mark, notify: send });
    const releases = [client, searchClient].map(tolerateLostConnections);
    this.#release = () => {
      for (const release of releases) release();
    };
    this.supports = { rewrite: true, search: true, watch: notify, conditionalAppend: true };
    if (notify) this.subscribe = (id, onMore, { signal }) => this.#subscribe(id, onMore, signal);
  }

  create(session: SessionFacts, lines: AsyncIterable<readonly NewLine[]>): Promise<AppendReceipt> {
    return this.#do(() => createSession(this.#database, this.#names, session, lines));
  }

  read(id: string, afterSeq: number, limit: number, afterEntryId?: string): Promise<LinePage> {
    return this.#about(id, async () => {
      const rows = await this.#run(readSql(this.#names, id, afterSeq, limit, afterEntryId));
      const [first] = rows;
      if (first === undefined) throw sessionNotFound(id);
      if (first["is_known"] !== true) throw writesLost(id);
      const lines = rows.filter((row) => row["seq"] !== null).map(readStoredLine);
      const lastSeq = readNumber(first, "end_seq");
      const isEnd = lines.length === 0 || lines.at(-1)?.seq === lastSeq;
      return { lines, isEnd, revision: readNumber(first, "revision") };
    });
  }

  append(
    id: string,
    lines: readonly NewEntryLine[],
    condition: AppendCondition = {},
  ): Promise<AppendReceipt> {
    return this.#about(id, () => appendEntries(this.#database.run, this.#place, id, lines, condition));
  }

  amend(id: string, change: Amendment): Promise<AppendReceipt | undefined> {
    return this.#about(id, () =>
      this.#database.transaction((run) => amendSession(run, this.#place, id, change)),
    );
  }

  list(query: BackendListQuery): Promise<readonly SessionFacts[]> {
    return this.#do(async () => (await this.#run(listSql(this.#names, query))).map(readSessionFacts));
  }

  listUsage(query: BackendListQuery): Promise<readonly FactsWithUsage[]> {
    return this.#do(async () => (await this.#run(makeUsageSql(this.#names, query))).map(readFactsWithUsage));
  }

  search(
    query: BackendSearchQuery,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<readonly FoundLine[]> {
    return this.#do(async () => {
      const run = ({ text, values }: Query) => this.#searches.query(text, values, signal);
      try {
        if (!this.#mayFindLines) {
          const [row] = await run(mayFindLinesSql(this.#names));
          this.#mayFindLines = row?.["may_find"] === true;
        }
        const rows = await run((this.#mayFindLines ? makeFoundLinesSql : searchSql)(this.#names, query));
        return rows.map((row) => ({ session: readSessionFacts(row), line: readStoredLine(row) }));
      } catch (error) {
        throw getSqlState(error) === CANCELLED ? searchCancelled(error) : error;
      }
    });
  }

  delete(id: string): Promise<boolean> {
    return this.#do(async () => {
      if (!isStorable(id)) return false;
      const { sessions } = this.#names;
      const { text, values } = makeSessionSql(
        id,
        (where) => `delete from ${sessions} s where ${where} returning s.key`,
      );
      return (await this.#database.query(text, values)).length > 0;
    });
  }

  /** Releases the connection for notifications, if there is one. The client remains open. Idempotent. */
  async close(options: { readonly discard?: boolean } = {}): Promise<void> {
    await this.#listener.close(options);
    this.#release();
  }

  #subscribe(id: string, onMore: () => void, signal: AbortSignal): Promise<void> {
    return this.#about(id, async () => {
      const { sessions } = this.#names;
      const [row] = await this.#run(
        makeSessionSql(id, (where) => `select s.key::text as key from ${sessions} s where ${where}`),
      );
      if (row === undefined) throw sessionNotFound(id);
      const added = this.#listener.add(readText(row, "key") ?? "", onMore, signal);
      await added.catch((error: unknown) => {
        if (getSqlState(error) !== NO_RIGHT) throw error;
        // Only notifications are refused. A role with read-only permissions polls.
        throw new Error("the role may not register as a watcher of sessions", { cause: error });
      });
    });
  }

  #run({ text, values }: Query) {
    return this.#database.query(text, values);
  }

  /** Runs work on a session after checking its id. */
  #about<T>(id: string, work: () => Promise<T>): Promise<T> {
    return this.#do(() => {
      if (!isStorable(id)) throw sessionNotFound(id);
      return work();
    });
  }

  async #do<T>(work: () => Promise<T>): Promise<T> {
    try {
      if (!this.#hasTables) await this.#assertTables();
      this.#hasTables = true;
      return await work();
    } catch (error) {
      throw translateError(error, this.#names.schema);
    }
  }

  async #assertTables(): Promise<void> {
    const { schema } = this.#names;
    const version = await readVersion(this.#database.run, this.#names);
    if (version > SCHEMA_VERSION) throw makeNewerTablesError(schema, version);
    if (version === SCHEMA_VERSION) return;
    const [server] = await this.#database.run("select pg_is_in_recovery() as is_standby");
    if (server?.["is_standby"] === true) throw new Error("the server is a standby that has no tables yet");
    const message = `Schema ${schema} of the database has ${version === 0 ? "no tables" : "older tables"} for sessions; call migrateDatabase() from sessiontree/postgres, or run "sessiontree db migrate".`;
    throw new SessionError("STORE_UNAVAILABLE", message, { details: { schema, version } });
  }
}

/** Creates a final error for a search that the server canceled, because the server would also cancel a retry. */
function searchCancelled(cause: unknown): SessionError {
  const message =
    "The server canceled the search (57014), for example because of statement_timeout; search for longer or rarer words, or in one project, or raise the limit.";
  return new SessionError("STORE_UNAVAILABLE", message, { details: { sqlState: CANCELLED }, cause });
}
