import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { IS_WINDOWS } from "../../support/platform.ts";
import { type CliSettings, cli, jsonLines, temporaryFolder, widest } from "./support/cli.ts";
import { Scribe } from "./support/sessions.ts";
import { TestDatabase, URL_OF_STORE } from "./support/stores.ts";

const ID = "0198aaaa-0000-7000-8000-000000000001";

/** A project with a session, in a home folder that Codex has used. */
function makeProject() {
  const folder = temporaryFolder();
  const sessions = join(folder, "sessions");
  const session = new Scribe(sessions, ID, folder);
  session.user("Find the bug");
  const answerId = session.assistant("Found it.");
  mkdirSync(join(folder, ".codex"));
  // Without a separate home folder, a test would write to the user's.
  const place = { cwd: folder, env: { HOME: folder, NO_COLOR: "1" } };
  const run = (line: readonly string[], more: Omit<CliSettings, "cwd" | "env"> = {}) =>
    cli(["continue", session.path, ...line], { ...more, ...place });
  return { folder, session, answerId, run };
}

/** Returns the ID with which a program continues, from the last line of the output. */
function findId(stdout: string): string {
  return stdout.trim().split(" ").at(-1) ?? "";
}

describe("continue", () => {
  test("writes the session, and prints the path, the omitted parts, and the command", async () => {
    const { folder, run } = makeProject();
    const { code, stdout, stderr } = await run(["--in", "codex"]);
    const id = findId(stdout);
    const path = join(folder, `.codex/sessions/2026/02/10/rollout-2026-02-10T12-00-00-${id}.jsonl`);
    expect({ code, stderr, stdout }).toEqual({
      ...{ code: 0, stderr: "" },
      stdout: `Wrote:\n${path}\n\nNothing is left out.\n\nContinue with:\ncodex resume ${id}\n`,
    });
    expect(readFileSync(path, "utf8")).toContain("Found it.");
  });

  test("the error about a missing folder names only the option of the command line", async () => {
    const { run, folder } = makeProject();
    const { code, stderr } = await run(["--in", "codex", "--cwd", "gone"]);
    const path = join(folder, "gone");
    expect([code, stderr]).toEqual([
      1,
      `sessiontree: The working directory ${path} does not exist; specify another one with --cwd.\n`,
    ]);
  });

  test("prints facts for programs, and writes nothing in a dry run", async () => {
    const { folder, answerId, run } = makeProject();
    const elsewhere = join(folder, "other place");
    mkdirSync(elsewhere);
    const given = ["--in", "codex", "--cwd", "other place", "--dry-run", "--json", "--whole"];
    const [found] = jsonLines(await run(given));
    expect(found).toMatchObject({
      ...{ agent: "codex", id: ID, leafId: answerId, cwd: elsewhere },
      ...{
        paths: [expect.stringMatching(/rollout-.*\.jsonl$/)],
        commands: [["codex", "resume", expect.any(String)]],
      },
      issues: [{ code: "FILES_NOT_THERE", message: expect.any(String) }],
    });
    expect(existsSync(join(folder, ".codex/sessions"))).toBe(false);
    const text = await run([...given.slice(0, 5)]);
    expect(text.stdout).toMatch(/^Would write:\n/);
    expect(text.stdout).toContain(`cd '${elsewhere}' && codex resume `);
  });

  test("continues at another entry", async () => {
    const { folder, session, answerId, run } = makeProject();
    session.user("A later prompt");
    const { stdout } = await run(["--in", "codex", "--leaf", answerId]);
    expect(stdout).toContain("- Left out 1 message that is not on this path.\n");
    const [, path = ""] = stdout.split("\n");
    expect(path).toContain(folder);
    expect(readFileSync(path, "utf8")).not.toContain("A later prompt");
  });

  test("continues a session from a database", async () => {
    const { folder, session } = makeProject();
    const stores = new TestDatabase();
    const copied = await cli(["db", "copy", session.path, "--to", URL_OF_STORE], { cwd: folder, stores });
    expect(copied).toMatchObject({ code: 0 });
    const given = ["continue", ID, "--in", "codex", "--store", URL_OF_STORE];
    const { code, stdout } = await cli(given, { cwd: folder, stores, env: { HOME: folder } });
    expect(code).toBe(0);
    const [, path = ""] = stdout.split("\n");
    expect(readFileSync(path, "utf8")).toContain("Found it.");
  });

  test("is readable in 40 columns, and keeps commands and paths unbroken", async () => {
    const { run } = makeProject();
    const result = await run(["--in", "codex", "--cwd", "."], { columns: 40 });
    const { lines } = result;
    const prose = lines.filter((line) => !/[/]|^codex resume /.test(line));
    expect(widest({ ...result, lines: prose })).toBeLessThanOrEqual(40);
    expect(lines.at(-1)).toMatch(/^codex resume [\da-f-]{36}$/);
  });

  test.skipIf(IS_WINDOWS)(
    "runs the program that continues the session, and passes on its exit code",
    async () => {
      const { folder, run } = makeProject();
      const bin = join(folder, "bin");
      mkdirSync(bin);
      writeFileSync(join(bin, "codex"), `#!/bin/sh\necho "$PWD $*" > '${join(folder, "called")}'\nexit 7\n`);
      chmodSync(join(bin, "codex"), 0o755);
      vi.stubEnv("PATH", `${bin}${delimiter}${process.env["PATH"]}`);
      const { code, stdout } = await run(["--in", "codex", "--run"]);
      expect(code).toBe(7);
      const [, called = ""] = readFileSync(join(folder, "called"), "utf8").split(folder);
      expect(called).toBe(` resume ${findId(stdout)}\n`);
    },
  );

  test.skipIf(IS_WINDOWS)("leaves no temporary file after an import into OpenCode", async () => {
    const { folder, run } = makeProject();
    const bin = join(folder, "bin");
    mkdirSync(bin);
    const temporary = join(folder, "temporary");
    mkdirSync(temporary);
    writeFileSync(join(bin, "opencode"), `#!/bin/sh\nls '${temporary}' >> '${join(folder, "seen")}'\n`);
    chmodSync(join(bin, "opencode"), 0o755);
    vi.stubEnv("PATH", `${bin}${delimiter}${process.env["PATH"]}`);
    vi.stubEnv("TMPDIR", temporary);
    expect((await run(["--in", "opencode", "--run"])).code).toBe(0);
    // Present during the import, and removed when the session continues.
    expect(readFileSync(join(folder, "seen"), "utf8")).toMatch(/^sessiontree-ses_\w+\n$/);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("prints a folder with several spaces unchanged", async () => {
    const { folder, run } = makeProject();
    mkdirSync(join(folder, "two  spaces"));
    const { stdout } = await run(["--in", "codex", "--cwd", "two  spaces", "--dry-run"]);
    expect(stdout).toContain(`cd '${join(folder, "two  spaces")}' && codex resume`);
  });

  test("reports a program that cannot be run", async () => {
    const { folder, run } = makeProject();
    vi.stubEnv("PATH", join(folder, "nothing"));
    const { code, stderr } = await run(["--in", "codex", "--run"]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("Cannot run codex") });
  });

  test.each([
    [[], "Name the program: --in claude-code|codex|gemini|opencode|pi."],
    [["--in", "cursor"], '--in must be one of claude-code, codex, gemini, opencode, pi, not "cursor".'],
    [["--in", "codex", "--run", "--dry-run"], "Give --dry-run or --run, not both."],
    [["--in", "codex", "--run", "--json"], "Give --json or --run, not both."],
  ])("%j is wrong usage", async (line, message) => {
    const { folder, run } = makeProject();
    const { code, stderr, stdout } = await run(line);
    expect(code).toBe(2);
    expect(stderr + stdout).toContain(message.replaceAll('"', line.includes("--json") ? '\\"' : '"'));
    expect(existsSync(join(folder, ".codex/sessions"))).toBe(false);
  });

  test("fails if the program has no folder, or the entry is unknown", async () => {
    const { folder, run } = makeProject();
    const missing = await run(["--in", "claude-code"]);
    expect(missing).toMatchObject({ code: 1, stdout: "" });
    expect(missing.stderr).toContain(`The folder of claude-code, ${join(folder, ".claude")}, does not exist`);
    expect(await run(["--in", "codex", "--leaf", "ffffffff"])).toMatchObject({ code: 1, stdout: "" });
  });
});
