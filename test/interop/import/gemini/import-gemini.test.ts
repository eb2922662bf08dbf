import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { importGemini, readGeminiText } from "../../../../src/interop/import/gemini/import-gemini.ts";
import { joinLines } from "../support/claude-records.ts";
import { brief, briefMessage, readView } from "../support/session-view.ts";

const importedAt = "2027-01-01T00:00:00.000Z";
const META = { sessionId: "g-1", projectHash: "abc", startTime: "2026-11-22T05:00:00.000Z", kind: "main" };
const time = "2026-11-22T05:01:00.000Z";

const user = (id: string, content: unknown) => ({ id, timestamp: time, type: "user", content });
const gemini = (id: string, content: unknown, more: object = {}) => ({
  id,
  timestamp: time,
  type: "gemini",
  model: "gemini-x",
  content,
  ...more,
});

function view(records: readonly object[]) {
  const session = importGemini({ ...readGeminiText(joinLines(records)), importedAt });
  if (session === undefined) throw new Error("no session was made");
  const made = readView(session);
  expect(made.problems).toEqual([]);
  expect(made.read.issues).toEqual([]);
  return made;
}

test("replaces an older version of a rewritten message, with its tokens and results", () => {
  const call = { id: "c1", name: "read_file", args: { path: "a" }, status: "executing", timestamp: time };
  const tokens = { input: 100, output: 10, cached: 60, thoughts: 5, total: 115 };
  const done = {
    ...call,
    status: "success",
    result: [{ functionResponse: { id: "c1", response: { output: "text" } } }],
  };
  const { messages, session, repairs } = view([
    META,
    user("u1", "hello"),
    gemini("a1", "looking", { toolCalls: [call] }),
    gemini("a1", "looking", {
      toolCalls: [done],
      tokens,
      thoughts: [{ subject: "Plan", description: "read it" }],
    }),
    gemini("a2", [{ text: "done", thoughtSignature: "s" }]),
  ]);
  expect(messages.map(briefMessage)).toEqual([
    "user hello",
    "assistant **Plan** read it+looking+c1",
    "result c1",
    "assistant done",
  ]);
  expect(messages[1]).toMatchObject({
    api: "google-generative-ai",
    provider: "google",
    model: "gemini-x",
    responseId: "a1",
    stopReason: "toolUse",
    usage: { input: 40, cacheRead: 60, output: 15, reasoning: 5, totalTokens: 115 },
  });
  expect(messages[2]).toMatchObject({ toolName: "read_file", content: [{ text: "text" }], isError: false });
  expect(messages[3]).toMatchObject({ content: [{ textSignature: "s" }] });
  expect(repairs).toEqual([]);
  expect(session.dropped).toEqual({ "older version of a message": 1 });
});

test("restores thoughts and calls from parts where they are kept, with their signatures", () => {
  const content = [
    { text: "hm", thought: true, thoughtSignature: "t" },
    { functionCall: { name: "f", args: { x: 1 } }, thoughtSignature: "f" },
    { functionCall: { name: "f", args: { x: 2 } } },
  ];
  const toolCalls = [
    { id: "k1", name: "f", args: {}, status: "success", result: "one" },
    { id: "k2", name: "f", args: {}, status: "cancelled" },
  ];
  const { messages } = view([META, user("u1", "go"), gemini("a1", content, { toolCalls })]);
  expect(messages[1]).toMatchObject({
    content: [
      { type: "thinking", thinking: "hm", thinkingSignature: "t" },
      { type: "toolCall", id: "k1", thoughtSignature: "f", arguments: { x: 1 } },
      { type: "toolCall", id: "k2", arguments: { x: 2 } },
    ],
  });
  expect(messages.slice(2)).toMatchObject([
    { content: [{ text: "one" }], isError: false },
    { content: [{ text: "cancelled" }], isError: true },
  ]);
});

test("keeps rolled-back messages as a branch; an unknown id rolls all back", () => {
  const made = view([
    META,
    user("u1", "one"),
    gemini("a1", "1"),
    user("u2", "two"),
    gemini("a2", "2"),
    { $rewindTo: "u2" },
    user("u3", "instead"),
    { $rewindTo: "unknown" },
    user("u4", "anew"),
  ]);
  expect(made.messages.map(briefMessage)).toEqual(["user anew"]);
  const inner = view([META, user("u1", "one"), gemini("a1", "1"), user("u2", "two"), { $rewindTo: "u2" }]);
  expect(inner.path.map(brief)).toEqual([
    "sessiontree.import",
    "user one",
    "assistant 1",
    "sessiontree.leaf",
  ]);
  expect(made.entries.map(brief)).toEqual(
    expect.arrayContaining(["user two", "assistant 2", "user instead"]),
  );
});

test("imports a compressed history as a compaction, and leaves what was kept in place", () => {
  const records = [
    META,
    user("u1", "one"),
    gemini("a1", "1", { tokens: { total: 900 } }),
    user("u2", "two"),
    gemini("a2", "2"),
  ];
  const snapshot = user("s", "<state_snapshot>all of it</state_snapshot>");
  const checkpoint = (...kept: object[]) => ({
    $set: { messages: [snapshot, gemini("k", "Got it. Thanks!"), ...kept] },
  });
  const made = view([...records, checkpoint(records[3] ?? {}, records[4] ?? {}), user("u3", "three")]);
  expect(made.messages.map(briefMessage)).toEqual([
    "compactionSummary",
    "user two",
    "assistant 2",
    "user three",
  ]);
  const other = view([...records, checkpoint(records[1] ?? {}), user("u3", "three")]);
  expect(other.messages.map(briefMessage)).toEqual(["compactionSummary", "user one", "user three"]);
  expect(other.entries.find(({ type }) => type === "compaction")).toMatchObject({ tokensBefore: 900 });
});

test("ignores a checkpoint equal to the history so far, and branches for a different one", () => {
  const records = [META, user("u1", "one"), gemini("a1", "1")];
  const same = view([
    ...records,
    { $set: { messages: records.slice(1), lastUpdated: "x" } },
    user("u2", "two"),
  ]);
  expect(same.entries).toHaveLength(4);
  const cut = view([...records, { $set: { messages: [records[1], user("u9", "other")] } }]);
  expect(cut.messages.map(briefMessage)).toEqual(["user one", "user other"]);
});

const CALL = { functionCall: { id: "c1", name: "read_file", args: { path: "a" } } };
const RESPONSE = { functionResponse: { id: "c1", name: "read_file", response: { output: "text" } } };
const DONE = { id: "c1", name: "read_file", args: { path: "a" }, status: "success", result: [RESPONSE] };

test("imports a tool's result once, even if a prompt's record has it after the call's", () => {
  const { messages, session } = view([
    META,
    user("u1", "hello"),
    gemini("a1", "looking", { toolCalls: [DONE] }),
    user("r1", [RESPONSE]),
    gemini("a2", "done"),
    gemini("a3", [CALL]),
    user("r3", [
      { functionResponse: { id: "c1", name: "read_file", response: { error: "none" } } },
      { text: "and" },
    ]),
  ]);
  expect(messages.map(briefMessage)).toEqual([
    "user hello",
    "assistant looking+c1",
    "result c1",
    "assistant done",
    "assistant c1",
    "result c1",
    "user and",
  ]);
  expect(messages[5]).toMatchObject({ toolName: "read_file", isError: true });
  expect(session.dropped).toMatchObject({ "result that its call has": 1 });
});

test("ignores a list without notes, and one that repeats a summary and what follows it", () => {
  const context = user("ctx", "<session_context>here</session_context>");
  const compressed = [
    { ...context, timestamp: "2026-11-22T06:00:00.000Z" },
    user("s", "<state_snapshot>short</state_snapshot>"),
    gemini("t", "Got it. Thanks!"),
    user("k1", "two"),
    gemini("k2", [{ text: "looking" }, CALL]),
    user("k3", [RESPONSE]),
  ];
  const [question, answer] = [user("u1", "one"), gemini("a1", "first")];
  const [next, last] = [user("u3", "three"), gemini("a3", "third")];
  const { session, messages, path } = view([
    META,
    { $set: { messages: [context] } },
    question,
    answer,
    { id: "e1", timestamp: time, type: "error", content: "refused" },
    { $set: { messages: [question, answer] } },
    user("u2", "two"),
    gemini("a2", "looking", { toolCalls: [DONE] }),
    user("r2", [RESPONSE]),
    { $set: { messages: compressed } },
    next,
    last,
    { $set: { messages: [...compressed, next, last] } },
    user("u4", "four"),
  ]);
  expect(path.map(brief)).toEqual([
    "sessiontree.import",
    "gemini.command",
    "user one",
    "assistant first",
    "gemini.error",
    "user two",
    "assistant looking+c1",
    "result c1",
    "compaction <state_snapshot>short</state_snapshot>",
    "user two",
    "assistant looking+c1",
    "result c1",
    "user three",
    "assistant third",
    "user four",
  ]);
  expect(session.entries).toHaveLength(path.length);
  expect(messages.map(briefMessage)).toEqual(["compactionSummary", ...path.map(brief).slice(9)]);
});

test("keeps commands and notes of the program, but not as prompts", () => {
  const made = view([
    META,
    user("u1", "/help"),
    user("u2", "<session_context>here</session_context>"),
    { id: "i1", timestamp: time, type: "info", content: "note" },
    user("u3", ["see ", { inlineData: { mimeType: "image/png", data: "AAAA" } }]),
    { $set: { summary: "A name" } },
  ]);
  expect(made.path.slice(1).map(brief)).toEqual([
    "gemini.command",
    "gemini.command",
    "gemini.info",
    "user see +image",
    "name A name",
  ]);
});

test("counts every message of a list as a record, and generated ones as left out", () => {
  const info = { id: "i1", timestamp: time, type: "info", content: "note" };
  const whole = readGeminiText(
    JSON.stringify({ ...META, messages: [info, user("u1", "one"), { ...info, id: "i2" }] }),
  );
  expect(importGemini({ ...whole, importedAt })?.counts).toMatchObject({
    records: 4,
    mapped: 2,
    kept: 2,
    dropped: 0,
  });
  const snapshot = user("s", "<state_snapshot>all of it</state_snapshot>");
  const { session } = view([
    META,
    user("u1", "one"),
    { $set: { messages: [snapshot, gemini("k", "Got it. Thanks!")] } },
  ]);
  expect(session.counts).toMatchObject({ records: 5, mapped: 4, kept: 0, dropped: 1 });
});

test("names a subagent's parent, whose call names it; makes no session of a file without a conversation", () => {
  const text = readGeminiText(joinLines([{ ...META, kind: "subagent" }, user("u1", "go")]));
  const agent = importGemini({ ...text, parentId: "p", importedAt });
  expect(agent?.parent).toEqual({ sourceId: "p", relation: "subagent" });
  expect(agent?.entries[1]).toMatchObject({ customType: "sessiontree.subagent", data: { agentId: "g-1" } });
  const { path } = view([META, gemini("a1", "", { toolCalls: [{ ...DONE, agentId: "g-2" }] })]);
  expect(path.map(brief).slice(1)).toEqual(["assistant c1", "result c1", "sessiontree.subagent"]);
  expect(path[3]).toMatchObject({ data: { agentId: "g-2", toolCallId: "c1", sessionId: "g-2" } });
  expect(importGemini({ ...readGeminiText(joinLines([META])), importedAt })).toBeUndefined();
  expect(importGemini({ ...readGeminiText(""), importedAt })).toBeUndefined();
});

const CORPUS = fileURLToPath(new URL("../../../../../shared/corpus-other-agents/gemini/", import.meta.url));

test.skipIf(!existsSync(CORPUS))(
  "files of other writers (skipped where ../shared/corpus-other-agents is missing)",
  () => {
    for (const name of readdirSync(CORPUS)) {
      const session = importGemini({
        ...readGeminiText(readFileSync(join(CORPUS, name), "utf8")),
        importedAt,
      });
      // One of them contains only notes of the program.
      expect(session === undefined, name).toBe(name.includes("system_messages"));
      if (session !== undefined) expect(readView(session).problems).toEqual([]);
    }
  },
);
