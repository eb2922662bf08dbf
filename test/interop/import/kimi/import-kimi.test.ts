import { expect, test } from "vitest";
import { detectSource } from "../../../../src/interop/import/detect-source.ts";
import { importKimi, readKimiText } from "../../../../src/interop/import/kimi/import-kimi.ts";
import { brief, briefMessage, readView } from "../support/session-view.ts";

const importedAt = "2027-01-01T00:00:00.000Z";
const SESSION_ID = "session_7fd4";
let time = Date.UTC(2026, 10, 23);

/** A record of a wire log, a millisecond after the last one. */
function record(type: string, fields: object = {}) {
  return { type, agentId: "main", ...fields, time: ++time };
}

function loop(type: string, fields: object = {}) {
  return record("context.append_loop_event", { event: { type, ...fields } });
}

function said(text: string, origin: object = { kind: "user" }, id = `msg_${text}`) {
  const message = { role: "user", content: [{ type: "text", text }], id, toolCalls: [], origin };
  return record("context.append_message", { message });
}

function prompt(text: string) {
  return [record("turn.prompt", { promptId: `msg_${text}` }), said(text)];
}

function usage(inputOther: number, usageScope = "turn") {
  const tokens = { inputOther, output: 5, inputCacheRead: 7, inputCacheCreation: 0 };
  return record("usage.record", { model: "alias", usage: tokens, usageScope });
}

function step(uuid: string, tokens: number, ...events: object[]) {
  return [
    loop("step.begin", { uuid }),
    record("llm.request", { kind: "loop", provider: "openai", model: "k2" }),
    usage(tokens),
    ...events,
    loop("step.end", { uuid, messageId: `chat-${uuid}`, usage: { inputOther: tokens } }),
  ];
}

function part(text: string) {
  return loop("content.part", { part: { type: "text", text } });
}

function call(id: string, name = "Bash") {
  return loop("tool.call", { uuid: `${id}-uuid`, toolCallId: id, name, args: { command: "x" } });
}

function result(id: string, fields: object = { output: "done", durationMs: 3 }) {
  return loop("tool.result", { parentUuid: `${id}-uuid`, toolCallId: id, result: fields });
}

const FRONT = { type: "metadata", protocol_version: "1.5", created_at: Date.UTC(2026, 10, 22) };

function wire(records: readonly object[], agentId = "main") {
  return { agentId, ...readKimiText([FRONT, ...records].map((one) => JSON.stringify(one)).join("\n")) };
}

function sessionsOf(records: readonly object[], more: Partial<Parameters<typeof importKimi>[0]> = {}) {
  const input = { sessionId: SESSION_ID, wires: [wire(records)], importedAt, ...more };
  return importKimi(input).map(readView);
}

function one(records: readonly object[], more: Partial<Parameters<typeof importKimi>[0]> = {}) {
  const [view] = sessionsOf(records, more);
  if (view === undefined) throw new Error("no session was made");
  expect([view.problems, view.read.issues]).toEqual([[], []]);
  return view;
}

test("imports a turn's prompt, its steps with their tokens, and results in any order", () => {
  const { path, session } = one(
    [
      ...prompt("go"),
      said("<system-reminder>", { kind: "injection", variant: "date_change" }),
      ...step(
        "one",
        100,
        loop("content.part", { part: { type: "think", think: "hm" } }),
        part("Running."),
        call("c1"),
        call("c2", "Read"),
        result("c2", { output: "a", note: "<system>1 line</system>" }),
        result("c1", { output: "Command failed with exit code: 3.", isError: true }),
      ),
      ...step("two", 200, part("It failed.")),
    ],
    { state: { cwd: "/code", title: "Going", isCustomTitle: true } },
  );
  expect(session.header).toMatchObject({
    id: SESSION_ID,
    cwd: "/code",
    timestamp: "2026-11-22T00:00:00.000Z",
  });
  expect(session.madeNameIds.size).toBe(0);
  expect(path.map(brief).slice(1)).toEqual([
    "name Going",
    "user go",
    "kimi.injection",
    "assistant hm+Running.+c1+c2",
    "result c2",
    "result c1",
    "assistant It failed.",
  ]);
  expect(path.slice(4)).toMatchObject([
    {
      message: {
        provider: "openai",
        model: "k2",
        responseId: "chat-one",
        stopReason: "toolUse",
        usage: { input: 100, output: 5, cacheRead: 7 },
      },
    },
    { message: { toolName: "Read", isError: false, content: [{ text: "a\n<system>1 line</system>" }] } },
    { message: { toolName: "Bash", isError: true } },
    { message: { stopReason: "stop", usage: { input: 200 } } },
  ]);
});

test("keeps undone turns as a branch", () => {
  const { path, messages, entries } = one([
    ...prompt("P1"),
    ...step("one", 1, part("A1")),
    ...prompt("P2"),
    ...step("two", 1, part("A2")),
    ...prompt("P3"),
    record("agent.switched", { branch: "b1", reason: "undo", turns: 2 }),
    record("context.undo", { count: 2 }),
    record("context.undone", { turns: 2, fromTurnId: 1 }),
    ...prompt("P4"),
  ]);
  expect(messages.map(briefMessage)).toEqual(["user P1", "assistant A1", "user P4"]);
  expect(entries.map(brief)).toContain("assistant A2");
  expect(path.at(-1)?.parentId).toBe(entries.find((entry) => brief(entry) === "assistant A1")?.id);
  // Without a turn after it, the leaf is where the undo moved it.
  const undone = one([
    ...prompt("P1"),
    ...step("one", 1, part("A1")),
    ...prompt("P2"),
    record("context.undo", { count: 1 }),
  ]);
  expect(undone.messages.map(briefMessage)).toEqual(["user P1", "assistant A1"]);
});

test("keeps the latest prompts in a compaction, with its tokens", () => {
  const compacted = [
    ...prompt("P1"),
    ...step("one", 1, part("A1")),
    ...prompt("P2"),
    record("full_compaction.begin", { source: "manual" }),
    usage(300, "session"),
    record("context.apply_compaction", {
      summary: "All so far.",
      tokensBefore: 900,
      keptUserMessageCount: 1,
    }),
    record("full_compaction.complete"),
    ...prompt("P3"),
  ];
  const { messages, entries } = one(compacted);
  expect(messages.map(briefMessage)).toEqual(["compactionSummary", "user P2", "user P3"]);
  const compaction = entries.find(({ type }) => type === "compaction");
  expect(compaction).toMatchObject({ summary: "All so far.", tokensBefore: 900, usage: { input: 300 } });
  // A compaction without an outcome has used its tokens all the same.
  const failed = one(compacted.filter((entry) => !JSON.stringify(entry).includes("apply_compaction")));
  const spent = failed.entries.filter(({ type }) => type === "usage");
  expect(spent).toMatchObject([{ usage: { input: 300 } }]);
  // Expected when the log ended there; the compaction replaces it.
  expect(one(compacted).session.withdrawnIds).toContain(spent[0]?.id);
});

test("keeps interrupted content as far as it was written", () => {
  const { path, entries } = one([
    ...prompt("P1"),
    loop("step.begin", { uuid: "one" }),
    part("Half"),
    loop("step.end", { uuid: "one", finishReason: "interrupted" }),
    record("turn.ended", { reason: "cancelled" }),
    ...prompt("P2"),
    loop("step.begin", { uuid: "two" }),
    usage(50),
    record("turn.ended", { reason: "failed", error: { message: "overloaded" } }),
  ]);
  expect(path.find((entry) => brief(entry) === "assistant Half")).toMatchObject({
    message: { stopReason: "aborted" },
  });
  expect(entries.filter(({ type }) => type === "usage")).toMatchObject([{ usage: { input: 50 } }]);
  expect(path.at(-1)).toMatchObject({ customType: "kimi.error", data: { error: { message: "overloaded" } } });
});

test("imports subagents as separate sessions, linked to the calls that started them", () => {
  const spawned = (n: number) =>
    record("subagent.spawned", {
      agentId: undefined,
      subagentId: `agent-${n}`,
      subagentName: "coder",
      parentToolCallId: `c${n}`,
      parentAgentId: "main",
    });
  const events = [
    call("c0", "Agent"),
    call("c1", "Agent"),
    spawned(0),
    spawned(1),
    result("c1"),
    result("c0"),
  ];
  const own = (text: string) => [
    said(text, { kind: "system_trigger", name: "subagent" }, text),
    ...step(text, 1, part("x")),
  ];
  const [main, first, second] = sessionsOf([], {
    wires: [
      wire(own("first"), "agent-0"),
      wire([...prompt("P1"), ...step("one", 1, ...events)]),
      wire(own("second"), "agent-1"),
    ],
  });
  expect(main?.path.map(brief).slice(-4)).toEqual([
    "result c1",
    "sessiontree.subagent",
    "result c0",
    "sessiontree.subagent",
  ]);
  expect(main?.path.at(-1)).toMatchObject({
    data: { agentId: "agent-0", toolCallId: "c0", sessionId: first?.session.header.id },
  });
  expect(first?.path.map(brief).slice(1)).toEqual(["sessiontree.subagent", "user first", "assistant x"]);
  expect(first?.path[1]).toMatchObject({ data: { agentId: "agent-0", toolCallId: "c0", role: "coder" } });
  expect(second?.session.parent).toEqual({ sourceId: SESSION_ID, relation: "subagent" });
});

test("names a fork's original, and gives it the ids of what it copied", () => {
  const records = [...prompt("P1"), ...step("one", 1, part("A1"))];
  const fork = one([...records, record("forked"), ...prompt("P2")], { state: { forkedFrom: "session_0" } });
  expect(fork.session.parent).toEqual({ sourceId: "session_0", relation: "fork" });
  const ids = one(records).entries.map(({ id }) => id);
  expect(fork.entries.slice(1, 3).map(({ id }) => id)).toEqual(ids.slice(1));
});

test("imports images as images, and keeps the paths of saved files as details", () => {
  const url = "data:image/png;base64,AAAA";
  const content = [
    { type: "image_url", imageUrl: { url } },
    { type: "video_url", videoUrl: {} },
  ];
  const entries = { "a.txt": { key: "file-history/ab@v2", version: 2 } };
  const { messages, path } = one([
    record("context.append_message", { message: { role: "user", content } }),
    record("file_history.checkpoint", { turnId: 0, entries }),
  ]);
  expect(messages).toMatchObject([{ content: [{ type: "image", data: "AAAA" }, { text: "[video]" }] }]);
  expect(path.at(-1)).toMatchObject({ customType: "kimi.file_history.checkpoint", data: { entries } });
});

test("reports torn and joined lines and an unknown protocol", () => {
  const lines = prompt("P1").map((entry) => JSON.stringify(entry));
  const text = `${lines.join("")}\n{"type":"usage.rec`;
  const { records, issues } = readKimiText(text);
  expect(records.length).toBe(2);
  expect(issues.map(({ code }) => code)).toEqual(["RECORDS_GLUED", "TAIL_TORN"]);
  const newer = { ...FRONT, protocol_version: "2.0" };
  const read = readKimiText([newer, ...prompt("P1")].map((entry) => JSON.stringify(entry)).join("\n"));
  const [session] = importKimi({ sessionId: SESSION_ID, wires: [{ agentId: "main", ...read }], importedAt });
  expect(session?.issues.map(({ code }) => code)).toEqual(["VERSION_UNCLEAR"]);
});

test("accepts wrong types anywhere without an error", () => {
  for (const junk of [null, 5, "x", [], {}, [null], [[]], { content: 5 }]) {
    const records = [
      record("turn.prompt", { input: junk, turnId: junk }),
      record("context.append_message", { message: junk }),
      record("context.append_message", { message: { content: junk, id: junk, origin: junk } }),
      record("context.append_loop_event", { event: junk }),
      ...["step.begin", "content.part", "tool.call", "tool.result", "step.end", "other"].map((type) =>
        loop(type, {
          uuid: junk,
          stepUuid: junk,
          part: junk,
          toolCallId: junk,
          name: junk,
          args: junk,
          result: junk,
        }),
      ),
      ...["usage.record", "context.undo", "context.apply_compaction", "turn.ended", "subagent.spawned"].map(
        (type) =>
          record(type, {
            usage: junk,
            count: junk,
            summary: junk,
            keptUserMessageCount: junk,
            subagentId: junk,
          }),
      ),
      { type: "profile.bind", thinkingEffort: junk, time: junk, agentId: junk },
    ];
    for (const { problems, read } of sessionsOf(records, { state: junk }))
      expect([problems, read.issues]).toEqual([[], []]);
  }
  expect(sessionsOf([record("turn.prompt")])).toEqual([]);
});

test("recognizes a wire log, and distinguishes it from kimi-cli's files", () => {
  expect(detectSource([FRONT, ...prompt("P1")].map((entry) => JSON.stringify(entry)).join("\n"))).toBe(
    "kimi",
  );
  expect(
    detectSource(
      prompt("P1")
        .map((entry) => JSON.stringify(entry))
        .join("\n"),
    ),
  ).toBe("kimi");
  expect(detectSource('{"role":"_checkpoint","id":0}\n{"role":"user","content":"hi"}')).toBe("kimi-cli");
});
