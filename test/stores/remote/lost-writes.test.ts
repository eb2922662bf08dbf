import type { SessionManager } from "sessiontree";
import { remoteStore, type SessionBackend } from "sessiontree/stores";
import { describe, expect, test } from "vitest";
import { parseEntryFacts } from "../../../src/stores/contract/line-facts.ts";
import { makeEntryLine } from "../../../src/stores/remote/line-codec.ts";
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

/** A backend that another one replaces, as after a failover. */
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

async function* once(bytes: string): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(bytes);
}

/** Copies a session to a backend with its lines' positions, as replication does. */
async function replicate(from: MemoryBackend, id: string, to: MemoryBackend): Promise<void> {
  const { lines } = await from.read(id, 0, 10_000);
  const first = Math.max(
    1,
    lines.findIndex(({ text }) => parseEntryFacts(text, false) !== undefined),
  );
  const begin = lines.slice(0, first).map(({ text }) => `${text}\n`);
  await remoteStore(to).importBytes(once(begin.join("")));
  let end = first;
  for (const { seq, text } of lines.slice(first)) {
    await to.append(id, [makeEntryLine(text, true)], { gap: seq - end - 1 });
    end = seq;
  }
}

test("recreates a completely lost session with the same bytes, from whichever process appends first", async () => {
  const { backend, primary, to } = failover();
  const bytes = [
    '{"type":"session","version":3,"id":"one","timestamp":"2026-03-01T12:00:00.000Z","cwd":"/p"}',
    "damage \r",
    '{"type":"message","id":"000000a1","parentId":null,"timestamp":"2026-03-01T12:00:00.000Z","message":{"role":"user","content":"a"}}',
    "",
  ].join("\n");
  await remoteStore(backend).importBytes(once(bytes));
  const [mine, theirs] = [
    await remoteStore(backend, QUICK).open("one"),
    await remoteStore(backend, QUICK).open("one"),
  ];
  say(mine, "b");
  await mine.flush();
  await theirs.refreshAsync();
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

test("recreates a session that was completely lost while its answer was pending", async () => {
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

test("keeps a session deleted that was deleted in the promoted backend", async () => {
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

test("appends nothing from a read-only session, and reports that it holds lost entries", async () => {
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
  await reader.refreshAsync();
  expect(reader.issues).toMatchObject([{ code: "WRITES_LOST" }]);
  expect(reader.getEntryCount()).toBe(1);
  expect((await standby.read(session.getSessionId(), 0, 10)).lines).toHaveLength(2);
  await session.refreshAsync();
  await reader.refreshAsync();
  expect(idsOf(reader)).toEqual(idsOf(session));
});

test("reports a lost redaction as an issue, and appends nothing for it", async () => {
  const { backend, primary, to } = failover();
  const session = remoteStore(backend, QUICK).create({ cwd: "/p" });
  const secret = say(session, "the secret");
  await session.flush();
  const id = session.getSessionId();
  const standby = new MemoryBackend();
  await replicate(primary, id, standby);
  session.redactEntry(secret);
  await session.flush();
  to(standby);
  const before = await exportText(remoteStore(standby), id);
  await expect(session.refreshAsync()).rejects.toMatchObject({ code: "WRITES_LOST" });
  expect(await exportText(remoteStore(standby), id)).toBe(before);
  expect(session.issues).toMatchObject([{ code: "WRITES_LOST" }]);
});

test("reports lost changes without lost entries as an issue, too", async () => {
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
  await session.refreshAsync();
  to(standby);
  await session.refreshAsync();
  expect(session.issues).toMatchObject([
    { code: "WRITES_LOST", message: expect.stringMatching(/redaction/) },
  ]);
});

test("resends what is lost right after its acceptance, before other writers' lines were read", async () => {
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

test("resends a lost conditional entry without its condition", async () => {
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
  const other = await remoteStore(standby).open(id);
  say(other, "of another");
  await other.flush();
  isTaken = true;
  await session.appendIfLeaf({ type: "custom", customType: "x", data: 1 });
  const fresh = await remoteStore(standby).open(id);
  expect(fresh.getEntries().map(({ type }) => type)).toEqual(["message", "message", "custom"]);
  expect(idsOf(session)).toEqual(idsOf(fresh));
});

/** Returns a backend that answers in pages of one line, and calls `between` after the first page that ends with an entry. */
function pageByPage(backend: SessionBackend, between: () => void): SessionBackend {
  let isCalled = false;
  return overBackend(backend, {
    read: async (id, afterSeq, _limit, entryId) => {
      const page = await backend.read(id, afterSeq, 1, entryId);
      const { text = "" } = page.lines[0] ?? {};
      if (!isCalled && text.includes("lost")) {
        isCalled = true;
        between();
      }
      return page;
    },
  });
}

test("a session that is opened while a failover removes lines of its first pages has none of them", async () => {
  const { backend, primary, to } = failover();
  const session = remoteStore(backend, QUICK).create({ cwd: "/p", id: "one" });
  say(session, "root");
  await session.flush();
  const standby = new MemoryBackend();
  await replicate(primary, "one", standby);
  say(session, "lost");
  await session.flush();
  say(session, "lost, too");
  await session.flush();
  const other = await remoteStore(standby).open("one");
  say(other, "instead");
  await other.flush();
  const opened = await remoteStore(
    pageByPage(backend, () => to(standby)),
    QUICK,
  ).open("one");
  expect(idsOf(opened)).toEqual(idsOf(other));
});

test("a session that is reread while a failover removes lines of its first pages has none of them", async () => {
  const { backend, primary, to } = failover();
  const session = remoteStore(backend, QUICK).create({ cwd: "/p", id: "one" });
  say(session, "root");
  await session.flush();
  const standbys = [new MemoryBackend(), new MemoryBackend()] as const;
  for (const standby of standbys) await replicate(primary, "one", standby);
  say(session, "kept");
  await session.flush();
  const [kept] = (await primary.read("one", 2, 1)).lines.map(({ text }) => makeEntryLine(text, true));
  if (kept === undefined) throw new Error("nothing was kept");
  say(await remoteStore(standbys[0]).open("one"), "lost");
  await expect.poll(async () => (await standbys[0].read("one", 2, 1)).lines.length).toBe(1);
  for (const standby of standbys) await standby.append("one", [kept], { gap: 2 ** 25 });
  const reader = await remoteStore(
    pageByPage(backend, () => to(standbys[1])),
    QUICK,
  ).open("one");
  to(standbys[0]);
  await reader.refreshAsync();
  expect(idsOf(reader)).toEqual(idsOf(await remoteStore(standbys[1]).open("one")));
});

describe("restores what is lost between a check and the subsequent read", () => {
  /** Returns a process that holds an entry that `lose` loses, with a hook into its calls. */
  async function holderOfLost() {
    const { backend, primary, to } = failover();
    const standby = new MemoryBackend();
    const on: { append?: () => void; amend?: () => void; amended?: () => void } = {};
    const hooked = overBackend(backend, {
      append: async (...given) => {
        const receipt = await backend.append(...given);
        on.append?.();
        return receipt;
      },
      amend: async (...given) => {
        on.amend?.();
        const receipt = await backend.amend?.(...given);
        on.amended?.();
        return receipt;
      },
    });
    const session = remoteStore(hooked, QUICK).create({ cwd: "/p" });
    const root = say(session, "the secret");
    await session.flush();
    const id = session.getSessionId();
    await replicate(primary, id, standby);
    const lost = say(session, "lost");
    await session.flush();
    const lose = () => {
      to(standby);
      for (const name of ["append", "amend", "amended"] as const) delete on[name];
    };
    const assertThere = async (text: RegExp) => {
      const fresh = await remoteStore(standby).open(id);
      expect(idsOf(fresh)).toContain(lost);
      expect(idsOf(session)).toEqual(idsOf(fresh));
      expect(await exportText(remoteStore(standby), id)).toMatch(text);
    };
    return { primary, session, root, id, on, lose, assertThere };
  }

  test("after an append to a session that another process has redacted", async () => {
    const { primary, session, root, id, on, lose, assertThere } = await holderOfLost();
    const other = await remoteStore(primary).open(id);
    other.redactEntry(root);
    await other.flush();
    on.append = lose;
    say(session, "next");
    await session.flush();
    await assertThere(/next/);
  });

  test.each(["amend", "amended"] as const)("in a redaction, when its call is at %s", async (moment) => {
    const { session, root, on, lose, assertThere } = await holderOfLost();
    on[moment] = lose;
    session.redactEntry(root);
    await session.flush();
    await assertThere(/^((?!the secret).)*$/s);
  });
});

/** Entries that a process alone holds, at positions that other writers' entries got after a failover. */
describe("restores what a process holds although its last known line is in the same position", () => {
  /**
   * Returns a process that has the entries root, lost, and kept, and two that have only what they wrote: one wrote root, the
   * other kept, without having read what is before it.
   */
  async function threeProcesses({ isWriterGone = false } = {}) {
    const { backend, primary, to } = failover();
    const other = remoteStore(backend, QUICK).create({ cwd: "/p", id: "one" });
    say(other, "root");
    await other.flush();
    const standbys = [new MemoryBackend(), new MemoryBackend()] as const;
    for (const standby of standbys) await replicate(primary, "one", standby);
    const holder = await remoteStore(backend, QUICK).open("one");
    let canRead = true;
    const read: SessionBackend["read"] = async (...given) => {
      if (!canRead) throw new Error("the connection was lost");
      return backend.read(...given);
    };
    const late = await remoteStore(overBackend(backend, { read }), QUICK).open("one");
    const writer = isWriterGone ? await remoteStore(backend, QUICK).open("one") : holder;
    const lost = say(writer, "lost");
    await writer.flush();
    if (isWriterGone) await writer.close();
    canRead = false;
    const kept = say(late, "kept");
    await expect.poll(async () => (await primary.read("one", 0, 10)).lines.length).toBe(4);
    await holder.refreshAsync();
    expect(idsOf(holder)).toContain(kept);
    /** Replaces the lost entry with another one that the kept one follows. */
    const replaceLost = async () => {
      say(other, "instead");
      await other.flush();
      canRead = true;
      await late.flush();
    };
    const assertAllThere = async () => {
      for (const session of [holder, other, late]) await session.refreshAsync();
      const fresh = await remoteStore(backend).open("one");
      expect(idsOf(fresh)).toContain(lost);
      assertWhole(fresh);
      for (const session of [holder, other, late]) expect(idsOf(session)).toEqual(idsOf(fresh));
    };
    return { to, standbys, holder, other, late, replaceLost, assertAllThere };
  }

  test.each(["itself", "a process that has exited"])("if it was written by %s", async (writer) => {
    const { to, standbys, holder, replaceLost, assertAllThere } = await threeProcesses({
      isWriterGone: writer !== "itself",
    });
    to(standbys[0]);
    await replaceLost();
    say(holder, "next");
    await holder.flush();
    await assertAllThere();
  });

  test("if the whole session was recreated", async () => {
    const { to, holder, replaceLost, assertAllThere } = await threeProcesses();
    to(new MemoryBackend());
    await replaceLost();
    say(holder, "next");
    await holder.flush();
    await assertAllThere();
  });

  test("if more was appended after it", async () => {
    const { to, standbys, holder, other, replaceLost, assertAllThere } = await threeProcesses();
    to(standbys[0]);
    await replaceLost();
    say(other, "more");
    await other.flush();
    say(holder, "next");
    await holder.flush();
    await assertAllThere();
  });

  test("if the process only reads", async () => {
    const { to, standbys, holder, replaceLost, assertAllThere } = await threeProcesses();
    to(standbys[0]);
    await replaceLost();
    await holder.refreshAsync();
    await assertAllThere();
  });

  test("if the process redacts", async () => {
    const { to, standbys, holder, replaceLost, assertAllThere } = await threeProcesses();
    to(standbys[0]);
    await replaceLost();
    holder.redactEntry(idsOf(holder)[0] ?? "");
    await holder.flush();
    await assertAllThere();
  });

  test("if another process restored it there", async () => {
    const { to, standbys, holder, late, replaceLost, assertAllThere } = await threeProcesses();
    to(standbys[0]);
    await replaceLost();
    to(standbys[1]);
    await late.refreshAsync();
    say(holder, "next");
    await holder.flush();
    await assertAllThere();
  });
});

const nextTask = () => new Promise<void>((resolve) => setImmediate(resolve));

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
      "wait",
      "wait",
      "condition",
      "branch",
      "pull",
      "copy",
      "fail over",
    ] as const),
  ),
  at: fc.nat(50),
});

test("stores what a live process holds exactly once, and nothing else, after failovers at any moment", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
      const { backend, primary, to } = failover();
      let isSlow = false;
      const slowly = async <T>(call: () => Promise<T>): Promise<T> => {
        const answer = await call();
        if (isSlow) await nextTask();
        return answer;
      };
      const slow = overBackend(backend, {
        create: (...given) => slowly(() => backend.create(...given)),
        read: (...given) => slowly(() => backend.read(...given)),
        append: (...given) => slowly(() => backend.append(...given)),
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
        if (what === "wait") await nextTask();
        // A completely lost session is recreated by an append, not by a read.
        const gone = (error: unknown) => expect(error).toMatchObject({ code: "SESSION_NOT_FOUND" });
        if (what === "pull") calls.push(session.refreshAsync().catch(gone));
        if (what === "condition") {
          const draft = { type: "custom" as const, customType: "x", data: at } as const;
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
      for (const session of [...sessions, ...sessions]) await session.refreshAsync();
      const fresh = await remoteStore(current).open(id);
      expect([...idsOf(fresh)].sort()).toEqual([...appended].sort());
      assertWhole(fresh);
      for (const session of sessions) expect(idsOf(session)).toEqual(idsOf(fresh));
    }),
    { numRuns: 300 },
  );
});
