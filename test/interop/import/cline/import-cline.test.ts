import { expect, test } from "vitest";
import { importCline } from "../../../../src/interop/import/cline/import-cline.ts";
import { detectSource } from "../../../../src/interop/import/detect-source.ts";
import { brief, briefMessage, readView } from "../support/session-view.ts";

const importedAt = "2027-01-01T00:00:00.000Z";
const START = Date.UTC(2026, 10, 23);

function user(at: number, content: unknown, more: object = {}) {
  return { role: "user", content, ts: START + at, ...more };
}

function answer(at: number, content: unknown, more: object = {}) {
  return { role: "assistant", content, ts: START + at, ...more };
}

function typed(text: string) {
  return [{ type: "text", text: `<user_input mode="act">${text}</user_input>` }];
}

function call(id: string, name: string, input: object = {}) {
  return { type: "tool_use", id, name, input };
}

function result(id: string, content: unknown, more: object = {}) {
  return { type: "tool_result", tool_use_id: id, content, ...more };
}

const METRICS = {
  inputTokens: 1000,
  outputTokens: 50,
  cacheReadTokens: 600,
  cacheWriteTokens: 100,
  cost: 0.25,
};

/** A session of the command line, as it writes it. */
const MESSAGES = [
  user(0, typed("read it"), { id: "5bd0b98a-0000-4000-8000-000000000001" }),
  answer(10, [{ type: "text", text: "Reading." }, call("c1", "read_files"), call("c2", "editor")], {
    id: "msg_one",
    modelInfo: { id: "claude-x", provider: "anthropic" },
    metrics: METRICS,
  }),
  user(
    20,
    [
      result("c1", [{ query: "a.txt", result: "", error: "no such file", success: false }]),
      result("c2", '{"query":"edit:a.txt","result":"Edited","success":true}', { name: "editor" }),
    ],
    { id: "msg_two" },
  ),
  answer(30, [{ type: "text", text: "It is gone." }], { id: "msg_three", metrics: METRICS }),
];

function cli(messages: readonly unknown[], more: Partial<Parameters<typeof importCline>[0]> = {}) {
  const document = { version: 1, agent: "lead", sessionId: "17_ab", origin: { version: "3.0.65" }, messages };
  const sessions = importCline({ document, sessionId: "17_ab", importedAt, ...more });
  return sessions.map(readView);
}

function one(messages: readonly unknown[], more: Partial<Parameters<typeof importCline>[0]> = {}) {
  const [view] = cli(messages, more);
  if (view === undefined) throw new Error("no session was made");
  expect(view.problems).toEqual([]);
  return view;
}

test("imports a command-line session's prompts, calls, failures, tokens, and checkpoints", () => {
  const manifest = {
    cwd: "/code",
    started_at: "2026-11-22T23:59:00.000Z",
    metadata: {
      title: "Read it",
      checkpoint: { history: [{ ref: "29db2d5", createdAt: START + 5, runCount: 1, kind: "commit" }] },
    },
  };
  const { path, session } = one(MESSAGES, { manifest });
  expect(session.header).toMatchObject({ id: "17_ab", cwd: "/code", timestamp: "2026-11-22T23:59:00.000Z" });
  expect(path.map(brief).slice(1)).toEqual([
    "name Read it",
    "user read it",
    "cline.checkpoint",
    "assistant Reading.+c1+c2",
    "result c1",
    "result c2",
    "assistant It is gone.",
  ]);
  expect(path[2]?.id).toBe("5bd0b98a");
  expect(path[3]).toMatchObject({ data: { ref: "29db2d5", kind: "commit" } });
  expect(path[4]).toMatchObject({
    message: {
      api: "anthropic-messages",
      model: "claude-x",
      stopReason: "toolUse",
      usage: { input: 300, output: 50, cacheRead: 600, cacheWrite: 100, cost: { total: 0.25 } },
    },
  });
  expect(path.slice(5, 7)).toMatchObject([
    { message: { toolName: "read_files", isError: true } },
    { message: { toolName: "editor", isError: false } },
  ]);
});

test.each([
  ['{"error":"The call was rejected."}', true],
  ['{"query":"a","error":"no","success":false}', true],
  ['{"error":null,"text":"fine"}', false],
  ['prints "success":false', false],
])("determines from a result %s whether it failed: %s", (content, isError) => {
  const { path } = one([user(0, [result("c1", content)])]);
  expect(path.at(-1)).toMatchObject({ message: { isError } });
});

test("imports images as images, wherever they are", () => {
  const image = { type: "image", data: "AAAA", mediaType: "image/png" };
  const { messages } = one([
    user(0, [image, ...typed("see")]),
    user(1, [result("c1", [{ query: "a.png", result: [image], success: true }])]),
  ]);
  const made = { type: "image", data: "AAAA", mimeType: "image/png" };
  expect(messages).toMatchObject([
    { content: [made, { text: "see" }] },
    { content: [{ text: '[{"query":"a.png","result":[],"success":true}]' }, made] },
  ]);
});

test("gives a fork its original's ids and names it; so does one identified only by its messages", () => {
  const ids = (view: ReturnType<typeof one>) => view.path.slice(1, 5).map(({ id }) => id);
  const manifest = { metadata: { fork: { forkedFromSessionId: "16_aa" } } };
  const fork = one([...MESSAGES, user(40, typed("go on"))], { manifest });
  expect(fork.session.parent).toEqual({ sourceId: "16_aa", relation: "fork" });
  expect(ids(fork)).toEqual([fork.path[1]?.id, ...ids(one(MESSAGES)).slice(0, 3)]);
  expect(one(MESSAGES, { forkedFrom: "16_aa" }).session.parent?.sourceId).toBe("16_aa");
});

test("imports the working context next to the history as a compaction: its messages, and what came later", () => {
  const summary = { kind: "compaction_summary", summary: "It was read.", tokensBefore: 900 };
  const compaction = {
    source_message_count: 3,
    messages: [
      { id: "s", role: "user", content: "Context summary: It was read.", metadata: summary },
      user(0, typed("kept"), { id: "5bd0b98a-0000-4000-8000-000000000001" }),
    ],
  };
  const { messages, path } = one(MESSAGES, { compaction });
  expect(messages.map(briefMessage)).toEqual(["compactionSummary", "user kept", "assistant It is gone."]);
  expect(path.map(brief)).toContain("compaction It was read.");
  // An older program does not count what it has replaced.
  const { source_message_count: _, ...older } = compaction;
  expect(one(MESSAGES, { compaction: older }).messages.map(briefMessage).at(-1)).toBe(
    "assistant It is gone.",
  );
});

test("imports Roo Code's condensed history as a compaction, and its requests from the file next to it", () => {
  const rows = [
    {
      ts: START + 5,
      say: "api_req_started",
      text: '{"tokensIn":10,"tokensOut":5,"cacheReads":7,"cost":0.5}',
    },
    { ts: START + 14, say: "api_req_started", text: '{"tokensIn":4}' },
    { ts: START + 15, say: "api_req_started", text: '{"tokensIn":10,"cacheReads":7,"apiProtocol":"openai"}' },
    { ts: START + 16, say: "text", text: "b" },
    { ts: START + 25, say: "condense_context", contextCondense: { condenseId: "s1", cost: 0.125 } },
    { ts: START + 45, say: "api_req_started", text: '{"tokensIn":3,"cancelReason":"user_cancelled"}' },
  ];
  const document = [
    user(0, [{ type: "text", text: "<task>\ndo it\n</task>" }]),
    answer(10, [{ type: "text", text: "a" }], { condenseParent: "s1" }),
    user(12, [{ type: "text", text: "<environment_details>\n<model>m-1</model>" }], { condenseParent: "s1" }),
    answer(20, [{ type: "text", text: "b" }], { condenseParent: "s1" }),
    user(29, [{ type: "text", text: "All so far." }], { isSummary: true, condenseId: "s1" }),
    user(30, [{ type: "text", text: "<feedback>more</feedback>" }]),
    answer(40, [{ type: "text", text: "c" }]),
  ];
  const view = one([], { document, viewRows: rows, sessionId: "0198-roo" });
  expect(view.messages.map(briefMessage)).toEqual([
    "compactionSummary",
    "user do it",
    "user more",
    "assistant c",
  ]);
  const usages = view.entries.flatMap((entry) =>
    entry.type === "message" && entry.message.role === "assistant" ? [entry.message] : [],
  );
  expect(usages).toMatchObject([
    { usage: { input: 10, output: 5, cacheRead: 7, cost: { total: 0.5 } } },
    { usage: { input: 3, cacheRead: 7 }, model: "m-1" },
    { usage: { totalTokens: 0 }, model: "m-1" },
  ]);
  const compaction = view.entries.find(({ type }) => type === "compaction");
  expect(compaction).toMatchObject({ summary: "All so far.", usage: { cost: { total: 0.125 } } });
  const lost = view.entries.filter(({ type }) => type === "usage");
  expect(lost).toMatchObject([{ usage: { input: 4 } }, { usage: { input: 3 } }]);
});

test("does not import results that older programs send as texts as prompts", () => {
  const { path } = one([
    user(0, [{ type: "text", text: "<task>go</task>" }]),
    user(1, [
      { type: "text", text: "[read_file for 'a.txt'] Result:" },
      { type: "text", text: "alpha" },
    ]),
  ]);
  expect(path.map(brief).slice(1)).toEqual(["user go", "cline.report"]);
});

test("imports readable reasoning as thinking, and keeps what only its provider can read", () => {
  const rows = [{ ts: START + 1, say: "api_req_started", text: '{"tokensIn":10}' }];
  const document = [
    user(0, [{ type: "text", text: "<task>go</task>" }]),
    answer(2, [], { type: "reasoning", encrypted_content: "opaque", summary: [] }),
    answer(3, [
      { type: "reasoning", text: "hm" },
      { type: "text", text: "Yes." },
    ]),
    user(4, [{ type: "text", text: "[TODO] is a prompt" }]),
  ];
  const { path } = one([], { document, viewRows: rows, sessionId: "0198-roo" });
  expect(path.map(brief).slice(1)).toEqual([
    "user go",
    "cline.reasoning",
    "assistant hm+Yes.",
    "user [TODO] is a prompt",
  ]);
  expect(path[2]).toMatchObject({ data: { encrypted_content: "opaque" } });
  expect(path[3]).toMatchObject({ message: { content: [{ type: "thinking" }, {}], usage: { input: 10 } } });
});

test("imports an agent as a separate session, linked to the call that contains its prompt", () => {
  const messages = [
    user(0, typed("delegate")),
    answer(10, [call("c1", "spawn_agent", { task: "look" }), call("c2", "spawn_agent", { task: "look" })]),
    user(20, [result("c1", "seen"), result("c2", "seen")]),
  ];
  const agent = (id: string) => ({
    document: {
      agent: "subagent",
      sessionId: `17_ab__${id}`,
      origin: { subagent: id },
      messages: [user(12, [{ type: "text", text: "look" }])],
    },
  });
  const [main, ...others] = cli(messages, { subagents: [agent("a1"), agent("a2")] });
  const links = main?.entries.flatMap((entry) => (entry.type === "custom" ? [entry.data] : [])).slice(1);
  expect(links).toEqual([
    { agentId: "a1", toolCallId: "c1", sessionId: "agent-a1.17_ab" },
    { agentId: "a2", toolCallId: "c2", sessionId: "agent-a2.17_ab" },
  ]);
  expect(others.map(({ session }) => [session.header.id, session.parent])).toEqual([
    ["agent-a1.17_ab", { sourceId: "17_ab", relation: "subagent" }],
    ["agent-a2.17_ab", { sourceId: "17_ab", relation: "subagent" }],
  ]);
  expect(others[0]?.path[1]).toMatchObject({ data: { agentId: "a1", toolCallId: "c1" } });
});

test("accepts wrong types anywhere without an error", () => {
  for (const junk of [null, 5, "x", [], {}, [null], { content: 5 }, [{ type: 5 }], [[]]]) {
    const messages = [
      { role: "user", content: junk, id: junk, ts: junk, metadata: junk },
      { role: "assistant", content: junk, metrics: junk, modelInfo: junk, isSummary: junk },
      user(1, [{ type: "tool_result", tool_use_id: junk, content: junk, name: junk }]),
      answer(2, [{ type: "tool_use", id: junk, name: junk, input: junk }]),
      user(3, [
        { type: "file", path: junk, content: junk },
        { type: "image", data: junk, mediaType: junk },
      ]),
      junk,
    ];
    const more = { manifest: junk, compaction: { messages: [junk] }, viewRows: [junk, { say: junk }] };
    for (const { problems, read } of cli(messages, more)) expect([problems, read.issues]).toEqual([[], []]);
  }
  expect(importCline({ document: { messages: "none" }, sessionId: "../..", importedAt })).toEqual([]);
});

test.each([
  ["a document of the command line", { agent: "lead", sessionId: "17_ab", messages: MESSAGES }, "cline"],
  ["an array with times", MESSAGES.map(({ role, content, ts }) => ({ role, content, ts })), "cline"],
  ["an array with a summary", [{ role: "user", content: "All.", isSummary: true }], "cline"],
  ["an old task", [{ role: "user", content: [{ type: "text", text: "<task>\nx\n</task>" }] }], "cline"],
  ["an array of Anthropic's messages", MESSAGES.map(({ role, content }) => ({ role, content })), "messages"],
  ["an array with texts and times", [{ role: "user", content: "x", ts: 5 }], "messages"],
])("recognizes %s", (_name, document, source) => {
  expect(detectSource(JSON.stringify(document, null, 2))).toBe(source);
});
