import { SessionError } from "../../core/format/errors.ts";
import { assertOptions } from "../../core/format/options.ts";
import { type Row, readNumber, readRequiredText } from "../contract/rows.ts";
import type { PostgresClient } from "./client.ts";
import { Database, type RunSql, withDatabase } from "./database.ts";
import { DEFAULT_SCHEMA, lockKey, type Names, quoteLiteral, quoteNames } from "./names.ts";
import { createTables, dropTables } from "./tables.ts";

/** Query for the table of lines and its partitions, each with its search index. The table itself is last. */
const PARTS = `select format('%I.%I', n.nspname, c.relname) as part, format('%I', c.relname || '_by_text') as index,
    format('%I.%I', n.nspname, c.relname || '_by_text') as full_index, c.relkind = 'p' as is_split,
    (select i.indisvalid from pg_index i
      where i.indexrelid = to_regclass(format('%I.%I', n.nspname, c.relname || '_by_text'))) as is_valid
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.oid = $1::regclass or c.oid in (select t.relid from pg_partition_tree($1::regclass) t where t.isleaf)
  order by c.relkind = 'p'`;

const TRIGRAMS = `select format('%I', n.nspname) as schema from pg_extension e
  join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm'`;

/**
 * Builds or drops the search index while other processes append. Does nothing if another host is already doing this.
 *
 * Does not use a transaction, because all appends would then wait until the index is built.
 *
 * @param run - Runs statements over one connection.
 */
async function changeSearchIndex(run: RunSql, names: Names, isWanted: boolean): Promise<void> {
  const key = lockKey(`${names.schema} search`);
  // Waiting for the lock would block the build in the process that holds it.
  const [lock] = await run("select pg_try_advisory_lock($1::bigint) as is_mine", [key]);
  if (lock?.["is_mine"] !== true) return;
  try {
    for (const statement of await searchIndexSql(run, names, isWanted)) await run(statement);
  } finally {
    await run("select pg_advisory_unlock($1::bigint)", [key]);
  }
}

/** Returns the statements that build or drop the index, each to be run separately; empty if there is nothing to do. */
async function searchIndexSql(run: RunSql, names: Names, isWanted: boolean): Promise<string[]> {
  const parts = await run(PARTS, [names.lines]);
  const whole = parts.at(-1);
  if (whole === undefined) return [];
  if (!isWanted) return whole["is_valid"] === null ? [] : [dropSql(whole)];
  if (whole["is_valid"] === true) return [];
  const [extension] = await run(TRIGRAMS);
  const operators = extension === undefined ? "" : `${readRequiredText(extension, "schema")}.`;
  const missing = parts.filter((part) => part["is_valid"] !== true);
  return [
    ...(extension === undefined ? ["create extension if not exists pg_trgm"] : []),
    // An interrupted build leaves an index that is kept up to date but cannot be used.
    ...missing.filter((part) => part["is_valid"] === false).map(dropSql),
    ...missing.map(
      (part) =>
        `create index${makeConcurrently(part)} if not exists ${readRequiredText(part, "index")} on ${readRequiredText(part, "part")} using gin (search ${operators}gin_trgm_ops)`,
    ),
  ];
}

const dropSql = (part: Row) =>
  `drop index${makeConcurrently(part)} if exists ${readRequiredText(part, "full_index")}`;

/**
 * Returns the `concurrently` clause, except for a partitioned table. Its index is composed of its partitions' indexes
 * and cannot be built concurrently.
 */
const makeConcurrently = (part: Row) => (part["is_split"] === true ? "" : " concurrently");

/** Step between two versions of the tables. */
interface Migration {
  /** Version of the tables after this step. */
  readonly version: number;
  /** Purpose of the step, in a few words. */
  readonly purpose: string;
  /** Returns the statements that apply the step. */
  up(names: Names): string[];
  /** Returns the statements that revert the step. */
  down(names: Names): string[];
}

/** All steps, in order. Never change a released step; add another step instead. */
const MIGRATIONS: readonly Migration[] = [
  { version: 1, purpose: "sessions and their lines", up: createTables, down: dropTables },
];

/** Version of the tables in this release. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Options for a migration. */
export interface MigrateOptions {
  /** Client whose role may create objects in the schema. */
  readonly client: PostgresClient;
  /** Name of the schema. Default `sessiontree`. */
  readonly schema?: string;
  /** Target version; 0 drops all tables and all sessions. Default: the version of this release. */
  readonly to?: number;
  /**
   * Whether the search index should exist: true builds it if it is missing or incomplete, false drops it. Building
   * takes minutes for millions of entries, but other processes can append in the meantime. Default: new tables get an
   * index if the extension `pg_trgm` is available, and existing tables remain unchanged.
   */
  readonly searchIndex?: boolean;
}

/** Versions of the tables before and after a migration. */
export interface MigrationResult {
  readonly from: number;
  readonly to: number;
}

/**
 * Creates the tables of a store, migrates them to another version, or drops them, in one transaction. Then builds or drops the
 * search index, if requested.
 *
 * Safe to call at every start, even by several hosts concurrently: one host migrates while the others wait. Creates the
 * schema if it is missing, and never drops it.
 *
 * @throws {TypeError} If `to` is not a version of this release.
 * @throws {SessionError} `VERSION_TOO_NEW` if the tables were created by a newer release; `STORE_UNAVAILABLE` if the database
 * refuses the call or does not store text as UTF-8. The tables are then unchanged.
 * @throws The client's error if the connection is lost.
 */
export async function migrateDatabase(options: MigrateOptions): Promise<MigrationResult> {
  assertOptions<object>(options, {});
  const { client, schema = DEFAULT_SCHEMA, to = SCHEMA_VERSION, searchIndex } = options;
  const names = quoteNames(schema);
  assertVersion(to);
  const steps = async (run: RunSql) => {
    await run("select pg_advisory_xact_lock($1::bigint)", [lockKey(schema)]);
    await assertUtf8(run);
    await makeSchema(run, names);
    const from = await findVersion(run, names);
    for (const statement of listStatements(names, from, to)) await run(statement);
    return { from, to };
  };
  return withDatabase(new Database(client), schema, async (database) => {
    const result = await database.transaction(steps);
    if (searchIndex !== undefined && to > 0)
      await database.connected((run) => changeSearchIndex(run, names, searchIndex));
    return result;
  });
}

/**
 * Returns the statements that `migrateDatabase` would run now, for review.
 *
 * @returns Statements, each with a semicolon: one transaction, then the statements that build or drop the search index,
 *   which must be run one at a time. Empty if there is nothing to do.
 * @throws The same errors as `migrateDatabase`.
 */
export async function migrationSql(options: MigrateOptions): Promise<string[]> {
  assertOptions<object>(options, {});
  const { client, schema = DEFAULT_SCHEMA, to = SCHEMA_VERSION, searchIndex } = options;
  const names = quoteNames(schema);
  assertVersion(to);
  const from = await readSchemaVersion({ client, schema });
  const steps = listStatements(names, from, to);
  const begin =
    from > 0 ? [] : [`create schema if not exists ${names.quotedSchema}`, getVersionsTable(names)];
  const tables = from === to ? [] : ["begin", ...begin, ...steps, "commit"];
  const hasTables = from > 0 && to > 0;
  const index =
    searchIndex === undefined || !hasTables
      ? []
      : await withDatabase(new Database(client), schema, ({ run }) =>
          searchIndexSql(run, names, searchIndex),
        );
  return [...tables, ...index].map((statement) => `${statement};`);
}

/**
 * Returns the version of the tables in a schema; 0 if there are no tables.
 *
 * @throws {SessionError} `STORE_UNAVAILABLE` if the database refuses the call.
 * @throws The client's error if the connection is lost.
 * @remarks Cost: one or two statements.
 */
export async function readSchemaVersion(options: Omit<MigrateOptions, "to">): Promise<number> {
  const { client, schema = DEFAULT_SCHEMA } = options;
  const names = quoteNames(schema);
  return withDatabase(new Database(client), schema, ({ run }) => readVersion(run, names));
}

/** Returns the version of the tables; 0 if there are no tables. */
export async function readVersion(run: RunSql, names: Names): Promise<number> {
  const [table] = await run("select to_regclass($1) is not null as is_there", [names.versions]);
  return table?.["is_there"] === true ? findVersion(run, names) : 0;
}

/** Creates the error for tables created by a newer release. */
export function makeNewerTablesError(schema: string, version: number): SessionError {
  const message = `The tables in schema ${schema} have version ${version}, but this release supports only version ${SCHEMA_VERSION}; use the release that created them, or a newer one.`;
  return new SessionError("VERSION_TOO_NEW", message, { details: { schema, version } });
}

function assertVersion(to: number): void {
  if (Number.isInteger(to) && to >= 0 && to <= SCHEMA_VERSION) return;
  throw new TypeError(`to must be a version from 0 to ${SCHEMA_VERSION}; omit it for the newest version.`);
}

/** Returns the statements that migrate from one version to another. */
function listStatements(names: Names, from: number, to: number): string[] {
  if (from > SCHEMA_VERSION) throw makeNewerTablesError(names.schema, from);
  const up = MIGRATIONS.filter(({ version }) => version > from && version <= to);
  const down = MIGRATIONS.filter(({ version }) => version <= from && version > to).reverse();
  return [
    ...up.flatMap((step) => [
      ...step.up(names),
      `insert into ${names.versions} (version, purpose) values (${step.version}, ${quoteLiteral(step.purpose)})`,
    ]),
    ...down.flatMap((step) => [
      ...step.down(names),
      `delete from ${names.versions} where version = ${step.version}`,
    ]),
    ...(to === 0 ? [`drop table if exists ${names.versions}`] : []),
  ];
}

function getVersionsTable(names: Names): string {
  return `create table if not exists ${names.versions} (version integer primary key, purpose text not null, made_at timestamptz not null default now())`;
}

async function findVersion(run: RunSql, names: Names): Promise<number> {
  const [row] = await run(`select coalesce(max(version), 0) as version from ${names.versions}`);
  return row === undefined ? 0 : readNumber(row, "version");
}

async function makeSchema(run: RunSql, names: Names): Promise<void> {
  // Even `if not exists` requires permission to create a schema.
  const found = await run("select 1 from pg_namespace where nspname = $1", [names.schema]);
  if (found.length === 0) await run(`create schema ${names.quotedSchema}`);
  await run(getVersionsTable(names));
}

async function assertUtf8(run: RunSql): Promise<void> {
  const [row] = await run("select current_setting('server_encoding') as encoding");
  const encoding = row && readRequiredText(row, "encoding");
  if (encoding === "UTF8") return;
  const message = `The database stores text as ${encoding}; create a database with encoding UTF8, which can store any text.`;
  throw new SessionError("STORE_UNAVAILABLE", message, { details: { encoding } });
}
