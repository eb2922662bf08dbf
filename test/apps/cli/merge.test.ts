import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { cli, jsonLines, temporaryFolder, widest } from "./support/cli.ts";
import { Scribe, userLine, writeLines } from "./support/sessions.ts";

/** Two copies of a session, each with an entry that the other lacks. */
function diverged() {
  const folder = temporaryFolder();
  const scribe = new Scribe(folder);
  const root = scribe.user("start");
  const [laptop, server] = [join(folder, "laptop.jsonl"), join(folder, "server.jsonl")];
  for (const copy of [laptop, server]) copyFileSync(scribe.path, copy);
  const left = say(laptop, "on the train");
  const right = say(server, "in the data centre");
  return { folder, laptop, server, both: join(folder, "both.jsonl"), root, left, right };
}

function say(path: string, content: string): string {
  return SessionManager.open(path).appendMessage({ role: "user", content, timestamp: 1 });
}

function leavesOf(path: string): string[] {
  const session = SessionManager.open(path, { mode: "read-only" });
  return session.getLeaves().map(({ id }) => id);
}

describe("merge", () => {
  test("writes both branches to a new file and leaves the copies unchanged", async () => {
    const { laptop, server, both, left, right } = diverged();
    const before = [laptop, server].map((path) => readFileSync(path, "utf8"));
    const { code, stdout, stderr } = await cli(["merge", laptop, server, "-o", both]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(
      /^Merged {2}.*both\.jsonl\nentries +3\nin both +1\nonly in a +1, .*\nonly in b +1, /s,
    );
    expect(leavesOf(both).sort()).toEqual([left, right].sort());
    expect([laptop, server].map((path) => readFileSync(path, "utf8"))).toEqual(before);
  });

  test("prints its result as JSON", async () => {
    const { laptop, server, folder } = diverged();
    const [result] = jsonLines(
      await cli(["merge", laptop, server, "--output", "m.jsonl", "--json"], { cwd: folder }),
    );
    expect(result).toMatchObject({
      path: join(folder, "m.jsonl"),
      entryCount: 3,
      onlyInA: 1,
      onlyInB: 1,
      inBoth: 1,
    });
  });

  test("never overwrites a file", async () => {
    const { laptop, server, both } = diverged();
    writeFileSync(both, "mine");
    const { code, stderr } = await cli(["merge", laptop, server, "-o", both]);
    expect(code).toBe(1);
    expect(stderr).toContain("already exists");
    expect(readFileSync(both, "utf8")).toBe("mine");
  });

  test("replaces the first copy on request, and keeps a backup", async () => {
    const { laptop, server, left, right } = diverged();
    const before = readFileSync(laptop, "utf8");
    expect((await cli(["merge", laptop, server, "--in-place"])).code).toBe(0);
    expect(leavesOf(laptop).sort()).toEqual([left, right].sort());
    expect(readFileSync(`${laptop}.bak`, "utf8")).toBe(before);
    const [again] = jsonLines(await cli(["merge", laptop, server, "--in-place", "--json"]));
    expect(again).not.toHaveProperty("backup");
    expect(existsSync(`${laptop}.bak.1`)).toBe(false);
  });

  test("reports where redacted content still is, and keeps no backup of it", async () => {
    const { laptop, server, both, root } = diverged();
    SessionManager.open(server).redactEntry(root);
    const aside = await cli(["merge", laptop, server, "-o", both]);
    expect(aside.stdout).toContain("a still contains the content of 1 entry that is redacted now");
    expect(aside.stdout).not.toContain("b still contains");
    const { stdout } = await cli(["merge", laptop, server, "--in-place"]);
    expect(stdout).toContain("No backup was kept: it would contain the content of 1 redacted entry.");
    expect(existsSync(`${laptop}.bak`)).toBe(false);
    expect(readFileSync(laptop, "utf8")).not.toContain("start");
  });

  test("requires a target", async () => {
    const { laptop, server, both } = diverged();
    expect((await cli(["merge", laptop, server])).code).toBe(2);
    expect((await cli(["merge", laptop, server, "-o", both, "--in-place"])).code).toBe(2);
    expect(existsSync(both)).toBe(false);
  });

  test("rejects two different sessions unless forced", async () => {
    const folder = temporaryFolder();
    const a = writeLines(folder, "a.jsonl", [userLine("00000001", null)]);
    const b = writeLines(folder, "b.jsonl", [userLine("00000002", null)]);
    const out = join(folder, "out.jsonl");
    const { code, stderr } = await cli(["merge", a, b, "-o", out]);
    expect(code).toBe(1);
    expect(stderr).toContain("not copies of one session");
    expect(existsSync(out)).toBe(false);
    expect((await cli(["merge", a, b, "-o", out, "--allow-different-ids"])).stdout).toContain(
      "The headers differ",
    );
  });

  test("shows conflicts and oddities, within the width", async () => {
    const { laptop, server, both, root } = diverged();
    const clash = (text: string) => `${JSON.stringify(userLine("0000000c", root, text))}\n`;
    writeFileSync(laptop, `${clash("one")}not a record\n`, { flag: "a" });
    writeFileSync(server, clash("two"), { flag: "a" });
    const result = await cli(["merge", laptop, server, "-o", both], { columns: 60, env: { NO_COLOR: "1" } });
    expect(result.stdout).toMatch(/1 id was used for different entries:\n {2}0000000c\n/);
    expect(result.stdout).toMatch(/of [ab]: 0000000c\n/);
    expect(result.stdout).toMatch(/1 issue in a; lines.*LINE_UNREADABLE/s);
    expect(widest(result)).toBeLessThanOrEqual(60);
  });
});
