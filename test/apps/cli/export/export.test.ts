import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SessionManager } from "../../../../src/session/manager/session-manager.ts";
import { cli, jsonLines, temporaryFolder } from "../support/cli.ts";
import { Scribe } from "../support/sessions.ts";

/** A session with two branches. */
function branched() {
  const folder = temporaryFolder();
  const scribe = new Scribe(folder);
  const root = scribe.user("Where to?");
  const left = scribe.assistant("Left.");
  scribe.session.branch(root);
  const right = scribe.assistant("Right.");
  scribe.session.appendLabelChange(right, "works");
  return { folder, path: scribe.path, root, left, right };
}

/** Returns the IDs of the entries in a session's text. */
function idsIn(jsonl: string): string[] {
  const [, ...entries] = jsonl.trimEnd().split("\n");
  return entries.map((line) => Object(JSON.parse(line)).id);
}

test("--jsonl without a file prints a branch, which is a valid session", async () => {
  const { folder, path, root, left, right } = branched();
  const { stdout } = await cli(["export", path, "--jsonl"]);
  expect(idsIn(stdout).slice(0, 2)).toEqual([root, right]);
  const other = await cli(["export", path, "--jsonl", "--leaf", left.slice(0, 6)]);
  expect(idsIn(other.stdout)).toEqual([root, left]);
  const copy = join(folder, "copy.jsonl");
  writeFileSync(copy, stdout);
  const session = SessionManager.open(copy, { mode: "read-only" });
  expect(session.getLabel(right)).toBe("works");
  expect(session.issues).toEqual([]);
});

test("--jsonl --full writes all branches, byte for byte", async () => {
  const { folder, path } = branched();
  const { stdout } = await cli(["export", path, "--jsonl", "--full"]);
  expect(stdout).toBe(readFileSync(path, "utf8"));
  const out = join(folder, "whole.jsonl");
  expect(jsonLines(await cli(["export", path, "--jsonl", "--full", "-o", out, "--json"]))).toEqual([
    { path: out, format: "jsonl", entryCount: 4 },
  ]);
  expect(readFileSync(out, "utf8")).toBe(stdout);
});

test.each([
  ["markdown", "# "],
  ["mermaid", "flowchart TD\n"],
])("--%s writes to the output, to a new file, or into JSON", async (name, start) => {
  const { folder, path } = branched();
  const { stdout, code } = await cli(["export", path, `--${name}`]);
  expect(code).toBe(0);
  expect(stdout.startsWith(start)).toBe(true);
  const missing = await cli(["export", path, `--${name}`, "--output", "sub/out"], { cwd: folder });
  expect([missing.code, missing.stderr]).toEqual([
    2,
    expect.stringContaining("does not exist; create it first"),
  ]);
  mkdirSync(join(folder, "sub"));
  const file = join(folder, "sub", "out");
  expect((await cli(["export", path, `--${name}`, "--output", "sub/out"], { cwd: folder })).stdout).toMatch(
    /^Wrote \d entries to [^\n]+out\n$/,
  );
  expect(readFileSync(file, "utf8")).toBe(stdout);
  const again = await cli(["export", path, `--${name}`, "-o", file]);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("already exists")]);
  expect(jsonLines(await cli(["export", path, `--${name}`, "--json"]))).toEqual([
    { format: name, text: stdout },
  ]);
});

test.each([
  [["--markdown", "--mermaid"], "Choose one format"],
  [["--mermaid", "--leaf", "@leaf"], "leave out --leaf"],
  [["--jsonl", "--full", "--leaf", "@leaf"], "leave out --leaf"],
  [["--jsonl", "a", "-o", "b"], "Name one file"],
])("rejects contradictory options: %j", async (args, message) => {
  const { code, stderr } = await cli(["export", branched().path, ...args]);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

test("a missing leaf is an error, and nothing is written", async () => {
  const { code, stdout, stderr } = await cli(["export", branched().path, "--markdown", "--leaf", "zzz"]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("Entry zzz not found");
});

test("lines of a session printed in a terminal contain no control sequences", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("\u009b2J\u202eevil");
  const shown = await cli(["export", scribe.path, "--jsonl"], { columns: 80 });
  expect(shown.stdout).toContain("\\u009b2J\\u202eevil");
  expect((await cli(["export", scribe.path, "--jsonl"])).stdout).toBe(readFileSync(scribe.path, "utf8"));
});
