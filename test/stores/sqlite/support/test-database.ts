import { createRequire } from "node:module";
import type { SqliteConnection } from "../../../../src/stores/sqlite/client.ts";

/** A connection of the tests, which close it themselves. */
export interface TestConnection extends SqliteConnection {
  close(): void;
}

type Driver = new (
  path: string,
  options?: { readonly readOnly?: boolean; readonly readonly?: boolean },
) => TestConnection;

function loadDriver(): Driver | undefined {
  const { DatabaseSync } = Object(process.getBuiltinModule("node:sqlite"));
  if (DatabaseSync !== undefined) return DatabaseSync;
  const path = process.env["SESSIONTREE_BETTER_SQLITE3"];
  return path === undefined ? undefined : createRequire(import.meta.url)(path);
}

const Driver = loadDriver();

/** Whether this version of Node has SQLite, so that a store can be opened by its path. */
export const HAS_NODE_SQLITE = process.getBuiltinModule("node:sqlite") !== undefined;

/** Whether this version of Node has SQLite, or SESSIONTREE_BETTER_SQLITE3 is the folder of that package. */
export const HAS_SQLITE = Driver !== undefined;

if (!HAS_SQLITE)
  process.stderr.write(
    "skipped: tests of SQLite need Node 22.13, or SESSIONTREE_BETTER_SQLITE3=<folder of better-sqlite3>\n",
  );

/** Opens a database as a host does. */
export function openTestDatabase(path = ":memory:", isReadOnly = false): TestConnection {
  if (Driver === undefined) throw new Error("guard the test with HAS_SQLITE");
  return new Driver(path, isReadOnly ? { readOnly: true, readonly: true } : {});
}
