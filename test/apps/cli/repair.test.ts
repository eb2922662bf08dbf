import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { cli, jsonLines, TERMINAL, temporaryFolder, widest } from "./support/cli.ts";
import { Scribe, userLine, writeLines } from "./support/sessions.ts";

/** Writes a session with a line that is not JSON and an entry without a parent. */
function writeDamaged(folder: string): string {
  return writeLines(folder, "damaged.jsonl", [
    userLine("00000001", null),
    "no json at all \u001b[2J",
    userLine("00000002", "00000001"),
    userLine("00000003", "nowhere"),
  ]);
}

test("a dry run shows the repair, changes nothing, and exits with 1", async () => {
  const folder = temporaryFolder();
  const path = writeDamaged(folder);
  const before = [readFileSync(path, "utf8"), statSync(path).mtimeMs, readdirSync(folder)];
  const { code, lines, stdout } = await cli(["repair", path, "--dry-run"]);
  expect(code).toBe(1);
  expect(lines[0]).toBe(`2 repairs to make  ${path}`);
  expect(stdout).toMatch(/ {2}line 3, offset \d+, \d+ bytes: LINE_UNREADABLE\n/);
  expect(lines.filter((line) => line.includes("→"))).toEqual([
    "    → moved to the side file",
    "    → rewritten as a root",
  ]);
  expect(stdout).toContain("Nothing was changed");
  expect([readFileSync(path, "utf8"), statSync(path).mtimeMs, readdirSync(folder)]).toEqual(before);
});

test("a repaired file is healthy; the original and the remaining lines are where the output says", async () => {
  const path = writeDamaged(temporaryFolder());
  const original = readFileSync(path, "utf8");
  const { code, lines } = await cli(["repair", path]);
  expect(code).toBe(0);
  expect(lines[0]).toBe(`2 repairs  ${path}`);
  expect(lines.slice(-2)).toEqual([`original   ${path}.bak`, `left over  ${path}.damaged`]);
  expect(readFileSync(`${path}.bak`, "utf8")).toBe(original);
  expect(readFileSync(`${path}.damaged`, "utf8")).toContain("no json at all");
  expect((await cli(["verify", path])).code).toBe(0);
});

test("a dry run on a file without a header shows how the repair rebuilds it", async () => {
  const path = writeLines(temporaryFolder(), "a_lost-header.jsonl", [userLine("00000001", null)]);
  const content = readFileSync(path, "utf8");
  writeFileSync(path, content.slice(content.indexOf("\n") + 1));
  const { code, lines, stderr } = await cli(["repair", path, "--dry-run"]);
  expect([code, stderr]).toEqual([1, ""]);
  expect(lines[0]).toBe(`1 repair to make  ${path}`);
  expect(lines.join("\n")).toContain("HEADER_MISSING");
  expect(lines.join("\n")).toContain("with the id lost-header");
  expect(jsonLines(await cli(["repair", path, "--dry-run", "--json"]))).toMatchObject([
    { path, isDryRun: true, actions: [{ issue: { code: "HEADER_MISSING" } }] },
  ]);
  expect((await cli(["repair", path])).code).toBe(0);
  expect((await cli(["verify", path])).code).toBe(0);
});

test("a healthy file is not changed", async () => {
  const folder = temporaryFolder();
  const scribe = new Scribe(folder);
  scribe.user("start");
  const before = [readFileSync(scribe.path, "utf8"), statSync(scribe.path).mtimeMs, readdirSync(folder)];
  for (const more of [[], ["--dry-run"]]) {
    const { code, stdout } = await cli(["repair", scribe.path, ...more]);
    expect([code, stdout]).toEqual([0, `OK  ${scribe.path}  (nothing to repair)\n`]);
  }
  const after = [readFileSync(scribe.path, "utf8"), statSync(scribe.path).mtimeMs, readdirSync(folder)];
  expect(after).toEqual(before);
});

test("reports that no lines remain", async () => {
  const path = writeLines(temporaryFolder(), "orphan.jsonl", [userLine("00000001", "nowhere")]);
  expect((await cli(["repair", path])).lines.at(-1)).toBe("left over  nothing");
});

test("--json prints the report", async () => {
  const path = writeDamaged(temporaryFolder());
  const actions = [
    { issue: { code: "LINE_UNREADABLE", line: 3 }, action: "moved to the side file" },
    { issue: { code: "PARENT_MISSING", line: 5 }, action: "rewritten as a root" },
  ];
  const [plan] = jsonLines(await cli(["repair", path, "--dry-run", "--json"]));
  expect(plan).toMatchObject({ path, isDryRun: true, actions });
  expect(plan).not.toHaveProperty("backup");
  const [report] = jsonLines(await cli(["repair", path, "--json"]));
  expect(report).toMatchObject({
    ...{ path, isDryRun: false, actions },
    ...{ backup: `${path}.bak`, sideFile: `${path}.damaged` },
  });
});

test("a missing file is one line of error", async () => {
  const folder = temporaryFolder();
  const missing = await cli(["repair", `${folder}/missing.jsonl`]);
  expect(missing.code).toBe(1);
  expect(missing.stderr).toMatch(/^sessiontree: There is no file at [^\n]+\. Check the path\.\n$/);
});

test("the report fits 80 columns and cannot control the terminal", async () => {
  const lines = [userLine("\u001b[2J", null), userLine("a", "\u009b2J".repeat(60))];
  const result = await cli(
    ["repair", writeLines(temporaryFolder(), "evil.jsonl", lines), "--dry-run"],
    TERMINAL,
  );
  expect(result.stdout).toContain("PARENT_MISSING");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them is allowed
  expect(result.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  expect(widest({ ...result, lines: result.lines.slice(1) })).toBeLessThanOrEqual(80);
});
