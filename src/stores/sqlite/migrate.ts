import { SessionError } from "../../core/format/errors.ts";
import { type Row, readNumber, readRequiredText } from "../contract/rows.ts";
import { isObjectStorage } from "./client.ts";
import type { Database, RunSql } from "./database.ts";
import { translateError } from "./sqlite-errors.ts";
import { CREATE_SEARCH_INDEX, CREATE_TABLES, CREATE_VERSIONS, DROP_TABLES, TABLES } from "./tables.ts";

const { versions } = TABLES;

/** Step between two versions of the tables. */
interface Migration {
  /** Version of the tables after this step. */
  readonly version: number;
  /** Purpose of the step, in a few words. */
  readonly purpose: string;
  readonly up: (run: RunStatement) => void;
  readonly down: (run: RunStatement) => void;
}

/** Versions of the tables before and after a migration. */
export interface MigrationResult {
  readonly from: number;
  readonly to: number;
}

/** Runs a statement without parameters. */
type RunStatement = (sql: string) => Row[];

/** All steps, in order. Never change a released step; add another step instead. */
const MIGRATIONS: readonly Migration[] = [
  { version: 1, purpose: "sessions and their lines", up: createTables, down: dropTables },
];

/** Version of the tables in this release. */
export const SQLITE_SCHEMA_VERSION = MIGRATIONS.length;

/** Reads the version of the tables; 0 if there are no tables. */
export function readTableVersion(run: RunStatement): number {
  if (!hasTable(run, versions)) return 0;
  const [row] = run(`select coalesce(max(version), 0) as version from ${versions}`);
  return row === undefined ? 0 : readNumber(row, "version");
}

/** Returns whether the search index exists. */
export function hasSearchIndex(run: RunSql): boolean {
  return hasTable(run, TABLES.search);
}

/** Returns the names of all tables, including other programs' tables. */
export function listTables(run: RunSql): string[] {
  const rows = run(
    "select name from sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\'",
  );
  return rows.map((row) => readRequiredText(row, "name"));
}

function hasTable(run: RunStatement, name: string): boolean {
  return run(`select 1 from sqlite_master where type = 'table' and name = '${name}'`).length > 0;
}

/**
 * Creates the tables, migrates them to another version, or drops them, in one transaction.
 *
 * Enables the write-ahead log for a database without tables, so that readers and a writer do not wait for each other.
 *
 * @param to - Target version; 0 drops all tables and all sessions. Default: the version of this release.
 * @returns Versions before and after the migration.
 * @throws {SessionError} `VERSION_TOO_NEW` if the tables were created by a newer release.
 */
export function migrateTables(database: Database, to = SQLITE_SCHEMA_VERSION): MigrationResult {
  assertTarget(to);
  if (!isObjectStorage(database.client) && listTables(database.run).length === 0)
    database.run("pragma journal_mode = wal");
  return database.write((run) => applySteps(run, to));
}

/** Returns the statements that `migrateTables` would run now. */
export function listMigrationSql(database: Database, to = SQLITE_SCHEMA_VERSION): string[] {
  assertTarget(to);
  const statements: string[] = [];
  const undone = new Error("only to see the statements");
  try {
    database.write((run) => {
      applySteps((sql) => {
        if (!sql.startsWith("select")) statements.push(`${sql};`);
        return run(sql);
      }, to);
      throw undone;
    });
  } catch (error) {
    if (error !== undone) throw error;
  }
  return statements.length === 0 ? [] : ["begin immediate;", ...statements, "commit;"];
}

function assertTarget(to: number): void {
  if (Number.isInteger(to) && to >= 0 && to <= SQLITE_SCHEMA_VERSION) return;
  throw new TypeError(
    `to must be a version from 0 to ${SQLITE_SCHEMA_VERSION}; omit it for the newest version.`,
  );
}

/** Runs the statements that migrate to a version. */
function applySteps(run: RunStatement, to: number): MigrationResult {
  const from = readTableVersion(run);
  if (from > SQLITE_SCHEMA_VERSION) throw makeNewerTablesError(from);
  if (from === to) return { from, to };
  run(CREATE_VERSIONS);
  for (const { version, purpose, up } of MIGRATIONS) {
    if (version <= from || version > to) continue;
    up(run);
    run(`insert into ${versions} (version, purpose) values (${version}, '${purpose}')`);
  }
  for (const { version, down } of MIGRATIONS.toReversed()) {
    if (version > from || version <= to) continue;
    down(run);
    run(`delete from ${versions} where version = ${version}`);
  }
  if (to === 0) run(`drop table ${versions}`);
  return { from, to };
}

/** Creates the error for tables created by a newer release. */
export function makeNewerTablesError(version: number): SessionError {
  const message = `The database has tables of version ${version}, but this release supports only version ${SQLITE_SCHEMA_VERSION}; use the release that created them, or a newer one.`;
  return new SessionError("VERSION_TOO_NEW", message, { details: { version } });
}

function createTables(run: RunStatement): void {
  for (const statement of CREATE_TABLES) run(statement);
  const [first = "", ...triggers] = CREATE_SEARCH_INDEX;
  try {
    run(first);
  } catch (error) {
    if (!isMissingFeature(error)) throw error;
    return;
  }
  for (const statement of triggers) run(statement);
}

/**
 * Returns whether a statement failed because the SQLite library was built without FTS5 or is too old for one of the
 * options.
 */
function isMissingFeature(error: unknown): boolean {
  const said = translateError(error);
  return (
    said instanceof Error &&
    /no such module|no such tokenizer|unrecognized option|error in tokenizer/i.test(said.message)
  );
}

function dropTables(run: RunStatement): void {
  for (const statement of DROP_TABLES) run(statement);
}
