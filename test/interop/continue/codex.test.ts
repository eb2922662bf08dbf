import { describe, expect, test } from "vitest";
import { exportFor } from "../../../src/interop/continue/export-for.ts";
import { assistant, call, toolResult, user } from "../../support/messages.ts";
import { type Appended, ID, makeSession, NOW } from "./support/copied-sessions.ts";
import { readContext, readLines, readRollout } from "./support/exported-requests.ts";

const options = { id: ID, now: NOW };
const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" } as const;

/** Exports a session for Codex; returns its items and the codes of its issues. */
function writeItems(...messages: Appended[]) {
  const session = makeSession(...messages);
  const exported = exportFor("codex", session, options);
  expect(readRollout(exported)).toEqual(readContext("codex", session));
  const items = readLines(exported).flatMap(({ type, payload }) =>
    type === "response_item" ? [payload] : [],
  );
  return { items, codes: exported.issues.map(({ code }) => code) };
}

const said = (role: "user" | "assistant", text: string) => ({
  type: "message",
  role,
  content: [{ type: role === "user" ? "input_text" : "output_text", text }],
});

describe("the file", () => {
  test("is where Codex looks up a session by its id, and ends with its provenance", () => {
    const session = makeSession(user("Hi", NOW - 2000), assistant("Hello", { timestamp: NOW - 1000 }));
    const exported = exportFor("codex", session, { ...options, cwd: "/home/ada/app" });
    expect(exported.files.map(({ path }) => path)).toEqual([
      `sessions/2026/11/28/rollout-2026-11-28T05-00-00-${ID}.jsonl`,
    ]);
    expect(exported.commands).toEqual([["codex", "resume", ID]]);
    const timestamp = "2026-11-28T05:00:00.000Z";
    const [asked, answered] = ["2026-11-28T04:59:58.000Z", "2026-11-28T04:59:59.000Z"];
    const media = { images: [], local_images: [], text_elements: [] };
    expect(readLines(exported)).toEqual([
      {
        timestamp,
        type: "session_meta",
        payload: {
          ...{ id: ID, timestamp, cwd: "/home/ada/app", originator: "sessiontree" },
          ...{ cli_version: "0.171.0", source: "cli" },
        },
      },
      { timestamp: asked, type: "response_item", payload: said("user", "Hi") },
      { timestamp: asked, type: "event_msg", payload: { type: "user_message", message: "Hi", ...media } },
      { timestamp: answered, type: "response_item", payload: said("assistant", "Hello") },
      { timestamp: answered, type: "event_msg", payload: { type: "agent_message", message: "Hello" } },
      {
        timestamp,
        type: "sessiontree",
        payload: { sessionId: session.getSessionId(), leafId: session.getLeafId() },
      },
    ]);
  });

  test("has a text for lists if the user has typed nothing", () => {
    const session = makeSession(assistant("Hello"));
    session.appendCustomMessageEntry("note", "A note.", true);
    const events = readLines(exportFor("codex", session, options)).filter(({ type }) => type === "event_msg");
    expect(events.map(({ payload }) => payload)).toMatchObject([
      { type: "agent_message", message: "Hello" },
      { type: "user_message", message: "A note." },
    ]);
  });

  test("has a time for a message without one", () => {
    const session = makeSession(user("Hi", 0));
    expect(readLines(exportFor("codex", session, options))[1]?.["timestamp"]).toBe(
      session.getEntries()[0]?.timestamp,
    );
  });
});

describe("calls and results", () => {
  test("follow their answer, each with its id; of OpenAI's ids, only the part that pairs them remains", () => {
    const calls = [call("call_1|fc_9", "bash", { command: "ls" }), call("toolu_2", "read", "a")];
    const { items, codes } = writeItems(
      user("Look"),
      assistant("I look.", {}, ...calls),
      toolResult("call_1|fc_9", "a"),
      toolResult("toolu_2", ""),
    );
    expect(items.slice(1)).toEqual([
      said("assistant", "I look."),
      { type: "function_call", call_id: "call_1", name: "bash", arguments: '{"command":"ls"}' },
      { type: "function_call", call_id: "toolu_2", name: "read", arguments: '{"path":"a"}' },
      { type: "function_call_output", call_id: "call_1", output: "a" },
      { type: "function_call_output", call_id: "toolu_2", output: "" },
    ]);
    expect(codes).toEqual(["TOOLS_FOREIGN", "BLOCK_DROPPED"]);
  });

  test("stay text calls for a tool with text input, without their items' ids", () => {
    const { items } = writeItems(
      user("Patch"),
      assistant("", {}, call("call_1|ctc_2", "apply_patch", { input: "*** Begin Patch" })),
      toolResult("call_1|ctc_2", "Done"),
    );
    expect(items.slice(1)).toEqual([
      { type: "custom_tool_call", call_id: "call_1", name: "apply_patch", input: "*** Begin Patch" },
      { type: "custom_tool_call_output", call_id: "call_1", output: "Done" },
    ]);
  });

  test("lose the failed state of a result, with an issue for each", () => {
    const { codes } = writeItems(
      user("Run"),
      assistant("", {}, call("a", "exec_command"), call("b", "exec_command")),
      toolResult("a", "exit 1", true),
      toolResult("b", "exit 2", true),
      assistant("Both failed."),
    );
    expect(codes.filter((code) => code === "FLAG_DROPPED")).toHaveLength(2);
  });

  test("are complete where the session ends in an open call", () => {
    const { items, codes } = writeItems(user("Run"), assistant("", {}, call("a", "exec_command")));
    expect(items.at(-1)).toMatchObject({ type: "function_call_output", call_id: "a" });
    expect(codes).toEqual(["PAIR_REPAIRED", "BLOCK_DROPPED"]);
  });
});

test("keep images in prompts and results, and report those of a type that no provider accepts", () => {
  const odd = { type: "image", data: "AAAA", mimeType: "image/tiff" } as const;
  const result = { ...toolResult("a", "Seen"), content: [image] };
  const { items, codes } = writeItems(
    { role: "user", content: [{ type: "text", text: "See" }, image, odd], timestamp: 1 },
    assistant("", {}, call("a", "view_image")),
    result,
  );
  const part = { type: "input_image", detail: "auto", image_url: "data:image/png;base64,iVBORw0KGgo=" };
  expect(items[0]).toMatchObject({ content: [{ text: "See" }, part, { text: "[image: image/tiff]" }] });
  expect(items.at(-1)).toMatchObject({ type: "function_call_output", output: [part] });
  expect(codes).toEqual(["IMAGE_LEFT_OUT", "BLOCK_DROPPED"]);
});

test("omit and report thinking, instructions, other branches, and unfinished answers", () => {
  const thinking = { type: "thinking", thinking: "Hm", thinkingSignature: "sig" } as const;
  const session = makeSession(
    { role: "system", content: "Be brief.", timestamp: 1 },
    user("Hi"),
    assistant([thinking, { type: "text", text: "Hello" }]),
    user("Another branch"),
  );
  const [, , answer] = session.getEntries();
  session.branch(answer?.id ?? "");
  session.appendMessage(user("Go on"));
  session.appendMessage(assistant("I was", { stopReason: "aborted" }));
  const exported = exportFor("codex", session, options);
  expect(readRollout(exported)).toEqual([
    { kind: "user", text: "Hi" },
    { kind: "model", text: "Hello" },
    { kind: "user", text: "Go on" },
  ]);
  expect(exported.issues).toMatchObject([
    { code: "SYSTEM_LEFT_OUT" },
    { code: "BRANCHES_LEFT_OUT", message: "Left out 1 message that is not on this path." },
    { code: "THINKING_DROPPED", entryId: answer?.id },
    { code: "MESSAGE_DROPPED", entryId: session.getLeafId() },
  ]);
});

test("export summaries, commands, and extension messages as user text, not as prompts", () => {
  const session = makeSession(user("Hi"), assistant("Hello"));
  session.appendCustomMessageEntry("note", "A note.", false);
  session.appendCustomEntry("codex.context", { content: "<permissions>" });
  session.appendMessage({
    ...{ role: "bashExecution", command: "ls", output: "a", exitCode: 0 },
    ...{ cancelled: false, truncated: false, timestamp: 1 },
  });
  session.branchWithSummary(session.getLeafId(), "Tried in vain.");
  const exported = exportFor("codex", session, options);
  expect(readRollout(exported)).toEqual(readContext("codex", session));
  const texts = readRollout(exported).map((one) => ("text" in one ? one.text : ""));
  expect(texts).toEqual([
    ...["Hi", "Hello", "A note.", expect.stringContaining("Ran `ls`")],
    expect.stringContaining("Tried in vain."),
  ]);
  const events = readLines(exported).filter(({ type }) => type === "event_msg");
  expect(events).toHaveLength(2);
});

describe("a compaction", () => {
  function makeCompacted() {
    const session = makeSession(user("First"), assistant("One"), user("Second"), assistant("Two"));
    session.appendCompaction("They counted.", session.getEntries()[2]?.id ?? null, 900);
    session.appendMessage(user("Third"));
    return session;
  }
  const names = (lines: ReturnType<typeof readLines>) => lines.map(({ type }) => type);

  test("becomes one of Codex's with what it kept, and nothing before it", () => {
    const session = makeCompacted();
    const exported = exportFor("codex", session, options);
    expect(readRollout(exported)).toEqual(readContext("codex", session));
    const lines = readLines(exported);
    expect(names(lines)).toEqual([
      ...["session_meta", "event_msg", "event_msg", "compacted"],
      ...["response_item", "event_msg", "sessiontree"],
    ]);
    const { payload } = lines[3] ?? {};
    const summary = expect.stringContaining("They counted.");
    expect(payload).toEqual({
      message: summary,
      replacement_history: [
        { type: "message", role: "user", content: [{ type: "input_text", text: summary }] },
        said("user", "Second"),
        said("assistant", "Two"),
      ],
    });
  });

  test("follows what it summarized in an export of the whole path", () => {
    const session = makeCompacted();
    const exported = exportFor("codex", session, { ...options, compacted: "whole" });
    expect(readRollout(exported)).toEqual(readContext("codex", session));
    const lines = readLines(exported);
    const items = lines.flatMap(({ type, payload }) => (type === "response_item" ? [payload] : []));
    expect(items).toEqual([
      ...[said("user", "First"), said("assistant", "One"), said("user", "Second")],
      ...[said("assistant", "Two"), said("user", "Third")],
    ]);
    expect(names(lines).indexOf("compacted")).toBe(9);
    expect(names(lines).filter((name) => name === "event_msg")).toHaveLength(5);
  });
});
