import { describe, expect, test } from "vitest";
import { exportFor } from "../../../src/interop/continue/export-for.ts";
import { importGemini, readGeminiText } from "../../../src/interop/import/gemini/import-gemini.ts";
import { assistant, call, toolResult, user } from "../../support/messages.ts";
import { type Appended, ID, makeSession, NOW } from "./support/copied-sessions.ts";
import { readLines } from "./support/exported-requests.ts";

const PNG = "iVBORw0KGgo=";
const image = { type: "image", data: PNG, mimeType: "image/png" } as const;
const options = { id: ID, now: NOW };

/** Exports a session for Gemini CLI; returns its records without header and provenance. */
function writeRecords(...messages: Appended[]) {
  const exported = exportFor("gemini", makeSession(...messages), options);
  return { records: readLines(exported).slice(1, -1), issues: exported.issues };
}

/** Returns the records' contents. */
function writeContents(...messages: Appended[]) {
  return writeRecords(...messages).records.map(({ content }) => content);
}

describe("the file", () => {
  test("is where Gemini CLI looks for the project's sessions, and ends with its provenance", () => {
    const session = makeSession(user("Hi"), assistant("Hello"));
    const exported = exportFor("gemini", session, { ...options, cwd: "/home/ada/My App" });
    expect(exported.files.map(({ path }) => path)).toEqual([
      "tmp/my-app/chats/session-2026-11-28T05-00-aaaaaaaa.jsonl",
    ]);
    expect(exported.commands).toEqual([["gemini", "--resume", ID]]);
    const lines = readLines(exported);
    const startTime = "2026-11-28T05:00:00.000Z";
    // The program's cleanup deletes sessions that started 30 days ago and those without a hash.
    expect(lines[0]).toEqual({
      sessionId: ID,
      projectHash: "350a3fdebc1eec282001b30a4c1c5681958f32d9ba3901b888082a54a49c21b2",
      startTime,
      lastUpdated: startTime,
      kind: "main",
    });
    const leafId = session.getLeafId();
    expect(lines.at(-1)).toEqual({ $set: { sessiontree: { sessionId: session.getSessionId(), leafId } } });
  });

  test("is in the folder that the caller found, and has the session's name", () => {
    const session = makeSession(user("Hi"), assistant("Hello"));
    session.appendSessionInfo("Receipts");
    const exported = exportFor("gemini", session, { ...options, project: "found" });
    expect(exported.files[0]?.path).toMatch(/^tmp\/found\/chats\//);
    expect(readLines(exported)[0]).toMatchObject({ summary: "Receipts" });
  });

  test("keeps entry ids, times, and models", () => {
    const session = makeSession(user("Hi", NOW - 2000), assistant("Hello", { timestamp: NOW - 1000 }));
    const [prompt, answer] = session.getEntries();
    expect(readLines(exportFor("gemini", session, options)).slice(1, -1)).toEqual([
      { id: prompt?.id, timestamp: "2026-11-28T04:59:58.000Z", type: "user", content: [{ text: "Hi" }] },
      {
        id: answer?.id,
        timestamp: "2026-11-28T04:59:59.000Z",
        type: "gemini",
        content: [{ text: "Hello" }],
        thoughts: [],
        model: "m1",
      },
    ]);
  });
});

describe("calls and results", () => {
  test("are parts of their answer in order with its texts, followed by a record of results", () => {
    const { records, issues } = writeRecords(
      user("Go"),
      assistant("First", {}, call("c1", "bash", { command: "ls" }), {
        ...call("c2", "read", "a.ts"),
      }),
      toolResult("c2", "no such file", true),
      toolResult("c1", "a\nb"),
    );
    const [, answer, results] = records;
    expect(answer?.["content"]).toEqual([
      { text: "First" },
      {
        functionCall: { id: "c1", name: "bash", args: { command: "ls" } },
        thoughtSignature: "skip_thought_signature_validator",
      },
      { functionCall: { id: "c2", name: "read", args: { path: "a.ts" } } },
    ]);
    expect(results).toMatchObject({ id: `${answer?.["id"]}_response`, type: "user" });
    expect(results?.["content"]).toEqual([
      { functionResponse: { id: "c2", name: "read", response: { error: "no such file" } } },
      { functionResponse: { id: "c1", name: "bash", response: { output: "a\nb" } } },
    ]);
    expect(issues).toEqual([expect.objectContaining({ code: "TOOLS_FOREIGN" })]);
  });

  test("stay before the text that came after the call", () => {
    const answer = assistant([call("c1"), { type: "text", text: "Now I wait." }]);
    expect(writeContents(user("Go"), answer, toolResult("c1", ""))[1]).toEqual([
      expect.objectContaining({ functionCall: { id: "c1", name: "bash", args: {} } }),
      { text: "Now I wait." },
    ]);
  });

  test("have ids that any provider accepts", () => {
    const contents = writeContents(
      user("Go"),
      assistant("", {}, call("call_1|fc_9")),
      toolResult("call_1|fc_9", "x"),
    );
    expect(contents[1]).toEqual([
      expect.objectContaining({ functionCall: { id: "call_1_fc_9", name: "bash", args: {} } }),
    ]);
    expect(contents[2]).toEqual([
      { functionResponse: { id: "call_1_fc_9", name: "bash", response: { output: "x" } } },
    ]);
  });

  test("keep images in their results", () => {
    const result = { ...toolResult("c1", "seen"), content: [{ type: "text" as const, text: "seen" }, image] };
    expect(writeContents(user("Go"), assistant("", {}, call("c1")), result)[2]).toEqual([
      {
        functionResponse: {
          id: "c1",
          name: "bash",
          response: { output: "seen" },
          parts: [{ inlineData: { mimeType: "image/png", data: PNG } }],
        },
      },
    ]);
  });

  test("get a placeholder result and an issue if a result is missing", () => {
    const { records, issues } = writeRecords(user("Go"), assistant("", {}, call("c1")));
    expect(records[2]?.["content"]).toEqual([
      {
        functionResponse: {
          id: "c1",
          name: "bash",
          response: { error: "The tool call was interrupted: it has no result." },
        },
      },
    ]);
    expect(issues.map(({ code }) => code)).toContain("PAIR_REPAIRED");
  });
});

describe("prompts", () => {
  test("keep their images", () => {
    const content = [{ type: "text" as const, text: "Look" }, image];
    expect(writeContents({ ...user(""), content }, assistant("I see"))[0]).toEqual([
      { text: "Look" },
      { inlineData: { mimeType: "image/png", data: PNG } },
    ]);
  });

  test.each(["/tmp/a.log is empty", "?", " /help", "<session_context>x", "<hook_context>x", " \n"])(
    "that the program would drop are preceded by a text: %j",
    (text) => {
      const { records, issues } = writeRecords(user(text), assistant("Yes"));
      expect(records[0]?.["content"]).toEqual([{ text: "The user wrote:" }, { text }]);
      expect(issues.map(({ code }) => code)).toEqual(["CONTENT_ADDED"]);
    },
  );
});

describe("omitted content", () => {
  test("is reported: thinking, instructions, and branches", () => {
    const session = makeSession(
      { role: "system", content: "Be brief.", timestamp: 1 },
      user("Go"),
      assistant([{ type: "thinking", thinking: "Hm", thinkingSignature: "abcd" }]),
    );
    const prompt = session.getBranch()[1];
    session.branch(prompt?.id ?? "");
    session.appendMessage(
      assistant([
        { type: "thinking", thinking: "Well" },
        { type: "text", text: "Done" },
      ]),
    );
    const { issues, ...exported } = exportFor("gemini", session, options);
    expect(new TextDecoder().decode(exported.files[0]?.bytes)).not.toMatch(/Be brief|Hm|Well/);
    expect(issues.map(({ code }) => code).sort()).toEqual([
      "BRANCHES_LEFT_OUT",
      "SYSTEM_LEFT_OUT",
      "THINKING_DROPPED",
    ]);
  });

  test("is replaced by a compaction's summary, or included for the whole path", () => {
    const session = makeSession(user("Old"), assistant("Older"));
    const kept = session.appendMessage(user("Kept"));
    session.appendMessage(assistant("Answer"));
    session.appendCompaction("They talked.", kept, 100);
    const write = (compacted: "context" | "whole") =>
      JSON.stringify(readLines(exportFor("gemini", session, { ...options, compacted })).slice(1, -1));
    expect(write("context")).toMatch(/^(?!.*Older).*They talked\..*Kept.*Answer/);
    expect(write("whole")).toMatch(/^(?!.*They talked).*Old.*Older.*Kept.*Answer/);
  });
});

test("imports as the same conversation", () => {
  const session = makeSession(
    user("Go"),
    assistant("First", {}, call("c1", "bash", { command: "ls" })),
    toolResult("c1", "a"),
    assistant("Done"),
  );
  const text = new TextDecoder().decode(exportFor("gemini", session, options).files[0]?.bytes);
  const imported = importGemini({ ...readGeminiText(text), importedAt: "2026-11-28T06:00:00.000Z" });
  const messages = imported?.entries.flatMap(({ type, ...entry }) => (type === "message" ? [entry] : []));
  expect(JSON.stringify(messages)).toMatch(/"Go".*"First".*"command":"ls".*toolResult.*"a".*"Done"/);
  expect(imported?.counts).toMatchObject({ userMessages: 1, assistantMessages: 2, toolResults: 1 });
});
