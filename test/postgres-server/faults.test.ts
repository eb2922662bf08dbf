import { afterAll, beforeAll, expect, test } from "vitest";
import { isSessionError } from "../../src/core/format/errors.ts";
import type { SessionManager } from "../../src/session/manager/session-manager.ts";
import { migrateDatabase } from "../../src/stores/postgres/migrate.ts";
import { openPostgresStore, postgresStore } from "../../src/stores/postgres/open-postgres-store.ts";
import { PostgresBackend } from "../../src/stores/postgres/postgres-backend.ts";
import { cluster } from "./support/cluster.ts";
import { startProxy, type TcpProxy } from "./support/proxy.ts";
import { expectSound, numbers, readEntries } from "./support/session-checks.ts";

const place = cluster();
let proxy: TcpProxy;

beforeAll(async () => {
  await migrateDatabase({ client: place.pool() });
  proxy = await startProxy(place.server.host, place.server.port);
});

afterAll(() => proxy.close());

const RETRIES = { minRetryMs: 5, maxRetryMs: 50, giveUpAfterMs: 60_000 };

const backend = () => new PostgresBackend({ client: place.pool({ max: 2 }) });

const say = (session: SessionManager, content: string) =>
  session.appendMessage({ role: "user", content, timestamp: 1 });

test("repeated kills of the server during appends lose nothing acknowledged and duplicate nothing", async () => {
  // Only the store listens to the pool's errors.
  const store = postgresStore({ client: place.pool({ max: 3, isBare: true }), ...RETRIES });
  const session = store.create({ cwd: "/project", createAtOnce: true });
  const states: string[] = [];
  session.on("persistence_state", ({ state }) => states.push(state));
  const acknowledged: string[] = [];
  let isOver = false;
  const appending = (async () => {
    for (let n = 0; !isOver; n++) {
      const batch = Array.from({ length: 1 + (n % 20) }, (_, i) => say(session, `${n}.${i}`));
      await session.flush();
      acknowledged.push(...batch);
    }
  })();
  for (let kill = 0; kill < 5; kill++) {
    const before = acknowledged.length;
    while (acknowledged.length < before + 200) await new Promise(setImmediate);
    await place.server.stop("immediate");
    await place.server.start();
  }
  isOver = true;
  await appending;

  expect(states).toContain("degraded");
  expect(states.at(-1)).toBe("ok");
  const entries = await readEntries(backend(), session.getSessionId());
  expectSound(entries);
  expect(entries.map(({ id }) => id)).toEqual(acknowledged);
  const reopened = await store.open(session.getSessionId());
  expect(reopened.getBranch()).toHaveLength(acknowledged.length);
  await store.close();
});

test("connections cut at any byte leave what was appended exactly once, in order", async () => {
  const random = numbers(20_260_203);
  const store = postgresStore({ client: place.pool({ port: proxy.port, max: 2 }), ...RETRIES });
  const session = store.create({ cwd: "/project", createAtOnce: true });
  await session.flush();
  proxy.cutAfter = () => 1_500 + random(8_000);
  proxy.cutAll();
  const cutsBefore = proxy.cuts;
  const ids: string[] = [];
  for (let n = 0; n < 400; n++) {
    ids.push(say(session, `${n} ${"x".repeat(random(40))}`));
    if (n % 5 === 0 || random(2) === 0) await session.flush();
  }
  await session.flush();
  expect(proxy.cuts - cutsBefore).toBeGreaterThan(10);
  proxy.cutAfter = () => Number.POSITIVE_INFINITY;
  const entries = await readEntries(backend(), session.getSessionId());
  expectSound(entries);
  expect(entries.map(({ id }) => id)).toEqual(ids);
  await store.close();
});

test("creating and opening a session survive cut connections as well", async () => {
  const random = numbers(7);
  const store = postgresStore({ client: place.pool({ port: proxy.port, max: 2 }), ...RETRIES });
  proxy.cutAfter = () => 400 + random(6_000);
  for (let n = 0; n < 30; n++) {
    const session = store.create({ cwd: "/project", id: `cut-${n}` });
    say(session, "one");
    await session.flush();
    const again = await store.open(`cut-${n}`);
    expect(again.getEntries()).toHaveLength(1);
    say(again, "two");
    await again.close();
    await session.close();
  }
  proxy.cutAfter = () => Number.POSITIVE_INFINITY;
  for (let n = 0; n < 30; n++) {
    const entries = await readEntries(backend(), `cut-${n}`);
    expect(entries.map(({ content }) => content)).toEqual(["one", "two"]);
  }
  await store.close();
});

test("silent connections count as lost after a time, and nothing is duplicated", async () => {
  const random = numbers(3);
  const options = { ...RETRIES, timeoutMs: 250 };
  const store = postgresStore({ client: place.pool({ port: proxy.port, max: 2 }), ...options });
  const session = store.create({ cwd: "/project", createAtOnce: true });
  await session.flush();
  [proxy.isSilent, proxy.cutAfter] = [true, () => 1_500 + random(20_000)];
  const [ids, cutsBefore]: [string[], number] = [[], proxy.cuts];
  proxy.cutAll();
  while (proxy.cuts < cutsBefore + 8) {
    ids.push(say(session, `${ids.length} ${"x".repeat(random(2_000))}`));
    await session.flush();
  }
  [proxy.isSilent, proxy.cutAfter] = [false, () => Number.POSITIVE_INFINITY];
  await session.flush();
  proxy.cutAll();
  const entries = await readEntries(backend(), session.getSessionId());
  expectSound(entries);
  expect(entries.map(({ id }) => id)).toEqual(ids);
  await store.close();
});

test("a store that abandons its rest closes immediately despite a silent server, and its process can end", async () => {
  const store = await openPostgresStore(place.server.url({ port: proxy.port }), { giveUpAfterMs: 600_000 });
  const session = store.create({ cwd: "/project", createAtOnce: true });
  await session.flush();
  proxy.cutAll();
  proxy.isSilent = true;
  proxy.cutAfter = () => 1_500;
  const end = new AbortController();
  const watching = session.watch({ signal: end.signal }).next();
  const before = proxy.cuts;
  say(session, "x".repeat(10_000));
  while (proxy.cuts === before) await new Promise(setImmediate);
  // What it would otherwise wait for would exceed this test's timeout.
  await store.close({ discard: true });
  end.abort();
  await watching;
  proxy.isSilent = false;
  proxy.cutAfter = () => Number.POSITIVE_INFINITY;
  proxy.cutAll();
});

test("a slow server fills the queue, an append reports it, and nothing accepted is lost", async () => {
  const limits = { maxQueueEntries: 50 };
  const store = postgresStore({ client: place.pool({ port: proxy.port, max: 2 }), ...RETRIES, ...limits });
  const session = store.create({ cwd: "/project", createAtOnce: true });
  await session.flush();
  proxy.delayMs = 100;
  const taken: string[] = [];
  let refusals = 0;
  while (taken.length < 300) {
    try {
      taken.push(say(session, `${taken.length}`));
    } catch (error) {
      if (!isSessionError(error, "WRITE_FAILED")) throw error;
      refusals++;
      expect(session.getEntries()).toHaveLength(taken.length);
      const started = performance.now();
      await session.flush();
      expect(performance.now() - started).toBeGreaterThan(50);
    }
  }
  await session.flush();
  proxy.delayMs = 0;
  expect(refusals).toBeGreaterThanOrEqual(4);
  const entries = await readEntries(backend(), session.getSessionId());
  expect(entries.map(({ id }) => id)).toEqual(taken);
  await store.close();
});
