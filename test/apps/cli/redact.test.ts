import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { cli, jsonLines, temporaryFolder } from "./support/cli.ts";
import { Scribe, userLine, writeLines } from "./support/sessions.ts";
import { TestDatabase } from "./support/stores.ts";

/** A session with a secret. */
function withSecret() {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("Hello");
  const secret = scribe.user("The password is tulip");
  const reply = scribe.assistant("I will forget it.");
  return { path: scribe.path, secret, reply };
}

/** Returns the prompts, and answers them. */
function answering(answer: string) {
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    return answer;
  };
  return { questions, ask };
}

test("removes the content, keeps the tree, and reports what it did", async () => {
  const { path, secret, reply } = withSecret();
  const { code, stdout } = await cli(["redact", path, secret, "--yes"]);
  expect(code).toBe(0);
  expect(stdout).toContain(`Redacted user ${secret}: its content is now "[redacted]".`);
  expect(readFileSync(path, "utf8")).not.toContain("tulip");
  const session = SessionManager.open(path);
  expect(session.getEntry(secret)).toMatchObject({ message: { role: "user", content: "[redacted]" } });
  expect(session.getEntry(reply)?.parentId).toBe(secret);
  expect(stdout).toContain(`Entry ${session.getLeafId()} records it.`);
  expect(stdout).not.toContain("may still contain");
});

test("--text sets the replacement, and an entry may be given by ID prefix", async () => {
  const { path, secret } = withSecret();
  const result = await cli(["redact", path, secret.slice(0, 7), "--text", "(a secret)", "--yes", "--json"]);
  expect(jsonLines(result)).toEqual([
    {
      ...{ path, entry: secret, replacement: "(a secret)", leftovers: [] },
      id: SessionManager.open(path).getSessionId(),
      recordId: SessionManager.open(path).getLeafId(),
    },
  ]);
  expect(SessionManager.open(path).getEntry(secret)).toMatchObject({ message: { content: "(a secret)" } });
});

test.each([[["--dry-run"]], [["--yes"]]])(
  "--matching in a missing file reports that, with %j",
  async (more) => {
    const path = join(dirname(withSecret().path), "none.jsonl");
    const { code, stderr } = await cli(["redact", path, "--matching", "tulip", ...more]);
    expect(code).toBe(1);
    expect(stderr).toContain(`There is no session at ${path}. Check the path, or list the sessions.`);
  },
);

describe("without --yes", () => {
  test.each(["y", "Yes", " YES \n"])("the answer %j is consent", async (answer) => {
    const { path, secret } = withSecret();
    const { questions, ask } = answering(answer);
    expect((await cli(["redact", path, secret], { ask })).code).toBe(0);
    expect(questions).toHaveLength(1);
    expect(questions[0]).toContain(`user ${secret}: The password is tulip\n`);
    expect(readFileSync(path, "utf8")).not.toContain("tulip");
  });

  test.each(["", "n", "yesterday"])("the answer %j is not consent, and nothing happens", async (answer) => {
    const { path, secret } = withSecret();
    const before = readFileSync(path, "utf8");
    const { ask } = answering(answer);
    const { code, stdout, stderr } = await cli(["redact", path, secret], { ask });
    expect([code, stdout, stderr]).toEqual([1, "", "sessiontree: Nothing was changed.\n"]);
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  test("it is wrong usage if it cannot ask", async () => {
    const { path, secret } = withSecret();
    const before = readFileSync(path, "utf8");
    const { code, stderr } = await cli(["redact", path, secret]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^sessiontree: Cannot ask for confirmation [^\n]*add --yes[^\n]+\n$/);
    expect(readFileSync(path, "utf8")).toBe(before);
  });
});

test("lists the backups next to the file, and nothing else", async () => {
  const { path, secret } = withSecret();
  const left = [".bak", ".bak.1", ".damaged", ".damaged.2", ".v2.bak"].map((suffix) => path + suffix);
  for (const other of [...left, `${path}.txt`, `${path}2.bak`]) writeFileSync(other, "");
  const { stdout } = await cli(["redact", path, secret, "--yes"]);
  expect(stdout.split("delete them if you do not need them:\n")[1]).toBe(
    left.map((other) => `  ${other}\n`).join(""),
  );
});

test("creates neither a missing entry nor a missing session", async () => {
  const { path } = withSecret();
  expect((await cli(["redact", path, "zzzz", "--yes"])).stderr).toMatch(/^sessiontree: Entry zzzz not found/);
  expect((await cli(["redact", `${path}x.jsonl`, "zzzz", "--yes"])).stderr).toMatch(/There is no session/);
});

test("removes unreadable content, too", async () => {
  const lines = [userLine("00000001", null), userLine("00000002", "00000001", "The password is tulip")];
  const damaged = `${JSON.stringify(lines[1]).slice(0, -2)}\u0001}`;
  const path = writeLines(temporaryFolder(), "damaged.jsonl", [lines[0], damaged, userLine("3", "00000002")]);
  expect((await cli(["redact", path, "00000002", "--yes"])).code).toBe(0);
  expect(readFileSync(path, "utf8")).not.toContain("tulip");
  expect(SessionManager.open(path).getEntry("3")?.parentId).toBe("00000002");
});

describe("--matching", () => {
  beforeEach(() => {
    const home = temporaryFolder();
    vi.stubEnv("XDG_DATA_HOME", home);
    vi.stubEnv("XDG_CACHE_HOME", home);
    vi.stubEnv("TMPDIR", home);
    vi.stubEnv("PI_CODING_AGENT_DIR", home);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
  });

  /** A session with a secret, a summary and a call that repeat it, a fork, and a backup. */
  function withCopies() {
    const { path, secret } = withSecret();
    const session = SessionManager.open(path);
    session.appendCompaction('They said: "The password is tulip".', null, 100);
    const fork = SessionManager.forkFrom(path, "/elsewhere", dirname(path)).getSessionFile() ?? "";
    copyFileSync(path, `${path}.bak`);
    const holders = () =>
      [path, fork, `${path}.bak`].filter((file) => readFileSync(file, "utf8").includes("tulip"));
    return { path, secret, summary: session.getLeafId() ?? "", fork, holders };
  }

  test("lists the matches, asks, replaces only those, and counts them", async () => {
    const { path, secret, summary, fork, holders } = withCopies();
    const { questions, ask } = answering("y");
    const { code, lines } = await cli(["redact", path, "--matching", "tulip"], { ask });
    expect(code).toBe(0);
    expect(lines.slice(0, -2).sort()).toEqual(
      [
        `backup  ${path}.bak: ${secret}, ${summary}`,
        `session  ${fork}: ${secret}, ${summary}`,
        `session  ${path}: ${secret}, ${summary}`,
      ].sort(),
    );
    expect(lines.slice(-2)).toEqual(["Redacted the text in 6 entries in 3 places.", "It remains nowhere."]);
    expect(questions).toEqual([
      expect.stringContaining("Redact the text in 6 entries in 3 places? Backups change as well"),
    ]);
    expect(holders()).toEqual([]);
    expect(SessionManager.open(path).getEntry(secret)).toMatchObject({
      message: { content: "The password is [redacted]" },
    });
    const again = await cli(["redact", path, "--matching", "tulip", "--yes"]);
    expect([again.code, again.stdout]).toEqual([0, "The text was not found.\n"]);
  });

  test("with --dry-run, changes nothing, reports that a redaction cannot be undone, and fails", async () => {
    const { path, holders } = withCopies();
    const { code, stdout } = await cli(["redact", path, "--matching", "tu[l]ip", "--regex", "--dry-run"]);
    expect(code).toBe(1);
    expect(stdout).toContain("the text cannot be restored");
    expect(stdout).toContain("\nWould redact the text in 6 entries in 3 places.\nIt would remain nowhere.\n");
    expect(holders()).toHaveLength(3);
  });

  test("with --json, writes a value for each match, and the count", async () => {
    const { path, secret, summary } = withCopies();
    const result = await cli(["redact", path, "--matching", "tulip", "--yes", "--json", "--text", "x"]);
    expect(jsonLines(result)).toEqual([
      { action: "redact", kind: "session", path, entries: [secret, summary] },
      { action: "redact", kind: "session", path: expect.any(String), entries: [secret, summary] },
      { action: "redact", kind: "backup", path: `${path}.bak`, entries: [secret, summary] },
      { redacted: 3, standing: 0 },
    ]);
  });

  test("lists matches outside the selection, and --all redacts them", async () => {
    const { path } = withSecret();
    const elsewhere = SessionManager.create("/elsewhere");
    elsewhere.appendMessage({ role: "user", content: "a tulip", timestamp: 1 });
    const other = elsewhere.getSessionFile() ?? "";
    const one = await cli(["redact", path, "--matching", "tulip", "--yes"]);
    expect(one.code).toBe(1);
    expect(one.lines.slice(-4)).toEqual([
      "Redacted the text in 1 place.",
      "It remains in 1 place:",
      "It is outside the requested scope; --all redacts it.",
      `  session  ${other}`,
    ]);
    expect(readFileSync(path, "utf8")).not.toContain("tulip");
    expect((await cli(["redact", "--matching", "tulip", "--all", "--yes"])).code).toBe(0);
    expect(readFileSync(other, "utf8")).not.toContain("tulip");
  });

  test("without a session, uses the current project", async () => {
    const [mine, theirs] = ["/mine", "/theirs"].map((cwd) => {
      const session = SessionManager.create(cwd);
      session.appendMessage({ role: "user", content: "a tulip", timestamp: 1 });
      return session.getSessionFile() ?? "";
    });
    await cli(["redact", "--matching", "tulip", "--yes"], { cwd: "/mine" });
    expect(readFileSync(mine ?? "", "utf8")).not.toContain("tulip");
    expect(readFileSync(theirs ?? "", "utf8")).toContain("tulip");
  });

  test("without consent, nothing happens", async () => {
    const { path, holders } = withCopies();
    const { ask } = answering("n");
    expect((await cli(["redact", path, "--matching", "tulip"], { ask })).code).toBe(1);
    expect((await cli(["redact", path, "--matching", "tulip"])).code).toBe(2);
    expect(holders()).toHaveLength(3);
  });

  test.each([
    ["an empty text", ["--matching", ""], /must not be empty/],
    ["an expression that matches the empty text", ["--matching", "x*", "--regex"], /matches everywhere/],
    ["no expression", ["--matching", "(", "--regex"], /not a regular expression/],
    ["a replacement that holds it", ["--matching", "a", "--text", "cat"], /another replacement/],
    ["an entry beside it", ["x", "y", "--matching", "a"], /not both/],
    ["a session beside --all", ["x", "--all", "--matching", "a"], /not both/],
    ["--all without it", ["x", "y", "--all"], /requires --matching/],
    ["neither", ["x"], /Name a session and an entry/],
  ])("%s is wrong usage", async (_, args, message) => {
    const { code, stderr } = await cli(["redact", ...args]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  test("works on the sessions of a database", async () => {
    const stores = new TestDatabase();
    const store = await stores.open("postgres://h/d");
    const session = store.create({ cwd: "/p" });
    session.appendMessage({ role: "user", content: "a tulip", timestamp: 1 });
    await session.flush();
    const id = session.getSessionId();
    const args = ["redact", "--matching", "tulip", "--store", "postgres://h/d", "--yes", "--json", id];
    expect(jsonLines(await cli(args, { stores }))).toEqual([
      { action: "redact", kind: "stored", path: id, entries: [session.getLeafId()] },
      { redacted: 1, standing: 0 },
    ]);
  });
});
