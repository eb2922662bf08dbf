import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  migrateSqlite,
  openSqliteStore,
  sqliteMigrationSql,
} from "../../../src/stores/sqlite/open-sqlite-store.ts";
import { copySession, fileStore } from "../../../src/stores.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { HAS_NODE_SQLITE, openTestDatabase } from "./support/test-database.ts";

const getPath = () => join(temporaryFolder(), "s.db");

const message = { role: "user" as const, content: "hello", timestamp: 1 };

/** Runs statements on a file, as another program does. */
function change(path: string, ...statements: readonly string[]): void {
  const database = openTestDatabase(path);
  for (const statement of statements) database.prepare(statement).run();
  database.close();
}

test.skipIf(HAS_NODE_SQLITE)("names what to install for a Node without SQLite", async () => {
  await expect(openSqliteStore(getPath())).rejects.toMatchObject({
    code: "PACKAGE_MISSING",
    message: expect.stringMatching(/Node 22\.13 or later, or npm install better-sqlite3@12/),
  });
});

describe.skipIf(!HAS_NODE_SQLITE)("a store by the path of its file", () => {
  test("copies between files and the database keep every byte", async () => {
    const path = getPath();
    const [from, to] = [temporaryFolder(), temporaryFolder()].map((sessionDir) => fileStore({ sessionDir }));
    if (from === undefined || to === undefined) throw new Error("both are there");
    const session = from.create({ cwd: "/project", id: "cart" });
    for (let i = 0; i < 300; i++)
      session.appendMessage({ ...message, content: `\u2028 ${i} ${"x".repeat(i * 50)}` });
    const source = session.getSessionFile() ?? "";
    await session.close();
    writeFileSync(source, "no entry\r\n\u0000\n", { flag: "a" });
    const store = await openSqliteStore(path);
    await copySession(from, "cart", store);
    await copySession(store, "cart", to);
    await store.close();
    const copy = (await to.open("cart", { mode: "read-only" })).getSessionFile() ?? "";
    expect(readFileSync(copy).equals(readFileSync(source))).toBe(true);
  });

  test("a new file has a write-ahead log, and its content persists after its processes exit", async () => {
    const path = getPath();
    const store = await openSqliteStore(path);
    const session = store.create({ cwd: "/project", id: "cart" });
    session.appendMessage(message);
    await session.flush();
    const database = openTestDatabase(path);
    expect(database.prepare("pragma journal_mode").all()).toMatchObject([{ journal_mode: "wal" }]);
    database.close();
    await store.close();
    await store.close();
    const again = await openSqliteStore(path, { mustExist: true });
    expect((await again.open("cart")).getEntries()).toHaveLength(1);
    await again.close();
  });

  const refusals: [what: string, prepare: (path: string) => unknown, error: object][] = [
    [
      "a database of another program",
      (path) => change(path, "create table customers (id integer)"),
      { code: "STORE_UNAVAILABLE", message: expect.stringContaining("table customers. Choose another file") },
    ],
    [
      "a file that is not a database",
      (path) => writeFileSync(path, `${JSON.stringify({ type: "session" })}\n`.repeat(100)),
      { code: "STORE_UNAVAILABLE", message: expect.stringContaining("is not a SQLite database") },
    ],
    [
      "tables of a newer release",
      async (path) => {
        await migrateSqlite(path);
        change(path, "insert into sessiontree_versions (version, purpose) values (99, 'later')");
      },
      { code: "VERSION_TOO_NEW", details: { version: 99 } },
    ],
  ];

  test.each(refusals)("refuses %s, and leaves it unchanged", async (_, prepare, error) => {
    const path = getPath();
    await prepare(path);
    const before = readFileSync(path);
    const opened = openSqliteStore(path).then(async (store) => {
      try {
        for await (const _row of store.list());
      } finally {
        await store.close();
      }
    });
    await expect(opened).rejects.toMatchObject(error);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("a damaged database is reported, with what to do", async () => {
    const path = getPath();
    const store = await openSqliteStore(path);
    const session = store.create({ cwd: "/project", id: "cart" });
    for (let i = 0; i < 200; i++) session.appendMessage({ ...message, content: "x".repeat(1_000) });
    await session.flush();
    await store.close();
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0xff, 4_096));
    await expect(
      openSqliteStore(path).then(async (damaged) => {
        try {
          await damaged.open("cart");
        } finally {
          await damaged.close();
        }
      }),
    ).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("restore a backup"),
    });
  });

  test("a missing folder and a missing file are reported, and nothing is created", async () => {
    const path = getPath();
    await expect(openSqliteStore(join(path, "missing", "s.db"))).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("folder exists"),
    });
    await expect(openSqliteStore(path, { mustExist: true })).rejects.toMatchObject({
      message: expect.stringContaining(`db migrate --store sqlite:${path}`),
    });
    expect(existsSync(path)).toBe(false);
  });

  test("tables are created once, and dropped on request; the statements are returned without running them", async () => {
    const path = getPath();
    const statements = await sqliteMigrationSql(path);
    expect(statements.join("\n")).toContain("create table sessiontree_lines");
    expect(existsSync(path)).toBe(false);
    expect(await migrateSqlite(path)).toEqual({ from: 0, to: 1 });
    expect(await migrateSqlite(path)).toEqual({ from: 1, to: 1 });
    expect(await sqliteMigrationSql(path)).toEqual([]);
    await expect(migrateSqlite(path, { to: 2 })).rejects.toThrow("to must be a version from 0 to 1");
    expect(await migrateSqlite(path, { to: 0 })).toEqual({ from: 1, to: 0 });
    const database = openTestDatabase(path);
    expect(database.prepare("select name from sqlite_master").all()).toEqual([]);
    for (const statement of statements) database.prepare(statement).run();
    database.close();
    await (await openSqliteStore(path, { mustExist: true })).close();
  });

  test("processes that open a new file at once create its tables once", async () => {
    const path = getPath();
    const stores = await Promise.all(Array.from({ length: 5 }, () => openSqliteStore(path)));
    await Promise.all(stores.map((store) => store.openOrCreate("cart", { cwd: "/project" })));
    for (const store of stores) await store.close();
  });
});
