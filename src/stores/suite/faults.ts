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
  soon,
  stored,
  testWith,
  user,
} from "./kit.ts";

const test = testWith("faults");
const testOfTwo = testWith("faults", "another");

/** What holds when calls fail and answers get lost. */
export const FAULTS: readonly SuiteTest[] = [
  test("writes everything once the connection is back, and tells how it stands", async ({
    store,
    faults,
  }) => {
    const session = await stored(store, "one");
    const states: string[] = [];
    session.on("persistence_state", ({ state, error }) => states.push(`${state}${error ? " error" : ""}`));
    faults.failNext(3);
    say(session, "two", "three");
    await session.flush();
    say(session, "four");
    await session.flush();
    await openedAnew(store, session);
    if (store.supports.queued) assert.deepEqual(states, ["degraded error", "ok"]);
  }),
  test("writes nothing twice when an answer gets lost", async ({ store, faults }) => {
    const session = store.create({ cwd: CWD });
    faults.loseAnswers(1);
    say(session, "one");
    await session.flush();
    for (const count of [1, 2, 3]) {
      faults.loseAnswers(count);
      say(session, `lost ${count} times`, "and one more");
      await session.flush();
    }
    assert.equal((await openedAnew(store, session)).getEntryCount(), 7);
  }),
  test("keeps own and others' entries in one order when answers get lost", async ({ store, faults }) => {
    const mine = await stored(store, "one");
    const theirs = await store.open(mine.getSessionId());
    for (let i = 0; i < 5; i++) {
      faults.loseAnswers(i % 2);
      say(mine, `mine ${i}`);
      say(theirs, `theirs ${i}`);
      await Promise.all([mine.flush(), theirs.flush()]);
    }
    await Promise.all([mine.pull(), theirs.pull()]);
    assert.equal((await openedAnew(store, mine, theirs)).getEntryCount(), 11);
  }),
  test("appends once on a condition, and redacts once, when the answer gets lost", async ({
    store,
    faults,
  }) => {
    const session = await stored(store, "the secret");
    faults.loseAnswers(1);
    const second = await session.appendIfLeaf({ type: "message", message: user("two") });
    assert.equal(session.getLeafId(), second);
    if (store.supports.rewrite) {
      faults.loseAnswers(2);
      session.redact(idsOf(session)[0] ?? "");
      await session.flush();
      assert.equal((await exported(store, session.getSessionId())).includes("the secret"), false);
    }
    await openedAnew(store, session);
  }),
  test("opens, lists, searches and exports although calls fail now and then", async ({ store, faults }) => {
    const session = await stored(store, "findable");
    const id = session.getSessionId();
    faults.failNext(2);
    assert.equal((await store.open(id)).getEntryCount(), 1);
    faults.failNext(2);
    assert.equal((await all(store.list())).length, 1);
    faults.failNext(2);
    assert.equal((await all(store.search("findable"))).length, 1);
    faults.failNext(2);
    assert.ok((await exported(store, id)).includes("findable"));
  }),
  test("gives up at once what is not written, if it is told to", async ({ store, faults }) => {
    if (!store.supports.queued) return;
    const session = await stored(store, "one");
    faults.failNext(Number.POSITIVE_INFINITY);
    say(session, "two");
    await soon(store.close({ discard: true }), "a store that gives up is closed");
    faults.failNext(0);
  }),
  test("deletes a session although the answer gets lost", async ({ store, faults }) => {
    const session = await stored(store, "one");
    const id = session.getSessionId();
    await session.close();
    faults.loseAnswers(1);
    await store.delete(id);
    await failsWith("SESSION_NOT_FOUND", () => store.open(id));
    await failsWith("SESSION_NOT_FOUND", () => store.delete(id));
  }),
  test("appends again what the store took and lost, once, says so, and nothing else", async ({
    store,
    faults,
  }) => {
    const session = await stored(store, "one");
    const restored: string[] = [];
    session.on("entries_restored", ({ entries }) => restored.push(...entries.map(({ id }) => id)));
    faults.loseWrites(2);
    const lost = say(session, "two", "three");
    await session.flush();
    lost.push(...say(session, "four"));
    await session.flush();
    const id = session.getSessionId();
    assert.equal((await store.open(id)).getEntryCount(), 1);
    say(session, "five");
    await session.flush();
    assert.deepEqual(restored, lost);
    const fresh = await openedAnew(store, session);
    assert.equal(fresh.buildSessionContext().messages.length, 5);
    say(session, "six");
    await session.flush();
    assert.deepEqual(restored, lost);
  }),
  test("restores what it lost beside what others have appended since, whoever notices first", async ({
    store,
    faults,
  }) => {
    const mine = await stored(store, "one");
    const id = mine.getSessionId();
    const reader = await store.open(id, { mode: "read-only" });
    faults.loseWrites(1);
    const lost = say(mine, "two", "three");
    await mine.flush();
    const theirs = await store.open(id);
    say(theirs, "of another", "and more", "and still more");
    await theirs.flush();
    await mine.pull();
    await theirs.pull();
    await reader.pull();
    assert.deepEqual(mine.getPathIds().slice(1), lost);
    assert.equal((await openedAnew(store, mine, theirs, reader)).getEntryCount(), 6);
  }),
  test("appends on a condition, and redacts, after it has restored what was lost", async ({
    store,
    faults,
  }) => {
    const session = await stored(store, "one");
    for (const act of ["append", "redact"]) {
      if (act === "redact" && !store.supports.rewrite) continue;
      faults.loseWrites(1);
      const [lost = ""] = say(session, `lost before ${act}`);
      await session.flush();
      if (act === "redact") session.redact(lost);
      else await session.appendIfLeaf({ type: "message", message: user("on a condition") });
      await session.flush();
      const fresh = await store.open(session.getSessionId());
      assert.deepEqual([...idsOf(fresh)].sort(), [...idsOf(session)].sort());
      assertWhole(fresh);
      assert.equal((await exported(store, session.getSessionId())).includes("lost before redact"), false);
    }
  }),
  testOfTwo(
    "does not bring back what was lost once lines were redacted, and says what is gone",
    async ({ store, faults, another }) => {
      if (!store.supports.rewrite) return;
      const session = await stored(store, "the secret");
      const id = session.getSessionId();
      faults.loseWrites(1);
      say(session, "lost");
      await session.flush();
      const theirs = await (await another()).open(id);
      theirs.redact(idsOf(theirs)[0] ?? "");
      await theirs.flush();
      const before = await exported(store, id);
      say(session, "next");
      await failsWith("WRITES_LOST", () => session.flush());
      assert.equal(await exported(store, id), before);
      assert.deepEqual(
        session.issues.map(({ code }) => code),
        ["WRITES_LOST"],
      );
      assert.equal(session.getEntryCount(), 3);
    },
  ),
  test("brings a deleted session back neither by itself nor in another one of its id", async ({
    store,
    faults,
  }) => {
    const session = await stored(store, "of the deleted one");
    const id = session.getSessionId();
    await store.delete(id);
    say(session, "next");
    await failsWith("SESSION_NOT_FOUND", () => session.flush());
    const other = store.create({ cwd: CWD, id });
    say(other, "of the new one");
    await other.flush();
    await failsWith("WRITES_LOST", () => session.flush());
    faults.loseWrites(1);
    say(other, "lost");
    await other.flush();
    say(other, "next");
    await other.flush();
    assert.deepEqual(idsOf(await store.open(id)), idsOf(other));
    assert.equal((await exported(store, id)).includes("deleted"), false);
  }),
];
