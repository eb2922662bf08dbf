import assert from "node:assert/strict";
import type { SessionRow } from "../../session/files/session-row.ts";
import type { ListInStoreOptions, SessionStore } from "../contract/session-store.ts";
import { collectStoreUsage } from "../contract/store-usage.ts";
import {
  all,
  CWD,
  cut,
  expectError,
  exportText,
  getIds,
  makeEntryText,
  makeHeaderLine,
  makeStored,
  START_MS,
  type SuiteTest,
  say,
  testWith,
  user,
} from "./kit.ts";

const test = testWith();

/** Creates sessions, each one second later than the previous one. */
async function makeMany(store: SessionStore, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    const at = START_MS + i * 1_000;
    const session = store.create({ cwd: i % 3 === 0 ? "/projects/third" : CWD, now: () => at });
    if (i % 2 === 0) session.appendSessionInfo(`Name ${i}`);
    session.appendMessage(user(`first of ${i}`, at));
    session.appendMessage(user(`second of ${i}`, at));
    await session.close();
    ids.unshift(session.getSessionId());
  }
  return ids;
}

const listed = async (store: SessionStore, options?: ListInStoreOptions) =>
  (await all(store.list(options))).map(({ id }) => id);

const formatHit = ({
  entryId,
  role,
  snippet,
  match,
}: {
  entryId: string;
  role: string;
  snippet: string;
  match: { start: number; length: number };
}) => `${entryId} ${role} ${snippet.slice(match.start, match.start + match.length).toLowerCase()}`;

/** Tests for stores with many sessions. */
export const MANY_SESSIONS: readonly SuiteTest[] = [
  test("lists and finds nothing in an empty store", async ({ store }) => {
    assert.deepEqual(await all(store.list()), []);
    assert.deepEqual(await all(store.search("word")), []);
  }),
  test("closes at the end of await using", async ({ store }) => {
    const session = store.create({ cwd: CWD });
    session.appendMessage(user("kept"));
    await store[Symbol.asyncDispose]();
    // The session was written before the store closed. Closing again has no effect.
    await session.flush();
    await store.close();
  }),
  test("lists sessions with their facts, most recently modified first", async ({ store }) => {
    const ids = await makeMany(store, 7);
    const sessions = await all(store.list());
    assert.deepEqual(
      sessions.map(({ id }) => id),
      ids,
    );
    // A file store adds paths.
    const { path: _, ...latest } = sessions[0] ?? {};
    const expected: SessionRow = {
      id: ids[0] ?? "",
      cwd: "/projects/third",
      name: "Name 6",
      title: "Name 6",
      created: new Date(START_MS + 6_000),
      modified: new Date(START_MS + 6_000),
      messageCount: 2,
      firstMessage: "first of 6",
    };
    assert.deepEqual(latest, expected);
    assert.equal("name" in (sessions[1] ?? {}), false);
    const oldest = await store.open(ids[6] ?? "", { now: () => START_MS + 60_000 });
    oldest.appendMessage(user("once more", START_MS + 60_000));
    oldest.appendSessionInfo("");
    await oldest.close();
    const [first] = await all(store.list());
    assert.deepEqual([first?.id, first?.messageCount, first?.name], [ids[6], 3, undefined]);
    assert.equal(first?.title, "first of 0");
  }),
  test("lists by project, name, and beginning of the id", async ({ store }) => {
    const ids = await makeMany(store, 7);
    const at = (...places: number[]) => places.map((i) => ids[6 - i]);
    assert.deepEqual(await listed(store, { cwd: "/projects/third" }), at(6, 3, 0));
    assert.deepEqual(await listed(store, { cwd: "/projects/none" }), []);
    assert.deepEqual(await listed(store, { name: "nAME" }), at(6, 4, 2, 0));
    assert.deepEqual(await listed(store, { name: "Name 4" }), at(4));
    assert.deepEqual(await listed(store, { name: "%" }), []);
    assert.deepEqual(await listed(store, { name: "name", cwd: "/projects/third" }), at(6, 0));
    assert.deepEqual(await listed(store, { idPrefix: ids[2] ?? "" }), [ids[2]]);
    assert.deepEqual(await listed(store, { idPrefix: "_" }), []);
  }),
  test("lists page by page, each session once", async ({ store }) => {
    const ids = await makeMany(store, 9);
    for (const limit of [1, 2, 4, 9, 20]) {
      const found: string[] = [];
      for (let after: SessionRow | undefined; ; ) {
        const page: SessionRow[] = await all(store.list({ limit, ...(after && { after }) }));
        assert.ok(page.length <= limit);
        found.push(...page.map(({ id }) => id));
        after = page.at(-1);
        if (after === undefined) break;
        assert.ok(found.length <= ids.length, "a list ends");
      }
      assert.deepEqual(found, ids, `pages of ${limit}`);
    }
    assert.deepEqual(await listed(store, { limit: 0 }), []);
  }),
  test("lists sessions with the same time in the order of their ids, also page by page", async ({
    store,
  }) => {
    // No two ids differ only in case, because some file systems treat them as the same file.
    for (const id of ["d", "B", "c", "a", "a.1", "a-1"]) {
      const session = store.create({ cwd: CWD, id, now: () => START_MS });
      say(session, "hello");
      await session.close();
    }
    const expected = ["B", "a", "a-1", "a.1", "c", "d"];
    assert.deepEqual(await listed(store), expected);
    const found: string[] = [];
    for (const id of expected.slice(0, -1)) {
      found.push(...(await listed(store, { limit: 1, after: { id, modified: new Date(START_MS) } })));
    }
    assert.deepEqual(found, expected.slice(1));
  }),
  test("deletes one session and no others", async ({ store }) => {
    const [kept = "", gone = ""] = await makeMany(store, 2);
    await store.delete(gone);
    assert.deepEqual(await listed(store), [kept]);
    await expectError("SESSION_NOT_FOUND", () => store.open(gone));
    await expectError("SESSION_NOT_FOUND", () => store.delete(gone));
    assert.equal((await store.open(kept)).getEntryCount(), 2);
    const again = store.create({ cwd: CWD, id: gone });
    say(again, "the id is free again");
    await again.close();
    assert.equal((await store.open(gone)).getEntryCount(), 1);
  }),
  test("finds the entries that contain all words of a query", async ({ store }) => {
    const session = await makeStored(store, "the quick brown fox", "the lazy dog", "QUICK and lazy");
    const [quick, lazy, both] = getIds(session);
    session.appendCustomMessageEntry("note", "quick note", true);
    await session.flush();
    const note = session.getLeafId();
    const other = store.create({ cwd: "/projects/other" });
    say(other, "quick elsewhere");
    await other.close();
    const find = async (...given: Parameters<SessionStore["search"]>) =>
      (await all(store.search(...given))).map(formatHit).sort();
    const sorted = (...hits: string[]) => hits.sort();
    const elsewhere = other.getLeafId();
    assert.deepEqual(await find("lazy"), sorted(`${lazy} user lazy`, `${both} user lazy`));
    assert.deepEqual(await find("Quick lazy"), [`${both} user quick`]);
    assert.deepEqual(
      await find("quick", { cwd: CWD }),
      sorted(`${quick} user quick`, `${both} user quick`, `${note} custom quick`),
    );
    assert.deepEqual(await find("quick", { cwd: "/projects/other" }), [`${elsewhere} user quick`]);
    assert.deepEqual(await find("quick", { roles: ["custom"] }), [`${note} custom quick`]);
    assert.equal((await find("quick", { limit: 2 })).length, 2);
    assert.equal((await find("quick")).length, 4);
    for (const none of ["", "  ", "absent", "quick absent", "timestamp"])
      assert.deepEqual(await find(none), []);
    const [hit] = await all(store.search("elsewhere"));
    assert.equal(hit?.session.id, other.getSessionId());
    assert.equal(hit?.session.cwd, "/projects/other");
  }),
  test("aborts a list, a search, and an open on request", async ({ store }) => {
    await makeStored(store, "hello");
    const signal = AbortSignal.abort();
    await expectError("ABORTED", () => all(store.list({ signal })));
    await expectError("ABORTED", () => all(store.search("hello", { signal })));
    for await (const { id } of store.list()) await expectError("ABORTED", () => store.open(id, { signal }));
  }),
];

/** Returns the ISO time a number of milliseconds after the header's time. */
const iso = (ms: number) => new Date(START_MS + ms).toISOString();

const entry = (type: string, id: string, ms: number, fields: object) =>
  JSON.stringify({ type, id, parentId: null, timestamp: iso(ms), ...fields });

const message = (id: string, ms: number, fields: object) =>
  entry("message", id, ms, { message: { content: id, ...fields } });

const said = (id: string, ms: number) => makeEntryText(id, null, id, START_MS + ms);
const titled = (title: string) => JSON.stringify({ ...JSON.parse(makeHeaderLine("row")), title });
const named = (id: string, name: string) => entry("session_info", id, 9_000, { name });

const HEADER = makeHeaderLine("row");
const one = said("000000a1", 1_000);
const two = said("000000a2", 2_000);
const label = entry("label", "000000a3", 9_000, {});
const result = message("000000a4", 9_000, { role: "toolResult" });
const timed = message("000000a5", 9_000, { role: "user", timestamp: START_MS + 0.5 });
const [old, name, none] = ["Old", "Name", " "].map((text, i) => named(`000000b${i}`, text));

/**
 * Expected rows, each with the lines of its session: name, seconds from the header to the latest message, number of
 * messages, and first message.
 */
const ROWS: readonly (readonly (string | undefined)[])[] = [
  ["- 0 0 -", HEADER],
  // Only the latest message counts, wherever it is in the file.
  ["- 2 2 000000a2", HEADER, two, one, label],
  ["- 1 2 000000a1", HEADER, one, result],
  ["- -5 1 000000a6", HEADER, said("000000a6", -5_000)],
  ["- 3 1 -", HEADER, message("000000a7", 3_000, { role: "assistant" })],
  ["- 0 1 000000a5", HEADER, timed],
  // A title is a name until an entry sets or clears it.
  ["Title 1 1 000000a1", titled(" Title "), one],
  ["Name 1 1 000000a1", titled("Title"), name, one],
  ["- 1 1 000000a1", titled("Title"), one, none],
  ["- 0 0 -", titled(" ")],
  // A repeated line counts once. A different line with the same id is not a repetition.
  ["- 2 2 000000a1", HEADER, one, two, one, `${two}\r`],
  ["- 3 2 000000a1", HEADER, one, said("000000a1", 3_000)],
  ["Name 0 0 -", HEADER, old, name, old],
];

async function findRow(store: SessionStore): Promise<string | undefined> {
  const [row] = await all(store.list());
  const { name: given = "-", modified, messageCount, firstMessage = "-" } = row ?? {};
  return `${given} ${((modified?.getTime() ?? 0) - START_MS) / 1_000} ${messageCount} ${firstMessage}`;
}

const used = (id: string, ms: number, fields: object) =>
  message(id, ms, { role: "assistant", provider: "p", model: "m", timestamp: START_MS + ms, ...fields });
const answer = used("000000c1", 1_000, { usage: { input: 5, output: 2, cost: { total: 0.5 } } });
const other = used("000000c2", 2_000, { model: "n", usage: { input: 30, cacheRead: 4 } });
const free = used("000000c3", 3_000, { usage: { input: 1, cost: { total: 0, totalFromProvider: true } } });
const link = entry("custom", "000000c4", 0, { customType: "sessiontree.subagent", data: { agentId: "x" } });
const origin = entry("custom", "000000c5", 0, {
  customType: "sessiontree.import",
  data: { source: "codex", sourceId: "s" },
});
const summary = entry("compaction", "000000c6", 4_000, { summary: "s", usage: { input: 7 } });
const headed = (id: string, parentSession?: string) =>
  JSON.stringify({ ...JSON.parse(makeHeaderLine(id)), parentSession });

/** Sessions with recorded usage. */
const USED: readonly (readonly string[])[] = [
  [headed("main"), one, answer, other, free, summary],
  // A fork with inherited calls and a call of its own.
  [headed("fork", "main"), one, answer, used("000000c7", 5_000, { usage: { input: 100 } })],
  [headed("sub", "main"), link, used("000000c8", 6_000, { usage: { input: 1_000 } })],
  [headed("import"), origin, used("000000c9", 7_000, { usage: { input: 10_000 } })],
  // A repeated line, a damaged line, and an old line without an id.
  [headed("odd"), used("000000d1", 8_000, { usage: { input: 100_000 } }), "{", other, other],
  [
    makeHeaderLine("old", 1),
    JSON.stringify({ type: "message", timestamp: iso(9_000), message: JSON.parse(free).message }),
  ],
];

async function readUsageRows(store: SessionStore) {
  const { groups, total, damaged } = await collectStoreUsage(store, { by: ["session", "model", "source"] });
  const lines = groups.map(({ by: { session, model, source }, subagentOf, input, cost, unpriced }) =>
    [session?.id, model, source ?? "-", subagentOf?.id ?? "-", input, cost ?? "-", unpriced].join(" "),
  );
  return { lines: lines.sort(), calls: total.calls, damaged: [...damaged].sort() };
}

/** Tests for list rows, which are the same in every store. */
export const SESSION_ROWS: readonly SuiteTest[] = [
  test("lists a session like a list of files: latest message, name, and each line once", async ({
    store,
  }) => {
    for (const [expected, ...lines] of ROWS) {
      const bytes = Buffer.from(`${lines.join("\n")}\n`);
      await store.importBytes(cut(bytes, 64));
      assert.equal(await findRow(store), expected, bytes.toString());
      assert.equal(await exportText(store, "row"), bytes.toString());
      await store.delete("row");
    }
  }),
  test("totals usage as stated in the lines, each call once", async ({ store }) => {
    for (const lines of USED) await store.importBytes(cut(Buffer.from(`${lines.join("\n")}\n`), 64));
    const { lines, calls, damaged } = await readUsageRows(store);
    assert.deepEqual(lines, [
      "fork p/m - - 100 - 100",
      "import p/m codex - 10000 - 10000",
      "main p/m - - 1013 0.5 1007",
      "main p/n - - 30 - 34",
      "odd p/m - - 100000 - 100000",
      "sub p/m - main 1000 - 1000",
    ]);
    assert.equal(calls, 8);
    assert.deepEqual(damaged, ["odd"]);
  }),
  test("totals usage after an append and a redaction", async ({ store }) => {
    await store.importBytes(cut(Buffer.from(`${headed("main")}\n${one}\n${answer}\n`), 1_000));
    await store.appendEntries("main", [JSON.parse(other), JSON.parse(answer)]);
    assert.equal((await readUsageRows(store)).calls, 2);
    const session = await store.open("main", { cwd: CWD });
    if (store.supports.rewrite) session.redactEntry("000000a1");
    session.appendUsage("title", "p", "small", {
      input: 3,
      output: 0,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 3,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    });
    await session.close();
    assert.deepEqual((await readUsageRows(store)).lines, [
      "main p/m - - 5 0.5 0",
      "main p/n - - 30 - 34",
      "main p/small - - 3 - 3",
    ]);
    await store.delete("main");
    assert.equal((await readUsageRows(store)).calls, 0);
  }),
  test("updates the list after each append", async ({ store }) => {
    await store.importBytes(cut(Buffer.from(`${titled("Title")}\n${two}\n`), 1_000));
    const [again, older] = [two, one].map((line) => JSON.parse(line));
    await store.appendEntries("row", [again, older]);
    assert.equal(await findRow(store), "Title 2 2 000000a2");
    const session = await store.open("row", { cwd: CWD, now: () => START_MS + 60_000 });
    session.appendLabelChange("000000a2", "label");
    session.appendMessage(user("later", START_MS + 1_500));
    await session.flush();
    assert.equal(await findRow(store), "Title 2 3 000000a2");
    if (store.supports.rewrite) session.redactEntry("000000a2");
    session.appendMessage(user("latest", START_MS + 3_000));
    await session.close();
    assert.equal(await findRow(store), `Title 3 4 ${store.supports.rewrite ? "[redacted]" : "000000a2"}`);
  }),
];
