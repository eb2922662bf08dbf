import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { realFileSystem } from "../../../src/session/fs/file-system.ts";
import { reserveFile } from "../../../src/session/log/replace-file.ts";
import { joinLines, part, SESSION_ID, text, user } from "../../interop/import/support/claude-records.ts";
import { jsonLines } from "./support/cli.ts";
import { BACKUP, CLAUDE, getState, HOOK, makeClaudeHome, makeHome, SETTINGS } from "./support/keep-home.ts";

describe("keep", () => {
  test("imports once, installs hooks, and does nothing the second time; --off restores the file", async () => {
    const home = makeClaudeHome();
    const { put, read, keep, list, data } = home;
    chmodSync(join(home.home, CLAUDE), 0o640);
    put(
      `.claude/projects/-p/${SESSION_ID}.jsonl`,
      joinLines([
        user("q", null, "Find the leak"),
        part("a", "q", "msg", text("It is the tap."), { stop: "end_turn" }),
      ]),
    );
    const first = await keep("--yes");
    expect(first).toMatchObject({ code: 0, stderr: "To list them: sessiontree list --all\n" });
    expect(first.stdout).toContain("deletes sessions 99 days after their last use (cleanupPeriodDays)\n");
    expect(first.stdout).toContain("1 session, 1 to import; last import: none\n");
    expect(first.stdout).toContain("claude-code: 1 new");
    expect(readdirSync(join(data, "imported"))).toHaveLength(1);
    const edited = read(CLAUDE);
    expect(edited).toContain("// what I like");
    expect(edited).toContain('"command": "say done" }] }, // speak\n');
    expect(edited.match(new RegExp(`"command": "${HOOK}",\n *"timeout": 20\n`, "g"))).toHaveLength(3);
    expect(statSync(join(home.home, CLAUDE)).mode & 0o777).toBe(0o640);
    expect([read(BACKUP), statSync(join(home.home, BACKUP)).mode & 0o777]).toEqual([SETTINGS, 0o600]);

    const second = await keep("--yes");
    expect(second).toMatchObject({ code: 0, stderr: "There is nothing to do.\n" });
    expect(second.stdout).toContain("1 session; last import: ");
    expect(second.stdout).toContain(`hook: installed in ${join(home.home, CLAUDE)}\n`);
    expect(read(CLAUDE)).toBe(edited);

    expect(await keep("--off --yes")).toMatchObject({ code: 0, stderr: "" });
    expect(read(CLAUDE)).toBe(SETTINGS);
    expect(statSync(join(home.home, CLAUDE)).mode & 0o777).toBe(0o640);
    expect(list(".claude")).toEqual(["projects", "settings.json"]);
    expect(existsSync(home.record)).toBe(false);
    expect(readdirSync(join(data, "imported"))).toHaveLength(1);
    const again = await keep("--off --yes");
    expect(again).toMatchObject({ code: 0, stdout: "keep has installed nothing here.\n", stderr: "" });
  });

  test("finds each agent, shows what it deletes, and creates files that --off removes", async () => {
    const { home, put, read, keep, list } = makeHome();
    const places = [
      [".codex/hooks.json", "SubagentStop"],
      [".gemini/settings.json", "AfterAgent"],
      [".qwen/settings.json", "SessionEnd"],
      [".copilot/settings.json", "agentStop"],
      [".cline/hooks/TaskComplete", HOOK],
    ] as const;
    for (const folder of [
      ".codex",
      ".gemini/tmp",
      ".qwen",
      ".copilot",
      ".cline/data",
      ".kimi-code",
      ".pi/agent",
    ])
      mkdirSync(join(home, folder), { recursive: true });
    put(".openclaw/openclaw.json", '{"session": {"maintenance": {"pruneAfter": "7d"}}}');
    put(".openclaw/agents/main/sessions/a.jsonl", "");
    const status = await keep("--status");
    expect(status.stdout).toContain(
      "Gemini CLI\n    deletes sessions after 30d (general.sessionRetention.maxAge, default)\n",
    );
    expect(status.stdout).toContain(
      "OpenClaw\n    archives or deletes sessions after 7d (session.maintenance.pruneAfter)\n",
    );
    expect(status.stdout).toContain(
      "Kimi Code\n    keeps sessions until you delete them\n    0 sessions; last import: none\n    no hooks: ",
    );
    expect(status.stdout).toContain("pi\n    keeps sessions until you delete them\n    needs no import");
    expect(list(".codex")).toEqual([]);

    const { stdout, code } = await keep("--yes");
    expect(code).toBe(0);
    expect(stdout).toContain("Codex asks at its next start");
    for (const [path, what] of places) expect(read(path)).toContain(what);
    expect(statSync(join(home, ".cline/hooks/TaskComplete")).mode & 0o777).toBe(0o755);
    expect(JSON.parse(read(".copilot/settings.json"))).toMatchObject({
      hooks: { sessionEnd: [{ type: "command", bash: HOOK, powershell: HOOK, timeoutSec: 20 }] },
    });
    expect(await keep("codex --off --yes")).toMatchObject({ code: 0, stderr: "" });
    expect(existsSync(join(home, ".codex/hooks.json"))).toBe(false);
    expect(existsSync(join(home, ".qwen/settings.json"))).toBe(true);
    await keep("--off --yes");
    expect(places.filter(([path]) => existsSync(join(home, path)))).toEqual([]);
  });

  test("an extension of an editor has no hooks, and its deletions are unknown", async () => {
    const { put, keep } = makeHome();
    put(".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/1/a", "");
    expect(jsonLines(await keep("--status --json"))).toMatchObject([
      { agent: "cline", retention: { deletes: null }, hook: "none" },
    ]);
  });

  test("asks once, and changes nothing without a yes", async () => {
    const { read, keep, record } = makeClaudeHome();
    const questions: string[] = [];
    const ask = (answer: string) => async (question: string) => {
      questions.push(question);
      return answer;
    };
    // An interrupt at the question gives no answer.
    expect(await keep("", { ask: ask("") })).toMatchObject({
      code: 1,
      stderr: "sessiontree: Nothing was changed.\n",
    });
    expect([read(CLAUDE), existsSync(record)]).toEqual([SETTINGS, false]);
    expect(questions).toEqual([expect.stringMatching(/^Add hooks to \S+settings\.json\? \[y\/N\] $/)]);
    const silent = await keep("");
    expect(silent).toMatchObject({ code: 2, stderr: expect.stringContaining("add --yes to confirm") });
    expect([read(CLAUDE), existsSync(record)]).toEqual([SETTINGS, false]);
    expect(await keep("", { ask: ask("y") })).toMatchObject({ code: 0 });
    const installed = read(CLAUDE);
    expect(await keep("--off", { ask: ask("n") })).toMatchObject({ code: 1 });
    expect(await keep("--off")).toMatchObject({ code: 2 });
    expect(read(CLAUDE)).toBe(installed);
  });

  test("edits the settings as they are after the question", async () => {
    const home = makeClaudeHome();
    const { put, read, keep } = home;
    const changed = SETTINGS.replace("opus", "sonnet");
    const ask = async () => {
      put(CLAUDE, changed);
      return "y";
    };
    expect(await keep("", { ask })).toMatchObject({ code: 0 });
    expect(read(CLAUDE)).toContain("sonnet");
    expect(read(BACKUP)).toBe(changed);
    await keep("--off --yes");
    expect(read(CLAUDE)).toBe(changed);
  });

  test("does nothing if another keep was faster", async () => {
    const { read, keep, list } = makeClaudeHome();
    const ask = async () => {
      expect(await keep("--yes")).toMatchObject({ code: 0 });
      return "y";
    };
    const { code, stdout } = await keep("", { ask });
    expect([code, stdout]).toEqual([0, expect.not.stringContaining("Added hooks")]);
    expect(read(CLAUDE).split(HOOK)).toHaveLength(4);
    expect(list(".claude")).toEqual(["settings.json", "settings.json.sessiontree-backup"]);
    const both = await Promise.all([keep("--off --yes"), keep("--off --yes")]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(read(CLAUDE)).toBe(SETTINGS);
  });

  test("an interrupted import leaves settings unchanged", async () => {
    const { put, read, keep } = makeClaudeHome();
    put(`.claude/projects/-p/${SESSION_ID}.jsonl`, joinLines([user("q", null, "Find the leak")]));
    const result = await keep("--yes", { untilInterrupted: () => AbortSignal.abort() });
    expect(result).toMatchObject({ code: 130, stderr: expect.stringContaining("interrupted") });
    expect(read(CLAUDE)).toBe(SETTINGS);
  });

  test.each([
    ["do not parse", '{"a": 1,', "line 1 does not parse"],
    ["have a trailing comma", '{"a": 1,}', "line 1 does not parse"],
    ["are empty", "", "does not parse"],
    ["have something else for hooks", '{"hooks": {"Stop": "no"}}', '"hooks.Stop" is not an array'],
    ["are not UTF-8", "\ud800", ""],
  ])("leaves settings unchanged that %s, and continues with others", async (_, settings, problem) => {
    const { home, put, read, keep } = makeClaudeHome(settings);
    if (settings === "\ud800") writeFileSync(join(home, CLAUDE), Buffer.from([0x7b, 0xff, 0x7d]));
    const before = readFileSync(join(home, CLAUDE));
    put(".codex/hooks.json", "{}");
    const { code, stderr } = await keep("--yes");
    expect([code, stderr]).toEqual([1, expect.stringContaining(`settings.json was not changed: `)]);
    expect(stderr).toContain(problem);
    expect(stderr).toContain('Fix that, and run "sessiontree keep" again.');
    expect(readFileSync(join(home, CLAUDE))).toEqual(before);
    expect(read(".codex/hooks.json")).toContain(HOOK);
  });

  test.each(["--yes", "--off --yes"])("leaves settings unchanged that are read-only: %s", async (line) => {
    const home = makeClaudeHome();
    const { read, keep, list } = home;
    if (line.includes("off")) await keep("--yes");
    const before = [read(CLAUDE), list(".claude")];
    chmodSync(join(home.home, CLAUDE), 0o440);
    const { code, stderr } = await keep(line);
    expect([code, stderr]).toEqual([1, expect.stringContaining("was not changed: it is read-only")]);
    expect([read(CLAUDE), list(".claude")]).toEqual(before);
    expect(await getState(home)).toBe(line.includes("off") ? "installed" : "absent");
  });

  test("edits the target of a link, but not a dangling link", async () => {
    const { home, put, read, keep } = makeHome();
    put("dotfiles/claude.json", SETTINGS);
    mkdirSync(join(home, ".claude"));
    symlinkSync("../dotfiles/claude.json", join(home, CLAUDE));
    expect(await keep("--yes")).toMatchObject({ code: 0 });
    expect(lstatSync(join(home, CLAUDE)).isSymbolicLink()).toBe(true);
    expect(read("dotfiles/claude.json")).toContain(HOOK);
    await keep("--off --yes");
    expect(read("dotfiles/claude.json")).toBe(SETTINGS);
    expect(lstatSync(join(home, CLAUDE)).isSymbolicLink()).toBe(true);
    rmSync(join(home, "dotfiles/claude.json"));
    const { code, stderr } = await keep("--yes");
    expect([code, stderr]).toEqual([1, expect.stringContaining("it is a link to a missing file")]);
  });

  test("finds agents in folders set by the environment", async () => {
    const { home, put, read, keep } = makeHome();
    put("work/claude/settings.json", "{}");
    put("work/codex/config.toml", "");
    const env = {
      HOME: home,
      PATH: join(home, "bin"),
      CLAUDE_CONFIG_DIR: join(home, "work/claude"),
      CODEX_HOME: join(home, "work/codex"),
    };
    expect(await keep("--yes", { env })).toMatchObject({ code: 0 });
    expect(read("work/claude/settings.json")).toContain(HOOK);
    expect(read("work/codex/hooks.json")).toContain(HOOK);
    // An installed program is recognized by its path.
    await keep("--off --yes");
    expect(read("work/claude/settings.json")).toBe("{}");
  });

  test.each(["{ }", "{\n\n}", '{"hooks":{ }}', '{"hooks": {"Stop": [\n]}}'])(
    "--off restores %j, to the byte",
    async (settings) => {
      const { read, keep } = makeClaudeHome(settings);
      await keep("--yes");
      expect(read(CLAUDE)).toContain(HOOK);
      await keep("--off --yes");
      expect(read(CLAUDE)).toBe(settings);
    },
  );

  test("waits for another process that installs hooks, and times out", async () => {
    const { read, keep, record } = makeClaudeHome();
    mkdirSync(dirname(record), { recursive: true });
    const release = reserveFile(realFileSystem, record);
    const { code, stderr } = await keep("--yes");
    expect([code, stderr]).toEqual([1, expect.stringContaining('Another "sessiontree keep" is running')]);
    expect(read(CLAUDE)).toBe(SETTINGS);
    release();
    expect(await keep("--yes")).toMatchObject({ code: 0 });
  });

  test("keeps a byte order mark", async () => {
    const { read, keep } = makeClaudeHome(`\ufeff${SETTINGS}`);
    expect(await keep("--yes")).toMatchObject({ code: 0 });
    expect(read(CLAUDE).startsWith("\ufeff{")).toBe(true);
    await keep("--off --yes");
    expect(read(CLAUDE)).toBe(`\ufeff${SETTINGS}`);
  });
});

describe("the command line of keep", () => {
  test.each([
    ["--status --off", "Give --status or --off, not both."],
    ["--nope", "unknown option '--nope'"],
    ["claude", "keep accepts names of agents: claude-code, codex, "],
    ["--store postgres://a/b", "keep works on files."],
  ])("%s is wrong usage", async (line, message) => {
    const { read, keep } = makeClaudeHome();
    expect(await keep(line)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(message) });
    expect(read(CLAUDE)).toBe(SETTINGS);
  });

  test("without an agent does nothing, and reports a requested one as missing", async () => {
    const { keep } = makeHome();
    expect(await keep("--yes")).toMatchObject({ code: 0, stdout: "", stderr: "No agents were found.\n" });
    const { code, stderr } = await keep("codex --yes");
    expect([code, stderr]).toEqual([1, "sessiontree: Not found on this machine: codex.\n"]);
  });

  test("without a home folder reports what to do", async () => {
    const { keep } = makeHome();
    vi.stubEnv("HOME", "");
    const { code, stderr } = await keep("--yes", { env: {} });
    expect([code, stderr]).toEqual([2, expect.stringContaining("set HOME to it")]);
  });

  test("--json prints an object for each agent, and for each edited file", async () => {
    const { home, keep } = makeClaudeHome();
    const path = join(home, CLAUDE);
    const found = {
      action: "found",
      agent: "claude-code",
      name: "Claude Code",
      retention: { deletes: true, after: "99 days", setting: "cleanupPeriodDays", isDefault: false },
      sessions: 0,
      changed: 0,
      lastImport: null,
      hook: "absent",
      path,
    };
    expect(jsonLines(await keep("--yes --json"))).toEqual([
      found,
      { action: "installed", agent: "claude-code", path, backup: join(home, BACKUP) },
    ]);
    expect(jsonLines(await keep("--status --json"))).toEqual([{ ...found, hook: "installed" }]);
    expect(jsonLines(await keep("--off --yes --json"))).toEqual([
      { action: "removed", agent: "claude-code", path, backups: [] },
    ]);
  });

  test("reports where hooks are disabled", async () => {
    const { keep } = makeClaudeHome('{"disableAllHooks": true}');
    await keep("--yes");
    expect((await keep("--status")).stdout).toContain("settings.json; hooks are turned off there\n");
  });
});
