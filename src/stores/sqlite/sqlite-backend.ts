import type { SessionFacts } from "../../core/facts/session-facts.ts";
import { assertOptions, OBJECT, type OptionRules } from "../../core/format/options.ts";
import { isStorable } from "../contract/rows.ts";
import type {
  Amendment,
  AppendCondition,
  AppendReceipt,
  BackendListQuery,
  BackendSearchQuery,
  FactsWithUsage,
  FoundLine,
  LinePage,
  NewEntryLine,
  NewLine,
  SessionBackend,
} from "../contract/session-backend.ts";
import { sessionNotFound } from "../contract/store-errors.ts";
import { amendSession, appendEntries, getStoredSession } from "./append.ts";
import { ChangeHub } from "./change-hub.ts";
import { assertSqliteClient, type SqliteClient } from "./client.ts";
import { createSession } from "./create.ts";
import { Database } from "./database.ts";
import { LineSearch } from "./line-search.ts";
import {
  hasSearchIndex,
  makeNewerTablesError,
  migrateTables,
  readTableVersion,
  SQLITE_SCHEMA_VERSION,
} from "./migrate.ts";
import { listSessions, listSessionUsage, readLinePage } from "./queries.ts";
import { translateError } from "./sqlite-errors.ts";
import { TABLES } from "./tables.ts";

/** Options for a SQLite store. */
export interface SqliteOptions {
  /**
   * A `DatabaseSync` from `node:sqlite`, a `Database` from `bun:sqlite` or `better-sqlite3`, or the `ctx.storage` of a
   * Durable Object. The caller must close it after closing the store.
   */
  readonly database: SqliteClient;
}

const SQLITE_RULES: OptionRules<SqliteOptions> = { database: OBJECT };

/**
 * Backend for sessions in SQLite, with one row per session and one row per line.
 *
 * Every change is one transaction, during which other processes cannot write. The first call creates the tables.
 */
export class SqliteBackend implements SessionBackend {
  readonly supports = { rewrite: true, search: true, watch: true, conditionalAppend: true };
  readonly #database: Database;
  readonly #path: string | undefined;
  readonly #hub: ChangeHub;
  /** Aborts the subscriptions. */
  readonly #closing = new AbortController();
  #hasTables = false;
  #isIndexed = false;

  /**
   * @param path - Path of the database, for error messages.
   * @throws {TypeError} If an option is invalid.
   */
  constructor(options: SqliteOptions, path?: string) {
    assertOptions<SqliteOptions>(options, SQLITE_RULES);
    assertSqliteClient(options.database);
    this.#database = new Database(options.database);
    this.#path = path;
    this.#hub = ChangeHub.of(this.#database);
  }

  create(facts: SessionFacts, lines: AsyncIterable<readonly NewLine[]>): Promise<AppendReceipt> {
    return this.#do(() => createSession(this.#database, facts, lines));
  }

  read(id: string, afterSeq: number, limit: number, afterEntryId?: string): Promise<LinePage> {
    const query = { afterSeq, limit, afterEntryId };
    return this.#about(id, () => this.#database.read((run) => readLinePage(run, id, query)));
  }

  append(
    id: string,
    lines: readonly NewEntryLine[],
    condition: AppendCondition = {},
  ): Promise<AppendReceipt> {
    return this.#change(id, () => this.#database.write((run) => appendEntries(run, id, lines, condition)));
  }

  amend(id: string, change: Amendment): Promise<AppendReceipt | undefined> {
    return this.#change(id, () => this.#database.write((run) => amendSession(run, id, change)));
  }

  list(query: BackendListQuery): Promise<readonly SessionFacts[]> {
    return this.#do(() => listSessions(this.#database.run, query));
  }

  listUsage(query: BackendListQuery): Promise<readonly FactsWithUsage[]> {
    return this.#do(() => this.#database.read((run) => listSessionUsage(run, query)));
  }

  search(
    query: BackendSearchQuery,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<readonly FoundLine[]> {
    return this.#do(() => new LineSearch(this.#database.run, query, this.#isIndexed).find(signal));
  }

  delete(id: string): Promise<boolean> {
    return this.#do(() => {
      if (!isStorable(id)) return false;
      const sql = `delete from ${TABLES.sessions} where is_complete = 1 and id = ? returning key`;
      const isDeleted = this.#database.write((run) => run(sql, id).length > 0);
      this.#hub.notify(id);
      return isDeleted;
    });
  }

  subscribe(id: string, onMore: () => void, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    return this.#about(id, () => {
      getStoredSession(this.#database.run, id);
      this.#hub.add(id, onMore, AbortSignal.any([signal, this.#closing.signal]));
    });
  }

  /** Ends the subscriptions. The database remains open. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort();
  }

  /** Runs work that changes a session, and reports the change. */
  #change<T>(id: string, work: () => T): Promise<T> {
    return this.#about(id, () => {
      const result = work();
      this.#hub.notify(id);
      return result;
    });
  }

  /** Runs work on a session after checking its id. */
  #about<T>(id: string, work: () => T): Promise<T> {
    return this.#do(() => {
      if (!isStorable(id)) throw sessionNotFound(id);
      return work();
    });
  }

  async #do<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      if (!this.#hasTables) this.#prepareTables();
      return await work();
    } catch (error) {
      throw translateError(error, this.#path);
    }
  }

  #prepareTables(): void {
    const { run } = this.#database;
    const version = readTableVersion(run);
    if (version > SQLITE_SCHEMA_VERSION) throw makeNewerTablesError(version);
    if (version < SQLITE_SCHEMA_VERSION) migrateTables(this.#database);
    this.#isIndexed = hasSearchIndex(run);
    this.#hasTables = true;
  }
}
