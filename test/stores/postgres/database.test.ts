import { EventEmitter } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { Database } from "../../../src/stores/postgres/database.ts";
import { migrateDatabase, readSchemaVersion } from "../../../src/stores/postgres/migrate.ts";
import { postgresStore } from "../../../src/stores/postgres/open-postgres-store.ts";
import { PostgresBackend } from "../../../src/stores/postgres/postgres-backend.ts";

/** Returns a message of PostgreSQL's protocol: its type, its length, its body. */
function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

const AUTHENTICATED = message("R", Buffer.alloc(4));
const READY = message("Z", Buffer.from("I"));
const SHUTTING_DOWN = message("E", Buffer.from("SFATAL\0C57P01\0Mthe server is shutting down\0\0"));

/** Starts a server whose connections fail in the same packet in which they become ready. */
let server: Server;
let port = 0;

beforeAll(async () => {
  server = createServer((socket: Socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(Buffer.concat([AUTHENTICATED, READY, SHUTTING_DOWN])));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address !== null && typeof address === "object") port = address.port;
});

afterAll(() => server.close());

const thrown: unknown[] = [];
const note = (error: unknown) => thrown.push(error);
process.on("uncaughtException", note);
afterEach(() => thrown.splice(0));
afterAll(() => process.off("uncaughtException", note));

const failingPool = () => new pg.Pool({ host: "127.0.0.1", port, user: "nobody", database: "none" });

test("a connection that fails in the packet in which it becomes ready does not end the process", async () => {
  const client = failingPool();
  const store = postgresStore({ client, minRetryMs: 1, maxRetryMs: 5, giveUpAfterMs: 200 });
  await expect(store.open("one")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await store.close();
  await client.end();
  expect(thrown).toEqual([]);
});

test("nor does it while tables are created or queried, without a listener on the pool later", async () => {
  const client = failingPool();
  await expect(migrateDatabase({ client })).rejects.toThrow();
  await expect(readSchemaVersion({ client })).rejects.toThrow();
  await client.end();
  expect(thrown).toEqual([]);
  expect(["error", "acquire"].map((event) => client.listenerCount(event))).toEqual([0, 0]);
});

test("connections that arrive too late do not accumulate listeners", async () => {
  const connection = Object.assign(new EventEmitter(), {
    query: async () => ({ rows: [{ version: 1, is_there: true }] }),
    release: () => undefined,
  });
  const late: (() => void)[] = [];
  const client = Object.assign(new EventEmitter(), {
    query: connection.query,
    connect: () => new Promise<typeof connection>((resolve) => late.push(() => resolve(connection))),
  });
  const backend = new PostgresBackend({ client, timeoutMs: 1 });
  for (let i = 0; i < 20; i++) await expect(backend.list({ limit: 1 })).rejects.toThrow("did not answer");
  for (const arrive of late) arrive();
  await new Promise(setImmediate);
  expect([late.length, connection.listenerCount("error")]).toEqual([20, 1]);
  await backend.close();
});

test("a search that is aborted while it waits for a connection sends nothing", async () => {
  const sent: string[] = [];
  const connection = Object.assign(new EventEmitter(), {
    query: async (text: string) => {
      sent.push(text);
      return { rows: [] };
    },
    release: () => undefined,
  });
  let arrive: () => void = () => undefined;
  const client = Object.assign(new EventEmitter(), {
    query: connection.query,
    connect: () =>
      new Promise<typeof connection>((resolve) => {
        arrive = () => resolve(connection);
      }),
  });
  const end = new AbortController();
  const search = new Database(client).query("select 1", [], end.signal);
  end.abort();
  arrive();
  await expect(search).rejects.toMatchObject({ code: "ABORTED" });
  expect(sent).not.toContain("select 1");
});

test("statements that a busy server has not started or ended are canceled again until its process exits", async () => {
  const answers = [[{ started: "1" }], undefined, [{ started: "1" }], []];
  const asked: unknown[] = [];
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const connection = Object.assign(new EventEmitter(), {
    processID: 7,
    query: async (text: string, values?: unknown[]): Promise<{ rows: unknown[] }> => {
      const rows = text.includes("pg_cancel_backend") ? answers[asked.push(values) - 1] : undefined;
      if (asked.length === answers.length) end();
      return rows === undefined ? new Promise(() => undefined) : { rows };
    },
    release: () => undefined,
  });
  const client = Object.assign(new EventEmitter(), {
    query: connection.query,
    connect: async () => connection,
  });
  const backend = new PostgresBackend({ client, timeoutMs: 1 });
  await expect(backend.list({ limit: 1 })).rejects.toThrow("did not answer");
  await ended;
  expect(asked).toEqual([
    [7, null],
    [7, "1"],
    [7, "1"],
    [7, "1"],
  ]);
});
