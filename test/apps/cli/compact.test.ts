import { readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { cli, jsonLines, TERMINAL, temporaryFolder, widest } from "./support/cli.ts";
import { Scribe } from "./support/sessions.ts";

/** A session of two turns that read and edit a file, and a third in progress. */
function atWork() {
  const scribe = new Scribe(temporaryFolder());
  for (const turn of ["one", "two", "three"]) {
    scribe.user(`Please do ${turn}: ${turn.repeat(100)}`);
    scribe.call("read", { path: `${turn}.ts` }, `read-${turn}`);
    scribe.result("x".repeat(400), false, `read-${turn}`);
    scribe.call("edit", { path: `${turn}.ts` }, `edit-${turn}`);
    scribe.result("done", false, `edit-${turn}`);
    scribe.assistant("Here it is. ".repeat(20));
  }
  return scribe;
}

test("a dry run explains the plan and changes nothing", async () => {
  const { path } = atWork();
  const before = [readFileSync(path, "utf8"), statSync(path).mtimeMs];
  const { code, lines, stdout } = await cli(["compact", path, "--keep", "60", "--dry-run"]);
  expect(code).toBe(0);
  expect(lines[0]).toMatch(/^Context: 15 tokens as counted by the provider → about \d+$/);
  const row = (name: string) => lines.find((line) => line.startsWith(name))?.replace(/\s+/g, " ");
  expect(row("summarized")).toMatch(/^summarized 12 \d+ 2 user, 6 assistant, 4 tool results$/);
  expect(row("split turn")).toMatch(/^split turn 5 \d+ 1 user, 2 assistant, 2 tool results$/);
  expect(row("kept")).toMatch(/^kept 1 60 1 assistant$/);
  expect(row("Cut before")).toMatch(/^Cut before [0-9a-f]{8} assistant Here it is\./);
  expect(stdout).toContain("The cut falls inside a turn");
  expect(stdout).toContain("\n3 files modified\n  one.ts\n  three.ts\n  two.ts\n");
  expect(lines.at(-1)).toBe("Nothing was changed; this is the plan.");
  expect([readFileSync(path, "utf8"), statSync(path).mtimeMs]).toEqual(before);
});

test("without --dry-run appends a summary that was created without a model", async () => {
  const { path } = atWork();
  const [plan] = jsonLines(await cli(["compact", path, "--keep", "300", "--dry-run", "--json"]));
  const { code, lines } = await cli(["compact", path, "--keep", "300"]);
  const session = SessionManager.open(path);
  expect(code).toBe(0);
  expect(lines.at(-1)).toBe(`Compacted without a model: entry ${session.getLeafId()} contains the summary.`);
  expect(session.getLeafEntry()).toMatchObject({
    type: "compaction",
    firstKeptEntryId: Object(plan).firstKeptEntryId,
    summary: expect.stringContaining("Please do one"),
    details: { withoutModel: true, modifiedFiles: Object(plan).modifiedFiles },
  });
});

test("compacting again updates the summary", async () => {
  const scribe = atWork();
  await cli(["compact", scribe.path, "--keep", "60"]);
  scribe.session.refresh();
  scribe.session.branch(SessionManager.open(scribe.path).getLeafId() ?? "");
  scribe.user("Four");
  scribe.assistant("Four it is. ".repeat(40));
  const { stdout } = await cli(["compact", scribe.path, "--keep", "60", "--dry-run"]);
  expect(stdout).toContain("The previous summary is updated.");
});

test("--json has plan and result with all files and roles", async () => {
  const { path } = atWork();
  const [result] = jsonLines(await cli(["compact", path, "--keep", "60", "--json"]));
  expect(result).toMatchObject({
    ...{ path, isDryRun: false, isSplitTurn: true, updatesSummary: false, tokensBefore: 15 },
    summarized: { messageCount: 12, byRole: { user: 2, assistant: 6, toolResult: 4 } },
    turnPrefix: { messageCount: 5 },
    kept: { messageCount: 1, estimatedTokens: 60 },
    ...{ readFiles: [], modifiedFiles: ["one.ts", "three.ts", "two.ts"] },
    compacted: { entry: SessionManager.open(path).getLeafId(), summary: expect.any(String) },
  });
});

test("if there is nothing to compact, it reports why and does nothing", async () => {
  const { path } = atWork();
  const before = readFileSync(path, "utf8");
  const { code, stdout } = await cli(["compact", path]);
  expect(code).toBe(0);
  expect(stdout).toBe(
    "Nothing to compact: everything not yet summarized is recent; a smaller --keep summarizes more.\n",
  );
  expect(readFileSync(path, "utf8")).toBe(before);
  await cli(["compact", path, "--keep", "60"]);
  expect(jsonLines(await cli(["compact", path, "--keep", "60", "--json"]))).toEqual([
    { id: "0198aaaa-0000-7000-8000-000000000001", path, isDryRun: false, skipped: "justCompacted" },
  ]);
});

test.each(["0", "-5", "many", "1.5", "1e3"])("--keep %s is wrong usage", async (keep) => {
  const { code, stderr } = await cli(["compact", "x.jsonl", `--keep=${keep}`]);
  // The command searches for the session first.
  expect([code, stderr.split("\n").length]).toEqual([1, 2]);
  const { path } = atWork();
  const wrong = await cli(["compact", path, `--keep=${keep}`]);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain("--keep <tokens> must be a whole number, 1 or more.");
});

test("a missing session is not created", async () => {
  const path = `${temporaryFolder()}/missing.jsonl`;
  expect((await cli(["compact", path])).stderr).toMatch(/^sessiontree: There is no session at /);
  expect(() => statSync(path)).toThrow();
});

test("the plan fits 80 columns and cannot control the terminal", async () => {
  const scribe = new Scribe(temporaryFolder());
  for (let i = 0; i < 20; i++) {
    scribe.user(`\u001b[2J${"長い".repeat(60)}`);
    scribe.call("read", { path: `${"深".repeat(70)}\u001b[2J${i}` }, `call-${i}`);
    scribe.result("\u009b2J", false, `call-${i}`);
  }
  const result = await cli(["compact", scribe.path, "--keep", "100", "--dry-run"], TERMINAL);
  expect(result.stdout).toContain("and 6 more");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them is allowed
  expect(result.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  expect(widest(result)).toBeLessThanOrEqual(80);
});
