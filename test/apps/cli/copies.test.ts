import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { cli, jsonLines, temporaryFolder } from "./support/cli.ts";
import { Scribe, writeLines } from "./support/sessions.ts";

/** A session with two branches and a label. */
function branched() {
  const scribe = new Scribe(temporaryFolder());
  const root = scribe.user("start");
  const left = scribe.assistant("left");
  scribe.session.branch(root);
  const right = scribe.assistant("right");
  scribe.session.appendLabelChange(right, "works");
  return { path: scribe.path, root, left, right, before: readFileSync(scribe.path, "utf8") };
}

/** Returns the IDs on the path to the leaf of a session. */
function pathIds(path: string): string[] {
  return SessionManager.open(path, { mode: "read-only" }).getPathIds();
}

describe("fork", () => {
  test("copies the path to an entry into the same folder, and leaves the source unchanged", async () => {
    const { path, root, left, before } = branched();
    const { code, stdout, stderr } = await cli(["fork", path, left]);
    const made = stdout.trimEnd();
    expect(code).toBe(0);
    expect(dirname(made)).toBe(dirname(path));
    expect(pathIds(made)).toEqual([root, left]);
    const session = SessionManager.open(made, { mode: "read-only" });
    expect(session.getHeader()?.parentSession).toBe(path);
    const id = session.getSessionId();
    expect(stderr).toBe(
      `Copied 2 entries into session ${id}.\nTo continue it in claude-code, codex, gemini, opencode, or pi: sessiontree continue ${made} --in claude-code\n`,
    );
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  test("ends at the leaf by default, and accepts a label for an entry", async () => {
    const { path, root, right } = branched();
    for (const more of [[], ["works"]]) {
      const [made] = jsonLines(await cli(["fork", path, ...more, "--json"]));
      expect(made).toMatchObject({ parentSession: path, entryCount: 3 });
      expect(pathIds(Object(made).path).slice(0, 2)).toEqual([root, right]);
    }
  });

  test("copies even a path without a conversation, as requested", async () => {
    const session = SessionManager.create("/work", { sessionDir: temporaryFolder(), createAtOnce: true });
    const model = session.appendModelChange("acme", "m1");
    const [made] = jsonLines(await cli(["fork", session.getSessionFile() ?? "", "--json"]));
    expect(pathIds(Object(made).path)).toEqual([model]);
  });

  test("creates nothing for an entry that does not exist", async () => {
    const { path } = branched();
    expect((await cli(["fork", path, "zzzz"])).stderr).toMatch(/^sessiontree: Entry zzzz not found[^\n]+\n$/);
    const empty = writeLines(temporaryFolder(), "empty.jsonl", []);
    expect((await cli(["fork", empty])).code).toBe(1);
  });
});

describe("fork without an entry", () => {
  test("copies the active branch", async () => {
    const { path, root, right, before } = branched();
    const [made] = jsonLines(await cli(["fork", path, "--json"]));
    expect(pathIds(Object(made).path).slice(0, 2)).toEqual([root, right]);
    expect(Object(made).entryCount).toBe(3);
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  test("--here copies all branches to the current folder's project", async () => {
    const { path, left, before } = branched();
    const cwd = join(dirname(path), "project");
    mkdirSync(cwd);
    const sessions = join(cwd, "sessions");
    const env = { PI_CODING_AGENT_SESSION_DIR: sessions };
    const [made] = jsonLines(await cli(["fork", path, "--here", "--json"], { cwd, env }));
    const session = SessionManager.open(Object(made).path, { mode: "read-only" });
    expect(dirname(Object(made).path)).toBe(sessions);
    expect(session.getHeader()).toMatchObject({ cwd, parentSession: path });
    expect(session.getEntry(left)).toBeDefined();
    expect(session.getEntryCount()).toBe(4);
    expect(readFileSync(path, "utf8")).toBe(before);
  });
});

describe("export", () => {
  test("writes the active branch to a new file, relative to the current folder", async () => {
    const { path, root, right, before } = branched();
    const cwd = temporaryFolder();
    const { code, stdout } = await cli(["export", path, "--jsonl", "out.jsonl"], { cwd });
    const made = join(cwd, "out.jsonl");
    expect([code, stdout]).toEqual([0, `Wrote 3 entries to ${made}\n`]);
    expect(pathIds(made).slice(0, 2)).toEqual([root, right]);
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  test.each(["jsonl", "markdown", "html", "mermaid"])("--%s accepts a file", async (format) => {
    const { path } = branched();
    const cwd = temporaryFolder();
    const made = join(cwd, "made");
    const behind = await cli(["export", path, `--${format}`, "made"], { cwd });
    expect([behind.code, behind.stderr]).toEqual([0, ""]);
    expect(behind.stdout).toMatch(new RegExp(`^Wrote \\d entries to ${made}\n$`));
    await cli(["export", path, `--${format}`, "-o", "other"], { cwd });
    const other = readFileSync(join(cwd, "other"), "utf8");
    // A label entry gets another ID in every copy.
    const content = (text: string) => text.replace(/"label","id":"\w+"/, "");
    expect(content(readFileSync(made, "utf8"))).toBe(content(other));
    const first = await cli(["export", `--${format}`, path], { cwd });
    expect([first.code, first.stderr]).toEqual([2, expect.stringContaining("Name the session first")]);
  });

  test("replaces nothing", async () => {
    const { path } = branched();
    const taken = `${path}.taken`;
    writeFileSync(taken, "mine");
    const { code, stderr } = await cli(["export", path, "--jsonl", taken]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^sessiontree: [^\n]+ already exists[^\n]+\n$/);
    expect(readFileSync(taken, "utf8")).toBe("mine");
  });

  test("requires a format", async () => {
    const { code, stderr } = await cli(["export", branched().path]);
    expect(code).toBe(2);
    expect(stderr).toContain("add one of --jsonl, --markdown");
  });
});

describe("repair of an older session", () => {
  test("rewrites an older session, and prints the path of the original", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "old.jsonl");
    const time = "2025-01-01T00:00:00.000Z";
    const old = [
      { type: "session", id: "old", timestamp: time, cwd: folder },
      { type: "message", timestamp: time, message: { role: "user", content: "Hello", timestamp: 0 } },
    ];
    const text = old.map((line) => `${JSON.stringify(line)}\n`).join("");
    writeFileSync(path, text);
    const plan = await cli(["repair", path, "--dry-run"]);
    expect([plan.code, plan.lines.slice(0, 2)]).toEqual([
      1,
      [`upgrade to make  ${path}`, "    → version 1 becomes 3"],
    ]);
    const planned = { id: "old", path, actions: [], version: 1, upgradesTo: 3 };
    expect(jsonLines(await cli(["repair", path, "--dry-run", "--json"]))).toEqual([
      { ...planned, isDryRun: true },
    ]);
    expect(readFileSync(path, "utf8")).toBe(text);
    const { code, lines } = await cli(["repair", path]);
    expect(code).toBe(0);
    expect(lines).toEqual([
      `upgraded  ${path}`,
      "    → version 1 becomes 3",
      "",
      `original   ${path}.v1.bak`,
      "left over  nothing",
    ]);
    expect(readFileSync(`${path}.v1.bak`, "utf8")).toBe(text);
    expect(readFileSync(path, "utf8")).toContain('"version":3');
    expect(jsonLines(await cli(["repair", path, "--json"]))).toEqual([
      { id: "old", path, actions: [], version: 3, upgradesTo: null, isDryRun: false },
    ]);
  });

  test("leaves a session of the current version unchanged", async () => {
    const { path, before } = branched();
    for (const more of [[], ["--dry-run"]]) {
      const { code, stdout } = await cli(["repair", path, ...more]);
      expect([code, stdout]).toEqual([0, `OK  ${path}  (nothing to repair)\n`]);
    }
    expect(readFileSync(path, "utf8")).toBe(before);
  });
});

test.skipIf(process.platform === "win32")("copy does not wait for a pipe", async () => {
  const folder = temporaryFolder();
  const pipe = join(folder, "pipe.jsonl");
  execFileSync("mkfifo", [pipe]);
  const { code, stderr } = await cli(["db", "copy", pipe, "--to", join(folder, "copies")]);
  expect(code).toBe(1);
  expect(stderr).toContain(`${pipe} is not a plain file`);
});
