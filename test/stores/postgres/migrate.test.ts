import { expect, test } from "vitest";
import { isSessionError } from "../../../src/core/format/errors.ts";
import {
  migrateDatabase,
  migrationSql,
  readSchemaVersion,
  SCHEMA_VERSION,
} from "../../../src/stores/postgres/migrate.ts";
import { PostgresBackend } from "../../../src/stores/postgres/postgres-backend.ts";
import { headerLine, makeSessionFacts, messageLine, yieldPieces } from "../support/lines.ts";
import { embeddedDatabase } from "./support/embedded.ts";

const database = embeddedDatabase();
const withTrigrams = embeddedDatabase({ hasTrigrams: true });

const TABLES = ["deleted_sessions", "lines", "schema_version", "sessions"];

async function tablesIn(schema: string): Promise<string[]> {
  const { rows } = await database().query<{ name: string }>(
    "select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = 'r' order by 1",
    [schema],
  );
  return rows.map(({ name }) => name);
}

test("creates the tables, reports the versions, and does nothing the second time", async () => {
  const client = database();
  expect(await readSchemaVersion({ client })).toBe(0);
  expect(await migrateDatabase({ client })).toEqual({ from: 0, to: SCHEMA_VERSION });
  expect(await migrateDatabase({ client })).toEqual({ from: SCHEMA_VERSION, to: SCHEMA_VERSION });
  expect(await readSchemaVersion({ client })).toBe(SCHEMA_VERSION);
  expect(await tablesIn("sessiontree")).toEqual(TABLES);
});

test("can revert every step, one by one and all at once, and repeat it", async () => {
  const client = database();
  for (let to = SCHEMA_VERSION - 1; to >= 0; to--) {
    expect(await migrateDatabase({ client, to })).toEqual({ from: to + 1, to });
    expect(await readSchemaVersion({ client })).toBe(to);
  }
  expect(await tablesIn("sessiontree")).toEqual([]);
  for (let to = 1; to <= SCHEMA_VERSION; to++) await migrateDatabase({ client, to });
  expect(await migrateDatabase({ client, to: 0 })).toEqual({ from: SCHEMA_VERSION, to: 0 });
  expect(await tablesIn("sessiontree")).toEqual([]);
  const functions = await client.query(
    "select 1 from pg_proc where pronamespace = 'sessiontree'::regnamespace",
  );
  expect(functions.rows).toEqual([]);
});

test.each(['"; drop schema public cascade; --', "a.b 'c' $body$ $$", "Größe", "x".repeat(63)])(
  "accepts the schema name %j",
  async (schema) => {
    const client = database();
    await migrateDatabase({ client, schema });
    expect(await tablesIn(schema)).toEqual(TABLES);
    await migrateDatabase({ client, schema, to: 0 });
    expect(await tablesIn(schema)).toEqual([]);
  },
);

test.each(["elsewhere", "a.b 'c' $body$ $$"])(
  "returns the statements for schema %j, for another user to run",
  async (schema) => {
    const client = database();
    const statements = await migrationSql({ client, schema });
    expect(await tablesIn(schema)).toEqual([]);
    await client.exec(statements.join("\n"));
    expect(await readSchemaVersion({ client, schema })).toBe(SCHEMA_VERSION);
    expect(await tablesIn(schema)).toEqual(TABLES);
    expect(await migrationSql({ client, schema })).toEqual([]);
    expect(await migrateDatabase({ client, schema })).toEqual({ from: SCHEMA_VERSION, to: SCHEMA_VERSION });
    await client.exec((await migrationSql({ client, schema, to: 0 })).join("\n"));
    expect(await tablesIn(schema)).toEqual([]);
    expect(await migrationSql({ client, schema, to: 0 })).toEqual([]);
    await expect(migrationSql({ client, schema, to: 99 })).rejects.toThrow(TypeError);
  },
);

test.each(["", "x".repeat(64), "ä".repeat(32), "a\0b", "\ud800"])(
  "refuses the schema name %j",
  async (schema) => {
    await expect(migrateDatabase({ client: database(), schema })).rejects.toThrow(TypeError);
  },
);

test.each([-1, 0.5, SCHEMA_VERSION + 1])("refuses version %d", async (to) => {
  await expect(migrateDatabase({ client: database(), to })).rejects.toThrow(/to must be a version from 0/);
});

test("drops and builds the search index later, even a half-built one, and keeps sessions", async () => {
  const client = withTrigrams();
  const state = async () => {
    const { rows } = await client.query<{ indisvalid: boolean }>(
      "select indisvalid from pg_index where indexrelid = to_regclass('sessiontree.lines_by_text')",
    );
    return rows.map((row) => row.indisvalid);
  };
  expect(await migrateDatabase({ client, searchIndex: true })).toEqual({ from: 0, to: SCHEMA_VERSION });
  const backend = new PostgresBackend({ client });
  await backend.create(
    makeSessionFacts("one"),
    yieldPieces([headerLine("one")], [messageLine("000000a1", null)]),
  );
  const found = async () => (await backend.search({ words: ["000000A1"], limit: 9 })).length;
  expect([await state(), await found()]).toEqual([[true], 1]);
  expect(await migrationSql({ client, searchIndex: true })).toEqual([]);
  await migrateDatabase({ client, searchIndex: false });
  await migrateDatabase({ client });
  expect([await state(), await found()]).toEqual([[], 1]);
  expect(await migrationSql({ client, searchIndex: false })).toEqual([]);
  const statements = await migrationSql({ client, searchIndex: true });
  expect(statements).toEqual([
    expect.stringMatching(/^create index concurrently if not exists lines_by_text on .*;$/),
  ]);
  for (const statement of statements) await client.query(statement);
  await client.query(
    "update pg_index set indisvalid = false where indexrelid = 'sessiontree.lines_by_text'::regclass",
  );
  expect(await found()).toBe(1);
  await migrateDatabase({ client, searchIndex: true });
  expect([await state(), await found()]).toEqual([[true], 1]);
});

test("changes nothing if a step fails", async () => {
  const client = database();
  const schema = "taken";
  await client.query("create schema taken");
  await client.query("create table taken.lines (a integer)");
  await expect(migrateDatabase({ client, schema })).rejects.toThrow(/already exists/);
  expect(await tablesIn(schema)).toEqual(["lines"]);
});

test("neither changes nor uses tables of a newer release", async () => {
  const client = database();
  const schema = "tomorrow";
  await migrateDatabase({ client, schema });
  await client.query("insert into tomorrow.schema_version (version, purpose) values (99, 'tomorrow')");
  const isTooNew = (error: unknown) => isSessionError(error, "VERSION_TOO_NEW");
  await expect(migrateDatabase({ client, schema })).rejects.toSatisfy(isTooNew);
  await expect(new PostgresBackend({ client, schema }).list({ limit: 1 })).rejects.toSatisfy(isTooNew);
});

test("reports what to do in every call without tables", async () => {
  const backend = new PostgresBackend({ client: database(), schema: "nothing here" });
  await expect(backend.list({ limit: 1 })).rejects.toThrow(/call migrateDatabase\(\)/);
});
