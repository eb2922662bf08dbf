import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../../src/apps/cli/commands.ts";
import { EXIT_CODES } from "../../../src/apps/cli/exit-codes.ts";
import type { CliStream } from "../../../src/apps/cli/io.ts";
import { toRunnable } from "../../../src/apps/cli/program-name.ts";
import { run } from "../../../src/apps/cli/run.ts";
import { measureWidth } from "../../../src/apps/cli/text/width.ts";
import { cli, temporaryFolder, widest } from "./support/cli.ts";
import { splitWords } from "./support/console.ts";
import { Scribe } from "./support/sessions.ts";
import { endedTerminal } from "./support/terminal.ts";

describe("help", () => {
  test("lists every command for people, how to specify sessions, and the exit codes, in 80 columns", async () => {
    const result = await cli(["--help"]);
    expect(result.code).toBe(0);
    for (const { name, summary, isRare } of COMMANDS) {
      expect(result.stdout.includes(`  ${name} `)).toBe(!isRare);
      if (isRare) continue;
      expect(result.stdout.replace(/\s+/g, " ")).toContain(summary);
    }
    expect(result.stdout).toContain("@last");
    expect(result.stdout).toContain("Exit codes: 0");
    expect(widest(result)).toBeLessThanOrEqual(80);
    expect(result.lines.length).toBeLessThanOrEqual(52);
  });

  test.each(COMMANDS.map(({ name }) => name))("of %s fits a narrow screen", async (name) => {
    const result = await cli([name, "--help"], { columns: 40 });
    expect(result.lines.length).toBeLessThanOrEqual(26);
    // Commands are not broken, so that they can be copied.
    const wide = result.lines.filter((line) => line.length > 40 && !/^ {2}sessiontree |help /.test(line));
    expect(wide).toEqual([]);
  });

  test.each(COMMANDS.map((command) => [command.name, command] as const))(
    "of %s has examples that the command accepts",
    async (name, listed) => {
      const command = await listed.load();
      const result = await cli(["help", name]);
      expect(result.code).toBe(0);
      expect(widest(result)).toBeLessThanOrEqual(80);
      expect(command.examples.length).toBeGreaterThan(0);
      const lines = command.examples.map(([line]) => `sessiontree ${line}`).join("\n");
      const parsed = spawnSync("bash", ["-n"], { input: lines, encoding: "utf8" });
      expect([parsed.status, parsed.stderr]).toEqual([0, ""]);
      for (const [line] of command.examples) {
        expect(`${line} `.startsWith(`${name} `)).toBe(true);
        expect(result.stdout).toContain(`sessiontree ${line}`);
        // Without their sessions they fail, but none is wrong usage.
        const words = splitWords(line.split(" | ")[0] ?? "");
        // A command that runs until an interrupt is interrupted immediately.
        const untilInterrupted = () => AbortSignal.abort();
        const cwd = temporaryFolder();
        const settings = { cwd, env: { HOME: cwd }, terminal: endedTerminal(), untilInterrupted };
        expect((await cli(words, settings)).code).not.toBe(EXIT_CODES.usage);
      }
    },
  );

  test.each(COMMANDS.map((command) => [command.name, command] as const))(
    "of %s in short fits a screen, with every common parameter and an example",
    async (name, listed) => {
      const { parameters } = await listed.load();
      const result = await cli([name, "--help"]);
      expect(result.lines.length).toBeLessThan(24);
      expect(widest(result)).toBeLessThanOrEqual(80);
      const whole = await cli(["help", name]);
      for (const { form, isRare = false } of parameters) {
        if (isRare) expect(result.stdout).not.toContain(`\n  ${form}`);
        else expect(result.stdout).toContain(form);
        expect(whole.stdout).toContain(form);
      }
      expect(result.stdout).toContain(`\n\n  sessiontree ${name}`);
      const rare = parameters.flatMap(({ form, isRare = false }) =>
        isRare ? (/--[a-z-]+/.exec(form) ?? []) : [],
      );
      for (const option of rare)
        expect(`${result.stdout.replaceAll("\n", " ")} `).not.toContain(` ${option} `);
      expect(result.stdout).toContain(`sessiontree help ${name}`);
      const narrow = await cli([name, "--help"], { columns: 40, env: { NO_COLOR: "1" } });
      const wide = narrow.lines.filter((line) => measureWidth(line) > 40);
      // An example is not broken, so that it can be copied.
      expect(wide.filter((line) => !line.startsWith("  sessiontree "))).toEqual([]);
    },
  );

  test("that was not requested is on stderr, and wrong usage", async () => {
    const { code, stdout, stderr } = await cli([]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("Usage: sessiontree");
  });
});

test("the help has at most 26 commands, and begins with those for readers of history", async () => {
  const listed = COMMANDS.filter(({ isRare }) => !isRare);
  expect(new Set(listed.map(({ name }) => name.split(" ")[0])).size).toBeLessThanOrEqual(26);
  // A command for agents has separate help.
  expect(COMMANDS.filter(({ isRare }) => isRare).map(({ name }) => name)).toEqual(["recall"]);
  const { stdout } = await cli(["--help"]);
  const [, first = ""] = stdout.split("Read history:\n");
  const names = first.split("\n\n")[0]?.match(/^ {2}[a-z]+/gm) ?? [];
  const expected = ["list", "search", "show", "tree", "view", "stats", "import", "resume"];
  expect(names.map((name) => name.trim())).toEqual(expected);
});

test.each([["db"], ["db --help"], ["help db"]])("%s lists the commands of the group", async (line) => {
  const { code, stdout, stderr } = await cli(line.split(" "));
  expect(code).toBe(line === "db" ? 2 : 0);
  const text = line === "db" ? stderr : stdout;
  expect(text).toContain("  db copy ");
  expect(text).toContain("  db migrate ");
  expect(text).not.toContain("  tree ");
});

test.each([
  ["watch @last", 'use "sessiontree tree SESSION --follow"'],
  ["clone @last --here", 'use "sessiontree fork SESSION"'],
  ["upgrade --help", 'use "sessiontree repair SESSION"'],
  ["help label", 'use "sessiontree name SESSION ENTRY [LABEL]"'],
  ["copy a --to b", 'use "sessiontree db copy SESSION... --to PLACE"'],
  ["migrate --sql", 'use "sessiontree db migrate"'],
  ["export @last --dot", "use --mermaid"],
  ["export @last --dot=tree.dot", "use --mermaid"],
  ["view @last -o a.html --force", "name a new file"],
  ["prune --keep-labelled", "use --keep-labeled"],
])("%s shows its replacement, in one line", async (line, replacement) => {
  const { code, stdout, stderr } = await cli(line.split(" "));
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/^sessiontree: [^\n]+ was removed: [^\n]+\n$/);
  expect(stderr).toContain(replacement);
  const json = await cli([...line.split(" "), "--json"]);
  expect(JSON.parse(json.stderr)).toHaveProperty("error.code", "USAGE");
});

test("without a command a terminal shows the latest sessions and how to continue", async () => {
  const folder = temporaryFolder();
  const scribe = new Scribe(folder);
  scribe.user("Fix the totals");
  const settings = { columns: 80, env: { NO_COLOR: "1", PI_CODING_AGENT_SESSION_DIR: folder } };
  const { code, stdout, stderr } = await cli([], { ...settings, cwd: scribe.session.getCwd() });
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("Fix the totals");
  for (const step of ["show @last", "resume -- AGENT", "--help"])
    expect(stdout).toContain(`sessiontree ${step}`);
});

test("--version prints the package's version", async () => {
  const { code, stdout } = await cli(["--version"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
});

describe("wrong usage prints one line with the next step, and exit code 2", () => {
  test.each([
    ["unknown command", ["tre"], "unknown command 'tre' (Did you mean tree?) See \"sessiontree --help\"."],
    [
      "help on an unknown command",
      ["bogus", "--help"],
      "unknown command 'bogus'. See \"sessiontree --help\".",
    ],
    ["short help on one", ["tre", "x", "-h"], "unknown command 'tre' (Did you mean tree?)"],
    ["help for one", ["help", "bogus"], "unknown command 'bogus'. See"],
    [
      "unknown option",
      ["tree", "x", "--al"],
      "option '--al' (Did you mean --all?) See \"sessiontree tree --help\".",
    ],
    ["missing argument", ["fork"], "missing required argument 'session'. See"],
    ["too many arguments", ["tree", "a", "b"], "too many arguments"],
    ["missing value", ["context", "a", "--leaf"], "argument missing"],
    ["empty argument", ["tree", ""], "[session] must not be empty. See"],
    ["hostile argument", ["\u001b[2J"], "unknown command '␛[2J'"],
  ])("%s", async (_what, args, message) => {
    const { code, stdout, stderr } = await cli(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^sessiontree: [^\n]+\n$/);
    expect(stderr).toContain(message);
  });
});

describe("failures print one line with the next step, and exit code 1", () => {
  test.each([["tree"], ["show"], ["context"]])("%s of a missing file", async (name) => {
    const { code, stdout, stderr } = await cli([name, "./missing\u001b[2J.jsonl"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^sessiontree: There is no session at [^\n]*missing␛\[2J\.jsonl\. Check[^\n]+\n$/);
  });

  test("shows the stack only on request", async () => {
    const debugged = await cli(["tree", "./missing.jsonl"], { env: { SESSIONTREE_DEBUG: "1" } });
    expect(debugged.stderr).toMatch(/^sessiontree: [^\n]+\nSessionError: /);
    expect(debugged.stderr).toMatch(/\n\s+at .*\.ts:\d+/);
  });

  test("an unexpected error is reported as such", async () => {
    const full: CliStream = {
      write: () => {
        throw new Error("no space left");
      },
    };
    const errors: string[] = [];
    const stderr = { write: (text: string) => errors.push(text) };
    expect(await run(["--help"], { stdout: full, stderr, env: {}, cwd: tmpdir() })).toBe(1);
    expect(errors.join("")).toBe(
      "sessiontree: no space left (unexpected; SESSIONTREE_DEBUG=1 shows where)\n",
    );
  });
});

describe("a closed pipe", () => {
  const scribe = () => {
    const made = new Scribe(temporaryFolder());
    made.user("start");
    made.work(2000);
    return made;
  };

  test("that rejects a write ends the work without an error", async () => {
    let writes = 0;
    const stdout: CliStream = {
      write: () => {
        writes++;
        throw Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
      },
    };
    const errors: string[] = [];
    const stderr = { write: (text: string) => errors.push(text) };
    const { path } = scribe();
    const code = await run(["tree", path, "--all"], { stdout, stderr, env: {}, cwd: tmpdir() });
    expect([code, writes, errors]).toEqual([0, 1, []]);
  });

  test("that is closed already is not written to", async () => {
    const stdout = {
      written: 0,
      get writable() {
        return this.written === 0;
      },
      write(text: string) {
        this.written += text.length;
      },
    };
    const stderr = { write: () => expect.unreachable() };
    const { path } = scribe();
    expect(await run(["tree", path, "--all"], { stdout, stderr, env: {}, cwd: tmpdir() })).toBe(0);
    expect(stdout.written).toBeGreaterThan(0);
    expect(stdout.written).toBeLessThan(100_000);
  });
});

describe("commands in hints", () => {
  const npx = { npm_lifecycle_event: "npx", npm_lifecycle_script: "'sessiontree' list" };

  test("begin with npx if npx started the program, and only then", async () => {
    const cwd = temporaryFolder();
    const env = { HOME: cwd, NO_COLOR: "1" };
    const hint = (more: object) => cli(["list"], { cwd, env: { ...env, ...more } });
    expect((await hint({})).stderr).toMatch(/^sessiontree list --all lists/m);
    expect((await hint(npx)).stderr).toMatch(/^npx sessiontree list --all lists/m);
    for (const other of [
      { npm_lifecycle_event: "npx", npm_lifecycle_script: "vitest run" },
      { npm_command: "exec" },
    ])
      expect((await hint(other)).stderr).toMatch(/^sessiontree list --all lists/m);
    const missing = await cli(["show", "x"], { cwd, env: { ...env, ...npx } });
    expect(missing.stderr).toBe(
      'sessiontree: No session "x". "npx sessiontree list --all" lists all sessions.\n',
    );
    const start = await cli([], { cwd, env: { ...env, ...npx }, columns: 80 });
    expect(start.stdout).toMatch(/^npx sessiontree show @last {7}# read the latest session$/m);
  });

  test("begin with npx once, wherever else npx is mentioned", () => {
    const text = "sessiontree diff a b  # Run npx vitest, npx sessiontree list, or npx -y sessiontree list.";
    expect(toRunnable(text, { env: npx })).toBe(`npx ${text}`);
  });

  test("a text that only mentions the program is not changed", async () => {
    const cwd = temporaryFolder();
    const newer = join(cwd, "newer.jsonl");
    writeFileSync(newer, `${JSON.stringify({ type: "session", version: 4, id: "a", cwd })}\ntorn`);
    const { stderr } = await cli(["repair", newer], { cwd, env: npx });
    expect(stderr).toContain("has a newer version; update sessiontree to repair it.");
  });

  test("an entry and a session that failed are named by commands that run", async () => {
    const scribe = new Scribe(temporaryFolder());
    scribe.user("start");
    scribe.call("bash", { command: "make" });
    scribe.result("no", true);
    const { stdout } = await cli(["show", scribe.path], { env: npx });
    expect(stdout).toContain("npx sessiontree search --failed ");
  });
});
