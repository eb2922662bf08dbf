import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { SessionManager } from "../../src/session/manager/session-manager.ts";
import type { SessionStore } from "../../src/stores/contract/session-store.ts";
import { migrateDatabase } from "../../src/stores/postgres/migrate.ts";
import { openPostgresStore, postgresStore } from "../../src/stores/postgres/open-postgres-store.ts";
import { PostgresBackend } from "../../src/stores/postgres/postgres-backend.ts";
import { cluster } from "./support/cluster.ts";
import { startProxy, type TcpProxy } from "./support/proxy.ts";
import type { Server } from "./support/server.ts";
import { expectSound, readEntries } from "./support/session-checks.ts";

const place = cluster();
const RETRIES = { minRetryMs: 5, maxRetryMs: 50, giveUpAfterMs: 60_000, timeoutMs: 20_000 };

/** Host name that resolves to the current primary. */
let address: TcpProxy;
let primary: Server;
const standbys: Server[] = [];
const stores: SessionStore[] = [];

beforeAll(async () => {
  await migrateDatabase({ client: place.pool() });
  address = await startProxy(place.server.host, place.server.port);
  primary = place.server;
});

beforeEach(async () => {
  await Promise.allSettled(stores.splice(0).map((store) => store.close({ discard: true })));
});

afterAll(async () => {
  await Promise.allSettled(stores.map((store) => store.close({ discard: true })));
  await address.close();
  for (const standby of standbys) await standby.remove();
});

function openStore(): SessionStore {
  const store = postgresStore({ client: place.pool({ port: address.port, max: 3 }), ...RETRIES });
  stores.push(store);
  return store;
}

const say = (session: SessionManager, content: string) =>
  session.appendMessage({ role: "user", content, timestamp: 1 });

/** Kills the primary, and promotes a standby that lacks what was written after it stopped following. */
async function failOver(standby: Server): Promise<void> {
  await primary.stop("immediate");
  await standby.start();
  await standby.promote();
  primary = standby;
  address.target = standby.port;
  address.cutAll();
}

/** Starts a standby that then stops following. */
async function standbyBehind(): Promise<Server> {
  const standby = await primary.startStandby();
  standbys.push(standby);
  await standby.stop("fast");
  return standby;
}

test("after the promotion of a stale standby, what live processes hold is appended again, and nothing else", async () => {
  const [mine, theirs] = [openStore(), openStore()];
  const session = mine.create({ cwd: "/project", createAtOnce: true });
  const first = say(session, "one");
  await session.flush();
  const id = session.getSessionId();
  const other = await theirs.open(id);
  const gone = mine.create({ cwd: "/project", id: "deleted" });
  say(gone, "deleted before");
  await gone.flush();
  const hidden = mine.create({ cwd: "/project", id: "redacted" });
  const secret = say(hidden, "secret");
  await hidden.flush();

  const standby = await standbyBehind();
  const lost = Array.from({ length: 10 }, (_, i) => say(session, `lost ${i}`));
  await session.flush();
  other.branch(first);
  lost.push(say(other, "lost of another"));
  await other.flush();
  const fresh = mine.create({ cwd: "/project", id: "fresh" });
  say(fresh, "a session that only the primary had");
  await fresh.flush();
  const dead = await openPostgresStore(primary.url(), RETRIES);
  const ended = await dead.open(id);
  const unheld = say(ended, "of a process that ended");
  await ended.flush();
  await dead.close();
  say(gone, "lost");
  await gone.flush();
  say(hidden, "lost");
  await hidden.flush();

  await failOver(standby);
  const heldElsewhere = openStore();
  await heldElsewhere.delete("deleted");
  const redacting = await heldElsewhere.open("redacted");
  redacting.redactEntry(secret);
  await redacting.flush();

  const restored: string[] = [];
  for (const one of [session, other, fresh])
    one.on("entries_restored", ({ entries }) => restored.push(...entries.map((entry) => entry.id)));
  const last = say(session, "after");
  say(other, "after, of another");
  say(fresh, "after");
  await Promise.all([session, other, fresh].map((one) => one.flush()));
  expect(new Set(restored)).toEqual(new Set([...lost, fresh.getPathIds()[0]]));

  const backend = new PostgresBackend({ client: place.pool({ port: address.port, max: 2 }) });
  const entries = await readEntries(backend, id);
  expectSound(entries);
  const ids = entries.map((entry) => entry.id);
  expect(ids).not.toContain(unheld);
  expect([...ids].sort()).toEqual([first, ...lost, last, other.getLeafId()].sort());
  expect(await readEntries(backend, "fresh")).toHaveLength(2);
  const reopened = await openStore().open(id);
  expect(reopened.issues).toEqual([]);
  expect(reopened.getPathIds(last)).toHaveLength(12);

  say(gone, "not brought back");
  await expect(gone.flush()).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  say(hidden, "not brought back");
  await expect(hidden.flush()).rejects.toMatchObject({ code: "WRITES_LOST" });
  expect((await readEntries(backend, "redacted")).map(({ content }) => content)).not.toContain("lost");
  await expect(backend.read("deleted", 0, 1)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
});

test("after failovers during appends, every entry acknowledged to a live process exists exactly once", async () => {
  const sessions = await Promise.all(
    Array.from({ length: 3 }, async (_, i) => {
      const session = openStore().create({ cwd: "/project", id: `busy-${i % 2}-${primary.port}-${i}` });
      say(session, "root");
      await session.flush();
      return session;
    }),
  );
  const shared = sessions[0];
  if (shared === undefined) throw new Error("there are three sessions");
  const writers = [...sessions, await openStore().open(shared.getSessionId())];
  const acknowledged = writers.map((session) => [...session.getPathIds()]);
  for (let round = 0; round < 2; round++) {
    const standby = await standbyBehind();
    let isOver = false;
    const appending = writers.map(async (session, i) => {
      for (let n = 0; !isOver; n++) {
        const batch = Array.from({ length: 1 + (n % 7) }, (_, k) => say(session, `${round}.${i}.${n}.${k}`));
        await session.flush();
        acknowledged[i]?.push(...batch);
      }
    });
    const enough = () => acknowledged.every((ids) => ids.length > 30 * (round + 1));
    while (!enough()) await new Promise(setImmediate);
    await failOver(standby);
    const before = acknowledged.map(({ length }) => length);
    while (!acknowledged.every(({ length }, i) => length > (before[i] ?? 0))) await new Promise(setImmediate);
    isOver = true;
    await Promise.all(appending);
  }
  const backend = new PostgresBackend({ client: place.pool({ port: address.port, max: 2 }) });
  for (const [i, session] of writers.entries()) {
    const entries = await readEntries(backend, session.getSessionId());
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
    const ids = new Set(entries.map(({ id }) => id));
    expect(acknowledged[i]?.filter((id) => !ids.has(id))).toEqual([]);
    const reopened = await openStore().open(session.getSessionId());
    expect(reopened.issues).toEqual([]);
    expect(reopened.getPathIds(session.getLeafId() ?? "")).toEqual(session.getPathIds());
  }
});

test("after a restored backup, a process that was open all the time appends again what it holds", async () => {
  const session = openStore().create({ cwd: "/project", id: "restored" });
  say(session, "in the backup");
  await session.flush();
  await primary.stop("fast");
  const backup = `${primary.dataFolder}.backup`;
  execFileSync("cp", ["-a", primary.dataFolder, backup]);
  await primary.start();
  for (let i = 0; i < 20; i++) say(session, `after the backup ${i}`);
  await session.flush();
  await primary.stop("immediate");
  await primary.restore(backup);
  await primary.start();
  say(session, "last");
  await session.flush();
  const backend = new PostgresBackend({ client: place.pool({ port: address.port, max: 2 }) });
  expect((await readEntries(backend, "restored")).map(({ id }) => id)).toEqual(session.getPathIds());
});

test("a pool that has reached a server in recovery releases it and reconnects", async () => {
  const standby = await primary.startStandby();
  standbys.push(standby);
  const session = openStore().create({ cwd: "/project", id: "recovery" });
  say(session, "one");
  await session.flush();
  address.target = standby.port;
  address.cutAll();
  const refused = new Promise<string>((resolve) => {
    session.on("persistence_state", ({ state, error }) => {
      if (state === "degraded") resolve(error?.message ?? "");
    });
  });
  say(session, "two");
  await refused;
  const before = address.connections;
  while (address.connections < before + 3) await new Promise(setImmediate);
  address.target = primary.port;
  await session.flush();
  const backend = new PostgresBackend({ client: place.pool({ port: address.port, max: 2 }) });
  expect(await readEntries(backend, "recovery")).toHaveLength(2);
});
