import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteSuite } from "./sqlite-suite.ts";
import { SuiteRunner } from "./suite-runner.ts";

/** Runs the suite over `bun:sqlite`, or over the copy of better-sqlite3 in the given folder, and prints the outcome. */
const [packageFolder = ""] = process.argv.slice(2);
const Driver =
  packageFolder === ""
    ? Object(process.getBuiltinModule("bun:sqlite")).Database
    : createRequire(import.meta.url)(packageFolder);
const runner = new SuiteRunner();
sqliteSuite(runner.test, () => {
  const folder = mkdtempSync(join(tmpdir(), "test-sessiontree-"));
  const opened: { close(): void }[] = [];
  const connect = () => {
    const connection = new Driver(join(folder, "s.db"));
    opened.push(connection);
    return connection;
  };
  const dispose = () => {
    for (const connection of opened) connection.close();
    rmSync(folder, { recursive: true });
  };
  return { connect, dispose };
});
process.stdout.write(JSON.stringify(await runner.run()));
process.exit(0);
