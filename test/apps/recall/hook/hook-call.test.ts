import { expect, test } from "vitest";
import { parseHookCall } from "../../../../src/apps/recall/hook/hook-call.ts";

const COMMON = { session_id: "s1", transcript_path: "/home/a/s1.jsonl", cwd: "/projects/shop" };
const ERROR = "RangeError: expected 2997, got 2996";

/** Returns the event of a call. */
function eventOf(name: string, fields: object = {}) {
  return parseHookCall({ ...COMMON, hook_event_name: name, ...fields })?.event;
}

test("has the event in the agent's words, the session, and the folder", () => {
  expect(parseHookCall({ ...COMMON, hook_event_name: "SessionStart", source: "startup" })).toEqual({
    eventName: "SessionStart",
    sessionId: "s1",
    cwd: "/projects/shop",
    event: { kind: "start" },
  });
  expect(parseHookCall({ hook_event_name: "SessionStart" })).toMatchObject({
    sessionId: undefined,
    cwd: undefined,
  });
});

test("a continued session has no start", () => {
  expect(["clear", undefined].map((source) => eventOf("SessionStart", { source })?.kind)).toEqual([
    "start",
    "start",
  ]);
  const continued = ["resume", "compact", "branch", "fork"];
  expect(continued.map((source) => eventOf("SessionStart", { source }))).toEqual(
    continued.map(() => undefined),
  );
});

test.each([
  [
    "Claude Code",
    "PostToolUseFailure",
    {
      tool_name: "Bash",
      tool_input: { command: "npm test" },
      error: `Exit code 1\n${ERROR}`,
      is_interrupt: false,
    },
  ],
  [
    "Codex, which names no exit code",
    "PostToolUse",
    { tool_name: "Bash", tool_input: { command: "npm test" }, tool_response: `${ERROR}\n` },
  ],
  [
    "Gemini CLI",
    "AfterTool",
    {
      tool_name: "run_shell_command",
      tool_input: { command: "npm test" },
      tool_response: { llmContent: `Output: ${ERROR}\nExit Code: 1`, returnDisplay: "" },
    },
  ],
  [
    "Gemini CLI with parts",
    "AfterTool",
    {
      tool_name: "run_shell_command",
      tool_input: { command: "npm test" },
      tool_response: { llmContent: [{ text: ERROR }, "Exit Code: 2"] },
    },
  ],
  [
    "an agent whose result has an error",
    "AfterTool",
    {
      tool_name: "run_shell_command",
      tool_input: { command: "npm test" },
      tool_response: { llmContent: "", error: { message: ERROR } },
    },
  ],
])("a failed command of %s", (_agent, name, fields) => {
  expect(eventOf(name, fields)).toEqual({
    kind: "failure",
    command: "npm test",
    output: expect.stringContaining(ERROR),
  });
});

test("a command that worked or was interrupted, or another tool, has no event", () => {
  const bash = { tool_name: "Bash", tool_input: { command: "npm test" } };
  expect([
    eventOf("PostToolUse", { ...bash, tool_response: "all passed\n" }),
    eventOf("PostToolUse", { ...bash, tool_response: `${ERROR} is gone\nExit code: 0` }),
    eventOf("PostToolUse", { ...bash, tool_response: { stdout: ERROR, stderr: "" } }),
    eventOf("PostToolUseFailure", { ...bash, error: ERROR, is_interrupt: true }),
    eventOf("PostToolUseFailure", { ...bash, error: "" }),
    eventOf("PostToolUseFailure", { tool_name: "WebFetch", tool_input: {}, error: ERROR }),
    eventOf("PreToolUse", bash),
  ]).toEqual(Array.from({ length: 7 }, () => undefined));
});

test.each([
  [
    "Claude Code",
    "PreToolUse",
    "Edit",
    { file_path: "/projects/shop/a.ts", old_string: "a", new_string: "b" },
  ],
  [
    "Codex",
    "PreToolUse",
    "apply_patch",
    { command: "*** Begin Patch\n*** Update File: /projects/shop/a.ts\n@@" },
  ],
  ["Gemini CLI", "AfterTool", "replace", { file_path: "/projects/shop/a.ts" }],
  ["Qwen Code", "PostToolUse", "write_file", { file_path: "/projects/shop/a.ts", content: "" }],
])("an edit of %s", (_agent, name, tool_name, tool_input) => {
  const event = eventOf(name, { tool_name, tool_input, tool_response: { llmContent: "updated" } });
  expect(event).toEqual({ kind: "edit", paths: ["/projects/shop/a.ts"] });
});

test("of a patch of many files the first three count, each once", () => {
  const files = ["a", "a", "b", "c", "d"].map((name) => `*** Update File: ${name}.ts\n`);
  expect(
    eventOf("PreToolUse", { tool_name: "apply_patch", tool_input: { command: files.join("") } }),
  ).toEqual({
    kind: "edit",
    paths: ["a.ts", "b.ts", "c.ts"],
  });
});

test.each([
  {},
  { hook_event_name: 7 },
  { hook_event_name: "Stop" },
  { hook_event_name: "PreToolUse" },
  { hook_event_name: "PreToolUse", tool_name: 1, tool_input: [] },
  { hook_event_name: "PostToolUse", tool_name: "Bash", tool_response: null },
  { hook_event_name: "PostToolUseFailure", tool_name: "Bash", error: { nested: true } },
])("%j has no event", (input) => {
  expect(parseHookCall(input)).toBeUndefined();
});
