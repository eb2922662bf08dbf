import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { SessionManager } from "sessiontree";
import { memoryStore } from "sessiontree/stores";
import { describe, expect, test } from "vitest";
import { assistant, user } from "../../support/messages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Creates a session with two branches and a label on the first entry. */
function branched(session = SessionManager.create("/project", temporaryFolder())) {
  const first = session.appendMessage(user("first"));
  const second = session.appendMessage(assistant("second"));
  session.appendLabelChange(first, "start");
  session.branch(first);
  const other = session.appendMessage(assistant("other"));
  return { session, first, second, other };
}

function textsOf(session: SessionManager): unknown[] {
  return session.getBranch().map((entry) => (entry.type === "message" ? entry.id : entry.type));
}

describe("fork", () => {
  test("copies the path to the leaf, and does not change the session", () => {
    const { session, first, other } = branched();
    const before = [session.getSessionFile(), session.getLeafId(), session.getEntries()];
    const fork = session.fork();
    expect(textsOf(fork)).toEqual([first, other, "label"]);
    expect(fork.getLabel(first)).toBe("start");
    expect(fork.getHeader()?.parentSession).toBe(session.getSessionFile());
    expect(fork.getSessionId()).not.toBe(session.getSessionId());
    expect(fork.getSessionDir()).toBe(session.getSessionDir());
    expect([session.getSessionFile(), session.getLeafId(), session.getEntries()]).toEqual(before);
  });

  test("copies the path to any entry, or nothing", () => {
    const { session, first, second } = branched();
    expect(textsOf(session.fork({ at: second })).slice(0, 2)).toEqual([first, second]);
    const empty = session.fork({ at: null });
    expect(empty.getEntryCount()).toBe(0);
    expect(empty.getHeader()?.parentSession).toBe(session.getSessionFile());
    expect(existsSync(empty.getSessionFile() ?? "")).toBe(false);
    expect(() => session.fork({ at: "nowhere" })).toThrow(
      expect.objectContaining({ code: "ENTRY_NOT_FOUND" }),
    );
  });

  test("accepts an id and a parent", () => {
    const { session } = branched();
    const fork = session.fork({ id: "mine", parentSession: "/elsewhere.jsonl" });
    expect(fork.getHeader()).toMatchObject({ id: "mine", parentSession: "/elsewhere.jsonl" });
    expect(() => session.fork({ id: "../x" })).toThrow(
      expect.objectContaining({ code: "INVALID_SESSION_ID" }),
    );
  });

  test("writes to a file that does not exist, also from memory and from a store", async () => {
    const store = memoryStore();
    const sources = [
      branched(),
      branched(SessionManager.inMemory("/project")),
      branched(store.create({ cwd: "/project" })),
    ];
    for (const { session, first, other } of sources) {
      const path = join(temporaryFolder(), "deep", "copy.jsonl");
      const fork = session.fork({ to: path });
      expect(fork.getSessionFile()).toBe(path);
      expect(textsOf(SessionManager.open(path)).slice(0, 2)).toEqual([first, other]);
      expect(fork.getCwd()).toBe("/project");
      expect(dirname(fork.newSession() ?? "")).toBe(dirname(path));
      expect(() => session.fork({ to: path })).toThrow(expect.objectContaining({ code: "SESSION_EXISTS" }));
    }
    await store.close();
  });

  test("stays in memory, or in the store", async () => {
    const memory = branched(SessionManager.inMemory("/project")).session.fork();
    expect(memory.isPersisted()).toBe(false);
    const store = memoryStore();
    const { session } = branched(store.create({ cwd: "/project" }));
    const fork = session.fork();
    await fork.flush();
    const again = await store.open(fork.getSessionId());
    expect(again.getEntries()).toEqual(fork.getEntries());
    expect(again.getHeader()?.parentSession).toBe(session.getSessionId());
    await store.close();
  });

  test.each([[{ to: 7 }], [null], ["/a/path.jsonl"]])("rejects the options %j", (options) => {
    const { session } = branched();
    expect(() => Reflect.apply(session.fork, session, [options])).toThrow(TypeError);
  });
});
