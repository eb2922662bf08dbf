import * as nodeFs from "node:fs";
import * as acp from "@agentclientprotocol/sdk";
import { SessionManager } from "sessiontree";
import { AcpRecorder, acpSessions, fromAcpPrompt, fromAcpUpdates, toAcpUpdates } from "sessiontree/adapters";
import { appendConversation, toAnthropic } from "sessiontree/convert";
import { fileStore, memoryStore } from "sessiontree/stores";
import { expect, test } from "vitest";
import type { AcpUpdateLike } from "../../../src/interop/adapters/acp/acp-types.ts";
import { assistant, call, toolResult, user } from "../../support/messages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { invalidUpdates } from "./support/acp-schema.ts";

const text = (value: string) => ({ type: "text" as const, text: value });
const says = (value: string, messageId?: string) => ({
  sessionUpdate: "agent_message_chunk" as const,
  content: text(value),
  ...(messageId !== undefined && { messageId }),
});
const thinks = (value: string) => ({ sessionUpdate: "agent_thought_chunk" as const, content: text(value) });
const begins = (toolCallId: string, more: object = {}) => ({
  ...{ sessionUpdate: "tool_call" as const, toolCallId, title: `Run ${toolCallId}` },
  ...more,
});
const ends = (toolCallId: string, more: object = {}) => ({
  ...{ sessionUpdate: "tool_call_update" as const, toolCallId, status: "completed" as const },
  ...more,
});

/** Records updates and returns the texts of the session's messages. */
function record(updates: readonly AcpUpdateLike[], session = SessionManager.inMemory("/projects/shop")) {
  const recorder = new AcpRecorder(session, { timestamp: 1, provider: "acme", model: "m1" });
  for (const update of updates) recorder.add(update);
  recorder.end("end_turn");
  const { messages } = session.buildSessionContext();
  const said = messages.map((message) => [message.role, "content" in message ? message.content : ""]);
  return { session, recorder, messages, said };
}

test("records a foreign agent through the SDK's client and replays the same updates", async () => {
  const agent = acp
    .agent()
    .onRequest(acp.methods.agent.initialize, () => ({ protocolVersion: acp.PROTOCOL_VERSION }))
    .onRequest(acp.methods.agent.session.new, () => ({ sessionId: "s1" }))
    .onRequest(acp.methods.agent.session.prompt, async ({ params: { sessionId }, client }) => {
      const diff = { type: "diff" as const, path: "/a.ts", oldText: "1", newText: "2" };
      const updates: acp.SessionUpdate[] = [
        thinks("Hm."),
        says("Let me "),
        says("see."),
        begins("c1", { name: "edit_file", kind: "edit", rawInput: { path: "a.ts" }, status: "pending" }),
        ends("c1", { status: "in_progress" }),
        ends("c1", { content: [diff], rawOutput: { ok: true } }),
        { sessionUpdate: "plan", entries: [{ content: "Rest", priority: "low", status: "pending" }] },
        says("Done."),
        { sessionUpdate: "usage_update", used: 120, size: 1000, cost: { amount: 0.5, currency: "USD" } },
        { sessionUpdate: "session_info_update", title: "The cart" },
      ];
      for (const update of updates)
        await client.notify(acp.methods.client.session.update, { sessionId, update });
      return { stopReason: "end_turn" };
    });
  const session = SessionManager.create("/projects/shop", { sessionDir: temporaryFolder() });
  const recorder = new AcpRecorder(session, { provider: "acme", model: "m1" });
  await acp.client().connectWith(agent, async (context) => {
    await context.request(acp.methods.agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION });
    const foreign = await context.buildSession("/projects/shop").start();
    session.appendMessage(fromAcpPrompt([text("Fix it.")]));
    const answered = foreign.prompt("Fix it.");
    for (;;) {
      const message = await foreign.nextUpdate();
      recorder.add(message);
      if (message.kind === "stop") break;
    }
    await answered;
  });
  await session.close();

  const again = SessionManager.open(session.getSessionFile() ?? "");
  expect([...again.issues, ...recorder.issues]).toEqual([]);
  expect(again.getSessionName()).toBe("The cart");
  const { messages } = again.buildSessionContext();
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "assistant"]);
  expect(messages[3]).toMatchObject({ model: "m1", usage: { totalTokens: 120, cost: { total: 0.5 } } });
  expect(messages[1]).toMatchObject({
    content: [
      { type: "thinking", thinking: "Hm." },
      text("Let me see."),
      { type: "toolCall", id: "c1", name: "edit_file", arguments: { path: "a.ts" } },
    ],
  });
  const updates = toAcpUpdates(again);
  expect(invalidUpdates(updates)).toEqual([]);
  expect(updates).toContainEqual(
    expect.objectContaining({
      sessionUpdate: "tool_call_update",
      title: "Run c1",
      kind: "edit",
      content: [{ type: "diff", path: "/a.ts", oldText: "1", newText: "2" }],
      rawOutput: { ok: true },
    }),
  );
  expect(updates.map(({ sessionUpdate }) => sessionUpdate)).toContain("plan");
});

test("records a replayed session as the same conversation", () => {
  const session = SessionManager.inMemory("/projects/shop");
  session.appendMessage({ ...user(""), content: [text("Fix it.")] });
  session.appendMessage(assistant("Yes.", {}, call("c1", "read", "a"), call("c2", "read", "b")));
  session.appendMessage(toolResult("c1", "one"));
  session.appendMessage(toolResult("c2", "two", true));
  session.appendMessage(assistant("First."));
  session.appendMessage(assistant("Second."));
  const updates = toAcpUpdates(session);
  const { messages, issues } = fromAcpUpdates(updates, { timestamp: 1 });
  expect(issues).toEqual([]);
  expect(appendConversation(session, messages)).toMatchObject({ entryIds: [], hasBranched: false });

  const copy = SessionManager.inMemory("/projects/shop");
  copy.appendAll(
    fromAcpUpdates(
      updates.map((update) => ({ params: { update } })),
      { timestamp: 1 },
    ).entries,
  );
  expect(JSON.stringify(toAnthropic(copy.buildSessionContext().messages).messages)).toBe(
    JSON.stringify(toAnthropic(session.buildSessionContext().messages).messages),
  );
});

test("writes an answer once its calls have ended, and appends a late result at the end", () => {
  const session = SessionManager.inMemory("/projects/shop");
  const recorder = new AcpRecorder(session, { timestamp: 1 });
  expect(recorder.add(begins("a", { rawInput: "ls" }))).toEqual([]);
  expect(recorder.add(begins("b"))).toEqual([]);
  expect(recorder.add(ends("a"))).toEqual([]);
  expect(recorder.add(ends("b", { status: "failed" }))).toHaveLength(3);
  recorder.add(begins("slow"));
  recorder.add(begins("c"));
  recorder.add(ends("c"));
  expect(recorder.add(says("Meanwhile."))).toHaveLength(2);
  expect(recorder.add(ends("slow", { rawOutput: "late" }))).toHaveLength(1);
  expect(recorder.end("cancelled")).toHaveLength(1);
  const told = session.buildSessionContext().messages.map((message) => {
    if (message.role === "toolResult") return [message.toolCallId, message.isError];
    return message.role === "assistant" ? message.content.map((block) => block.type) : message.role;
  });
  expect(told).toEqual([
    ["toolCall", "toolCall"],
    ...[
      ["a", false],
      ["b", true],
    ],
    ["toolCall", "toolCall"],
    ...[
      ["c", false],
      ["slow", false],
    ],
    ["text"],
  ]);
  expect(session.getLeafEntry()).toMatchObject({ message: { stopReason: "aborted" } });
  expect(recorder.issues).toEqual([]);
});

test("keeps the output of a call that no answer of the agent ends", () => {
  const { said, session } = record([
    begins("a", { name: "run", content: [{ type: "content", content: text("so far") }] }),
    begins("b", { kind: "fetch" }),
  ]);
  expect(said).toEqual([
    [
      "assistant",
      [
        { type: "toolCall", id: "a", name: "run", arguments: { title: "Run a" } },
        { type: "toolCall", id: "b", name: "fetch", arguments: { title: "Run b" } },
      ],
    ],
    ["toolResult", [text("so far")]],
  ]);
  expect(invalidUpdates(toAcpUpdates(session))).toEqual([]);
});

test("reports misordered and malformed updates as issues, loses nothing, and leaves the session readable", () => {
  const session = SessionManager.create("/projects/shop", { sessionDir: temporaryFolder() });
  const strange: AcpUpdateLike[] = [
    ends("early", { content: [{ type: "content", content: text("out") }] }),
    begins("early"),
    ends("early"),
    { ...ends("x"), toolCallId: 7 },
    { ...begins(""), note: "no id" },
    { sessionUpdate: "agent_message_chunk", content: { type: "image", data: 5 } },
    {
      sessionUpdate: "agent_message_chunk",
      content: { type: "image", data: "none!", mimeType: "image/png" },
    },
    { sessionUpdate: "poem", lines: 3 },
    { sessionUpdate: "plan", entries: "none" },
    { update: { sessionUpdate: "usage_update", used: -1, cost: { amount: 3, currency: "EUR" } } },
    { sessionUpdate: "session_info_update", title: 5 },
  ];
  const { recorder, said } = record(
    [{ sessionUpdate: "user_message_chunk", content: text("Hi") }, ...strange],
    session,
  );
  expect(recorder.issues.map(({ code, index }) => [code, index])).toEqual([
    ["PAIR_REPAIRED", 1],
    ["MESSAGE_DROPPED", 4],
    ["MESSAGE_DROPPED", 5],
    ["MESSAGE_DROPPED", 6],
    ["MESSAGE_DROPPED", 8],
    ["FLAG_DROPPED", 10],
    ["MESSAGE_DROPPED", 11],
  ]);
  const again = SessionManager.open(session.getSessionFile() ?? "");
  expect(again.issues).toEqual([]);
  const kept = again.getEntries().flatMap((entry) => (entry.type === "custom" ? [entry.data] : []));
  expect(kept).toEqual([3, 4, 5, 7, 8, 10].map((at) => strange[at]));
  expect(said.at(-1)).toEqual(["assistant", [text("[image: image/png]")]]);
  expect(invalidUpdates(toAcpUpdates(again))).toEqual([]);

  for (const none of [null, "text", { sessionUpdate: "plan", entries: [() => 1] }]) {
    const before = session.getLeafId();
    expect(() => Reflect.apply(recorder.add, recorder, [none])).toThrow(TypeError);
    expect(session.getLeafId()).toBe(before);
  }
  expect(() => fromAcpPrompt([{ type: "image" }])).toThrow(/^Block 0 of the prompt/);
});

test("stores a repeated permission request once and restores blocks that no message can hold", () => {
  const session = SessionManager.inMemory("/projects/shop");
  const prompt = [
    text("Look:"),
    { type: "resource", resource: { uri: "file:///a.ts", text: "const a = 1;" } },
    { type: "audio", data: "AAAA", mimeType: "audio/wav" },
  ];
  session.appendMessage(fromAcpPrompt(prompt));
  const { messages } = record(
    [...prompt.map((content) => ({ sessionUpdate: "user_message_chunk", content })), says("Yes.")],
    session,
  );
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  expect(messages[0]).toMatchObject({
    content: [text("Look:"), text("[resource: file:///a.ts]\nconst a = 1;"), text("[audio: audio/wav]")],
  });
  const shown = toAcpUpdates(session).filter(({ sessionUpdate }) => sessionUpdate === "user_message_chunk");
  expect(shown.map((one) => "content" in one && one.content)).toEqual(prompt);
  session.redactEntry(session.getPathIds()[0] ?? "");
  expect(JSON.stringify(toAcpUpdates(session))).not.toContain("const a");
});

test("stores compactions, names, and costs as entries, and adds the cost of an agent whose count restarts", () => {
  const cost = (amount: number) => ({
    ...{ sessionUpdate: "usage_update", used: 10, size: 100, cost: { amount, currency: "USD" } },
  });
  const compaction = { sessionUpdate: "compaction_update", compactionId: "k" };
  const { session, messages } = record([
    says("A"),
    cost(2),
    { ...compaction, status: "in_progress" },
    { sessionUpdate: "compaction_summary_chunk", compactionId: "k", content: text("So far.") },
    { ...compaction, status: "completed" },
    says("B"),
    cost(3),
    says("C", "next"),
    { sessionUpdate: "session_info_update", title: " The\ncart " },
  ]);
  expect(messages.map(({ role }) => role)).toEqual(["compactionSummary", "assistant"]);
  expect(session.getSessionName()).toBe("The cart");
  const again = record([cost(0.5)], session);
  const costs = again.session.getEntries().flatMap((entry) => {
    if (entry.type === "usage") return [entry.usage.cost.total];
    return entry.type === "message" && entry.message.role === "assistant"
      ? [entry.message.usage.cost.total]
      : [];
  });
  expect(costs).toEqual([2, 1, 0.5]);
});

test("writes what previously failed on the next call", () => {
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
  const session = SessionManager.create("/projects/shop", { sessionDir: temporaryFolder(), fs });
  const recorder = new AcpRecorder(session, { timestamp: 1 });
  recorder.add({ sessionUpdate: "user_message_chunk", content: text("Hi") });
  recorder.add(says("One", "1"));
  isFull = true;
  expect(() => recorder.add(says("Two", "2"))).toThrow(expect.objectContaining({ code: "WRITE_FAILED" }));
  isFull = false;
  recorder.end();
  const { messages } = SessionManager.open(session.getSessionFile() ?? "").buildSessionContext();
  expect(JSON.stringify(messages.map((message) => "content" in message && message.content))).toBe(
    JSON.stringify([[text("Hi")], [text("One")], [text("Two")]]),
  );
});

test.each([
  ["files", () => fileStore({ sessionDir: temporaryFolder(), deletesForGood: true, lease: "fail" })],
  ["memory", () => memoryStore()],
] as const)("lists sessions in %s page by page, forks open ones, and deletes them", async (_, make) => {
  await using store = make();
  const first = store.create({ cwd: "/projects/shop", now: () => 1000 });
  first.appendMessage(user("Hello", 1000));
  const at = first.appendMessage(assistant("Good morning.", { timestamp: 1000 }));
  first.appendMessage(user("And?", 1000));
  const others = [2000, 3000].map((time) => {
    const session = store.create({ cwd: "/projects/else", now: () => time });
    session.appendMessage(user(`At ${time}`, time));
    return session;
  });
  await Promise.all([first, ...others].map((session) => session.flush()));

  const page = await acpSessions.list(store, {}, { pageSize: 2 });
  expect(page.sessions.map(({ title, updatedAt }) => [title, updatedAt])).toEqual([
    ["At 3000", "1970-01-01T00:00:03.000Z"],
    ["At 2000", "1970-01-01T00:00:02.000Z"],
  ]);
  const last = await acpSessions.list(store, { cursor: page.nextCursor ?? "" }, { pageSize: 2 });
  const shop = { sessionId: first.getSessionId(), cwd: "/projects/shop", title: "Hello" };
  expect(last).toEqual({ sessions: [{ ...shop, updatedAt: "1970-01-01T00:00:01.000Z" }] });
  expect((await acpSessions.list(store, { cwd: "/projects/shop", cursor: null })).sessions).toHaveLength(1);
  for (const cursor of ["", "none", Buffer.from("{}").toString("base64url")])
    await expect(acpSessions.list(store, { cursor })).rejects.toThrow(TypeError);

  const request = { sessionId: first.getSessionId(), cwd: "/projects/new" };
  const fork = await acpSessions.fork(store, { ...request, _meta: { "sessiontree.entryId": at } });
  fork.appendMessage(user("Now?"));
  expect([fork.getCwd(), fork.getEntryCount()]).toEqual(["/projects/new", 3]);
  const whole = await acpSessions.fork(store, request);
  expect(whole.buildSessionContext().messages).toEqual(first.buildSessionContext().messages);
  const refused = (_meta: { [key: string]: unknown }) => acpSessions.fork(store, { ...request, _meta });
  await expect(refused({ "sessiontree.entryId": "nowhere" })).rejects.toMatchObject({
    code: "ENTRY_NOT_FOUND",
  });
  await expect(refused({ "sessiontree.entryId": 5 })).rejects.toThrow(TypeError);
  const none = acpSessions.fork(store, { sessionId: "../none", cwd: "/projects/new" });
  await expect(none).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });

  await Promise.all([first, fork, whole, ...others].map((session) => session.close()));
  for (const sessionId of [first.getSessionId(), first.getSessionId(), "../none"])
    await acpSessions.delete(store, { sessionId });
  expect((await acpSessions.list(store)).sessions).toHaveLength(4);
});
