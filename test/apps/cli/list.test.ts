import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cli, jsonLines, temporaryFolder, widest } from "./support/cli.ts";
import { Scribe, userLine } from "./support/sessions.ts";

const ID = (number: number) => `0198aaaa-0000-700${number}-8000-000000000000`;

/** Creates a folder for the project and one for sessions, with a session of this project and one of another. */
function twoProjects() {
  const folder = temporaryFolder();
  const [project, other, sessions] = ["project", "other", "sessions"].map((name) => join(folder, name));
  if (project === undefined || other === undefined || sessions === undefined) throw new Error("no folders");
  for (const one of [project, other]) mkdirSync(one);
  const own = new Scribe(sessions, ID(1), project);
  own.user("Find the bug");
  own.assistant("Found it.");
  const foreign = new Scribe(sessions, ID(2), other);
  foreign.user("Write a poem");
  foreign.session.appendSessionInfo("Poetry");
  foreign.user("Longer");
  return { project, other, sessions, own, foreign };
}

test("lists the sessions of the project in the current folder", async () => {
  const { project, sessions } = twoProjects();
  const env = { PI_CODING_AGENT_SESSION_DIR: sessions };
  const { code, stdout } = await cli(["list", "--pretty"], { cwd: project, env });
  expect(code).toBe(0);
  // These digits of an ID also distinguish it from those of other projects.
  expect(stdout).toBe(
    "id                  last used    messages  name\n0198aaaa-0000-7001  2026-02-03          2  Find the bug\n",
  );
});

test("every command accepts the IDs shown by a list, whatever other projects have", async () => {
  const { project, sessions } = twoProjects();
  const env = { PI_CODING_AGENT_SESSION_DIR: sessions };
  const { lines } = await cli(["list", "--pretty"], { cwd: project, env });
  const [id = ""] = lines[1]?.split(" ") ?? [];
  expect((await cli(["show", id], { cwd: "/", env })).code).toBe(0);
});

test("IDs are as long as all sessions need, even if few are shown", async () => {
  const { sessions } = twoProjects();
  const { lines } = await cli(["list", "--pretty", "--dir", sessions, "--limit", "1"]);
  const [id = ""] = lines[1]?.split(" ") ?? [];
  expect((await cli(["show", id, "--dir", sessions])).code).toBe(0);
});

/** Two sessions of one project: a cheap one of today, and one of last year with a stated and an estimated cost. */
function twoCosts() {
  const dir = temporaryFolder();
  const answer = (text: string, timestamp: number, cost: number) => ({
    role: "assistant",
    content: [{ type: "text", text }],
    ...{ provider: "anthropic", model: "claude-sonnet-4-5", api: "a", stopReason: "stop", timestamp },
    usage: {
      ...{ input: 100_000, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 100_000 },
      cost: { input: cost, output: 0, cacheRead: 0, cacheWrite: 0, total: cost },
    },
  });
  const write = (id: string, time: string, costs: number[]) => {
    const timestamp = Date.parse(time);
    const lines: object[] = [{ type: "session", version: 3, id, timestamp: time, cwd: "/till" }];
    for (const [i, cost] of costs.entries()) {
      const message = answer(`answer ${i}`, timestamp + i, cost);
      lines.push({ type: "message", id: `0000000${i}`, parentId: null, timestamp: time, message });
    }
    writeFileSync(join(dir, `${id}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  };
  write("cheap", "2026-02-10T10:00:00.000Z", [0.25]);
  write("dear", "2025-06-10T10:00:00.000Z", [5, 0]);
  return { dir };
}

test("shows the cost of each session, with a ~ if a part is estimated, and sorts by it", async () => {
  const { dir } = twoCosts();
  const { lines } = await cli(["list", "--pretty", "--dir", dir, "--sort", "cost"]);
  expect(lines.map((line) => line.trim().split(/ {2,}/).slice(0, 4))).toEqual([
    ["id", "last used", "messages", "cost"],
    ["dear", "2025-06-10", "2", expect.stringMatching(/^~\$5\.30/)],
    ["cheap", "Today 10:00", "1", expect.stringMatching(/^\$0\.25/)],
  ]);
});

test("a wide terminal also shows the program and the model with most calls", async () => {
  const { dir } = twoCosts();
  const timestamp = "2026-02-09T10:00:00.000Z";
  const answer = (id: string, model: string) => {
    const message = { role: "assistant", content: "Three.", provider: "openai", model, usage: { input: 5 } };
    return { type: "message", id, parentId: null, timestamp, message };
  };
  const lines = [
    { type: "session", version: 3, id: "imported", timestamp, cwd: "/till" },
    {
      type: "custom",
      id: "i",
      timestamp,
      customType: "sessiontree.import",
      data: { source: "codex", sourceId: "1" },
    },
    { type: "message", id: "u", timestamp, message: { role: "user", content: "Count the coins" } },
    ...[answer("a", "gpt-5"), answer("b", "gpt-5.5"), answer("c", "gpt-5")],
  ];
  writeFileSync(join(dir, "imported.jsonl"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const parse = async (columns: number) => {
    const { lines } = await cli(["list", "--dir", dir], { columns, env: { NO_COLOR: "1" } });
    return lines.map((line) => line.trim().split(/ {2,}/));
  };
  const rows = await parse(120);
  expect(rows[0]?.slice(4)).toEqual(["project", "program", "model", "name"]);
  expect(rows.find(([id]) => id === "imported")?.slice(1)).toEqual([
    ...["Yesterday", "4", expect.stringContaining("$"), "till", "codex", "gpt-5", "Count the coins"],
  ]);
  expect(rows.find(([id]) => id === "cheap")?.slice(4, 6)).toEqual(["till", "claude-sonnet-4-5"]);
  expect((await parse(80))[0]).not.toContain("model");
});

test("--since omits older sessions, and --path prints only paths", async () => {
  const { dir } = twoCosts();
  for (const since of ["today", "week", "month", "year", "30d"]) {
    const { lines } = await cli(["list", "--dir", dir, "--since", since, "--path"]);
    expect(lines).toEqual([join(dir, "cheap.jsonl")]);
  }
  const { lines } = await cli(["list", "--dir", dir, "--sort", "cost", "--path"]);
  expect(lines).toEqual([join(dir, "dear.jsonl"), join(dir, "cheap.jsonl")]);
  expect((await cli(["list", "--dir", dir, "--since", "soon"])).code).toBe(2);
});

test("--all lists those of all projects with their project; names replace first messages", async () => {
  const { project, sessions } = twoProjects();
  const env = { PI_CODING_AGENT_SESSION_DIR: sessions };
  const { lines } = await cli(["list", "--pretty", "--all"], { cwd: project, env });
  expect(lines).toHaveLength(3);
  expect(lines[0]).toMatch(/^id {18}last used {4}messages {2}project +name$/);
  expect(lines[1]).toMatch(/^0198aaaa-0000-7002 {2}2026-02-03 {10}2 {2}other +Poetry$/);
  expect(lines[2]).toMatch(/^0198aaaa-0000-7001 {2}2026-02-03 {10}2 {2}project +Find the bug$/);
});

test("--dir lists everything in a folder, also relative to the current folder", async () => {
  const { project, sessions } = twoProjects();
  for (const dir of [sessions, "../sessions"]) {
    expect((await cli(["list", "--pretty", "--dir", dir], { cwd: project })).lines).toHaveLength(3);
  }
});

test("without sessions it says so, and where others may be", async () => {
  const folder = temporaryFolder();
  const { code, stdout, stderr } = await cli(["list", "--pretty"], { cwd: folder });
  expect([code, stdout]).toEqual([0, ""]);
  expect(stderr).toContain(`No sessions in ${folder}.`);
  expect(stderr).toContain("sessiontree list --all");
  expect((await cli(["list", "--pretty", "--json"], { cwd: folder })).stdout).toBe("");
});

test("--json prints one object per session, with the library's names", async () => {
  const { sessions, own, foreign, other } = twoProjects();
  const listed = jsonLines(await cli(["list", "--pretty", "--dir", sessions, "--json"]));
  expect(listed.map((one) => Object(one).path)).toEqual([foreign.path, own.path]);
  expect(listed[0]).toEqual({
    id: ID(2),
    path: foreign.path,
    cwd: other,
    name: "Poetry",
    title: "Poetry",
    created: "2026-02-03T22:01:00.000Z",
    modified: "2026-02-03T22:03:00.000Z",
    messageCount: 2,
    firstMessage: "Write a poem",
    issueCount: 0,
  });
});

test("lines fit, damage is marked, and nothing controls the terminal", async () => {
  const folder = temporaryFolder();
  const scribe = new Scribe(folder, "evil", `/${"深い".repeat(50)}/\u001b[2J`);
  scribe.user(`\u001b]0;title\u0007${"長い".repeat(100)}`);
  writeFileSync(scribe.path, "no json\n", { flag: "a" });
  const result = await cli(["list", "--pretty", "--dir", folder]);
  expect(widest(result)).toBeGreaterThan(77);
  expect(widest(result)).toBeLessThanOrEqual(80);
  expect(result.stdout).toContain("  ! ␛]0;title␇長い");
});

test("reports an unreadable file on stderr, and lists the others", async () => {
  const { project, sessions } = twoProjects();
  const loop = join(sessions, "loop.jsonl");
  symlinkSync(loop, loop);
  for (const command of [["list"], ["list", "--json"], ["search", "bug"]]) {
    const { code, stdout, stderr } = await cli([...command, "--dir", sessions], { cwd: project });
    const message = `${loop} was left out: it cannot be read.`;
    const isJson = command.includes("--json");
    const told = isJson ? JSON.stringify({ warning: { message } }) : `sessiontree: ${message}`;
    expect([code, stderr]).toEqual([0, `${told}\n`]);
    expect(stdout).toContain("Find the bug");
  }
});

test("a session without a header is reported with the repair command; files that are not sessions are not", async () => {
  const { project, sessions } = twoProjects();
  const lost = join(sessions, "lost.jsonl");
  writeFileSync(lost, `${JSON.stringify(userLine("00000001", null, "Lost with a bug"))}\n`);
  writeFileSync(
    join(sessions, "notes.jsonl"),
    '{"type":"message","text":"a log"}\n{"type":"session"}\nprose\n',
  );
  writeFileSync(join(sessions, "empty.jsonl"), "");
  const message = `${lost} was left out: it has no session header. To rebuild it: sessiontree repair ${lost}`;
  for (const command of ["list", "stats --all"]) {
    const { code, stdout, stderr } = await cli([...command.split(" "), "--dir", sessions], { cwd: project });
    expect([code, stderr.split("\n")[0]]).toEqual([0, `sessiontree: ${message}`]);
    expect(stderr.match(/left out/g)).toHaveLength(1);
    expect(stdout).not.toContain("lost");
  }
  const { stdout } = await cli(["repair", lost]);
  expect(stdout).toContain("HEADER_MISSING");
  expect((await cli(["list", "--dir", sessions], { cwd: project })).stderr).toBe("");
});

test("in a pipe, a long title is cut; --json keeps the whole message and name", async () => {
  const folder = temporaryFolder();
  const long = "word ".repeat(24_000).trim();
  new Scribe(folder, ID(1), folder).user(long);
  const named = new Scribe(folder, ID(2), folder);
  named.user("short");
  named.session.appendSessionInfo(long);
  const { lines } = await cli(["list", "--dir", folder]);
  expect(lines.map((line) => line.split("\t")[5])).toEqual(Array(2).fill(`${long.slice(0, 399).trim()}…`));
  const rows = jsonLines(await cli(["list", "--dir", folder, "--json"]));
  expect(rows).toContainEqual(expect.objectContaining({ id: ID(2), name: long }));
});

test("a fork whose program marks its title is not marked again", async () => {
  const folder = temporaryFolder();
  const parent = new Scribe(folder, ID(1), folder);
  parent.user("Plan");
  const marked = new Scribe(folder, ID(2), folder, parent.path);
  marked.user("Plan");
  marked.session.appendSessionInfo("Plan (fork)");
  new Scribe(folder, ID(3), folder, parent.path).user("Other");
  const { stdout } = await cli(["list", "--dir", folder, "--pretty"]);
  expect(stdout).toContain("  Plan (fork)\n");
  expect(stdout).toContain("(fork) Other\n");
});

test("a narrow terminal omits columns before names", async () => {
  const { project, sessions } = twoProjects();
  const at = async (columns: number) => {
    const env = { COLUMNS: String(columns) };
    return (await cli(["list", "--pretty", "--dir", sessions], { cwd: project, env })).lines;
  };
  const wide = (await at(80)).slice(1);
  expect(wide.every((line) => /\d {2}(?:project|other) {2}/.test(line))).toBe(true);
  for (const line of (await at(40)).slice(1)) {
    expect(line).toMatch(/^0198aaaa\S* {2}.*(?:Find the bug|Poetry)$/);
    expect(line).not.toMatch(/ {2}(?:project|other) {2}/);
  }
});

test("words filter by name, first prompt, and project, before the limit counts; without a match, the output suggests search", async () => {
  const { project, sessions } = twoProjects();
  const settings = { cwd: project, env: { PI_CODING_AGENT_SESSION_DIR: sessions } };
  const { lines } = await cli(["list", "POEM poetry", "--all", "--limit", "1"], settings);
  expect(lines.map((line) => line.split("\t")[0])).toEqual([ID(2)]);
  const found = await cli(["list", "the bug", "--all", "--limit", "1"], settings);
  expect(found.lines.map((line) => line.split("\t")[0])).toEqual([ID(1)]);
  const byProject = await cli(["list", "OTHER po", "--all"], settings);
  expect(byProject.lines.map((line) => line.split("\t")[0])).toEqual([ID(2)]);
  // In a list of one project, every session has that word.
  expect((await cli(["list", "project"], settings)).stdout).toBe("");
  const { code, stderr } = await cli(["list", "poetry"], settings);
  expect([code, stderr]).toEqual([0, expect.stringContaining("sessiontree search poetry\n")]);
  expect(stderr).toContain(
    `No sessions with "poetry" in their name, first prompt, or project in ${sessions}.`,
  );
});

test.each([["list"], ["search", "bug"], ["stats"], ["prune", "--older-than", "1d"], ["show", "a1"]])(
  "%s reports a missing folder, which is not an empty one",
  async (...words) => {
    const cwd = temporaryFolder();
    const { code, stderr } = await cli([...words, "--dir", "sesions"], { cwd });
    expect([code, stderr]).toEqual([1, `sessiontree: The folder ${join(cwd, "sesions")} does not exist.\n`]);
    mkdirSync(join(cwd, "sesions"));
    expect((await cli([...words, "--dir", "sesions"], { cwd })).stderr).not.toContain("does not exist");
  },
);

test("in 80 columns the project is before the number of messages", async () => {
  const folder = temporaryFolder();
  for (const [i, name] of ["billing", "checkout"].entries())
    new Scribe(folder, `session_0198aaaa-${i}000-7000`, join(folder, name)).user("Fix it");
  const { lines } = await cli(["list", "--all", "--pretty", "--dir", folder], { columns: 70 });
  expect(lines[1]).toContain("billing");
  expect(lines[0]).not.toContain("messages");
});

test.each(["db copy", "verify"])(
  "%s lists the sessions that match a name, one per line, and continues",
  async (name) => {
    const { sessions, own } = twoProjects();
    const to = name === "db copy" ? ["--to", temporaryFolder()] : [];
    const { code, stdout, stderr } = await cli([name, "0198", own.path, "--dir", sessions, ...to]);
    expect(code).toBe(1);
    const said = (name === "db copy" ? stderr : stdout).split("\n");
    expect(said[0]).toContain('2 sessions match "0198". Specify one by id:');
    expect(said.slice(1, 3).map((line) => line.trimStart().slice(0, 8))).toEqual(["0198aaaa", "0198aaaa"]);
    expect(stdout).toContain(name === "db copy" ? "Copied" : "OK");
  },
);
