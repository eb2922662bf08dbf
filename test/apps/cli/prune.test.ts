import { appendFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SessionManager } from "sessiontree";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseDuration } from "../../../src/core/facts/times.ts";
import { user as asked, joinLines, SESSION_ID } from "../../interop/import/support/claude-records.ts";
import { PROCESS_DATA } from "../../support/process-home.ts";
import { cli, jsonLines, NOW_MS, widest } from "./support/cli.ts";
import { answering, folderWithTrash, inTrash } from "./support/trash.ts";

const DAY_MS = 86_400_000;

/** Options for a test's session. */
interface Wish {
  readonly days: number;
  readonly name?: string;
  readonly label?: string;
  readonly parentSession?: string;
  readonly cwd?: string;
}

/** Creates a session that was last used a number of days ago. */
function make(folder: string, key: string, { days, name, label, parentSession, cwd = folder }: Wish): string {
  const timeMs = NOW_MS - days * DAY_MS;
  const id = `0198${key.repeat(4)}-0000-7000-8000-000000000001`;
  const settings = { id, ...(parentSession !== undefined && { parentSession }) };
  const session = SessionManager.create(cwd, { sessionDir: folder, now: () => timeMs }, settings);
  const entryId = session.appendMessage({ role: "user", content: `Task ${key}`, timestamp: timeMs });
  if (name !== undefined) session.appendSessionInfo(name);
  if (label !== undefined) session.appendLabelChange(entryId, label);
  return session.getSessionFile() ?? "";
}

/** Five sessions: a and b are old, c is an old parent of the recent d, e is old and has a name and a label. */
function five() {
  const folder = folderWithTrash();
  const [a, b, c] = ["a", "b", "c"].map((key, i) => make(folder, key, { days: 100 + i * 100 })) as [
    string,
    string,
    string,
  ];
  const d = make(folder, "d", { days: 2, parentSession: c });
  const e = make(folder, "e", { days: 400, name: "Precious", label: "good" });
  return { folder, a, b, c, d, e };
}

const PRUNE = ["prune", "--older-than", "90d"];

// Other systems keep their trash where no variable can move it, and a test must not fill a person's trash.
describe.runIf(process.platform === "linux")("sessiontree prune", () => {
  test("shows the plan, and does nothing else with --dry-run", async () => {
    const { folder } = five();
    const result = await cli([...PRUNE, "--dir", folder, "--dry-run"]);
    expect([result.code, result.stderr]).toEqual([0, ""]);
    expect(result.lines.map((line) => line.replace(/\d{3} bytes/, "N bytes").replace(/ +/g, " "))).toEqual([
      "0198aaaa 2025-11-02 N bytes Task a",
      "0198bbbb 2025-07-25 N bytes Task b",
      "0198eeee 2025-01-06 N bytes Precious",
      expect.stringMatching(/^3 sessions to delete \(1\.\d kB\), 2 to keep\.$/),
    ]);
    expect(widest(result)).toBeLessThanOrEqual(80);
    expect(inTrash()).toEqual([]);
  });

  test("explains with --verbose which sessions stay, and why", async () => {
    const { folder } = five();
    const { stdout } = await cli([
      ...PRUNE,
      ...["--dir", folder, "--dry-run", "--verbose", "--keep-named", "--keep-labeled"],
    ]);
    expect(stdout).toMatch(/0198cccc .* keep: parent {2}Task c\n/);
    expect(stdout).toMatch(/0198dddd .* keep: recent {2}Task d\n/);
    expect(stdout).toMatch(/0198eeee .* keep: named {2}Precious\n/);
  });

  test("asks after showing the plan, and takes an empty answer as no", async () => {
    const { folder, a } = five();
    const { questions, ask } = answering("");
    const { code, stdout, stderr } = await cli([...PRUNE, "--dir", folder], { ask });
    expect([code, stderr]).toEqual([1, "sessiontree: Nothing was deleted.\n"]);
    expect(questions).toEqual(["Move these 3 sessions to the trash? [y/N] "]);
    expect(stdout).toContain("Task a");
    expect(existsSync(a)).toBe(true);
  });

  test("is wrong usage if it cannot ask, after showing the plan", async () => {
    const { folder, a } = five();
    const { code, stdout } = await cli([...PRUNE, "--dir", folder]);
    expect([code, existsSync(a)]).toEqual([2, true]);
    expect(stdout).toContain("3 sessions to delete");
  });

  test("moves old sessions to the trash, except parents of those that stay", async () => {
    const { folder, a, b, c, d, e } = five();
    const { code, stdout } = await cli([...PRUNE, "--dir", folder, "--yes"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/\n3 sessions moved to the trash\.\n$/);
    expect([a, b, c, d, e].map((path) => existsSync(path))).toEqual([false, false, true, true, false]);
    expect(inTrash()).toHaveLength(3);
    expect((await cli([...PRUNE, "--dir", folder])).stdout).toBe("0 sessions to delete, 2 to keep.\n");
  });

  test("keeps labeled sessions or removes parents on request", async () => {
    const { folder, c, e } = five();
    await cli([...PRUNE, "--dir", folder, "--yes", "--keep-labeled", "--include-parents"]);
    expect([existsSync(c), existsSync(e)]).toEqual([false, true]);
  });

  test("covers the project in the current folder, but keeps parents of other projects' sessions", async () => {
    const folder = folderWithTrash();
    const [here, elsewhere] = [join(folder, "here"), join(folder, "elsewhere")];
    const parent = make(folder, "a", { days: 100, cwd: here });
    const old = make(folder, "b", { days: 100, cwd: here });
    const other = make(folder, "c", { days: 100, cwd: elsewhere, parentSession: parent });
    const settings = { cwd: here, env: { PI_CODING_AGENT_SESSION_DIR: folder } };
    expect((await cli([...PRUNE, "--yes"], settings)).code).toBe(0);
    expect([parent, old, other].map((path) => existsSync(path))).toEqual([true, false, true]);
    expect((await cli([...PRUNE, "--yes", "--all"], settings)).code).toBe(0);
    expect([parent, other].map((path) => existsSync(path))).toEqual([false, false]);
  });

  test("accepts that another process deleted a session while it asked", async () => {
    const { folder, a, b } = five();
    const ask = async () => {
      rmSync(a);
      return "y";
    };
    const { code, stderr } = await cli([...PRUNE, "--dir", folder], { ask });
    expect([code, stderr, existsSync(b)]).toEqual([0, "", false]);
  });

  test("skips sessions used while it asked, and continues with the others", async () => {
    const { folder, a, b } = five();
    const ask = async () => {
      appendFileSync(a, "\n");
      return "y";
    };
    const { code, stderr } = await cli([...PRUNE, "--dir", folder], { ask });
    expect([code, existsSync(a), existsSync(b)]).toEqual([1, true, false]);
    expect(stderr).toBe(`sessiontree: ${a} was changed in the meantime, and is kept.\n`);
  });

  test("skips a session that is open under a lease", async () => {
    const { folder, a, b } = five();
    const open = SessionManager.open(a, { lease: "fail" });
    const { code, stderr } = await cli([...PRUNE, "--dir", folder, "--yes"]);
    await open.close();
    expect([code, existsSync(a), existsSync(b)]).toEqual([1, true, false]);
    expect(stderr).toContain("holds the lease");
  });

  test("--json prints the plan and the result, one value per line", async () => {
    const { folder, a, d } = five();
    const result = await cli([...PRUNE, "--dir", folder, "--yes", "--json", "--verbose"]);
    const lines = jsonLines(result);
    expect(lines).toHaveLength(8);
    expect(lines).toContainEqual(
      expect.objectContaining({ action: "delete", path: a, bytes: expect.any(Number) }),
    );
    expect(lines).toContainEqual(expect.objectContaining({ action: "keep", reason: "recent", path: d }));
    expect(lines).toContainEqual({ action: "deleted", id: expect.any(String), path: a, method: "trash" });
  });

  test("an imported session stays deleted until it is restored, whatever happens to its forks", async () => {
    const folder = folderWithTrash();
    const marks = join(PROCESS_DATA, "sessiontree", "deleted-imports");
    const forgetMarks = () => rmSync(marks, { recursive: true, force: true });
    forgetMarks();
    onTestFinished(forgetMarks);
    const source = join(folder, "home", ".claude", "projects", "-code-project", `${SESSION_ID}.jsonl`);
    mkdirSync(dirname(source), { recursive: true });
    writeFileSync(
      source,
      joinLines([asked("q", null, "Find the leak", { timestamp: "2025-01-01T00:00:00Z" })]),
    );
    const settings = { cwd: folder, env: { HOME: join(folder, "home") } };
    const sessions = join(folder, "sessions");
    const imported = async () => {
      const done = await cli(["import", "--all", "--json", "--dir", sessions], settings);
      return jsonLines(done).map((one) => [Object(one).status, Object(one).path === null]);
    };
    expect(await imported()).toEqual([["new", false]]);
    const [name = ""] = readdirSync(sessions);
    await cli(["fork", join(sessions, name), "--dir", sessions], settings);
    expect(readdirSync(sessions)).toHaveLength(2);
    const clone = readdirSync(sessions).find((one) => one !== name) ?? "";
    const all = [...PRUNE, "--dir", sessions, "--yes", "--include-parents"];
    expect((await cli(all, settings)).code).toBe(0);
    expect(readdirSync(sessions)).toEqual([]);
    // One for the imported session, and one for each session, which records where it was continued.
    expect(readdirSync(marks)).toHaveLength(3);
    expect(await imported()).toEqual([["deleted", true]]);
    await cli(["restore", join(sessions, clone)], settings);
    expect(await imported()).toEqual([["deleted", true]]);
    await cli(["restore", join(sessions, name)], settings);
    expect(readdirSync(marks)).toEqual([]);
    expect(await imported()).toEqual([["unchanged", false]]);
    expect(readdirSync(sessions).sort()).toEqual([clone, name].sort());
  });

  test.each([[[]], [["--older-than", "90"]], [["--older-than", "3m"]], [["--older-than", "-1d"]]])(
    "%j is wrong usage",
    async (options) => {
      const { code, stderr } = await cli(["prune", ...options, "--dry-run"], { cwd: folderWithTrash() });
      expect(code).toBe(2);
      expect(stderr).toMatch(/^sessiontree: .*older-than.*90d/);
    },
  );
});

test("durations are hours, days, weeks, and years", () => {
  expect(["12h", "90d", "8w", "1y", "0d"].map(parseDuration)).toEqual(
    [0.5, 90, 56, 365, 0].map((days) => days * DAY_MS),
  );
  expect(["", "d", "1.5d", "1m", "-1d", "1 d", "9999999d"].map(parseDuration)).toEqual(
    Array(7).fill(undefined),
  );
});
