import type { SessionManager } from "sessiontree";
import { remoteStore, type SessionBackend } from "sessiontree/stores";
import { describe, expect, test } from "vitest";
import { MemoryBackend } from "../../../src/stores/remote/memory-backend.ts";
import { RemoteLog } from "../../../src/stores/remote/remote-log.ts";
import { retryPace } from "../../../src/stores/remote/retries.ts";
import { RetryQueue } from "../../../src/stores/remote/retry-queue.ts";
import { faultyBackend } from "../../../src/stores/suite/faulty-backend.ts";
import { overBackend } from "../support/over-backend.ts";

const QUICK = { minRetryMs: 1, maxRetryMs: 2, pollMs: 5, giveUpAfterMs: 5_000 };

const CWD = "/projects/x";

const LOST = new Error("the connection was lost before the answer came");

const say = (session: SessionManager, text: string) =>
  session.appendMessage({ role: "user", content: text, timestamp: 0 });

const idsOf = (session: SessionManager) => session.getEntries().map(({ id }) => id);

/** Returns a promise that waits until the gate opens. */
function gate(): { readonly wait: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const wait = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { wait, open };
}

/** Returns a backend whose calls of one name wait. */
function slow(inner: MemoryBackend, name: "append" | "create" | "amend") {
  const { wait, open } = gate();
  const held = {
    append: async (...given: Parameters<SessionBackend["append"]>) => wait.then(() => inner.append(...given)),
    create: async (...given: Parameters<SessionBackend["create"]>) => wait.then(() => inner.create(...given)),
    amend: async (...given: Parameters<MemoryBackend["amend"]>) => wait.then(() => inner.amend(...given)),
  };
  const backend = overBackend(inner, { [name]: held[name] });
  return { backend, open };
}

/** Waits until everything that is not blocked has continued. */
const ticks = async () => {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
};

/** Checks that a promise waits for a gate. */
async function expectHeld(promise: Promise<void>, open: () => void): Promise<void> {
  let isDone = false;
  const noted = promise.then(() => {
    isDone = true;
  });
  await ticks();
  expect(isDone).toBe(false);
  open();
  await noted;
}

describe("a closed store", () => {
  test("writes what is appended while it waits", async () => {
    const memory = new MemoryBackend();
    const { backend, open } = slow(memory, "append");
    const lazy = overBackend(backend, {
      append: async (...given) => {
        await ticks();
        return backend.append(...given);
      },
    });
    const store = remoteStore(lazy, QUICK);
    const session = store.create({ cwd: CWD });
    say(session, "first");
    await session.flush();
    say(session, "second");
    const closing = store.close();
    await ticks();
    const appended = idsOf(session);
    try {
      appended.push(say(session, "while it closes"));
    } catch (error) {
      expect(error).toMatchObject({ code: "SESSION_CLOSED" });
    }
    open();
    await closing;
    const there = await remoteStore(memory).open(session.getSessionId());
    expect(idsOf(there)).toEqual(appended);
    expect(() => say(session, "afterwards")).toThrow(expect.objectContaining({ code: "SESSION_CLOSED" }));
  });

  test("waits for a session that another one replaced", async () => {
    const memory = new MemoryBackend();
    const store = remoteStore(memory, QUICK);
    const first = store.create({ cwd: CWD });
    const leaf = say(first, "first");
    await first.close();
    const { backend, open } = slow(memory, "create");
    const held = remoteStore(backend, QUICK);
    const session = await held.open(first.getSessionId());
    session.createBranchedSession(leaf);
    const id = session.getSessionId();
    session.newSession();
    // What starts next must not make the store forget what is not written.
    held.create({ cwd: CWD });
    await expectHeld(held.close(), open);
    expect((await remoteStore(memory).open(id)).getEntryCount()).toBe(1);
  });

  test("waits for a redaction in a session that another one replaced", async () => {
    const memory = new MemoryBackend();
    const { backend, open } = slow(memory, "amend");
    const store = remoteStore(backend, QUICK);
    const session = store.create({ cwd: CWD });
    const secret = say(session, "secret");
    await session.flush();
    const id = session.getSessionId();
    session.redactEntry(secret);
    session.newSession();
    store.create({ cwd: CWD });
    await expectHeld(store.close(), open);
    expect(JSON.stringify((await remoteStore(memory).open(id)).getEntries())).not.toContain("secret");
  });
});

describe("a stopped queue", () => {
  test("does not announce a retry of what it abandons", async () => {
    const queue = new RetryQueue({
      ...retryPace(QUICK),
      onState: () => undefined,
      onBusy: () => undefined,
    });
    queue.push({ isOptional: false, run: () => Promise.reject(LOST) });
    const settled = queue.drained();
    await ticks();
    queue.stop();
    await expect(settled).rejects.toThrow(/^The store was closed, .* discarded/);
    expect(queue.isEmpty).toBe(true);
  });
});

describe("a closed session", () => {
  test("has written what was appended while it waited", async () => {
    const memory = new MemoryBackend();
    const { backend, open } = slow(memory, "append");
    const lazy = overBackend(backend, {
      append: async (...given) => {
        await ticks();
        return backend.append(...given);
      },
    });
    const session = remoteStore(lazy, QUICK).create({ cwd: CWD });
    say(session, "first");
    await session.flush();
    say(session, "second");
    const closing = session.close();
    await ticks();
    await ticks();
    say(session, "third");
    open();
    await closing;
    expect((await memory.read(session.getSessionId(), 0, 10)).lines.length).toBe(4);
  });
});

describe("the queue", () => {
  test("does not stall on an entry whose type no column can store", async () => {
    const memory = new MemoryBackend();
    const session = remoteStore(memory, QUICK).create({ cwd: CWD });
    say(session, "first");
    session.append({ unknownType: "odd\u0000type" });
    session.append({ unknownType: "half\ud800" });
    say(session, "last");
    await session.flush();
    const there = await remoteStore(memory).open(session.getSessionId());
    expect(there.getEntries()).toEqual(session.getEntries());
  });

  test("quickly recognizes a large session whose creation was answered too late", async () => {
    const memory = new MemoryBackend();
    let losing = 1;
    const backend = overBackend(memory, {
      async create(facts, lines) {
        const receipt = await memory.create(facts, lines);
        if (losing-- > 0) throw LOST;
        return receipt;
      },
    });
    const store = remoteStore(backend, { ...QUICK, giveUpAfterMs: 60_000 });
    const source = remoteStore(memory, QUICK).create({ cwd: CWD });
    for (let i = 0; i < 5_000; i++) say(source, `message ${i} ${"x".repeat(200)}`);
    await source.flush();
    const session = await store.open(source.getSessionId());
    const copy = session.fork();
    await copy.flush();
    expect((await memory.list({ limit: 3 })).length).toBe(2);
  });

  test("does not mistake another's session for its own because it was refused before", async () => {
    const memory = new MemoryBackend();
    const now = () => Date.parse("2026-03-01T12:00:00.000Z");
    const given = { cwd: CWD, id: "same", createAtOnce: true, now };
    const [one, other] = [remoteStore(memory, QUICK), remoteStore(memory, QUICK)].map((store) =>
      store.create(given),
    );
    await one?.flush();
    await expect(other?.flush()).rejects.toMatchObject({ code: "SESSION_EXISTS" });
    await expect(other?.flush()).rejects.toMatchObject({ code: "SESSION_EXISTS" });
  });

  test("recovers when a condition was answered, whatever the answer", async () => {
    const memory = new MemoryBackend();
    const { backend, faults } = faultyBackend(memory);
    const session = remoteStore(backend, QUICK).create({ cwd: CWD });
    const first = say(session, "first");
    await session.flush();
    const other = await remoteStore(memory, QUICK).open(session.getSessionId());
    say(other, "theirs");
    await other.flush();
    const states: string[] = [];
    session.on("persistence_state", ({ state }) => states.push(state));
    faults.failNext(2);
    const message = { role: "user" as const, content: "x", timestamp: 0 };
    const asked = session.appendIfLeaf({ type: "message", message }, { expectedLeafId: first });
    await expect(asked).rejects.toMatchObject({ code: "STALE_LEAF" });
    expect(states).toEqual(["degraded", "ok"]);
  });
});

describe("a lost answer", () => {
  test("does not restore what another process has redacted in the meantime", async () => {
    const memory = new MemoryBackend();
    let isDown = false;
    const backend = overBackend(memory, {
      async append(id, lines, condition) {
        if (isDown) throw LOST;
        const receipt = await memory.append(id, lines, condition);
        if (JSON.stringify(lines).includes("secret")) {
          isDown = true;
          throw LOST;
        }
        return receipt;
      },
    });
    const mine = remoteStore(backend, QUICK).create({ cwd: CWD });
    say(mine, "first");
    await mine.flush();
    const secret = say(mine, "the secret");
    while (!isDown) await new Promise((resolve) => setImmediate(resolve));
    const theirs = await remoteStore(memory, QUICK).open(mine.getSessionId());
    theirs.redactEntry(secret);
    await theirs.flush();
    isDown = false;
    await mine.flush();
    const { lines } = await memory.read(mine.getSessionId(), 0, 100);
    expect(JSON.stringify(lines)).not.toContain("the secret");
    const there = await remoteStore(memory).open(mine.getSessionId());
    expect(there.getEntryCount()).toBe(3);
    expect(mine.getEntries()).toEqual(there.getEntries());
    expect(mine.issues).toEqual([]);
    say(mine, "more");
    await mine.flush();
    expect((await remoteStore(memory).open(mine.getSessionId())).getEntries()).toEqual(mine.getEntries());
  });

  test("of a redaction writes its record once, although other processes changed lines in the meantime", async () => {
    const memory = new MemoryBackend();
    let losing = 1;
    let meanwhile: () => Promise<void> = async () => undefined;
    const backend = overBackend(memory, {
      async amend(id, change) {
        const receipt = await memory.amend(id, change);
        if (losing-- <= 0) return receipt;
        await meanwhile();
        throw LOST;
      },
    });
    const session = remoteStore(backend, QUICK).create({ cwd: CWD, id: "one" });
    const secret = say(session, "secret");
    await session.flush();
    meanwhile = async () => {
      // Damage that a second attempt removes, so that it has something to do.
      const { revision } = await memory.read("one", 0, 1);
      const { lines } = await memory.read("one", 0, 10);
      const replace = [{ seq: lines[0]?.seq ?? 0, line: { text: `${lines[0]?.text} ` } }];
      const odd = [
        { seq: lines[1]?.seq ?? 0, line: { text: `${lines[1]?.text.replace("[redacted]", "back")}` } },
      ];
      await memory.amend("one", {
        expectedRevision: revision,
        replace: [...replace, ...odd],
        remove: [],
        append: [],
        facts: {},
      });
    };
    session.redactEntry(secret);
    await session.flush();
    const there = await remoteStore(memory).open("one");
    expect(there.issues).toEqual([]);
    expect(there.getEntryCount()).toBe(2);
    expect((await memory.read("one", 0, 10)).lines.length).toBe(3);
  });
});

describe("a slow server", () => {
  test("is waited for, however many pages it takes to read other writers' entries", async () => {
    const memory = new MemoryBackend();
    const first = remoteStore(memory).create({ cwd: CWD });
    say(first, "first");
    await first.flush();
    const backend = overBackend(memory, {
      async read(id, afterSeq) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        return memory.read(id, afterSeq, 1);
      },
    });
    const session = await remoteStore(backend, { ...QUICK, giveUpAfterMs: 150 }).open(first.getSessionId());
    for (let i = 0; i < 40; i++) say(first, `${i}`);
    await first.flush();
    expect((await session.refreshAsync()).length).toBe(40);
  });

  test("receives no more redactions than the queue's limit", async () => {
    const memory = new MemoryBackend();
    const { backend, open } = slow(memory, "amend");
    const session = remoteStore(backend, { ...QUICK, maxQueueEntries: 3 }).create({ cwd: CWD });
    const secret = say(session, "secret");
    await session.flush();
    for (let i = 0; i < 3; i++) session.redactEntry(secret, { replacement: `${i}` });
    expect(() => session.redactEntry(secret, { replacement: "once more" })).toThrow(
      /3 entries are waiting .* await flush\(\)/,
    );
    open();
    await session.flush();
    session.redactEntry(secret, { replacement: "once more" });
    await session.flush();
    expect((await remoteStore(memory).open(session.getSessionId())).getEntries()).toEqual(
      session.getEntries(),
    );
  });
});

describe("a conditional append", () => {
  const draft = { type: "custom" as const, customType: "x", data: 1 };

  test("is one step even if an old version must be upgraded first", async () => {
    const memory = new MemoryBackend();
    const store = remoteStore(memory, QUICK);
    const lines = [
      { type: "session", version: 1, id: "old", timestamp: "2025-01-01T00:00:00.000Z", cwd: CWD },
      {
        type: "message",
        timestamp: "2025-01-01T00:00:00.000Z",
        message: { role: "user", content: "1", timestamp: 0 },
      },
    ];
    const source = async function* () {
      yield Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    };
    await store.importBytes(source());
    const rivals = [await store.open("old"), await remoteStore(memory, QUICK).open("old")];
    const results = await Promise.allSettled(rivals.map((rival) => rival.appendIfLeaf(draft)));
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const fresh = await remoteStore(memory).open("old");
    expect(fresh.getHeader()?.version).toBe(3);
    expect(fresh.getEntryCount()).toBe(2);
    for (const rival of rivals) {
      await rival.refreshAsync();
      expect(rival.getEntries()).toEqual(fresh.getEntries());
    }
  });

  test("is at the requested leaf although the session has continued with another entry", async () => {
    const memory = new MemoryBackend();
    const session = remoteStore(memory, QUICK).create({ cwd: CWD });
    say(session, "first");
    const id = session.getSessionId();
    const asked = session.appendIfLeaf(draft);
    session.newSession();
    const appended = await asked;
    expect(session.getEntryCount()).toBe(0);
    expect((await remoteStore(memory).open(id)).getLeafId()).toBe(appended);
  });

  test("is recognized by its id when its answer was lost and another process redacted it in the meantime", async () => {
    const memory = new MemoryBackend();
    let losing = 1;
    const backend = overBackend(memory, {
      async append(id, lines, condition) {
        const receipt = await memory.append(id, lines, condition);
        if (condition?.expectedLeafId === undefined || losing-- <= 0) return receipt;
        const theirs = await remoteStore(memory, QUICK).open(id);
        theirs.redactEntry(theirs.getLeafId() ?? "");
        await theirs.close();
        throw LOST;
      },
    });
    const session = remoteStore(backend, QUICK).create({ cwd: CWD });
    say(session, "first");
    await session.flush();
    const secret = await session.appendIfLeaf({ type: "custom", customType: "x", data: "the secret" });
    expect(session.getEntry(secret)).toMatchObject({ data: { redacted: "[redacted]" } });
    expect(JSON.stringify(await memory.read(session.getSessionId(), 0, 9))).not.toContain("the secret");
    expect(session.getEntryCount()).toBe(3);
  });
});

describe("an id conflict", () => {
  const line = (id: string, text: string, parentId: string | null = null) => {
    const timestampMs = Date.parse("2026-03-01T12:00:00.000Z");
    const timestamp = new Date(timestampMs).toISOString();
    const head = { type: "custom", id, parentId, timestampMs };
    return {
      head,
      text: JSON.stringify({ type: "custom", id, parentId, timestamp, customType: "x", data: text }),
    };
  };
  const begin = async (memory: MemoryBackend) => {
    const timestamp = "2026-03-01T12:00:00.000Z";
    const header = { type: "session", version: 3, id: "one", timestamp, cwd: CWD };
    const log = RemoteLog.begin(memory, [`${JSON.stringify(header)}\n`], { ...QUICK, createAtOnce: true });
    log.append([line("000000ff", "root")], true);
    await log.flush();
    return [log, await RemoteLog.open(memory, "one", QUICK)] as const;
  };
  const linesOf = (log: RemoteLog) => {
    const lines: string[] = [];
    const { tree, spans } = log.index;
    log.readLines(spans.inFileOrder(tree.ordinals()), (ordinal, bytes) =>
      lines.push(`${JSON.stringify(tree.headAt(ordinal))} ${Buffer.from(bytes)}`),
    );
    return lines;
  };
  const expectAsRead = async (memory: MemoryBackend, ...logs: RemoteLog[]) => {
    const fresh = await RemoteLog.open(memory, "one", QUICK);
    for (const log of logs) {
      expect(linesOf(log)).toEqual(linesOf(fresh));
      expect(Buffer.from(log.bytes).toString()).toBe(Buffer.from(fresh.bytes).toString());
    }
    return linesOf(fresh).length;
  };

  test("with another writer: both entries are kept, and all see the same", async () => {
    const memory = new MemoryBackend();
    const [mine, theirs] = await begin(memory);
    theirs.append([line("000000a1", "theirs"), line("000000a2", "more of theirs", "000000a1")], true);
    await theirs.flush();
    mine.append([line("000000a1", "mine", "000000ff"), line("000000a3", "more of mine", "000000a1")], true);
    await mine.flush();
    expect(await expectAsRead(memory, mine)).toBe(5);
    mine.append([line("000000a4", "last of mine", "000000a3")], true);
    await mine.flush();
    await theirs.pull();
    expect(await expectAsRead(memory, mine, theirs)).toBe(6);
  });

  test("while own lines wait and everything is read again", async () => {
    const memory = new MemoryBackend();
    const [mine, theirs] = await begin(memory);
    theirs.append([line("000000a1", "theirs")], true);
    theirs.rewrite(
      (text) => text,
      () => [line("000000b1", "record")],
    );
    await theirs.flush();
    const pulled = mine.pull();
    mine.append([line("000000a1", "mine", "000000ff"), line("000000a2", "more", "000000a1")], true);
    await pulled;
    mine.append([line("000000a3", "later", "000000a2")], true);
    await mine.flush();
    expect(await expectAsRead(memory, mine)).toBe(6);
    mine.append([line("000000a4", "last", "000000a3")], true);
    await mine.flush();
    expect(await expectAsRead(memory, mine)).toBe(7);
  });
});
