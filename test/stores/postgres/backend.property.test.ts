import { beforeAll, test } from "vitest";
import { migrateDatabase } from "../../../src/stores/postgres/migrate.ts";
import { PostgresBackend } from "../../../src/stores/postgres/postgres-backend.ts";
import { compareWithMemory } from "../support/compare-backends.ts";
import { embeddedDatabase } from "./support/embedded.ts";

const database = embeddedDatabase();

beforeAll(() => migrateDatabase({ client: database() }));

test("the database behaves like the backend in memory for any calls", async () => {
  const clear = () => database().query("truncate sessiontree.sessions, sessiontree.deleted_sessions cascade");
  await compareWithMemory(new PostgresBackend({ client: database() }), clear, 40);
});
