import { expect, test } from "vitest";
import type { ImportedSession } from "../../../../src/interop/import/imported-session.ts";
import { readSourceText } from "../../../../src/interop/import/source-text.ts";
import { joinLines } from "../support/claude-records.ts";
import {
  answer,
  COPILOT_ID,
  type CopilotEvent,
  event,
  importEvents,
  makeId,
  makeTime,
  numbered,
  prompt,
  result,
  start,
  tokens,
} from "../support/copilot-records.ts";
import { brief, briefMessage, readView } from "../support/session-view.ts";

function views(events: readonly CopilotEvent[], more: Parameters<typeof importEvents>[1] = {}) {
  const made = importEvents(events, more).map(readView);
  for (const { problems, read } of made) expect([...problems, ...read.issues]).toEqual([]);
  return made;
}

function view(events: readonly CopilotEvent[], more: Parameters<typeof importEvents>[1] = {}) {
  const [made, ...others] = views(events, more);
  if (made === undefined) throw new Error("no session was made");
  expect(others).toEqual([]);
  return made;
}

const CALLED = [tokens("r1"), answer("r1", "looking", { c1: "bash" })];

test("takes an answer's tokens from the record before it, and a command's failure from its exit code", () => {
  const { messages, session, repairs } = view(
    numbered([
      start(),
      prompt("hello"),
      event("assistant.turn_start"),
      ...CALLED,
      event("tool.execution_start", { toolCallId: "c1", toolName: "bash" }),
      result("c1", "no such file\n<shellId: 0 completed with exit code 3>", {
        shellExecution: { exitCode: 3 },
      }),
      tokens("r2", { apiEndpoint: "/responses", finishReason: "length" }),
      answer("r2", "done"),
    ]),
  );
  expect(messages.map(briefMessage)).toEqual([
    "user hello",
    "assistant looking+c1",
    "result c1",
    "assistant done",
  ]);
  expect(messages[1]).toMatchObject({
    provider: "github-copilot",
    api: "openai-completions",
    model: "m-1",
    responseId: "r1",
    stopReason: "toolUse",
    usage: { input: 40, output: 10, cacheRead: 60, reasoning: 4, totalTokens: 110, cost: { total: 0 } },
  });
  expect(messages[2]).toMatchObject({ toolName: "bash", isError: true, details: { exitCode: 3 } });
  expect(messages[3]).toMatchObject({ api: "openai-responses", stopReason: "length" });
  expect(session.dropped).toEqual({
    "beginning or end of a turn or run": 1,
    "repeats a call of an answer": 1,
  });
  expect(session.header).toMatchObject({ id: COPILOT_ID, cwd: "/code/project", timestamp: makeTime(1) });
  expect(repairs).toEqual([]);
});

test("makes a session of each of two concurrent subagents' events, linked on both sides", () => {
  const begin = (id: string, toolCallId: string) =>
    event("subagent.started", { toolCallId, agentName: "general", agentDisplayName: id }, id);
  const [main, one, other, nested] = views(
    numbered([
      start(),
      prompt("delegate"),
      tokens("r1"),
      answer("r1", "", { c1: "task", c2: "task" }),
      begin("a1", "c1"),
      begin("a2", "c2"),
      prompt("first", { source: `agent-${COPILOT_ID}` }, "a1"),
      prompt("second", { source: `agent-${COPILOT_ID}` }, "a2"),
      tokens("s1", {}, "a1"),
      tokens("s2", {}, "a2"),
      answer("s2", "of the second", { c3: "task" }, "a2"),
      answer("s1", "of the first", {}, "a1"),
      begin("a3", "c3"),
      prompt("third", {}, "a3"),
      answer("s3", "of the third", {}, "a3"),
      result("c3", "done", {}, "a2"),
      result("c1", "done"),
      result("c2", "done"),
    ]),
  );
  expect(main?.path.map(brief)).toEqual([
    "sessiontree.import",
    "user delegate",
    "assistant c1+c2",
    "result c1",
    "sessiontree.subagent",
    "result c2",
    "sessiontree.subagent",
  ]);
  expect(one?.path.map(brief)).toEqual([
    "sessiontree.import",
    "sessiontree.subagent",
    "user first",
    "assistant of the first",
  ]);
  expect(one?.path[1]).toMatchObject({ data: { agentId: "a1", toolCallId: "c1", nickname: "a1" } });
  expect(one?.messages[1]).toMatchObject({ responseId: "s1", usage: { output: 10 } });
  expect(other?.messages[1]).toMatchObject({ responseId: "s2", usage: { output: 10 } });
  expect(other?.session.parent).toEqual({ sourceId: COPILOT_ID, relation: "subagent" });
  expect(nested?.session.parent).toEqual({ sourceId: `${COPILOT_ID}.agent-a2`, relation: "subagent" });
  expect(main?.path[4]).toMatchObject({ data: { sessionId: one?.session.header.id, toolCallId: "c1" } });
});

test("imports what the user interrupts, steers, or cannot send", () => {
  const { path, messages, repairs } = view(
    numbered([
      start(),
      prompt("run"),
      tokens("r1"),
      answer("r1", "running", { c1: "bash", c2: "bash" }),
      prompt("hurry", { delivery: "steering" }),
      result("c1", "moved to the background"),
      tokens("lost"),
      event("abort", { reason: "user_initiated" }),
      prompt("again"),
      event("session.error", { statusCode: 400, errorType: "query", message: "no" }),
      event("hook.end", { hookType: "stop" }),
    ]),
  );
  expect(path.map(brief)).toEqual([
    "sessiontree.import",
    "user run",
    "assistant running+c1+c2",
    "user hurry",
    "result c1",
    "usage",
    "result c2",
    "user again",
    "assistant",
    "copilot.hook.end",
  ]);
  expect(messages.find((one) => one.role === "toolResult" && one.toolCallId === "c2")).toMatchObject({
    isError: true,
  });
  expect(path[5]).toMatchObject({ kind: "copilot.call", note: "lost", usage: { input: 40, output: 10 } });
  expect(path[8]).toMatchObject({ message: { stopReason: "error", errorMessage: "400 query: no" } });
  expect(repairs.map(({ kind }) => kind)).toEqual(["resultMoved", "resultMoved"]);
});

test("gives a call that ran when the program was killed no result from a later interruption", () => {
  const { path } = view(
    numbered([
      start(),
      prompt("run"),
      answer("r1", "", { c1: "bash" }),
      event("session.resume"),
      prompt("again"),
      answer("r2", "", { c2: "bash" }),
      event("abort"),
    ]),
  );
  expect(path.map(brief).slice(1)).toEqual([
    "user run",
    "assistant c1",
    "user again",
    "assistant c2",
    "result c2",
  ]);
});

test("imports a compaction's summary and what was written in the meantime, and only the tokens of a canceled one", () => {
  const used = { model: "m-1", inputTokens: 30, outputTokens: 5, cacheReadTokens: 10 };
  const complete = (fields: object) =>
    event("session.compaction_complete", {
      compactionTokensUsed: used,
      summaryContent: "the summary",
      ...fields,
    });
  const { path, messages, session } = view(
    numbered([
      start(),
      prompt("one"),
      answer("r1", "first"),
      event("session.compaction_start"),
      complete({ success: false, outcome: "cancelled" }),
      prompt("two"),
      event("session.compaction_start"),
      event("model.messages_snapshot", { messages: [] }),
      answer("r2", "second"),
      complete({ success: true, outcome: "applied", preCompactionTokens: 99, trigger: "threshold" }),
      prompt("three"),
    ]),
  );
  expect(messages.map(briefMessage)).toEqual(["compactionSummary", "assistant second", "user three"]);
  const compaction = path.find(({ type }) => type === "compaction");
  expect(compaction).toMatchObject({
    summary: "the summary",
    tokensBefore: 99,
    usage: { input: 20, output: 5 },
  });
  expect(path.filter(({ type }) => type === "usage")).toMatchObject([
    { kind: "copilot.compaction", usage: { input: 20, output: 5, cacheRead: 10 } },
  ]);
  expect(session.counts.compactions).toBe(1);
});

test("takes tokens other than output from totals, once across resumes and rewinds, in versions that report only output", () => {
  const said = (id: string, outputTokens: number) =>
    event("assistant.message", { apiCallId: id, content: "hi", model: "m-1", outputTokens });
  const totals = (inputTokens: number, outputTokens: number) =>
    event("session.shutdown", {
      modelMetrics: { "m-1": { usage: { inputTokens, outputTokens, cacheReadTokens: 0 } } },
    });
  const events = numbered([
    start(),
    prompt("one"),
    said("r1", 10),
    totals(100, 10),
    event("session.resume"),
    prompt("two"),
    said("r2", 20),
    totals(300, 30),
    totals(50, 5),
  ]);
  const { entries } = view(events);
  const usages = entries.flatMap((entry) =>
    entry.type === "usage"
      ? [entry.usage]
      : entry.type === "message" && entry.message.role === "assistant"
        ? [entry.message.usage]
        : [],
  );
  expect(usages.map(({ input, output }) => [input, output])).toEqual([
    [0, 10],
    [100, 0],
    [0, 20],
    [200, 0],
  ]);
});

/** An answer as versions up to about 1.0.20 write it: without a model, and with its output only. */
function untold(outputTokens: number, calls: readonly string[] = [], agentId?: string) {
  const toolRequests = calls.map((toolCallId) => ({ toolCallId, name: "bash", arguments: {} }));
  return event("assistant.message", { content: "hi", toolRequests, outputTokens }, agentId);
}

function totalsOf(models: Readonly<Record<string, object>>, currentModel: string) {
  const told = Object.entries(models).map(([name, usage]) => [name, { usage }] as const);
  return event("session.shutdown", { modelMetrics: Object.fromEntries(told), currentModel });
}

/** Returns the tokens of all sessions by model, and the models of answers. */
function sumOf(sessions: readonly ImportedSession[]) {
  const sums: { [model: string]: number[] } = {};
  for (const entry of sessions.flatMap((session) => readView(session).entries)) {
    const call = entry.type === "message" ? entry.message : entry;
    if (!("usage" in call) || call.usage === undefined) continue;
    const model = "model" in call ? String(call.model) : "summary";
    const { input, output, cacheRead, cacheWrite } = call.usage;
    const sum = sums[model] ?? [0, 0, 0, 0];
    sums[model] = [input, output, cacheRead, cacheWrite].map((count, i) => count + (sum[i] ?? 0));
  }
  return sums;
}

test("takes the model of answers without one from their calls or the totals, and counts them once", () => {
  const usage = { inputTokens: 1000, outputTokens: 187, cacheReadTokens: 600, cacheWriteTokens: 100 };
  const sessions = importEvents(
    numbered([
      start({ selectedModel: undefined, copilotVersion: "1.0.2" }),
      prompt("one"),
      untold(100, ["c1"]),
      result("c1", "out", { model: "m-1" }),
      untold(87),
      totalsOf({ "m-1": usage }, "m-1"),
    ]),
  );
  expect(sumOf(sessions)).toEqual({ "m-1": [300, 187, 600, 100] });
  const without = importEvents(
    numbered([
      start({ selectedModel: undefined }),
      prompt("one"),
      untold(187),
      totalsOf({ "m-1": usage }, "m-1"),
    ]),
  );
  expect(sumOf(without)).toEqual({ "m-1": [300, 187, 600, 100] });
});

test("takes an answer's model from its tool's call, whatever was selected before", () => {
  const sessions = importEvents(
    numbered([
      start({ selectedModel: "auto" }),
      prompt("one"),
      untold(10, ["c1"]),
      result("c1", "out", { model: "m-1" }),
      untold(20, ["c2"]),
      result("c2", "out", { model: "m-2" }),
      untold(5),
      totalsOf(
        { "m-1": { inputTokens: 50, outputTokens: 10 }, "m-2": { inputTokens: 70, outputTokens: 25 } },
        "m-2",
      ),
    ]),
  );
  expect(sumOf(sessions)).toEqual({ "m-1": [50, 10, 0, 0], "m-2": [70, 25, 0, 0] });
});

test("subtracts the output of answers with an unknown model from the totals", () => {
  const sessions = importEvents(
    numbered([
      start({ selectedModel: undefined }),
      prompt("one"),
      untold(10, ["c1"]),
      event("subagent.started", { toolCallId: "c1" }, "a1"),
      prompt("look", {}, "a1"),
      untold(30, [], "a1"),
      result("c1", "out", { model: "m-1" }),
      totalsOf(
        { "m-1": { inputTokens: 50, outputTokens: 10 }, "m-2": { inputTokens: 70, outputTokens: 30 } },
        "m-1",
      ),
      totalsOf(
        { "m-1": { inputTokens: 50, outputTokens: 10 }, "m-2": { inputTokens: 80, outputTokens: 34 } },
        "m-1",
      ),
    ]),
  );
  const sums = Object.values(sumOf(sessions));
  expect([0, 1].map((i) => sums.reduce((sum, one) => sum + (one[i] ?? 0), 0))).toEqual([130, 44]);
});

test("takes cache writes of a summary's call from its bill, and reads older versions' names for its tokens", () => {
  const tokenDetails = [
    { tokenType: "input", tokenCount: 20 },
    { tokenType: "cache_read", tokenCount: 60 },
    { tokenType: "cache_write", tokenCount: 40 },
    { tokenType: "output", tokenCount: 9 },
  ];
  const compaction = (compactionTokensUsed: object) =>
    numbered([
      start(),
      prompt("one"),
      event("session.compaction_complete", { success: true, summaryContent: "so far", compactionTokensUsed }),
    ]);
  const billed = { inputTokens: 120, outputTokens: 9, cacheReadTokens: 60, copilotUsage: { tokenDetails } };
  expect(sumOf(importEvents(compaction(billed)))).toEqual({ summary: [20, 9, 60, 40] });
  const told = { ...billed, cacheWriteTokens: 40 };
  expect(sumOf(importEvents(compaction(told)))).toEqual({ summary: [20, 9, 60, 40] });
  const old = { input: 100, output: 9, cachedInput: 60 };
  expect(sumOf(importEvents(compaction(old)))).toEqual({ summary: [40, 9, 60, 0] });
});

test("keeps turns that are rewound after an import as a branch", () => {
  const first = [start(), prompt("one"), tokens("r1"), answer("r1", "first")];
  const second = [prompt("two"), tokens("r2"), answer("r2", "second")];
  const before = importEvents(numbered([...first, ...second]))[0];
  const rewind = numbered(
    [event("session.info", { infoType: "rewind", message: "Rewound." }), prompt("three")],
    8,
  );
  const known = (before?.entries ?? []).map((entry) => ({ ...entry }));
  const { session, path, entries } = view([...numbered(first), ...rewind], { known });
  expect(path.map(brief)).toEqual([
    "sessiontree.import",
    "user one",
    "assistant first",
    "copilot.session.info",
    "user three",
  ]);
  expect(entries.slice(0, 5)).toEqual(known.slice(0, 5).map((entry, i) => (i === 0 ? entries[0] : entry)));
  const again = session.entries.map((entry) => ({ ...entry }));
  expect(view([...numbered(first), ...rewind], { known: again }).text).toBe(readView(session).text);
});

test("restores turns that are rewound before an import from the program's database, as far as it has them", () => {
  const row = (turn: number, user_message: string, assistant_response: string | null, second: number) => ({
    turn_index: turn,
    user_message,
    assistant_response,
    timestamp: makeTime(second),
  });
  const call = (input_tokens: number, second: number) => ({
    model: "m-1",
    input_tokens,
    output_tokens: 1,
    cache_read_tokens: 0,
    created_at: makeTime(second).slice(0, 19).replace("T", " "),
  });
  const first = numbered([start(), prompt("one"), tokens("r1"), answer("r1", "first")]);
  const rest = numbered(
    [event("session.info", { infoType: "rewind", message: "Rewound." }), prompt("one")],
    14,
  );
  const rows = {
    turns: [
      row(0, "one", "first", 5),
      row(1, "one", "second", 9),
      row(2, "stop", null, 12),
      row(1, "one", "x", 20),
    ],
    calls: [call(100, 3), call(7, 7), call(8, 8), call(9, 11)],
  };
  const { session, path, entries } = view([...first, ...rest], { rows });
  const named = path.map(brief);
  expect(named).toEqual([
    "sessiontree.import",
    "user one",
    "assistant first",
    "copilot.session.info",
    "user one",
  ]);
  expect(entries.slice(3, 9).map(brief)).toEqual([
    "user one",
    "copilot.stored-turn",
    "usage",
    "assistant second",
    "user stop",
    "copilot.stored-turn",
  ]);
  const inputs = entries.flatMap((entry) => (entry.type === "usage" ? [entry.usage.input] : []));
  expect(inputs).toEqual([7, 9]);
  expect(entries[6]).toMatchObject({ message: { usage: { input: 8, output: 1 } } });
  const known = session.entries.map((entry) => ({ ...entry }));
  expect(view([...first, ...rest], { rows, known }).text).toBe(readView(session).text);
  expect(view([...first, ...rest], { known }).text).toBe(readView(session).text);
});

test("does not restore a redacted prompt without a call from its turn's row", () => {
  const first = numbered([start(), prompt("one"), tokens("r1"), answer("r1", "first")]);
  const rewind = numbered([event("session.info", { infoType: "rewind", message: "Rewound." })], 14);
  const { session } = view([...first, ...numbered([prompt("the secret"), event("abort", {})], 7)]);
  const turns = [
    { user_message: "one", assistant_response: "first", timestamp: makeTime(5) },
    { user_message: null, assistant_response: null, timestamp: makeTime(6) },
    { user_message: "the secret", assistant_response: null, timestamp: makeTime(12) },
  ];
  const calls = [{ model: "m-1", input_tokens: 100, output_tokens: 1, created_at: makeTime(3) }];
  const options = { rows: { turns, calls } };
  expect(view([...first, ...rewind], options).text).toContain("the secret");
  const known = session.entries.map((entry) =>
    JSON.parse(JSON.stringify(entry).replace("the secret", "[redacted]")),
  );
  const again = view([...first, ...rewind], { ...options, known });
  expect(again.text).toContain("[redacted]");
  expect(again.text).not.toContain("the secret");
});

test("imports images, injected texts, reasoning, names, effort, and forks as such", () => {
  const data = "iVBORw0KGgo=";
  const workspace = "id: x\nname: 'It''s mine'\nuser_named: true\n";
  const { path, messages, session } = view(
    numbered([
      start({ reasoningEffort: "high" }),
      event("session.binary_asset", { assetId: "sha256:1", mimeType: "image/png", data }),
      prompt("see", {
        attachments: [{ type: "file", path: "/a.png", assetId: "sha256:1", mimeType: "image/png" }],
      }),
      prompt("skill body", { source: "skill-pdf" }),
      tokens("r1", { accounting: { sourceSessionId: "original" }, isByok: true, providerType: "anthropic" }),
      event("assistant.message", {
        apiCallId: "r1",
        content: "",
        reasoningText: "hm",
        reasoningOpaque: "o",
        chunkIndex: 0,
      }),
      answer("r1", "a square", { c1: "view" }),
      event("tool.execution_complete", {
        toolCallId: "c1",
        success: false,
        error: { message: "no", code: "failure" },
        result: { binaryResultsForLlm: [{ type: "image", assetId: "sha256:1", mimeType: "image/png" }] },
      }),
      event("session.model_change", { newModel: "m-2" }),
    ]),
    { workspace },
  );
  expect(path.map(brief)).toEqual([
    "sessiontree.import",
    "name It's mine",
    "thinking_level_change",
    "user see+image",
    "copilot.injected",
    "assistant hm+a square+c1",
    "copilot.parts",
    "result c1",
    "model_change",
  ]);
  expect(messages.find(({ role }) => role === "assistant")).toMatchObject({
    provider: "anthropic",
    usage: { output: 10 },
  });
  expect(path[7]).toMatchObject({
    message: { isError: true, content: [{ text: "no" }, { type: "image", data }] },
  });
  expect(session.parent).toEqual({ sourceId: "original", relation: "fork" });
  expect(session.madeNameIds.size).toBe(0);
});

test("counts tokens of a call at the end of a file before its answer, and withdraws that entry later", () => {
  const events = numbered([start(), prompt("one"), tokens("r1"), answer("r1", "first")]);
  const shorter = view(events.slice(0, 3));
  const id = shorter.entries.find(({ type }) => type === "usage")?.id ?? "";
  expect(id).toBe(makeId(3).slice(0, 8));
  const whole = view(events);
  expect(whole.entries.some(({ type }) => type === "usage")).toBe(false);
  expect(whole.session.withdrawnIds.has(id)).toBe(true);
});

test("reports damage, repeated events, fields of the wrong type, and unknown versions", () => {
  const events = numbered([start({ version: 7 }), prompt("one"), answer("r1", "first")]);
  const lines = joinLines([...events, { ...events[2] }, { ...event("user.message"), data: "?", id: 5 }]);
  const glued = lines.replace("}\n{", "}{");
  const [session] = importEvents([], readSourceText(`${glued}{"type":"user.mess`));
  expect(session?.issues.map(({ code }) => code)).toEqual(["RECORDS_GLUED", "TAIL_TORN", "VERSION_UNCLEAR"]);
  expect(session?.dropped).toEqual({ repeated: 1 });
  expect(session?.counts).toMatchObject({ records: 5, userMessages: 2, assistantMessages: 1 });
  expect(importEvents(numbered([start()]))).toEqual([]);
});
