import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { run } from "../../../src/apps/cli/run.ts";
import { SessionError } from "../../../src/core/format/errors.ts";
import { MemoryBackend } from "../../../src/stores/remote/memory-backend.ts";
import {
  call,
  joinLines,
  part,
  result,
  SESSION_ID,
  text,
  user,
} from "../../interop/import/support/claude-records.ts";
import { meta, numbered, said, THREAD_ID, turn, usage } from "../../interop/import/support/codex-records.ts";
import { FOREIGN_FILES } from "../../support/foreign-files.ts";
import { type CliSettings, cli, jsonLines, NOW_MS, temporaryFolder } from "./support/cli.ts";
import { readBytes } from "./support/page-data.ts";
import { SHOWN_STORE, TestDatabase, URL_OF_STORE } from "./support/stores.ts";

const CLAUDE_PATH = `.claude/projects/-code-project/${SESSION_ID}.jsonl`;
const CODEX_PATH = `.codex/sessions/2026/11/22/rollout-2026-11-22T05-00-00-${THREAD_ID}.jsonl`;

const CONVERSATION = [
  user("q", null, "Find the leak"),
  part("a1", "q", "msg_1", call("t1"), { stop: "tool_use" }),
  result("r1", "a1", "t1", "a tap"),
  part("a2", "r1", "msg_2", text("It is the tap."), { stop: "end_turn" }),
];

const AGENT = { isSidechain: true, agentId: "abc" };

/** A home folder with a session of Claude Code that has a subagent, and one of Codex, with the command line in it. */
function homeWithSessions() {
  const folder = temporaryFolder();
  const home = join(folder, "home");
  const put = (path: string, content: string) => {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  };
  put(CLAUDE_PATH, joinLines(CONVERSATION));
  put(
    CLAUDE_PATH.replace(".jsonl", "/subagents/agent-abc.jsonl"),
    joinLines([user("u", null, "look", AGENT), part("v", "u", "msg_s", text("seen"), AGENT)]),
  );
  put(
    CODEX_PATH,
    joinLines(
      numbered([
        meta(),
        ...turn("Count the taps", said("assistant", "Three.")),
        usage("r", { total_tokens: 3 }),
      ]),
    ),
  );
  const settings = { cwd: home, env: { HOME: home } };
  const imported = (args: readonly string[], more: CliSettings = {}) =>
    cli(["import", ...args], { ...settings, ...more });
  const sessions = join(folder, "data", "sessiontree", "imported");
  return { folder, home, put, settings, imported, sessions };
}

/** Returns the names of all files below a folder; none if it does not exist. */
function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true })
      .map(String)
      .filter((name) => name.endsWith(".jsonl"));
  } catch {
    return [];
  }
}

test("without options, shows available sessions and writes nothing, and later those that are up to date", async () => {
  const { home, imported, sessions } = homeWithSessions();
  const first = await imported([]);
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.lines).toEqual([
    "claude-code  1 session  1 to import  /code/project",
    "codex        1 session  1 to import  /code/project",
    "",
    "sessiontree import --all imports them.",
  ]);
  expect(filesIn(sessions)).toEqual([]);
  await imported(["--all"]);
  expect((await imported([])).lines).toEqual([
    "claude-code  1 session  up to date  /code/project",
    "codex        1 session  up to date  /code/project",
  ]);
  const nowhere = await imported([], { env: { HOME: join(home, "nobody") } });
  expect(nowhere).toMatchObject({ code: 0, stdout: "No sessions from other programs were found.\n" });
});

test("--all writes a file for each session and each subagent, and none the second time", async () => {
  const { imported, sessions } = homeWithSessions();
  expect((await imported(["--all"])).lines).toEqual([
    "codex: 1 new, 0 grown, 0 unchanged",
    "claude-code: 2 new, 0 grown, 0 unchanged",
  ]);
  const files = filesIn(sessions);
  expect(files).toHaveLength(3);
  expect(new Set(files.map((name) => dirname(name)))).toEqual(new Set(["--code-project--"]));
  expect((await imported(["--all"])).lines).toEqual([
    "codex: 0 new, 0 grown, 1 unchanged",
    "claude-code: 0 new, 0 grown, 2 unchanged",
  ]);
  expect(filesIn(sessions)).toEqual(files);
});

test("--json prints one object per session; its path is null in a dry run", async () => {
  const { home, imported, sessions } = homeWithSessions();
  const dry = jsonLines(await imported(["--all", "--dry-run", "--json"]));
  expect(filesIn(sessions)).toEqual([]);
  const real = jsonLines(await imported(["--all", "--json"]));
  const names = ["source", "sourceId", "sourcePath", "path", "id", "status", "counts", "dropped", "issues"];
  for (const one of [...dry, ...real]) expect(Object.keys(Object(one))).toEqual(names);
  const planned = { path: null, status: "new" };
  expect(dry).toMatchObject([planned, planned, planned]);
  expect(real).toMatchObject([
    { source: "codex", sourceId: THREAD_ID, sourcePath: join(home, CODEX_PATH), id: THREAD_ID, issues: [] },
    {
      source: "claude-code",
      sourceId: SESSION_ID,
      sourcePath: join(home, CLAUDE_PATH),
      counts: { records: 4, mapped: 4, kept: 0, dropped: 0, assistantMessages: 2, toolResults: 1 },
      dropped: {},
    },
    { source: "claude-code", sourceId: `${SESSION_ID}.agent-abc`, id: `agent-abc.${SESSION_ID}` },
  ]);
  for (const one of real) expect(readFileSync(String(Object(one).path), "utf8")).toContain(Object(one).id);
  // Without --all, too, --json prints each session and writes nothing.
  expect(jsonLines(await imported(["--json"]))).toMatchObject([
    { path: null },
    { path: null },
    { path: null },
  ]);
});

test("a dry run reports that nothing was written", async () => {
  const { imported, sessions } = homeWithSessions();
  expect((await imported(["--all", "--dry-run"])).lines).toEqual([
    "codex: 1 new, 0 grown, 0 unchanged",
    "claude-code: 2 new, 0 grown, 0 unchanged",
    "Nothing was written.",
  ]);
  expect(filesIn(sessions)).toEqual([]);
});

test("--from, --project, --since, and paths select sessions", async () => {
  const { home, imported } = homeWithSessions();
  const chosen = async (...args: string[]) =>
    jsonLines(await imported([...args, "--dry-run", "--json"])).map((one) => Object(one).source);
  expect(await chosen("--from", "codex")).toEqual(["codex"]);
  expect(await chosen("--project", "/code/project")).toHaveLength(3);
  expect(await chosen("--project", ".")).toEqual([]);
  expect(await chosen("--since", "2026-01-01")).toHaveLength(3);
  expect(await chosen("--since", "2999-01-01")).toEqual([]);
  // The clock of these tests is earlier than that of the files.
  expect(await chosen("--since", "12h")).toHaveLength(3);
  // A time without a zone is local, as in a search.
  const laterInUtc = new Date(Date.now() + 3 * 3600 * 1000).toISOString().slice(0, 19);
  expect(await chosen("--since", laterInUtc)).toEqual([]);
  vi.stubEnv("TZ", "Etc/GMT-14");
  expect(await chosen("--since", laterInUtc)).toHaveLength(3);
  expect(await chosen(join(home, CODEX_PATH))).toEqual(["codex"]);
  expect(await chosen(".claude")).toEqual(["claude-code", "claude-code"]);
  expect(await chosen(".codex", ".claude", "--from", "claude-code")).toEqual(["claude-code", "claude-code"]);
});

test("a grown source appends, and a session continued here keeps its branch", async () => {
  const { put, imported, sessions } = homeWithSessions();
  await imported(["--all"]);
  const [file = ""] = filesIn(sessions).filter((name) => name.endsWith(`_${SESSION_ID}.jsonl`));
  const before = readFileSync(join(sessions, file), "utf8");
  put(CLAUDE_PATH, joinLines([...CONVERSATION, user("p2", "a2", "Thanks")]));
  expect((await imported(["--all"])).lines).toContain("claude-code: 0 new, 1 grown, 1 unchanged");
  const after = readFileSync(join(sessions, file), "utf8");
  expect(after.startsWith(before)).toBe(true);
  expect(after).toContain("Thanks");
});

test("imported sessions are listed with their source, searched, viewed, counted, exported, and verified", async () => {
  const { folder, settings, imported, sessions } = homeWithSessions();
  await imported(["--all"]);
  const ours = async (...args: string[]) => {
    const done = await cli(args, settings);
    expect([args, done.code], done.stderr).toEqual([args, 0]);
    return done.stdout;
  };
  const listed = await ours("list", "--all", "--source", "any");
  expect(listed).toMatch(/\tFind the leak\t.*\tclaude-code$/m);
  expect(listed).toMatch(/\tCount the taps\t.*\tcodex$/m);
  expect(await ours("list", "--all", "--source", "codex")).not.toContain("Find the leak");
  expect(await ours("list", "--all", "--json")).toContain('"source":"codex"');
  expect(await ours("search", "leak", "--all")).toContain("Find the leak");
  await ours("view", THREAD_ID, "--no-open", "-o", join(folder, "page.html"));
  expect(readBytes(readFileSync(join(folder, "page.html"), "utf8")).toString()).toContain("Three.");
  expect(JSON.parse(await ours("stats", SESSION_ID, "--json"))).toMatchObject({ usage: { output: 20 } });
  expect(await ours("export", SESSION_ID, "--markdown")).toContain("It is the tap.");
  for (const name of filesIn(sessions)) await ours("verify", join(sessions, name), "--schema");
});

test("imported sessions have their own folder, which every command searches; --dir and older sessions are unchanged", async () => {
  const { folder, home, settings, imported, sessions } = homeWithSessions();
  const mine = join(folder, "agent", "sessions");
  await imported(["--all", "--from", "codex", "--dir", join(mine, "--code-project--")]);
  await imported(["--all"]);
  expect(filesIn(mine)).toEqual([expect.stringContaining(THREAD_ID)]);
  expect(filesIn(sessions)).toEqual([
    expect.stringContaining(SESSION_ID),
    expect.stringContaining(SESSION_ID),
  ]);
  expect(filesIn(sessions).every((name) => dirname(name) === "--code-project--")).toBe(true);
  const inProject = { ...settings, cwd: "/code/project" };
  const outputs = await Promise.all(
    [["list"], ["search", "leak"], ["show", SESSION_ID.slice(0, 6)], ["show", "@last"]].map((args) =>
      cli(args, inProject),
    ),
  );
  for (const { code, stdout } of outputs) {
    expect(code).toBe(0);
    expect(stdout).toMatch(/leak|Count|code-project/);
  }
  for (const name of ["work", "more"]) {
    const dir = join(home, name);
    await imported(["--all", "--dir", dir]);
    expect(filesIn(dir)).toHaveLength(3);
  }
});

test("a given file without a session, such as a truncated document, is reported as a failure", async () => {
  const { folder, settings } = homeWithSessions();
  const torn = join(folder, "export.json");
  writeFileSync(torn, '{"info":{"id":"ses_1","title":"A wall"},"messages":[{"info":{"id":"msg_1","ro');
  const done = await cli(["import", torn], settings);
  expect([done.code, done.stderr]).toEqual([
    1,
    expect.stringContaining("contains no session that can be imported"),
  ]);
});

test("a deleted session stays deleted, which an import reports; --again restores it", async () => {
  const { settings, imported, sessions } = homeWithSessions();
  await imported(["--all"]);
  const done = await cli(["rm", SESSION_ID, "--permanent", "--yes"], settings);
  expect(done.code).toBe(0);
  const statuses = async (...args: string[]) =>
    jsonLines(await imported(["--all", "--json", ...args])).map((one) => [
      Object(one).status,
      Object(one).path === null,
    ]);
  expect(await statuses("--dry-run")).toEqual([
    ["unchanged", true],
    ["deleted", true],
    ["unchanged", true],
  ]);
  expect((await imported(["--all"])).lines).toContain(
    "claude-code: 0 new, 0 grown, 1 unchanged, 1 deleted here (--again imports them)",
  );
  expect(filesIn(sessions)).toHaveLength(2);
  expect((await statuses("--again")).map(([status]) => status)).toEqual(["unchanged", "new", "unchanged"]);
  expect(filesIn(sessions)).toHaveLength(3);
});

test("a list distinguishes a session, its subagents, and its fork's by unique IDs", async () => {
  const { put, settings, imported } = homeWithSessions();
  const fork = SESSION_ID.replace(/.$/, "6");
  const agents = (id: string, agentId: string) =>
    put(
      CLAUDE_PATH.replace(`${SESSION_ID}.jsonl`, `${id}/subagents/agent-${agentId}.jsonl`),
      joinLines([user("u", null, `look ${id} ${agentId}`, { ...AGENT, agentId })]),
    );
  put(
    CLAUDE_PATH.replace(SESSION_ID, fork),
    joinLines(CONVERSATION.map((one) => ({ ...one, sessionId: fork }))),
  );
  agents(SESSION_ID, "abd");
  agents(fork, "abc");
  await imported(["--all"]);
  const { lines } = await cli(["list", "--pretty", "--all"], settings);
  const ids = lines.slice(1).map((line) => line.split(" ")[0] ?? "");
  expect(new Set(ids).size).toBe(6);
  for (const id of ids) {
    const { code, stdout } = await cli(["verify", id, "--json"], settings);
    expect([id, code]).toEqual([id, 0]);
    expect(stdout).toContain(id);
  }
});

test("reports bad arguments, exits with code 2, and writes nothing", async () => {
  const { home, put, imported, sessions } = homeWithSessions();
  const pi = put(
    "pi.jsonl",
    '{"type":"session","version":3,"id":"x","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}\n',
  );
  const kimi = put("kimi.jsonl", '{"role":"_checkpoint","id":0}\n');
  for (const [args, says] of [
    [["--from", "vim"], /--from must be one of atif, claude-code, cline, codex/],
    [["--since", "soon"], /--since <time> accepts "today", .* a month/],
    [[join(home, "missing.jsonl")], /missing\.jsonl does not exist/],
    [[pi], /is a session from pi and can be opened without an import/],
    [[kimi], /of kimi-cli, which Kimi Code has replaced\. This version of sessiontree cannot read it/],
  ] as const) {
    const done = await imported(args);
    expect([done.code, done.stdout]).toEqual([2, ""]);
    expect(done.stderr).toMatch(says);
  }
  expect(filesIn(sessions)).toEqual([]);
});

test("a session of pi's version 4 is imported by its name, in either dialect, and stays unchanged", async () => {
  const { put, imported, sessions } = homeWithSessions();
  for (const [, source, text] of FOREIGN_FILES) {
    if (source !== "pi-v4") continue;
    const path = put("four.jsonl", text);
    const done = await imported([path]);
    expect([done.code, done.stdout]).toEqual([0, "pi-v4: 1 new, 0 grown, 0 unchanged\n"]);
    expect(done.stderr).toMatch(/^To list them: sessiontree list --\w+.*\n$/);
    expect((await imported([path])).stderr).toBe("");
    expect(readFileSync(path, "utf8")).toBe(text);
    const [file = ""] = filesIn(sessions);
    const verified = await cli(["verify", join(sessions, file)]);
    expect([verified.code, verified.stderr]).toEqual([0, ""]);
    rmSync(sessions, { recursive: true });
  }
});

test("a message file with other content is reported, with code 1, and the rest is imported", async () => {
  const { put, imported } = homeWithSessions();
  const chat = put("chat.json", JSON.stringify([{ role: "user", content: "hello" }]));
  const wrong = put("wrong.json", JSON.stringify([{ role: "wizard", content: "hello" }]));
  const done = await imported([chat, wrong]);
  expect(done).toMatchObject({ code: 1, lines: ["messages: 1 new, 0 grown, 0 unchanged"] });
  expect(done.stderr).toContain(`${wrong} was left out`);
});

test("a database that cannot be read fails only imports that select its program, and is named once", async () => {
  const { settings, put } = homeWithSessions();
  const imported = (args: readonly string[]) => cli(args, settings);
  const database = put(".local/share/opencode/opencode.db", `SQLite format 3\0${"damaged ".repeat(200)}`);
  const mentions = (text: string) => text.split(database).length - 1;
  const listed = await imported(["list"]);
  expect([listed.code, mentions(listed.stderr)]).toEqual([0, 1]);
  const other = await imported(["import", "--from", "codex"]);
  expect([other.code, mentions(other.stderr)]).toEqual([0, 0]);
  const own = await imported(["import", "--all", "--from", "opencode"]);
  expect([own.code, own.stdout]).toEqual([1, "No sessions that can be read were found.\n"]);
  expect(mentions(own.stderr)).toBe(1);
  const all = await imported(["import", "--all"]);
  expect([all.code, mentions(all.stderr)]).toEqual([1, 1]);
  expect(all.stdout).toContain("claude-code: ");
});

test("counts and reports issues", async () => {
  const { put, imported } = homeWithSessions();
  const whole = joinLines([meta(), ...turn("hi", said("assistant", "yes"))]);
  put(CODEX_PATH, `${whole}{torn`);
  expect((await imported(["--from", "codex"])).lines).toEqual([
    "codex: 1 new, 0 grown, 0 unchanged, 1 issue",
    expect.stringMatching(/^ {2}\/.*rollout.*\.jsonl$/),
    expect.stringMatching(/^ {4}line \d+: TAIL_TORN: /),
  ]);
  put(CODEX_PATH, `${whole}{torn again`);
  expect(jsonLines(await imported(["--from", "codex", "--json"]))).toMatchObject([
    { issues: [{ code: "TAIL_TORN" }] },
  ]);
});

test("--store imports into a database, and appends to a session that grows", async () => {
  const { put, imported, sessions } = homeWithSessions();
  const stores = new TestDatabase();
  const into = ["--store", URL_OF_STORE];
  const done = await imported(["--all", "--json", ...into], { stores });
  expect(done.stderr).toBe("");
  expect(jsonLines(done)).toMatchObject([
    { path: THREAD_ID },
    { path: SESSION_ID },
    { path: `agent-abc.${SESSION_ID}` },
  ]);
  expect(await stores.ids()).toEqual([THREAD_ID, SESSION_ID, `agent-abc.${SESSION_ID}`].sort());
  expect((await imported(["--all", ...into], { stores })).lines).toContain(
    "codex: 0 new, 0 grown, 1 unchanged",
  );
  const before = await stores.bytes(SESSION_ID);
  put(CLAUDE_PATH, joinLines([...CONVERSATION, user("p2", "a2", "Thanks")]));
  expect((await imported(["--all", ...into], { stores })).lines).toContain(
    "claude-code: 0 new, 1 grown, 1 unchanged",
  );
  const after = await stores.bytes(SESSION_ID);
  expect(after.startsWith(before) && after.includes("Thanks")).toBe(true);
  expect(done.stdout + done.stderr).not.toContain(SHOWN_STORE);
  expect(filesIn(sessions)).toEqual([]);
});

test("a session deleted from a database stays deleted, even if its answer was lost; a rejected deletion marks nothing", async () => {
  const { settings, imported } = homeWithSessions();
  const backend = new MemoryBackend();
  const stores = new TestDatabase(() => backend);
  const into = ["--store", URL_OF_STORE];
  const statuses = async () =>
    jsonLines(await imported(["--all", "--json", ...into], { stores })).map((one) => Object(one).status);
  const remove = () => cli(["rm", SESSION_ID, "--yes", ...into], { ...settings, stores });
  expect(await statuses()).toEqual(["new", "new", "new"]);
  const whole = backend.delete.bind(backend);
  backend.delete = async () => {
    throw new SessionError("READ_ONLY", "Not allowed.");
  };
  expect((await remove()).code).toBe(1);
  await whole(SESSION_ID);
  expect(await statuses()).toEqual(["unchanged", "new", "unchanged"]);
  backend.delete = async (id) => {
    await whole(id);
    throw new Error("the connection failed");
  };
  expect((await remove()).stderr).toContain("The store does not respond");
  expect(await stores.ids()).not.toContain(SESSION_ID);
  expect(await statuses()).toEqual(["unchanged", "deleted", "unchanged"]);
});

test("shows progress in a terminal", async () => {
  const { settings } = homeWithSessions();
  const errors: string[] = [];
  let nowMs = NOW_MS;
  const code = await run(["import", "--all"], {
    ...settings,
    stdout: { write: () => undefined, isTTY: true, columns: 80 },
    stderr: { write: (piece) => errors.push(piece), isTTY: true, columns: 80 },
    stores: new TestDatabase(),
    now: () => {
      nowMs += 200;
      return nowMs;
    },
  });
  expect(code).toBe(0);
  const shown = errors.join("");
  expect(shown).toMatch(/Importing sessions .*2\/2/);
  expect(shown.split("\r\u001b[K").at(-1)).toMatch(/^To list them: sessiontree list --\w+.*\n$/);
});

test("an interrupt stops it with code 130 and a report; the next import continues", async () => {
  const { imported, sessions } = homeWithSessions();
  const { signal } = new AbortController();
  Object.defineProperty(signal, "aborted", { get: () => filesIn(sessions).length > 0 });
  const done = await imported(["--all", "--json"], { untilInterrupted: () => signal });
  expect(done.code).toBe(130);
  expect(done.stderr).toMatch(/interrupted; run it again/);
  expect(jsonLines(done)).toMatchObject([{ source: "codex" }]);
  expect((await imported(["--all"])).lines).toEqual([
    "codex: 0 new, 0 grown, 1 unchanged",
    "claude-code: 2 new, 0 grown, 0 unchanged",
  ]);
  const at = await imported(["--all"], { untilInterrupted: () => AbortSignal.abort() });
  expect([at.code, at.stdout]).toEqual([130, ""]);
});

test("a wrong value of --source or --role is wrong usage, and the message lists the valid ones", async () => {
  const { settings } = homeWithSessions();
  for (const args of [
    ["list", "--all", "--source", "codecs"],
    ["search", "tap", "--all", "--role", "user,asistant"],
  ]) {
    const { code, stdout, stderr } = await cli(args, settings);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(
      /--source must be one of atif, claude-code, cline, codex, .*any|--role must be one of user, assistant, /,
    );
  }
  expect((await cli(["list", "--all", "--source", "messages"], settings)).code).toBe(0);
});

test("--watch writes a line for each change, and exits successfully when interrupted", async () => {
  const { imported, put } = homeWithSessions();
  const interruption = new AbortController();
  const texts: string[] = [];
  const onOutput = (text: string) => {
    texts.push(text);
    if (texts.length === 3) put(CLAUDE_PATH, joinLines([...CONVERSATION, user("q2", "a2", "and now?")]));
    if (texts.length === 4) interruption.abort();
  };
  const watched = await imported(["--watch"], { onOutput, untilInterrupted: () => interruption.signal });
  expect([watched.code, watched.stderr]).toEqual([
    0,
    "sessiontree: Watching for changes; press Ctrl-C to stop.\n",
  ]);
  expect(watched.lines.map((line) => line.split("  ").slice(1, 3))).toEqual([
    ["codex", "new"],
    ["claude-code", "new"],
    ["claude-code", "new"],
    ["claude-code", "grown"],
  ]);
  expect(await imported(["--watch", "--dry-run"])).toMatchObject({ code: 2 });
});

test("a session whose source was deleted stays, and list and import report it", async () => {
  const { home, imported, settings } = homeWithSessions();
  await imported(["--all"]);
  rmSync(join(home, CODEX_PATH));
  expect((await imported(["--all"])).lines).toContain(
    "codex: 0 new, 0 grown, 0 unchanged, 1 gone there (kept here)",
  );
  const listed = await cli(["list", "--all", "--source", "codex", "--json"], settings);
  expect(jsonLines(listed)).toMatchObject([{ source: "codex", sourceGone: true }]);
  const text = await cli(["list", "--all", "--source", "any"], settings);
  const origins = text.lines.map((line) => line.split("\t").slice(7).join(" "));
  expect(origins.sort()).toEqual(["claude-code", "claude-code", "codex gone"]);
});

test("a list without sessions shows how many each program has, and how to import them", async () => {
  const { settings, imported } = homeWithSessions();
  const listed = async () => (await cli(["list", "--all"], settings)).stderr;
  const before = await listed();
  expect(before).toMatch(
    /\nOther programs have \d+ sessions that can be imported, plus subagent sessions: claude-code \d+, codex 1\.\n/,
  );
  expect(before).toContain("\nTo import them: sessiontree import --all\n");
  expect((await imported(["--all"])).code).toBe(0);
  expect(await listed()).toBe("");
  expect((await cli(["list", "--all", "--json"], { ...settings, env: { HOME: "/none" } })).stderr).toBe("");
});

describe("--hook", () => {
  /** Runs the hook with an agent's input; also returns the arguments of the process it started. */
  async function hooked(imported: ReturnType<typeof homeWithSessions>["imported"], input: string) {
    const passedOn: string[] = [];
    const again = async (text: string) => {
      passedOn.push(text);
    };
    const done = await imported(["--hook"], { stdin: inputOf(input), again });
    return { ...done, passedOn };
  }

  async function* inputOf(text: string) {
    yield text;
  }

  test("imports the session given by an agent, with its subagents, and prints nothing", async () => {
    const { home, imported, sessions } = homeWithSessions();
    const input = {
      transcript_path: join(home, CLAUDE_PATH),
      session_id: SESSION_ID,
      hook_event_name: "Stop",
    };
    const quiet = { code: 0, stdout: "", stderr: "", passedOn: [] };
    expect(await hooked(imported, JSON.stringify(input))).toMatchObject(quiet);
    expect(filesIn(sessions)).toHaveLength(2);
    const clines = { taskId: "conv_1", sessionContext: { rootSessionId: THREAD_ID } };
    expect(await hooked(imported, JSON.stringify(clines))).toMatchObject(quiet);
    expect(filesIn(sessions)).toHaveLength(3);
    rmSync(sessions, { recursive: true });
    expect(await hooked(imported, JSON.stringify({ sessionId: THREAD_ID }))).toMatchObject(quiet);
    expect(filesIn(sessions)).toHaveLength(1);
    const begun = { transcript_path: join(home, "not-yet.jsonl") };
    expect(await hooked(imported, JSON.stringify(begun))).toMatchObject(quiet);
    writeFileSync(begun.transcript_path, "");
    expect(await hooked(imported, JSON.stringify(begun))).toMatchObject(quiet);
  });

  test("imports the subagent that has finished, if the agent specifies it, too", async () => {
    const { home, imported, sessions } = homeWithSessions();
    const paths = { transcript_path: join(home, CLAUDE_PATH), agent_transcript_path: join(home, CODEX_PATH) };
    const input = JSON.stringify({ ...paths, hook_event_name: "SubagentStop" });
    expect(await hooked(imported, input)).toMatchObject({ code: 0, stderr: "" });
    expect(filesIn(sessions)).toEqual([expect.stringContaining(THREAD_ID)]);
  });

  test("never fails an agent", async () => {
    const { imported } = homeWithSessions();
    for (const input of ["", "[]", "{", '{"transcript_path":""}']) {
      const { code, stdout, stderr } = await hooked(imported, input);
      expect([code, stdout], input).toEqual([0, ""]);
      expect(stderr.split("\n"), input).toHaveLength(2);
    }
    expect(await imported(["--hook", "--unknown"])).toMatchObject({ code: 0, stdout: "" });
    expect(await imported(["--hook"])).toMatchObject({ code: 0, stdout: "" });
  });

  test("reports once what it cannot write", async () => {
    const { home, imported, sessions } = homeWithSessions();
    mkdirSync(dirname(sessions), { recursive: true });
    writeFileSync(sessions, "no folder");
    const input = JSON.stringify({ transcript_path: join(home, CODEX_PATH) });
    const { code, stdout, stderr } = await hooked(imported, input);
    expect([code, stdout, stderr.split("\n").length]).toEqual([0, "", 2]);
    expect(stderr).toContain("Cannot write to");
  });

  test.each([
    ["a large session", 6, "Stop"],
    ["the session of an agent that ends", 1, "SessionEnd"],
  ])("leaves %s to another process", async (_, megabytes, event) => {
    const { imported, put, sessions } = homeWithSessions();
    const prompts = Array.from({ length: megabytes }, (_, i) => user(`q${i}`, null, "x".repeat(1024 * 1024)));
    const path = put(CLAUDE_PATH, joinLines(prompts));
    const first = await hooked(imported, JSON.stringify({ transcript_path: path, hook_event_name: event }));
    expect([first.code, first.stderr, filesIn(sessions)]).toEqual([0, "", []]);
    const [input = ""] = first.passedOn;
    const second = await hooked(imported, input);
    expect(second).toMatchObject({ code: 0, stderr: "", passedOn: [] });
    expect(filesIn(sessions)).toHaveLength(2);
  });
});

test("sessions of OpenClaw need no import: list and view show them, and import reports the rest", async () => {
  const { home, imported, put, settings } = homeWithSessions();
  const folder = ".openclaw/agents/main/sessions";
  const header = {
    type: "session",
    version: 3,
    id: "claw",
    timestamp: "2026-02-10T09:00:00.000Z",
    cwd: "/code",
  };
  put(`${folder}/claw.jsonl`, joinLines([header]));
  put(`${folder}/claw.checkpoint.0199d8e6.jsonl`, joinLines([{ ...header, id: "copy" }]));
  put(`${folder}/sessions.json`, "{}");
  const archive = put(`${folder}/old.jsonl.deleted.2026-01-01`, joinLines([header]));
  const database = put(".openclaw/agents/main/sessions.sqlite", "");
  const listed = await cli(["list", "--all", "--source", "openclaw", "--json"], settings);
  expect(jsonLines(listed)).toMatchObject([
    { id: "claw", source: "openclaw", path: join(home, folder, "claw.jsonl") },
  ]);
  const { stderr } = await imported([]);
  expect(stderr).toContain("openclaw: 1 session, which need no import");
  expect(stderr).toContain(archive);
  expect(stderr).toContain(`${database} is a database from OpenClaw 2026.9`);
});

test("--lost lists prompts of deleted sessions, and saves them once", async () => {
  const { imported, put, settings } = homeWithSessions();
  const prompt = (sessionId: string, display: string, timestamp: number) => ({
    display,
    pastedContents: {},
    timestamp,
    project: "/code",
    sessionId,
  });
  const lines = [
    prompt(SESSION_ID, "kept", NOW_MS),
    prompt("lost", "first", NOW_MS),
    prompt("lost", "second", NOW_MS + 1),
  ];
  put(".claude/history.jsonl", `${joinLines(lines)}{"torn`);
  expect(jsonLines(await imported(["--lost", "--json"]))).toEqual([
    {
      sourceId: "lost",
      cwd: "/code",
      created: "2026-02-10T12:00:00.000Z",
      prompts: 2,
      firstPrompt: "first",
      path: null,
    },
  ]);
  const [line = ""] = (await imported(["--lost", "--all"])).lines;
  const text = readFileSync(line.split("\t")[4] ?? "", "utf8");
  expect(text).toMatch(/Only the prompts of this session are left.*"first".*"second"/s);
  expect(await imported(["--lost"])).toMatchObject({
    stdout: "",
    stderr: "No prompts of deleted sessions were found.\n",
  });
  expect((await cli(["verify", line.split("\t")[4] ?? ""], settings)).code).toBe(0);
});

test("generated messages do not become a session's title, and the tree hides them as records", async () => {
  const { put, imported, settings, sessions } = homeWithSessions();
  const rules = [
    said("developer", "<permissions instructions>RULES"),
    said("user", "<environment_context>RULES</environment_context>"),
    said("user", "<skills_instructions>RULES</skills_instructions>"),
  ];
  put(
    CODEX_PATH,
    joinLines(numbered([meta(), ...rules, ...turn("Count the taps", said("assistant", "Three."))])),
  );
  await imported(["--from", "codex"]);
  const { stdout: out } = await cli(["list", "--all"], settings);
  expect(out).toContain("Count the taps");
  expect(out).not.toContain("RULES");
  const [file = ""] = filesIn(sessions);
  const drawn = (await cli(["tree", join(sessions, file), "--pretty"], settings)).stdout;
  expect(drawn).toContain("4 records of state, usage, or imports hidden");
  expect(drawn).not.toContain("RULES");
});
