import assert from "node:assert/strict";
import { copySession, type SessionStore } from "../contract/session-store.ts";
import { memoryStore } from "../remote/remote-store.ts";
import {
  all,
  cut,
  entryText,
  exported,
  failsWith,
  headerText,
  type SuiteTest,
  say,
  stored,
  testWith,
} from "./kit.ts";

const test = testWith();

const ONE = entryText("000000a1", null, "one");
const TWO = entryText("000000a2", "000000a1", "two");

/** Sessions as they occur, and as nobody would write them; a character is a byte. */
function oddSessions(id: string): string[] {
  const header = headerText(id);
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
    inBytes(`${header}\n${entryText("000000b1", null, "€ 🌳 \u2028 \\u0000 \ud800")}\n`),
    `${header}\n{"type":"custom","customType":"x","data":"\\ud800\\u0000","id":"a\\u0000b","parentId":null,"timestamp":"never"}\n`,
    `${header}\n{"type":"message","message":{"role":"user","content":"no id"}}\n`,
    `${headerText(id, 1)}\n{"type":"message","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"user","content":"old","timestamp":0}}\n`,
    `${headerText(id, 9)}\n${ONE}\n`,
    `${header}\n${ONE}\n${`{"type":"x","id":"000000c1","parentId":"000000a1","more":"${"long ".repeat(50_000)}"}`}\n`,
  ];
}

async function imported(store: SessionStore, session: string, size = 1 << 16): Promise<string> {
  return store.importBytes(cut(Buffer.from(session, "latin1"), size));
}

/** What a store does with bytes. */
export const BYTES: readonly SuiteTest[] = [
  test("gives back the very bytes of a session, whatever they are", async ({ store }) => {
    for (const [i, session] of oddSessions("odd").entries()) {
      assert.equal(await imported(store, session), "odd");
      assert.equal(await exported(store, "odd"), session, `session ${i}`);
      await store.delete("odd");
    }
  }),
  test("appends entries as they are, each once", async ({ store }) => {
    const [one, two] = [ONE, TWO].map((text) => JSON.parse(text));
    await imported(store, `${headerText("more")}\n${ONE}`);
    await store.appendEntries("more", [one, two]);
    await store.appendEntries("more", [two]);
    assert.equal(await exported(store, "more"), `${headerText("more")}\n${ONE}\n${TWO}\n`);
    await failsWith("SESSION_NOT_FOUND", () => store.appendEntries("nowhere", [one]));
  }),
  test("takes bytes that are cut anywhere", async ({ store }) => {
    const session = `${headerText("pieces")}\r\n\n${ONE}\n\u00e2\u0082\u00ac\u0000\n${TWO}`;
    for (const size of [1, 7, 100]) {
      await imported(store, session, size);
      assert.equal(await exported(store, "pieces"), session);
      await store.delete("pieces");
    }
  }),
  test("brings a session to another store and back, and never overwrites one", async ({ store }) => {
    const other = memoryStore();
    for (const session of oddSessions("travels")) {
      await imported(store, session);
      assert.equal(await copySession(store, "travels", other), "travels");
      await failsWith("SESSION_EXISTS", () => copySession(other, "travels", store));
      await store.delete("travels");
      await copySession(other, "travels", store);
      assert.equal(await exported(store, "travels"), session);
      await Promise.all([store.delete("travels"), other.delete("travels")]);
    }
    await failsWith("SESSION_NOT_FOUND", () => copySession(store, "travels", other));
  }),
  test("refuses bytes that are no session, and adds nothing", async ({ store }) => {
    const wrong = ["", "\n", `${ONE}\n`, '{"type":"session","version":3}\n', "not json"];
    for (const bytes of wrong) await failsWith("NOT_A_SESSION", () => imported(store, bytes));
    await failsWith("INVALID_SESSION_ID", () => imported(store, `${headerText("../up")}\n`));
    const broken = async function* () {
      yield Buffer.from(`${headerText("half")}\n${ONE}\n`);
      throw new RangeError("the source broke");
    };
    await assert.rejects(store.importBytes(broken()));
    await failsWith("SESSION_NOT_FOUND", () => store.open("half"));
    assert.deepEqual(await all(store.list()), []);
  }),
  test("goes on with a session whose last line has no end, and with a torn one", async ({ store }) => {
    for (const tail of [TWO, TWO.slice(0, 60)]) {
      const session = `${headerText("open")}\n${ONE}\n${tail}`;
      await imported(store, session);
      const opened = await store.open("open");
      const [added] = say(opened, "behind");
      await opened.close();
      const bytes = await exported(store, "open");
      assert.ok(bytes.startsWith(`${session}\n`), "the old bytes stay, with a line break behind them");
      assert.ok(bytes.endsWith("\n"));
      const again = await store.open("open");
      assert.equal(again.getLeafId(), added);
      assert.ok(again.getEntry("000000a1"));
      await store.delete("open");
    }
  }),
  test("brings a session of an old version to the current one when it grows, if it can", async ({
    store,
  }) => {
    const message = (content: string) =>
      JSON.stringify({
        type: "message",
        timestamp: "2025-01-01T00:00:00.000Z",
        message: { role: "user", content, timestamp: 0 },
      });
    await imported(store, `${headerText("old", 1)}\n${message("one")}\n${message("two")}\n`);
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
    await imported(store, `${headerText("new", 9)}\n${ONE}\n`);
    const session = await store.open("new");
    assert.throws(() => say(session, "no"), { code: "VERSION_TOO_NEW" });
    await stored(store, "another one");
    assert.equal(await exported(store, "new"), `${headerText("new", 9)}\n${ONE}\n`);
  }),
];
