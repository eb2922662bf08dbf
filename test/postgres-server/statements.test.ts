import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrateDatabase } from "../../src/stores/postgres/migrate.ts";
import { openPostgresStore, postgresStore } from "../../src/stores/postgres/open-postgres-store.ts";
import { PostgresBackend } from "../../src/stores/postgres/postgres-backend.ts";
import { all } from "../../src/stores/suite/kit.ts";
import { headerLine, makeSessionFacts, messageLine, yieldPieces } from "../stores/support/lines.ts";
import { cluster } from "./support/cluster.ts";

const place = cluster();
const RETRIES = { minRetryMs: 5, maxRetryMs: 20, giveUpAfterMs: 60_000 };

let observer: pg.Client;

beforeAll(async () => {
  await migrateDatabase({ client: place.pool() });
  // Without anything to search, the server does not even start.
  const backend = new PostgresBackend({ client: place.pool() });
  await backend.create(
    makeSessionFacts("one"),
    yieldPieces([headerLine("one")], [messageLine("000000a1", null)]),
  );
  observer = new pg.Client(place.server.url());
  await observer.connect();
});

afterAll(() => observer.end());

/** Counts the server's active statements. */
async function running(text: string): Promise<number> {
  const { rows } = await observer.query<{ count: number }>(
    "select count(*)::integer as count from pg_stat_activity where state = 'active' and query like $1 and pid <> pg_backend_pid()",
    [`%${text}%`],
  );
  return rows[0]?.count ?? 0;
}

/** Waits until the server has a number of active statements. */
async function untilRunning(text: string, count: number): Promise<void> {
  while ((await running(text)) !== count) await new Promise(setImmediate);
}

/** Makes a search run until it is canceled. */
async function withSlowSearch(work: () => Promise<void>): Promise<void> {
  const [{ definition = "" } = {}] = (
    await observer.query<{ definition: string }>(
      "select pg_get_functiondef('sessiontree.find_lines'::regproc) as definition",
    )
  ).rows;
  await observer.query(definition.replace(/(\$\w+\$).*\1/s, "$$$$ begin perform pg_sleep(600); end $$$$"));
  try {
    await work();
  } finally {
    await observer.query(definition);
  }
}

test("ends appends that wait for a lock with their calls, so that they do not accumulate in the server", async () => {
  const pool = place.pool({ max: 2 });
  let made = 0;
  pool.on("connect", () => made++);
  const store = postgresStore({ client: pool, ...RETRIES, timeoutMs: 100 });
  const session = store.create({ cwd: "/project", id: "locked", createAtOnce: true });
  await session.flush();
  await observer.query("begin");
  await observer.query("select 1 from sessiontree.sessions where id = 'locked' for update");
  session.appendMessage({ role: "user", content: "waits", timestamp: 1 });
  let max = 0;
  while (made < 12) max = Math.max(max, await running("append_entries"));
  await observer.query("commit");
  await session.flush();
  // One that waits, and one whose end the server has not noticed yet.
  expect(max).toBeLessThanOrEqual(2);
  expect((await store.open("locked")).getEntryCount()).toBe(1);
  await store.close();
});

test("cancels the statement of a call that is not answered in time", async () => {
  await withSlowSearch(async () => {
    const backend = new PostgresBackend({ client: place.pool({ max: 1 }), timeoutMs: 100 });
    await expect(backend.search({ words: ["x"], limit: 1 })).rejects.toThrow("did not answer for 100 ms");
    await untilRunning("find_lines", 0);
  });
});

test("cancels an aborted search, which delays no append in the meantime", async () => {
  await withSlowSearch(async () => {
    const store = await openPostgresStore(place.server.url(), { ...RETRIES, maxConnections: 1 });
    const session = store.create({ cwd: "/project", createAtOnce: true });
    const end = new AbortController();
    const searches = [1, 2, 3, 4].map(() => all(store.search("word", { signal: end.signal })));
    await untilRunning("find_lines", 2);
    session.appendMessage({ role: "user", content: "meanwhile", timestamp: 1 });
    await session.flush();
    expect(await running("find_lines")).toBe(2);
    end.abort();
    for (const search of searches) await expect(search).rejects.toMatchObject({ code: "ABORTED" });
    await untilRunning("find_lines", 0);
    await store.close();
  });
});

test("does not retry a search that the server cancels", async () => {
  await withSlowSearch(async () => {
    const options = `${place.server.url()}?options=-c%20statement_timeout%3D50`;
    const store = await openPostgresStore(options, { giveUpAfterMs: 600_000 });
    await expect(all(store.search("word"))).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      details: { sqlState: "57014" },
    });
    await store.close();
  });
});

test("builds the search index while others append, by one of several hosts", async () => {
  const store = postgresStore({ client: place.pool() });
  const session = store.create({ cwd: "/project", createAtOnce: true });
  session.appendMessage({ role: "user", content: "needle", timestamp: 1 });
  await session.flush();
  await migrateDatabase({ client: place.pool(), searchIndex: false });
  // The build waits for transactions that started before it.
  await observer.query("begin isolation level repeatable read");
  await observer.query("select 1 from sessiontree.lines");
  const building = migrateDatabase({ client: place.pool(), searchIndex: true });
  const other = new pg.Client(place.server.url());
  await other.connect();
  const isBuilding = async () =>
    (await other.query("select 1 from pg_stat_activity where query like 'create index concurrently%'"))
      .rowCount;
  while (!(await isBuilding())) await new Promise(setImmediate);
  await migrateDatabase({ client: place.pool(), searchIndex: true });
  for (let i = 0; i < 20; i++) {
    session.appendMessage({ role: "user", content: `needle ${i}`, timestamp: 1 });
    await session.flush();
  }
  expect(await isBuilding()).toBe(1);
  await observer.query("commit");
  await building;
  const valid = "select indisvalid from pg_index where indexrelid = 'sessiontree.lines_by_text'::regclass";
  expect((await observer.query(valid)).rows).toEqual([{ indisvalid: true }]);
  expect(await all(store.search("needle"))).toHaveLength(21);
  await other.end();
  await store.close();
});

test("refers the caller of a standby to the primary", async () => {
  const standby = await place.server.startStandby();
  const pool = new pg.Pool({ connectionString: standby.url() });
  await expect(migrateDatabase({ client: pool, schema: "elsewhere" })).rejects.toThrow(
    "use the address of the primary",
  );
  const backend = new PostgresBackend({ client: pool, schema: "elsewhere" });
  await expect(backend.list({ limit: 1 })).rejects.toThrow("is a standby that has no tables yet");
  await pool.end();
  await standby.remove();
});
