import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { SessionManager } from "../../src/manager/session-manager.ts";
import { cli, jsonLines, temporaryFolder } from "./support/cli.ts";
import { Scribe, userLine, writeLines } from "./support/sessions.ts";

/** A session in which somebody told a secret. */
function withSecret() {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("Hello");
  const secret = scribe.user("The password is tulip");
  const reply = scribe.assistant("I will forget it.");
  return { path: scribe.path, secret, reply };
}

/** Gives what is asked, and answers it. */
function answering(answer: string) {
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    return answer;
  };
  return { questions, ask };
}

test("takes the content out, keeps the tree, and says what was done", async () => {
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

test("--text says what stands there instead, and an entry may be named by its beginning", async () => {
  const { path, secret } = withSecret();
  const result = await cli(["redact", path, secret.slice(0, 7), "--text", "(a secret)", "--yes", "--json"]);
  expect(jsonLines(result)).toEqual([
    {
      ...{ path, entryId: secret, replacement: "(a secret)", leftovers: [], redacted: [], left: [] },
      recordId: SessionManager.open(path).getLeafId(),
    },
  ]);
  expect(SessionManager.open(path).getEntry(secret)).toMatchObject({ message: { content: "(a secret)" } });
});

describe("without --yes", () => {
  test.each(["y", "Yes", " YES \n"])("the answer %j is consent", async (answer) => {
    const { path, secret } = withSecret();
    const { questions, ask } = answering(answer);
    expect((await cli(["redact", path, secret], { ask })).code).toBe(0);
    expect(questions).toHaveLength(1);
    expect(questions[0]).toContain(`user ${secret}: The password is tulip\n`);
    expect(readFileSync(path, "utf8")).not.toContain("tulip");
  });

  test.each(["", "n", "yesterday"])("the answer %j is none: nothing is done", async (answer) => {
    const { path, secret } = withSecret();
    const before = readFileSync(path, "utf8");
    const { ask } = answering(answer);
    const { code, stdout, stderr } = await cli(["redact", path, secret], { ask });
    expect([code, stdout, stderr]).toEqual([1, "", "sessiontree: Nothing was changed.\n"]);
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  test("it is wrong usage where nobody can be asked", async () => {
    const { path, secret } = withSecret();
    const before = readFileSync(path, "utf8");
    const { code, stderr } = await cli(["redact", path, secret]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^sessiontree: Cannot ask for confirmation [^\n]*add --yes[^\n]+\n$/);
    expect(readFileSync(path, "utf8")).toBe(before);
  });
});

test("names the backups beside the file, and nothing else", async () => {
  const { path, secret } = withSecret();
  const left = [".bak", ".bak.1", ".damaged", ".damaged.2", ".v2.bak"].map((suffix) => path + suffix);
  for (const other of [...left, `${path}.txt`, `${path}2.bak`]) writeFileSync(other, "");
  const { stdout } = await cli(["redact", path, secret, "--yes"]);
  expect(stdout.split("delete them if you do not need them:\n")[1]).toBe(
    left.map((other) => `  ${other}\n`).join(""),
  );
});

test("an entry or a session that is not there is not made", async () => {
  const { path } = withSecret();
  expect((await cli(["redact", path, "zzzz", "--yes"])).stderr).toMatch(/^sessiontree: Entry zzzz not found/);
  expect((await cli(["redact", `${path}x.jsonl`, "zzzz", "--yes"])).stderr).toMatch(/There is no session/);
});

test("content that cannot be read any more can be taken out, too", async () => {
  const lines = [userLine("00000001", null), userLine("00000002", "00000001", "The password is tulip")];
  const damaged = `${JSON.stringify(lines[1]).slice(0, -2)}\u0001}`;
  const path = writeLines(temporaryFolder(), "damaged.jsonl", [lines[0], damaged, userLine("3", "00000002")]);
  expect((await cli(["redact", path, "00000002", "--yes"])).code).toBe(0);
  expect(readFileSync(path, "utf8")).not.toContain("tulip");
  expect(SessionManager.open(path).getEntry("3")?.parentId).toBe("00000002");
});

describe("other places that hold the same text", () => {
  /** A session with a secret, a summary that repeats it, a fork and a backup. */
  function withCopies() {
    const { path, secret } = withSecret();
    const session = SessionManager.open(path);
    session.appendCompaction('They said: "The password is tulip".', null, 100);
    const fork = SessionManager.forkFrom(path, "/elsewhere", dirname(path)).getSessionFile() ?? "";
    copyFileSync(path, `${path}.bak`);
    return { path, secret, summary: session.getLeafId(), fork };
  }

  test("are named", async () => {
    const { path, secret, summary, fork } = withCopies();
    const [result] = jsonLines(await cli(["redact", path, secret, "--yes", "--json"]));
    expect(result).toMatchObject({
      redacted: [],
      left: expect.arrayContaining([
        { path, entryIds: [summary] },
        { path: `${path}.bak`, entryIds: [secret, summary] },
        { path: fork, entryIds: [secret, summary] },
      ]),
    });
    expect(readFileSync(fork, "utf8")).toContain("tulip");
  });

  test("are redacted with --everywhere", async () => {
    const { path, secret, fork } = withCopies();
    const { code, stdout } = await cli(["redact", path, secret, "--everywhere", "--yes"]);
    expect(code).toBe(0);
    expect(stdout).toContain("Redacted there as well:");
    for (const file of [path, fork, `${path}.bak`]) expect(readFileSync(file, "utf8")).not.toContain("tulip");
    expect(SessionManager.open(fork).getEntryCount()).toBeGreaterThan(4);
  });
});
