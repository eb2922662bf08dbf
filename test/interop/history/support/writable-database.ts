import { onTestFinished } from "vitest";

/** A database of another program, as that program holds it open. */
export interface WritableDatabase {
  exec(statements: string): void;
  prepare(statement: string): { run(...values: unknown[]): void };
  close(): void;
}

/** Opens a database until the test ends, where Node can; its changes stay in the log while it is open. */
export function writableDatabase(path: string, schema: string): WritableDatabase {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite" as "node:fs") as unknown as {
    DatabaseSync: new (path: string) => WritableDatabase;
  };
  const opened = new DatabaseSync(path);
  onTestFinished(() => opened.close());
  opened.exec("PRAGMA journal_mode = WAL");
  opened.exec(schema);
  return opened;
}
