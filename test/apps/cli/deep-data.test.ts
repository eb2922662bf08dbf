import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cli, temporaryFolder } from "./support/cli.ts";

/** Deeper than any recursion can go. */
const DEEP = 15_000;

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

const header = (extra: string) =>
  `{"type":"session","version":3,"id":"deep","timestamp":"2026-02-03T22:00:00.000Z","cwd":"/p","extra":${extra}}`;

const line = (n: number, fields: string) =>
  `{"type":${fields},"id":"e${n}","parentId":${n === 1 ? null : `"e${n - 1}"`},"timestamp":"2026-02-03T22:00:00.000Z"}`;

/** Entries with data nested that deeply wherever data is allowed. */
const bodies = (data: string) => [
  `"message","message":{"role":"user","content":"hello","timestamp":1}`,
  `"custom","customType":"x","data":${data}`,
  `"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"x","arguments":${data}}],"usage":${data},"timestamp":2}`,
  `"message","message":{"role":"toolResult","toolCallId":"c","toolName":"x","isError":false,"content":${data},"details":${data},"timestamp":3}`,
  `"compaction","summary":"s","firstKeptEntryId":"e4","tokensBefore":1,"details":${data},"systemMessage":${data}`,
  `"context_edit","targetId":"e4","replacement":{"content":${data}}`,
  `"session_info","name":${data}`,
  `"of tomorrow","x":${data}`,
];

function deepSession(name: string, data = nested(DEEP), extra = data): string {
  const path = join(temporaryFolder(), name);
  const entries = bodies(data).map((fields, i) => line(i + 1, fields));
  writeFileSync(path, `${[header(extra), ...entries].join("\n")}\n`);
  return path;
}

test("data deeper than the call stack is complete in JSON, and replaced by its type for people", async () => {
  const data = nested(DEEP);
  const path = deepSession("deep.jsonl", data);
  for (const [i, fields] of bodies(data).entries()) {
    const { code, stdout, stderr } = await cli(["show", path, `e${i + 1}`, "--json"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toMatchObject({ id: `e${i + 1}` });
    expect(stdout.split(data)).toHaveLength(fields.split(data).length);
    const shown = await cli(["show", path, `e${i + 1}`]);
    expect([shown.code, shown.stderr]).toEqual([0, ""]);
    if (fields.includes(data)) expect(shown.stdout).toContain("nested too deeply to show");
  }
});

test.each([
  ["show"],
  ["context"],
  ["context", "--json"],
  ["tree", "--json"],
  ["stats", "--json"],
  ["verify", "--json"],
  ["export", "--jsonl"],
  ["export", "--markdown"],
  ["export", "--html"],
])("%s %s accepts a session with such data", async (command, ...rest) => {
  const { code, stderr } = await cli([command, deepSession("deep.jsonl"), ...rest]);
  expect([code, stderr]).toEqual([0, ""]);
});

test("merges copies whose headers differ in such data, and reports the difference", async () => {
  const copies = [deepSession("a.jsonl"), deepSession("b.jsonl", nested(DEEP), nested(DEEP + 1))];
  for (const format of [[], ["--json"]]) {
    const target = join(temporaryFolder(), "merged.jsonl");
    const { code, stderr, stdout } = await cli(["merge", ...copies, "-o", target, ...format]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("extra");
  }
});

test("shows an entry a million levels deep, too", async () => {
  const path = join(temporaryFolder(), "deeper.jsonl");
  const data = nested(1_000_000);
  writeFileSync(path, `${header("1")}\n${line(1, `"custom","customType":"x","data":${data}`)}\n`);
  const { code, stdout, stderr } = await cli(["show", path, "e1", "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout.includes(data)).toBe(true);
});
