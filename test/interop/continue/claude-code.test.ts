import { describe, expect, test } from "vitest";
import { toArray, toRecord } from "../../../src/core/context/entry-fields.ts";
import { exportFor } from "../../../src/interop/continue/export-for.ts";
import { assistant, call, toolResult, user } from "../../support/messages.ts";
import { type Appended, ID, makeSession, NOW } from "./support/copied-sessions.ts";
import { readContext, readLines, readTranscript } from "./support/exported-requests.ts";

const options = { id: ID, now: NOW };
const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" } as const;

/** Exports a session for Claude Code; returns the contents of its messages and the codes of its issues. */
function writeContents(...messages: Appended[]) {
  const session = makeSession(...messages);
  const exported = exportFor("claude-code", session, options);
  expect(readTranscript(exported)).toEqual(readContext("claude-code", session));
  const contents = readLines(exported).flatMap(({ message }) =>
    message === undefined ? [] : [toRecord(message)["content"]],
  );
  return { contents, codes: exported.issues.map(({ code }) => code) };
}

describe("the file", () => {
  test("is in the project's folder as a chain of records, and ends with its provenance", () => {
    const session = makeSession(user("Hi", NOW - 2000), assistant("Hello", { timestamp: NOW - 1000 }));
    session.appendSessionInfo("Greetings");
    const exported = exportFor("claude-code", session, { ...options, cwd: "/home/ada/my.app" });
    expect(exported.files.map(({ path }) => path)).toEqual([`projects/-home-ada-my-app/${ID}.jsonl`]);
    expect(exported.commands).toEqual([["claude", "--resume", ID]]);
    const [prompt, answer, ...rest] = readLines(exported);
    const frame = {
      ...{ isSidechain: false, userType: "external", cwd: "/home/ada/my.app", sessionId: ID },
      ...{ version: "2.1.332", uuid: expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/) },
    };
    expect(prompt).toEqual({
      ...{ ...frame, parentUuid: null, type: "user", timestamp: "2026-11-28T04:59:58.000Z" },
      message: { role: "user", content: "Hi" },
    });
    expect(answer).toEqual({
      ...{ ...frame, parentUuid: prompt?.["uuid"], type: "assistant", timestamp: "2026-11-28T04:59:59.000Z" },
      message: {
        ...{ id: expect.stringMatching(/^msg_/), type: "message", role: "assistant", model: "m1" },
        ...{ content: [{ type: "text", text: "Hello" }], stop_reason: "end_turn", stop_sequence: null },
        usage: {
          ...{ input_tokens: 0, output_tokens: 0 },
          ...{ cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
        },
      },
    });
    const continued = { sessionId: session.getSessionId(), leafId: session.getLeafId() };
    expect(rest).toEqual([
      { type: "custom-title", customTitle: "Greetings", sessionId: ID },
      { type: "sessiontree", sessionId: ID, timestamp: "2026-11-28T05:00:00.000Z", continued },
    ]);
  });

  test("names its records by the session, so that two exports share none", () => {
    const session = makeSession(user("Hi"), assistant("Hello"));
    const list = (id: string) =>
      readLines(exportFor("claude-code", session, { id })).flatMap(({ uuid }) => uuid ?? []);
    const other = "bbbbbbbb-1111-4222-8333-444444444444";
    expect(list(ID)).toEqual(list(ID));
    expect(new Set([...list(ID), ...list(other)]).size).toBe(4);
  });
});

describe("calls and results", () => {
  test("keep their order and failures, with ids that the API accepts", () => {
    const calls = [call("call_1|fc_9", "bash", { command: "ls" }), call("toolu_2", "Read", "a")];
    const { contents, codes } = writeContents(
      user("Look"),
      assistant("I look.", {}, ...calls),
      toolResult("toolu_2", "b", true),
      toolResult("call_1|fc_9", "a"),
    );
    const [first, second] = [toRecord(toArray(contents[1])[1])["id"], "toolu_2"];
    expect(first).toMatch(/^[\w-]{1,64}$/);
    expect(contents.slice(1)).toEqual([
      [
        { type: "text", text: "I look." },
        { type: "tool_use", id: first, name: "bash", input: { command: "ls" } },
        { type: "tool_use", id: second, name: "Read", input: { path: "a" } },
      ],
      [
        {
          ...{ type: "tool_result", tool_use_id: second, is_error: true },
          content: [{ type: "text", text: "b" }],
        },
        { type: "tool_result", tool_use_id: first, content: [{ type: "text", text: "a" }] },
      ],
    ]);
    expect(codes).toEqual(["TOOLS_FOREIGN", "ID_CHANGED"]);
  });

  test("are complete where the session ends in an open call", () => {
    const { contents, codes } = writeContents(user("Run"), assistant("I run.", {}, call("a", "Bash")));
    expect(contents.at(-1)).toMatchObject([{ type: "tool_result", tool_use_id: "a" }]);
    expect(codes).toEqual(["PAIR_REPAIRED"]);
  });
});

test("are exported without empty texts, thinking, and unknown images, which are reported", () => {
  const thinking = { type: "thinking", thinking: "Hm", thinkingSignature: "sig" } as const;
  const odd = { type: "image", data: "AAAA", mimeType: "image/tiff" } as const;
  const { contents, codes } = writeContents(
    { role: "user", content: [{ type: "text", text: "See" }, image, odd], timestamp: 1 },
    assistant([thinking, { type: "text", text: " " }, { type: "text", text: "Seen" }]),
  );
  expect(contents).toEqual([
    [
      { type: "text", text: "See" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: image.data } },
      { type: "text", text: "[image: image/tiff]" },
    ],
    [{ type: "text", text: "Seen" }],
  ]);
  expect(codes).toEqual(["IMAGE_LEFT_OUT", "THINKING_DROPPED", "BLOCK_DROPPED"]);
});

test("include Anthropic's originals unchanged, without cache marks", () => {
  const source = { type: "base64", media_type: "application/pdf", data: "JVBERi0=" };
  const document = { type: "document", source, title: "Plan" };
  const anthropic = [{ ...document, cache_control: { type: "ephemeral" } }];
  const content = [{ type: "text", text: "[document: Plan]" } as const];
  const { contents } = writeContents({ ...user(""), content, details: { anthropic } }, assistant("Read."));
  expect(contents[0]).toEqual([document]);
});

describe("a compaction", () => {
  function makeCompacted() {
    const session = makeSession(user("First"), assistant("One"), user("Second"), assistant("Two"));
    session.appendCompaction("They counted.", session.getEntries()[2]?.id ?? null, 900);
    session.appendMessage(user("Third"));
    return session;
  }
  const describeRecord = ({
    type,
    subtype,
    message,
    isCompactSummary,
  }: {
    readonly [name: string]: unknown;
  }) => subtype ?? (isCompactSummary === true ? "summary" : (toRecord(message)["content"] ?? type));
  const text = (said: string) => [{ type: "text", text: said }];

  test("becomes one of Claude Code's with what it kept, and nothing before it", () => {
    const session = makeCompacted();
    const exported = exportFor("claude-code", session, options);
    expect(readTranscript(exported)).toEqual(readContext("claude-code", session));
    const lines = readLines(exported);
    expect(lines.map(describeRecord)).toEqual([
      ...["compact_boundary", "summary", "Second", text("Two"), "Third", "sessiontree"],
    ]);
    expect(lines[0]).toMatchObject({
      ...{ parentUuid: null, logicalParentUuid: null, content: "Conversation compacted" },
      ...{ isMeta: false, level: "info", compactMetadata: { trigger: "manual", preTokens: 900 } },
    });
    expect(lines[1]).toMatchObject({
      ...{ isVisibleInTranscriptOnly: true, parentUuid: lines[0]?.["uuid"] },
      message: { content: expect.stringContaining("They counted.") },
    });
  });

  test("follows what it summarized in an export of the whole path", () => {
    const session = makeCompacted();
    const exported = exportFor("claude-code", session, { ...options, compacted: "whole" });
    expect(readTranscript(exported)).toEqual(readContext("claude-code", session));
    const lines = readLines(exported);
    expect(lines.map(describeRecord)).toEqual([
      ...["First", text("One"), "Second", text("Two")],
      ...["compact_boundary", "summary", "Second", text("Two"), "Third", "sessiontree"],
    ]);
    expect(lines[4]).toMatchObject({ parentUuid: null, logicalParentUuid: lines[3]?.["uuid"] });
  });
});
