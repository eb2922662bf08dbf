import { statSync } from "node:fs";
import { SessionError } from "../../core/format/errors.ts";
import { isJsonRecord, type JsonRecord } from "../../core/format/json.ts";
import { getAllowedMs } from "./source-file.ts";

/** Rows to read from a table. A value whose type differs from the requested type is null. */
export interface TableQuery {
  readonly table: string;
  /** Names of text columns. */
  readonly texts: readonly string[];
  /** Names of numeric columns. Large numbers lose precision. */
  readonly numbers?: readonly string[];
  /** SQL condition, with `?` for values. Default: all rows. */
  readonly where?: string;
}

/** Name of the column for looking up rows, by table. */
export type LookupColumns = { readonly [table: string]: string };

/** Maximum length of a string to read, in bytes. A longer text is null. */
const MAX_TEXT_BYTES = 64 * 1024 ** 2;

/** Maximum total length of all strings read while a database is open, in characters. */
const MAX_TOTAL_LENGTH = 512 * 1024 ** 2;

/** Number of rows between two checks of the time limit. */
const ROWS_PER_LOOK = 1024;

/** Name of the SQL function called for each row that SQLite reads. It aborts a statement by throwing. */
const WITHIN_LIMITS = "sessiontree_within_limits";

/** Returns whether this version of Node can read databases, which requires 22.13 or later. */
export function canReadDatabases(): boolean {
  return loadDatabaseClass() !== undefined;
}

/** Opens a database read-only, calls a function with it, and closes it. */
export function withDatabase<T>(path: string, call: (database: Database) => T): T {
  return withOpened(path, { readOnly: true }, (opened) => call(new Database(opened, path)));
}

/**
 * Prepares a copy of a database for reading: merges its log and adds indexes for looking up rows.
 *
 * @throws {SessionError} `NOT_A_SESSION` if a table claims to contain more data than fits in the file.
 */
export function prepareDatabase(path: string, lookups: LookupColumns): void {
  withOpened(path, { readOnly: false }, (opened) => {
    opened.exec("PRAGMA trusted_schema = OFF; PRAGMA journal_mode = DELETE");
    const database = new Database(opened, path);
    for (const [table, column] of Object.entries(lookups)) {
      if (!database.columns(table).has(column) || database.hasIndex(table, column)) continue;
      if (!database.fits(statSync(path).size, table, column)) throw makeTooMuchWorkError(path);
      opened.exec(`CREATE INDEX "sessiontree_${table}" ON "${table}" ("${column}")`);
    }
  });
}

/**
 * Another program's SQLite database. Views, virtual tables, and generated columns can run code, so they are never read.
 *
 * Limits apply to all calls together: a time limit, checked as SQLite reads rows, and a limit on the total length of the results.
 */
export class Database {
  readonly #opened: OpenDatabase;
  readonly #path: string;
  #rowsSeen = 0;
  #length = 0;

  constructor(opened: OpenDatabase, path: string) {
    this.#opened = opened;
    this.#path = path;
    const untilMs = Date.now() + getAllowedMs(statSync(path).size);
    opened.function(WITHIN_LIMITS, { directOnly: true }, () => {
      if (++this.#rowsSeen % ROWS_PER_LOOK === 0 && Date.now() > untilMs) throw makeTooMuchWorkError(path);
      return 1;
    });
  }

  /**
   * Yields rows one at a time, in any order.
   *
   * @throws {SessionError} `NOT_A_SESSION` if reading requires more work, or returns more data, than is possible with an intact
   *   database.
   */
  rows({ table, texts, numbers = [], where = "1" }: TableQuery, ...values: string[]): Iterable<JsonRecord> {
    const columns = [...texts.map(makeTextColumn), ...numbers.map(makeNumberColumn)];
    return this.#select(`SELECT ${columns} FROM "${table}" WHERE ${WITHIN_LIMITS}() AND (${where})`, values);
  }

  /** Returns the names of a table's stored columns; empty if there is no such table. */
  columns(table: string): ReadonlySet<unknown> {
    const isTable = `${WITHIN_LIMITS}() AND type = 'table' AND name = ? AND rootpage > 0`;
    const [found] = this.#select(`SELECT 1 FROM sqlite_master WHERE ${isTable}`, [table]);
    const columns = found && this.#select("SELECT name FROM pragma_table_info(?)", [table]);
    return new Set(Array.from(columns ?? [], ({ name }) => name));
  }

  /** Returns whether a table has an index on a column. */
  hasIndex(table: string, column: string): boolean {
    const query = `SELECT 1 FROM pragma_index_list(?) AS list JOIN pragma_index_info(list.name) AS part
      WHERE list.partial = 0 AND part.seqno = 0 AND part.name = ?`;
    return Array.from(this.#select(query, [table, column])).length > 0;
  }

  /** Returns whether all values of a column fit in a file of the given size. */
  fits(bytes: number, table: string, column: string): boolean {
    const query = `SELECT octet_length("${column}") AS length FROM "${table}" WHERE ${WITHIN_LIMITS}()`;
    let left = bytes;
    for (const { length } of this.#select(query, [])) {
      left -= Number(length) + 1;
      if (left < 0) return false;
    }
    return true;
  }

  *#select(query: string, values: readonly string[]): Generator<JsonRecord, void> {
    for (const row of this.#opened.prepare(query).iterate(...values)) {
      if (!isJsonRecord(row)) continue;
      for (const value of Object.values(row)) if (typeof value === "string") this.#length += value.length;
      if (this.#length > MAX_TOTAL_LENGTH) throw makeTooMuchWorkError(this.#path);
      yield row;
    }
  }
}

/** Checks the length before reading the text, so that a string too large for Node is never created. */
function makeTextColumn(name: string): string {
  const isText = `typeof("${name}") = 'text' AND octet_length("${name}") <= ${MAX_TEXT_BYTES}`;
  return `CASE WHEN ${isText} THEN "${name}" END AS "${name}"`;
}

/** Converts numbers to floating point, because Node rejects integers that JavaScript cannot represent. Large ones are rounded. */
function makeNumberColumn(name: string): string {
  return `CASE WHEN typeof("${name}") IN ('integer', 'real') THEN CAST("${name}" AS REAL) END AS "${name}"`;
}

function makeTooMuchWorkError(path: string): SessionError {
  const message = `${path} takes more work to read than an intact database of this size. Export the sessions with the program that wrote it, and import the exported files.`;
  return new SessionError("NOT_A_SESSION", message, { details: { path } });
}

function withOpened<T>(
  path: string,
  options: { readonly readOnly: boolean },
  call: (opened: OpenDatabase) => T,
): T {
  const DatabaseSync = loadDatabaseClass();
  if (DatabaseSync === undefined) throw new Error("This version of Node cannot read databases.");
  const opened = new DatabaseSync(path, options);
  try {
    return call(opened);
  } finally {
    opened.close();
  }
}

/** The parts of `node:sqlite` used in this module. */
interface OpenDatabase {
  prepare(query: string): { iterate(...values: readonly string[]): Iterable<unknown> };
  exec(statements: string): void;
  function(name: string, options: { readonly directOnly: boolean }, call: () => number): void;
  close(): void;
}

type DatabaseClass = new (path: string, options: { readonly readOnly: boolean }) => OpenDatabase;

function loadDatabaseClass(): DatabaseClass | undefined {
  // Loaded dynamically instead of by a named import, because older versions of Node lack it.
  const { DatabaseSync } = Object(process.getBuiltinModule("node:sqlite"));
  return typeof DatabaseSync === "function" ? DatabaseSync : undefined;
}
