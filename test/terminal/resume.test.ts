import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import { SessionView } from "../../src/session/manager/session-view.ts";
import { temporaryFolder } from "../apps/cli/support/cli.ts";
import { Scribe } from "../apps/cli/support/sessions.ts";
import { quoted, SESSIONTREE, type TerminalSettings, TmuxTerminal } from "./support/tmux.ts";

const ID = (number: number) => `0198aaaa-0000-7000-8000-00000000000${number}`;

/** Creates a folder with three sessions, the later ones first in a list: Poem, Bug, and one that is hostile and wide. */
function threeSessions() {
  const folder = temporaryFolder();
  const sessions = join(folder, "sessions");
  const hostile = new Scribe(sessions, ID(1), folder);
  hostile.user(`\u001b]2;owned\u0007\u001b[2J\u009b31m${"長い".repeat(60)}`);
  hostile.assistant("\u001b[5;5HHere.");
  const bug = new Scribe(sessions, ID(2), folder);
  bug.user("Find the bug");
  bug.work(1);
  bug.assistant("It was in the parser.");
  const poem = new Scribe(sessions, ID(3), folder);
  poem.user("Write a poem");
  poem.assistant("Roses are red.");
  poem.user("Longer");
  poem.assistant("Roses are red, and more.");
  poem.user("Thanks");
  poem.assistant("With pleasure.");
  return { folder, sessions, poem, bug, hostile };
}

/** Runs `resume` in a terminal, and prints its exit code. */
function startIn(folder: string, args: string, settings: Partial<TerminalSettings> = {}): TmuxTerminal {
  const env = { XDG_DATA_HOME: join(folder, "data"), PI_CODING_AGENT_SESSION_DIR: join(folder, "sessions") };
  const command = `echo before; ${SESSIONTREE} resume ${args}; echo "ended with $?"`;
  return new TmuxTerminal(command, { cwd: folder, env, ...settings });
}

describe("the picker", () => {
  test("shows sessions, moves, and previews the last messages of the highlighted one", async () => {
    const { folder } = threeSessions();
    const terminal = startIn(folder, "");
    await terminal.shows(
      "Sessions of this project  3",
      /^❯ .*Write a poem$/,
      "assistant      With pleasure.",
    );
    expect(terminal.fact("alternate_on")).toBe("1");
    expect(terminal.lines).toHaveLength(24);
    expect(terminal.lines.at(-1)).toBe(
      "enter choose  ^R rename  ^D delete  ^F contents  tab all projects  esc leave",
    );
    terminal.press("Down");
    await terminal.shows(/^❯ .*Find the bug$/, "assistant      It was in the parser.");
    terminal.press("End");
    await terminal.shows(/^❯ .*長い/);
    terminal.press("Home");
    await terminal.shows(/^❯ .*Write a poem$/);
  });

  test("filters while the user types, and prints its choice", async () => {
    const { folder, bug } = threeSessions();
    const env = { PI_CODING_AGENT_SESSION_DIR: join(folder, "sessions") };
    const terminal = new TmuxTerminal(`echo "<$(${SESSIONTREE} resume)>"`, {
      columns: 200,
      cwd: folder,
      env,
    });
    await terminal.shows(/^❯ .*Write a poem$/);
    terminal.type("BUG find");
    await terminal.shows("> BUG find", /^❯ .*Find the bug$/, "1/3");
    terminal.press("C-u");
    await terminal.shows(/^❯ .*Write a poem$/, "project  3");
    terminal.type("bux");
    await terminal.shows("No sessions match.");
    terminal.press("BSpace");
    await terminal.shows(/^❯ .*Find the bug$/);
    terminal.press("Enter");
    await terminal.shows(`<${bug.path}>`);
    expect(terminal.isRestored).toBe(true);
  });

  test("finds letters in names, and with a key text in messages", async () => {
    const { folder } = threeSessions();
    const terminal = startIn(folder, "");
    await terminal.shows(/^❯ .*Write a poem$/);
    terminal.type("fnd bg");
    await terminal.shows("> fnd bg", /^❯ .*Find the bug$/, "1/3");
    terminal.press("C-u", "C-f");
    terminal.type("roses");
    await terminal.shows(
      "Contents: roses",
      /^❯ .*Write a poem$/,
      "1/3",
      /^assistant +Roses are red, and more\.$/,
    );
    terminal.press("Escape");
    await terminal.shows("> roses", "No sessions match.");
  });

  test("renames", async () => {
    const { folder, poem } = threeSessions();
    const terminal = startIn(folder, "");
    await terminal.shows(/^❯ .*Write a poem$/);
    terminal.press("C-r");
    await terminal.shows("Name:", "enter saves");
    terminal.type("Röschen 海");
    await terminal.shows("Name: Röschen 海");
    terminal.press("Enter");
    await terminal.shows(/^❯ .*Röschen 海$/, "The name was stored.");
    expect(SessionView.at(poem.path).name).toBe("Röschen 海");
    terminal.press("C-r");
    await terminal.shows("Name: Röschen 海");
    terminal.press("Escape");
    await terminal.shows(/^> *$/, /^❯ .*Röschen 海$/);
  });

  test("deletes, but only after a confirmation", async () => {
    const { folder, bug } = threeSessions();
    const terminal = startIn(folder, "");
    await terminal.shows(/^❯ .*Write a poem$/);
    terminal.press("Down", "C-d");
    await terminal.shows("Delete Find the bug? y/n", "y moves it to the trash");
    terminal.press("n");
    await terminal.shows(/^> *$/, /^❯ .*Find the bug$/);
    expect(existsSync(bug.path)).toBe(true);
    terminal.press("DC");
    await terminal.shows("Delete Find the bug? y/n");
    terminal.press("y");
    await terminal.shows("The session was moved to the trash.", "project  2", /^❯ .*長い/);
    expect(existsSync(bug.path)).toBe(false);
    expect(readdirSync(join(folder, "data", "Trash", "files"))).toHaveLength(1);
  });

  test("switches between this project and all with Tab", async () => {
    const { folder, sessions } = threeSessions();
    new Scribe(sessions, ID(4), "/projects/other").user("Far away");
    const terminal = startIn(folder, "");
    await terminal.shows("Sessions of this project  3");
    terminal.press("Tab");
    await terminal.shows("Sessions of all projects  4", /other +Far away$/);
    terminal.press("Tab");
    await terminal.shows("Sessions of this project  3");
    expect(terminal.lines.join("\n")).not.toContain("Far away");
  });
});

describe("the terminal after the picker", () => {
  test.each(["Escape", "C-c"])("is restored after leaving by %s", async (key) => {
    const terminal = startIn(threeSessions().folder, "");
    await terminal.shows(/^❯/);
    terminal.press(key);
    await terminal.shows("before", "ended with 130");
    expect(terminal.isRestored).toBe(true);
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("is restored after %s", async (signal, code) => {
    const { folder } = threeSessions();
    const env = { PI_CODING_AGENT_SESSION_DIR: join(folder, "sessions") };
    const script = quoted(`echo $$ > pid; exec ${SESSIONTREE} resume`);
    const terminal = new TmuxTerminal(`echo before; sh -c ${script}; echo "ended with $?"`, {
      cwd: folder,
      env,
    });
    await terminal.shows(/^❯/);
    process.kill(Number(readFileSync(join(folder, "pid"), "utf8")), signal);
    await terminal.shows("before", `ended with ${code}`);
    expect(terminal.isRestored).toBe(true);
  });

  test("belongs to the program that is run, whose exit code is returned", async () => {
    const { folder, poem } = threeSessions();
    const script = 'read line; echo "got $line for $0"; exit 7';
    const terminal = startIn(folder, `-- sh -c ${quoted(script)} {}`, { columns: 200 });
    await terminal.shows(/^❯ .*Write a poem$/);
    terminal.press("Enter");
    await terminal.until("to be given back", () => terminal.isRestored);
    terminal.type("an answer");
    terminal.press("Enter");
    await terminal.shows(`got an answer for ${poem.path}`, "ended with 7");
  });
});

describe("any session on any screen", () => {
  test("shows 2,000 sessions in ten rows of forty columns", async () => {
    const folder = temporaryFolder();
    const sessions = join(folder, "sessions");
    mkdirSync(sessions);
    for (let i = 0; i < 2000; i++) writeFileSync(join(sessions, `${i}.jsonl`), smallSession(i, folder));
    const terminal = startIn(folder, "", { columns: 40, rows: 10 });
    await terminal.shows("Sessions of this project  2,000", /^❯ .*1999 深い/);
    expect(terminal.lines).toHaveLength(10);
    terminal.press("NPage");
    await terminal.shows(/^❯ .*1995 深い/);
    terminal.press("End");
    await terminal.shows(/^❯ .* 0 深い/);
    terminal.type("1234");
    await terminal.shows(/^❯ .*1234 深い/, "1/2,000");
    for (const line of terminal.lines) expect(stringWidth(line)).toBeLessThanOrEqual(40);
    terminal.resize(100, 30);
    await terminal.until("to have 30 lines", () => terminal.lines[29]?.includes("esc leave") === true);
    await terminal.shows(/^❯ .*1234 (?:深い)+$/);
    terminal.resize(40, 5);
    await terminal.until("to have 5 lines", () => terminal.lines[4]?.includes("enter choose") === true);
    await terminal.shows(/^❯ .*1234 深い/);
  });

  test("shows hostile text without effect", async () => {
    const { folder } = threeSessions();
    const terminal = startIn(folder, "");
    await terminal.shows(/^❯ .*Write a poem$/);
    terminal.press("End");
    await terminal.shows(/^❯ .*␛\]2;owned␇␛\[2J�31m長い/, "assistant      ␛[5;5HHere.", "Write a poem");
    expect(terminal.fact("pane_title")).not.toContain("owned");
  });
});

/** Creates a session of one message; a greater number is a later one. */
function smallSession(number: number, cwd: string): string {
  const timestamp = new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString();
  const message = {
    role: "user",
    content: `${number} ${"深い".repeat(12)}`,
    timestamp: Date.parse(timestamp),
  };
  return [
    { type: "session", version: 3, id: `session-${number}`, timestamp, cwd },
    { type: "message", id: "00000001", parentId: null, timestamp, message },
  ]
    .map((record) => `${JSON.stringify(record)}\n`)
    .join("");
}
