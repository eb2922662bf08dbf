import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SessionManager } from "sessiontree";
import { expect, test } from "vitest";
import { place } from "../../fault/support/sandbox.ts";
import { BRANCHED, getTexts, onDisk, user } from "../../fault/support/sessions.ts";
import { IS_WINE } from "../../support/platform.ts";
import { PROGRAM } from "../../support/program.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Returns the recipe of docs/merge.md, with the program's path in this test. */
function recipe(): string[] {
  const [, block = ""] =
    /In git and in synced folders[\s\S]*?```sh\n([\s\S]*?)```/.exec(readFileSync("docs/merge.md", "utf8")) ??
    [];
  const program = `"${process.execPath}" "${PROGRAM}"`;
  return block
    .trim()
    .split("\n")
    .map((line) => line.replace("'sessiontree ", `'${program} `));
}

test.skipIf(IS_WINE)("git merges the entries that two branches appended to a session", async () => {
  const folder = temporaryFolder();
  const sh = (line: string) =>
    execFileSync("sh", ["-c", line], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, HOME: folder, GIT_CONFIG_NOSYSTEM: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
  const say = async (text: string) => {
    const session = SessionManager.open(join(folder, "s.jsonl"));
    session.appendMessage(user(text));
    await session.close();
    sh(`git commit -qam "${text}"`);
  };
  sh("git init -q -b main && git config user.name a && git config user.email a@example.com");
  for (const line of recipe()) sh(line);
  place(folder, "s.jsonl", BRANCHED);
  sh("git add . && git commit -qm begun && git branch other");
  await say("on this machine");
  sh("git checkout -q other");
  await say("on the other one");
  sh("git merge -q --no-edit main");
  const session = onDisk(join(folder, "s.jsonl"));
  expect(session.issues).toEqual([]);
  expect(getTexts(session.getEntries()).slice(-2).sort()).toEqual(["on the other one", "on this machine"]);
  expect(sh("git status --porcelain")).toBe("");
  expect(readdirSync(folder).sort()).toEqual([".git", ".gitattributes", "s.jsonl"]);
});
