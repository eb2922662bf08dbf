import { expect, test } from "vitest";
import { runExample } from "./support/run-example.ts";

test("the agent prompts, calls tools, compacts, branches, forks, and is continued by another process", async () => {
  const { code, stdout, stderr, left } = await runExample("agent-runtime");
  expect(stderr).toBe("");
  expect(code).toBe(0);
  expect(left).toEqual([]);
  const lines = stdout.split("\n");
  expect(lines.filter((line) => line.length > 112)).toEqual([]);
  expect(lines.filter((line) => /^\S/.test(line))).toEqual([
    "Prompts, tools, and compaction when the window is full",
    "A wrong way, and back with a summary of it",
    "A fork, to try something else",
    "Another process continues",
  ]);
  expect(lines.filter((line) => line.includes("event"))).toEqual([
    "  event      session_start (startup)",
    "  event      session_tree with a summary",
    "  event      session_shutdown (fork)",
    "  event      session_start (fork)",
    "  event      session_start (startup)",
    "  event      session_shutdown (quit)",
    "  event      session_shutdown (quit)",
  ]);
  const sizes = /compacted {2}from (\d+) to about (\d+) tokens/.exec(stdout)?.slice(1).map(Number) ?? [];
  expect(sizes).toHaveLength(2);
  expect(sizes[1]).toBeLessThan(sizes[0] ?? 0);
  expect(stdout).toContain("tool       write mean.md: wrote mean.md");
  expect(stdout).toContain('resumed    "North wall"');
  expect(stdout).toContain("back here  the other process appended 2 entries to the fork");
  expect(stdout).toContain("this fork: 4 messages, 1 tool call");
});

test("the extension makes its own compactions and keeps state that follows the tree", async () => {
  const { code, stdout, stderr, left } = await runExample("extension");
  expect(stderr).toBe("");
  expect(code).toBe(0);
  expect(left).toEqual([]);
  expect(stdout.trim().split("\n")).toEqual([
    "A compaction of its own",
    "  compacted by the extension",
    "  | What was decided so far:",
    "  | - we build it of brick",
    "",
    "State that follows the tree",
    "  here:            we build it of brick; the entrance is in the south; the roof is flat",
    "  one step before: we build it of brick; the entrance is in the south",
    "  on all branches: 3 values",
    "",
    "State that does not fit its schema",
    "  refused: ENTRY_INVALID",
    "  still here:      we build it of brick; the entrance is in the south",
    "  issues:          STATE_INVALID",
    "",
    "Without the extension",
    "  the last compaction is the library's",
  ]);
});
