import { describe, expect, test } from "vitest";
import {
  importOpenCode,
  type OpenCodeInput,
} from "../../../../src/interop/import/opencode/import-opencode.ts";
import { countSharedMessages } from "../../../../src/interop/import/opencode/stored-messages.ts";
import { answer, call, makeDocument, prompt, text } from "../support/opencode-records.ts";
import { brief, briefMessage, readView } from "../support/session-view.ts";

const importedAt = "2027-01-01T00:00:00.000Z";

function view(document: unknown, more: Partial<OpenCodeInput> = {}) {
  const session = importOpenCode({ document, importedAt, ...more });
  if (session === undefined) throw new Error("no session was made");
  const made = readView(session);
  expect(made.problems).toEqual([]);
  expect(made.read.issues).toEqual([]);
  const { counts } = session;
  expect(counts.mapped + counts.kept + counts.dropped).toBe(counts.records);
  return made;
}

const HELLO = [prompt("m1", 1, "hello"), answer("m2", 2, [text("hi")])];

test("imports an answer's thinking, its calls with their results, and tokens with reasoning in the output", () => {
  const parts = [
    { type: "step-start", snapshot: "tree1" },
    { type: "reasoning", text: "hm", metadata: { anthropic: { signature: "sig" } } },
    text("looking"),
    call("c1", "bash", {
      metadata: { exit: 3, output: "out c1" },
      title: "run it",
    }),
    call("c2", "read", { attachments: [{ mime: "image/png", url: "data:image/png;base64,AAAA" }] }),
    { type: "step-finish", snapshot: "tree2", tokens: {}, cost: 0.5 },
    { type: "patch", hash: "tree1", files: ["/code/a.txt"] },
  ];
  const made = view(makeDocument([prompt("m1", 1, "go"), answer("m2", 2, parts)]));
  expect(made.messages).toMatchObject([
    { role: "user", content: "go" },
    {
      api: "anthropic-messages",
      provider: "acme",
      model: "acme-1",
      stopReason: "toolUse",
      content: [
        { type: "thinking", thinking: "hm", thinkingSignature: "sig" },
        { type: "text", text: "looking" },
        { type: "toolCall", id: "c1", name: "bash", arguments: { path: "a.txt" } },
        { type: "toolCall", id: "c2" },
      ],
      usage: { input: 40, cacheRead: 60, output: 10, reasoning: 4, totalTokens: 110, cost: { total: 0.5 } },
    },
    { toolCallId: "c1", toolName: "bash", isError: true, details: { title: "run it", exit: 3 } },
    { toolCallId: "c2", isError: false, content: [{ text: "out c2" }, { type: "image", data: "AAAA" }] },
  ]);
  expect(made.path.map(brief).at(-1)).toBe("opencode.snapshots");
  expect(made.path.at(-1)).toMatchObject({
    data: { gitTreeBefore: "tree1", gitTreeAfter: "tree2", files: ["/code/a.txt"] },
  });
  expect(made.session.header).toMatchObject({ id: "ses_one", cwd: "/code" });
  expect(made.repairs).toEqual([]);
});

test.each([
  ["an exit code", "bash", { metadata: { exit: 1 } }, true],
  ["no exit code, because the command was ended", "bash", { metadata: { exit: null } }, true],
  ["an unknown tool", "invalid", {}, true],
  ["an error", "read", { status: "error", error: "gone" }, true],
  ["a command that worked", "bash", { metadata: { exit: 0 } }, false],
])("determines a call's failure from %s", (_what, tool, state, isError) => {
  const { messages } = view(
    makeDocument([prompt("m1", 1, "go"), answer("m2", 2, [call("c1", tool, state)])]),
  );
  expect(messages.at(-1)).toMatchObject({ role: "toolResult", isError });
});

test("imports no result for a running call, and the state of a failed or aborted answer", () => {
  const none = { tokens: { input: 0, output: 0 } };
  const failed = { ...none, error: { name: "APIError", data: { message: "no", statusCode: 400 } } };
  const { messages } = view(
    makeDocument([
      prompt("m1", 1, "go"),
      answer("m2", 2, [call("c1", "bash", { status: "running" })], {
        ...none,
        error: { name: "MessageAbortedError", data: {} },
      }),
      prompt("m3", 3, "again"),
      answer("m4", 4, [], failed),
    ]),
  );
  expect(messages.map(briefMessage)).toEqual(["user go", "assistant c1", "user again", "assistant"]);
  expect(messages[1]).toMatchObject({ stopReason: "aborted", errorMessage: "MessageAbortedError" });
  expect(messages[3]).toMatchObject({ stopReason: "error", errorMessage: "no" });
});

test("imports only the user's own text as a prompt, and adds the program's text to the context next to it", () => {
  const made = view(
    makeDocument([
      prompt(
        "m1",
        1,
        text("Called the Read tool", { synthetic: true }),
        { type: "file", mime: "text/plain", url: "file:///a.txt", filename: "a.txt" },
        { type: "file", mime: "image/png", url: "data:image/png;base64,AAAA" },
        "look",
        text("not sent", { ignored: true }),
        { type: "agent", name: "general" },
      ),
      prompt("m2", 2, { type: "subtask", prompt: "do it", agent: "general" }),
      prompt("m3", 3),
    ]),
  );
  expect(made.path.map(brief)).toEqual([
    "sessiontree.import",
    "name Side answer",
    "opencode.synthetic",
    "opencode.file",
    "user image+look",
    "opencode.text",
    "opencode.agent",
    "opencode.subtask",
  ]);
  expect(made.messages.map(briefMessage)).toEqual([
    "custom Called the Read tool",
    "user image+look",
    "custom The following tool was executed by the user",
  ]);
});

test("keeps a text that is not a string, whether the program or the user wrote it", () => {
  const texts = [true, false].map((synthetic) => ({ type: "text", text: [{}], synthetic }));
  const { path } = view(makeDocument([prompt("m1", 1, "look", ...texts)]));
  expect(path.map(brief).slice(2)).toEqual(["user look", "opencode.text", "opencode.text"]);
});

test("splits an old version's answer into the calls of the model that made it", () => {
  const finish = (output: number) => ({ type: "step-finish", tokens: { input: 1, output }, cost: 0.1 });
  const parts = [
    { type: "step-start" },
    call("c1", "read"),
    finish(2),
    { type: "step-start" },
    text("done"),
    finish(3),
  ];
  const { messages } = view(makeDocument([prompt("m1", 1, "go"), answer("m2", 2, parts)]));
  expect(messages.map(briefMessage)).toEqual(["user go", "assistant c1", "result c1", "assistant done"]);
  expect(messages[1]).toMatchObject({ usage: { output: 2, cost: { total: 0.1 } }, stopReason: "toolUse" });
  expect(messages[3]).toMatchObject({ usage: { output: 3 }, stopReason: "stop" });
});

describe("reverted messages", () => {
  const NEXT = [prompt("m3", 3, "more"), answer("m4", 4, [text("no")])];

  test("are a branch with the leaf before them while they exist", () => {
    const made = view(makeDocument([...HELLO, ...NEXT], { revert: { messageID: "m3" } }));
    expect(made.messages.map(briefMessage)).toEqual(["user hello", "assistant hi"]);
    expect(made.entries.map(brief)).toContain("user more");
    const all = view(makeDocument([...HELLO, ...NEXT], { revert: { messageID: "m1" } }));
    expect(all.messages).toEqual([]);
  });

  test("are branches from where they were made after they are deleted", () => {
    const second = [prompt("m5", 5, "else"), answer("m6", 6, [text("neither")])];
    const deleted = [...NEXT, ...second].map((message, n) => ({
      message,
      createdSeq: n < 2 ? n : n + 10,
      deletedSeq: n < 2 ? 5 : 20,
    }));
    const made = view(makeDocument([...HELLO, prompt("m7", 7, "at last")]), { deleted });
    expect(made.messages.map(briefMessage)).toEqual(["user hello", "assistant hi", "user at last"]);
    const parents = new Map(
      made.entries.map((entry) => [brief(entry), made.entries.find(({ id }) => id === entry.parentId)]),
    );
    for (const said of ["user more", "user else", "user at last"])
      expect(brief(parents.get(said) ?? ({ type: "x" } as never)), said).toBe("assistant hi");
    expect(brief(parents.get("assistant neither") ?? ({ type: "x" } as never))).toBe("user else");
  });

  test("become the same entries before and after their deletion", () => {
    const before = view(makeDocument([...HELLO, ...NEXT], { revert: { messageID: "m3" } }));
    const deleted = NEXT.map((message, n) => ({ message, createdSeq: n, deletedSeq: 9 }));
    const after = view(makeDocument([...HELLO, prompt("m7", 7, "at last")]), { deleted });
    const kept = after.text.split("\n").slice(2, -2);
    expect(before.text.split("\n").slice(2, 2 + kept.length)).toEqual(kept);
  });
});

describe("a compaction", () => {
  const ask = prompt("m3", 3, { type: "compaction", auto: true });
  const summary = answer("m4", 4, [text("the summary")], { summary: true, parentID: "m3" });
  const next = prompt("m5", 5, "and now");

  test("restarts the context, with the tokens of the call that wrote it", () => {
    const made = view(makeDocument([...HELLO, ask, summary, next]));
    expect(made.messages.map(({ role }) => role)).toEqual(["compactionSummary", "user"]);
    expect(made.entries.find(({ type }) => type === "compaction")).toMatchObject({
      summary: "the summary",
      tokensBefore: 110,
      usage: { output: 10 },
      details: { trigger: "auto" },
    });
  });

  test("keeps what the program kept", () => {
    const kept = prompt("m3", 3, { type: "compaction", auto: false, tail_start_id: "m2" });
    const { messages } = view(makeDocument([...HELLO, kept, summary, next]));
    expect(messages.map(({ role }) => role)).toEqual(["compactionSummary", "assistant", "user"]);
  });

  test("that is unfinished or failed changes nothing, and its entries are replaced when it completes", () => {
    const { finish: _, ...unfinished } = summary.info;
    const before = view(makeDocument([...HELLO, ask, { ...summary, info: unfinished }]));
    expect(before.messages.map(({ role }) => role)).toEqual(["user", "assistant", "assistant"]);
    const after = view(makeDocument([...HELLO, ask, summary]));
    const ids = new Set([...after.entries.map(({ id }) => id), ...after.session.withdrawnIds]);
    expect(before.entries.filter(({ id }) => !ids.has(id)).map(brief)).toEqual([]);
  });
});

test("leaves an output that the program has cleared in the session, but not in the subsequent context", () => {
  const state = { time: { start: 1, end: 2, compacted: prompt("", 3).info["time"] } };
  const compacted = Object(state.time.compacted).created + 1;
  const used = answer("m2", 2, [call("c1", "read", { time: { ...state.time, compacted } })]);
  const messages = [prompt("m1", 1, "go"), used, prompt("m3", 3, "one"), prompt("m4", 4, "two")];
  const made = view(makeDocument(messages));
  expect(made.messages[2]).toMatchObject({ content: [{ text: "[Old tool result content cleared]" }] });
  expect(made.path.map(brief).slice(-3)).toEqual(["user one", "context_edit", "user two"]);
  const stored = made.entries.find((entry) => brief(entry) === "result c1");
  expect(stored).toMatchObject({ message: { content: [{ text: "out c1" }] } });
});

test("gives a fork the entries of what it copied, and treats it as one of the same project", () => {
  const original = makeDocument([...HELLO, prompt("m3", 5, "here")]);
  const copied = HELLO.map((one, n) => ({ ...one, info: { ...one.info, id: `f${n}` } }));
  const fork = makeDocument([...copied, prompt("f3", 9, "there")], { id: "ses_two" });
  expect(countSharedMessages(original, fork)).toBe(2);
  const [one, two] = [view(original), view(fork, { forkedFrom: "ses_one" })];
  expect(two.session.parent).toEqual({ sourceId: "ses_one", relation: "fork" });
  const idsOf = ({ entries }: typeof one) =>
    entries.filter(({ type }) => type === "message").map(({ id }) => id);
  expect(idsOf(two).slice(0, 2)).toEqual(idsOf(one).slice(0, 2));
  expect(idsOf(two)[2]).not.toBe(idsOf(one)[2]);
});

test("links a subagent and the call that started it", () => {
  const started = call("c1", "task", { metadata: { sessionId: "ses_child" } });
  const parent = view(makeDocument([prompt("m1", 1, "go"), answer("m2", 2, [started])]));
  expect(parent.path.at(-1)).toMatchObject({
    customType: "sessiontree.subagent",
    data: { agentId: "ses_child", toolCallId: "c1", sessionId: "ses_child" },
  });
  const info = { id: "ses_child", parentID: "ses_one", agent: "general" };
  const child = view(makeDocument(HELLO, info), { toolCallId: "c1" });
  expect(child.session.parent).toEqual({ sourceId: "ses_one", relation: "subagent" });
  expect(child.entries[1]).toMatchObject({
    customType: "sessiontree.subagent",
    data: { agentId: "ses_child", toolCallId: "c1", role: "general" },
  });
});

test("reports damage and imports the rest; refuses messages of another form by name", () => {
  const [first] = HELLO;
  const made = view(makeDocument([...HELLO, first, 7, { info: {} }] as never));
  expect(made.messages.map(briefMessage)).toEqual(["user hello", "assistant hi"]);
  expect(made.session.issues.map(({ code }) => code)).toEqual(Array(3).fill("SOURCE_LEFT_OUT"));
  const newer = makeDocument([{ type: "user", seq: 1, data: {} }] as never, { version: "2.0.12" });
  expect(() => importOpenCode({ document: newer, importedAt })).toThrow(/OpenCode 2/);
  expect(importOpenCode({ document: makeDocument([]), importedAt })).toBeUndefined();
});

test("distinguishes messages whose ids a redactor made equal by their times, and reports true repetitions", () => {
  const twice = prompt("msg_x", 3, "three");
  const messages = [
    prompt("msg_x", 0, "one"),
    answer("msg_x", 1, [text("first")]),
    prompt("msg_x", 2, "two"),
    twice,
    twice,
  ];
  const made = importOpenCode({ document: makeDocument(messages), importedAt: "2027-01-01T00:00:00.000Z" });
  if (made === undefined) throw new Error("no session was made");
  expect(readView(made).messages.map(briefMessage)).toEqual([
    "user one",
    "assistant first",
    "user two",
    "user three",
  ]);
  expect(made.issues.map(({ code }) => code)).toEqual(["SOURCE_LEFT_OUT"]);
});
