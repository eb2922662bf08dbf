import { isSessionError, type SessionManager } from "sessiontree";
import { SessionController } from "sessiontree/controller";
import { memoryStore, remoteStore, type SessionBackend } from "sessiontree/stores";
import { describe, expect, test, vi } from "vitest";
import { MemoryBackend } from "../../../src/stores/remote/memory-backend.ts";
import { faultyBackend } from "../../../src/stores/suite/faulty-backend.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { overBackend } from "../support/over-backend.ts";

const QUICK = { minRetryMs: 1, maxRetryMs: 2, pollMs: 5 };

const say = (session: SessionManager, text: string) =>
  session.appendMessage({ role: "user", content: text, timestamp: 0 });

/** A backend whose appends wait until they are released. */
function gated(): { backend: SessionBackend; calls: number[]; open: () => void } {
  const inner = new MemoryBackend();
  const calls: number[] = [];
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const backend: SessionBackend = {
    supports: inner.supports,
    create: (session, lines) => inner.create(session, lines),
    read: (id, afterSeq, limit) => inner.read(id, afterSeq, limit),
    async append(id, lines, condition) {
      calls.push(lines.length);
      await gate;
      return inner.append(id, lines, condition);
    },
    list: (query) => inner.list(query),
    delete: (id) => inner.delete(id),
    close: () => inner.close(),
  };
  return { backend, calls, open };
}

describe("the queue of a session in a remote store", () => {
  test("has a limit of entries, and accepts more once it has been written", async () => {
    const { backend, open } = gated();
    const session = remoteStore(backend, { ...QUICK, maxQueueEntries: 5 }).create({ cwd: "/projects/x" });
    say(session, "first");
    await session.flush();
    const states: string[] = [];
    session.on("persistence_state", ({ state }) => states.push(state));
    const ids = Array.from({ length: 5 }, (_, i) => say(session, `${i}`));
    expect(() => say(session, "one too many")).toThrow(/5 entries are waiting .* await flush\(\)/);
    expect(session.getLeafId()).toBe(ids.at(-1));
    expect(session.getEntryCount()).toBe(6);
    expect(states).toEqual(["degraded"]);
    open();
    await session.flush();
    const last = say(session, "room again");
    expect(states).toEqual(["degraded", "ok"]);
    await session.flush();
    expect(session.getPathIds().slice(1)).toEqual([...ids, last]);
  });

  test("has a limit of bytes, but accepts one entry of any size", async () => {
    const { backend, open } = gated();
    const store = remoteStore(backend, { ...QUICK, maxQueueBytes: 10_000 });
    const session = store.create({ cwd: "/projects/x" });
    say(session, "first");
    await session.flush();
    say(session, "x".repeat(50_000));
    expect(() => say(session, "y")).toThrow(expect.objectContaining({ code: "WRITE_FAILED" }));
    open();
    await session.flush();
    say(session, "y");
    await store.close();
  });

  test("sends synchronous appends together, and later ones after them", async () => {
    const { backend, calls, open } = gated();
    const session = remoteStore(backend, QUICK).create({ cwd: "/projects/x" });
    say(session, "first");
    await session.flush();
    for (let i = 0; i < 100; i++) say(session, `${i}`);
    await new Promise((resolve) => setImmediate(resolve));
    for (let i = 0; i < 50; i++) say(session, `later ${i}`);
    open();
    await session.flush();
    expect(calls).toEqual([100, 50]);
  });
});

describe("an unavailable server", () => {
  test("makes flush and close fail after a time, loses nothing, and receives everything when it returns", async () => {
    const memory = new MemoryBackend();
    const { backend, faults } = faultyBackend(memory);
    const store = remoteStore(backend, { ...QUICK, giveUpAfterMs: 20 });
    const session = store.create({ cwd: "/projects/x" });
    say(session, "first");
    await session.flush();
    const states: string[] = [];
    session.on("persistence_state", ({ state }) => states.push(state));
    faults.failNext(Number.POSITIVE_INFINITY);
    say(session, "second");
    const cause = expect.objectContaining({ message: "the connection failed" });
    await expect(session.flush()).rejects.toMatchObject({ code: "WRITE_FAILED", cause });
    await expect(session.close()).rejects.toMatchObject({ code: "WRITE_FAILED" });
    await expect(store.close()).rejects.toMatchObject({ code: "WRITE_FAILED" });
    await expect(session.refreshAsync()).rejects.toMatchObject({ code: "WRITE_FAILED" });
    await expect(store.open(session.getSessionId())).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    say(session, "third");
    // The queue has accepted the entry, but the server has not.
    expect(states).toEqual(["degraded"]);
    faults.failNext(0);
    await session.flush();
    expect(states).toEqual(["degraded", "ok"]);
    const there = await remoteStore(memory).open(session.getSessionId());
    expect(there.getEntries()).toEqual(session.getEntries());
    await session.close();
    await store.close();
  });

  test("does not prevent closing a store that abandons the rest", async () => {
    const memory = new MemoryBackend();
    const { backend, faults } = faultyBackend(memory);
    const store = remoteStore(backend, { ...QUICK, giveUpAfterMs: 10 });
    const session = store.create({ cwd: "/projects/x" });
    faults.failNext(Number.POSITIVE_INFINITY);
    say(session, "first");
    await store.close({ discard: true });
    faults.failNext(0);
    expect(() => store.create({ cwd: "/projects/x" })).toThrow(
      expect.objectContaining({ code: "SESSION_CLOSED" }),
    );
    expect(() => say(session, "second")).toThrow(expect.objectContaining({ code: "SESSION_CLOSED" }));
    expect(await memory.list({ limit: 1 })).toEqual([]);
  });

  test("does not delay closing a store that abandons the rest, even with a call that never ends", async () => {
    const { backend, calls } = gated();
    const store = remoteStore(backend, { giveUpAfterMs: 600_000 });
    const session = store.create({ cwd: "/projects/x" });
    say(session, "first");
    await session.flush();
    say(session, "second");
    const flushed = session.flush();
    await vi.waitFor(() => expect(calls).toEqual([1]), { timeout: PATIENCE_MS });
    await store.close({ discard: true });
    await expect(flushed).rejects.toMatchObject({ code: "WRITE_FAILED" });
    await store.close();
  });

  test("receives no retry, and no retry is announced, for what was abandoned during an attempt", async () => {
    const memory = new MemoryBackend();
    let fail: (error: Error) => void = () => undefined;
    const backend = overBackend(memory, {
      append: () =>
        new Promise((_, reject) => {
          fail = reject;
        }),
    });
    const store = remoteStore(backend, { minRetryMs: 600_000, maxRetryMs: 600_000 });
    const session = store.create({ cwd: "/projects/x" });
    say(session, "first");
    await session.flush();
    const states: string[] = [];
    session.on("persistence_state", ({ state }) => states.push(state));
    say(session, "second");
    await new Promise((resolve) => setImmediate(resolve));
    await store.close({ discard: true });
    const timers = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    fail(new Error("the connection was closed"));
    await new Promise((resolve) => setImmediate(resolve));
    // Timers of other files in this process may end in the meantime.
    const left = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    expect(left).toBeLessThanOrEqual(timers);
    expect(states).toEqual([]);
  });

  test("makes a condition fail when its outcome is unknown", async () => {
    const { backend, faults } = faultyBackend(new MemoryBackend());
    const session = remoteStore(backend, { ...QUICK, giveUpAfterMs: 20 }).create({ cwd: "/projects/x" });
    const first = say(session, "first");
    await session.flush();
    faults.failNext(Number.POSITIVE_INFINITY);
    const message = { role: "user" as const, content: "second", timestamp: 0 };
    await expect(session.appendIfLeaf({ type: "message", message })).rejects.toMatchObject({
      code: "WRITE_FAILED",
    });
    faults.failNext(0);
    await session.refreshAsync();
    expect(session.getEntries().map(({ id }) => id)).toEqual([first]);
    await session.appendIfLeaf({ type: "message", message });
    expect(session.getEntryCount()).toBe(2);
  });
});

describe("a session in a remote store", () => {
  test("continues with appends while it is redacted, and keeps their order", async () => {
    const memory = new MemoryBackend();
    const session = remoteStore(memory, QUICK).create({ cwd: "/projects/x" });
    const secret = say(session, "secret");
    const ids = [secret, say(session, "a")];
    ids.push(session.redactEntry(secret), say(session, "b"));
    await Promise.resolve();
    ids.push(say(session, "c"));
    ids.push(session.redactEntry(ids[1] ?? ""), say(session, "d"));
    expect(session.getEntries().map(({ id }) => id)).toEqual(ids);
    await session.flush();
    expect(session.getEntries().map(({ id }) => id)).toEqual(ids);
    const there = await remoteStore(memory).open(session.getSessionId());
    expect(there.getEntries()).toEqual(session.getEntries());
    expect(there.issues).toEqual([]);
  });

  test("keeps entries the same objects when other writers' entries arrive between them", async () => {
    const memory = new MemoryBackend();
    const session = remoteStore(memory, QUICK).create({ cwd: "/projects/x" });
    const message = { role: "user" as const, content: "first", timestamp: 0 };
    const first = session.appendMessage(message);
    await session.flush();
    const other = await remoteStore(memory, QUICK).open(session.getSessionId());
    say(other, "theirs");
    await other.flush();
    const second = say(session, "second");
    const entry = session.getEntry(second);
    await session.flush();
    expect(session.getEntryCount()).toBe(3);
    expect(session.getEntry(second)).toBe(entry);
    const [found] = session.getEntries();
    expect(found?.id).toBe(first);
    expect(found?.type === "message" && found.message === message).toBe(true);
  });

  test("continues writing when another session replaces it in the same object", async () => {
    const memory = new MemoryBackend();
    const store = remoteStore(memory, QUICK);
    const session = store.create({ cwd: "/projects/x" });
    say(session, "in the first");
    const first = session.getSessionId();
    session.newSession();
    say(session, "in the second");
    session.createBranchedSession(session.getLeafId() ?? "");
    const third = session.getSessionId();
    await store.close();
    expect((await memory.list({ limit: 10 })).map(({ messageCount }) => messageCount)).toEqual([1, 1, 1]);
    const again = remoteStore(memory, QUICK);
    expect((await again.open(first)).getEntryCount()).toBe(1);
    expect((await again.open(third)).getHeader()?.parentSession).not.toBe(first);
    const closed = new SessionController({ session }).switchSession(first);
    expect((await closed.catch((error: unknown) => error)) instanceof Error).toBe(true);
    const controller = new SessionController({ session: await again.open(first) });
    await controller.switchSession(third, { cwd: temporaryFolder() });
    expect(controller.session.getSessionId()).toBe(third);
  });

  test("stops watching when aborted, and keeps a watcher through a lost connection", async () => {
    const memory = new MemoryBackend();
    const { backend, faults } = faultyBackend(memory);
    const session = remoteStore(backend, { ...QUICK, giveUpAfterMs: 5 }).create({ cwd: "/projects/x" });
    say(session, "first");
    await session.flush();
    const end = new AbortController();
    const seen: string[] = [];
    const watching = (async () => {
      for await (const { id } of session.watch({ signal: end.signal })) {
        seen.push(id);
        end.abort();
      }
    })();
    faults.failNext(50);
    const other = await remoteStore(memory).open(session.getSessionId());
    const theirs = say(other, "theirs");
    await other.flush();
    await watching;
    expect(seen).toEqual([theirs]);
  });

  test("reports to a watcher that the session could not be created, and ends the watch", async () => {
    const memory = new MemoryBackend();
    const store = remoteStore(memory, QUICK);
    await store.create({ cwd: "/projects/x", id: "taken", createAtOnce: true }).flush();
    const session = store.create({ cwd: "/projects/x", id: "taken" });
    const seen = session.watch().next();
    const refused = expect(seen).rejects.toMatchObject({ code: "SESSION_EXISTS" });
    say(session, "first");
    await refused;
    const end = new AbortController();
    const never = store.create({ cwd: "/projects/x" }).watch({ signal: end.signal }).next();
    end.abort();
    expect((await never).done).toBe(true);
  });

  test("is not found anywhere, and reported as such, once it was deleted", async () => {
    const memory = new MemoryBackend();
    const store = remoteStore(memory, QUICK);
    const session = store.create({ cwd: "/projects/x" });
    say(session, "first");
    await session.flush();
    await store.delete(session.getSessionId());
    say(session, "second");
    const error = await session.flush().catch((caught: unknown) => caught);
    expect(isSessionError(error, "SESSION_NOT_FOUND")).toBe(true);
    await expect(session.refreshAsync()).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    expect(session.getEntryCount()).toBe(2);
  });
});

test("a watch ends with its session and with its store", async () => {
  const store = memoryStore();
  const [one, two] = [1, 2].map(() => store.create({ cwd: "/w", createAtOnce: true }));
  const watched = [one, two].map((session) => session?.watch().next());
  await one?.flush();
  await one?.close();
  expect(await watched[0]).toEqual({ done: true, value: undefined });
  await store.close();
  expect(await watched[1]).toEqual({ done: true, value: undefined });
});
