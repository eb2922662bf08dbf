import { expect, test } from "vitest";
import { toAnthropic } from "../../../src/interop/convert/anthropic/to-anthropic.ts";
import { foreignEntry } from "../../support/messages.ts";
import { cli, jsonLines, TERMINAL, temporaryFolder, widest } from "./support/cli.ts";
import { Scribe, writeLines } from "./support/sessions.ts";

/** A session with a branch, a compaction, and a tool call without a result. */
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

test("prints one line per message that the model sees, in order, with entry and tokens", async () => {
  const { scribe, kept } = compacted();
  const { code, lines } = await cli(["context", scribe.path]);
  expect(code).toBe(0);
  expect(lines.slice(0, 4)).toEqual([
    "anthropic/claude, thinking high",
    "context: 15 tokens, counted by the model",
    "4 messages; the tokens of each are estimated",
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

test("--leaf shows the context at another entry, and moves nothing", async () => {
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

test("--before shows the model's context when it wrote an answer, or the call of a result", async () => {
  const scribe = new Scribe(temporaryFolder());
  const question = scribe.user("Run the tests.");
  const cost = { input: 0.01, output: 0.002, cacheRead: 0, cacheWrite: 0, total: 0.012 };
  const usage = { input: 900, output: 40, cacheRead: 8000, cacheWrite: 100, totalTokens: 9040, cost };
  const first = scribe.call("bash", { command: "npm test" }, "a");
  const call = scribe.assistant("", {
    content: [
      { type: "toolCall", id: "b", name: "bash", arguments: { command: "make" } },
      { type: "toolCall", id: "c", name: "bash", arguments: { command: "make check" } },
    ],
    usage,
  });
  scribe.result("done", false, "b");
  const result = scribe.result("no rule to make check", true, "c");
  const end = scribe.assistant("There is no such rule.");
  for (const name of [call, result]) {
    const { lines, stdout } = await cli(["context", scribe.path, "--before", name], { columns: 200 });
    expect(lines[2]).toBe(
      `before assistant ${call}: anthropic/claude, tokens: 9,000 in (8,000 from the cache, 100 written to it), 40 out, $0.0120`,
    );
    // The rest of the request counts, too.
    expect(lines[1]).toBe("context: 9,000 tokens, counted by the model");
    expect(lines[3]).toBe("2 messages; the tokens of each are estimated");
    expect(stdout).toContain("Run the tests.");
    expect(stdout).toContain("→ bash npm test");
    expect(stdout).not.toContain("→ bash make");
  }
  const before = async (name: string, ...more: string[]) =>
    cli(["context", scribe.path, "--before", name, ...more], { columns: 200 });
  expect((await before(end)).stdout).toContain("no rule to make check");
  expect((await before(first)).lines).toHaveLength(6);
  expect((await before(question)).stdout).toContain("0 messages;");
  expect((await before("@leaf")).stdout).toContain(`before assistant ${end}`);
  const [json] = jsonLines(await before(first, "--json"));
  expect(json).toMatchObject({ messages: [{ role: "user" }] });
  const both = await before(end, "--leaf", end);
  expect([both.code, both.stderr]).toEqual([
    2,
    expect.stringMatching(/^sessiontree: Give --leaf or --before, not both\./),
  ]);
});

test("--before shows the model that wrote the answer, not that of the previous answer", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("Hello.");
  scribe.assistant("Hello from the small one.", { provider: "acme", model: "small" });
  scribe.user("And the large one?");
  const answer = scribe.assistant("Here.", { provider: "acme", model: "large" });
  const { lines } = await cli(["context", scribe.path, "--before", answer]);
  expect(lines[0]).toBe("acme/large, thinking off");
  const [json] = jsonLines(await cli(["context", scribe.path, "--before", answer, "--json"]));
  expect(json).toMatchObject({ model: { provider: "acme", modelId: "large" } });
  expect((await cli(["context", scribe.path])).lines[0]).toBe("acme/large, thinking off");
});

test("--tail shows the last messages, and reports that there are more", async () => {
  const { scribe } = compacted();
  const { lines } = await cli(["context", scribe.path, "--tail", "2"]);
  expect(lines[2]).toBe("4 messages, the last 2 shown; the tokens of each are estimated");
  expect(lines.slice(4).map((line) => line.slice(9).replace(/\s+/g, " "))).toEqual([
    "command 1 $ ls",
    "assistant 5 → read a.ts",
  ]);
  expect((await cli(["context", scribe.path, "--tail", "9"])).lines[2]).not.toContain("last");
  const [json] = jsonLines(await cli(["context", scribe.path, "--tail", "1", "--json"]));
  expect(json).toMatchObject({ messages: [{ role: "assistant" }], context: { tokens: 15 }, total: 4 });
});

test("--json prints what an agent would load", async () => {
  const { scribe } = compacted();
  const [context] = jsonLines(await cli(["context", scribe.path, "--json"]));
  const loaded: unknown = JSON.parse(JSON.stringify(scribe.session.buildSessionContext()));
  const size = { context: { tokens: 15, usageTokens: 15, trailingTokens: 0 } };
  const entryIds = scribe.session
    .buildSessionProjection()
    .entries.flatMap(({ sourceEntry, messages }) => messages.map(() => sourceEntry.id));
  expect(context).toEqual({ ...size, total: entryIds.length, entries: entryIds, ...Object(loaded) });
});

test("--llm prints a valid request, and reports repairs", async () => {
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

test("--llm omits failed and aborted answers with the results of their calls, as every request does", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("Go.");
  const failed = scribe.assistant("", { content: [], stopReason: "error", errorMessage: "overloaded" });
  const aborted = scribe.assistant("", {
    content: [{ type: "toolCall", id: "a", name: "bash", arguments: {} }],
    stopReason: "aborted",
  });
  scribe.result("stopped", true, "a");
  scribe.assistant("Done.");
  const [context] = jsonLines(await cli(["context", scribe.path, "--llm", "--json"]));
  expect(context).toMatchObject({
    messages: [{ role: "user" }, { role: "assistant", stopReason: "stop" }],
    leftOut: [failed, aborted],
  });
  const { messages } = toAnthropic(scribe.session.buildSessionContext().messages);
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  const { stdout } = await cli(["context", scribe.path, "--llm"]);
  expect(stdout).toContain("2 messages;");
  expect(stdout).toContain("Left out: 2 unfinished answers, which providers do not receive");
  expect((await cli(["context", scribe.path])).stdout).toContain("5 messages;");
});

test("--llm shows a late result at the position required by a model with signed thinking", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("Run it.");
  const content = [{ type: "toolCall" as const, id: "a", name: "bash", arguments: {} }];
  const called = scribe.assistant("", { content, stopReason: "toolUse" });
  const asked = scribe.user("And?");
  const answered = scribe.assistant("It runs.", { model: "claude-opus-5-5" });
  const late = scribe.result("green", false, "a");
  const [context] = jsonLines(await cli(["context", scribe.path, "--llm", "--json"]));
  expect(context).toMatchObject({
    messages: [{}, {}, { role: "toolResult" }, {}, {}, { role: "user" }],
    entries: [expect.any(String), called, null, asked, answered, late],
    repairs: [{ kind: "resultMade" }, { kind: "resultQuoted" }],
  });
});

test("a session without messages has an empty context", async () => {
  const path = writeLines(temporaryFolder(), "empty.jsonl", []);
  const { code, stdout } = await cli(["context", path]);
  expect(code).toBe(0);
  expect(stdout).toBe(
    "no model, thinking off\ncontext: about 0 tokens, estimated\n0 messages; the tokens of each are estimated\n",
  );
});

test("lines fit 80 columns and cannot control the terminal", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.session.appendModelChange("\u001b[2J", "長".repeat(100));
  scribe.user(`\u001b[2J${"長".repeat(100)}`);
  scribe.session.append(foreignEntry({ type: "message", message: { role: "\u001b[2J", content: "odd" } }));
  const result = await cli(["context", scribe.path], TERMINAL);
  expect(widest(result)).toBeLessThanOrEqual(80);
  expect(result.stdout).not.toContain("\u001b");
});

test("--changes shows which request did not continue the previous one, and why", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("First");
  const first = scribe.assistant("One");
  scribe.user("Second");
  const second = scribe.assistant("Two");
  const none = await cli(["context", scribe.path, "--changes"]);
  expect(none.lines).toEqual(["0 requests on this branch did not continue the previous request."]);
  const compaction = scribe.session.appendCompaction("Notes", second, 10);
  scribe.user("Third");
  const third = scribe.assistant("Three");
  const { lines } = await cli(["context", scribe.path, "--changes"]);
  expect(lines.slice(2).join(" ")).toMatch(
    new RegExp(`^${third}: Message 0 \\(entry \\w+\\) differs because of the compaction ${compaction}\\.$`),
  );
  const [json] = jsonLines(await cli(["context", scribe.path, "--changes", "--json"]));
  expect(json).toMatchObject({ changes: [{ fromId: second, toId: third, causedBy: compaction, index: 0 }] });
  expect(first).not.toBe(second);
});

test.each([40, 80])("--full prints the whole text of each message, in %i columns, too", async (columns) => {
  const scribe = new Scribe(temporaryFolder());
  const long = Array.from({ length: 100 }, (_, i) => `line ${i + 1} ${"word ".repeat(50)}\u001b[2Jend`).join(
    "\n",
  );
  scribe.user(long);
  scribe.call("bash", { command: "npm test" });
  const { stdout } = await cli(["context", scribe.path, "--full"], { columns, env: { NO_COLOR: "1" } });
  expect(stdout).toContain(`user           `);
  expect(stdout).toContain(`\n\nline 1 ${"word ".repeat(50)}`);
  expect(stdout).toContain("\nline 100 ");
  expect(stdout).not.toContain("\u001b");
  expect(stdout).toContain('\n\n→ bash\n{\n  "command": "npm test"\n}\n');
  const short = await cli(["context", scribe.path], { columns, env: { NO_COLOR: "1" } });
  expect(short.stdout).not.toContain("line 100 ");
});
