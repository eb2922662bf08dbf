import { readdirSync } from "node:fs";
import { basename } from "node:path";
import { SessionManager } from "sessiontree";
import { expect, test, vi } from "vitest";
import { assistant, user } from "../../support/messages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { records } from "./support/workshop.ts";

/** Creates a tree: first ─ second ─ third, and other as a sibling of third. */
function branched() {
  const session = SessionManager.create("/projects/project", temporaryFolder());
  const first = session.appendMessage(user("first"));
  const second = session.appendMessage(assistant("second"));
  const third = session.appendMessage(user("third"));
  session.branch(first);
  const other = session.appendMessage(assistant("other", { model: "m2" }));
  return { session, first, second, third, other };
}

const idsOf = (entries: Iterable<{ id: string }>) => [...entries].map(({ id }) => id);

test("branching keeps all entries and moves the leaf", () => {
  const { session, first, second, third, other } = branched();
  expect(idsOf(session.getBranch())).toEqual([first, other]);
  expect(session.getPathIds(third)).toEqual([first, second, third]);
  expect(idsOf(session.getBranch(third))).toEqual([first, second, third]);
  expect(idsOf(session.getChildren(first))).toEqual([second, other]);
  expect(idsOf(session.getChildren(null))).toEqual([first]);
  expect(idsOf(session.getLeaves())).toEqual([third, other]);
  expect(idsOf(session.getEntries())).toEqual([first, second, third, other]);
  expect(session.getCommonAncestorId(third, other)).toBe(first);
  expect(idsOf(session.walk())).toEqual([first, second, third, other]);
  expect(idsOf(session.walk(second))).toEqual([second, third]);
  expect(idsOf(session.walkUp({ fromId: third, type: "message" }))).toEqual([third, second, first]);
  expect(session.getTree()).toMatchObject([
    { entry: { id: first }, children: [{ entry: { id: second }, children: [{}] }, { entry: { id: other } }] },
  ]);
});

test("look-ups of unknown ids do not throw; moves do", () => {
  const { session } = branched();
  expect(session.getEntry("nowhere")).toBeUndefined();
  expect(session.getLabel("nowhere")).toBeUndefined();
  expect(session.getChildren("nowhere")).toEqual([]);
  expect(session.getBranch("nowhere")).toEqual([]);
  expect([...session.walk("nowhere")]).toEqual([]);
  expect(session.getCommonAncestorId("nowhere", "nowhere either")).toBeNull();
  const leaf = session.getLeafId();
  for (const move of [
    () => session.branch("nowhere"),
    () => session.branchWithSummary("nowhere", "s"),
    () => session.createBranchedSession("nowhere"),
  ]) {
    expect(move).toThrow(expect.objectContaining({ code: "ENTRY_NOT_FOUND" }));
    expect(move).toThrow(/^Entry nowhere not found/);
  }
  expect(session.getLeafId()).toBe(leaf);
});

test("siblings are ordered by time in the tree", () => {
  const times = { header: 1, root: 2, late: 30, early: 20 };
  const clock = Object.values(times);
  const session = SessionManager.inMemory("/projects/project", { now: () => clock.shift() ?? 0 });
  const first = session.appendMessage(user("root"));
  const late = session.appendMessage(user("late"));
  session.branch(first);
  const early = session.appendMessage(user("early"));
  expect(session.getTree()[0]?.children.map(({ entry }) => entry.id)).toEqual([early, late]);
  expect(idsOf(session.getChildren(first))).toEqual([late, early]);
});

test("a branch summary names the leaf that was left, or root", () => {
  const { session, first, other } = branched();
  const id = session.branchWithSummary(first, "tried the other", { a: 1 }, true);
  expect(records(session).at(-1)).toMatchObject({
    id,
    parentId: first,
    fromId: other,
    summary: "tried the other",
    fromHook: true,
  });
  session.resetLeaf();
  expect(session.getLeafId()).toBeNull();
  expect(session.getLeafEntry()).toBeUndefined();
  expect(session.buildSessionContext()).toEqual({ messages: [], thinkingLevel: "off", model: null });
  const root = session.branchWithSummary(null, "from before everything");
  expect(session.getEntry(root)).toMatchObject({ parentId: null, fromId: "root" });
});

test("the context follows the leaf", () => {
  const { session, third } = branched();
  expect(session.buildSessionContext().model).toEqual({ provider: "acme", modelId: "m2" });
  session.branch(third);
  expect(session.buildSessionContext().model).toEqual({ provider: "acme", modelId: "m1" });
  expect(session.buildSessionContext().messages).toHaveLength(3);
  expect(idsOf(session.buildContextEntries())).toEqual(session.getPathIds());
  expect(session.buildSessionProjection().entries.map(({ sourceEntry }) => sourceEntry.id)).toEqual(
    session.getPathIds(),
  );
});

test("a returned context does not grow", () => {
  const { session } = branched();
  const { messages } = session.buildSessionContext();
  const length = messages.length;
  session.appendMessage(user("more"));
  expect(messages).toHaveLength(length);
  expect(session.buildSessionContext().messages).toHaveLength(length + 1);
});

test("a branched session holds the path without label entries, followed by its labels", () => {
  const session = SessionManager.create("/projects/project", temporaryFolder());
  const first = session.appendMessage(user("first"));
  const label = session.appendLabelChange(first, "start");
  const second = session.appendMessage(assistant("second"));
  session.appendCompaction("sum", label, 10);
  const leaf = session.appendMessage(user("third"));
  const { messages } = session.buildSessionContext();
  const from = session.getSessionFile();
  const oldId = session.getSessionId();

  const path = session.createBranchedSession(leaf);
  expect(path).toBe(session.getSessionFile());
  expect(path).not.toBe(from);
  expect(session.getHeader()).toMatchObject({ parentSession: from });
  expect(session.getSessionId()).not.toBe(oldId);
  const [, one, two, compaction, three, copied] = records(session);
  expect([one, two, three].map((entry) => entry?.["id"])).toEqual([first, second, leaf]);
  expect(two).toMatchObject({ parentId: first });
  // The compaction kept entries from the label on: now they begin with the entry after it.
  expect(compaction).toMatchObject({ parentId: second, firstKeptEntryId: second });
  expect(copied).toMatchObject({ type: "label", parentId: leaf, targetId: first, label: "start" });
  expect(session.getLabel(first)).toBe("start");
  expect(session.getLeafId()).toBe(copied?.["id"]);
  expect(session.buildSessionContext().messages).toEqual(messages);
});

test("a branched session without a conversation has no file before there is one", async () => {
  const folder = temporaryFolder();
  const session = SessionManager.create("/projects/project", folder);
  session.appendMessage({ role: "system", content: "Be brief.", timestamp: 0 });
  const model = session.appendModelChange("acme", "m1");
  session.appendMessage(user("first"));
  session.appendLabelChange(model, "start");
  const from = session.getSessionFile() ?? "";
  const path = session.createBranchedSession(model) ?? "";
  expect(path).toBe(session.getSessionFile());
  expect(session.getLabel(model)).toBe("start");
  expect(readdirSync(folder)).toEqual([basename(from)]);
  expect((await SessionManager.list("/projects/project", folder)).map((one) => one.path)).toEqual([from]);
  const label = session.getLeafId();
  session.appendMessage(user("another first"));
  const reopened = SessionManager.open(path);
  expect(reopened.getHeader()).toMatchObject({ parentSession: from });
  expect(reopened.getEntries()).toEqual(session.getEntries());
  expect(reopened.getLeafEntry()).toMatchObject({ parentId: label });
  expect(reopened.issues).toEqual([]);
});

test("createAtOnce creates the file of a branched session, too", () => {
  const session = SessionManager.create("/projects/project", {
    sessionDir: temporaryFolder(),
    createAtOnce: true,
  });
  const model = session.appendModelChange("acme", "m1");
  const path = session.createBranchedSession(model) ?? "";
  expect(SessionManager.open(path, { mode: "read-only" }).getEntries()).toEqual(session.getEntries());
});

test("entries stay the same objects in a branched session", () => {
  for (const session of [
    SessionManager.create("/projects/project", temporaryFolder()),
    SessionManager.inMemory(),
  ]) {
    const [question, answer] = [user("question"), assistant("answer")];
    const first = session.appendMessage(question);
    session.appendLabelChange(first, "start");
    const second = session.appendMessage(answer);
    const entry = session.getEntry(first);
    session.createBranchedSession(second);
    expect(session.getEntry(first)).toBe(entry);
    const { messages } = session.buildSessionContext();
    expect(messages[0]).toBe(question);
    // It was a child of the label and is now one of the question: another entry, and the same message.
    expect(messages[1]).toBe(answer);
  }
});

test("in memory a branched session has no path", () => {
  const session = SessionManager.inMemory("/projects/project");
  const first = session.appendMessage(user("first"));
  session.appendMessage(user("second"));
  expect(session.createBranchedSession(first)).toBeUndefined();
  expect(idsOf(session.getEntries())).toEqual([first]);
  expect([session.getSessionDir(), session.getSessionFile(), session.isPersisted()]).toEqual([
    "",
    undefined,
    false,
  ]);
});

test("the leaf is persisted on request, and optionally on closing", async () => {
  const folder = temporaryFolder();
  const session = SessionManager.create("/projects/project", {
    sessionDir: folder,
    persistLeafOnClose: true,
  });
  const path = session.getSessionFile() ?? "";
  const first = session.appendMessage(user("first"));
  session.appendMessage(user("second"));
  session.branch(first);
  await session.close();
  await session.close();
  const reopened = SessionManager.open(path);
  expect(reopened.getLeafEntry()).toMatchObject({ type: "custom", parentId: first });
  expect(reopened.buildSessionContext().messages).toHaveLength(1);
  expect(() => session.appendMessage(user("too late"))).toThrow(
    expect.objectContaining({ code: "SESSION_CLOSED" }),
  );
});

test("events report appends and moves; a listener that throws affects no other", () => {
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  const session = SessionManager.inMemory("/projects/project");
  const seen: unknown[] = [];
  session.on("entry_appended", () => {
    throw new Error("mine");
  });
  const forget = session.on("entry_appended", ({ entry }) => seen.push(["appended", entry.id]));
  session.on("leaf_changed", ({ leafId, previousLeafId }) => seen.push(["leaf", leafId, previousLeafId]));
  const first = session.appendMessage(user("first"));
  forget();
  const second = session.appendMessage(user("second"));
  session.branch(first);
  session.resetLeaf();
  expect(seen).toEqual([
    ["appended", first],
    ["leaf", first, null],
    ["leaf", second, first],
    ["leaf", first, second],
    ["leaf", null, first],
  ]);
  expect(warn).toHaveBeenCalledTimes(2);
  warn.mockRestore();
});

test("events report a leaf that moves because this object switches to another session", () => {
  const session = SessionManager.inMemory("/projects/project");
  const first = session.appendMessage(user("first"));
  const second = session.appendMessage(user("second"));
  const seen: unknown[] = [];
  session.on("leaf_changed", ({ leafId, previousLeafId }) => {
    seen.push([previousLeafId, leafId]);
    expect(session.getLeafId()).toBe(leafId);
  });
  session.createBranchedSession(first);
  expect(session.getLeafId()).toBe(first);
  session.newSession();
  session.newSession();
  expect(seen).toEqual([
    [second, first],
    [first, null],
  ]);
});
