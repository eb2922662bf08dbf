import { onTestFinished } from "vitest";

/** OpenCode's tables that are read, without its events. */
export const OPENCODE_SCHEMA = `
  CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, directory text, title text, version text,
    agent text, revert text, time_created integer, time_updated integer);
  CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
  CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, data text);`;

/** A database of another program, as that program keeps it open. */
export interface WritableDatabase {
  exec(statements: string): void;
  prepare(statement: string): { run(...values: unknown[]): void };
  close(): void;
}

/** Opens a database until the test ends, where Node supports it; its changes stay in the log while it is open. */
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
