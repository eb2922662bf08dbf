import { expect, test } from "vitest";
import { cli, jsonLines, temporaryFolder, widest } from "./support/cli.ts";
import { Scribe, writeLines } from "./support/sessions.ts";

/** A session with a branch, a compaction and a tool call without result. */
function compacted() {
  const scribe = new Scribe(temporaryFolder());
  const { session } = scribe;
  session.appendModelChange("anthropic", "claude");
  session.appendThinkingLevelChange("high");
  scribe.user("Long ago");
  const side = scribe.assistant("Side");
  session.branch(side);
  const kept = scribe.user("Not long ago");
  session.appendCompaction("What was before", kept, 1234);
  session.appendMessage({
    role: "bashExecution",
    command: "ls",
    output: "a",
    exitCode: 0,
    cancelled: false,
    truncated: false,
    timestamp: 0,
  });
  scribe.call("read", { path: "a.ts" });
  return { scribe, side, kept };
}

test("one line for each message that the model sees, in its order, with entry and tokens", async () => {
  const { scribe, kept } = compacted();
  const { code, lines } = await cli(["context", scribe.path]);
  expect(code).toBe(0);
  expect(lines.slice(0, 4)).toEqual([
    "anthropic/claude, thinking high",
    "context: 15 tokens, counted by the model",
    "4 messages, each estimated alone: 13 tokens in all",
    "",
  ]);
  expect(lines.slice(4).map((line) => line.slice(9).replace(/\s+/g, " "))).toEqual([
    "compaction 4 What was before",
    "user 3 Not long ago",
    "command 1 $ ls",
    "assistant 5 → read a.ts",
  ]);
  expect(lines[5]).toMatch(new RegExp(`^${kept} `));
});

test("--leaf shows it at another entry, and moves nothing", async () => {
  const { scribe, side } = compacted();
  for (const name of [side, side.slice(0, 7)]) {
    const { stdout } = await cli(["context", scribe.path, "--leaf", name]);
    expect(stdout).toContain("2 messages");
    expect(stdout).toContain("Long ago");
    expect(stdout).not.toContain("Not long ago");
  }
  const unknown = await cli(["context", scribe.path, "--leaf", "zzzz"]);
  expect(unknown.code).toBe(1);
  expect(unknown.stderr).toMatch(/^sessiontree: Entry zzzz not found[^\n]+\n$/);
});

test("--json gives what an agent would load", async () => {
  const { scribe } = compacted();
  const [context] = jsonLines(await cli(["context", scribe.path, "--json"]));
  const loaded: unknown = JSON.parse(JSON.stringify(scribe.session.buildSessionContext()));
  const size = { context: { tokens: 15, usageTokens: 15, trailingTokens: 0 } };
  expect(context).toEqual(Object.assign(size, loaded));
});

test("--llm gives a valid request, and says what was repaired", async () => {
  const { scribe } = compacted();
  const { stdout, lines } = await cli(["context", scribe.path, "--llm"]);
  expect(stdout).toContain("5 messages");
  expect(lines.filter((line) => line.includes(" user "))).toHaveLength(3);
  expect(stdout).toMatch(/^- +tool /m);
  expect(stdout).toContain("1 repair of tool pairs");
  const [context] = jsonLines(await cli(["context", scribe.path, "--llm", "--json"]));
  expect(context).toMatchObject({
    messages: [
      { role: "user" },
      { role: "user" },
      { role: "user" },
      { role: "assistant" },
      { role: "toolResult" },
    ],
    repairs: [{ kind: "resultMade", toolCallId: "call-1" }],
  });
});

test("a session without messages has an empty context", async () => {
  const path = writeLines(temporaryFolder(), "empty.jsonl", []);
  const { code, stdout } = await cli(["context", path]);
  expect(code).toBe(0);
  expect(stdout).toBe(
    "no model, thinking off\ncontext: about 0 tokens, estimated\n0 messages, each estimated alone: 0 tokens in all\n",
  );
});

test("lines fit into 80 columns and cannot drive the terminal", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.session.appendModelChange("\u001b[2J", "長".repeat(100));
  scribe.user(`\u001b[2J${"長".repeat(100)}`);
  scribe.session.append({ type: "message", message: { role: "\u001b[2J", content: "odd" } });
  const result = await cli(["context", scribe.path]);
  expect(widest(result)).toBeLessThanOrEqual(80);
  expect(result.stdout).not.toContain("\u001b");
});
