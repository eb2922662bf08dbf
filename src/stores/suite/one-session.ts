import assert from "node:assert/strict";
import {
  all,
  assertWhole,
  CWD,
  exported,
  failsWith,
  idsOf,
  openedAnew,
  type SuiteTest,
  say,
  stored,
  testWith,
  user,
} from "./kit.ts";

const test = testWith();

/** What a session of a store does. */
export const ONE_SESSION: readonly SuiteTest[] = [
  test("keeps what was appended, in order, as the lines of a file", async ({ store }) => {
    const session = store.create({ cwd: CWD });
    session.appendModelChange("acme", "large");
    const ids = say(session, ...Array.from({ length: 60 }, (_, i) => `message ${i} €🌳\u2028`));
    await session.flush();
    ids.push(...say(session, "later", "last"));
    await session.close();
    const id = session.getSessionId();
    const again = await store.open(id);
    assert.deepEqual(again.getEntries(), session.getEntries());
    assert.deepEqual(again.getHeader(), session.getHeader());
    assert.equal(again.getCwd(), CWD);
    assert.deepEqual(again.buildSessionContext(), session.buildSessionContext());
    assert.equal(again.getLeafId(), ids.at(-1));
    assertWhole(again);
    const lines = Buffer.from(await exported(store, id), "latin1")
      .toString()
      .split("\n");
    assert.equal(lines.pop(), "");
    const records: unknown[] = lines.map((line) => JSON.parse(line));
    assert.deepEqual(records, [session.getHeader(), ...session.getEntries()]);
  }),
  test("is there with the first message and not before, or at once if asked for", async ({ store }) => {
    const session = store.create({ cwd: CWD });
    session.appendModelChange("acme", "large");
    await session.flush();
    await failsWith("SESSION_NOT_FOUND", () => store.open(session.getSessionId()));
    say(session, "hello");
    await session.flush();
    assert.equal((await store.open(session.getSessionId())).getEntryCount(), 2);
    const early = store.create({ cwd: CWD, id: "early", createAtOnce: true });
    await early.flush();
    assert.equal((await store.open("early")).getEntryCount(), 0);
    assert.equal((await all(store.list())).length, 2);
  }),
  test("takes ids that may be part of a file's name, and each once", async ({ store }) => {
    for (const id of ["../up", "a b", ""]) {
      await failsWith("INVALID_SESSION_ID", () => store.create({ cwd: CWD, id, createAtOnce: true }).flush());
    }
    const first = store.create({ cwd: CWD, id: "mine", parentSession: "other" });
    say(first, "first");
    await first.flush();
    await failsWith("SESSION_EXISTS", async () => {
      const second = store.create({ cwd: CWD, id: "mine", createAtOnce: true });
      say(second, "second");
      await second.flush();
    });
    const there = await store.open("mine");
    assert.deepEqual(idsOf(there), idsOf(first));
    assert.equal(there.getHeader()?.parentSession, "other");
  }),
  test("knows nothing of ids that it does not have", async ({ store }) => {
    await stored(store, "hello");
    for (const id of ["unknown", "", "../up", "a".repeat(300)]) {
      await failsWith("SESSION_NOT_FOUND", () => store.open(id));
      await failsWith("SESSION_NOT_FOUND", () => store.delete(id));
      await failsWith("SESSION_NOT_FOUND", () => all(store.exportBytes(id)));
    }
    assert.equal((await all(store.list())).length, 1);
  }),
  test("appends nothing to a session that is closed or read-only", async ({ store }) => {
    const session = await stored(store, "hello");
    const before = await exported(store, session.getSessionId());
    const reader = await store.open(session.getSessionId(), { mode: "read-only" });
    assert.throws(() => reader.appendMessage(user("no")), { code: "READ_ONLY" });
    await reader.close();
    await session.close();
    await session.close();
    assert.throws(() => session.appendMessage(user("no")), { code: "SESSION_CLOSED" });
    assert.equal(await exported(store, session.getSessionId()), before);
  }),
  test("branches within a session, and into new ones of the same store", async ({ store }) => {
    const session = await stored(store, "one", "two", "three");
    const [first = ""] = idsOf(session);
    session.branch(first);
    const [other] = say(session, "another two");
    const fork = session.forkSibling(first);
    await Promise.all([session.flush(), fork.flush()]);
    assert.notEqual(fork.getSessionId(), session.getSessionId());
    const [again, copy] = await Promise.all([session, fork].map((one) => store.open(one.getSessionId())));
    assert.equal(again?.getLeafId(), other);
    assert.deepEqual(
      again?.getLeaves().map(({ id }) => id),
      [idsOf(session)[2], other],
    );
    assert.equal(copy?.getEntryCount(), 1);
    assert.deepEqual(copy?.buildSessionContext().messages, [user("one")]);
    assert.notEqual(copy?.getHeader()?.parentSession, undefined);
  }),
  test("takes the content of an entry out of the place for good", async ({ store }) => {
    const session = await stored(store, "the secret", "an answer");
    if (!store.supports.rewrite) {
      assert.throws(() => session.redact(idsOf(session)[0] ?? ""), { code: "WRITE_FAILED" });
      return;
    }
    const [secret = ""] = idsOf(session);
    const record = session.redact(secret);
    say(session, "behind");
    await session.flush();
    assert.ok(idsOf(await openedAnew(store, session)).includes(record));
    assert.equal((await exported(store, session.getSessionId())).includes("the secret"), false);
    assert.deepEqual(await all(store.search("secret")), []);
    for await (const one of store.list()) assert.equal(one.firstMessage, "[redacted]");
  }),
];
