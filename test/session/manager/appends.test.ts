import * as nodeFs from "node:fs";
import { existsSync } from "node:fs";
import { isSessionError, SessionManager } from "sessiontree";
import { describe, expect, test } from "vitest";
import { assistant, foreignEntry, toolResult, user } from "../../support/messages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { records } from "./support/workshop.ts";

const now = () => Date.UTC(2026, 1, 3, 22, 52, 6, 410);

function session(): SessionManager {
  return SessionManager.create("/projects/project", { sessionDir: temporaryFolder(), now });
}

test("nothing is on disk before the first message; then header and setup entries are written with it", () => {
  const one = session();
  one.appendModelChange("p", "m");
  one.appendThinkingLevelChange("high");
  one.appendCustomEntry("state", { a: 1 });
  expect(existsSync(one.getSessionFile() ?? "")).toBe(false);
  expect(one.getEntryCount()).toBe(3);

  one.appendMessage(user("hello"));
  expect(records(one).map(({ type }) => type)).toEqual([
    "session",
    "model_change",
    "thinking_level_change",
    "custom",
    "message",
  ]);
});

test("a message of another role than user and assistant does not begin a conversation", () => {
  const one = session();
  one.appendMessage(toolResult("c", "early"));
  one.appendCustomMessageEntry("ext", "note", true);
  expect(existsSync(one.getSessionFile() ?? "")).toBe(false);
  one.appendMessage(assistant("hello"));
  expect(records(one)).toHaveLength(4);
});

test("a message without a time gets that of its entry, and one with a time keeps it", async () => {
  for (const one of [session(), SessionManager.inMemory("/projects/project", { now })]) {
    const id = one.appendMessage({ role: "user", content: "hello" });
    expect(one.getEntry(id)).toMatchObject({
      timestamp: "2026-02-03T22:52:06.410Z",
      message: { role: "user", content: "hello", timestamp: now() },
    });
    const own = one.appendMessage({ role: "user", content: "earlier", timestamp: 1 });
    expect(one.getEntry(own)).toMatchObject({ message: { timestamp: 1 } });
    one.appendMessage({ role: "user", content: "unset", timestamp: undefined });
    expect(one.buildSessionContext().messages.map(({ timestamp }) => timestamp)).toEqual([now(), 1, now()]);
    await one.close();
  }
});

test("createAtOnce creates the file without a message", () => {
  const one = SessionManager.create("/projects/project", {
    sessionDir: temporaryFolder(),
    createAtOnce: true,
  });
  expect(records(one).map(({ type }) => type)).toEqual(["session"]);
});

test("every append is one line with the base fields first, is a child of the leaf, and becomes the leaf", () => {
  const one = session();
  const first = one.appendMessage(user("hello"));
  const id = one.appendCustomEntry("ext", { deep: [1, undefined, () => 1] });
  expect(one.getLeafId()).toBe(id);
  expect(Object.entries(records(one)[2] ?? {})).toEqual([
    ["type", "custom"],
    ["id", id],
    ["parentId", first],
    ["timestamp", "2026-02-03T22:52:06.410Z"],
    ["customType", "ext"],
    ["data", { deep: [1, null, null] }],
  ]);
});

describe("each kind of append stores its arguments", () => {
  const usage = assistant("").usage;
  const kinds: [string, (one: SessionManager) => string, object][] = [
    [
      "thinking",
      (one) => one.appendThinkingLevelChange("low"),
      { type: "thinking_level_change", thinkingLevel: "low" },
    ],
    [
      "model",
      (one) => one.appendModelChange("p", "m"),
      { type: "model_change", provider: "p", modelId: "m" },
    ],
    [
      "usage",
      (one) => one.appendUsage("title", "p", "m", usage, "why").id,
      { type: "usage", kind: "title", provider: "p", model: "m", usage, note: "why" },
    ],
    ["custom without data", (one) => one.appendCustomEntry("ext"), { type: "custom", customType: "ext" }],
    [
      "custom message",
      (one) => one.appendCustomMessageEntry("ext", "text", false, { a: 1 }),
      { type: "custom_message", customType: "ext", content: "text", display: false, details: { a: 1 } },
    ],
    [
      "name",
      (one) => one.appendSessionInfo("  two\r\n\nlines "),
      { type: "session_info", name: "two lines" },
    ],
    [
      "compaction",
      (one) => one.appendCompaction("sum", "someid", 7, { x: 1 }, true, usage),
      {
        type: "compaction",
        summary: "sum",
        firstKeptEntryId: "someid",
        tokensBefore: 7,
        details: { x: 1 },
        fromHook: true,
        usage,
      },
    ],
  ];
  test.each(kinds)("%s", (_name, append, expected) => {
    const one = session();
    one.appendMessage(user("hello"));
    const id = append(one);
    const { id: itsId, parentId, timestamp, ...rest } = records(one).at(-1) ?? {};
    expect(itsId).toBe(id);
    expect(rest).toEqual(expected);
    expect([parentId, timestamp]).toEqual([one.getBranch().at(-2)?.id, "2026-02-03T22:52:06.410Z"]);
  });
});

test("a compaction that keeps nothing names itself, and replays the system messages of the context", () => {
  const one = session();
  one.appendMessage({ role: "system", content: "Be brief.", timestamp: 1 });
  one.appendMessage(user("hello"));
  const id = one.appendCompaction("sum", null, 7);
  expect(records(one).at(-1)).toMatchObject({
    firstKeptEntryId: id,
    systemMessage: { role: "system", content: "Be brief.", timestamp: now() },
  });
  expect(one.buildSessionContext().messages.map(({ role }) => role)).toEqual(["system", "compactionSummary"]);
});

test("an appended message is returned as the same object everywhere", () => {
  const one = session();
  const message = user("hello");
  const id = one.appendMessage(message);
  const entry = one.getEntry(id);
  expect(entry?.type === "message" && entry.message).toBe(message);
  expect(one.getBranch()[0]).toBe(entry);
  expect(one.getEntries()[0]).toBe(entry);
  expect(one.getTree()[0]?.entry).toBe(entry);
  expect(one.buildSessionContext().messages[0]).toBe(message);
});

test("appendUsage returns the entry in the session", () => {
  const one = session();
  const entry = one.appendUsage("title", "p", "m", assistant("").usage);
  expect(one.getEntry(entry.id)).toBe(entry);
});

test("projected messages and values that are not messages are rejected", () => {
  const one = session();
  const wrong: unknown[] = [
    { role: "branchSummary", summary: "s", fromId: "x", timestamp: 1 },
    { role: "compactionSummary", summary: "s", tokensBefore: 1, timestamp: 1 },
    { content: "no role" },
    null,
    undefined,
  ];
  for (const message of wrong)
    expect(() => Reflect.apply(one.appendMessage, one, [message])).toThrow(TypeError);
  expect(one.getEntryCount()).toBe(0);
});

test("a message of another SDK is rejected with its fields and the function that converts it", () => {
  const one = session();
  const foreign = JSON.parse('{"role":"assistant","content":null,"tool_calls":[{"id":"c"}]}');
  const refused = expect.objectContaining({
    name: "TypeError",
    message: expect.stringMatching(/ tool_calls: .*; content: .* found null\. .*fromOpenAIChat .*convert/),
  });
  expect(() => one.appendMessage(foreign)).toThrow(refused);
  expect(() => one.append({ type: "message", message: foreign })).toThrow(refused);
  expect(() => one.appendMessage(JSON.parse('{"type":"function_call","call_id":"c"}'))).toThrow(
    /needs a role.*fromOpenAIResponses/,
  );
  const odd = JSON.parse('{"role":"assistant","content":"as a text"}');
  expect(() => one.appendMessage(odd)).toThrow(/content: expected an array of blocks, found a string/);
  expect(one.getEntryCount()).toBe(0);
  const copied = one.append(foreignEntry({ type: "message", message: odd }));
  expect(one.getEntry(copied)).toMatchObject({ message: odd });
  const hosts = JSON.parse('{"role":"note","content":null,"parts":[],"tool_calls":[{"id":"c"}]}');
  expect(one.getEntry(one.appendMessage(hosts))).toMatchObject({ message: hosts });
});

test("cycles and BigInts throw a TypeError with the path, and nothing is written", () => {
  const one = session();
  one.appendMessage(user("hello"));
  const before = records(one);
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  expect(() => one.appendCustomEntry("ext", { in: cycle })).toThrow(/circular.*\$\.data\.in\.self/);
  expect(() => one.appendCustomEntry("ext", [1n])).toThrow(/BigInt.*\$\.data\[0\]/);
  expect(records(one)).toEqual(before);
  expect(one.getEntryCount()).toBe(1);
});

test("labels are set, replaced, and cleared; an unknown target throws", () => {
  const one = session();
  const id = one.appendMessage(user("hello"));
  one.appendLabelChange(id, "a");
  one.appendLabelChange(id, "b");
  expect(one.getLabel(id)).toBe("b");
  expect(one.getTree()[0]).toMatchObject({ label: "b", labelTimestamp: "2026-02-03T22:52:06.410Z" });
  one.appendLabelChange(id, "");
  expect(one.getLabel(id)).toBeUndefined();
  expect(records(one).at(-1)).not.toHaveProperty("label");
  expect(() => one.appendLabelChange("nowhere", "x")).toThrow(/^Entry nowhere not found/);
});

describe("context edits", () => {
  test("a text becomes a block for an assistant, and null removes", () => {
    const one = session();
    const question = one.appendMessage(user("question"));
    const answer = one.appendMessage(assistant("long answer"));
    one.appendContextEdit(answer, { content: "short" });
    one.appendContextEdit(question, null);
    expect(records(one)[3]).toMatchObject({ replacement: { content: [{ type: "text", text: "short" }] } });
    expect(one.buildSessionContext().messages).toMatchObject([
      { role: "assistant", content: [{ type: "text", text: "short" }], model: "m1" },
    ]);
    expect(one.getEntry(answer)).toMatchObject({ message: { content: [{ text: "long answer" }] } });
  });

  test("a replacement is null or has content", () => {
    const one = session();
    const id = one.appendMessage(user("question"));
    for (const replacement of [undefined, {}, "text", { content: 5 }, { content: [5] }]) {
      expect(() => Reflect.apply(one.appendContextEdit, one, [id, replacement])).toThrow(TypeError);
    }
    expect(one.getEntryCount()).toBe(1);
  });

  test("the target must exist, be on the branch, and have content", () => {
    const one = session();
    const first = one.appendMessage(user("first"));
    const left = one.appendMessage(user("left"));
    one.branch(first);
    const model = one.appendModelChange("p", "m");
    const codes = ["nowhere", left, model].map((target) => {
      try {
        one.appendContextEdit(target, null);
        return "none";
      } catch (error) {
        return isSessionError(error) ? error.code : String(error);
      }
    });
    expect(codes).toEqual(["ENTRY_NOT_FOUND", "ENTRY_INVALID", "ENTRY_INVALID"]);
  });
});

describe("append", () => {
  test("accepts any type, a parent, and an expected leaf", () => {
    const one = session();
    const first = one.appendMessage(user("first"));
    one.appendMessage(user("second"));
    const id = one.append(
      { unknownType: "my_note", text: "x" },
      { parentId: first, expectedLeafId: one.getLeafId() },
    );
    expect(one.getEntry(id)).toMatchObject({ type: "my_note", text: "x", parentId: first });
    const root = one.append({ unknownType: "my_note" }, { parentId: null });
    expect(one.getChildren(null).map((entry) => entry.id)).toEqual([first, root]);
  });

  test("throws STALE_LEAF and writes nothing when the leaf has moved", () => {
    const one = session();
    const first = one.appendMessage(user("first"));
    one.appendMessage(user("second"));
    const before = records(one);
    expect(() => one.append({ unknownType: "note" }, { expectedLeafId: first })).toThrow(
      expect.objectContaining({ code: "STALE_LEAF" }),
    );
    expect(() => one.append({ unknownType: "note" }, { parentId: "nowhere" })).toThrow(
      expect.objectContaining({ code: "ENTRY_NOT_FOUND" }),
    );
    expect(records(one)).toEqual(before);
  });

  test("ignores head fields of a draft", () => {
    const one = session();
    const first = one.appendMessage(user("first"));
    const id = one.append({ type: "note", id: first, parentId: "x", timestamp: "y", text: "kept" });
    expect(id).not.toBe(first);
    expect(one.getEntry(id)).toMatchObject({
      parentId: first,
      timestamp: "2026-02-03T22:52:06.410Z",
      text: "kept",
    });
    for (const draft of [{ type: "session" }, { type: "leaf" }, { type: "" }, { type: "message" }, null]) {
      expect(() => Reflect.apply(one.append, one, [draft])).toThrow(TypeError);
    }
    const projected = { role: "compactionSummary", summary: "s", tokensBefore: 1, timestamp: 1 };
    expect(() => one.append(foreignEntry({ type: "message", message: projected }))).toThrow(TypeError);
    expect(Object.keys(records(one).at(-1) ?? {})).toEqual(["type", "id", "parentId", "timestamp", "text"]);
  });
});

describe("a draft", () => {
  const invalid: { readonly [what: string]: object } = {
    "whose type is misspelled": { type: "mesage", message: user("lost") },
    "whose known type is passed as an unknown one": { unknownType: "message", message: user("lost") },
    "of a bare compaction": { type: "compaction" },
    "of a compaction that keeps nothing it names": {
      type: "compaction",
      summary: "s",
      firstKeptEntryId: null,
    },
    "of a compaction copied without a summary": foreignEntry({ type: "compaction", firstKeptEntryId: "x" }),
    "of an edit without a replacement": { type: "context_edit", targetId: "x" },
    "of an edit without blocks": { type: "context_edit", targetId: "x", replacement: { content: [7] } },
    "of a model without a provider": { type: "model_change", modelId: "m1" },
    "of a thinking level that is none": { type: "thinking_level_change", thinkingLevel: 3 },
    "of a label without a target": { type: "label", label: "x" },
    "of usage without usage": { type: "usage", kind: "k", provider: "p", model: "m" },
    "of a custom message without content": { type: "custom_message", customType: "x", display: true },
    "of state without a name": { type: "custom", data: 1 },
    "of a branch summary without one": { type: "branch_summary", fromId: "root" },
  };

  test.each(Object.entries(invalid))("%s is rejected before anything is written", async (_what, draft) => {
    const one = session();
    one.appendMessage(user("first"));
    const before = records(one);
    const context = one.buildSessionContext();
    const refused = expect.objectContaining({ code: "ENTRY_INVALID" });
    expect(() => Reflect.apply(one.append, one, [draft])).toThrow(refused);
    expect(() => Reflect.apply(one.appendAll, one, [[draft]])).toThrow(refused);
    expect(() => Reflect.apply(one.appendAll, one, [[() => draft]])).toThrow(refused);
    await expect(Reflect.apply(one.appendIfLeaf, one, [draft])).rejects.toEqual(refused);
    expect(records(one)).toEqual(before);
    expect(one.buildSessionContext()).toEqual(context);
  });

  test("with an invalid message is a TypeError, as for appendMessage", () => {
    const one = session();
    for (const message of [{ role: "user", content: 7 }, { role: "assistant", content: "text" }, "text"]) {
      expect(() => Reflect.apply(one.append, one, [{ type: "message", message }])).toThrow(TypeError);
      expect(() => Reflect.apply(one.appendMessage, one, [message])).toThrow(TypeError);
    }
    expect(one.getEntryCount()).toBe(0);
  });

  test("of an entry of another session is stored, malformed or not", () => {
    const one = session();
    const id = one.append(foreignEntry({ type: "of tomorrow", text: "kept" }));
    expect(one.getEntry(id)).toMatchObject({ type: "of tomorrow", text: "kept", parentId: null });
    const label = one.append(foreignEntry({ type: "label", label: 7 }));
    expect(one.getEntry(label)).toMatchObject({ type: "label", label: 7, parentId: id });
    const tail = foreignEntry({
      type: "compaction",
      summary: "s",
      tokensBefore: 1,
      retainedTail: [user("kept")],
    });
    one.append(tail);
    expect(one.buildSessionContext().messages.at(-1)).toEqual(user("kept"));
  });
});

describe("appendAll", () => {
  test("appends a chain in one write, and emits one event per entry after all are stored", () => {
    const folder = temporaryFolder();
    let writes = 0;
    const fs = new Proxy(nodeFs, {
      get: (target, key) => {
        if (key === "writeSync") writes++;
        return Reflect.get(target, key);
      },
    });
    const one = SessionManager.create("/projects/project", { sessionDir: folder, fs });
    const first = one.appendMessage(user("first"));
    const told: [string, number][] = [];
    one.on("entry_appended", ({ entry }) => told.push([entry.id, one.getEntryCount()]));
    writes = 0;
    const ids = one.appendAll([
      { type: "message", message: user("second") },
      (id, timestampMs) => ({ unknownType: "note", says: `${id} at ${typeof timestampMs}` }),
    ]);
    expect(writes).toBe(1);
    expect(told).toEqual(ids.map((id) => [id, 3]));
    expect(one.getPathIds()).toEqual([first, ...ids]);
    expect(one.getLeafEntry()).toMatchObject({ says: `${ids[1]} at number` });
    expect(one.buildSessionContext().messages).toEqual([user("first"), user("second")]);
    expect(SessionManager.open(one.getSessionFile() ?? "").getBranch()).toEqual(one.getBranch());
  });

  test("begins a branch, and writes nothing for no drafts or a failed condition", () => {
    const one = session();
    const first = one.appendMessage(user("first"));
    const second = one.appendMessage(user("second"));
    const before = records(one);
    expect(one.appendAll([], { parentId: null })).toEqual([]);
    const drafts = [{ unknownType: "note" }, { unknownType: "note" }];
    expect(() => one.appendAll(drafts, { expectedLeafId: first })).toThrow(
      expect.objectContaining({ code: "STALE_LEAF" }),
    );
    expect(() => one.appendAll([{ unknownType: "note" }, { unknownType: "session" }])).toThrow(TypeError);
    expect(records(one)).toEqual(before);
    expect(one.getLeafId()).toBe(second);
    const ids = one.appendAll(drafts, { parentId: first });
    expect(one.getPathIds()).toEqual([first, ...ids]);
    const root = one.appendAll([{ unknownType: "note" }], { parentId: null });
    expect(one.getPathIds()).toEqual(root);
  });

  test("a full disk keeps none of them", () => {
    const folder = temporaryFolder();
    let isFull = false;
    const fs = new Proxy(nodeFs, {
      get: (target, key) => {
        const call: unknown = Reflect.get(target, key);
        if (key !== "writeSync" || !isFull) return call;
        return (fd: number, bytes: Uint8Array, offset: number, length: number) => {
          if (length < 20) throw Object.assign(new Error("full"), { code: "ENOSPC" });
          return nodeFs.writeSync(fd, bytes, offset, length - 10);
        };
      },
    });
    const one = SessionManager.create("/projects/project", { sessionDir: folder, fs });
    one.appendMessage(user("first"));
    const before = records(one);
    isFull = true;
    expect(() =>
      one.appendAll([{ unknownType: "note" }, { unknownType: "note", text: "x".repeat(100) }]),
    ).toThrow(expect.objectContaining({ code: "WRITE_FAILED" }));
    expect(records(one)).toEqual(before);
    expect(one.getEntryCount()).toBe(1);
    isFull = false;
    one.appendAll([{ unknownType: "note" }, { unknownType: "note" }]);
    expect(records(one)).toHaveLength(before.length + 2);
  });
});

test("beforePersist is called for every entry before it is stored, and may not change its head", () => {
  const folder = temporaryFolder();
  const redacting = SessionManager.create("/projects/project", {
    sessionDir: folder,
    beforePersist: (entry) => JSON.parse(JSON.stringify(entry).replaceAll("secret", "[out]")),
  });
  const id = redacting.appendMessage(user("the secret"));
  expect(redacting.getEntry(id)).toMatchObject({ message: { content: "the [out]" } });
  expect(JSON.stringify(records(redacting))).not.toContain("secret");

  const meddling = SessionManager.inMemory("/projects/project", {
    beforePersist: (entry) => ({ ...entry, id: "other" }),
  });
  expect(() => meddling.appendMessage(user("x"))).toThrow(expect.objectContaining({ code: "ENTRY_INVALID" }));
  expect(meddling.getEntryCount()).toBe(0);
});
