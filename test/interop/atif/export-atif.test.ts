import { expect, test } from "vitest";
import { encodeRecord } from "../../../src/core/jsonl/encode.ts";
import { exportAtif } from "../../../src/interop/atif/export-atif.ts";
import { findAtifSession } from "../../../src/interop/import/atif/stored-lines.ts";
import { makeSubagentLink } from "../../../src/interop/import/entry-bodies.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { assistant, call, toolResult, usage, user } from "../../support/messages.ts";
import { importBack } from "./support/trajectories.ts";
import { findAtifProblems } from "./support/validate-atif.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function exportValid(...[session, options]: Parameters<typeof exportAtif>) {
  const exported = exportAtif(session, options);
  expect(findAtifProblems(exported.trajectory)).toEqual([]);
  return exported;
}

test("puts an answer and its calls' results, late ones included, into one step in call order", () => {
  const session = SessionManager.inMemory();
  session.appendMessage(user("look"));
  session.appendMessage(assistant("ok", {}, call("c1"), call("c2", "read", "a.txt")));
  session.appendMessage(toolResult("c2", "two", true));
  session.appendMessage(user("meanwhile"));
  session.appendMessage(toolResult("c1", "one"));
  const { trajectory, issues } = exportValid(session);
  expect(issues).toEqual([]);
  expect(trajectory.steps.map(({ source, message }) => [source, message])).toEqual([
    ["user", "look"],
    ["agent", "ok"],
    ["user", "meanwhile"],
  ]);
  const results = trajectory.steps[1]?.observation?.results;
  expect(results?.map(({ source_call_id: id, content }) => [id, content])).toEqual([
    ["c1", "one"],
    ["c2", "two"],
  ]);
  expect(results?.map(({ extra }) => extra?.["is_error"])).toEqual([undefined, true]);
});

test("exports a result without its call as a reported agent step, which is imported as a result", () => {
  const session = SessionManager.inMemory();
  session.appendMessage(user("look"));
  session.appendMessage(toolResult("gone", "found"));
  const exported = exportValid(session);
  expect(exported.issues.map(({ code }) => code)).toEqual(["PAIR_REPAIRED"]);
  expect(exported.trajectory.steps[1]).toMatchObject({ source: "agent", message: "", llm_call_count: 0 });
  expect(exported.trajectory.steps[1]?.observation?.results[0]).not.toHaveProperty("source_call_id");
  const [back] = importBack(exported);
  expect(back?.entries.at(-1)).toMatchObject({ message: { role: "toolResult", isError: false } });
});

test("counts cache tokens, and adds no zeros", () => {
  const session = SessionManager.inMemory();
  session.appendMessage(user("look"));
  session.appendMessage(assistant("silent"));
  const counted = {
    ...usage(0, 0.5),
    input: 1,
    output: 2,
    cacheRead: 3,
    cacheWrite: 4,
    reasoning: 1,
    totalTokens: 10,
  };
  session.appendMessage(assistant("counted", { usage: counted }));
  const { steps, final_metrics } = exportValid(session).trajectory;
  expect(steps[1]).not.toHaveProperty("metrics");
  expect(steps[2]?.metrics).toEqual({
    prompt_tokens: 8,
    completion_tokens: 2,
    cached_tokens: 3,
    cost_usd: 0.5,
    extra: { cache_write_tokens: 4, reasoning_tokens: 1 },
  });
  expect(final_metrics).toEqual({
    total_prompt_tokens: 8,
    total_completion_tokens: 2,
    total_cached_tokens: 3,
    total_cost_usd: 0.5,
    total_steps: 3,
  });
});

test("keeps failed and aborted answers with their reason", () => {
  const session = SessionManager.inMemory();
  session.appendMessage(user("look"));
  session.appendMessage(assistant("half", { stopReason: "aborted", errorMessage: "stopped" }));
  const exported = exportValid(session);
  expect(exported.trajectory.steps[1]).toMatchObject({
    message: "half",
    extra: { stop_reason: "aborted", error_message: "stopped" },
  });
  const [back] = importBack(exported);
  expect(back?.entries.at(-1)).toMatchObject({ message: { stopReason: "aborted", errorMessage: "stopped" } });
});

test("exports thinking as reasoning, except what the provider withheld or signed", () => {
  const session = SessionManager.inMemory();
  session.appendMessage(user("look"));
  const thoughts = [
    { type: "thinking" as const, thinking: "first", thinkingSignature: "sig" },
    { type: "thinking" as const, thinking: "withheld", redacted: true },
    { type: "text" as const, text: "a" },
    { type: "text" as const, text: "b" },
  ];
  session.appendMessage(assistant(thoughts));
  const { steps } = exportValid(session).trajectory;
  expect(steps[1]).toMatchObject({ reasoning_content: "first", message: "a\n\nb" });
  expect(JSON.stringify(steps)).not.toMatch(/withheld|sig/);
});

/** A session with a compaction that keeps the second turn. */
function compacted() {
  const session = SessionManager.inMemory();
  session.appendMessage(user("one"));
  session.appendMessage(assistant("first", { usage: usage(5) }));
  const kept = session.appendMessage(user("two"));
  session.appendMessage(assistant("second", { usage: usage(7) }));
  session.appendCompaction("so far", kept, 12);
  session.appendMessage(user("three"));
  session.appendMessage(assistant("third", { usage: usage(9) }));
  return session;
}

test("exports a whole path with its compaction as a step, and imports the same context", () => {
  const session = compacted();
  const exported = exportValid(session);
  expect(exported.trajectory.steps.map(({ message }) => message)).toEqual([
    "one",
    "first",
    "two",
    "second",
    "so far",
    "three",
    "third",
  ]);
  expect(exported.trajectory.steps[4]).toMatchObject({
    source: "system",
    extra: { sessiontree: { kind: "compaction", first_kept_step: 3, tokens_before: 12 } },
  });
  const [back] = importBack(exported);
  const names = new Map(back?.entries.map((entry) => [entry.id, entry]));
  const compaction = back?.entries.find(({ type }) => type === "compaction");
  expect(names.get(Object(compaction).firstKeptEntryId)).toMatchObject({ message: { content: "two" } });
});

test("starts a context with the summary, marks kept turns as copied, and omits them from the sums", () => {
  const { steps, final_metrics } = exportValid(compacted(), { compacted: "context" }).trajectory;
  expect(steps.map(({ source, is_copied_context: isCopied }) => [source, isCopied])).toEqual([
    ["user", undefined],
    ["user", true],
    ["agent", true],
    ["user", undefined],
    ["agent", undefined],
  ]);
  expect(steps[0]?.message).toContain("so far");
  expect(final_metrics?.total_prompt_tokens).toBe(9);
});

test("exports images as data: URLs or as files named by their digest", () => {
  const session = SessionManager.inMemory();
  session.appendMessage({
    role: "user",
    content: [
      { type: "image", mimeType: "image/png", data: PIXEL },
      { type: "image", mimeType: "image/tiff", data: PIXEL },
    ],
    timestamp: 1,
  });
  const [step] = exportValid(session).trajectory.steps;
  expect(Object(step?.message)[0].source.path).toBe(`data:image/png;base64,${PIXEL}`);
  const { trajectory, assets, issues } = exportValid(session, { assets: "images" });
  expect(assets.map(({ bytes }) => Buffer.from(bytes).toString("base64"))).toEqual([PIXEL]);
  expect(Object(trajectory.steps[0]?.message)[0].source.path).toBe(assets[0]?.path);
  expect(assets[0]?.path).toMatch(/^images\/[0-9a-f]{64}\.png$/);
  expect(issues.map(({ code }) => code)).toEqual(["CONTENT_REPLACED"]);
});

test("exports names, labels, and extension state only on request", () => {
  const session = SessionManager.inMemory();
  session.appendMessage(user("look"));
  session.appendCustomEntry("todo", { open: "secret plan" });
  session.appendSessionInfo("my name");
  expect(JSON.stringify(exportValid(session).trajectory)).not.toMatch(/secret plan|my name/);
  const [back] = importBack(exportValid(session, { state: true }));
  expect(back?.entries.slice(-2)).toMatchObject([
    { type: "custom", customType: "todo", data: { open: "secret plan" } },
    { type: "session_info", name: "my name" },
  ]);
});

test("embeds a subagent's session and refers to it in its call's result", () => {
  const session = SessionManager.inMemory();
  session.appendMessage(user("look"));
  session.appendMessage(assistant("", {}, call("task1", "task")));
  session.appendMessage(toolResult("task1", "done"));
  const subagent = SessionManager.inMemory();
  const { customType, data } = makeSubagentLink({ agentId: "a1", toolCallId: "task1" });
  subagent.appendCustomEntry(String(customType), data);
  subagent.appendMessage(user("dig"));
  subagent.appendMessage(assistant("dug", { usage: usage(4) }));
  const exported = exportValid(session, { subagents: [subagent] });
  const { steps, subagent_trajectories: embedded, final_metrics } = exported.trajectory;
  const id = embedded?.[0]?.trajectory_id;
  expect(steps[1]?.observation?.results[0]?.subagent_trajectory_ref).toEqual([{ trajectory_id: id }]);
  expect(final_metrics?.total_prompt_tokens).toBe(4);
  const [main, sub] = importBack(exported);
  expect(sub?.parent).toEqual({ sourceId: main?.sourceId, relation: "subagent" });
  expect(main?.entries.at(-1)).toMatchObject({ data: { toolCallId: "task1", sessionId: sub?.header.id } });
});

/** Returns the session of a subagent that a call started and that makes its own call. */
function makeSubagent(agentId: string, toolCallId: string, ownCallId: string, parentSession?: string) {
  const subagent = SessionManager.inMemory(undefined, parentSession === undefined ? {} : { parentSession });
  const { customType, data } = makeSubagentLink({ agentId, toolCallId });
  subagent.appendCustomEntry(String(customType), data);
  subagent.appendMessage(user("dig"));
  subagent.appendMessage(assistant("", { usage: usage(4) }, call(ownCallId, "task")));
  subagent.appendMessage(toolResult(ownCallId, "dug"));
  return subagent;
}

test("embeds a subagent of a subagent in its parent, in any order", () => {
  const session = SessionManager.inMemory();
  session.appendMessage(user("look"));
  session.appendMessage(assistant("", { usage: usage(1) }, call("task1", "task")));
  session.appendMessage(toolResult("task1", "done"));
  const [child, grandchild] = [makeSubagent("a1", "task1", "task2"), makeSubagent("a2", "task2", "task3")];
  for (const subagents of [
    [child, grandchild],
    [grandchild, child],
  ]) {
    const { trajectory, issues } = exportValid(session, { subagents });
    expect(issues).toEqual([]);
    const [outer, ...others] = trajectory.subagent_trajectories ?? [];
    const [inner] = outer?.subagent_trajectories ?? [];
    expect([outer?.session_id, inner?.session_id, others.length]).toEqual([
      child.getSessionId(),
      grandchild.getSessionId(),
      0,
    ]);
    expect(outer?.steps[1]?.observation?.results[0]?.subagent_trajectory_ref).toEqual([
      { trajectory_id: inner?.trajectory_id },
    ]);
    expect(trajectory.final_metrics?.total_prompt_tokens).toBe(9);
    expect(importBack({ trajectory })).toHaveLength(3);
  }
});

test("omits subagents of other branches, and embeds those that claim to have started each other once", () => {
  const session = SessionManager.inMemory();
  const root = session.appendMessage(user("look"));
  session.appendMessage(assistant("", {}, call("task1", "task")));
  session.branch(root);
  session.appendMessage(assistant("no need"));
  const other = exportValid(session, { subagents: [makeSubagent("a1", "task1", "task2")] });
  expect(other.trajectory).not.toHaveProperty("subagent_trajectories");
  expect(other.issues.map(({ message }) => message)).toEqual([expect.stringContaining("another branch")]);
  const circle = [makeSubagent("a1", "task3", "task2"), makeSubagent("a2", "task2", "task3")];
  const { subagent_trajectories: embedded } = exportValid(session, { subagents: circle }).trajectory;
  expect(embedded?.map(({ session_id: id }) => id).sort()).toEqual(
    circle.map((one) => one.getSessionId()).sort(),
  );
});

test("marks what a fork copied", () => {
  const session = SessionManager.inMemory();
  session.appendMessage(user("old"));
  const [entry] = session.getEntries();
  const header = {
    ...session.getHeader(),
    parentSession: "/sessions/parent.jsonl",
    timestamp: "2999-01-01T00:00:00.000Z",
  };
  const source = {
    getHeader: () => Object(header),
    getLeafId: () => session.getLeafId(),
    getEntries: () => session.getEntries(),
    getBranch: () =>
      [entry, { ...entry, timestamp: "2999-01-02T00:00:00.000Z" }].flatMap((one) => (one ? Object(one) : [])),
  };
  const { steps, extra } = exportValid(source).trajectory;
  expect(steps.map(({ is_copied_context: isCopied }) => isCopied)).toEqual([true, undefined]);
  expect(extra).toMatchObject({ sessiontree: { parent_session: "/sessions/parent.jsonl" } });
});

test("lossless stores the entries of all branches, without any redacted text", () => {
  const session = SessionManager.inMemory();
  const secret = session.appendMessage(user("my password is hunter2"));
  session.appendMessage(assistant("left"));
  session.branch(secret);
  session.appendMessage(assistant("right"));
  session.redactEntry(secret);
  const exported = exportValid(session, { lossless: true, state: true });
  const text = [session.getHeader(), ...session.getEntries()]
    .map((one) => `${encodeRecord(one ?? {})}\n`)
    .join("");
  expect(findAtifSession(JSON.parse(JSON.stringify(exported.trajectory)))).toBe(text);
  expect(JSON.stringify(exported.trajectory)).not.toContain("hunter2");
  const [back] = importBack(exported);
  const ids = session.getEntries().map(({ id }) => id);
  expect(back?.entries.filter(({ id }) => ids.includes(id))).toEqual(session.getEntries());
});

test("stores lines that encoding would change as strings", () => {
  const session = SessionManager.inMemory();
  session.appendMessage(user("look"));
  const [header, entry] = [session.getHeader(), session.getEntries()[0]].map((one) => JSON.stringify(one));
  const text = `${header}\n${entry?.replace(":", ": ")}\r\n\nnot JSON\n{"type":"x","text":"\\ud83d"}\n{"2":1,"1":2}`;
  const { trajectory } = exportValid(session, { lossless: text });
  expect(findAtifSession(JSON.parse(JSON.stringify(trajectory)))).toBe(text);
  const { lines } = Object(trajectory.extra?.["sessiontree"]);
  expect(lines.map((line: unknown) => typeof line)).toEqual(["object", ...Array(5).fill("string")]);
});

test("repairs lone surrogates, repeated ids, and arguments that are not objects", () => {
  const session = SessionManager.inMemory();
  session.appendMessage(user("cut \ud83d"));
  const odd = [
    call("c", "f", { deep: [{ text: "\ud83d" }] }),
    call("c"),
    { ...call(""), arguments: Object("text") },
  ];
  const entry = {
    type: "message",
    id: "0000000a",
    parentId: session.getLeafId(),
    timestamp: "2026-01-01T00:00:00.000Z",
  };
  const message = { ...assistant(""), content: odd };
  const source = {
    getHeader: () => session.getHeader(),
    getLeafId: () => "0000000a",
    getEntries: () => [],
    getBranch: () => [...session.getBranch(), { ...entry, message }],
  };
  const { steps } = exportValid(source).trajectory;
  expect(steps[0]?.message).toBe("cut \ufffd");
  expect(steps[1]?.tool_calls?.map(({ tool_call_id: id }) => id)).toEqual(["c", "c_2", "call_2_3"]);
  expect(JSON.stringify(steps)).not.toMatch(/\\ud/);
});

test("refuses a session without a message and unknown options", () => {
  const session = SessionManager.inMemory();
  expect(() => exportAtif(session)).toThrow(expect.objectContaining({ code: "NOT_A_SESSION" }));
  session.appendMessage(user("look"));
  expect(() => exportAtif(session, { leafId: "ffffffff" })).toThrow(
    expect.objectContaining({ code: "ENTRY_NOT_FOUND" }),
  );
  expect(() => exportAtif(session, Object({ compacted: "half" }))).toThrow(TypeError);
});

test("embeds a subagent in the session that its header names, though other sessions have calls of the same id", () => {
  const session = SessionManager.inMemory();
  session.appendMessage(user("look"));
  session.appendMessage(assistant("", {}, call("call_1", "task")));
  const child = makeSubagent("a1", "call_1", "call_1", session.getSessionId());
  const grandchild = makeSubagent("a2", "call_1", "call_1", child.getSessionId());
  const { subagent_trajectories: embedded } = exportValid(session, {
    subagents: [grandchild, child],
  }).trajectory;
  expect(embedded?.map(({ session_id: id }) => id)).toEqual([child.getSessionId()]);
  expect(embedded?.[0]?.subagent_trajectories?.map(({ session_id: id }) => id)).toEqual([
    grandchild.getSessionId(),
  ]);
});

test("omits what a subagent of another branch started, and reports a subagent without a message", () => {
  const session = SessionManager.inMemory();
  const root = session.appendMessage(user("look"));
  session.appendMessage(assistant("", {}, call("task1", "task")));
  session.branch(root);
  session.appendMessage(assistant("no need"));
  const child = makeSubagent("a1", "task1", "task2");
  const subagents = [child, makeSubagent("a2", "task2", "task3"), SessionManager.inMemory()];
  const { trajectory, issues } = exportValid(session, { subagents });
  expect(trajectory).not.toHaveProperty("subagent_trajectories");
  expect(issues.map(({ message }) => message)).toEqual([
    expect.stringContaining("has no message"),
    expect.stringContaining("another branch"),
    expect.stringContaining("another branch"),
  ]);
});
