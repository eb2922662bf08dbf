import { beforeAll, expect, test } from "vitest";
import { migrateDatabase, readSchemaVersion, SCHEMA_VERSION } from "../../src/stores/postgres/migrate.ts";
import { PostgresBackend } from "../../src/stores/postgres/postgres-backend.ts";
import { compareWithMemory } from "../stores/support/compare-backends.ts";
import { headerLine, makeSessionFacts, messageLine, yieldPieces } from "../stores/support/lines.ts";
import { cluster } from "./support/cluster.ts";

const place = cluster();

beforeAll(() => migrateDatabase({ client: place.pool() }));

test("the server behaves like the backend in memory for any calls", async () => {
  const client = place.pool();
  const clear = () => client.query("truncate sessiontree.sessions, sessiontree.deleted_sessions cascade");
  await compareWithMemory(new PostgresBackend({ client }), clear, 60);
});

test("creates tables once, however many hosts start at the same time", async () => {
  const schema = 'eight "hosts"';
  const results = await Promise.all(
    Array.from({ length: 8 }, () => migrateDatabase({ client: place.pool({ max: 1 }), schema })),
  );
  expect(results.map(({ from }) => from).sort()).toEqual([0, ...Array(7).fill(SCHEMA_VERSION)]);
  expect(await readSchemaVersion({ client: place.pool(), schema })).toBe(SCHEMA_VERSION);
  await Promise.all(
    [0, SCHEMA_VERSION, 0].map((to) => migrateDatabase({ client: place.pool({ max: 1 }), schema, to })),
  );
});

test("returns every line byte for byte, over the wire of the real driver", async () => {
  const backend = new PostgresBackend({ client: place.pool() });
  const texts = ["", "\ufeff{", "\\u0000", "\u2028€🌳", "'$1' \"%_\\"];
  const lines = [
    ...texts.map((text) => ({ text })),
    { text: Buffer.from([0, 0xff, 0x80]).toString("base64"), encoding: "base64" as const },
  ];
  await backend.create(makeSessionFacts("bytes"), yieldPieces(lines));
  const page = await backend.read("bytes", 0, 100);
  expect(page.lines.map(({ seq: _seq, ...line }) => line)).toEqual(lines);
});

test("accepts one of several appends that expect the same leaf, and reports it to the others", async () => {
  const backends = Array.from({ length: 8 }, () => new PostgresBackend({ client: place.pool({ max: 1 }) }));
  const [first] = backends;
  await first?.create(makeSessionFacts("raced"), yieldPieces([headerLine("raced")]));
  let leaf: string | null = null;
  for (let round = 0; round < 10; round++) {
    const ids = backends.map((_, i) => `0000${round}0a${i}`);
    const tried = await Promise.allSettled(
      backends.map((backend, i) =>
        backend.append("raced", [messageLine(ids[i] ?? "", leaf)], { expectedLeafId: leaf }),
      ),
    );
    const won = ids.filter((_, i) => tried[i]?.status === "fulfilled");
    expect(won).toHaveLength(1);
    leaf = won[0] ?? null;
  }
  expect((await first?.read("raced", 0, 100))?.lines).toHaveLength(11);
});

test("a pool with a single connection is enough to copy from the database into itself", async () => {
  const backend = new PostgresBackend({ client: place.pool({ max: 1 }) });
  await backend.create(makeSessionFacts("from"), yieldPieces([headerLine("from")]));
  async function* copied() {
    for (const seq of [0, 0, 0]) {
      const { lines } = await backend.read("from", seq, 10);
      yield lines.map(({ text }) => ({ text }));
    }
  }
  expect(await backend.create(makeSessionFacts("to"), copied())).toMatchObject({ lastSeq: 3 });
});

test("notifies other hosts over a separate connection, and again after it was lost", async () => {
  const reader = new PostgresBackend({ client: place.pool({ max: 2 }) });
  const writer = new PostgresBackend({ client: place.pool({ max: 2 }) });
  await writer.create(makeSessionFacts("told"), yieldPieces([headerLine("told")]));
  const end = new AbortController();
  let tell: () => void = () => undefined;
  const told = () => new Promise<void>((resolve) => (tell = resolve));
  await reader.subscribe?.("told", () => tell(), end);

  let next = told();
  await writer.append("told", [messageLine("000000a1", null)]);
  await next;

  next = told();
  const listening = "select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen %'";
  expect((await place.pool().query(listening)).rowCount).toBe(1);
  await next;

  next = told();
  await writer.append("told", [messageLine("000000a2", null)]);
  await next;
  end.abort();
  await reader.close();
});

test("a host may create a store for each of its tenants over one pool", async () => {
  const client = place.pool({ isBare: true });
  const before = client.listenerCount("error");
  const backends = Array.from({ length: 50 }, (_, i) => new PostgresBackend({ client, tenant: `t${i}` }));
  expect(client.listenerCount("error")).toBe(before + 1);
  await Promise.all(
    backends.map((backend) => backend.create(makeSessionFacts("same"), yieldPieces([headerLine("same")]))),
  );
  const lists = await Promise.all(backends.map((backend) => backend.list({ limit: 9 })));
  expect(lists.map(({ length }) => length)).toEqual(backends.map(() => 1));
  for (const backend of backends) await Promise.all([backend.close(), backend.close()]);
  expect(client.listenerCount("error")).toBe(before);
});
