import { expect, test } from "vitest";
import { readSources } from "../../contract/support/repository.ts";

/** Functions of the sources that return a store. */
const STORE = /export (?:async )?function (\w+)\([^)]*\): (?:Promise<)?SessionStore\b/g;

/** Classes of the sources that are backends. */
const BACKEND = /class (\w+) implements SessionBackend\b/g;

/** Stores that are only `remoteStore` over a backend, and are tested as that. */
const MADE_OF: Readonly<Record<string, string>> = {
  openPostgresStore: "PostgresBackend",
  openSqliteStore: "SqliteBackend",
  postgresStore: "PostgresBackend",
  sqliteStore: "SqliteBackend",
};

function namesIn(sources: ReadonlyMap<string, string>, pattern: RegExp): string[] {
  return [...sources.values()].flatMap((text) => Array.from(text.matchAll(pattern), ([, name = ""]) => name));
}

test("every store and every backend of the sources runs the suite", () => {
  const sources = readSources("src");
  const stores = namesIn(sources, STORE);
  expect(stores).toEqual(
    expect.arrayContaining(["fileStore", "memoryStore", "postgresStore", "remoteStore"]),
  );
  const backends = namesIn(sources, BACKEND);
  expect(backends).toEqual(expect.arrayContaining(["MemoryBackend", "PostgresBackend", "SqliteBackend"]));
  const suites = [...readSources("test").values()].filter((text) => text.includes("sessionStoreSuite({"));
  const isTried = (name: string) =>
    suites.some((text) => new RegExp(`\\b${MADE_OF[name] ?? name}\\(`).test(text));
  expect([...stores, ...backends].filter((name) => !isTried(name))).toEqual([]);
});

test("stores and backends are found however their declarations are wrapped", () => {
  const lines = [
    "export function oneStore(",
    "  a: A,",
    "): SessionStore {}",
    "export async function two(): Promise<SessionStore> {}",
    "function three(): SessionStore {}",
    "export class Four implements SessionBackend {}",
  ];
  const sources = new Map([["a.ts", lines.join("\n")]]);
  expect(namesIn(sources, STORE)).toEqual(["oneStore", "two"]);
  expect(namesIn(sources, BACKEND)).toEqual(["Four"]);
});
