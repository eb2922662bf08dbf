import * as nodeFs from "node:fs";
import { SessionManager } from "sessiontree";
import { loadChat, saveChat } from "sessiontree/adapters";
import { memoryStore } from "sessiontree/stores";
import { expect, test } from "vitest";
import { assistant, call, toolResult, user } from "../../support/messages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const asked = (id: string, text: string) => ({
  id,
  role: "user" as const,
  parts: [{ type: "text" as const, text }],
});
const said = (id: string, text: string) => ({
  id,
  role: "assistant" as const,
  parts: [{ type: "step-start" as const }, { type: "text" as const, text }],
});
const called = (id: string, output?: string) => ({
  id,
  role: "assistant" as const,
  parts: [
    { type: "step-start" as const },
    {
      type: "tool-read" as const,
      toolCallId: "c1",
      input: { path: "a" },
      ...(output === undefined
        ? { state: "input-available" as const }
        : { state: "output-available" as const, output }),
    },
  ],
});

function onFile(options: { fs?: typeof nodeFs } = {}) {
  return SessionManager.create("/projects/shop", { sessionDir: temporaryFolder(), ...options });
}

const reopened = (session: SessionManager) => SessionManager.open(session.getSessionFile() ?? "");

test("restores a chat with its ids, writes it once, and appends only what is new", async () => {
  const session = onFile();
  const chat = [asked("u1", "What is in a?"), { ...called("a1", "text of a") }];
  const first = await saveChat(session, chat);
  expect(first).toMatchObject({ hasBranched: false, issues: [] });
  expect(first.entryIds).toEqual(session.getPathIds());
  expect(loadChat(session)).toEqual(chat);
  expect(await saveChat(session, chat)).toMatchObject({ entryIds: [], hasBranched: false });

  const longer = [...chat, asked("u2", "And b?"), said("a2", "Nothing.")];
  expect((await saveChat(session, longer)).entryIds).toHaveLength(2);
  expect(loadChat(reopened(session))).toEqual(longer);
  expect(session.getLeaves()).toHaveLength(1);
});

test("branches for a regenerated answer and an edited question, and keeps the old branches", async () => {
  const session = onFile();
  const chat = [asked("u1", "Why?"), said("a1", "Because."), asked("u2", "Really?"), said("a2", "Yes.")];
  await saveChat(session, chat);
  const old = session.getLeafId() ?? "";

  const regenerated = [...chat.slice(0, 3), said("a3", "No.")];
  expect(await saveChat(session, regenerated)).toMatchObject({ hasBranched: true });
  expect(loadChat(reopened(session))).toEqual(regenerated);

  const edited = [asked("u1", "Why not?"), said("a4", "Who knows.")];
  expect(await saveChat(session, edited)).toMatchObject({ hasBranched: true });
  expect(loadChat(reopened(session))).toEqual(edited);
  expect(session.getLeaves()).toHaveLength(3);

  session.branch(old);
  expect(loadChat(session)).toEqual(chat);
  const count = session.getEntryCount();
  // Return to the earlier chat: its branch continues.
  expect(await saveChat(session, regenerated)).toMatchObject({ entryIds: [], hasBranched: true });
  expect(session.getEntryCount()).toBe(count + 1);
  expect(loadChat(reopened(session))).toEqual(regenerated);
});

test("recognizes the same message under another id", async () => {
  const session = onFile();
  await saveChat(session, [asked("u1", "Why?"), said("server-1", "Because.")]);
  const again = [asked("u1", "Why?"), said("client-1", "Because."), asked("u2", "Thanks.")];
  expect(await saveChat(session, again)).toMatchObject({ hasBranched: false });
  expect(loadChat(session).map(({ id }) => id)).toEqual(["u1", "server-1", "u2"]);
});

test("removes a deleted message from the branch, even after the session is reopened", async () => {
  const session = onFile();
  const chat = [asked("u1", "Why?"), said("a1", "Because.")];
  await saveChat(session, chat);
  expect(await saveChat(session, chat.slice(0, 1))).toMatchObject({ entryIds: [], hasBranched: true });
  expect(loadChat(reopened(session))).toEqual(chat.slice(0, 1));
  const count = session.getEntryCount();
  expect(await saveChat(session, chat.slice(0, 1))).toMatchObject({ hasBranched: false });
  expect(session.getEntryCount()).toBe(count);
  await saveChat(session, []);
  expect(loadChat(reopened(session))).toEqual([]);
});

test("stores the result of a pending call without a branch", async () => {
  const session = onFile();
  await saveChat(session, [asked("u1", "What is in a?"), called("a1")]);
  expect(loadChat(session)).toEqual([asked("u1", "What is in a?"), called("a1")]);
  const done = [asked("u1", "What is in a?"), called("a1", "text of a")];
  expect(await saveChat(session, done)).toMatchObject({ hasBranched: false });
  expect(loadChat(session)).toEqual(done);
});

test("restores parts without a counterpart", async () => {
  const session = onFile();
  const chat = [
    asked("u1", "Look it up."),
    {
      id: "a1",
      role: "assistant" as const,
      metadata: { cost: 1 },
      parts: [
        { type: "step-start" },
        { type: "text", text: "Here." },
        { type: "source-url", sourceId: "s1", url: "https://example.com", title: "Example" },
        { type: "data-weather", id: "w1", data: { degrees: 20 } },
      ],
    },
  ];
  const { issues } = await saveChat(session, chat);
  expect(issues).toMatchObject([{ code: "KEPT_IN_DETAILS", index: 1 }]);
  expect(loadChat(reopened(session))).toEqual(chat);
  expect(await saveChat(session, chat)).toMatchObject({ entryIds: [], hasBranched: false });
});

test("reads the answer's usage and model from the host's metadata", async () => {
  const session = onFile();
  const totalUsage = {
    inputTokens: 100,
    inputTokenDetails: { noCacheTokens: 30, cacheReadTokens: 60, cacheWriteTokens: 10 },
    outputTokens: 20,
    outputTokenDetails: { reasoningTokens: 5 },
    totalTokens: 120,
  };
  const chat = [
    asked("u1", "Why?"),
    {
      id: "a1",
      role: "assistant" as const,
      metadata: {
        totalUsage,
        usage: { inputTokens: 1, outputTokens: 1 },
        provider: "acme",
        model: "acorn-2",
      },
      parts: [
        { type: "step-start" },
        { type: "text", text: "One moment." },
        { type: "step-start" },
        { type: "text", text: "Because." },
      ],
    },
  ];
  await saveChat(session, chat);
  const answers = session.getEntries().flatMap((entry) => {
    const isAnswer = entry.type === "message" && entry.message.role === "assistant";
    return isAnswer && entry.message.role === "assistant" ? [entry.message] : [];
  });
  expect(answers.map(({ provider, model, usage }) => [provider, model, usage.totalTokens])).toEqual([
    ["acme", "acorn-2", 0],
    ["acme", "acorn-2", 120],
  ]);
  expect(answers[1]?.usage).toMatchObject({
    input: 30,
    output: 20,
    cacheRead: 60,
    cacheWrite: 10,
    reasoning: 5,
  });
  expect(loadChat(reopened(session))).toEqual(chat);
  expect(await saveChat(session, chat)).toMatchObject({ entryIds: [], hasBranched: false });
});

test("restores a stopped answer as it was, and appends to it", async () => {
  const session = onFile();
  const stopped = {
    id: "a1",
    role: "assistant" as const,
    parts: [
      { type: "step-start" },
      { type: "text", text: "", state: "streaming" },
      { type: "tool-read", toolCallId: "c1", state: "input-streaming", rawInput: '{"pa' },
    ],
  };
  const nothing = { id: "a2", role: "assistant" as const, parts: [] };
  const chat = [asked("u1", "Go."), stopped, asked("u2", "Again."), nothing, asked("u3", "Hello?")];
  const { issues } = await saveChat(session, chat);
  expect(issues.map(({ code, index }) => [code, index])).toEqual([
    ["KEPT_IN_DETAILS", 1],
    ["MESSAGE_DROPPED", 3],
  ]);
  expect(loadChat(reopened(session))).toEqual(chat.filter((message) => message !== nothing));
  const longer = [...loadChat(session), said("a3", "Yes?")];
  expect(await saveChat(session, longer)).toMatchObject({ hasBranched: false });
  expect(session.getLeaves()).toHaveLength(1);
});

test("continues a session with calls without results and stopped answers without a branch", async () => {
  const session = SessionManager.inMemory();
  const called = (id: string) => [
    { type: "text" as const, text: `Let me look ${id}.` },
    { type: "toolCall" as const, id, name: "read", arguments: {} },
  ];
  session.appendMessage(user("What is in a?"));
  session.appendMessage({ ...assistant(""), content: called("c1"), stopReason: "toolUse" });
  session.appendMessage(user("And b?"));
  session.appendMessage({ ...assistant(""), content: called("c2"), stopReason: "aborted" });
  session.appendMessage(toolResult("c2", "text of b"));
  session.appendMessage(user("Well?"));
  session.appendMessage({ ...assistant(""), content: [{ type: "thinking", thinking: "Hm." }] });
  session.appendMessage(assistant("That."));
  const count = session.getEntryCount();
  expect(await saveChat(session, [...loadChat(session), asked("u9", "Thanks.")])).toMatchObject({
    hasBranched: false,
  });
  expect(session.getEntryCount()).toBe(count + 1);
});

test("loads a session that another source created as a whole chat despite compaction, and continues it", async () => {
  const session = SessionManager.inMemory();
  session.appendMessage({ role: "system", content: "Be brief.", timestamp: 1 });
  const first = session.appendMessage(user("What is in a?"));
  const answer = session.appendMessage({
    ...assistant("Let me look."),
    content: [{ type: "toolCall", id: "c1", name: "read", arguments: { path: "a" } }],
    stopReason: "toolUse",
  });
  session.appendMessage(toolResult("c1", "text of a"));
  session.appendMessage(assistant("That."));
  session.appendCompaction("They read a.", null, 100);
  const chat = loadChat(session);
  expect(chat.map(({ id, role }) => [id, role])).toEqual([
    [first, "user"],
    [answer, "assistant"],
  ]);
  const longer = [...chat, asked("u2", "Thanks.")];
  expect(await saveChat(session, longer)).toMatchObject({ hasBranched: false });
  expect(loadChat(session)).toEqual(longer);
  expect(session.buildSessionContext().messages.map(({ role }) => role)).toEqual([
    "system",
    "compactionSummary",
    "user",
  ]);
});

test("matches a redacted message to the one that the host still has, neither restoring it nor branching", async () => {
  const chat = [
    asked("u1", "The key is hunter2."),
    called("a1", "a file with hunter2"),
    asked("u2", "Thanks."),
    said("a2", "hunter2 it is."),
  ];
  for (const at of [0, 1, 2, 3, 4]) {
    const session = onFile();
    await saveChat(session, chat);
    session.redactEntry(session.getPathIds()[at] ?? "");
    for (const one of [session, reopened(session)])
      expect(await saveChat(one, chat)).toMatchObject({ entryIds: [], hasBranched: false });
    expect((await saveChat(session, [...chat, asked("u3", "Go on.")])).hasBranched).toBe(false);
    expect(session.getLeaves()).toHaveLength(1);
  }
});

test("matches a message with a redacted part to the original, but not a new message in its place", async () => {
  const session = onFile();
  const chat = [asked("u1", "Hello."), said("a1", "The key is hunter2, the door is red.")];
  await saveChat(session, chat);
  const [, answer = ""] = session.getPathIds();
  const path = session.getSessionFile() ?? "";
  await session.close();
  const record = { customType: "sessiontree.redaction", data: { targetIds: [answer] } };
  const head = { type: "custom", id: "0000000a", parentId: answer, timestamp: new Date().toISOString() };
  const text = nodeFs.readFileSync(path, "utf8").replace("hunter2", "[gone]");
  nodeFs.writeFileSync(path, `${text}${JSON.stringify({ ...head, ...record })}\n`);
  const redacted = SessionManager.open(path);
  expect(await saveChat(redacted, chat)).toMatchObject({ entryIds: [], hasBranched: false });
  expect(nodeFs.readFileSync(path, "utf8")).not.toContain("hunter2");
  redacted.redactEntry(answer);
  const anew = [...chat.slice(0, 1), said("a9", "There is no key.")];
  expect(await saveChat(redacted, anew)).toMatchObject({ hasBranched: true });
  expect(loadChat(redacted)).toEqual(anew);
});

test("leaves the session and its leaf unchanged if writing fails", async () => {
  let isFull = false;
  const fs = new Proxy(nodeFs, {
    get: (target, key) => {
      const call: unknown = Reflect.get(target, key);
      if (key !== "writeSync" || !isFull) return call;
      return () => {
        throw Object.assign(new Error("full"), { code: "ENOSPC" });
      };
    },
  });
  const session = onFile({ fs });
  const chat = [asked("u1", "Why?"), said("a1", "Because.")];
  await saveChat(session, chat);
  const leaf = session.getLeafId();
  isFull = true;
  const edited = [asked("u1", "Why not?"), said("a2", "Who knows.")];
  await expect(saveChat(session, edited)).rejects.toThrow(expect.objectContaining({ code: "WRITE_FAILED" }));
  expect(session.getLeafId()).toBe(leaf);
  expect(loadChat(session)).toEqual(chat);
  isFull = false;
  await saveChat(session, edited);
  expect(loadChat(reopened(session))).toEqual(edited);
});

test("refuses values that are not messages, and writes nothing", async () => {
  const session = memoryStore().create({ cwd: "/projects/shop" });
  const save = (messages: unknown) => Reflect.apply(saveChat, undefined, [session, messages]);
  await expect(save([asked("u1", "a"), { id: "x", role: "tool", parts: [] }])).rejects.toThrow(TypeError);
  expect(session.getEntryCount()).toBe(0);
});

const image = { type: "image" as const, data: "iVBORw0KGgo=", mimeType: "image/png" };
const failed = (...texts: string[]) => ({
  ...toolResult("c1", "", true),
  content: texts.map((text) => ({ type: "text" as const, text })),
});
const turn = (id: string, result: ReturnType<typeof toolResult>, before = "") => [
  assistant(before, {}, call(id)),
  { ...result, toolCallId: id },
];

test.each([
  ["a blank text before a call", turn("c1", toolResult("c1", "x"), "\n\n")],
  ["an id with a dot and a colon", turn("functions.bash:0", toolResult("", "x"))],
  ["a long id", turn("c".repeat(70), toolResult("", "x"))],
  [
    "an id that is used again",
    [...turn("call_0", toolResult("", "x")), ...turn("call_0", toolResult("", "y"))],
  ],
  ["a failure of two texts", turn("c1", failed("a", "b"))],
  ["a failure with an image", turn("c1", { ...failed("a"), content: [...failed("a").content, image] })],
  ["a failure with only an image", turn("c1", { ...failed(), content: [image] })],
  ["a result with a blank text", turn("c1", toolResult("c1", "\n"))],
  ["a blank question", [assistant("x"), user(" ")]],
  [
    "empty thinking",
    [assistant([{ type: "thinking", thinking: "", thinkingSignature: "s" }], {}, call("c1"))],
  ],
])("loads %s and saves it unchanged", async (_what, messages) => {
  const session = SessionManager.inMemory();
  for (const message of [user("Hi"), ...messages, assistant("Done.")]) session.appendMessage(message);
  const path = session.getPathIds();
  const loaded = loadChat(session);
  expect(await saveChat(session, loaded)).toMatchObject({ entryIds: [], hasBranched: false });
  expect((await saveChat(session, [...loaded, asked("u2", "Next?")])).entryIds).toHaveLength(1);
  expect(session.getPathIds().slice(0, -1)).toEqual(path);
});

test("keeps a call's id in the chat even if a provider would reject it", async () => {
  const session = SessionManager.inMemory();
  for (const message of [user("Hi"), ...turn("functions.bash:0", toolResult("", "x"))])
    session.appendMessage(message);
  expect(loadChat(session)[1]?.parts).toContainEqual(
    expect.objectContaining({ toolCallId: "functions.bash:0" }),
  );
});

test.each([
  ["that the user interface adds", [assistant("", {}, call("call_0|fc_1"))], "call_0|fc_1"],
  ["that it changes", turn("call_0", toolResult("", "y")), "call_0"],
])("stores a result %s under its call's id in the session", async (_what, messages, id) => {
  const session = SessionManager.inMemory();
  const before = id === "call_0" ? turn("call_0", toolResult("", "x")) : [];
  for (const message of [user("Hi"), ...before, ...messages]) session.appendMessage(message);
  const chat = JSON.parse(JSON.stringify(loadChat(session)));
  Object.assign(chat.at(-1).parts.at(-1), { state: "output-available", output: "z" });
  expect((await saveChat(session, chat)).entryIds).toHaveLength(1);
  expect(session.getLeafEntry()).toMatchObject({ message: { role: "toolResult", toolCallId: id } });
});

test("restores a question with metadata and a blank text in full", async () => {
  const session = SessionManager.inMemory();
  const chat = [{ ...asked("u1", "Why?"), metadata: { at: 1 } }];
  const parts = [...(chat[0]?.parts ?? []), { type: "text" as const, text: " " }];
  await saveChat(session, [{ ...asked("u1", ""), metadata: { at: 1 }, parts }]);
  expect(loadChat(session)).toEqual([{ id: "u1", role: "user", metadata: { at: 1 }, parts }]);
});

test("assigns entry ids to a chat whose host has none, and keeps its messages apart", async () => {
  const session = onFile();
  const chat = [asked("", "Why?"), said("", "Because."), said("", "Or not."), asked("u2", "Really?")];
  const { id: _, ...last } = said("a2", "Yes.");
  // A JavaScript host whose last answer has no id at all.
  const untyped: ReturnType<typeof said> = Object.assign(JSON.parse(JSON.stringify(last)));
  const { entryIds } = await saveChat(session, [...chat, untyped]);
  const loaded = loadChat(reopened(session));
  const expected = [...entryIds.slice(0, 3), "u2", entryIds[4]];
  expect(loaded.map(({ id }) => id)).toEqual(expected);
  expect(loaded.map(({ parts }) => parts)).toEqual([...chat, last].map(({ parts }) => parts));
  expect(await saveChat(session, loaded)).toMatchObject({ entryIds: [], hasBranched: false });

  session.redactEntry(entryIds[1] ?? "");
  const named = loaded.map((message, at) => ({ ...message, id: `client-${at}` }));
  expect(await saveChat(session, named)).toMatchObject({ entryIds: [], hasBranched: false });
});
