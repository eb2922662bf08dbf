import { expect, test } from "vitest";
import { isSessionError } from "../../src/core/format/errors.ts";
import { readSchemaVersion, SCHEMA_VERSION } from "../../src/stores/postgres/migrate.ts";
import {
  isPostgresUrl,
  openPostgresStore,
  postgresMigrationSql,
} from "../../src/stores/postgres/open-postgres-store.ts";
import { cluster } from "./support/cluster.ts";

const place = cluster();

const isUnavailable = (error: unknown) => isSessionError(error, "STORE_UNAVAILABLE");

/** Lists the sessions; retries exceed the test's timeout. */
async function ids(url: string): Promise<string[]> {
  const store = await openPostgresStore(url, { giveUpAfterMs: 600_000 });
  const found: string[] = [];
  for await (const { id } of store.list()) found.push(id);
  await store.close();
  return found;
}

test("an address opens a store, its schema, and its tenant", async () => {
  const url = place.server.url();
  await expect(ids(url)).rejects.toThrow(/call migrateDatabase\(\)/);
  const made = await openPostgresStore(`${url}?schema=my%20sessions&tenant=acme`, { migrate: true });
  const session = made.create({ cwd: "/project", id: "one", createAtOnce: true });
  await session.close();
  await made.close();
  await made.close();
  expect(await readSchemaVersion({ client: place.pool(), schema: "my sessions" })).toBe(SCHEMA_VERSION);
  expect(await ids(`${url}?schema=my%20sessions&tenant=acme`)).toEqual(["one"]);
  expect(await ids(`${url}?schema=my%20sessions&tenant=other`)).toEqual([]);
  expect(await ids(`${url}?schema=my%20sessions&options=-c%20sessiontree.tenant%3Dacme`)).toEqual(["one"]);
});

test("a single connection is enough to watch, by polling", async () => {
  const url = `${place.server.url()}?schema=one%20connection`;
  const writing = await openPostgresStore(url, { migrate: true });
  const session = writing.create({ cwd: "/project", id: "watched", createAtOnce: true });
  await session.flush();
  const store = await openPostgresStore(url, { maxConnections: 1, pollMs: 5 });
  const watched = await store.open("watched");
  const end = new AbortController();
  const seen = watched.watch({ signal: end.signal }).next();
  const id = session.appendMessage({ role: "user", content: "Hello", timestamp: 1 });
  await session.flush();
  expect((await seen).value).toMatchObject({ id });
  end.abort();
  await store.close();
  await writing.close();
});

test("reports the server's refusals immediately and by name", async () => {
  const { server } = place;
  const refused = [
    server.url({ password: "wrong" }),
    server.url().replace(/:[^:@]*@/, "@"),
    server.url().replace(/postgres$/, "nowhere"),
    `${server.url()}?sslmode=verify-full`,
  ];
  for (const url of refused) {
    await expect(ids(url)).rejects.toSatisfy(isUnavailable);
    await expect(openPostgresStore(url, { migrate: true, giveUpAfterMs: 600_000 })).rejects.toSatisfy(
      isUnavailable,
    );
    await expect(postgresMigrationSql(url)).rejects.toSatisfy(isUnavailable);
  }
});

test("waits for an unreachable server, and then reports it", async () => {
  const url = place.server.url({ port: 1 });
  const store = await openPostgresStore(url, { giveUpAfterMs: 200, minRetryMs: 5 });
  await expect(store.open("one")).rejects.toSatisfy(isUnavailable);
  const options = { migrate: true, giveUpAfterMs: 200, minRetryMs: 5 };
  await expect(openPostgresStore(url, options)).rejects.toSatisfy(isUnavailable);
  await store.close();
});

test("refuses an invalid address before anything is opened", async () => {
  for (const text of ["", "host", "mysql://host/db", "/a/folder"]) {
    expect(isPostgresUrl(text)).toBe(false);
    await expect(openPostgresStore(text)).rejects.toThrow(TypeError);
  }
  expect(isPostgresUrl("postgres://h/d") && isPostgresUrl("postgresql://h/d")).toBe(true);
});
