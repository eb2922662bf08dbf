import { test } from "vitest";
import { SqliteBackend } from "../../../src/stores/sqlite/sqlite-backend.ts";
import { compareWithMemory } from "../support/compare-backends.ts";
import { HAS_SQLITE, openTestDatabase } from "./support/test-database.ts";

test.skipIf(!HAS_SQLITE)("the database behaves like the backend in memory for any calls", async () => {
  const database = openTestDatabase();
  const backend = new SqliteBackend({ database });
  const clear = async () => {
    await backend.list({ limit: 1 });
    database.prepare("delete from sessiontree_sessions").run();
    database.prepare("delete from sessiontree_deleted_sessions").run();
  };
  await compareWithMemory(backend, clear, 100);
  database.close();
});
