import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cli, jsonLines, TERMINAL, temporaryFolder, widest } from "./support/cli.ts";
import { Scribe } from "./support/sessions.ts";
import { TestDatabase, URL_OF_STORE } from "./support/stores.ts";

const ID = (number: number) => `0198aaaa-0000-7000-8000-00000000000${number}`;

/** Two sessions that mention tulips. */
function tulips() {
  const folder = temporaryFolder();
  const sessions = join(folder, "sessions");
  const first = new Scribe(sessions, ID(1), join(folder, "one"));
  const asked = first.user("Where do tulips grow?");
  const answered = first.assistant("Tulips grow in gardens.");
  const second = new Scribe(sessions, ID(2), join(folder, "two"));
  second.session.appendSessionInfo("Flowers");
  second.user("Nothing");
  const third = second.user("A tulip, please");
  return { folder, sessions, first, second, asked, answered, third };
}

test("shows each entry that contains the text, under its session", async () => {
  const { sessions, first, asked, answered, third } = tulips();
  // The second session has the later last message, whichever file was written last.
  utimesSync(first.path, new Date(), new Date(Date.now() + 60_000));
  const { code, stdout } = await cli(["search", "--pretty", "TULIP", "--sort", "latest", "--dir", sessions]);
  expect(code).toBe(0);
  // As many digits of an ID as distinguish the sessions.
  const ofSecond = `${ID(2)}  2026-02-03  Flowers\n  ${third} user            A tulip, please\n`;
  const ofFirst = [
    `${ID(1)}  2026-02-03  Where do tulips grow?`,
    `  ${asked} user            Where do tulips grow?`,
    `  ${answered} assistant       Tulips grow in gardens.\n`,
  ].join("\n");
  expect(stdout).toBe(`${ofSecond}\n${ofFirst}\n3 entries in 2 sessions\n`);
});

test("searches this project's sessions, and all with --all", async () => {
  const { folder, sessions, third } = tulips();
  const place = { cwd: join(folder, "two"), env: { PI_CODING_AGENT_SESSION_DIR: sessions } };
  const own = await cli(["search", "--pretty", "tulip", "--json"], place);
  expect(jsonLines(own).map((hit) => Object(hit).entry)).toEqual([third]);
  expect(jsonLines(await cli(["search", "--pretty", "tulip", "--json", "--all"], place))).toHaveLength(3);
});

test("--case, --role, --limit, and --regex narrow it", async () => {
  const { sessions, asked, answered } = tulips();
  const found = async (...args: string[]) => {
    const result = await cli(["search", "--pretty", ...args, "--dir", sessions, "--json"]);
    return jsonLines(result).map((hit): unknown => Object(hit).entry);
  };
  expect(await found("Tulip", "--case")).toEqual([answered]);
  expect(await found("tulip", "--role", "assistant")).toEqual([answered]);
  expect(await found("tulip", "--role", "assistant, user")).toHaveLength(3);
  expect(await found("tulip", "--limit", "1")).toHaveLength(1);
  expect(await found("tulips? grow\\?$", "--regex")).toEqual([asked]);
});

test("--json prints the position of each hit", async () => {
  const { sessions, second, third } = tulips();
  expect(jsonLines(await cli(["search", "--pretty", "tulip,", "--dir", sessions, "--json"]))).toEqual([
    {
      session: { id: ID(2), path: second.path, cwd: second.session.getCwd(), name: "Flowers" },
      ...{ entry: third, role: "user", snippet: "A tulip, please", match: { start: 2, length: 6 } },
      ...{ time: second.session.getEntry(third)?.timestamp, score: expect.any(Number), branch: "active" },
      offset: expect.any(Number),
    },
  ]);
});

describe("--failed", () => {
  /** A session with three failures, and another with one. */
  function failing() {
    const folder = temporaryFolder();
    const sessions = join(folder, "sessions");
    const scribe = new Scribe(sessions, ID(1), folder);
    scribe.user("Why did it fail?");
    scribe.call("bash", { command: "npm test" });
    const result = scribe.result("> app test\n\nexpected 3 to be 4\nCommand exited with code 1", true);
    scribe.result("12 passing");
    const command = { role: "bashExecution" as const, output: "", cancelled: false, truncated: false };
    const output = "cc -c a.c\na.c:1: error: no main\nmake: *** [a.o] Error 1\n";
    const made = { ...command, command: "make", output, exitCode: 2, timestamp: 0 };
    const failed = scribe.session.appendMessage(made);
    scribe.session.appendMessage({ ...command, command: "ls", exitCode: 0, timestamp: 0 });
    const answer = scribe.assistant("", { content: [], stopReason: "error", errorMessage: "overloaded" });
    scribe.assistant("", { content: [], stopReason: "aborted" });
    const other = new Scribe(sessions, ID(2), join(folder, "other"));
    other.user("Run it.");
    const silent = other.result("", true);
    const settings = { cwd: folder, env: { PI_CODING_AGENT_SESSION_DIR: sessions } };
    const ids = async (...args: string[]) => {
      const found = jsonLines(await cli(["search", "--failed", ...args, "--json"], settings));
      return found.map((hit): unknown => Object(hit).entry);
    };
    return { scribe, settings, ids, result, failed, answer, silent };
  }

  test("lists failures in their order", async () => {
    const { scribe, settings, ids, result, failed, answer, silent } = failing();
    expect(await ids()).toEqual([result, failed, answer]);
    expect((await ids("--all")).toSorted()).toEqual([result, failed, answer, silent].toSorted());
    for (const named of [["@last"], [scribe.path], [ID(1)], ["", ID(1)]]) {
      expect(await ids(...named), named.join()).toEqual([result, failed, answer]);
    }
    const { code, lines } = await cli(["search", "--failed"], settings);
    expect(code).toBe(0);
    expect(lines.map((line) => line.split("\t"))).toEqual([
      [ID(1), result, "toolResult", "bash npm test failed (exit code 1): expected 3 to be 4", scribe.path],
      [ID(1), failed, "bashExecution", "$ make (exit code 2): a.c:1: error: no main", scribe.path],
      [ID(1), answer, "assistant", "overloaded", scribe.path],
    ]);
  });

  test("shows the line with the error, and how to see the rest", async () => {
    const { scribe, settings, result, failed } = failing();
    const { stdout, stderr } = await cli(["search", "--failed", "@last", "--pretty"], settings);
    expect(stdout).toContain(`  ${failed} command         $ make (exit code 2): a.c:1: error: no main\n`);
    expect(stderr).toBe(
      `The first one in full, and what followed: sessiontree show @last ${result} --after 5\nWhat the model saw before it: sessiontree context @last --before ${result} --tail 10\nCost of the session up to there: sessiontree stats @last --leaf ${result}\n`,
    );
    const all = await cli(["search", "--failed", "--dir", scribe.session.getSessionDir()], settings);
    expect(all.stderr).toMatch(
      /^The first one in full, and what followed: sessiontree show \/\S+ \w{8} --after 5\n/,
    );
    expect((await cli(["search", "--failed"], settings)).stderr).toContain(
      `show ${ID(1)} ${result} --after 5\n`,
    );
    expect((await cli(["search", "--failed", "--json"], settings)).stderr).toBe("");
  });

  test("can be combined with text, roles, a limit, and an expression", async () => {
    const { ids, result, failed, answer } = failing();
    expect(await ids("expected")).toEqual([result]);
    expect(await ids("OVERLOADED", "@last")).toEqual([answer]);
    expect(await ids("--role", "bashExecution")).toEqual([failed]);
    expect(await ids("--limit", "2")).toEqual([result, failed]);
    expect((await ids("--regex", "over|make")).toSorted()).toEqual([failed, answer].toSorted());
    expect(await ids("--regex")).toHaveLength(3);
    expect(await ids("12 passing")).toEqual([]);
    // With --all, or with more words, an ID is text.
    expect(await ids(ID(1), "--all")).toEqual([]);
    expect(await ids(`${ID(1)} expected`)).toEqual([]);
  });

  test("searches the name of the tool and the input of its call, too", async () => {
    const { ids, result, failed } = failing();
    expect(await ids("bash")).toEqual([result]);
    expect(await ids("npm TEST")).toEqual([result]);
    expect((await ids("--regex", "^npm|^make")).toSorted()).toEqual([result, failed].toSorted());
    expect(await ids("npm", "--role", "bashExecution")).toEqual([]);
    expect(await ids("Why did")).toEqual([]);
  });

  test("reports that nothing failed, and that text is required without --failed", async () => {
    const folder = temporaryFolder();
    const scribe = new Scribe(folder);
    scribe.user("All is well.");
    const { code, stderr } = await cli(["search", "--failed", scribe.path]);
    expect([code, stderr]).toEqual([1, "No failure found.\n"]);
    const here = await cli(["search", "--failed"], { cwd: folder });
    expect(here.stderr).toMatch(/^No failure found in the sessions of this project\.\n/);
    const asText = await cli(["search", "--failed", "deadbeef", "--dir", folder]);
    expect(asText.stderr).toContain(
      'To search a session of that name: sessiontree search --failed "" deadbeef',
    );
    const words = await cli(["search", "--failed", "fix me", "--dir", folder]);
    expect(words.stderr).toContain(`sessiontree search --failed "" 'fix me'\n`);
    const expanded = await cli(["search", "--failed", "`id` $HOME", "--dir", folder]);
    expect(expanded.stderr).toContain("--failed \"\" '`id` $HOME'\n");
    expect(asText.stderr).toContain(`sessiontree search --failed --dir deadbeef\n`);
    for (const args of [["search"], ["search", ""]]) {
      const wrong = await cli(args);
      expect(wrong.code).toBe(2);
      expect(wrong.stderr).toContain("--failed");
    }
  });

  test("searches a database, and one session of it", async () => {
    const { scribe, result, failed, answer } = failing();
    const stores = new TestDatabase();
    const env = { SESSIONTREE_STORE: URL_OF_STORE };
    await cli(["db", "copy", scribe.path, "--to", URL_OF_STORE], { stores });
    for (const args of [["--all"], ["", ID(1)]]) {
      const found = await cli(["search", "--failed", ...args, "--json"], { stores, env });
      expect(jsonLines(found).map((hit): unknown => Object(hit).entry)).toEqual([result, failed, answer]);
    }
    const words = await cli(["search", "why fail", "--regex", "--all"], { stores, env });
    expect([words.code, words.stderr]).toEqual([1, expect.stringContaining("Nothing found")]);
  });
});

describe("--any", () => {
  const ask = (...args: string[]) => cli(["search", "--any", ...args]);

  test("finds entries with any of the words, the best first, and reports unmatched words", async () => {
    const { sessions, asked, answered, third } = tulips();
    const { code, lines, stderr } = await ask("Which garden has zebras, or a tulip?", "--dir", sessions);
    expect(code).toBe(0);
    expect(lines.map((line) => line.split("\t")[1])).toEqual([answered, asked, third]);
    expect(stderr).toBe("None of them contains: zebras.\n");
    const all = await ask("Which tulip?", "--dir", sessions);
    expect(all.stderr).toBe("");
  });

  test("--json lists the words missing from each hit", async () => {
    const { sessions, answered, third } = tulips();
    const hits = jsonLines(await ask("tulip gardens nothing", "--json", "--dir", sessions));
    expect(hits[0]).toMatchObject({
      entry: answered,
      partial: true,
      missing: ["nothing"],
      match: { length: 7 },
    });
    const ofThird = hits.find((hit) => Object(hit).entry === third);
    expect(ofThird).toMatchObject({ missing: ["gardens", "nothing"], score: expect.any(Number) });
    const [whole] = jsonLines(await ask("garden", "--json", "--dir", sessions));
    expect(Object(whole)).not.toHaveProperty("missing");
  });

  test("keeps phrases, searches one session, and exits with 1 without a hit", async () => {
    const { sessions, first, asked, third } = tulips();
    const entries = async (...args: string[]) =>
      (await ask(...args, "--json")).lines.map((line) => Object(JSON.parse(line)).entry);
    expect(await entries('"do tulips" garden', "--dir", sessions)).toEqual([asked]);
    expect(await entries("tulip please", first.path)).not.toContain(third);
    for (const question of ["zebra", "?!", "🙂", "日本語", '"never said"']) {
      const { code, stderr, stdout } = await ask(question, "--dir", sessions);
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toContain("Nothing found");
      expect(stderr).not.toContain("--any");
    }
  });

  test("is suggested if no entry has all words", async () => {
    const { sessions } = tulips();
    const { stderr } = await cli(["search", "tulip zebra", "--dir", sessions]);
    expect(stderr).toContain("Add --any to find entries that contain some of the words.\n");
    expect((await cli(["search", "zebra", "--dir", sessions])).stderr).not.toContain("--any");
    expect((await cli(["search", "x z", "--regex", "--dir", sessions])).stderr).not.toContain("--any");
  });

  test.each([
    ["--regex", /--any or --regex/],
    ["--case", /leave out --case/],
    ["--sort=latest", /leave out --sort/],
    ["--limit=x", /--limit/],
  ])("refuses %s", async (option, message) => {
    const { sessions } = tulips();
    const { code, stderr, stdout } = await ask("tulip", option, "--dir", sessions);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
  });

  test("accepts a question of 10 kB, and rejects a longer one", async () => {
    const { sessions, answered } = tulips();
    const words = Array.from({ length: 1_500 }, (_, i) => `word${i}`).join(" ");
    const long = await ask(`garden ${words}`, "--dir", sessions);
    expect(long.lines.map((line) => line.split("\t")[1])).toEqual([answered]);
    const { code, stderr } = await ask("x".repeat(100_001), "--dir", sessions);
    expect(code).toBe(2);
    expect(stderr).toContain("at most 100000 are allowed; shorten it.");
    expect((await ask("", "--dir", sessions)).code).toBe(2);
  });

  test("--failed without text lists failures in order", async () => {
    const folder = temporaryFolder();
    const scribe = new Scribe(folder);
    scribe.user("Why?");
    scribe.call("bash", { command: "npm test" });
    const failed = scribe.result("expected 3 to be 4", true);
    const { lines } = await ask("--failed", scribe.path);
    expect(lines.map((line) => line.split("\t")[1])).toEqual([failed]);
    const asked = await ask("what was expected?", scribe.path, "--failed");
    expect(asked.lines.map((line) => line.split("\t")[1])).toEqual([failed]);
  });

  test("returns the same hits from a database as from files", async () => {
    const { sessions, first, second } = tulips();
    const stores = new TestDatabase();
    const env = { SESSIONTREE_STORE: URL_OF_STORE };
    for (const { path } of [first, second]) await cli(["db", "copy", path, "--to", URL_OF_STORE], { stores });
    const question = "Which garden has a tulip, please?";
    const entries = (result: { lines: string[] }) => result.lines.map((line) => line.split("\t")[1]);
    const stored = await cli(["search", "--any", question, "--all"], { stores, env });
    expect(entries(stored)).toEqual(entries(await ask(question, "--dir", sessions)));
    expect(entries(stored)).toHaveLength(3);
  });
});

describe("ranking and filters", () => {
  /** A session with an abandoned branch, and one of another project. */
  function branching() {
    const folder = temporaryFolder();
    const sessions = join(folder, "sessions");
    const scribe = new Scribe(sessions, ID(1), join(folder, "one"));
    const root = scribe.user("hay");
    const left = scribe.assistant("needle on a branch, hay");
    scribe.session.branch(root);
    scribe.call("bash", { command: "cat src/a.ts" });
    const output = scribe.result("the hay, the needle: needle");
    const other = new Scribe(sessions, ID(2), join(folder, "two"));
    const best = other.user("hay needle");
    const found = async (...args: string[]) => {
      const result = await cli(["search", ...args, "--dir", sessions, "--json"]);
      return jsonLines(result).map((hit): unknown => Object(hit).entry);
    };
    return { folder, sessions, left, output, best, found };
  }

  test("put the best first, unless the latest are requested", async () => {
    const { left, output, best, found } = branching();
    expect(await found("needle", "hay")).toEqual([best, left, output]);
    expect(await found("needle", "hay", "--limit", "2")).toEqual([best, left]);
    expect((await found("needle", "hay", "--sort", "latest")).toSorted()).toEqual(
      [best, left, output].toSorted(),
    );
    expect(await found('"hay needle"')).toEqual([best]);
    expect(await found('the "hay, the"')).toEqual([output]);
    expect(await found("hay.*needle", "--regex")).toEqual([best, output]);
  });

  test("mark hits on an abandoned branch, or omit them", async () => {
    const { sessions, left, output, found } = branching();
    expect(await found("needle", "--role", "assistant")).toEqual([left]);
    expect(await found("needle", "--branch", "active", "--role", "assistant,toolResult")).toEqual([output]);
    const piped = await cli(["search", "needle", "--dir", sessions]);
    expect(piped.lines.filter((line) => line.endsWith("\tleft"))).toHaveLength(1);
    const { stdout } = await cli(["search", "needle", "--pretty", "--dir", sessions]);
    expect(stdout).toMatch(/ assistant +left branch {2}needle on a branch, hay\n/);
  });

  test("keep tools, files, times, and projects", async () => {
    const { folder, output, best, found } = branching();
    expect(await found("needle", "--tool", "Bash, read")).toEqual([output]);
    expect(await found("needle", "--path", "src/a.ts")).toEqual([output]);
    expect(await found("--path", "a.ts")).toHaveLength(2);
    expect(await found("needle", "--until", "2000")).toEqual([]);
    expect(await found("needle", "--project", join(folder, "two"))).toEqual([best]);
    expect(await found("needle", "--source", "any")).toEqual([]);
  });
});

test("writes a hit before it searches for the next one", async () => {
  const { sessions } = tulips();
  const pieces: string[] = [];
  await cli(["search", "--pretty", "tulip", "--dir", sessions, "--json"], {
    onOutput: (text) => pieces.push(text),
  });
  expect(pieces).toHaveLength(3);
});

test("reports that nothing was found", async () => {
  const { folder, sessions } = tulips();
  const nothing = await cli(["search", "--pretty", "rose", "--dir", sessions]);
  const { code, stdout, stderr } = nothing;
  expect([code, stdout, stderr]).toEqual([1, "", "Nothing found for rose.\n"]);
  const own = await cli(["search", "--pretty", "rose"], { cwd: folder });
  // The suggested command, with --all: without its word or --failed, "search --all" would be wrong usage.
  expect(own.stderr).toContain("Add --all to search");
  expect(own.stderr).not.toContain("sessiontree search --all");
  const json = await cli(["search", "rose", "--json"], { cwd: folder });
  expect([json.code, json.stdout, json.stderr]).toEqual([1, "", ""]);
});

test("an invalid regular expression is wrong usage", async () => {
  const { code, stderr } = await cli(["search", "--pretty", "(a", "--regex"], { cwd: temporaryFolder() });
  expect(code).toBe(2);
  expect(stderr).toMatch(/^sessiontree: "\(a" is not a regular expression[^\n]+\n$/);
});

test("a file on which an expression takes too long is reported, and the others are searched", async () => {
  const { sessions, first, third } = tulips();
  first.user(`${"a".repeat(40)}!`);
  const { code, stdout, stderr } = await cli([
    "search",
    "--pretty",
    "(a+)+$|A tulip",
    "--regex",
    "--dir",
    sessions,
  ]);
  expect(code).toBe(0);
  expect(stdout).toContain(third);
  expect(stderr).toMatch(/^sessiontree: [^\n]+ was left out: the expression takes too long on it[^\n]+\n$/);
  expect(stderr).toContain(first.path);
});

test("says that there are more hits than a limit shows, and only then", async () => {
  const { sessions } = tulips();
  const search = async (...more: string[]) =>
    cli(["search", "tulip", "--pretty", "--dir", sessions, ...more], TERMINAL);
  const cut = await search("--limit", "2");
  expect(cut.stdout).toContain("\n2 entries in ");
  expect(cut.stderr).toBe("More entries match; a higher --limit shows them.\n");
  expect((await search("--limit", "1", "--sort", "latest")).stderr).toContain("More entries match");
  expect((await search("--limit", "3")).stderr).toBe("");
  expect((await search("--limit", "1", "-l")).stderr).toBe("1 of 2 sessions; a higher --limit shows more.\n");
  expect((await search("--limit", "2", "-l")).stderr).toBe("");
});

test("without a note about further hits, does not search for them", async () => {
  const sessions = temporaryFolder();
  const slow = new Scribe(sessions, ID(1));
  slow.user(`${"a".repeat(40)}!`);
  const latest = new Scribe(sessions, ID(2));
  latest.user("Hello");
  const found = latest.user("A tulip, please");
  const search = (...more: string[]) =>
    cli([
      "search",
      "(a+)+$|A tulip",
      "--regex",
      "--sort",
      "latest",
      "--limit",
      "1",
      "--dir",
      sessions,
      ...more,
    ]);
  const { stdout, stderr } = await search("--json");
  expect(stdout).toContain(found);
  expect(stderr).toBe("");
  expect((await search("--pretty")).stderr).toContain(slow.path);
});

test("--limit must be a number", async () => {
  const { code, stderr } = await cli(["search", "--pretty", "x", "--limit", "0"], { cwd: temporaryFolder() });
  expect(code).toBe(2);
  expect(stderr).toContain("--limit <number> must be a whole number, 1 or more.");
});

test.each([40, 80, 200])("lines fit %i columns, with the match visible", async (columns) => {
  const folder = temporaryFolder();
  const scribe = new Scribe(folder, "evil");
  scribe.user(`${"\u001b[2J長い e\u0301 ❤️ 👨‍👩‍👧‍👦 ".repeat(9)} needle ${"\u009b2J深い".repeat(50)}`);
  scribe.user(`needle${"長".repeat(50)}`);
  scribe.user(`${"長".repeat(50)}needle`);
  const result = await cli(["search", "--pretty", "needle", "--dir", folder], {
    columns,
    env: { NO_COLOR: "1" },
  });
  expect(result.stdout.match(/ user\s.*needle/g)).toHaveLength(3);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them is allowed
  expect(result.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  expect(widest(result)).toBeLessThanOrEqual(columns);
});

test("several words without quotes are one query, and the last may be a session", async () => {
  const { folder, sessions, first, answered, asked, third } = tulips();
  const place = { cwd: folder, env: { PI_CODING_AGENT_SESSION_DIR: sessions } };
  const found = async (...args: string[]) => {
    const result = await cli(["search", ...args, "--json"], place);
    return jsonLines(result).map((hit): unknown => Object(hit).entry);
  };
  const dir = ["--dir", sessions];
  expect(await found("tulips", "gardens", ...dir)).toEqual([answered]);
  const { stderr } = await cli(["search", "tulips", "gardens", "--pretty", ...dir]);
  expect(stderr).toContain("No session is called gardens: searching for tulips gardens.");
  expect(await found("grow", "in", "gardens", ...dir)).toEqual([answered]);
  expect(await found("tulips", "gardens", "--all")).toEqual([answered]);
  expect(await found("tulip", "please", "Flowers", ...dir)).toEqual([]);
  expect(await found("tulip", "Flowers", ...dir)).toEqual([third]);
  expect(await found("do", "tulips", first.path)).toEqual([asked]);
  const missing = await cli(["search", "tulips", "gardens", "none.jsonl"], place);
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("none.jsonl")]);
});

test("an argument with spaces is a phrase, next to other words", async () => {
  const { first, sessions, asked, answered } = tulips();
  const found = async (...args: string[]) =>
    jsonLines(await cli(["search", ...args, "--json", "--dir", sessions])).map((hit) => Object(hit).entry);
  expect(await found("tulips grow")).toHaveLength(2);
  expect(await found("do tulips")).toEqual([asked]);
  expect(await found("grow tulips")).toEqual([]);
  expect(await found("grow", "tulips")).toHaveLength(2);
  expect(await found("gardens", "tulips  GROW")).toEqual([answered]);
  expect(await found("tulips grow", first.path)).toHaveLength(2);
  expect(await found("grow tulips", "--regex")).toEqual([]);
  expect(await found("grow.* tulips", "--any")).toHaveLength(3);
  const { stderr } = await cli(["search", "grow tulips", "--dir", sessions]);
  expect(stderr).toContain('Nothing found for "grow tulips".\nLeave out the quotes to find');
});

describe("an argument with spaces after a query", () => {
  function named(name = "Flower beds") {
    const { folder, sessions, first, second, asked, answered, third } = tulips();
    second.session.appendSessionInfo(name);
    const phrase = first.user("Tulips: in flower beds, too");
    const run = (...args: string[]) => cli(["search", ...args, "--dir", sessions], { cwd: folder });
    const found = async (...args: string[]) =>
      jsonLines(await run(...args, "--json")).map((hit): unknown => Object(hit).entry);
    return { folder, sessions, first, second, asked, answered, third, phrase, run, found };
  }

  test("is the session with exactly that name, and a note explains how to search for the phrase", async () => {
    const { third, phrase, run, found } = named();
    expect(await found("tulip", "Flower beds")).toEqual([third]);
    expect((await run("tulip", "Flower beds", "--pretty")).stderr).toBe(
      `Searching only the session called Flower beds; to find the phrase, write '"Flower beds"'.\n`,
    );
    expect(await found("tulip", '"Flower beds"')).toEqual([phrase]);
    expect(await found("tulip", "Flower beds", "--all")).toEqual([phrase]);
    expect(await found("Flower beds")).toEqual([phrase]);
    expect(await found("tulip.", "Flower beds", "--regex")).toEqual([third]);
    expect((await run("tulip.", "Flower beds", "--regex", "--pretty")).stderr).toBe(
      "Searching only the session called Flower beds.\n",
    );
  });

  test("is a phrase if it is only a part of a name, or the name of a file or folder", async () => {
    const { folder, phrase, run, found } = named("Flower beds of the garden");
    mkdirSync(join(folder, "flower beds"));
    writeFileSync(join(folder, "Flower beds"), "Roses");
    for (const words of ["Flower beds", "flower beds"]) expect(await found("tulip", words)).toEqual([phrase]);
    expect((await run("tulip", "Flower beds", "--pretty")).stderr).toBe("");
    expect(await found("tulip", "beds flower")).toEqual([]);
  });

  test("is ambiguous if several sessions have that name", async () => {
    const { first, run } = named();
    first.session.appendSessionInfo("Flower beds");
    const { code, stderr } = await run("tulip", "Flower beds");
    expect([code, stderr]).toEqual([1, expect.stringContaining('2 sessions match "Flower beds".')]);
  });

  test("is a session of a database", async () => {
    const { first, second, third, phrase } = named();
    const stores = new TestDatabase();
    const env = { SESSIONTREE_STORE: URL_OF_STORE };
    for (const { path } of [first, second]) await cli(["db", "copy", path, "--to", URL_OF_STORE], { stores });
    const found = async (...args: string[]) =>
      jsonLines(await cli(["search", ...args, "--json"], { stores, env })).map((hit) => Object(hit).entry);
    expect(await found("tulip", "Flower beds")).toEqual([third]);
    expect(await found("tulip", "Flower beds", "--all")).toEqual([phrase]);
  });
});

test("whole words rank before parts of words", async () => {
  const folder = temporaryFolder();
  const scribe = new Scribe(folder);
  const part = scribe.user("Timeouts!");
  scribe.call("bash", { command: "x" });
  const whole = scribe.result(`${"no ".repeat(900)}timeout`);
  const { lines } = await cli(["search", "timeout", scribe.path]);
  expect(lines.map((line) => line.split("\t")[1])).toEqual([whole, part]);
});

describe("--sessions", () => {
  test("lists each session on one line, the one with the best hit first", async () => {
    const { sessions, first, second } = tulips();
    const list = (...args: string[]) => cli(["search", "tulip", "-l", "--dir", sessions, ...args]);
    const rows = [
      [ID(2), "1", "Flowers", second.path],
      [ID(1), "2", "Where do tulips grow?", first.path],
    ];
    expect((await list()).lines.map((line) => line.split("\t"))).toEqual(rows);
    expect((await list("--limit", "1")).lines).toHaveLength(1);
    expect((await list("--sort", "latest")).lines).toHaveLength(2);
    expect((await list("--pretty")).stdout).toBe(
      `${ID(2)}  2026-02-03   1 entry    Flowers\n${ID(1)}  2026-02-03   2 entries\n    Where do tulips grow?\n`,
    );
    expect(jsonLines(await cli(["search", "tulip", "--sessions", "--json", "--dir", sessions]))).toEqual([
      {
        session: { id: ID(2), path: second.path, cwd: second.session.getCwd(), name: "Flowers" },
        entryCount: 1,
        score: expect.any(Number),
      },
      expect.objectContaining({ entryCount: 2 }),
    ]);
  });

  test.each([40, 80])("fits %i columns, and reports that nothing was found", async (columns) => {
    const { sessions } = tulips();
    const settings = { columns, env: { NO_COLOR: "1" } };
    const result = await cli(["search", "tulip", "-l", "--dir", sessions], settings);
    expect(widest(result)).toBeLessThanOrEqual(columns);
    const nothing = await cli(["search", "rose", "-l", "--dir", sessions], settings);
    expect([nothing.code, nothing.stdout, nothing.stderr]).toEqual([1, "", "Nothing found for rose.\n"]);
  });

  test("lists sessions of a database", async () => {
    const { first } = tulips();
    const stores = new TestDatabase();
    const env = { SESSIONTREE_STORE: URL_OF_STORE };
    await cli(["db", "copy", first.path, "--to", URL_OF_STORE], { stores });
    const { lines } = await cli(["search", "tulip", "-l", "--all"], { stores, env });
    expect(lines.map((line) => line.split("\t").slice(0, 2))).toEqual([[ID(1), "2"]]);
  });
});

test("words of a session's name are words of the query, unless there is no query", async () => {
  const folder = temporaryFolder();
  const scribe = new Scribe(folder, "checkout");
  scribe.user("please fix the rounding");
  scribe.result("exit code 2", true);
  scribe.session.appendSessionInfo("Checkout rounding");
  const hits = async (...args: string[]) =>
    jsonLines(await cli(["search", ...args, "--json", "--dir", folder])).map((hit) => Object(hit).role);
  expect(await hits("fix", "rounding")).toEqual(["user"]);
  expect(await hits("", "rounding", "--failed")).toEqual(["toolResult"]);
});
