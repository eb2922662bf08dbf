import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { parseHookCall } from "../../../src/apps/recall/hook/hook-call.ts";
import { toRecord } from "../../../src/core/context/entry-fields.ts";
import { readFileBytes } from "../../../src/stores/file/file-store.ts";
import { readFences } from "../../contract/support/markdown.ts";
import { readText } from "../../contract/support/repository.ts";
import { PROGRAM } from "../../support/program.ts";
import { project } from "../recall/support/past.ts";
import { type CliSettings, cli, jsonLines } from "./support/cli.ts";
import { TestDatabase, URL_OF_STORE } from "./support/stores.ts";

const SILENT = { code: 0, stdout: "", stderr: "" };

/** Runs the hook in a project with an agent's input. */
function hook(
  past: { readonly folder: string; readonly sessions: string },
  input: unknown,
  args: readonly string[] = [],
  settings: CliSettings = {},
) {
  const stdin = Readable.from([typeof input === "string" ? input : JSON.stringify(input)]);
  const env = { PI_CODING_AGENT_SESSION_DIR: past.sessions };
  return cli(["recall", "--hook", ...args], { cwd: past.folder, env, stdin, ...settings });
}

const START = { hook_event_name: "SessionStart", session_id: "running", source: "startup" };

test("answers each event in the agents' format", async () => {
  const past = project();
  const common = { session_id: "running", cwd: past.folder };
  const bash = { tool_name: "Bash", tool_input: { command: "npm test -- totals" } };
  const edit = { tool_name: "replace", tool_input: { file_path: join(past.folder, "src/totals.ts") } };
  const inputs = [
    { ...common, ...START },
    { ...common, hook_event_name: "PostToolUseFailure", ...bash, error: "RangeError: expected 1, got 2" },
    { ...common, hook_event_name: "AfterTool", ...edit, tool_response: { llmContent: "updated" } },
  ];
  for (const input of inputs) {
    const { code, stdout, stderr, lines } = await hook(past, input, [], { cwd: "/elsewhere" });
    expect({ code, stderr, lines: lines.length }).toEqual({ code: 0, stderr: "", lines: 1 });
    expect(JSON.parse(stdout)).toEqual({
      hookSpecificOutput: {
        hookEventName: input.hook_event_name,
        additionalContext: expect.stringMatching(/^<past-sessions>\n[\s\S]*\n<\/past-sessions>/),
      },
    });
  }
});

test.each([
  "",
  "no JSON",
  "[1]",
  "null",
  '{"hook_event_name":',
  { hook_event_name: "Stop" },
  { ...START, cwd: "/nowhere" },
  { ...START, cwd: 7, session_id: [] },
  `{"hook_event_name": "SessionStart", "more": "${"x".repeat(5_000_000)}"}`,
])("prints nothing for input of another kind, and the reason on request", async (input) => {
  const past = project();
  const outside = { ...past, folder: join(past.folder, "other") };
  expect(await hook(outside, input)).toMatchObject(SILENT);
  const { stdout, stderr, code } = await hook(outside, input, ["--verbose"]);
  expect({ stdout, code }).toEqual({ stdout: "", code: 0 });
  expect(stderr).toMatch(/^(?:Past sessions .*|There is nothing .*|--hook reads at most .*)\.\n$/);
});

test("prints nothing without stdin, without time, or without a readable session", async () => {
  const past = project();
  expect(await cli(["recall", "--hook"], { cwd: past.folder })).toMatchObject(SILENT);
  expect(await hook(past, START, [], { deadline: AbortSignal.abort() })).toMatchObject(SILENT);
  expect(await hook(past, START, ["--dir", join(past.folder, "none")])).toMatchObject(SILENT);
  expect(await hook(past, START, ["--secrets", "none"])).toMatchObject(SILENT);
  const { stderr } = await hook(past, START, ["--secrets", "none", "--verbose"]);
  expect(stderr).toContain("none has no patterns of secrets");
});

test("its exit code is 0 whatever the error, unless a person calls it", async () => {
  expect(await cli(["recall", "--hook", "--unknown"])).toMatchObject({ code: 0, stdout: "" });
  expect(await cli(["recall", "--hook", "--store", "nonsense"])).toMatchObject({ code: 0, stdout: "" });
  expect(await cli(["recall"])).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining("sessiontree recall --hook"),
  });
});

test("uses the project given by the agent, a folder, or a database", async () => {
  const past = project();
  const below = { ...START, cwd: join(past.folder, "src") };
  expect(await hook(past, below)).toMatchObject(SILENT);
  const env = { PI_CODING_AGENT_SESSION_DIR: past.sessions };
  for (const name of ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "QWEN_PROJECT_DIR"]) {
    const named = await hook(past, below, [], { env: { ...env, [name]: past.folder } });
    expect(jsonLines(named)).toHaveLength(1);
  }
  expect(jsonLines(await hook(past, below, ["--project", past.folder]))).toHaveLength(1);
  expect(jsonLines(await hook(past, below, ["--dir", past.sessions], { env: {} }))).toHaveLength(1);
  const stores = new TestDatabase();
  await stores.store().importBytes(readFileBytes(past.scribe.path));
  const stored = await hook(past, START, ["--store", URL_OF_STORE], { stores });
  expect(jsonLines(stored)).toHaveLength(1);
  expect(stores.closed).toBe(stores.opened.length);
});

test("hides matches of patterns", async () => {
  const past = project();
  writeFileSync(join(past.folder, "secrets.txt"), "round each line\n");
  const { stdout } = await hook(past, START, ["--secrets", "secrets.txt"]);
  expect(stdout).toContain("answered: Fixed: [secret] of the receipt.");
});

test("exits even if the agent never closes its input", async () => {
  const { folder } = project();
  const child = spawn(process.execPath, [PROGRAM, "recall", "--hook"], {
    cwd: folder,
    env: { ...process.env, HOME: folder, SESSIONTREE_HOOK_MS: "1" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.write('{"hook_event_name":');
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  expect({ stdout, stderr, code }).toEqual({ stdout: "", stderr: "", code: 0 });
});

test("the documented settings call the hook at events that it answers", () => {
  const pushed = readText("docs/recall.md")
    .split(/^## /m)
    .find((part) => part.startsWith("Push it"));
  const settings = readFences(pushed ?? "").flatMap(({ language, code }) =>
    language === "json" ? toRecord(toRecord(JSON.parse(code))["hooks"]) : [],
  );
  const edit = { tool_name: "edit", tool_input: { file_path: "a.ts" } };
  const failed = {
    tool_name: "Bash",
    tool_input: { command: "make" },
    tool_response: "error: x",
    error: "x",
  };
  expect(settings).toHaveLength(4);
  for (const events of settings) {
    const commands = new Set(JSON.stringify(events).match(/"command":"[^"]*"/g));
    expect([...commands]).toEqual(['"command":"sessiontree recall --hook"']);
    const kinds = Object.keys(toRecord(events)).flatMap((hook_event_name) =>
      [edit, failed].map((fields) => parseHookCall({ hook_event_name, ...fields })?.event.kind),
    );
    expect(new Set(kinds.filter(Boolean))).toEqual(new Set(["start", "failure", "edit"]));
  }
});
