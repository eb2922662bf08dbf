import { expect, test } from "vitest";
import { migrateDatabase } from "../../../src/stores/postgres/migrate.ts";
import { PostgresBackend } from "../../../src/stores/postgres/postgres-backend.ts";
import { compareWithMemory } from "../support/compare-backends.ts";
import { headerLine, makeSessionFacts, messageLine, TIME_MS, yieldPieces } from "../support/lines.ts";
import { sqlBlocks } from "./support/document-statements.ts";
import { embeddedDatabase } from "./support/embedded.ts";

const database = embeddedDatabase({ hasTrigrams: true });

/** Runs the statements that docs/scale.md lists under a word. */
async function runStatements(kind: string): Promise<void> {
  for (const code of sqlBlocks("docs/scale.md", kind)) await database().exec(code);
}

test("lines can be partitioned as in docs/scale.md, keep their content, and behave the same", async () => {
  const client = database();
  await migrateDatabase({ client });
  const backend = new PostgresBackend({ client });
  await backend.create(
    makeSessionFacts("one"),
    yieldPieces([headerLine("one")], [messageLine("000000a1", null)]),
  );
  const before = await backend.read("one", 0, 10);
  await runStatements("partitions");
  expect(await backend.read("one", 0, 10)).toEqual(before);
  const names = "select indexname from pg_indexes where tablename = 'lines' order by 1";
  const { rows } = await client.query<{ indexname: string }>(names);
  expect(rows.map(({ indexname }) => indexname)).toEqual(["lines_by_entry", "lines_by_text", "lines_pkey"]);
  const policies = "select 1 from pg_policies where tablename = 'lines' and policyname = 'tenant'";
  expect((await client.query(policies)).rows).toHaveLength(1);
  await migrateDatabase({ client, searchIndex: false });
  expect((await client.query(names)).rows).toHaveLength(2);
  await migrateDatabase({ client, searchIndex: true });
  const valid = "select 1 from pg_index where indisvalid and indexrelid::regclass::text ~ 'lines.*_by_text'";
  expect((await client.query(valid)).rows).toHaveLength(17);
  await compareWithMemory(
    backend,
    () => client.query("truncate sessiontree.sessions, sessiontree.deleted_sessions cascade"),
    10,
  );
  await migrateDatabase({ client, to: 0 });
});

test("sessions that were unused for long can be removed in batches", async () => {
  const client = database();
  await migrateDatabase({ client });
  const backend = new PostgresBackend({ client });
  for (const [id, lastMessageMs] of [
    ["old", TIME_MS - 1e12],
    ["new", Date.now()],
  ] as const)
    await backend.create(makeSessionFacts(id, { lastMessageMs }), yieldPieces([headerLine(id)]));
  await runStatements("vacuum");
  await runStatements("retention");
  expect(await backend.list({ limit: 9 })).toMatchObject([{ id: "new" }]);
  expect((await client.query("select 1 from sessiontree.lines")).rows).toHaveLength(1);
});
