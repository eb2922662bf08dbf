import { expect, test } from "vitest";
import { readSourceText } from "../../../../src/interop/import/source-text.ts";
import {
  call,
  compacted,
  event,
  importThread,
  item,
  meta,
  numbered,
  output,
  rollout,
  said,
  settings,
  THREAD_ID,
  totals,
  turn,
  usage,
  viewThread,
} from "../support/codex-records.ts";
import { brief, briefMessage, readView } from "../support/session-view.ts";

const reasoning = (fields: object = {}) =>
  item("reasoning", {
    id: "rs_1",
    summary: [{ type: "summary_text", text: "hm" }],
    content: null,
    encrypted_content: "secret",
    ...fields,
  });

test("merges items up to the first that the model did not make into one message, with exactly what must be replayed", () => {
  const view = viewThread([
    meta(),
    settings("gpt-x", "high"),
    ...turn(
      "hello",
      reasoning(),
      said("assistant", "looking", { id: "msg_1", phase: "commentary" }),
      call("c1", { id: "fc_1" }),
      call("c2", { id: "fc_2" }),
      output("c2", "two"),
      output("c1", "one"),
      totals(120, {
        input_tokens: 100,
        cached_input_tokens: 60,
        cache_write_input_tokens: 10,
        output_tokens: 20,
        reasoning_output_tokens: 5,
        total_tokens: 120,
      }),
      said("assistant", "done", { id: "msg_2", phase: "final_answer" }),
      totals(150, { input_tokens: 25, output_tokens: 5, total_tokens: 30 }),
      event("task_complete"),
    ),
  ]);
  expect(view.problems).toEqual([]);
  expect(view.repairs).toEqual([]);
  expect(view.messages.map(briefMessage)).toEqual([
    "user hello",
    "assistant hm+looking+c1|fc_1+c2|fc_2",
    "result c2|fc_2",
    "result c1|fc_1",
    "assistant done",
  ]);
  expect(view.messages[1]).toMatchObject({
    api: "openai-codex-responses",
    provider: "openai-codex",
    model: "gpt-x",
    stopReason: "toolUse",
    usage: { input: 30, cacheRead: 60, cacheWrite: 10, output: 20, reasoning: 5, totalTokens: 120 },
    content: [
      {
        thinkingSignature: JSON.stringify({
          type: "reasoning",
          id: "rs_1",
          summary: [{ type: "summary_text", text: "hm" }],
          encrypted_content: "secret",
        }),
      },
      { textSignature: JSON.stringify({ v: 1, id: "msg_1", phase: "commentary" }) },
      { name: "exec_command", arguments: { cmd: "ls" } },
      {},
    ],
  });
  expect(view.messages[4]).toMatchObject({ stopReason: "stop", usage: { input: 25, output: 5 } });
  expect(view.model).toEqual({ provider: "openai-codex", modelId: "gpt-x" });
  expect(view.thinkingLevel).toBe("high");
});

test("reports no call for totals that have not grown, and exact tokens from a response's own record", () => {
  const tokens = { input_tokens: 10, output_tokens: 1, total_tokens: 11 };
  const repeated = viewThread([
    meta(),
    ...turn(
      "hello",
      said("assistant", "one"),
      totals(11, tokens),
      totals(11, tokens),
      said("assistant", "two"),
      totals(22, tokens),
    ),
  ]);
  const counted = (view: typeof repeated) =>
    view.messages.flatMap((message) => (message.role === "assistant" ? [message.usage.totalTokens] : []));
  expect(counted(repeated)).toEqual([11, 11]);
  const exact = viewThread([
    meta(),
    ...turn(
      "hello",
      said("assistant", "one"),
      usage("resp_1", tokens),
      totals(11, tokens),
      usage("resp_2", tokens),
    ),
  ]);
  expect(exact.messages.at(-1)).toMatchObject({ responseId: "resp_1" });
  // An interrupted answer is lost; its tokens are not.
  expect(exact.entries.at(-1)).toMatchObject({ type: "usage", note: "resp_2", usage: { totalTokens: 11 } });
});

test("keeps what was rolled back as a branch", () => {
  const view = viewThread([
    meta(),
    ...turn("one", said("assistant", "1")),
    ...turn("two", said("assistant", "2")),
    ...turn("three", said("assistant", "3")),
    event("thread_rolled_back", { num_turns: 2 }),
    ...turn("instead", said("assistant", "4")),
  ]);
  expect(view.messages.map(briefMessage)).toEqual(["user one", "assistant 1", "user instead", "assistant 4"]);
  expect(view.entries.map(brief)).toEqual(expect.arrayContaining(["user two", "user three", "assistant 3"]));
});

test("rolls back a compaction, too, and leaves the leaf where a final rollback moved it", () => {
  const view = viewThread([
    meta(),
    ...turn("one", said("assistant", "1")),
    ...turn("two", said("assistant", "2")),
    event("task_started"),
    compacted("a summary", [
      { type: "message", role: "user", content: [{ type: "input_text", text: "a summary" }] },
    ]),
    ...turn("three", said("assistant", "3")),
    event("thread_rolled_back", { num_turns: 2 }),
  ]);
  expect(view.messages.map(briefMessage)).toEqual(["user one", "assistant 1"]);
  expect(view.path.map(brief).at(-1)).toBe("sessiontree.leaf");
  expect(view.entries.map(brief)).toContain("compaction a summary");
});

test("keeps in a compaction what the program kept, and imports no message for its call", () => {
  const history = [
    { type: "message", role: "user", content: [{ type: "input_text", text: "one" }] },
    { type: "function_call", name: "f", arguments: "{}", call_id: "c9" },
    { type: "function_call_output", call_id: "c9", output: "out" },
    {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "Another model said: a summary" }],
    },
  ];
  const view = viewThread([
    meta(),
    ...turn(
      "one",
      said("assistant", "1"),
      usage("resp_1", { input_tokens: 90, output_tokens: 9, total_tokens: 99 }),
    ),
    event("task_started"),
    said("assistant", "a summary"),
    usage("resp_2", { input_tokens: 50, output_tokens: 5, total_tokens: 55 }),
    compacted("Another model said: a summary", history),
    ...turn("two", said("assistant", "2")),
  ]);
  expect(view.messages.map(briefMessage)).toEqual([
    "compactionSummary",
    "user one",
    "assistant c9",
    "result c9",
    "user two",
    "assistant 2",
  ]);
  const compaction = view.entries.find(({ type }) => type === "compaction");
  expect(compaction).toMatchObject({
    tokensBefore: 99,
    usage: { input: 50, output: 5 },
    details: { source: "codex", responseId: "resp_2" },
    firstKeptEntryId: compaction?.id,
  });
  expect(view.entries.map(brief)).not.toContain("assistant a summary");
});

test("keeps the user's messages in an old compaction, and the payload of one that only its provider can read", () => {
  const old = viewThread([
    meta(),
    ...turn("one", said("assistant", "1")),
    ...turn("two"),
    compacted("short"),
  ]);
  expect(old.messages.map(briefMessage)).toEqual(["compactionSummary", "user one", "user two"]);
  const opaque = [{ type: "compaction", encrypted_content: "secret" }];
  const closed = viewThread([meta(), ...turn("one", said("assistant", "1")), compacted("", opaque)]);
  expect(closed.entries.at(-1)).toMatchObject({
    summary: "Context compacted by Codex.",
    details: { codex: { replacementHistory: opaque } },
  });
});

test("merges the segments of a thread into one tree, with the leaf in the newest", () => {
  const base = { history_mode: "paginated" };
  const other = (id: string) => `rollout-x-${THREAD_ID}_${id}.jsonl`;
  const first = numbered([
    meta(base),
    ...turn("one", said("assistant", "1")),
    ...turn("two", said("assistant", "2")),
  ]);
  const start = (timestamp: string, end: number | undefined) =>
    meta({
      ...base,
      timestamp,
      ...(end !== undefined && { history_base: { thread_id: THREAD_ID, end_ordinal_exclusive: end } }),
    });
  const second = numbered(
    [start("2026-11-22T06:00:00.000Z", 5), ...turn("instead", said("assistant", "3"))],
    5,
  );
  const third = numbered(
    [start("2026-11-22T07:00:00.000Z", undefined), ...turn("anew", said("assistant", "4"))],
    0,
  );
  const ids = ["00000000-0000-7000-8000-00000000000a", "00000000-0000-7000-8000-00000000000b"];
  const segments = (count: number) => ({
    rollouts: [
      rollout(third, other(ids[1] ?? "")),
      rollout(first),
      rollout(second, other(ids[0] ?? "")),
    ].slice(3 - count),
  });
  const two = viewThread(first, { rollouts: [rollout(first), rollout(second, other(ids[0] ?? ""))] });
  expect(two.messages.map(briefMessage)).toEqual(["user one", "assistant 1", "user instead", "assistant 3"]);
  const three = viewThread(first, segments(3));
  expect(three.messages.map(briefMessage)).toEqual(["user anew", "assistant 4"]);
  expect(three.entries.filter((entry) => brief(entry).startsWith("user")).map(brief)).toEqual([
    "user one",
    "user two",
    "user instead",
    "user anew",
  ]);
});

test("takes the beginning of a fork with only its own part from the file it names, entry for entry", () => {
  const parent = numbered([
    meta({ history_mode: "paginated" }),
    ...turn("one", said("assistant", "1", { id: "m1" }), usage("r1", { total_tokens: 5, output_tokens: 5 })),
    ...turn("two"),
  ]);
  const forkId = "01a201b4-0000-7000-8000-000000000002";
  const fork = numbered(
    [
      meta({
        id: forkId,
        forked_from_id: THREAD_ID,
        history_base: { thread_id: THREAD_ID, end_ordinal_exclusive: 6 },
      }),
      ...turn("mine", said("assistant", "2")),
    ],
    6,
  );
  const forkFile = rollout(fork, `rollout-x-${forkId}.jsonl`);
  const view = viewThread(fork, { rollouts: [forkFile], others: [rollout(parent)] });
  expect(view.messages.map(briefMessage)).toEqual(["user one", "assistant 1", "user mine", "assistant 2"]);
  const original = viewThread(parent);
  expect(view.entries.slice(1, 3)).toEqual(
    original.entries
      .slice(1, 3)
      .map((entry, i) => (i === 0 ? { ...entry, parentId: view.entries[0]?.id } : entry)),
  );
  expect(view.session.parent).toEqual({ sourceId: THREAD_ID, relation: "fork" });
  const alone = importThread([], { rollouts: [forkFile] });
  expect(alone?.issues).toMatchObject([{ code: "PARENT_MISSING" }]);
  expect(alone && readView(alone).messages.map(briefMessage)).toEqual(["user mine", "assistant 2"]);
});

test("counts no tokens twice for a fork that copied its parent, and gives it the parent's ids", () => {
  const tokens = (total: number) => totals(total, { input_tokens: 5, output_tokens: 5, total_tokens: 10 });
  const history = [
    ...turn("one", said("assistant", "1"), tokens(10)),
    ...turn("one", said("assistant", "1"), tokens(20)),
  ];
  const parent = [meta(), ...history];
  const forkId = "01a201b4-0000-7000-8000-000000000002";
  const at = "2026-11-23T05:00:00.000Z";
  const copied = [meta({ id: forkId, forked_from_id: THREAD_ID }), ...parent].map((one) => ({
    ...one,
    timestamp: at,
  }));
  const own = turn("mine", said("assistant", "2"), tokens(30)).map((one) => ({
    ...one,
    timestamp: "2026-11-23T05:01:00.000Z",
  }));
  const forkFile = rollout([...copied, ...own], `rollout-x-${forkId}.jsonl`);
  const outputs = (view: ReturnType<typeof viewThread>) =>
    view.messages.flatMap((message) => (message.role === "assistant" ? [message.usage.output] : []));
  for (const others of [[], [rollout(parent)]]) {
    const view = viewThread([], { rollouts: [forkFile], others });
    expect(view.messages.map(briefMessage)).toEqual([
      "user one",
      "assistant 1",
      "user one",
      "assistant 1",
      "user mine",
      "assistant 2",
    ]);
    expect(outputs(view)).toEqual([0, 0, 5]);
    expect(view.session.header.id).toBe(forkId);
    const ids = viewThread(parent)
      .entries.slice(1)
      .map(({ id }) => id);
    expect(view.entries.slice(1, 5).map(({ id }) => id)).toEqual(ids);
  }
});

test("names the kept call's id in a result that comes after a compaction", () => {
  const kept = [
    { type: "message", role: "user", content: [{ type: "input_text", text: "so far" }] },
    { type: "function_call", name: "exec_command", arguments: "{}", call_id: "c1" },
    { type: "local_shell_call", id: "sh_1", action: { type: "exec", command: ["ls"] } },
  ];
  const { messages, repairs } = viewThread([
    meta(),
    ...turn("go", call("c1", { id: "fc_1" })),
    item("local_shell_call", { id: "sh_1", action: { type: "exec", command: ["ls"] } }),
    compacted("so far", kept),
    output("c1", "one"),
    output("sh_1", "two"),
  ]);
  expect(messages.map(briefMessage).slice(1)).toEqual([
    "assistant c1|fc_1+sh_1",
    "result c1|fc_1",
    "result sh_1",
  ]);
  expect(repairs).toEqual([]);
});

test("names the starting thread in a subagent's thread, and the call in both", () => {
  const agentId = "01a201b4-0000-7000-8000-000000000003";
  const parent = [
    meta(),
    ...turn(
      "go",
      call("c1", { id: "fc_1", name: "spawn_agent" }),
      output("c1", JSON.stringify({ agent_id: agentId })),
    ),
  ];
  const child = [
    meta({ id: agentId, parent_thread_id: THREAD_ID, agent_nickname: "Planck" }),
    ...turn("do it"),
  ];
  const main = viewThread(parent);
  expect(main.path.at(-1)).toMatchObject({ data: { agentId, toolCallId: "c1|fc_1", sessionId: agentId } });
  const agent = viewThread(child, {
    rollouts: [rollout(child, `rollout-x-${agentId}.jsonl`)],
    others: [rollout(parent)],
  });
  expect(agent.session.parent).toEqual({ sourceId: THREAD_ID, relation: "subagent" });
  expect(agent.entries[1]).toMatchObject({ data: { agentId, nickname: "Planck", toolCallId: "c1|fc_1" } });
});

test("does not import the program's texts as prompts, unless the user typed them", () => {
  const view = viewThread([
    meta(),
    said("developer", "rules"),
    said("user", "<environment_context>here</environment_context>"),
    said("user", "# AGENTS.md instructions for x"),
    ...turn("<skill> is a word"),
    ...turn(
      "see",
      item("message", {
        role: "user",
        content: [
          { type: "input_text", text: '<image name=[Image #1] path="p.png">' },
          { type: "input_image", image_url: "data:image/png;base64,AAAA" },
          { type: "input_text", text: "</image>" },
          { type: "input_text", text: "what is it" },
        ],
      }),
    ),
  ]);
  expect(view.path.slice(1).map(brief)).toEqual([
    "codex.instructions",
    "codex.context",
    "codex.context",
    "user <skill> is a word",
    "user see",
    "user image+what is it",
  ]);
});

test.each<[string, unknown, object[], boolean, string]>([
  [
    "a code in the head of the output",
    "Wall time: 1\nProcess exited with code 3\nOutput:\nx",
    [],
    true,
    "Wall time: 1\nProcess exited with code 3\nOutput:\nx",
  ],
  [
    "a code that a command printed",
    "Output is\nProcess exited with code 3\n",
    [],
    false,
    "Output is\nProcess exited with code 3\n",
  ],
  [
    "an old output",
    JSON.stringify({ output: "x", metadata: { exit_code: 1, duration_seconds: 2 } }),
    [],
    true,
    "x",
  ],
  ["an older one", { content: "x", success: false }, [], true, "x"],
  [
    "an event",
    "x",
    [
      event("item_completed", {
        item: { type: "CommandExecution", id: "c1", status: "failed", exit_code: 2 },
      }),
    ],
    true,
    "x",
  ],
  [
    "a failing server",
    "x",
    [event("mcp_tool_call_end", { call_id: "c1", result: { Err: "no" } })],
    true,
    "x",
  ],
  ["a refused patch", "x", [event("patch_apply_end", { call_id: "c1", success: false })], true, "x"],
])("determines a call's failure from %s", (_, said, events, isError, text) => {
  const view = viewThread([
    meta(),
    ...turn("go", call("c1"), output("c1", said), ...(events as ReturnType<typeof event>[])),
  ]);
  expect(view.messages.at(-1)).toMatchObject({ isError, content: [{ type: "text", text }] });
});

test("keeps arguments that are not JSON next to the call", () => {
  const view = viewThread([meta(), ...turn("go", call("c1", { arguments: "{broken" }), output("c1", "x"))]);
  expect(view.messages[1]).toMatchObject({ content: [{ arguments: {} }] });
  expect(view.path.map(brief)).toContain("codex.arguments");
});

test("reports interrupted and failed turns", () => {
  const aborted = viewThread([meta(), ...turn("go", said("assistant", "half"), event("turn_aborted"))]);
  expect(aborted.messages.at(-1)).toMatchObject({ stopReason: "aborted" });
  const failed = viewThread([
    meta(),
    ...turn("go", said("assistant", "half"), event("task_complete", { error: { message: "no" } })),
  ]);
  expect(failed.messages.at(-1)).toMatchObject({ stopReason: "error", errorMessage: "no" });
});

test("reads files with only events, and the oldest ones", () => {
  const events = viewThread([
    meta(),
    event("user_message", { message: "hello" }),
    event("agent_reasoning", { text: "hm" }),
    event("agent_message", { message: "hi" }),
  ]);
  expect(events.messages.map(briefMessage)).toEqual(["user hello", "assistant hm+hi"]);
  const bare = viewThread([
    { id: THREAD_ID, timestamp: "2025-04-01T00:00:00.000Z", instructions: null },
    { type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] },
    { record_type: "state" },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "hi" }] },
  ]);
  expect(bare.session.sourceId).toBe(THREAD_ID);
  expect(bare.messages.map(briefMessage)).toEqual(["user hello", "assistant hi"]);
});

test("counts duplicate records once, keeps a prompt typed twice, and orders numbered records", () => {
  const records = [
    meta(),
    ...turn("again", said("assistant", "1")),
    ...turn("again", said("assistant", "2")),
  ];
  const twice = viewThread([...records, ...records.slice(3)]);
  const once = ["user again", "assistant 1", "user again", "assistant 2"];
  expect(twice.messages.map(briefMessage)).toEqual(once);
  expect(twice.session.dropped).toMatchObject({ repeated: records.length - 3 });
  const shuffled = numbered(records).reverse();
  expect(viewThread(shuffled).messages.map(briefMessage)).toEqual(once);
});

test("keeps other items, and takes the name from the program's list", () => {
  const view = viewThread(
    [
      meta(),
      ...turn(
        "go",
        item("web_search_call", { action: { type: "search" } }),
        item("image_generation_call", { result: "AAAA" }),
        item("brand_new", { x: 1 }),
      ),
    ],
    { title: "A name" },
  );
  expect(view.path.slice(1).map(brief)).toEqual([
    "name A name",
    "user go",
    "codex.web_search_call",
    "codex.image_generation_call",
    "codex.brand_new",
  ]);
});

test("keeps items and records without an envelope, as in the first versions, with all their content", () => {
  const view = viewThread([
    { type: "message", role: "user", content: [{ type: "input_text", text: "go" }] },
    { type: "web_search_call", status: "completed", action: { type: "search", query: "empty carts" } },
    { type: "ghost_snapshot", ghost_commit: { id: "abc", parent: null } },
    { type: "brand_new", x: 1 },
  ]);
  expect(view.path.slice(2)).toMatchObject([
    { customType: "codex.web_search_call", data: { action: { query: "empty carts" } } },
    { customType: "codex.ghost_snapshot", data: { ghost_commit: { id: "abc" } } },
    { customType: "codex.brand_new", data: { x: 1 } },
  ]);
});

test("imports no session from a file without a conversation", () => {
  expect(importThread([[meta()]])).toBeUndefined();
  expect(importThread([])).toBeUndefined();
});

test("reports more damaged lines than a call takes arguments", () => {
  const own = rollout([meta(), ...turn("hello")]);
  const { issues } = readSourceText("not JSON\n".repeat(200_000));
  const session = importThread([], { rollouts: [{ ...own, issues }] });
  expect(session?.issues).toHaveLength(200_000);
});
