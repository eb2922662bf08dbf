import { isSessionError, SessionManager } from "sessiontree";
import { describe, expect, test } from "vitest";
import { assistant, call, toolResult, user } from "../../support/messages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const draft = (id: string) => ({ type: "message", message: toolResult(id, `result of ${id}`) }) as const;

/** Creates a session whose model has called two tools. */
function calling(session = SessionManager.inMemory()) {
  const question = session.appendMessage(user("Run both."));
  const calls = session.appendMessage(assistant("I do.", {}, call("a"), call("b")));
  return { session, question, calls };
}

describe("the check of a result", () => {
  test("accepts the second of two parallel results", () => {
    const { session, calls } = calling();
    const first = session.append(draft("a"), { expectedLeafId: calls });
    const second = session.append(draft("b"), { expectedLeafId: calls });
    expect(session.getEntry(second)?.parentId).toBe(first);
    expect(session.getLeafId()).toBe(second);
  });

  test("accepts several in one write, and one after a label", () => {
    const { session, calls } = calling();
    session.appendLabelChange(calls, "tests");
    const [first] = session.appendAll([draft("a"), draft("b")], { expectedLeafId: calls });
    expect(session.getEntry(first ?? "")).toMatchObject({ type: "message" });
    expect(session.getBranch()).toHaveLength(5);
  });

  test.each<[string, (session: SessionManager, question: string) => unknown]>([
    ["the user continued", (session) => session.appendMessage(user("And?"))],
    ["the user went back", (session, question) => session.branch(question)],
    ["the user went before the first entry", (session) => session.resetLeaf()],
    ["the model answered", (session) => session.appendMessage(assistant("Done."))],
    ["the session was compacted", (session) => session.appendCompaction("Notes.", null, 1)],
  ])("rejects one after %s", (_what, move) => {
    const { session, question, calls } = calling();
    session.append(draft("a"), { expectedLeafId: calls });
    move(session, question);
    const leaf = session.getLeafId();
    const count = session.getEntryCount();
    expect(() => session.append(draft("b"), { expectedLeafId: calls })).toThrow(
      expect.objectContaining({ code: "STALE_LEAF" }),
    );
    expect([session.getLeafId(), session.getEntryCount()]).toEqual([leaf, count]);
  });

  test("rejects everything else after a result", () => {
    const { session, calls } = calling();
    session.append(draft("a"), { expectedLeafId: calls });
    for (const message of [user("x"), assistant("x")]) {
      try {
        session.append({ type: "message", message }, { expectedLeafId: calls });
        expect.unreachable();
      } catch (error) {
        expect(isSessionError(error, "STALE_LEAF")).toBe(true);
      }
    }
    expect(() =>
      session.appendAll([draft("b"), { type: "custom", customType: "x" }], { expectedLeafId: calls }),
    ).toThrow(expect.objectContaining({ code: "STALE_LEAF" }));
  });
});

describe("keepLeaf", () => {
  test("stores a result under its call, and keeps the leaf", () => {
    const { session, question, calls } = calling();
    session.branch(question);
    const leaf = session.appendMessage(user("Something else."));
    const context = session.buildSessionContext();
    const events: string[] = [];
    session.on("entry_appended", ({ entry }) => events.push(entry.id));
    session.on("leaf_changed", () => events.push("leaf"));
    const first = session.append(draft("a"), { parentId: calls, keepLeaf: true });
    const second = session.append(draft("b"), { parentId: first, keepLeaf: true });
    expect(session.getLeafId()).toBe(leaf);
    expect(session.buildSessionContext()).toEqual(context);
    expect(events).toEqual([first, second]);
    expect(session.getBranch(second).map(({ id }) => id)).toEqual([question, calls, first, second]);
    const next = session.appendMessage(user("Go on."));
    expect(session.getEntry(next)?.parentId).toBe(leaf);
    expect(session.buildSessionContext().messages).toHaveLength(3);
  });

  test("stores a chain of entries, and one below the leaf", () => {
    const { session, calls } = calling();
    const ids = session.appendAll([draft("a"), draft("b")], { keepLeaf: true });
    expect(session.getLeafId()).toBe(calls);
    expect(
      session
        .getBranch(ids[1])
        .slice(-2)
        .map(({ id }) => id),
    ).toEqual(ids);
    expect(session.buildSessionContext().messages).toHaveLength(2);
  });

  test("is stored like any other append, and works with a recorded leaf", () => {
    const folder = temporaryFolder();
    const { session, question, calls } = calling(SessionManager.create(folder, folder));
    session.branch(question);
    session.appendMessage(user("Something else."));
    const late = session.append(draft("a"), { parentId: calls, keepLeaf: true });
    session.persistLeaf();
    const read = SessionManager.open(session.getSessionFile() ?? "");
    expect(read.getEntry(late)?.parentId).toBe(calls);
    expect(read.buildSessionContext()).toEqual(session.buildSessionContext());
  });
});

describe("getOpenToolCalls", () => {
  test("lists the calls at the leaf without a result, in order", () => {
    const { session, calls } = calling();
    expect(session.getOpenToolCalls()).toEqual([
      { entryId: calls, call: call("a") },
      { entryId: calls, call: call("b") },
    ]);
    session.append(draft("a"));
    expect(session.getOpenToolCalls()).toEqual([{ entryId: calls, call: call("b") }]);
    session.append(draft("b"));
    expect(session.getOpenToolCalls()).toEqual([]);
  });

  test("at another leaf, which has none", () => {
    const { session, question, calls } = calling();
    const done = session.append(draft("a"));
    session.branch(question);
    expect(session.getOpenToolCalls()).toEqual([]);
    expect(session.getOpenToolCalls(calls)).toHaveLength(2);
    expect(session.getOpenToolCalls(done)).toHaveLength(1);
    expect(session.getOpenToolCalls("unknown")).toEqual([]);
  });

  test("omits those of an unfinished answer, that a compaction summarized, or that were edited out", () => {
    const { session, calls } = calling();
    for (const stopReason of ["pending", "aborted", "error"] as const)
      session.appendMessage(assistant("Half.", { stopReason }, call("c")));
    expect(session.getOpenToolCalls().map((one) => one.call.id)).toEqual(["a", "b"]);
    session.appendContextEdit(calls, { content: "I do." });
    expect(session.getOpenToolCalls()).toEqual([]);
    session.appendMessage(assistant("Again.", {}, call("d")));
    session.appendCompaction("Notes.", null, 1);
    expect(session.getOpenToolCalls()).toEqual([]);
  });

  test("handles reused ids: a result belongs to the nearest call", () => {
    const { session, calls } = calling();
    session.appendMessage(user("Try again."));
    session.appendMessage(assistant("I do.", {}, call("a")));
    session.append(draft("a"));
    expect(session.getOpenToolCalls()).toEqual([
      { entryId: calls, call: call("a") },
      { entryId: calls, call: call("b") },
    ]);
  });
});
