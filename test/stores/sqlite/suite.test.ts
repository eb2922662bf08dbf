import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "vitest";
import { removeFolder } from "../../support/remove-folder.ts";
import { sqliteSuite } from "./support/sqlite-suite.ts";
import { HAS_SQLITE, openTestDatabase, type TestConnection } from "./support/test-database.ts";

describe.skipIf(!HAS_SQLITE)("over one file, with a connection for each store", () => {
  sqliteSuite(test, () => {
    const folder = mkdtempSync(join(tmpdir(), "test-sessiontree-"));
    const opened: TestConnection[] = [];
    const connect = () => {
      const connection = openTestDatabase(join(folder, "s.db"));
      opened.push(connection);
      return connection;
    };
    const dispose = () => {
      for (const connection of opened) connection.close();
      removeFolder(folder);
    };
    return { connect, dispose };
  });
});

describe.skipIf(!HAS_SQLITE)("over one connection", () => {
  sqliteSuite(test, () => {
    const connection = openTestDatabase();
    return { connect: () => connection, dispose: () => connection.close() };
  });
});
