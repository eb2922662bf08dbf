import { expect, test } from "vitest";
import { readSourceText } from "../../../../src/interop/import/source-text.ts";
import { uuid } from "../support/claude-records.ts";
import {
  answered,
  asked,
  importChat,
  makeCall,
  QWEN_ID,
  type QwenRecord,
  report,
  resulted,
  system,
} from "../support/qwen-records.ts";
import { brief, briefMessage, readView } from "../support/session-view.ts";

function view(records: readonly QwenRecord[]) {
  const [session, ...others] = importChat(records);
  if (session === undefined) throw new Error("no session was made");
  expect(others).toEqual([]);
  const made = readView(session);
  expect([...made.problems, ...made.read.issues]).toEqual([]);
  return made;
}

test("takes an answer's id from its report and a command's failure from its output, and imports other calls as usage", () => {
  const { path, messages, session, repairs } = view([
    asked("q1", "run"),
    system("n1", "attribution_snapshot", {}),
    report("p1", "r1"),
    answered("a1", [{ text: "hm", thought: true }, makeCall("c1")]),
    system("n2", "ui_telemetry", { uiEvent: { "event.name": "qwen-code.tool_call" } }),
    resulted("t1", "c1", "Command: x\nOutput: Exit Code: 0\nExit Code: 3\nSignal: 0"),
    report("p2", "r2", {
      input_token_count: 20,
      total_token_count: 30,
      subagent_name: "memory",
      prompt_id: "x#m#0",
    }),
    report("p3", "r3"),
    answered("a2", [{ text: "done" }]),
  ]);
  expect(path.map(brief)).toEqual([
    "sessiontree.import",
    "user run",
    "assistant hm+c1",
    "result c1",
    "usage",
    "assistant done",
  ]);
  const usage = { input: 40, output: 10, cacheRead: 60, reasoning: 4, totalTokens: 110 };
  const model = { provider: "openai", api: "openai-completions", model: "q-1" };
  expect(messages[1]).toMatchObject({ ...model, responseId: "r1", stopReason: "toolUse", usage });
  expect(messages[2]).toMatchObject({ isError: true, details: { resultDisplay: "shown" } });
  expect(messages[3]).toMatchObject({ responseId: "r3", usage });
  expect(path[4]).toMatchObject({ kind: "qwen.memory", note: "r2", usage: { totalTokens: 30 } });
  expect(session).toMatchObject({ sourceId: QWEN_ID, header: { cwd: "/code/project" } });
  expect(session.counts).toMatchObject({ records: 9, mapped: 5, kept: 0, dropped: 4 });
  expect(repairs).toEqual([]);
});

test("keeps old turns as a branch after a rewind, which is the leaf if nothing follows", () => {
  const turns = [asked("q1", "one"), answered("a1", [{ text: "first" }]), asked("q2", "two")];
  const rewind = { ...system("w1", "rewind", { truncatedCount: 1 }), parentUuid: uuid("a1") };
  expect(view([...turns, rewind]).messages.map(briefMessage)).toEqual(["user one", "assistant first"]);
  const { messages, entries } = view([...turns, rewind, asked("q3", "three")]);
  expect(messages.map(briefMessage)).toEqual(["user one", "assistant first", "user three"]);
  expect(entries.map(brief)).toContain("user two");
});

test("follows a compression with what it kept, as entries if they exist, else as messages", () => {
  const contents = (...texts: readonly string[]) =>
    texts.map((text, i) => ({ role: i % 2 === 0 ? "user" : "model", parts: [{ text }] }));
  const compressed = (...texts: readonly string[]) =>
    system("k1", "chat_compression", {
      info: { originalTokenCount: 90, newTokenCount: 20 },
      compressedHistory: contents("the summary", "Got it. Thanks!", ...texts),
    });
  const before = [
    asked("q1", "one"),
    answered("a1", [{ text: "first" }]),
    asked("q2", "two"),
    report("p1", "r1"),
  ];
  const after = [answered("a2", [{ text: "second" }])];
  const kept = view([...before, compressed("one", "first", "two"), ...after]);
  const expected = ["compactionSummary", "user one", "assistant first", "user two", "assistant second"];
  expect(kept.messages.map(briefMessage)).toEqual(expected);
  const compaction = kept.path.find(({ type }) => type === "compaction");
  expect(compaction).toMatchObject({ summary: "the summary", tokensBefore: 90, usage: { output: 10 } });
  expect(compaction).not.toHaveProperty("retainedTail");
  const shortened = view([...before, compressed("one", "first, shortened", "two"), ...after]);
  expect(shortened.messages.map(briefMessage)).toEqual([
    ...expected.slice(0, 2),
    "assistant first, shortened",
    ...expected.slice(3),
  ]);
  expect(view([...before, compressed()]).messages.map(briefMessage)).toEqual(["compactionSummary"]);
  const unknown = system("k1", "chat_compression", {
    compressedHistory: [...contents("the summary", "first"), { role: "other", parts: [{ text: "more" }] }],
  });
  expect(view([...before, unknown]).messages.map(briefMessage)).toEqual([
    "compactionSummary",
    "assistant first",
    "user more",
  ]);
});

test("gives a copy its original's ids and names it; names the session that started another", () => {
  const records = [
    asked("q1", "one"),
    report("p1", "r1"),
    answered("a1", [{ text: "first" }]),
    report("p2", "r2"),
  ];
  const original = view(records);
  const copied = records.map((one) => ({
    ...one,
    sessionId: "copy",
    forkedFrom: { sessionId: QWEN_ID, messageUuid: one["uuid"] },
  }));
  const copy = view(copied);
  expect(copy.session.parent).toEqual({ sourceId: QWEN_ID, relation: "fork" });
  const idsOf = (one: typeof copy) => one.entries.slice(1).map(({ id }) => id);
  expect(idsOf(copy)).toEqual(idsOf(original));
  const started = view([system("s1", "parent_session", { parentSessionId: "main" }), asked("q1", "one")]);
  expect(started.session.parent).toEqual({ sourceId: "main", relation: "subagent" });
});

test("imports names, notes, models, refused calls, and files as such", () => {
  const { path, session } = view([
    system("n1", "custom_title", { customTitle: "Walls", titleSource: "auto" }),
    asked("q1", "one"),
    system("n2", "custom_title", { customTitle: "Walls", titleSource: "auto" }),
    system("n3", "custom_title", { customTitle: "Mine", titleSource: "manual" }),
    asked("q2", "a task has ended", { subtype: "notification" }),
    system("n4", "session_model", { modelId: "q-2", authType: "anthropic" }),
    system("n5", "ui_telemetry", {
      uiEvent: {
        "event.name": "qwen-code.api_error",
        model: "q-2",
        error_message: "400 no",
        auth_type: "openai",
      },
    }),
    system("n6", "file_history_snapshot", { snapshots: [] }),
    { uuid: uuid("n7"), type: "strange", message: { any: 1 } },
  ]);
  expect(path.map(brief)).toEqual([
    "sessiontree.import",
    "name Walls",
    "user one",
    "name Mine",
    "qwen.notification",
    "model_change",
    "assistant",
    "qwen.file_history_snapshot",
    "qwen.strange",
  ]);
  expect(path[5]).toMatchObject({ provider: "anthropic", modelId: "q-2" });
  expect(path[6]).toMatchObject({ message: { stopReason: "error", errorMessage: "400 no" } });
  expect(session.madeNameIds).toEqual(new Set([path[1]?.id]));
  expect(session.dropped).toEqual({ "repeated title": 1 });
});

test("makes sessions of subagents' records, whose calls the reports do not count again", () => {
  const lane = { isSidechain: true, agentId: "explore-1", agentName: "Explore" };
  const [main, subagent] = importChat([
    asked("q1", "delegate"),
    { ...asked("s1", "look"), ...lane, parentUuid: null },
    { ...answered("s2", [{ text: "seen" }]), ...lane },
    {
      ...report("p1", "r1", { subagent_name: "Explore", prompt_id: `${QWEN_ID}#explore-1#0` }),
      parentUuid: uuid("q1"),
    },
    answered("a1", [{ text: "done" }]),
  ]).map(readView);
  expect(main?.path.map(brief)).toEqual(["sessiontree.import", "user delegate", "assistant done"]);
  expect(subagent?.path.map(brief)).toEqual([
    "sessiontree.import",
    "sessiontree.subagent",
    "user look",
    "assistant seen",
  ]);
  expect(subagent?.session.parent).toEqual({ sourceId: QWEN_ID, relation: "subagent" });
});

test("links a subagent's transcript of a newer version to its call, with whole answers", () => {
  const lane = { isSidechain: true, agentId: "explore-c1", agentName: "explore" };
  const { usageMetadata: _, ...rest } = answered("s3", [makeCall("c2")]);
  const told = { subagent_name: "explore", prompt_id: `${QWEN_ID}#explore-c1#0`, model: "q-2" };
  const records = [
    asked("q1", "delegate"),
    answered("a1", [makeCall("c1", "agent")]),
    report("p1", "r1", told),
    resulted("t1", "c1", "started"),
    { ...asked("s1", "look"), ...lane, parentUuid: null },
    { ...answered("s2", [{ text: "I look" }], { model: undefined }), ...lane },
    { ...rest, model: undefined, ...lane },
    { ...resulted("t2", "c2", "seen"), ...lane },
  ];
  const [main, agent] = importChat(records).map(readView);
  expect(main?.path.slice(-2).map(brief)).toEqual(["result c1", "sessiontree.subagent"]);
  const link = { agentId: "explore-c1", toolCallId: "c1" };
  expect(main?.path.at(-1)).toMatchObject({ data: { ...link, sessionId: agent?.session.header.id } });
  expect(agent?.path[1]).toMatchObject({ data: { ...link, nickname: "explore" } });
  expect(agent?.messages.map(briefMessage)).toEqual(["user look", "assistant I look+c2", "result c2"]);
  expect(agent?.messages[1]).toMatchObject({ model: "q-2", stopReason: "toolUse", usage: { output: 10 } });
  // A file may end between the records of an answer.
  const [, shorter] = importChat(records.slice(0, -2)).map(readView);
  expect(shorter?.path.map(({ id }) => id)).toEqual(agent?.path.slice(0, 4).map(({ id }) => id));
});

test("counts a report at the end of a file, and withdraws it when the answer arrives", () => {
  const records = [asked("q1", "one"), report("p1", "r1"), answered("a1", [{ text: "first" }])];
  const shorter = view(records.slice(0, 2));
  expect(shorter.path.map(brief)).toEqual(["sessiontree.import", "user one", "usage"]);
  const whole = view(records);
  expect(whole.path.map(brief)).toEqual(["sessiontree.import", "user one", "assistant first"]);
  expect(whole.session.withdrawnIds).toContain(shorter.path[2]?.id);
});

test("counts thought tokens once, whether the provider includes them in its output or next to it", () => {
  const apart = {
    promptTokenCount: 100,
    candidatesTokenCount: 10,
    thoughtsTokenCount: 4,
    totalTokenCount: 114,
  };
  const { messages } = view([asked("q1", "one"), answered("a1", [{ text: "x" }], { usageMetadata: apart })]);
  expect(messages[1]).toMatchObject({ usage: { input: 100, output: 14, reasoning: 4, totalTokens: 114 } });
});

test("refuses the log of a managed session by name, and reports cycles and missing parents", () => {
  expect(() => importChat([system("m1", "managed_session_header_v1", {})])).toThrow(
    expect.objectContaining({ code: "VERSION_TOO_NEW" }),
  );
  const [session] = importChat([
    { ...asked("q1", "one"), parentUuid: uuid("a1") },
    answered("a1", [{ text: "first" }]),
    { ...asked("q2", "two"), parentUuid: uuid("gone") },
    { type: "user", message: 7 },
  ]);
  expect(session?.issues.map(({ code }) => code)).toEqual(["PARENT_BRIDGED", "PARENT_CYCLE"]);
  expect(session?.counts).toMatchObject({ records: 4, userMessages: 2, assistantMessages: 1, dropped: 1 });
  expect(importChat([], readSourceText("[]"))).toEqual([]);
});
