import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { SessionStore } from "../../../src/stores/contract/session-store.ts";
import type { SqliteConnection } from "../../../src/stores/sqlite/client.ts";
import { sqliteStore } from "../../../src/stores/sqlite/open-sqlite-store.ts";
import { SqliteBackend } from "../../../src/stores/sqlite/sqlite-backend.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { headerLine, makeSessionFacts, messageLine, yieldPieces } from "../support/lines.ts";
import { HAS_SQLITE, openTestDatabase } from "./support/test-database.ts";

/** Opens a connection that is closed after the test. */
function connect(path?: string) {
  const connection = openTestDatabase(path);
  onTestFinished(() => {
    connection.close();
  });
  return connection;
}

const message = (content: string) => ({ role: "user" as const, content, timestamp: 1 });

/** Creates a session with a message for each text. */
async function write(store: SessionStore, id: string, ...texts: readonly string[]) {
  const session = store.create({ cwd: "/project", id });
  for (const text of texts) session.appendMessage(message(text));
  await session.flush();
  return session;
}

async function find(store: SessionStore, query: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { session, snippet } of store.search(query)) found.push(`${session.id}: ${snippet}`);
  return found;
}

function count(connection: SqliteConnection, table: string): unknown {
  return Object(connection.prepare(`select count(*) as count from sessiontree_${table}`).all()[0]).count;
}

describe.skipIf(!HAS_SQLITE)("sessions in SQLite", () => {
  test("returns lines and texts longer than a row unchanged, and finds them", async () => {
    const database = connect();
    const store = sqliteStore({ database });
    // A surrogate pair is at every boundary between pieces, whatever comes before it.
    const long = `${"😀".repeat(600_000)} needle`;
    await write(store, "a", long, "x".repeat(1_100_000), "short needle");
    expect(count(database, "pieces")).toBeGreaterThan(3);
    const again = await store.open("a");
    expect(again.buildSessionContext().messages.map((one) => "content" in one && one.content)).toEqual([
      ...[long, "x".repeat(1_100_000), "short needle"],
    ]);
    expect(await find(store, "NEEDLE")).toHaveLength(2);
  });

  test("leaves nothing but a mark of a session that any program deletes, and restarts its id with a greater revision", async () => {
    const database = connect();
    const store = sqliteStore({ database });
    const held = await write(store, "a", "needle", "x".repeat(600_000));
    database.prepare("delete from sessiontree_sessions").run();
    for (const table of ["lines", "pieces", "texts", "search"])
      expect([table, count(database, table)]).toEqual([table, 0]);
    held.appendMessage(message("late"));
    await expect(held.flush()).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    const backend = new SqliteBackend({ database });
    expect((await backend.create(makeSessionFacts("a"), yieldPieces([headerLine("a")]))).revision).toBe(1);
  });

  test("finds the same with and without an index, for frequent words and rare ones", async () => {
    const indexed = connect();
    const plain = connect();
    const stores = [indexed, withoutFts(plain)].map((database) => sqliteStore({ database }));
    for (const store of stores) {
      for (const id of ["a", "b", "c"]) {
        const texts = Array.from(
          { length: 500 },
          (_, i) => `line ${i} of ${id} ${i % 250 === 7 ? 'Straße "q"' : ""}`,
        );
        await write(store, id, ...texts);
      }
    }
    expect(count(indexed, "search")).toBe(1_500);
    expect(() => count(plain, "search")).toThrow("no such table");
    for (const query of ["line", "STRASSE", '"\\"q\\""', "7", "line 25", "nowhere"]) {
      const [one, other] = await Promise.all(stores.map((store) => find(store, query)));
      expect([query, one]).toEqual([query, other]);
    }
    expect(await find(sqliteStore({ database: indexed }), "straße")).toHaveLength(6);
  });

  test("notifies a watcher of another connection's appends, until it stops", async () => {
    const path = join(temporaryFolder(), "s.db");
    const [own, other] = [connect(path), connect(path)].map((database) => new SqliteBackend({ database }));
    if (own === undefined || other === undefined) throw new Error("both are there");
    await own.create(makeSessionFacts("a"), yieldPieces([headerLine("a")]));
    const [onMore, stopped] = [vi.fn(), vi.fn()];
    const [end, ended] = [new AbortController(), new AbortController()];
    await own.subscribe("a", stopped, { signal: ended.signal });
    await own.subscribe("a", onMore, { signal: end.signal });
    ended.abort();
    await other.append("a", [messageLine("00000001", null)]);
    await vi.waitFor(() => expect(onMore).toHaveBeenCalledTimes(1));
    await own.append("a", [messageLine("00000002", null)]);
    expect(onMore).toHaveBeenCalledTimes(2);
    await own.close();
    expect(stopped).not.toHaveBeenCalled();
  });

  test("waits with an append until another connection has ended its transaction, or the host its own", async () => {
    const path = join(temporaryFolder(), "s.db");
    const [own, other] = [connect(path), connect(path)];
    own.prepare("pragma busy_timeout = 0").all();
    const store = sqliteStore({ database: own, minRetryMs: 1, maxRetryMs: 2 });
    const session = await write(store, "a", "first");
    const states: string[] = [];
    session.on("persistence_state", ({ state, error }) => states.push(`${state} ${error?.message ?? ""}`));
    for (const holder of [other, own]) {
      states.length = 0;
      holder.prepare("begin immediate").run();
      session.appendMessage(message("next"));
      await vi.waitFor(() => expect(states.join()).toMatch(/degraded .*end (?:its|the) transaction/));
      holder.prepare("rollback").run();
      await session.flush();
    }
    expect((await store.open("a")).getEntries()).toHaveLength(3);
  });

  test("refuses what does not fit into a full database, and accepts it when there is room", async () => {
    const database = connect();
    const store = sqliteStore({ database, minRetryMs: 1, maxRetryMs: 2, giveUpAfterMs: 30 });
    const session = await write(store, "a", "first");
    const [pages] = database.prepare("pragma page_count").all();
    database.prepare(`pragma max_page_count = ${Object(pages).page_count}`).all();
    session.appendMessage(message("x".repeat(100_000)));
    await expect(session.flush()).rejects.toMatchObject({
      code: "WRITE_FAILED",
      message: expect.stringContaining("free space"),
    });
    expect(session.getEntries()).toHaveLength(2);
    database.prepare("pragma max_page_count = 100000").all();
    await session.flush();
    expect((await store.open("a")).getEntries()).toHaveLength(2);
  });

  test("reports a closed handle, and the session keeps its entries", async () => {
    const database = openTestDatabase();
    const store = sqliteStore({ database });
    const session = await write(store, "a", "first");
    database.close();
    session.appendMessage(message("second"));
    await expect(session.flush()).rejects.toMatchObject({
      code: "SESSION_CLOSED",
      message: expect.stringContaining("close the store before the handle"),
    });
    expect(session.getEntries()).toHaveLength(2);
  });

  test("reads a read-only database, and refuses appends", async () => {
    const path = join(temporaryFolder(), "s.db");
    await write(sqliteStore({ database: connect(path) }), "a", "first");
    const database = openTestDatabase(path, true);
    const store = sqliteStore({ database });
    const session = await store.open("a");
    session.appendMessage(message("second"));
    await expect(session.flush()).rejects.toMatchObject({ code: "READ_ONLY" });
    await store.close({ discard: true });
    database.close();
  });

  test("detects a lost line, and appends it again", async () => {
    const database = connect();
    const store = sqliteStore({ database });
    const session = await write(store, "a", "first", "second");
    const restored: number[] = [];
    session.on("entries_restored", ({ entries }) => restored.push(entries.length));
    database
      .prepare("delete from sessiontree_lines where seq = (select max(seq) from sessiontree_lines)")
      .run();
    session.appendMessage(message("third"));
    await session.flush();
    expect(restored).toEqual([1]);
    expect((await store.open("a")).getEntries()).toHaveLength(3);
  });

  test("keeps lines apart that are stored under one id with different texts", async () => {
    const backend = new SqliteBackend({ database: connect() });
    await backend.create(makeSessionFacts("a"), yieldPieces([headerLine("a")]));
    const [one, other] = [messageLine("00000001", null, "abc"), messageLine("00000001", null, "abd")];
    const first = await backend.append("a", [one]);
    await backend.append("a", [other]);
    expect(await backend.append("a", [one])).toEqual(first);
    expect((await backend.read("a", 0, 10)).lines).toHaveLength(3);
  });
});

test("refuses a value that is not a database, with advice", () => {
  const sql = { exec: () => ({ toArray: () => [] }) };
  const make = (database: object) => () => Reflect.apply(sqliteStore, undefined, [{ database }]);
  expect(make(sql)).toThrow("pass ctx.storage instead of ctx.storage.sql");
  expect(make({})).toThrow(TypeError);
});

/** Imitates an SQLite library that was built without FTS5. */
function withoutFts(connection: SqliteConnection): SqliteConnection {
  return {
    prepare: (sql) => {
      if (!sql.startsWith("create virtual table")) return connection.prepare(sql);
      throw Object.assign(new Error("no such module: fts5"), { errcode: 1 });
    },
  };
}
