import { appendFileSync } from "node:fs";
import { expect, test } from "vitest";
import { cli, jsonLines, TERMINAL, temporaryFolder, widest } from "./support/cli.ts";
import { Scribe, writeLines } from "./support/sessions.ts";

/** Tokens and cost of a reply. */
function usage(input: number, output: number, cacheRead: number, cost: number) {
  const parts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  return {
    ...parts,
    input,
    output,
    cacheRead,
    totalTokens: input + output + cacheRead,
    cost: { ...parts, total: cost },
  };
}

/** A session of two models with tool calls, one of which failed. */
function counted() {
  const scribe = new Scribe(temporaryFolder());
  scribe.session.appendSessionInfo("Counting");
  scribe.user("Count");
  scribe.call("bash", { command: "wc" }, "call-1");
  scribe.result("no", true, "call-1");
  scribe.assistant("One", { usage: usage(1000, 200, 3000, 1.5) });
  scribe.assistant("Two", { model: "other", usage: usage(1000, 100, 0, 0.02) });
  return scribe;
}

/** Returns the cells of the row with a prefix. */
function cells(lines: readonly string[], start: string): string[] | undefined {
  return lines.find((line) => line.startsWith(start))?.split(/ {2,}/);
}

test("counts messages, tool calls, tokens, and cost, by model and in total", async () => {
  const { path } = counted();
  const { code, lines } = await cli(["stats", path]);
  expect(code).toBe(0);
  expect(cells(lines, "name")).toEqual(["name", "Counting"]);
  expect(cells(lines, "created")?.[1]).toMatch(/^2026-02-03 22:\d\d, 6 days ago$/);
  expect(cells(lines, "messages")).toEqual(["messages", "5: 3 assistant, 1 user, 1 tool result"]);
  expect(cells(lines, "tool calls")).toEqual(["tool calls", "1: bash 1; 1 failed"]);
  expect(cells(lines, "context")).toEqual(["context", "1,100 tokens, counted by the model"]);
  expect(cells(lines, "cache")).toEqual(["cache", "served 60 % of all input"]);
  expect(lines).toContainEqual(expect.stringMatching(/^ +all input +cache read +written +output +cost$/));
  expect(cells(lines, "anthropic/claude")).toEqual([
    ...["anthropic/claude", "4,010", "3,000", "0", "205", "$1.50"],
  ]);
  expect(cells(lines, "anthropic/other")).toEqual(["anthropic/other", "1,000", "0", "0", "100", "$0.0200"]);
  expect(cells(lines, "total")).toEqual(["total", "5,010", "3,000", "0", "305", "$1.52"]);
});

test("the duration of a session is that of its messages, whenever it was named", async () => {
  const { session, path } = counted();
  const named = { type: "session_info", id: "late", parentId: session.getLeafId(), name: "Counted" };
  appendFileSync(path, `${JSON.stringify({ ...named, timestamp: "2027-02-03T22:00:00.000Z" })}\n`);
  const span = expect.stringMatching(/^2026-02-03 22:\d\d – 22:\d\d/);
  expect(cells((await cli(["stats", path])).lines, "time")).toEqual(["time", span]);
  expect(cells((await cli(["stats", path])).lines, "time")?.[1]).toMatch(/, 4 min$/);
  const [, , , third = ""] = session.getPathIds();
  expect(cells((await cli(["stats", path, "--leaf", third])).lines, "time")?.[1]).toMatch(/, 2 min$/);
  expect(cells((await cli(["show", path])).lines, "time")).toEqual(["time", span]);
  expect((await cli(["tree", path], TERMINAL)).stdout).toMatch(/22:03 – 22:07, 7 entries/);
  expect((await cli(["export", path, "--markdown"])).stdout).not.toContain("2027");
});

test("--window shows how full the context is", async () => {
  const { lines } = await cli(["stats", counted().path, "--window", "2200"]);
  expect(cells(lines, "context")).toEqual(["context", "1,100 tokens, counted by the model; 50 % of 2,200"]);
});

test("--leaf counts the path to an entry, and shows the context's size there", async () => {
  const { session, path } = counted();
  const [, , , third = "", fourth = ""] = session.getPathIds();
  session.branch(third);
  session.appendMessage({ role: "user", content: "Aside", timestamp: 0 });
  const { lines } = await cli(["stats", path, "--leaf", fourth]);
  expect(cells(lines, "entries")?.[1]).toBe(`5 on the path to ${fourth}`);
  expect(cells(lines, "context")?.[1]).toBe("4,200 tokens, counted by the model");
  expect(lines.at(-1)).toMatch(/\$1\.50$/);
  const [json] = jsonLines(await cli(["stats", path, "--leaf", third, "--json"]));
  expect(json).toMatchObject({ leafId: third, entryCount: 4, usage: { cost: null } });
  expect(jsonLines(await cli(["stats", path, "--json"]))[0]).not.toHaveProperty("leafId");
  expect((await cli(["stats", path, "--leaf", "gone"])).stderr).toContain("Entry gone not found");
});

test("a fork counts only its new entries; --inherited counts the rest, too", async () => {
  const { session } = counted();
  const fork = session.fork();
  const path = fork.getSessionFile() ?? "";
  const { lines } = await cli(["stats", path]);
  expect(cells(lines, "messages")).toEqual(["messages", "none"]);
  expect(cells(lines, "inherited")).toEqual(["inherited", "6 entries, 5,315 tokens, $1.52"]);
  expect(lines.at(-1)).toBe("No usage is recorded.");
  const whole = await cli(["stats", path, "--inherited"]);
  expect(cells(whole.lines, "total")?.at(-1)).toBe("$1.52");
});

test("--json prints the library's counts", async () => {
  const { path } = counted();
  const [stats] = jsonLines(await cli(["stats", path, "--json"]));
  expect(stats).toMatchObject({
    ...{ path, name: "Counting", entryCount: 6 },
    messages: { total: 5, byRole: { user: 1, assistant: 3, toolResult: 1 } },
    toolCalls: { total: 1, failed: 1, byName: { bash: 1 } },
    usage: { count: 3, input: 2010, totalTokens: 5315 },
    context: { tokens: 1100, contextWindow: null, percent: null },
  });
});

test("a session without messages has no numbers to show", async () => {
  const path = writeLines(temporaryFolder(), "empty.jsonl", []);
  const { code, stdout } = await cli(["stats", path]);
  expect(code).toBe(0);
  expect(stdout).toContain("\nNo usage is recorded.\n");
});

test("lines fit 80 columns and cannot control the terminal", async () => {
  const scribe = new Scribe(temporaryFolder());
  for (let i = 0; i < 20; i++) {
    const model = `\u001b[2J${"長".repeat(50)}${i}`;
    const content = [{ type: "toolCall" as const, id: `c${i}`, name: `\u001b[2J${i}`, arguments: {} }];
    scribe.assistant("", { model, content, usage: usage(1e6, 1e7, 1e8, 1e6) });
  }
  const result = await cli(["stats", scribe.path], TERMINAL);
  expect(result.stdout).toContain("8 other tools");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them is allowed
  expect(result.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  expect(
    widest({ ...result, lines: result.lines.filter((line) => !line.startsWith("file")) }),
  ).toBeLessThanOrEqual(80);
});

test("show and stats show the same numbers for the same answer", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("Count");
  const answer = scribe.assistant("One", { usage: usage(1000, 200, 3000, 0.344) });
  const show = await cli(["show", scribe.path, answer]);
  expect(show.stdout).toMatch(/^tokens +4,000 in \(3,000 from the cache\), 200 out$/m);
  expect(show.stdout).toMatch(/^cost +\$0\.34$/m);
  const { lines } = await cli(["stats", scribe.path]);
  expect(cells(lines, "anthropic/claude")).toEqual([
    "anthropic/claude",
    "4,000",
    "3,000",
    "0",
    "200",
    "$0.34",
  ]);
});

test("a very small cost is not shown as zero", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("Count");
  scribe.assistant("One", { usage: usage(10, 2, 0, 0.00001) });
  expect((await cli(["stats", scribe.path])).lines.at(-1)).toMatch(/ <\$0\.0001$/);
});

test("shows one cost of a session, with a ~ if a part is estimated; --json has both parts", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("Count");
  scribe.assistant("One", {
    provider: "anthropic",
    model: "claude-sonnet-4-5",
    usage: usage(1000, 200, 0, 1.5),
  });
  scribe.assistant("Two", {
    provider: "anthropic",
    model: "claude-sonnet-4-5",
    usage: usage(100_000, 0, 0, 0),
  });
  const { lines, stderr } = await cli(["stats", scribe.path], TERMINAL);
  expect(cells(lines, "anthropic/claude-sonnet-4-5")?.at(-1)).toBe("~$1.80");
  expect(stderr).toContain('"~": estimated in part, with the prices of');
  const [json] = jsonLines(await cli(["stats", scribe.path, "--json"]));
  expect(json).toMatchObject({ usage: { cost: 1.5 }, estimated: expect.closeTo(0.3, 5), unpriced: 0 });
});
