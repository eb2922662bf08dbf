import assert from "node:assert/strict";
import { isSessionError } from "../../core/format/errors.ts";
import type { SessionManager } from "../../session/manager/session-manager.ts";
import {
  all,
  assertWhole,
  CWD,
  expectError,
  exportText,
  getIds,
  makeStored,
  reopen,
  START_MS,
  type SuiteTest,
  say,
  testWith,
  user,
  waitSoon,
} from "./kit.ts";

const test = testWith("another");

/** Tests for multiple processes that write to one session. */
export const WRITERS: readonly SuiteTest[] = [
  test("merges the writes of two processes in one order, and keeps the leaf of each", async ({
    store,
    another,
  }) => {
    const mine = await makeStored(store, "one");
    const theirs = await (await another()).open(mine.getSessionId());
    const heard: string[] = [];
    theirs.on("foreign_entries", ({ entries }) => heard.push(...entries.map(({ id }) => id)));
    const told: string[] = [];
    mine.on("foreign_entries", ({ entries }) => told.push(...entries.map(({ id }) => id)));
    const [b1 = "", b2 = ""] = say(theirs, "theirs 1", "theirs 2");
    await theirs.flush();
    const [a1 = ""] = say(mine, "mine 1");
    await mine.flush();
    theirs.appendSessionInfo("named by them");
    await theirs.flush();
    const [a2 = ""] = say(mine, "mine 2");
    await mine.flush();
    const pulled = (await theirs.refreshAsync()).map(({ id }) => id);
    assert.ok(pulled.includes(a2), "the last entries are reported by the pull that read them");
    assert.deepEqual(heard, [a1, a2]);
    await mine.refreshAsync();
    assert.equal(mine.getLeafId(), a2);
    assert.equal(mine.getSessionName(), "named by them");
    assert.deepEqual(mine.getPathIds(), [getIds(mine)[0], a1, a2]);
    assert.deepEqual(theirs.getPathIds().slice(0, 3), [getIds(mine)[0], b1, b2]);
    assert.deepEqual(told.slice(0, 2), [b1, b2]);
    await reopen(store, mine, theirs);
  }),
  test("keeps all concurrent writes in one order, with complete paths", async ({ store, another }) => {
    const first = await makeStored(store, "root");
    const id = first.getSessionId();
    const writers: SessionManager[] = [];
    for (let i = 0; i < 4; i++) writers.push(await (await another()).open(id));
    const own = await Promise.all(
      writers.map(async (writer, w) => {
        const ids: string[] = [];
        for (let i = 0; i < 25; i++) {
          ids.push(...say(writer, `${w}: ${i}`));
          if (i % (w + 2) === 0) await writer.flush();
        }
        await writer.flush();
        return ids;
      }),
    );
    await Promise.all([first, ...writers].map((writer) => writer.refreshAsync()));
    assert.equal((await reopen(store, first, ...writers)).getEntryCount(), 101);
    for (const [i, writer] of writers.entries()) {
      assert.deepEqual(writer.getPathIds(), [getIds(first)[0], ...(own[i] ?? [])]);
      await writer.close();
    }
  }),
  test("reports other processes' entries to a watcher that makes no calls", async ({ store, another }) => {
    const mine = await makeStored(store, "one");
    const theirs = await (await another()).open(mine.getSessionId());
    const end = new AbortController();
    const watching = mine.watch({ signal: end.signal });
    for (const text of ["1", "2", "3"]) {
      const seen = watching.next();
      const [id] = say(theirs, text);
      await theirs.flush();
      assert.equal((await waitSoon(seen, "a watcher sees an entry")).value?.id, id);
    }
    const seen = watching.next();
    say(mine, "own");
    await mine.flush();
    const [last] = say(theirs, "last");
    await theirs.flush();
    assert.equal(
      (await waitSoon(seen, "a watcher sees an entry")).value?.id,
      last,
      "a process's own entries are not reported",
    );
    end.abort();
    await waitSoon(watching.next(), "a watch ends");
    await Promise.all([mine.close(), theirs.close()]);
  }),
  test("watches a session that is not yet written", async ({ store, another }) => {
    const mine = store.create({ cwd: CWD });
    const end = new AbortController();
    const watching = mine.watch({ signal: end.signal });
    const seen = watching.next();
    say(mine, "one");
    await mine.flush();
    const theirs = await (await another()).open(mine.getSessionId());
    const [id] = say(theirs, "two");
    await theirs.flush();
    assert.equal((await waitSoon(seen, "a watcher sees an entry")).value?.id, id);
    end.abort();
    await waitSoon(watching.next(), "a watch ends");
    const never = store.create({ cwd: CWD }).watch({ signal: AbortSignal.abort() });
    assert.equal((await waitSoon(never.next(), "a watch ends")).done, true);
    await Promise.all([mine.close(), theirs.close()]);
  }),
  test("appends only if no other process has appended", async ({ store, another }) => {
    const mine = await makeStored(store, "one");
    const theirs = await (await another()).open(mine.getSessionId());
    const [one = ""] = getIds(mine);
    theirs.appendLabelChange(one, "in nobody's way");
    theirs.appendSessionInfo("nor is a name");
    await theirs.flush();
    const draft = (content: string) => ({ type: "message" as const, message: user(content) });
    const two = await mine.appendIfLeaf(draft("two"), { expectedLeafId: one });
    assert.equal(mine.getLeafId(), two);
    assert.equal(mine.getEntry(two)?.parentId, one);
    const before = await exportText(store, mine.getSessionId());
    await expectError("STALE_LEAF", () => theirs.appendIfLeaf(draft("too late"), { expectedLeafId: one }));
    await expectError("STALE_LEAF", () => mine.appendIfLeaf(draft("not empty"), { expectedLeafId: null }));
    assert.equal(await exportText(store, mine.getSessionId()), before);
    assert.ok(theirs.getEntry(two), "a refused caller has read the entry that caused the refusal");
    assert.equal(getIds(theirs).length, 4);
    theirs.branch(two);
    const three = await theirs.appendIfLeaf(draft("three"));
    assert.equal(theirs.getEntry(three)?.parentId, two);
    await expectError("ENTRY_NOT_FOUND", () => mine.appendIfLeaf(draft("x"), { expectedLeafId: "00000000" }));
  }),
  test("lets only one of many concurrent appends to the same leaf succeed", async ({ store, another }) => {
    const first = await makeStored(store, "one");
    const [one = ""] = getIds(first);
    if (!store.supports.conditionalAppend) return;
    const rivals = await Promise.all(
      Array.from({ length: 5 }, async () => (await another()).open(first.getSessionId())),
    );
    const results = await Promise.allSettled(
      rivals.map((rival, i) =>
        rival.appendIfLeaf({ type: "message", message: user(`rival ${i}`) }, { expectedLeafId: one }),
      ),
    );
    const lost = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    assert.equal(lost.length, 4);
    for (const reason of lost) assert.ok(isSessionError(reason, "STALE_LEAF"), String(reason));
    const fresh = await store.open(first.getSessionId());
    assert.equal(fresh.getEntryCount(), 2);
    for (const rival of rivals) assert.equal(rival.getEntryCount(), 2);
  }),
  test("shows another process's redaction, without moving the leaf", async ({ store, another }) => {
    if (!store.supports.rewrite) return;
    const mine = await makeStored(store, "the secret", "two");
    const theirs = await (await another()).open(mine.getSessionId());
    const [secret = "", two] = getIds(mine);
    mine.redactEntry(secret);
    await mine.flush();
    const [more] = say(theirs, "meanwhile");
    await theirs.flush();
    await theirs.refreshAsync();
    assert.equal(theirs.getEntry(secret)?.type, "message");
    assert.equal(JSON.stringify(theirs.getEntry(secret)).includes("the secret"), false);
    assert.equal(theirs.getLeafId(), more);
    assert.equal(theirs.getEntry(more ?? "")?.parentId, two);
    await reopen(store, theirs);
  }),
  test("writes everything before it closes", async ({ store, another }) => {
    const session = store.create({ cwd: CWD });
    say(session, "one", "two");
    const next = session.fork({ at: null });
    say(next, "in another one");
    await store.close();
    await store.close();
    const after = await another();
    assert.deepEqual(getIds(await after.open(session.getSessionId())), getIds(session));
    assert.deepEqual(getIds(await after.open(next.getSessionId())), getIds(next));
  }),
  test("does not restore a deleted session, and reports the deletion", async ({ store, another }) => {
    if (!store.supports.queued) return;
    const mine = await makeStored(store, "one");
    await (await another()).delete(mine.getSessionId());
    say(mine, "two");
    await expectError("SESSION_NOT_FOUND", () => mine.flush());
    assert.deepEqual(await all(store.list()), []);
  }),
];

const testFaults = testWith("faults");
const testFaultsOfTwo = testWith("faults", "another");

/** Tests for failing calls and lost responses. */
export const FAULTS: readonly SuiteTest[] = [
  testFaults(
    "writes everything after the connection is restored, and reports its state",
    async ({ store, faults }) => {
      const session = await makeStored(store, "one");
      const states: string[] = [];
      session.on("persistence_state", ({ state, error }) => states.push(`${state}${error ? " error" : ""}`));
      faults.failNext(3);
      say(session, "two", "three");
      await session.flush();
      say(session, "four");
      await session.flush();
      await reopen(store, session);
      if (store.supports.queued) assert.deepEqual(states, ["degraded error", "ok"]);
    },
  ),
  testFaults("writes nothing twice when a response is lost", async ({ store, faults }) => {
    const session = store.create({ cwd: CWD });
    faults.loseAnswers(1);
    say(session, "one");
    await session.flush();
    for (const count of [1, 2, 3]) {
      faults.loseAnswers(count);
      say(session, `lost ${count} times`, "and one more");
      await session.flush();
    }
    assert.equal((await reopen(store, session)).getEntryCount(), 7);
  }),
  testFaults(
    "keeps entries of all processes in one order when responses are lost",
    async ({ store, faults }) => {
      const mine = await makeStored(store, "one");
      const theirs = await store.open(mine.getSessionId());
      for (let i = 0; i < 5; i++) {
        faults.loseAnswers(i % 2);
        say(mine, `mine ${i}`);
        say(theirs, `theirs ${i}`);
        await Promise.all([mine.flush(), theirs.flush()]);
      }
      await Promise.all([mine.refreshAsync(), theirs.refreshAsync()]);
      assert.equal((await reopen(store, mine, theirs)).getEntryCount(), 11);
    },
  ),
  testFaults(
    "appends conditionally once, and redacts once, when the response is lost",
    async ({ store, faults }) => {
      const session = await makeStored(store, "the secret");
      faults.loseAnswers(1);
      const second = await session.appendIfLeaf({ type: "message", message: user("two") });
      assert.equal(session.getLeafId(), second);
      if (store.supports.rewrite) {
        faults.loseAnswers(2);
        session.redactEntry(getIds(session)[0] ?? "");
        await session.flush();
        assert.equal((await exportText(store, session.getSessionId())).includes("the secret"), false);
      }
      await reopen(store, session);
    },
  ),
  testFaults(
    "opens, lists, searches, and exports even if calls fail occasionally",
    async ({ store, faults }) => {
      const session = await makeStored(store, "findable");
      const id = session.getSessionId();
      faults.failNext(2);
      assert.equal((await store.open(id)).getEntryCount(), 1);
      faults.failNext(2);
      assert.equal((await all(store.list())).length, 1);
      faults.failNext(2);
      assert.equal((await all(store.search("findable"))).length, 1);
      faults.failNext(2);
      assert.ok((await exportText(store, id)).includes("findable"));
    },
  ),
  testFaults("discards unwritten entries on request", async ({ store, faults }) => {
    if (!store.supports.queued) return;
    const session = await makeStored(store, "one");
    faults.failNext(Number.POSITIVE_INFINITY);
    say(session, "two");
    await waitSoon(store.close({ discard: true }), "a store that discards its writes is closed");
    faults.failNext(0);
  }),
  testFaults("deletes a session even if the response is lost", async ({ store, faults }) => {
    const session = await makeStored(store, "one");
    const id = session.getSessionId();
    await session.close();
    faults.loseAnswers(1);
    await store.delete(id);
    await expectError("SESSION_NOT_FOUND", () => store.open(id));
    await expectError("SESSION_NOT_FOUND", () => store.delete(id));
  }),
  testFaults(
    "appends entries that the store accepted and lost again, only once, and reports them",
    async ({ store, faults }) => {
      const session = await makeStored(store, "one");
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
      const fresh = await reopen(store, session);
      assert.equal(fresh.buildSessionContext().messages.length, 5);
      say(session, "six");
      await session.flush();
      assert.deepEqual(restored, lost);
    },
  ),
  testFaults(
    "restores lost entries alongside later entries of other processes, whichever process notices first",
    async ({ store, faults }) => {
      const mine = await makeStored(store, "one");
      const id = mine.getSessionId();
      const reader = await store.open(id, { mode: "read-only" });
      faults.loseWrites(1);
      const lost = say(mine, "two", "three");
      await mine.flush();
      const theirs = await store.open(id);
      say(theirs, "of another", "and more", "and still more");
      await theirs.flush();
      await mine.refreshAsync();
      await theirs.refreshAsync();
      await reader.refreshAsync();
      assert.deepEqual(mine.getPathIds().slice(1), lost);
      assert.equal((await reopen(store, mine, theirs, reader)).getEntryCount(), 6);
    },
  ),
  testFaults("appends conditionally and redacts after restoring lost entries", async ({ store, faults }) => {
    const session = await makeStored(store, "one");
    for (const act of ["append", "redact"]) {
      if (act === "redact" && !store.supports.rewrite) continue;
      faults.loseWrites(1);
      const [lost = ""] = say(session, `lost before ${act}`);
      await session.flush();
      if (act === "redact") session.redactEntry(lost);
      else await session.appendIfLeaf({ type: "message", message: user("on a condition") });
      await session.flush();
      const fresh = await store.open(session.getSessionId());
      assert.deepEqual([...getIds(fresh)].sort(), [...getIds(session)].sort());
      assertWhole(fresh);
      assert.equal((await exportText(store, session.getSessionId())).includes("lost before redact"), false);
    }
  }),
  testFaultsOfTwo(
    "does not restore lost entries after lines were redacted, and reports the loss",
    async ({ store, faults, another }) => {
      if (!store.supports.rewrite) return;
      const session = await makeStored(store, "the secret");
      const id = session.getSessionId();
      faults.loseWrites(1);
      say(session, "lost");
      await session.flush();
      const theirs = await (await another()).open(id);
      theirs.redactEntry(getIds(theirs)[0] ?? "");
      await theirs.flush();
      const before = await exportText(store, id);
      say(session, "next");
      await expectError("WRITES_LOST", () => session.flush());
      assert.equal(await exportText(store, id), before);
      assert.deepEqual(
        session.issues.map(({ code }) => code),
        ["WRITES_LOST"],
      );
      assert.equal(session.getEntryCount(), 3);
    },
  ),
  testFaults(
    "never restores a deleted session, not even in a new session with its id",
    async ({ store, faults }) => {
      const session = await makeStored(store, "of the deleted one");
      const id = session.getSessionId();
      await store.delete(id);
      say(session, "next");
      await expectError("SESSION_NOT_FOUND", () => session.flush());
      const other = store.create({ cwd: CWD, id });
      say(other, "of the new one");
      await other.flush();
      await expectError("WRITES_LOST", () => session.flush());
      faults.loseWrites(1);
      say(other, "lost");
      await other.flush();
      say(other, "next");
      await other.flush();
      assert.deepEqual(getIds(await store.open(id)), getIds(other));
      assert.equal((await exportText(store, id)).includes("deleted"), false);
    },
  ),
];

/** Tests for multiple processes that create one session. They run last, so that faulty backends fail the other tests first. */
export const BEGINNINGS: readonly SuiteTest[] = [
  test("opens a session by id, or creates it only once for all concurrent callers", async ({
    store,
    another,
  }) => {
    const others = [await another(), await another(), await another()];
    const options = { cwd: CWD, parentSession: "before", now: () => START_MS };
    const sessions = await Promise.all([store, ...others].map((one) => one.openOrCreate("chat-7", options)));
    for (const [i, session] of sessions.entries()) say(session, `from ${i}`);
    for (const session of sessions) await session.close();
    const session = await store.openOrCreate("chat-7", { cwd: "/projects/elsewhere" });
    assert.deepEqual(session.getHeader()?.cwd, CWD);
    assert.deepEqual(session.getHeader()?.parentSession, "before");
    assert.equal(session.getEntryCount(), sessions.length);
    assert.equal((await all(store.list())).length, 1);
    await expectError("INVALID_SESSION_ID", () => store.openOrCreate("../x", options));
    await expectError("ABORTED", () =>
      store.openOrCreate("new", { ...options, signal: AbortSignal.abort() }),
    );
    assert.equal((await all(store.list())).length, 1);
  }),
];
