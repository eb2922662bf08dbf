import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileStore, memoryStore, remoteStore, type SessionStore } from "sessiontree/stores";
import { afterEach, describe, expect, test } from "vitest";
import { MemoryBackend } from "../../../src/stores/remote/memory-backend.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { overBackend } from "../support/over-backend.ts";

const CWD = "/projects/x";

const folder = mkdtempSync(join(tmpdir(), "hostile-"));
afterEach(() => removeFolder(folder));

const header = (id: string) =>
  `${JSON.stringify({ type: "session", version: 3, id, timestamp: "2026-03-01T12:00:00.000Z", cwd: CWD })}\n`;

/** Bytes that record when the consumer stops reading. */
function source(...pieces: string[]) {
  const state = { isClosed: false };
  const bytes = (async function* () {
    try {
      for (const piece of pieces) yield Buffer.from(piece);
    } finally {
      state.isClosed = true;
    }
  })();
  return { bytes, state };
}

const message = { role: "user" as const, content: "findable", timestamp: 0 };

const never = () => new Promise<never>(() => undefined);

const stores: readonly (readonly [string, () => SessionStore])[] = [
  ["memory", () => memoryStore()],
  ["files", () => fileStore({ sessionDir: folder })],
];

describe.each(stores)("a refused import into %s", (_, make) => {
  test("closes its source, for any reason of refusal", async () => {
    const store = make();
    await store.importBytes(source(header("there")).bytes);
    const refused = [
      [source(header("there"), "more\n"), "SESSION_EXISTS"],
      [source(header("../up"), "more\n"), "INVALID_SESSION_ID"],
      [source("no session\n".repeat(100), "more\n"), "NOT_A_SESSION"],
    ] as const;
    for (const [{ bytes, state }, code] of refused) {
      await expect(store.importBytes(bytes)).rejects.toMatchObject({ code });
      expect([code, state.isClosed]).toEqual([code, true]);
    }
    const { bytes, state } = source(header("new"), "more\n");
    await bytes.next();
    const aborted = store.importBytes(bytes, { signal: AbortSignal.abort() });
    await expect(aborted).rejects.toMatchObject({ code: "ABORTED" });
    expect(state.isClosed).toBe(true);
  });

  test("leaves the first session if the id was used during the copy", async () => {
    const store = make();
    const slow = (async function* () {
      yield Buffer.from(header("same"));
      await store.importBytes(source(header("same").replace("12:00", "13:00")).bytes);
      yield Buffer.from("more\n");
    })();
    await expect(store.importBytes(slow)).rejects.toMatchObject({ code: "SESSION_EXISTS" });
    const found: string[] = [];
    for await (const { id } of store.list()) found.push(id);
    expect(found).toEqual(["same"]);
    if (make === stores[1]?.[1]) expect(readdirSync(folder).length).toBe(1);
  });
});

describe("a backend that does not answer", () => {
  test("does not delay an aborting caller", async () => {
    const store = remoteStore(overBackend(new MemoryBackend(), { read: never, list: never, search: never }));
    for (const work of [
      (signal: AbortSignal) => store.open("x", { signal }),
      (signal: AbortSignal) => store.list({ signal }).next(),
      (signal: AbortSignal) => store.search("x", { signal }).next(),
      (signal: AbortSignal) => store.exportBytes("x", { signal }).next(),
    ]) {
      const end = new AbortController();
      const asked = work(end.signal);
      setImmediate(() => end.abort());
      await expect(asked).rejects.toMatchObject({ code: "ABORTED" });
    }
  });

  test("does not delay an aborting caller between attempts", async () => {
    const end = new AbortController();
    const backend = overBackend(new MemoryBackend(), {
      read: () => {
        setImmediate(() => end.abort());
        return Promise.reject(new Error("no connection"));
      },
    });
    const store = remoteStore(backend, { minRetryMs: 10_000, maxRetryMs: 10_000, giveUpAfterMs: 60_000 });
    await expect(store.open("x", { signal: end.signal })).rejects.toMatchObject({ code: "ABORTED" });
  });

  test.each(["subscribe", "read"] as const)("does not delay ending a watcher (%s)", async (name) => {
    const memory = new MemoryBackend();
    const first = remoteStore(memory).create({ cwd: CWD });
    first.appendMessage(message);
    await first.flush();
    let isStuck = false;
    const backend = overBackend(memory, {
      [name]: (...given: Parameters<MemoryBackend["read"]>) => (isStuck ? never() : memory.read(...given)),
    });
    const session = await remoteStore(backend).open(first.getSessionId());
    isStuck = true;
    const end = new AbortController();
    const next = session.watch({ signal: end.signal }).next();
    setImmediate(() => end.abort());
    expect((await next).done).toBe(true);
  });
});

describe("a store", () => {
  test("continues a search when a session is deleted during it", async () => {
    const memory = new MemoryBackend();
    const supports = { ...memory.supports, search: false };
    const given = overBackend(memory, { supports });
    const { search: _, ...backend } = overBackend(given, {
      list: async (query) => {
        const page = await memory.list(query);
        await memory.delete("gone");
        return page;
      },
    });
    const store = remoteStore(backend);
    for (const id of ["a", "gone", "z"]) {
      const session = store.create({ cwd: CWD, id });
      session.appendMessage(message);
      await session.close();
    }
    const found: string[] = [];
    for await (const { session } of store.search("findable")) found.push(session.id);
    expect(found.sort()).toEqual(["a", "z"]);
  });

  test("sends its backend nothing once it is closed", async () => {
    const memory = new MemoryBackend();
    let calls = 0;
    const backend = overBackend(memory, {
      read: (...given) => {
        calls++;
        return memory.read(...given);
      },
    });
    const store = remoteStore(backend);
    const session = store.create({ cwd: CWD });
    session.appendMessage(message);
    await store.close();
    session.refresh();
    await expect(session.refreshAsync()).rejects.toMatchObject({ code: "SESSION_CLOSED" });
    expect(() => session.appendMessage(message)).toThrow(expect.objectContaining({ code: "SESSION_CLOSED" }));
    await session.close();
    expect(calls).toBe(0);
  });
});

test("reports what to do if a backend lists facts without the time of the latest message", async () => {
  const old = (id: string) =>
    JSON.parse(
      JSON.stringify({ id, cwd: CWD, name: null, parentSession: null, createdMs: 0, modifiedMs: 5 }),
    );
  const store = remoteStore(overBackend(new MemoryBackend(), { list: async () => [old("a")] }));
  await expect(store.list().next()).rejects.toThrow(TypeError);
  await expect(store.list().next()).rejects.toThrow(/session a without lastMessageMs; derive the facts/);
});
