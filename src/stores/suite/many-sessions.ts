import assert from "node:assert/strict";
import type { SessionRow } from "../../session/files/session-row.ts";
import type { ListInStoreOptions, SessionStore } from "../contract/session-store.ts";
import { all, CWD, failsWith, idsOf, START_MS, type SuiteTest, say, stored, testWith, user } from "./kit.ts";

const test = testWith();

/** Makes sessions, each a second later than the one before. */
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

const textOf = ({
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

/** What a store does with many sessions. */
export const MANY_SESSIONS: readonly SuiteTest[] = [
  test("lists nothing where nothing is, and finds nothing there", async ({ store }) => {
    assert.deepEqual(await all(store.list()), []);
    assert.deepEqual(await all(store.search("word")), []);
  }),
  test("closes at the end of await using", async ({ store }) => {
    const session = store.create({ cwd: CWD });
    session.appendMessage(user("kept"));
    await store[Symbol.asyncDispose]();
    // Written before the store closed, and closing again does nothing.
    await session.flush();
    await store.close();
  }),
  test("lists sessions with what they are known by, those modified last first", async ({ store }) => {
    const ids = await makeMany(store, 7);
    const sessions = await all(store.list());
    assert.deepEqual(
      sessions.map(({ id }) => id),
      ids,
    );
    // Whoever keeps files adds their paths.
    const { path: _, ...latest } = sessions[0] ?? {};
    const expected: SessionRow = {
      id: ids[0] ?? "",
      cwd: "/projects/third",
      name: "Name 6",
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
  }),
  test("lists by project, name and beginning of the id", async ({ store }) => {
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
        assert.ok(found.length <= ids.length, "a list comes to its end");
      }
      assert.deepEqual(found, ids, `pages of ${limit}`);
    }
    assert.deepEqual(await listed(store, { limit: 0 }), []);
  }),
  test("lists sessions of the same time in the order of their ids, page by page, too", async ({ store }) => {
    // No two differ only in case, which some file systems take for one file.
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
  test("deletes one session and no other", async ({ store }) => {
    const [kept = "", gone = ""] = await makeMany(store, 2);
    await store.delete(gone);
    assert.deepEqual(await listed(store), [kept]);
    await failsWith("SESSION_NOT_FOUND", () => store.open(gone));
    await failsWith("SESSION_NOT_FOUND", () => store.delete(gone));
    assert.equal((await store.open(kept)).getEntryCount(), 2);
    const again = store.create({ cwd: CWD, id: gone });
    say(again, "the id is free again");
    await again.close();
    assert.equal((await store.open(gone)).getEntryCount(), 1);
  }),
  test("finds the entries that hold all words of a query", async ({ store }) => {
    const session = await stored(store, "the quick brown fox", "the lazy dog", "QUICK and lazy");
    const [quick, lazy, both] = idsOf(session);
    session.appendCustomMessageEntry("note", "quick note", true);
    await session.flush();
    const note = session.getLeafId();
    const other = store.create({ cwd: "/projects/other" });
    say(other, "quick elsewhere");
    await other.close();
    const find = async (...given: Parameters<SessionStore["search"]>) =>
      (await all(store.search(...given))).map(textOf).sort();
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
  test("ends a list and a search when it is asked to", async ({ store }) => {
    await stored(store, "hello");
    const signal = AbortSignal.abort();
    await failsWith("ABORTED", () => all(store.list({ signal })));
    await failsWith("ABORTED", () => all(store.search("hello", { signal })));
    for await (const { id } of store.list()) await failsWith("ABORTED", () => store.open(id, { signal }));
  }),
];
