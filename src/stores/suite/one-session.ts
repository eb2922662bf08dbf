import assert from "node:assert/strict";
import { copySession, type SessionStore } from "../contract/session-store.ts";
import { memoryStore } from "../remote/remote-store.ts";
import {
  all,
  assertWhole,
  CWD,
  cut,
  expectError,
  exportText,
  getIds,
  makeEntryText,
  makeHeaderLine,
  makeStored,
  reopen,
  type SuiteTest,
  say,
  testWith,
  user,
} from "./kit.ts";

const test = testWith();

/** Tests for a single session in a store. */
export const ONE_SESSION: readonly SuiteTest[] = [
  test("stores appended entries in order, as the lines of a file", async ({ store }) => {
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
    const lines = Buffer.from(await exportText(store, id), "latin1")
      .toString()
      .split("\n");
    assert.equal(lines.pop(), "");
    const records: unknown[] = lines.map((line) => JSON.parse(line));
    assert.deepEqual(records, [session.getHeader(), ...session.getEntries()]);
  }),
  test("stores a session with its first message, or immediately if requested", async ({ store }) => {
    const session = store.create({ cwd: CWD });
    session.appendModelChange("acme", "large");
    await session.flush();
    await expectError("SESSION_NOT_FOUND", () => store.open(session.getSessionId()));
    say(session, "hello");
    await session.flush();
    assert.equal((await store.open(session.getSessionId())).getEntryCount(), 2);
    const early = store.create({ cwd: CWD, id: "early", createAtOnce: true });
    await early.flush();
    assert.equal((await store.open("early")).getEntryCount(), 0);
    assert.equal((await all(store.list())).length, 2);
  }),
  test("accepts ids that are valid in file names, each only once", async ({ store }) => {
    for (const id of ["../up", "a b", ""]) {
      await expectError("INVALID_SESSION_ID", () =>
        store.create({ cwd: CWD, id, createAtOnce: true }).flush(),
      );
    }
    const first = store.create({ cwd: CWD, id: "mine", parentSession: "other" });
    say(first, "first");
    await first.flush();
    await expectError("SESSION_EXISTS", async () => {
      const second = store.create({ cwd: CWD, id: "mine", createAtOnce: true });
      say(second, "second");
      await second.flush();
    });
    const there = await store.open("mine");
    assert.deepEqual(getIds(there), getIds(first));
    assert.equal(there.getHeader()?.parentSession, "other");
  }),
  test("reports unknown ids", async ({ store }) => {
    await makeStored(store, "hello");
    for (const id of ["unknown", "", "../up", "a".repeat(300)]) {
      await expectError("SESSION_NOT_FOUND", () => store.open(id));
      await expectError("SESSION_NOT_FOUND", () => store.delete(id));
      await expectError("SESSION_NOT_FOUND", () => all(store.exportBytes(id)));
    }
    assert.equal((await all(store.list())).length, 1);
  }),
  test("appends nothing to a session that is closed or read-only", async ({ store }) => {
    const session = await makeStored(store, "hello");
    const before = await exportText(store, session.getSessionId());
    const reader = await store.open(session.getSessionId(), { mode: "read-only" });
    assert.throws(() => reader.appendMessage(user("no")), { code: "READ_ONLY" });
    await reader.close();
    await session.close();
    await session.close();
    assert.throws(() => session.appendMessage(user("no")), { code: "SESSION_CLOSED" });
    assert.equal(await exportText(store, session.getSessionId()), before);
  }),
  test("branches within a session, and into new sessions in the same store", async ({ store }) => {
    const session = await makeStored(store, "one", "two", "three");
    const [first = ""] = getIds(session);
    session.branch(first);
    const [other] = say(session, "another two");
    const fork = session.fork({ at: first });
    await Promise.all([session.flush(), fork.flush()]);
    assert.notEqual(fork.getSessionId(), session.getSessionId());
    const [again, copy] = await Promise.all([session, fork].map((one) => store.open(one.getSessionId())));
    assert.equal(again?.getLeafId(), other);
    assert.deepEqual(
      again?.getLeaves().map(({ id }) => id),
      [getIds(session)[2], other],
    );
    assert.equal(copy?.getEntryCount(), 1);
    assert.deepEqual(copy?.buildSessionContext().messages, [user("one")]);
    assert.notEqual(copy?.getHeader()?.parentSession, undefined);
  }),
  test("removes the content of an entry permanently", async ({ store }) => {
    const session = await makeStored(store, "the secret", "an answer");
    if (!store.supports.rewrite) {
      assert.throws(() => session.redactEntry(getIds(session)[0] ?? ""), { code: "WRITE_FAILED" });
      return;
    }
    const [secret = ""] = getIds(session);
    const record = session.redactEntry(secret);
    say(session, "behind");
    await session.flush();
    assert.ok(getIds(await reopen(store, session)).includes(record));
    assert.equal((await exportText(store, session.getSessionId())).includes("the secret"), false);
    assert.deepEqual(await all(store.search("secret")), []);
    for await (const one of store.list()) assert.equal(one.firstMessage, "[redacted]");
  }),
];

const ONE = makeEntryText("000000a1", null, "one");
const TWO = makeEntryText("000000a2", "000000a1", "two");

/** Returns valid sessions, and sessions that no program would write. Each character is one byte. */
function oddSessions(id: string): string[] {
  const header = makeHeaderLine(id);
  const inBytes = (text: string) => Buffer.from(text).toString("latin1");
  return [
    `${header}\n`,
    header,
    `${header}\n${ONE}\n${TWO}\n`,
    `${header}\n${ONE}\n${TWO}`,
    `${header}\r\n${ONE}\r\n${TWO}\r\n`,
    `\u00ef\u00bb\u00bf${header}\n${ONE}\n`,
    `${header}\n\n \t\n${ONE}\n\n\n${TWO}\n\n`,
    `{"type":"title","title":"before"}\n${header}\n${ONE}\n`,
    `${header}\n${ONE}\n${ONE}\n${header}\n${ONE}\n`,
    `${header}\n${ONE}${TWO}\n`,
    `${header}\n${ONE}\n{"type":"mess\n${TWO}\nno json at all\n`,
    `${header}\n${ONE}\n${TWO.slice(0, 40)}`,
    `${header}\n${ONE}\n\u0000\u0000\u0000\n${TWO}\n`,
    `${header}\n${ONE}\n\u00ff\u00fe \u0080 no text\n${TWO}\n\u00c3`,
    inBytes(`${header}\n${makeEntryText("000000b1", null, "€ 🌳 \u2028 \\u0000 \ud800")}\n`),
    `${header}\n{"type":"custom","customType":"x","data":"\\ud800\\u0000","id":"a\\u0000b","parentId":null,"timestamp":"never"}\n`,
    `${header}\n{"type":"message","message":{"role":"user","content":"no id"}}\n`,
    `${makeHeaderLine(id, 1)}\n{"type":"message","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"user","content":"old","timestamp":0}}\n`,
    `${makeHeaderLine(id, 9)}\n${ONE}\n`,
    `${header}\n${ONE}\n${`{"type":"x","id":"000000c1","parentId":"000000a1","more":"${"long ".repeat(50_000)}"}`}\n`,
  ];
}

async function imported(store: SessionStore, session: string, size = 1 << 16): Promise<string> {
  return store.importBytes(cut(Buffer.from(session, "latin1"), size));
}

/** Tests of the bytes in a store. */
export const BYTES: readonly SuiteTest[] = [
  test("returns the exact bytes of any session", async ({ store }) => {
    for (const [i, session] of oddSessions("odd").entries()) {
      assert.equal(await imported(store, session), "odd");
      assert.equal(await exportText(store, "odd"), session, `session ${i}`);
      await store.delete("odd");
    }
  }),
  test("appends entries unchanged, each only once", async ({ store }) => {
    const [one, two] = [ONE, TWO].map((text) => JSON.parse(text));
    await imported(store, `${makeHeaderLine("more")}\n${ONE}`);
    await store.appendEntries("more", [one, two]);
    await store.appendEntries("more", [two]);
    assert.equal(await exportText(store, "more"), `${makeHeaderLine("more")}\n${ONE}\n${TWO}\n`);
    await expectError("SESSION_NOT_FOUND", () => store.appendEntries("nowhere", [one]));
  }),
  test("accepts bytes that are split anywhere", async ({ store }) => {
    const session = `${makeHeaderLine("pieces")}\r\n\n${ONE}\n\u00e2\u0082\u00ac\u0000\n${TWO}`;
    for (const size of [1, 7, 100]) {
      await imported(store, session, size);
      assert.equal(await exportText(store, "pieces"), session);
      await store.delete("pieces");
    }
  }),
  test("copies a session to another store and back, and never overwrites a session", async ({ store }) => {
    const other = memoryStore();
    for (const session of oddSessions("travels")) {
      await imported(store, session);
      assert.equal(await copySession(store, "travels", other), "travels");
      await expectError("SESSION_EXISTS", () => copySession(other, "travels", store));
      await store.delete("travels");
      await copySession(other, "travels", store);
      assert.equal(await exportText(store, "travels"), session);
      await Promise.all([store.delete("travels"), other.delete("travels")]);
    }
    await expectError("SESSION_NOT_FOUND", () => copySession(store, "travels", other));
  }),
  test("refuses bytes that are not a session, and adds nothing", async ({ store }) => {
    const wrong = ["", "\n", `${ONE}\n`, '{"type":"session","version":3}\n', "not json"];
    for (const bytes of wrong) await expectError("NOT_A_SESSION", () => imported(store, bytes));
    await expectError("INVALID_SESSION_ID", () => imported(store, `${makeHeaderLine("../up")}\n`));
    const broken = async function* () {
      yield Buffer.from(`${makeHeaderLine("half")}\n${ONE}\n`);
      throw new RangeError("the source broke");
    };
    await assert.rejects(store.importBytes(broken()));
    await expectError("SESSION_NOT_FOUND", () => store.open("half"));
    assert.deepEqual(await all(store.list()), []);
  }),
  test("continues a session whose last line has no line break or is incomplete", async ({ store }) => {
    for (const tail of [TWO, TWO.slice(0, 60)]) {
      const session = `${makeHeaderLine("open")}\n${ONE}\n${tail}`;
      await imported(store, session);
      const opened = await store.open("open");
      const [added] = say(opened, "behind");
      await opened.close();
      const bytes = await exportText(store, "open");
      assert.ok(bytes.startsWith(`${session}\n`), "the old bytes remain, followed by a line break");
      assert.ok(bytes.endsWith("\n"));
      const again = await store.open("open");
      assert.equal(again.getLeafId(), added);
      assert.ok(again.getEntry("000000a1"));
      await store.delete("open");
    }
  }),
  test("upgrades a session of an old version when it grows, if the store can", async ({ store }) => {
    const message = (content: string) =>
      JSON.stringify({
        type: "message",
        timestamp: "2025-01-01T00:00:00.000Z",
        message: { role: "user", content, timestamp: 0 },
      });
    await imported(store, `${makeHeaderLine("old", 1)}\n${message("one")}\n${message("two")}\n`);
    const session = await store.open("old");
    const before = session.buildSessionContext();
    assert.equal(before.messages.length, 2);
    if (!store.supports.rewrite) {
      assert.throws(() => say(session, "three"), { code: "WRITE_FAILED" });
      return;
    }
    say(session, "three");
    await session.flush();
    const again = await store.open("old");
    assert.equal(again.getHeader()?.version, 3);
    assert.deepEqual(again.buildSessionContext(), session.buildSessionContext());
    assert.deepEqual(again.buildSessionContext().messages.slice(0, 2), before.messages);
    assert.deepEqual(again.issues, []);
  }),
  test("leaves a session of a newer version alone", async ({ store }) => {
    await imported(store, `${makeHeaderLine("new", 9)}\n${ONE}\n`);
    const session = await store.open("new");
    assert.throws(() => say(session, "no"), { code: "VERSION_TOO_NEW" });
    await makeStored(store, "another one");
    assert.equal(await exportText(store, "new"), `${makeHeaderLine("new", 9)}\n${ONE}\n`);
  }),
];
