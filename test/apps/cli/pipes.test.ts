import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type CliSettings, cli, jsonLines, temporaryFolder } from "./support/cli.ts";
import { Scribe } from "./support/sessions.ts";

const ID = (number: number) => `0198aaaa-0000-7000-8000-00000000000${number}`;

const LONG = `${"word ".repeat(2000)}end`;

/** A project with a session that has a long prompt, a tab, a control character, and a label. */
function project() {
  const folder = temporaryFolder();
  const sessions = join(folder, "sessions");
  mkdirSync(sessions);
  const scribe = new Scribe(sessions, ID(1), folder);
  const first = scribe.user(`One\ttab \u001b[2J\nand ${LONG}`);
  const second = scribe.assistant("Two");
  scribe.session.appendLabelChange(first, "start");
  const leaf = scribe.session.getLeafId();
  const settings: CliSettings = { cwd: folder, env: { PI_CODING_AGENT_SESSION_DIR: sessions } };
  return { folder, scribe, path: scribe.path, first, second, leaf, settings };
}

/** Returns the output of a command in a pipe. */
async function* pieces(...texts: string[]): AsyncGenerator<string, void> {
  yield* texts;
}

describe("in a pipe, lines are complete and have tabs between their fields", () => {
  const SHOWN = `One tab ␛[2J and ${LONG}`;

  test("those of list, except for long titles", async () => {
    const { folder, path, settings } = project();
    const { stdout } = await cli(["list"], settings);
    const fields = [ID(1), "2026-02-03T22:02:00.000Z", "2", "0", folder, `${SHOWN.slice(0, 399)}…`, path];
    expect(stdout).toBe(`${fields.join("\t")}\n`);
  });

  test("those of tree, one per entry in file order", async () => {
    const { first, second, leaf, settings } = project();
    const { lines } = await cli(["tree"], settings);
    expect(lines.map((line) => line.split("\t"))).toEqual([
      [first, "", "user", "2026-02-03T22:02:00.000Z", "start", "", SHOWN],
      [second, first, "assistant", "2026-02-03T22:03:00.000Z", "", "", "Two"],
      [leaf, second, "label", "2026-02-03T22:04:00.000Z", "", "leaf", `"start" on ${first}`],
    ]);
  });

  test("a failed result has a word that can be searched for", async () => {
    const scribe = new Scribe(temporaryFolder());
    scribe.user("Run the tests.");
    scribe.result("expected 3 to be 4", true);
    scribe.result("12 passing", false);
    const { lines } = await cli(["tree", scribe.path]);
    expect(lines.filter((line) => line.includes(" failed: "))).toEqual([
      expect.stringMatching(/\tbash failed: expected 3 to be 4$/),
    ]);
  });

  test("those of search", async () => {
    const { second, path, settings } = project();
    const { stdout } = await cli(["search", "two"], settings);
    expect(stdout).toBe(`${[ID(1), second, "assistant", "Two", path].join("\t")}\n`);
  });

  test.each([
    ["show", ["show", "@last"]],
    ["show of an entry", ["show", "@last", "@leaf"]],
    ["stats", ["stats", "@last"]],
    ["context", ["context", "@last"]],
    ["diff", ["diff", "@last", "start", "@leaf"]],
    ["verify", ["verify", "@last"]],
  ])("the output of %s is neither wrapped nor shortened", async (_what, words) => {
    const { scribe, settings } = project();
    const name = `Name ${LONG}`;
    scribe.session.appendSessionInfo(name);
    const long = scribe.assistant(LONG, { model: `model-${"m".repeat(100)}` });
    for (let i = 0; i < 15; i++) scribe.call(`tool-number-${i}`, {}, `call-${i}`);
    const { stdout, lines } = await cli(words, { ...settings, env: { ...settings.env, COLUMNS: "60" } });
    expect(stdout).not.toContain("…");
    if (words[0] !== "verify" && words[2] !== "@leaf") {
      expect(stdout).toContain(words[0] === "context" || words[0] === "diff" ? LONG : name);
    }
    if (words[0] === "diff") expect(stdout).toContain(long);
    if (words[0] === "stats") expect(stdout).toContain(`model-${"m".repeat(100)}`);
    expect(lines.filter((line) => /^ {6}/.test(line) && !line.includes("input"))).toEqual([]);
  });

  test.each(["list", "tree", "search"])("--pretty formats %s anyway", async (name) => {
    const { settings } = project();
    const words = name === "search" ? ["search", "end"] : [name];
    const piped = await cli([...words, "--pretty"], settings);
    const env = { ...settings.env, NO_COLOR: "1" };
    const shown = await cli(words, { ...settings, env, columns: 80 });
    expect(piped.stdout).toBe(shown.stdout);
    expect(piped.stdout).not.toContain("\t");
  });
});

describe("a command that creates a file prints only its path on stdout", () => {
  test.each([
    ["fork", ["fork", "@last"], /^Copied 3 entries into session \S+\.\nTo continue it in [^\n]+: [^\n]+\n$/],
    ["view", ["view", "@last", "--no-open", "-o", "a.html"], /^Wrote a page of 3 entries\.\n$/],
  ])("%s", async (_name, words, note) => {
    const { folder, settings } = project();
    const { code, stdout, stderr } = await cli(words, settings);
    expect([code, stderr]).toEqual([0, expect.stringMatching(note)]);
    expect(stdout).toMatch(/^\/\S+\n$/);
    expect(stdout).toContain(folder);
    expect(readFileSync(stdout.trimEnd(), "utf8")).toContain("Two");
    const other = words.map((word) => word.replace("a.html", "b.html"));
    const json = await cli([...other, "--json"], settings);
    expect([jsonLines(json).length, json.stderr]).toEqual([1, ""]);
  });
});

describe("- is the session on stdin", () => {
  test.each(["tree", "show", "stats", "context", "verify", "view"])(
    "%s reports empty input, and suggests no repair",
    async (command) => {
      const { code, stdout, stderr } = await cli([command, "-"], { stdin: pieces("") });
      expect(code).toBe(1);
      expect(stdout + stderr).toContain("Standard input is empty. Check that the command before the pipe");
      expect(stdout + stderr).not.toContain("sessiontree repair");
    },
  );

  const reading = ["tree", "show", "context", "stats", "verify"].map((name) => [name, "-", "--json"]);

  test.each([...reading, ["export", "-", "--markdown"], ["search", "Two", "-"], ["name", "-"]])(
    "%s %s %s reads it",
    async (...words) => {
      const { scribe, path } = project();
      scribe.session.appendSessionInfo("Piped");
      const text = readFileSync(path, "utf8");
      const stdin = pieces(text.slice(0, 1000), text.slice(1000));
      const piped = await cli(words, { stdin });
      const named = await cli(words.map((word) => (word === "-" ? path : word)));
      expect([piped.code, piped.stderr]).toEqual([0, ""]);
      const shown = named.stdout.replaceAll(path, "-").replaceAll(path.split("/").at(-1) ?? "", "stdin");
      expect(piped.stdout).toBe(shown);
    },
  );

  test("can be merged, cloned, and turned into a page without a file", async () => {
    const { folder, path, scribe } = project();
    const text = readFileSync(path, "utf8");
    scribe.assistant("Three");
    const to = join(folder, "both.jsonl");
    const merged = await cli(["merge", "-", path, "-o", to], { stdin: pieces(text) });
    expect([merged.code, merged.stderr]).toEqual([0, ""]);
    expect(merged.stdout).toContain("only in a  0, standard input");
    expect(readFileSync(to, "utf8")).toBe(readFileSync(path, "utf8"));
    const env = { PI_CODING_AGENT_SESSION_DIR: join(folder, "clones") };
    const [clone] = jsonLines(await cli(["fork", "-", "--here", "--json"], { stdin: pieces(text), env }));
    expect(clone).toMatchObject({ parentSession: ID(1) });
    expect(readFileSync(String(Object(clone).path), "utf8")).toContain("Two");
    const page = join(folder, "page.html");
    const viewed = await cli(["view", "-", "-o", page, "--no-open"], { stdin: pieces(text) });
    expect([viewed.code, viewed.stdout]).toEqual([0, `${page}\n`]);
    expect(readFileSync(page, "utf8")).toContain('"fileName":"stdin"');
  });

  test("is searched like a file", async () => {
    const { path } = project();
    const text = readFileSync(path, "utf8");
    for (const more of [
      ["t.o", "--regex"],
      ["Two", "--case"],
      ["--failed"],
      ["two", "--limit", "1", "--role", "assistant"],
    ]) {
      const args =
        more[0] === "--failed" ? ["", "SESSION", ...more] : [more[0] ?? "", "SESSION", ...more.slice(1)];
      const of = (name: string) => [
        "search",
        ...args.map((word) => (word === "SESSION" ? name : word)),
        "--json",
      ];
      const piped = await cli(of("-"), { stdin: pieces(text) });
      const named = await cli(of(path));
      expect([piped.code, piped.stdout]).toEqual([named.code, named.stdout.replaceAll(path, "-")]);
    }
    const wrong = await cli(["search", "(a", "-", "--regex"], { stdin: pieces(text) });
    expect(wrong.code).toBe(2);
  });

  test("is read once, even if it is given several times", async () => {
    const { path, first, second } = project();
    const stdin = pieces(readFileSync(path, "utf8"));
    const { code, stdout } = await cli(["diff", "-", first, second], { stdin });
    expect([code, stdout]).toEqual([0, expect.stringContaining(first)]);
  });

  test.each([["name", "x"], ["name", "@leaf", "x"], ["fork"], ["repair"], ["rm"]])(
    "%s changes nothing that it could not return",
    async (name, ...more) => {
      const { path } = project();
      const stdin = pieces(readFileSync(path, "utf8"));
      const { code, stdout, stderr } = await cli([name, "-", ...more], { stdin });
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toContain("can only be read; save it to a file");
    },
  );

  test("requires piped input", async () => {
    for (const stdin of [undefined, Object.assign(pieces(), { isTTY: true })]) {
      const { code, stderr } = await cli(["tree", "-"], stdin === undefined ? {} : { stdin });
      expect([code, stderr]).toEqual([2, expect.stringContaining("sessiontree tree - < FILE")]);
    }
  });

  test("is reported if it is not a session", async () => {
    const { code, stderr } = await cli(["tree", "-"], { stdin: pieces("hello\n") });
    expect([code, stderr]).toEqual([1, expect.stringContaining("is not a session")]);
    expect(stderr).toContain("Check where its bytes come from.");
    expect(stderr).not.toContain("repair");
  });

  test.each([
    ...[
      ["tree"],
      ["show"],
      ["stats"],
      ["context"],
      ["verify"],
      ["name"],
      ["export", "--markdown"],
      ["search", "x"],
    ],
    ...[["diff", "@leaf"], ["compact", "--dry-run"], ["fork", "--here"], ["view", "--no-open"], ["import"]],
    ...[["db copy", "--to", "./copies"], ["merge", "-", "-o", "both.jsonl"], ["redact", "@leaf"], ["repair"]],
  ])("has the name %s in errors", async (name, ...more) => {
    for (const stdin of ["-", "/dev/stdin"]) {
      const words = name === "search" ? [name, ...more, stdin] : [name, stdin, ...more];
      const { code, stdout, stderr } = await cli(words, { cwd: temporaryFolder(), stdin: pieces("hello\n") });
      expect(code).toBeGreaterThan(0);
      expect(stdout + stderr).toMatch(/[Ss]tandard input/);
      expect(stdout + stderr).not.toMatch(/stdin(?!\))/);
    }
  });

  test("has the same name in facts", async () => {
    const { path } = project();
    for (const name of ["stats", "show"]) {
      const { stdout } = await cli([name, "-"], { stdin: pieces(readFileSync(path, "utf8")) });
      expect(stdout).toMatch(/^file +standard input$/m);
    }
  });
});

describe("search of one session", () => {
  test("searches only that session, and exits with 1 without a hit", async () => {
    const { settings, folder, second } = project();
    const other = new Scribe(join(folder, "sessions"), ID(2), folder);
    other.user("Two of another");
    const found = jsonLines(await cli(["search", "two", ID(1), "--json"], settings));
    expect(found.map((hit) => Object(hit).entry)).toEqual([second]);
    const nothing = await cli(["search", "another", ID(1)], settings);
    expect([nothing.code, nothing.stdout]).toEqual([1, ""]);
    expect(nothing.stderr).toBe("Nothing found for another.\n");
    expect((await cli(["search", "another", "@last", "--all"], settings)).code).toBe(2);
    expect((await cli(["search", "(a", ID(1), "--regex"], settings)).code).toBe(2);
    const missing = await cli(["search", "x", "./missing.jsonl"], settings);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("no session at")]);
  });

  test.each([
    [["two", "--limit", "1"], 1],
    [["two", "--role", "user"], 0],
    [["Two", "--case"], 1],
    [["t.o", "--regex"], 1],
  ])("accepts %j", async (words, number) => {
    const { path } = project();
    expect(jsonLines(await cli(["search", ...words, path, "--json"]))).toHaveLength(number);
  });
});

test("list --limit stops after that number", async () => {
  const { folder, settings } = project();
  const other = new Scribe(join(folder, "sessions"), ID(2), folder);
  other.work(3);
  const { lines } = await cli(["list", "--limit", "1"], settings);
  expect(lines.map((line) => line.split("\t")[0])).toEqual([ID(2)]);
});

test.each([["tree"], ["stats"], ["verify"], ["show"], ["context"]])(
  "%s uses the project's latest session by default",
  async (name) => {
    const { settings } = project();
    const unnamed = await cli([name, "--json"], settings);
    expect(unnamed.code).toBe(0);
    expect(unnamed.stdout).toBe((await cli([name, "@last", "--json"], settings)).stdout);
  },
);

describe("with --json, errors and warnings are JSON on stderr", () => {
  test.each([
    [["tree", "./missing.jsonl", "--json"], 1, "SESSION_NOT_FOUND"],
    [["show", "@last", "zzzz", "--json"], 1, "ENTRY_NOT_FOUND"],
    [["list", "--json", "--limit", "x"], 2, "USAGE"],
    [["tre", "--json"], 2, "USAGE"],
  ])("%j", async (words, wanted, errorCode) => {
    const { settings } = project();
    const { code, stdout, stderr } = await cli(words, settings);
    expect([code, stdout]).toEqual([wanted, ""]);
    const { error } = JSON.parse(stderr);
    expect(error).toEqual({ code: errorCode, message: expect.stringMatching(/\S/) });
    expect(stderr.split("\n")).toHaveLength(2);
  });

  test("including warnings", async () => {
    const { settings } = project();
    const { stderr } = await cli(["tree", "@last", "--follow", "--json"], {
      ...settings,
      untilInterrupted: () => AbortSignal.abort(),
    });
    expect(JSON.parse(stderr)).toEqual({ warning: { message: expect.stringContaining("Following") } });
  });

  test("except after --", async () => {
    const { stderr } = await cli(["resume", "--", "program", "--json"]);
    expect(stderr).toMatch(/^sessiontree: /);
  });
});

test("help breaks lines only at the edge of the terminal", async () => {
  const { lines } = await cli(["help", "tree"], { columns: 100, env: { NO_COLOR: "1" } });
  const text = lines.slice(
    lines.indexOf("Draw the tree of a session.") + 1,
    lines.findIndex((line) => line.startsWith("  [session]")),
  );
  text.forEach((line, i) => {
    const [next = ""] = (text[i + 1] ?? "").split(" ");
    if (line !== "" && next !== "") expect(`${line} ${next}`.length).toBeGreaterThan(100);
  });
  expect(text.filter((line) => line !== "").length).toBeGreaterThan(3);
});
