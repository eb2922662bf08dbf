import { remoteStore } from "sessiontree/stores";
import { faultyBackend, sessionStoreSuite } from "sessiontree/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { httpObjects, objectBackend } from "../../../docs/examples/object-store.ts";
import { readText } from "../../contract/support/repository.ts";
import { type ObjectServer, startObjectServer } from "../support/object-server.ts";

const QUICK = { minRetryMs: 1, maxRetryMs: 2, pollMs: 5 };

let server: ObjectServer;

beforeAll(async () => {
  server = await startObjectServer();
});

afterAll(() => server.close());

const backendOf = () => objectBackend(httpObjects(server.url));

sessionStoreSuite({
  test,
  factory: () => {
    server.clear();
    const inner = backendOf();
    const { backend, faults } = faultyBackend(inner);
    return {
      store: remoteStore(backend, QUICK),
      another: () => remoteStore(backendOf(), QUICK),
      backend: inner,
      faults,
    };
  },
});

test("makes one request for an append, however long the session is, and one for a refresh", async () => {
  server.clear();
  const session = remoteStore(backendOf(), QUICK).create({ cwd: "/project" });
  const say = (text: string) => session.appendMessage({ role: "user", content: text, timestamp: 0 });
  for (let i = 0; i < 3_000; i++) say(`message ${i} ${"x".repeat(100)}`);
  await session.flush();
  const requestsOf = async (work: () => Promise<unknown>) => {
    server.requests.length = 0;
    await work();
    return [...server.requests];
  };
  say("one more");
  expect(await requestsOf(() => session.flush())).toEqual(["PUT"]);
  expect(await requestsOf(() => session.refreshAsync())).toEqual(["GET"]);
  const reader = await remoteStore(backendOf(), QUICK).open(session.getSessionId());
  expect(reader.getEntryCount()).toBe(3_001);
  expect(reader.getPathIds()).toEqual(session.getPathIds());
});

test("recreates a session that the object store has lost completely, and not a deleted one", async () => {
  server.clear();
  const store = remoteStore(backendOf(), QUICK);
  const session = store.create({ cwd: "/project" });
  const say = (text: string) => session.appendMessage({ role: "user", content: text, timestamp: 0 });
  say("one");
  await session.flush();
  server.clear();
  say("two");
  await session.flush();
  const id = session.getSessionId();
  expect((await remoteStore(backendOf()).open(id)).getPathIds()).toEqual(session.getPathIds());
  await remoteStore(backendOf()).delete(id);
  say("three");
  await expect(session.flush()).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
});

test("docs/stores.md names the example", () => {
  expect(readText("docs/stores.md")).toContain("(examples/object-store.ts)");
});
