import { expect, test } from "vitest";
import { readSourceText } from "../../../../src/interop/import/source-text.ts";
import {
  call,
  importAll,
  joinLines,
  part,
  record,
  result,
  text,
  user,
  uuid,
} from "../support/claude-records.ts";
import { brief, briefMessage, readView } from "../support/session-view.ts";

/** Returns the path to the leaf in short form, without the provenance entry. */
function pathOf(records: Parameters<typeof importAll>[0]): string[] {
  const [session] = importAll(records);
  return session === undefined ? [] : readView(session).path.map(brief).slice(1);
}

function mainOf(records: Parameters<typeof importAll>[0]) {
  const [session] = importAll(records);
  if (session === undefined) throw new Error("no session was made");
  return readView(session);
}

const QUESTION = user("q", null, "hello");

test("merges the records of one message, with the usage of the last", () => {
  const { path, problems } = mainOf([
    QUESTION,
    part("a1", "q", "msg_1", { type: "thinking", thinking: "hm", signature: "s" }, { output: 1 }),
    part("a2", "a1", "msg_1", text("yes"), { output: 5 }),
    part("a3", "a2", "msg_1", call("t1"), { output: 42, stop: "tool_use" }),
    result("r1", "a3", "t1", "done"),
    part("a4", "r1", "msg_2", text("ready"), { output: 4, stop: "end_turn" }),
  ]);
  expect(problems).toEqual([]);
  expect(path.map(brief).slice(1)).toEqual([
    "user hello",
    "assistant hm+yes+t1",
    "result t1",
    "assistant ready",
  ]);
  const [, , first, toolResult, last] = path;
  expect(first).toMatchObject({
    id: uuid("a1").slice(0, 8),
    message: {
      api: "anthropic-messages",
      provider: "anthropic",
      model: "claude-x",
      responseId: "msg_1",
      stopReason: "toolUse",
      usage: { input: 3, output: 42, cacheRead: 100, cacheWrite: 7, totalTokens: 152 },
    },
  });
  expect(toolResult).toMatchObject({ message: { toolName: "Read", isError: false } });
  expect(last).toMatchObject({ message: { stopReason: "stop" } });
});

test("places results of parallel calls after their message in order, whichever record is their parent", () => {
  const records = [
    QUESTION,
    part("a1", "q", "msg_1", call("t1")),
    part("a2", "a1", "msg_1", call("t2")),
    part("a3", "a2", "msg_1", call("t3"), { stop: "tool_use" }),
    result("r1", "a1", "t1", "1"),
    record("attachment", "h1", "r1", { attachment: { type: "hook" } }),
    result("r3", "a3", "t3", "3"),
    result("r2", "a2", "t2", "2"),
    part("b1", "r2", "msg_2", text("all")),
  ];
  const view = mainOf(records);
  expect(view.path.map(brief).slice(1)).toEqual([
    "user hello",
    "assistant t1+t2+t3",
    "result t1",
    "claude-code.hook",
    "result t3",
    "result t2",
    "assistant all",
  ]);
  expect(view.repairs).toEqual([]);
});

test("continues from the last of several results if the next record continues from the first", () => {
  const path = pathOf([
    QUESTION,
    part("a1", "q", "msg_1", call("t1")),
    part("a2", "a1", "msg_1", call("t2"), { stop: "tool_use" }),
    result("r1", "a1", "t1", "1"),
    result("r2", "a2", "t2", "2"),
    part("b1", "r1", "msg_2", text("all")),
  ]);
  expect(path).toEqual(["user hello", "assistant t1+t2", "result t1", "result t2", "assistant all"]);
});

test("places an interruption of parallel calls after the existing results, whatever its parent", () => {
  const calls = [
    QUESTION,
    part("a1", "q", "msg_1", call("t1"), { stop: "tool_use" }),
    part("a2", "a1", "msg_1", call("t2"), { stop: "tool_use" }),
    part("a3", "a2", "msg_1", call("t3"), { stop: "tool_use" }),
    result("r1", "a1", "t1", "1"),
    result("r2", "a2", "t2", "2"),
  ];
  const said = "[Request interrupted by user for tool use]";
  for (const parent of ["a3", "a2", "a1", "r2", "r1"]) {
    const path = pathOf([...calls, user("i", parent, [text(said)]), user("p2", "i", "go on")]);
    expect(path, parent).toEqual([
      "user hello",
      "assistant t1+t2+t3",
      "result t1",
      "result t2",
      `user ${said}`,
      "user go on",
    ]);
  }
});

/** All orders of calls and results in which each result comes after its call. */
function ordersOf(calls: readonly string[]): string[][] {
  const orders: string[][] = [];
  const extend = (order: readonly string[], open: readonly string[], next: number) => {
    if (next === calls.length && open.length === 0) orders.push([...order]);
    const name = calls[next];
    if (name !== undefined) extend([...order, `call ${name}`], [...open, name], next + 1);
    for (const one of open) {
      const others = open.filter((other) => other !== one);
      extend([...order, `result ${one}`], others, next);
    }
  };
  extend([], [], 0);
  return orders;
}

test.each(["prompt", "answer", "nothing"])(
  "keeps every executed call of a straight chain ending in %s on the path, whatever precedes its result",
  (end) => {
    const orders = ordersOf(["1", "2", "3"]);
    expect(orders).toHaveLength(15);
    for (const order of orders) {
      let before = "q";
      const chain = order.map((step, i) => {
        const [kind, name = ""] = step.split(" ");
        const parent = before;
        before = `x${i}`;
        return kind === "call"
          ? part(before, parent, `msg_${name}`, call(`t${name}`), { stop: "tool_use" })
          : result(before, parent, `t${name}`, "done");
      });
      const last =
        end === "prompt" ? [user("p", before, "more")] : [part("z", before, "msg_z", text("ready"))];
      const records = [QUESTION, ...chain, ...(end === "nothing" ? [] : last)];
      const { path, problems, repairs } = mainOf(records);
      const said = path.map(brief).filter((one) => !one.startsWith("sessiontree."));
      expect([...said].sort(), order.join(", ")).toEqual(
        ["assistant t1", "assistant t2", "assistant t3", "result t1", "result t2", "result t3", "user hello"]
          .concat(end === "nothing" ? [] : [end === "prompt" ? "user more" : "assistant ready"])
          .sort(),
      );
      // Each result directly follows its call, as providers require.
      for (const name of ["1", "2", "3"]) {
        expect(said[said.indexOf(`assistant t${name}`) + 1], order.join(", ")).toBe(`result t${name}`);
      }
      expect([problems, repairs]).toEqual([[], []]);
    }
  },
);

test("keeps a prompt in a straight chain between a call and its result on the path, after the result", () => {
  const records = [
    QUESTION,
    part("a", "q", "msg_1", call("t1"), { stop: "tool_use" }),
    user("p", "a", "hurry"),
    result("r", "p", "t1", "done"),
  ];
  const said = ["user hello", "assistant t1", "result t1", "user hurry"];
  expect(pathOf([...records, part("z", "r", "msg_2", text("ready"))])).toEqual([...said, "assistant ready"]);
  expect(pathOf(records).slice(0, 4)).toEqual(said);
});

test("imports a second result of one call, and a prompt next to a result, as branches", () => {
  const view = mainOf([
    QUESTION,
    part("a1", "q", "msg_1", call("t1"), { stop: "tool_use" }),
    result("r1", "a1", "t1", "first"),
    result("s1", "a1", "t1", "second"),
    user("p", "a1", "never mind"),
  ]);
  const children = view.entries.filter(({ parentId }) => parentId === uuid("a1").slice(0, 8));
  expect(children.map(brief)).toEqual(["result t1", "result t1", "user never mind"]);
  expect(view.path.map(brief).at(-1)).toBe("user never mind");
});

test("splits a message that was abandoned and restarted into two, and counts its tokens once", () => {
  const view = mainOf([
    QUESTION,
    part("a1", "q", "msg_1", text("half"), { output: 2 }),
    user("p", "a1", "stop"),
    part("a2", "a1", "msg_1", text("other half"), { output: 9, stop: "end_turn" }),
  ]);
  const answers = view.entries.filter((entry) => brief(entry).startsWith("assistant"));
  expect(answers.map(brief)).toEqual(["assistant half", "assistant other half"]);
  expect(answers).toMatchObject([
    { message: { usage: { output: 0 } } },
    { message: { usage: { output: 9 } } },
  ]);
});

test("imports a rewind as a branch, with the leaf where the program would continue", () => {
  const view = mainOf([
    QUESTION,
    part("a1", "q", "msg_1", text("one")),
    user("p2", "a1", "abandoned"),
    part("a2", "p2", "msg_2", text("two")),
    user("p3", "a1", "instead"),
    part("a3", "p3", "msg_3", text("three")),
    record("attachment", "x", "a2", { attachment: { type: "late" } }),
    part("a4", "a3", "msg_4", text("four")),
  ]);
  expect(view.path.map(brief).slice(1)).toEqual([
    "user hello",
    "assistant one",
    "user instead",
    "assistant three",
    "assistant four",
  ]);
  expect(view.entries.map(brief)).toContain("user abandoned");
});

test("adds an entry for the leaf if the program would not continue from the last record", () => {
  const view = mainOf([
    QUESTION,
    part("a1", "q", "msg_1", text("one")),
    user("p2", "a1", "two"),
    record("system", "s", "q", { subtype: "informational", teamName: "t", content: "note" }),
  ]);
  expect(view.path.map(brief).slice(-2)).toEqual(["user two", "sessiontree.leaf"]);
});

const SUMMARY_TEXT = "This session is being continued from a previous conversation.";

function compacted(metadata: object) {
  return [
    QUESTION,
    part("a1", "q", "msg_1", text("one")),
    user("p2", "a1", "two"),
    part("a2", "p2", "msg_2", text("kept")),
    record("system", "b", null, {
      subtype: "compact_boundary",
      logicalParentUuid: uuid("a2"),
      compactMetadata: { trigger: "manual", preTokens: 900, postTokens: 90, ...metadata },
    }),
    user("s", "b", SUMMARY_TEXT, { isCompactSummary: true, isVisibleInTranscriptOnly: true }),
    user("p3", "s", "three"),
    part("a3", "p3", "msg_3", text("after")),
  ];
}

test("turns a boundary and its summary into a compaction after the compacted records", () => {
  const view = mainOf(compacted({}));
  expect(view.messages.map(briefMessage)).toEqual(["compactionSummary", "user three", "assistant after"]);
  const compaction = view.entries.find(({ type }) => type === "compaction");
  expect(compaction).toMatchObject({
    summary: SUMMARY_TEXT,
    tokensBefore: 900,
    parentId: uuid("a2").slice(0, 8),
    firstKeptEntryId: compaction?.id,
    details: { source: "claude-code", trigger: "manual", postTokens: 90 },
  });
});

test.each([
  ["preserved messages", { preservedMessages: { anchorUuid: uuid("s"), uuids: [uuid("p2"), uuid("a2")] } }],
  [
    "a preserved segment",
    { preservedSegment: { anchorUuid: uuid("s"), headUuid: uuid("p2"), tailUuid: uuid("a2") } },
  ],
])("keeps %s in place and in the context", (_, metadata) => {
  const view = mainOf(compacted(metadata));
  expect(view.messages.map(briefMessage)).toEqual([
    "compactionSummary",
    "user two",
    "assistant kept",
    "user three",
    "assistant after",
  ]);
});

test("keeps the program's notes and injected texts under their own names with all their content", () => {
  const tasks = [{ id: "1", subject: "Find the leak", status: "in_progress" }];
  const { path } = mainOf([
    QUESTION,
    part("a", "q", "msg_1", text("yes"), { stop: "end_turn" }),
    record("system", "h", "a", { subtype: "stop_hook_summary", hookCount: 1, hookErrors: ["lint failed"] }),
    record("system", "d", "h", { subtype: "turn_duration", durationMs: 72_000 }),
    record("system", "w", "d", {
      subtype: "away_summary",
      content: "While you were away, the leak was found.",
    }),
    record("attachment", "t", "w", { attachment: { type: "task_reminder", content: tasks, itemCount: 1 } }),
    record("attachment", "x", "t", { attachment: { type: "diagnostics", files: [] } }),
    record("system", "n", "x", { content: "of before subtypes" }),
  ]);
  expect(path.slice(3)).toMatchObject([
    { customType: "claude-code.stop_hook_summary", data: { hookErrors: ["lint failed"] } },
    { customType: "claude-code.turn_duration", data: { durationMs: 72_000 } },
    { customType: "claude-code.away_summary", data: { content: "While you were away, the leak was found." } },
    { customType: "claude-code.task_reminder", data: { attachment: { content: tasks } } },
    { customType: "claude-code.diagnostics" },
    { customType: "claude-code.system", data: { content: "of before subtypes" } },
  ]);
});

test("loses nothing for a boundary whose summary was lost, nor for one whose past is in another file", () => {
  expect(pathOf(compacted({}).filter(({ uuid: id }) => id !== uuid("s")))).toContain(
    "claude-code.compact_boundary",
  );
  const lost = compacted({}).map((one) =>
    one["logicalParentUuid"] === undefined ? one : { ...one, logicalParentUuid: uuid("gone") },
  );
  expect(pathOf(lost)).toEqual(pathOf(compacted({})));
});

test("keeps messages that follow the summarized ones, and places the summary after them", () => {
  const [q, a1, p2, a2, boundary, ...rest] = compacted({
    preservedMessages: { anchorUuid: uuid("s"), uuids: [uuid("p2"), uuid("a2")] },
  });
  const view = mainOf([q, a1, p2, a2, { ...boundary, logicalParentUuid: uuid("a1") }, ...rest].map(Object));
  expect(view.messages.map(briefMessage)).toEqual([
    "compactionSummary",
    "user two",
    "assistant kept",
    "user three",
    "assistant after",
  ]);
  expect(view.entries.map(({ type }) => type)).not.toContain("branch_summary");
});

test("places a summary of what followed a message after that message, like that of an abandoned branch", () => {
  const view = mainOf(
    compacted({ preservedMessages: { anchorUuid: uuid("b"), uuids: [uuid("q"), uuid("a1")] } }),
  );
  expect(view.messages.map(briefMessage)).toEqual([
    "user hello",
    "assistant one",
    "branchSummary",
    "user three",
    "assistant after",
  ]);
  expect(view.entries.find(({ type }) => type === "branch_summary")).toMatchObject({
    summary: SUMMARY_TEXT,
    fromId: uuid("a2").slice(0, 8),
    parentId: uuid("a1").slice(0, 8),
  });
});

test("includes preserved messages after the summary in the context of a compacted session's fork", () => {
  const [, , p2, a2, boundary, summary, p3, a3] = compacted({
    preservedMessages: { anchorUuid: uuid("s"), uuids: [uuid("p2"), uuid("a2")] },
  });
  const view = mainOf(
    [
      boundary,
      summary,
      { ...p2, parentUuid: uuid("s") },
      a2,
      { ...p3, parentUuid: uuid("a2") },
      a3,
      totals({ "claude-x": [900, 9000] }, 1),
    ].map(Object),
  );
  expect(view.session.issues).toEqual([]);
  // Its totals include those of the original, so the tokens of the summary's call are unknown.
  expect(view.entries.find(({ type }) => type === "compaction")).not.toHaveProperty("usage");
  expect(view.messages.map(briefMessage)).toEqual([
    "compactionSummary",
    "user two",
    "assistant kept",
    "user three",
    "assistant after",
  ]);
});

test("counts no tokens for an interrupted answer, and keeps those that its beginning reported", () => {
  const view = mainOf([
    QUESTION,
    part("a1", "q", "msg_1", text("half an ans"), { output: 1 }),
    user("i", "a1", [text("[Request interrupted by user]")]),
    user("p2", "i", "go on"),
    part("a2", "p2", "msg_2", text("more"), { stop: "end_turn" }),
  ]);
  expect(view.messages.map(briefMessage)).toEqual([
    "user hello",
    "assistant half an ans",
    "user [Request interrupted by user]",
    "user go on",
    "assistant more",
  ]);
  expect(view.entries.find(({ id }) => id === uuid("a1").slice(0, 8))).toMatchObject({
    message: { responseId: "msg_1", stopReason: "stop", usage: { input: 0, output: 0, cacheRead: 0 } },
  });
  expect(view.entries.map(brief)).toContain("claude-code.broken-off");
  // Without a reason, but whole: older versions wrote none.
  const whole = mainOf([QUESTION, part("a1", "q", "msg_1", text("all")), user("p2", "a1", "thanks")]);
  expect(whole.path[2]).toMatchObject({ message: { usage: { output: 10 } } });
});

function totals(models: { [name: string]: readonly [input: number, output: number] }, costUSD: number) {
  const modelUsage = Object.fromEntries(
    Object.entries(models).map(([name, [inputTokens, outputTokens]]) => [
      name,
      { inputTokens, outputTokens, cacheReadInputTokens: inputTokens, cacheCreationInputTokens: 0, costUSD },
    ]),
  );
  return { type: "cost-state", sessionId: "s", modelUsage };
}

/** Sets the same tokens on every answer. */
function withTokens(records: readonly { [field: string]: unknown }[]) {
  const usage = { input_tokens: 1, output_tokens: 10, cache_read_input_tokens: 1 };
  return records.map((one) =>
    one["type"] === "assistant" ? { ...one, message: { ...Object(one["message"]), usage } } : one,
  );
}

test("computes the tokens of a summary's call as the totals minus the messages", () => {
  const plain = withTokens(compacted({}));
  // Another model generated a title in the meantime.
  const view = mainOf([
    ...plain.slice(0, 4),
    totals({ "claude-x": [2, 20] }, 0.5),
    ...plain.slice(4),
    totals({ "claude-x": [10, 60], small: [70, 7] }, 1.25),
  ]);
  const compaction = view.entries.find(({ type }) => type === "compaction");
  expect(compaction).toMatchObject({ usage: { input: 7, output: 30, cacheRead: 7 } });
  const costs = view.entries.filter(({ type }) => type === "usage");
  expect(costs).toMatchObject([
    { usage: { cost: { total: 0.5 } } },
    { usage: { cost: { total: 0.75 } } },
    { model: "small", usage: { cost: { total: 1.25 } } },
  ]);
});

test("counts an interrupted answer as the totals do, so that a summary has only its own tokens", () => {
  const [a3, ...before] = withTokens(compacted({})).reverse();
  const usage = { input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 1 };
  const message = { ...Object(a3?.["message"]), content: [text("half of an answer")], usage };
  const view = mainOf(
    [
      ...before.reverse(),
      { ...a3, message, isAbortedMidStream: true },
      user("i", "a3", [text("[Request interrupted by user]")]),
      totals({ "claude-x": [10, 54] }, 1),
    ].map(Object),
  );
  expect(view.entries.find(({ id }) => id === uuid("a3").slice(0, 8))).toMatchObject({
    message: { stopReason: "stop", usage: { input: 1, output: 4, cacheRead: 1, totalTokens: 6 } },
  });
  expect(view.entries.find(({ type }) => type === "compaction")).toMatchObject({
    usage: { input: 7, output: 30, cacheRead: 7 },
  });
  expect(view.entries.map(brief)).not.toContain("claude-code.broken-off");
});

test("counts the tokens of several summaries between two totals together; after a restart, totals begin at zero", () => {
  const [q, a1, p2, a2, boundary, summary, p3, a3] = withTokens(compacted({}));
  const again = [
    { ...boundary, uuid: uuid("b2"), logicalParentUuid: uuid("a3") },
    { ...summary, uuid: uuid("s2"), parentUuid: uuid("b2") },
  ];
  const view = mainOf(
    [
      q,
      a1,
      totals({ "claude-x": [500, 5000] }, 9),
      p2,
      a2,
      boundary,
      summary,
      p3,
      a3,
      ...again,
      totals({ "claude-x": [12, 90] }, 1),
    ].map(Object),
  );
  expect(view.entries.filter(({ type }) => type === "compaction")).toHaveLength(2);
  expect(
    view.entries.find((entry) => entry.type === "usage" && entry.kind === "claude-code.summaries"),
  ).toMatchObject({ usage: { input: 10, output: 70, cacheRead: 10 } });
});

/** A compaction between two totals while a subagent works; each record is a second after the previous one. */
function compactedWithSubagent({ agentAt = [2.5, 6.5], isThere = true } = {}) {
  const at = (second: number) => new Date(Date.UTC(2026, 10, 22, 5, 0, 0, second * 1000)).toISOString();
  const start = part("a1", "q", "msg_1", call("t1", "Agent", { prompt: "look" }), { stop: "tool_use" });
  const [, , p2, a2, boundary, summary, p3, a3] = withTokens(compacted({}));
  const started = withTokens([QUESTION, start, result("r1", "a1", "t1", "launched")]);
  const main = [...started, { ...p2, parentUuid: uuid("r1") }, a2, boundary, summary, p3, a3].map(
    (one, second) => ({ ...one, timestamp: at(second) }),
  );
  const side = { isSidechain: true, agentId: "abc" };
  const agent = withTokens([
    user("u1", null, "look", side),
    ...agentAt.map((second, n) =>
      part(`v${n}`, n === 0 ? "u1" : `v${n - 1}`, `msg_s${n}`, text("seen"), {
        ...side,
        timestamp: at(second),
      }),
    ),
  ]);
  const subagents = isThere
    ? [{ agentId: "abc", meta: { toolUseId: "t1" }, ...readSourceText(joinLines(agent)) }]
    : [];
  // The first totals follow the result, at 2, before the answer at 4; the second follow the summary, before that at 8.
  const records = [
    ...main.slice(0, 3),
    totals({ "claude-x": [1, 10] }, 1),
    ...main.slice(3, 7),
    totals({ "claude-x": [10, 60] }, 2),
    ...main.slice(7),
  ];
  const [session] = importAll(records, { subagents });
  return session?.entries.find(({ type }) => type === "compaction");
}

test.each([
  ["between the totals", [4.5, 5.5], 60 - 10 - 3 * 10],
  ["before and after them", [1.5, 8.5], 60 - 10 - 10],
  ["before, between and after them", [0.5, 4.5, 9], 60 - 10 - 2 * 10],
])("leaves tokens of a subagent that worked %s out of a summary", (_, agentAt, output) => {
  expect(compactedWithSubagent({ agentAt })).toMatchObject({ usage: { output } });
});

test.each([
  ["at a time either before or after the first totals", { agentAt: [2.5] }],
  ["at a time either before or after the second totals", { agentAt: [6.5] }],
  ["without a transcript", { isThere: false }],
])("reports no tokens of a summary where a subagent worked %s", (_, more) => {
  expect(compactedWithSubagent({ agentAt: [4.5] })).toHaveProperty("usage");
  expect(compactedWithSubagent(more)).not.toHaveProperty("usage");
});

test("does not import untyped texts as prompts, but keeps them in the context", () => {
  const path = pathOf([
    QUESTION,
    user("m", "q", "a caveat", { isMeta: true }),
    user("c", "m", "<command-name>/clear</command-name>"),
    user("o", "c", "<local-command-stdout>ok</local-command-stdout>"),
    user("n", "o", "<task-notification>done</task-notification>"),
    user("b", "n", "<bash-input>ls</bash-input>"),
    user("bo", "b", "<bash-stdout>a.txt</bash-stdout><bash-stderr>no</bash-stderr>"),
    record("attachment", "w", "bo", {
      attachment: { type: "queued_command", prompt: "and this", commandMode: "prompt" },
    }),
    record("attachment", "x", "w", { attachment: { type: "date", date: "today" } }),
    user("i", "x", "[Request interrupted by user]"),
  ]);
  expect(path).toEqual([
    "user hello",
    "claude-code.meta",
    "claude-code.command",
    "claude-code.command",
    "claude-code.notification",
    "bashExecution",
    "user and this",
    "claude-code.date",
    "user [Request interrupted by user]",
  ]);
  const view = mainOf([
    QUESTION,
    user("b", "q", "<bash-input>ls</bash-input>"),
    user("bo", "b", "<bash-stdout>a.txt</bash-stdout><bash-stderr>no</bash-stderr>"),
  ]);
  expect(view.messages.at(-1)).toMatchObject({ role: "bashExecution", command: "ls", output: "a.txt\nno" });
});

test("names blocks that a message cannot hold in the message, and keeps them next to it", () => {
  const pdf = {
    type: "document",
    title: "Plan",
    source: { type: "base64", media_type: "application/pdf", data: "AA" },
  };
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
  const view = mainOf([
    user("q", null, ["plain", image, pdf, { type: "image", source: { type: "url", url: "http://x/y.png" } }]),
    part("a1", "q", "msg_1", { type: "redacted_thinking", data: "secret" }),
    part("a2", "a1", "msg_1", { type: "thinking", thinking: "", signature: "only" }),
    part("a3", "a2", "msg_1", { type: "server_tool_use", id: "s1", name: "web_search", input: {} }),
    part(
      "a4",
      "a3",
      "msg_1",
      { type: "tool_use", id: "t1", name: "Old", input: "text" },
      { stop: "tool_use" },
    ),
    user("r1", "a4", [text("by the way"), { type: "tool_result", tool_use_id: "t1", is_error: true }]),
  ]);
  expect(view.problems).toEqual([]);
  const [prompt, , answer, , toolResult, said] = view.path.slice(1);
  expect(prompt).toMatchObject({
    message: {
      content: [
        { type: "text", text: "plain" },
        { type: "image", data: "AAAA", mimeType: "image/png" },
        { type: "text", text: "[document: Plan]" },
        { type: "text", text: "[image: http://x/y.png]" },
      ],
    },
  });
  expect(answer).toMatchObject({
    message: {
      content: [
        { type: "thinking", thinking: "[Reasoning redacted]", thinkingSignature: "secret", redacted: true },
        { type: "thinking", thinking: "", thinkingSignature: "only" },
        { type: "toolCall", id: "t1", arguments: {} },
      ],
    },
  });
  expect(toolResult).toMatchObject({ message: { toolCallId: "t1", content: [], isError: true } });
  expect(said).toMatchObject({ message: { role: "user" } });
  const kept = view.entries.filter((entry) => brief(entry) === "claude-code.blocks");
  expect(kept).toMatchObject([
    { data: { blocks: [pdf, {}] } },
    { data: { blocks: [{ name: "web_search" }] } },
  ]);
});

test("keeps a tool's structured result, and the file of a long output, in details", () => {
  const view = mainOf([
    QUESTION,
    part("a1", "q", "msg_1", call("t1"), { stop: "tool_use" }),
    result("r1", "a1", "t1", "<persisted-output>Saved to /p/s/tool-results/t1.txt</persisted-output>", {
      toolUseResult: { stdout: "x" },
    }),
  ]);
  expect(view.messages.at(-1)).toMatchObject({
    details: { stdout: "x", fullOutputPath: expect.stringContaining("/p/s/tool-results/t1.txt") },
  });
});

test("imports an API error as an error, and does not continue with the model of a synthetic message", () => {
  const view = mainOf([
    QUESTION,
    part("a1", "q", "msg_1", text("one")),
    record("assistant", "e", "a1", {
      message: { id: "x", model: "<synthetic>", role: "assistant", content: [text("Overloaded")], usage: {} },
      isApiErrorMessage: true,
    }),
  ]);
  expect(view.messages.at(-1)).toMatchObject({
    stopReason: "error",
    errorMessage: "Overloaded",
    model: "<synthetic>",
  });
  expect(view.messages.at(-1)).not.toHaveProperty("responseId");
  expect(view.model).toEqual({ provider: "anthropic", modelId: "claude-x" });
});

test("bridges a missing parent and breaks a cycle, with an issue", () => {
  const bridged = importAll([QUESTION, part("a1", "gone", "msg_1", text("one")), user("p", "a1", "two")]);
  expect(bridged[0]?.issues).toMatchObject([{ code: "PARENT_BRIDGED", line: 2 }]);
  expect(pathOf([QUESTION, part("a1", "gone", "msg_1", text("one")), user("p", "a1", "two")])).toEqual([
    "user hello",
    "assistant one",
    "user two",
  ]);
  const circle = [QUESTION, user("x", "y", "one"), user("y", "x", "two")];
  expect(importAll(circle)[0]?.issues).toMatchObject([{ code: "PARENT_CYCLE", line: 2 }]);
  expect(pathOf(circle)).toEqual(["user hello", "user one", "user two"]);
});

test("skips records without content between messages, and does not treat a snapshot as the record with its message id", () => {
  const path = pathOf([
    { type: "file-history-snapshot", messageId: uuid("q"), uuid: uuid("q"), snapshot: {} },
    QUESTION,
    record("progress", "g", "q", { data: { type: "hook_progress" } }),
    part("a1", "g", "msg_1", text("one")),
  ]);
  expect(path).toEqual(["user hello", "assistant one"]);
});

test("prefers a name that the user gave to a generated one, wherever they are", () => {
  const names = (...notes: object[]) => {
    const view = mainOf([QUESTION, part("a1", "q", "m", text("one")), ...notes.map((note) => ({ ...note }))]);
    return view.entries.flatMap((entry) => (entry.type === "session_info" ? [entry.name] : []));
  };
  const custom = { type: "custom-title", customTitle: "mine" };
  const made = { type: "ai-title", aiTitle: "made" };
  expect(names(made, custom)).toEqual(["made", "mine"]);
  expect(names(custom, made, custom)).toEqual(["mine"]);
  expect(names({ type: "summary", summary: "old", leafUuid: uuid("a1") })).toEqual(["old"]);
  expect(names({ type: "summary", summary: "of another", leafUuid: uuid("z") })).toEqual([]);
});

test("maps, keeps, or counts every record as left out", () => {
  const [session] = importAll([
    { type: "queue-operation", operation: "enqueue", timestamp: "2026-11-22T04:00:00.000Z" },
    QUESTION,
    record("progress", "g", "q"),
    { ...QUESTION },
    { type: "never-seen-before", sessionId: "s", value: 1 },
    record("never-seen-either", "k", "g", { value: 2 }),
    part("a1", "k", "msg_1", text("one")),
  ]);
  const { counts, dropped } = session ?? {};
  expect(dropped).toEqual({ "queue-operation": 1, progress: 1, repeated: 1 });
  expect(counts).toMatchObject({
    records: 7,
    mapped: 2,
    kept: 2,
    dropped: 3,
    userMessages: 1,
    assistantMessages: 1,
  });
  expect(session?.header.timestamp).toBe("2026-11-22T04:00:00.000Z");
});

test("reports damaged lines as issues, and imports the whole records on them", () => {
  const file = `\uFEFF\n${joinLines([QUESTION]).trimEnd()}${joinLines([part("a1", "q", "m", text("glued"))])}nonsense\n${joinLines(
    [user("p", "a1", "more")],
  )}{"type":"user","torn`;
  const [session] = importAll(file);
  expect(session?.issues.map(({ code, line }) => `${code} ${line}`)).toEqual([
    "RECORDS_GLUED 2",
    "LINE_UNREADABLE 3",
    "TAIL_TORN 5",
  ]);
  expect(pathOf(file)).toEqual(["user hello", "assistant glued", "user more"]);
});

test("imports no session from a file without a conversation or with notes alone", () => {
  expect(importAll([{ type: "summary", summary: "x", leafUuid: uuid("a") }])).toEqual([]);
  expect(importAll([{ type: "mode", mode: "normal", sessionId: "s" }])).toEqual([]);
  expect(importAll("")).toEqual([]);
});

test("imports subagents in the same file as separate sessions, linked on both sides", () => {
  const side = { isSidechain: true };
  const sessions = importAll([
    QUESTION,
    part("a1", "q", "msg_1", call("t1", "Task", { prompt: "look around" }), { stop: "tool_use" }),
    user("u1", null, "look around", side),
    part("v1", "u1", "msg_s", text("seen"), side),
    result("r1", "a1", "t1", "it was seen"),
  ]);
  const [main, agent] = sessions.map(readView);
  expect(main?.path.map(brief).slice(1)).toEqual([
    "user hello",
    "assistant t1",
    "result t1",
    "sessiontree.subagent",
  ]);
  expect(agent?.path.map(brief).slice(1)).toEqual([
    "sessiontree.subagent",
    "user look around",
    "assistant seen",
  ]);
  expect(agent?.session.parent).toEqual({ sourceId: main?.session.sourceId, relation: "subagent" });
  const agentId = uuid("u1").slice(0, 8);
  expect(main?.path.at(-1)).toMatchObject({
    data: { agentId, toolCallId: "t1", sessionId: agent?.session.header.id },
  });
  expect(agent?.path[1]).toMatchObject({ data: { agentId, toolCallId: "t1" } });
});

test("links a subagent whose call lacks its id by what was reported at its end", () => {
  const side = { isSidechain: true, agentId: "abc" };
  const done =
    "<task-notification>\n<task-id>abc</task-id>\n<tool-use-id>t1</tool-use-id>\n<status>completed</status>";
  const [, agent] = importAll([
    QUESTION,
    part("a1", "q", "msg_1", call("t1", "Agent"), { stop: "tool_use" }),
    result("r1", "a1", "t1", "launched"),
    user("n", "r1", done),
    user("u1", null, "look", side),
    part("v1", "u1", "msg_s", text("seen"), side),
  ]).map(readView);
  expect(agent?.path[1]).toMatchObject({ data: { agentId: "abc", toolCallId: "t1" } });
});

test("links a subagent of a subagent with its parent, and counts what both repeat once", () => {
  const inner = { isSidechain: true, agentId: "inner" };
  const outer = { isSidechain: true, agentId: "outer" };
  const outerRecords = [
    user("u1", null, "look", outer),
    part("v1", "u1", "msg_o", call("t2", "Agent", { prompt: "look closer" }), { ...outer, stop: "tool_use" }),
    result("w1", "v1", "t2", "seen", outer),
  ];
  const innerRecords = [
    user("u2", null, "look closer", inner),
    part("v2", "u2", "msg_o", text("as before"), inner),
    part("v3", "v2", "msg_i", text("seen"), inner),
  ];
  const read = (agentId: string, records: readonly object[], meta?: object) => ({
    agentId,
    ...(meta && { meta }),
    ...readSourceText(joinLines(records)),
  });
  const main = [
    QUESTION,
    part("a1", "q", "msg_1", call("t1", "Agent", { prompt: "look" }), { stop: "tool_use" }),
    result("r1", "a1", "t1", "launched"),
  ];
  for (const subagents of [
    // Named by files next to the transcripts and by prompts alone, in any order.
    [read("outer", outerRecords, { toolUseId: "t1" }), read("inner", innerRecords, { toolUseId: "t2" })],
    [read("outer", outerRecords), read("inner", innerRecords)],
    [read("outer", outerRecords), read("inner", innerRecords, { toolUseId: "gone", parentAgentId: "outer" })],
  ]) {
    const [mainView, outerView, innerView] = importAll(main, { subagents }).map(readView);
    const sourceId = mainView?.session.sourceId;
    expect(mainView?.session.parent).toBeUndefined();
    expect(outerView?.session.parent).toEqual({ sourceId, relation: "subagent" });
    expect(innerView?.session.parent).toEqual({
      sourceId: outerView?.session.sourceId,
      relation: "subagent",
    });
    const links = (view: typeof mainView) =>
      view?.entries.filter((entry) => brief(entry) === "sessiontree.subagent");
    expect(links(mainView)).toMatchObject([{ data: { agentId: "outer", toolCallId: "t1" } }]);
    if (!subagents.some(({ meta }) => meta && "parentAgentId" in meta)) {
      const sessionId = innerView?.session.header.id;
      expect(links(outerView)?.[1]).toMatchObject({
        data: { agentId: "inner", toolCallId: "t2", sessionId },
      });
    }
    const outputs = [outerView, innerView].flatMap(
      (view) => view?.messages.flatMap((one) => (one.role === "assistant" ? [one.usage.output] : [])) ?? [],
    );
    expect(outputs).toEqual([10, 0, 10]);
  }
});

test("counts no tokens for messages of its main agent that a subagent repeats", () => {
  const side = { isSidechain: true, agentId: "aside" };
  const [, agent] = importAll([
    QUESTION,
    part("a1", "q", "msg_1", text("one")),
    user("u1", null, "hello", side),
    part("v1", "u1", "msg_1", text("one"), { ...side, requestId: "req_other" }),
    part("v2", "v1", "msg_2", text("two"), side),
  ]).map(readView);
  const usages = agent?.messages.flatMap((message) =>
    message.role === "assistant" ? [message.usage.output] : [],
  );
  expect(usages).toEqual([0, 10]);
});

test("names the original of a copied session, and shares its ids and times", () => {
  const own = [QUESTION, part("a1", "q", "msg_1", text("one"))];
  const [original] = importAll(own);
  const [copy] = importAll([...own, user("p", "a1", "in the copy")], {
    sessionId: "99999999-2222-4333-8444-555555555555",
  });
  expect(copy?.parent).toEqual({ sourceId: original?.sourceId, relation: "fork" });
  const heads = (entries: readonly { id: string; timestamp: string }[] = []) =>
    entries.slice(1, 3).map(({ id, timestamp }) => `${id} ${timestamp}`);
  expect(heads(copy?.entries)).toEqual(heads(original?.entries));
});
