import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SessionView } from "../../../src/session/manager/session-view.ts";
import { cli, jsonLines, temporaryFolder } from "./support/cli.ts";
import { Scribe } from "./support/sessions.ts";
import { endedTerminal, FakeTerminal } from "./support/terminal.ts";

const ID = (number: number) => `0198aaaa-0000-7000-8000-00000000000${number}`;

const ENTER = "\r";
const ESCAPE = "\u001b";
const CTRL_C = "\u0003";
const CTRL_R = "\u0012";
const TAB = "\t";
const LEAVES_SCREEN = "\u001b[?25h\u001b[?1049l";

/** A folder with two sessions, and a picker that runs in it. */
function start(args: readonly string[] = [], terminal = new FakeTerminal()) {
  const folder = temporaryFolder();
  const sessions = join(folder, "sessions");
  const older = new Scribe(sessions, ID(1), folder);
  older.user("Find the bug");
  older.assistant("Found it.");
  const newer = new Scribe(sessions, ID(2), folder);
  newer.user("Write a poem");
  newer.assistant("Roses are red.");
  newer.user("Longer");
  const result = cli(["resume", "--dir", sessions, ...args], { cwd: folder, terminal });
  return { folder, older, newer, terminal, result };
}

describe("resume", () => {
  test("prints the path of the chosen session, and restores the terminal", async () => {
    const { newer, terminal, result } = start();
    await terminal.shows("❯ 6 days ago");
    terminal.press(ENTER);
    expect(await result).toMatchObject({ code: 0, stdout: `${newer.path}\n`, stderr: "" });
    expect(terminal.rawModes).toEqual([true, false]);
    expect(terminal.written.endsWith(LEAVES_SCREEN)).toBe(true);
    expect(terminal.input.listenerCount("keypress")).toBe(0);
  });

  test("filters, moves, previews, and prints JSON", async () => {
    const { older, terminal, result } = start(["--json"]);
    await terminal.shows("Roses are red.");
    terminal.press("\u001b[B");
    await terminal.shows("assistant      Found it.");
    terminal.press("bug");
    await terminal.shows("> bug");
    terminal.press(ENTER);
    const [chosen] = jsonLines(await result);
    expect(chosen).toMatchObject({ path: older.path, id: ID(1) });
  });

  test("marks a fork", async () => {
    const { newer, terminal, result } = start();
    await terminal.shows("❯ 6 days ago");
    terminal.press(ESCAPE);
    await result;
    await cli(["fork", newer.path]);
    const again = new FakeTerminal();
    const outcome = cli(["resume", "--dir", join(newer.path, "..")], { terminal: again });
    await again.shows("(fork) Write a poem");
    again.press(ESCAPE);
    expect((await outcome).code).toBe(130);
  });

  test.each([ESCAPE, CTRL_C])("exits on %j with the matching code", async (key) => {
    const { terminal, result } = start();
    await terminal.shows("❯");
    terminal.press(key);
    expect(await result).toMatchObject({ code: 130, stdout: "", stderr: "" });
    expect(terminal.written.endsWith(LEAVES_SCREEN)).toBe(true);
  });

  test("exits at the end of the keys", async () => {
    expect((await start([], endedTerminal()).result).code).toBe(130);
  });

  test("renames a session, and shows an error", async () => {
    const { newer, older, terminal, result } = start();
    await terminal.shows("❯");
    terminal.press(CTRL_R);
    await terminal.shows("Name:");
    terminal.press(`Poetry${ENTER}`);
    await terminal.shows("The name was stored.");
    await terminal.shows(/❯ .*Poetry$/);
    expect(SessionView.at(newer.path).name).toBe("Poetry");
    rmSync(older.path);
    terminal.press("\u001b[B\u0004y");
    await terminal.shows("There is no session file at");
    terminal.press(CTRL_C);
    expect((await result).code).toBe(130);
  });

  test("Tab shows other projects", async () => {
    const folder = temporaryFolder();
    const sessions = join(folder, "sessions");
    const other = new Scribe(sessions, ID(1), "/projects/other");
    other.user("Far away");
    const terminal = new FakeTerminal();
    const env = { PI_CODING_AGENT_SESSION_DIR: sessions };
    const result = cli(["resume"], { cwd: folder, env, terminal });
    await terminal.shows("tab shows all projects");
    terminal.press(TAB);
    await terminal.shows(/❯ .*other +Far away$/);
    terminal.press(ENTER);
    expect((await result).stdout).toBe(`${other.path}\n`);
  });

  test("runs a program with the path, at the end or in a placeholder, and returns its exit code", async () => {
    const code = (file: string, place: string) =>
      `require("fs").writeFileSync(${JSON.stringify(file)}, ${place}); process.exit(7)`;
    for (const [args, place] of [
      [["--flag"], "process.argv.slice(1).join()"],
      [["--session={}", "x"], "process.argv.slice(1).join()"],
    ] as const) {
      const out = join(temporaryFolder(), "out");
      const command = ["--", process.execPath, "-e", code(out, place), "--", ...args];
      const { newer, terminal, result } = start(command);
      await terminal.shows("❯");
      terminal.press(ENTER);
      expect(await result).toMatchObject({ code: 7, stdout: "" });
      const expected = args.length === 2 ? `--session=${newer.path},x` : `--flag,${newer.path}`;
      expect(readFileSync(out, "utf8")).toBe(expected);
    }
  });

  test("reports a missing program", async () => {
    const { terminal, result } = start(["--", "no-such-program-here"]);
    await terminal.shows("❯");
    terminal.press(ENTER);
    expect(await result).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Cannot run no-such-program"),
    });
  });

  test("is wrong usage without a terminal", async () => {
    const { code, stderr } = await cli(["resume"]);
    expect(code).toBe(2);
    expect(stderr).toContain("needs a terminal");
    expect(stderr).toContain("sessiontree list");
  });

  test("an error while drawing restores the terminal, and is reported then", async () => {
    const terminal = new FakeTerminal();
    Object.defineProperty(terminal.output, "columns", {
      get: () => {
        throw new Error("no size");
      },
    });
    const { code, stderr } = await start([], terminal).result;
    expect([code, terminal.rawModes]).toEqual([1, [true, false]]);
    expect(stderr).toContain("no size");
    expect(terminal.written.endsWith(LEAVES_SCREEN)).toBe(true);
  });
});
