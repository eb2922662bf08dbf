import type { SessionManager } from "sessiontree";
import { remoteStore, type SessionBackend } from "sessiontree/stores";
import { expect, test } from "vitest";
import { MemoryBackend } from "../../../src/stores/remote/memory-backend.ts";
import { all, assertWhole, exportText } from "../../../src/stores/suite/kit.ts";
import fc from "../../support/fast-check.ts";
import { overBackend } from "../support/over-backend.ts";

const QUICK = { minRetryMs: 1, maxRetryMs: 2, pollMs: 5, giveUpAfterMs: 10_000 };

const say = (session: SessionManager, text: string) =>
  session.appendMessage({ role: "user", content: text, timestamp: 0 });

const idsOf = (session: SessionManager) => session.getEntries().map(({ id }) => id);

const restoredBy = (session: SessionManager) => {
  const ids: string[] = [];
  session.on("entries_restored", ({ entries }) => ids.push(...entries.map(({ id }) => id)));
  return ids;
};

/** A backend that another one takes the place of, as after a failover. */
function failover(): {
  backend: SessionBackend;
  primary: MemoryBackend;
  to: (standby: MemoryBackend) => void;
} {
  const primary = new MemoryBackend();
  let current = primary;
  const backend: SessionBackend = {
    supports: primary.supports,
    create: (...given) => current.create(...given),
    read: (...given) => current.read(...given),
    append: (...given) => current.append(...given),
    amend: (...given) => current.amend(...given),
    list: (...given) => current.list(...given),
    search: (query) => current.search(query),
    delete: (...given) => current.delete(...given),
    subscribe: (...given) => current.subscribe(...given),
    close: () => current.close(),
  };
  return {
    backend,
    primary,
    to: (standby) => {
      current = standby;
    },
  };
}

/** Copies a session to a backend, as replication does. */
async function replicate(from: MemoryBackend, id: string, to: MemoryBackend): Promise<void> {
  await remoteStore(to).importBytes(remoteStore(from).exportBytes(id));
}

test("a session that was lost whole is made again with the same bytes, by whoever appends first", async () => {
  const { backend, primary, to } = failover();
  const bytes = [
    '{"type":"session","version":3,"id":"one","timestamp":"2026-03-01T12:00:00.000Z","cwd":"/p"}',
    "damage \r",
    '{"type":"message","id":"000000a1","parentId":null,"timestamp":"2026-03-01T12:00:00.000Z","message":{"role":"user","content":"a"}}',
    "",
  ].join("\n");
  await remoteStore(backend).importBytes(
    (async function* () {
      yield Buffer.from(bytes);
    })(),
  );
  const [mine, theirs] = [
    await remoteStore(backend, QUICK).open("one"),
    await remoteStore(backend, QUICK).open("one"),
  ];
  say(mine, "b");
  await mine.flush();
  await theirs.pull();
  say(mine, "c");
  await mine.flush();
  const before = await exportText(remoteStore(primary), "one");
  const standby = new MemoryBackend();
  to(standby);
  const restored = restoredBy(mine);
  say(theirs, "of another");
  await theirs.flush();
  const known = idsOf(mine);
  const last = say(mine, "d");
  await mine.flush();
  expect(restored).toEqual(known.slice(2));
  const after = await exportText(remoteStore(standby), "one");
  expect(after.startsWith(before.split("\n").slice(0, 4).join("\n"))).toBe(true);
  const fresh = await remoteStore(standby).open("one");
  expect(fresh.getPathIds(last)).toEqual([...known, last]);
  expect(fresh.getEntryCount()).toBe(5);
});

test("a session that was lost whole while its answer was awaited is made again", async () => {
  const { backend, to } = failover();
  let isLost = false;
  const losing = overBackend(backend, {
    append: async (...given) => {
      const receipt = await backend.append(...given);
      if (isLost) return receipt;
      isLost = true;
      to(new MemoryBackend());
      throw new Error("the connection was lost");
    },
  });
  const session = remoteStore(losing, QUICK).create({ cwd: "/p" });
  say(session, "one");
  await session.flush();
  say(session, "two");
  await session.flush();
  const fresh = await remoteStore(backend).open(session.getSessionId());
  expect(idsOf(fresh)).toEqual(idsOf(session));
  expect(fresh.issues).toEqual([]);
});

test("a session that was deleted in the place that took over stays deleted", async () => {
  const { backend, primary, to } = failover();
  const session = remoteStore(backend, QUICK).create({ cwd: "/p" });
  say(session, "one");
  await session.flush();
  const standby = new MemoryBackend();
  await replicate(primary, session.getSessionId(), standby);
  await standby.delete(session.getSessionId());
  to(standby);
  say(session, "two");
  await expect(session.flush()).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  expect(await all(remoteStore(standby).list())).toEqual([]);
});

test("a session that only reads appends nothing again, and says that it holds what is gone", async () => {
  const { backend, primary, to } = failover();
  const store = remoteStore(backend, QUICK);
  const session = store.create({ cwd: "/p" });
  say(session, "one");
  await session.flush();
  const standby = new MemoryBackend();
  await replicate(primary, session.getSessionId(), standby);
  say(session, "two");
  await session.flush();
  const reader = await store.open(session.getSessionId(), { mode: "read-only" });
  to(standby);
  await reader.pull();
  expect(reader.issues).toMatchObject([{ code: "WRITES_LOST" }]);
  expect(reader.getEntryCount()).toBe(1);
  expect((await standby.read(session.getSessionId(), 0, 10)).lines).toHaveLength(2);
  await session.pull();
  await reader.pull();
  expect(idsOf(reader)).toEqual(idsOf(session));
});

test("a redaction that was taken back is an issue, and nothing is appended again for it", async () => {
  const { backend, primary, to } = failover();
  const session = remoteStore(backend, QUICK).create({ cwd: "/p" });
  const secret = say(session, "the secret");
  await session.flush();
  const id = session.getSessionId();
  const standby = new MemoryBackend();
  await replicate(primary, id, standby);
  session.redact(secret);
  await session.flush();
  to(standby);
  const before = await exportText(remoteStore(standby), id);
  await expect(session.pull()).rejects.toMatchObject({ code: "WRITES_LOST" });
  expect(await exportText(remoteStore(standby), id)).toBe(before);
  expect(session.issues).toMatchObject([{ code: "WRITES_LOST" }]);
});

test("changes alone that were taken back are an issue, too", async () => {
  const { backend, primary, to } = failover();
  const session = remoteStore(backend, QUICK).create({ cwd: "/p" });
  say(session, "one");
  await session.flush();
  const id = session.getSessionId();
  const standby = new MemoryBackend();
  await replicate(primary, id, standby);
  const { lines } = await primary.read(id, 0, 10);
  const seq = lines.at(-1)?.seq ?? 0;
  const line = { text: (lines.at(-1)?.text ?? "").replace("one", "two") };
  await primary.amend(id, {
    expectedRevision: 0,
    replace: [{ seq, line }],
    remove: [],
    append: [],
    facts: {},
  });
  await session.pull();
  to(standby);
  await session.pull();
  expect(session.issues).toMatchObject([
    { code: "WRITES_LOST", message: expect.stringMatching(/redaction/) },
  ]);
});

test("what is lost right after it was taken, before others' lines were read, is sent again", async () => {
  const { backend, primary, to } = failover();
  const standby = new MemoryBackend();
  let isTaken = false;
  const losing = overBackend(backend, {
    append: async (...given) => {
      const receipt = await backend.append(...given);
      if (isTaken) to(standby);
      isTaken = false;
      return receipt;
    },
  });
  const session = remoteStore(losing, QUICK).create({ cwd: "/p" });
  say(session, "one");
  await session.flush();
  const id = session.getSessionId();
  await replicate(primary, id, standby);
  const other = await remoteStore(primary).open(id);
  say(other, "of another, lost for good");
  await other.flush();
  isTaken = true;
  const last = say(session, "two");
  await session.flush();
  const fresh = await remoteStore(standby).open(id);
  expect(fresh.getPathIds(last)).toEqual([...session.getPathIds(last)]);
  expect(fresh.getEntryCount()).toBe(2);
});

const step = fc.record({
  writer: fc.nat(2),
  what: fc.constantFrom(
    ...([
      "say",
      "say",
      "say",
      "many",
      "flush",
      "flush",
      "condition",
      "branch",
      "pull",
      "copy",
      "fail over",
    ] as const),
  ),
  at: fc.nat(50),
});

test("failovers at any moment: what a live process holds is there in the end, once, and nothing else", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
      const { backend, primary, to } = failover();
      let isSlow = false;
      const slow = overBackend(backend, {
        append: async (...given) => {
          const receipt = await backend.append(...given);
          if (isSlow) await new Promise((resolve) => setImmediate(resolve));
          return receipt;
        },
      });
      const first = remoteStore(slow, QUICK).create({ cwd: "/p" });
      say(first, "root");
      await first.flush();
      const id = first.getSessionId();
      const sessions = [first];
      for (let i = 0; i < 2; i++) sessions.push(await remoteStore(slow, QUICK).open(id));
      const appended = new Set(idsOf(first));
      for (const session of sessions) session.on("entry_appended", ({ entry }) => appended.add(entry.id));
      let [current, standby] = [primary, new MemoryBackend()];
      const calls: Promise<unknown>[] = [];
      for (const { writer, what, at } of steps) {
        const session = sessions[writer] ?? first;
        const known = idsOf(session);
        isSlow = at % 2 === 0;
        if (what === "say") say(session, `say ${at}`);
        if (what === "many") for (let i = 0; i < 5; i++) say(session, `many ${i}`);
        if (what === "branch") session.branch(known[at % known.length] ?? "");
        if (what === "flush") await session.flush();
        // What is gone whole is made again by an append, not by a look.
        const gone = (error: unknown) => expect(error).toMatchObject({ code: "SESSION_NOT_FOUND" });
        if (what === "pull") calls.push(session.pull().catch(gone));
        if (what === "condition") {
          const draft = { type: "custom", customType: "x", data: at } as const;
          const refused = (error: unknown) => expect(error).toMatchObject({ code: "STALE_LEAF" });
          calls.push(session.appendIfLeaf(draft).catch(refused));
        }
        if (what === "copy") {
          standby = new MemoryBackend();
          if ((await all(remoteStore(current).list())).length > 0) await replicate(current, id, standby);
        }
        if (what === "fail over") {
          [current, standby] = [standby, new MemoryBackend()];
          to(current);
        }
      }
      await Promise.all(calls);
      for (const session of sessions) {
        say(session, "last");
        await session.flush();
      }
      for (const session of [...sessions, ...sessions]) await session.pull();
      const fresh = await remoteStore(current).open(id);
      expect([...idsOf(fresh)].sort()).toEqual([...appended].sort());
      assertWhole(fresh);
      for (const session of sessions) expect(idsOf(session)).toEqual(idsOf(fresh));
    }),
    { numRuns: 300 },
  );
});
