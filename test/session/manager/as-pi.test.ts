import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { SessionManager } from "sessiontree";
import { describe, expect, test } from "vitest";
import { assistant, toolResult, usage, user } from "../../support/messages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { records } from "./support/workshop.ts";

describe("the keys of a summary", () => {
  test("are in pi's order", () => {
    const session = SessionManager.create("/project", { sessionDir: temporaryFolder() });
    const id = session.appendMessage(user("one"));
    session.appendMessage(assistant("two"));
    session.appendCompaction("summary", id, 10, { readFiles: [] }, true, usage(10));
    session.branchWithSummary(id, "left", { readFiles: [] }, true, usage(10));
    const [compaction, branch] = records(session).slice(-2).map(Object.keys);
    const base = ["type", "id", "parentId", "timestamp"];
    const end = ["details", "usage", "fromHook"];
    expect(compaction).toEqual([...base, "summary", "firstKeptEntryId", "tokensBefore", ...end]);
    expect(branch).toEqual([...base, "fromId", "summary", ...end]);
  });
});

describe("a value that JSON cannot hold", () => {
  /** Makes such a value as an untyped program does. */
  const odd = () => {
    const message = toolResult("call", "done");
    const details = { count: 10n, name: "kept" };
    Reflect.set(details, "self", details);
    Reflect.set(message, "details", details);
    return message;
  };

  test("stays the live object in memory, and is a string in every copy", () => {
    const session = SessionManager.inMemory("/project");
    session.appendMessage(user("one"));
    const message = odd();
    const id = session.appendMessage(message);
    const custom = session.appendCustomEntry("state", message.details);
    expect(session.getEntry(id)).toMatchObject({ message });
    expect(session.buildSessionContext().messages.at(-1)).toBe(message);
    expect(session.issues.map(({ code, entryId }) => [code, entryId])).toEqual([
      ["VALUE_REPLACED", id],
      ["VALUE_REPLACED", custom],
    ]);
    expect(session.issues[0]?.message).toContain("$.message.details.count");
    // The tree is read again, and the entry stays the same object.
    session.redactEntry(session.getBranch()[0]?.id ?? "");
    expect(session.getEntry(id)).toMatchObject({ message });
    session.appendMessage(user("next"));

    const plain = { count: "10", name: "kept", self: "[circular]" };
    const path = join(temporaryFolder(), "export.jsonl");
    session.fork({ to: path });
    const copies = [SessionManager.open(path), session.fork()];
    for (const copy of copies) expect(copy.getEntry(id)).toMatchObject({ message: { details: plain } });
    session.createBranchedSession(session.getLeafId() ?? "");
    expect(session.getEntry(custom)).toMatchObject({ data: plain });
  });

  test("is kept as the live object with which a session in memory begins", () => {
    const source = SessionManager.inMemory("/project");
    source.appendMessage(user("one"));
    source.appendMessage(odd());
    source.appendCustomEntry("state", { at: undefined, total: 3n });
    const entries = source.getEntries();
    const session = SessionManager.inMemory("/project", undefined, entries);
    // As in pi, hosts find the objects that they passed.
    for (const [i, entry] of session.getEntries().entries()) expect(entry).toBe(entries[i]);
    expect(session.buildSessionContext().messages).toEqual(source.buildSessionContext().messages);
    expect(session.issues.map(({ code, line, entryId }) => [code, line, entryId])).toEqual([
      ["VALUE_REPLACED", 3, entries[1]?.id],
      ["VALUE_REPLACED", 4, entries[2]?.id],
    ]);
    session.appendMessage(user("next"));
    session.createBranchedSession(session.getLeafId() ?? "");
    expect(session.getEntry(entries[2]?.id ?? "")).toMatchObject({ data: { total: "3" } });
  });

  test("is read in the form of JSON, with an issue, if a session in memory begins with an older version", () => {
    const header = {
      type: "session" as const,
      id: "s",
      timestamp: "2026-03-01T12:00:00.000Z",
      cwd: "/project",
    };
    const entry = { type: "custom" as const, id: "", parentId: null, timestamp: header.timestamp };
    const session = SessionManager.inMemory("/project", undefined, [
      header,
      { ...entry, customType: "state", data: { total: 3n } },
    ]);
    expect(session.getEntries()).toMatchObject([{ customType: "state", data: { total: "3" } }]);
    expect(session.issues.map(({ code }) => code)).toContain("VALUE_REPLACED");
  });

  test("is rejected before anything is written, in a file", () => {
    const session = SessionManager.create("/project", { sessionDir: temporaryFolder() });
    session.appendMessage(user("one"));
    expect(() => session.appendMessage(odd())).toThrow(TypeError);
    expect(records(session)).toHaveLength(2);
    expect(session.getEntryCount()).toBe(1);
  });
});

describe("a fork", () => {
  const settings = { provider: "acme", modelId: "m1", thinkingLevel: "high" };
  const time = { timestamp: "2026-03-01T12:00:00.000Z" };

  test.each([
    [1, {}],
    [3, settings],
  ])("of version %i has these settings of the header: %o", (version, kept) => {
    const path = join(temporaryFolder(), "s.jsonl");
    const header = { type: "session", version, id: "one", cwd: "/project", ...time, ...settings };
    const message = { type: "message", id: "0000000a", parentId: null, ...time, message: user("hello") };
    writeFileSync(path, [header, message].map((record) => `${JSON.stringify(record)}\n`).join(""));
    const fork = SessionManager.forkFrom(path, "/other", temporaryFolder());
    const { provider, modelId, thinkingLevel } = {
      provider: undefined,
      modelId: undefined,
      ...fork.getHeader(),
    };
    expect({ provider, modelId, thinkingLevel }).toEqual({
      provider: undefined,
      modelId: undefined,
      thinkingLevel: undefined,
      ...kept,
    });
  });
});

/** Signal of another realm or library: it has all required members, but another class. */
class OtherSignal extends EventTarget implements AbortSignal {
  aborted = false;
  reason: unknown;
  onabort = null;

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  abort(): void {
    this.aborted = true;
    this.dispatchEvent(new Event("abort"));
  }
}

describe("a signal of another realm", () => {
  test.each(["second", "third"])("ends listAll as its %s argument", async (place) => {
    const signal = new OtherSignal();
    signal.abort();
    const folder = temporaryFolder();
    const listed =
      place === "third"
        ? SessionManager.listAll(folder, undefined, signal)
        : SessionManager.listAll(() => undefined, signal);
    await expect(listed).rejects.toMatchObject({ code: "ABORTED" });
  });

  test("ends watch", async () => {
    const signal = new OtherSignal();
    const session = SessionManager.create("/project", { sessionDir: temporaryFolder(), createAtOnce: true });
    const watched = session.watch({ signal });
    const next = watched.next();
    signal.abort();
    expect(await next).toMatchObject({ done: true });
  });
});

describe("an object that is not a session", () => {
  test.each([
    ["a proxy", (session: SessionManager) => new Proxy(session, {})],
    ["an object made from one", (session: SessionManager): SessionManager => Object.create(session)],
  ])("is rejected: %s", (_name, wrap) => {
    const session = SessionManager.inMemory();
    const wrapped = wrap(session);
    for (const call of [
      () => wrapped.appendMessage(user("hello")),
      () => wrapped.getEntries(),
      () => wrapped.issues,
      () => [...wrapped.walk()],
    ])
      expect(call).toThrow(TypeError);
    const { getEntryCount } = session;
    expect(getEntryCount.name).toBe("getEntryCount");
    expect(getEntryCount.call(session)).toBe(0);
  });

  test("is constructed with new: the message names the function to use instead", () => {
    expect(() => Reflect.construct(SessionManager, ["/project", "sessions"])).toThrow(
      /SessionManager\.create\(cwd\)/,
    );
  });
});

test("a message that names a command names the function, too", () => {
  const path = join(temporaryFolder(), "s.jsonl");
  writeFileSync(path, '{"no":"header"}\n');
  expect(() => SessionManager.open(path)).toThrow(/repairSession\(path\) or "sessiontree repair"/);
});
