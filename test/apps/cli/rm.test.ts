import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SessionManager } from "sessiontree";
import { describe, expect, test } from "vitest";
import { failing } from "../../support/failing-calls.ts";
import { cli, jsonLines } from "./support/cli.ts";
import { Scribe } from "./support/sessions.ts";
import { answering, folderWithTrash, inTrash, TRASH } from "./support/trash.ts";

/** A session, its fork, and its parent. */
function family(folder = folderWithTrash()) {
  const scribe = new Scribe(folder);
  scribe.user("Fix the totals");
  scribe.assistant("Done.");
  const parent = scribe.path;
  const child = SessionManager.open(parent, { mode: "read-only" }).fork();
  const grandchild = child.fork();
  return { folder, parent, child, grandchild };
}

function oneSession() {
  const scribe = new Scribe(folderWithTrash());
  scribe.user("Fix the totals");
  return { path: scribe.path, text: readFileSync(scribe.path, "utf8"), scribe };
}

// Other systems keep their trash where no variable can move it, and a test must not fill a person's trash.
describe.runIf(process.platform === "linux")("sessiontree rm", () => {
  test("moves a session to the trash; in a script only with --yes", async () => {
    const { path, text } = oneSession();
    const refused = await cli(["rm", path]);
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toContain("Cannot ask for confirmation without a terminal; add --yes to confirm.");
    expect(existsSync(path)).toBe(true);
    const { code, stdout, stderr } = await cli(["rm", path, "--yes"]);
    expect([code, stdout, stderr]).toEqual([0, `In the trash: ${path}\n`, ""]);
    expect(existsSync(path)).toBe(false);
    expect(inTrash()).toEqual([text]);
  });

  test("shows what it will do, and asks first in a terminal", async () => {
    const { path } = oneSession();
    const no = answering("n");
    const result = await cli(["rm", path], no);
    expect([result.code, result.stdout, result.stderr]).toEqual([
      1,
      "",
      "sessiontree: Nothing was deleted.\n",
    ]);
    expect(no.questions).toEqual([
      `0198aaaa-0000-7000-8000-000000000001  Fix the totals\n  ${path}\n` +
        "  1 message, last used 6 days ago\nMove it to the trash? [y/N] ",
    ]);
    expect(existsSync(path)).toBe(true);
    expect((await cli(["rm", path], answering("y"))).code).toBe(0);
    expect(existsSync(path)).toBe(false);
  });

  test("lists the session's descendants, and keeps them", async () => {
    const { parent, child, grandchild } = family();
    const { stdout } = await cli(["rm", parent, "--yes"]);
    expect(stdout).toBe(
      `In the trash: ${parent}\n2 sessions were forked from it and are kept:\n` +
        `  ${child.getSessionId()}  Fix the totals\n  ${grandchild.getSessionId()}  Fix the totals\n`,
    );
    expect(existsSync(child.getSessionFile() ?? "")).toBe(true);
  });

  test("omits descendants that are deleted, too, and finds those that refer to the parent by ID", async () => {
    const { folder, parent, child, grandchild } = family();
    const byId = new Scribe(folder, "0198bbbb-0000-7000-8000-000000000002");
    byId.user("Elsewhere");
    const [header = "", ...rest] = readFileSync(byId.path, "utf8").split("\n");
    const facts = { ...JSON.parse(header), parentSession: child.getSessionId() };
    writeFileSync(byId.path, [JSON.stringify(facts), ...rest].join("\n"));
    const paths = [parent, grandchild.getSessionFile() ?? ""];
    const result = await cli(["rm", ...paths, "--json", "--yes"]);
    expect(jsonLines(result)).toEqual([
      {
        path: parent,
        id: "0198aaaa-0000-7000-8000-000000000001",
        method: "trash",
        descendants: [child.getSessionId(), "0198bbbb-0000-7000-8000-000000000002"],
        leftovers: [],
      },
      {
        path: paths[1],
        id: grandchild.getSessionId(),
        method: "trash",
        descendants: [],
        leftovers: [],
      },
    ]);
  });

  test("does nothing at all if one of the arguments is wrong", async () => {
    const { path } = oneSession();
    const { code, stderr } = await cli(["rm", path, `${path}x.jsonl`, "--yes"]);
    expect([code, existsSync(path)]).toEqual([1, true]);
    expect(stderr).toContain("There is no session file at");
  });

  test("treats an argument given twice as one", async () => {
    const { path } = oneSession();
    expect((await cli(["rm", path, path, "--yes"])).code).toBe(0);
  });

  describe("--permanent", () => {
    test("removes permanently, and keeps backups, which it lists", async () => {
      const { path } = oneSession();
      writeFileSync(`${path}.bak`, "old");
      const { code, stdout } = await cli(["rm", path, "--permanent", "--yes"]);
      expect(code).toBe(0);
      expect(stdout).toBe(
        `Deleted permanently: ${path}\nThese backups are still next to it:\n  ${path}.bak\n`,
      );
      expect([existsSync(path), existsSync(`${path}.bak`), inTrash()]).toEqual([false, true, []]);
    });

    test("asks, and is wrong usage if it cannot ask", async () => {
      const { path } = oneSession();
      const no = answering("");
      expect((await cli(["rm", path, "--permanent"], no)).code).toBe(1);
      expect(no.questions[0]).toContain("Delete it permanently? [y/N]");
      expect((await cli(["rm", path, "--permanent"])).code).toBe(2);
      expect(existsSync(path)).toBe(true);
    });

    test("follows no link", async () => {
      const { path } = oneSession();
      const link = join(path, "..", "link.jsonl");
      symlinkSync(path, link);
      const { code, stderr } = await cli(["rm", link, "--permanent", "--yes", "--force"]);
      expect([code, existsSync(path), existsSync(link)]).toEqual([1, true, true]);
      expect(stderr).toContain("is a symbolic link");
    });
  });

  test("rejects a file that is not a session, unless forced", async () => {
    const path = join(folderWithTrash(), "notes.jsonl");
    writeFileSync(path, "my notes\n");
    for (const options of [[], ["--permanent", "--yes"]]) {
      const { code, stderr } = await cli(["rm", path, ...options, "--yes"]);
      expect([code, existsSync(path)]).toEqual([1, true]);
      expect(stderr).toContain("is not a session");
    }
    expect((await cli(["rm", path, "--force", "--yes"])).code).toBe(0);
    expect(inTrash()).toEqual(["my notes\n"]);
  });

  test("keeps a session with a lease, unless forced", async () => {
    const { path } = oneSession();
    const open = SessionManager.open(path, { lease: "fail" });
    const { code, stderr } = await cli(["rm", path, "--yes"]);
    expect([code, existsSync(path)]).toEqual([1, true]);
    expect(stderr).toMatch(/^sessiontree: Process \d+ on .* holds the lease/);
    expect((await cli(["rm", path, "--force", "--yes"])).code).toBe(0);
    expect(existsSync(path)).toBe(false);
    await open.close();
    expect(existsSync(`${path}.lease`)).toBe(false);
  });

  test("asks again before it permanently removes what the trash rejects", async () => {
    const { path } = oneSession();
    mkdirSync(join(TRASH, ".."), { recursive: true });
    writeFileSync(TRASH, "no folder");
    const kept = answering("y", "n");
    const result = await cli(["rm", path], kept);
    expect([result.code, existsSync(path)]).toEqual([1, true]);
    expect(result.stderr).toContain("did not move it to the trash");
    expect(kept.questions[1]).toBe("Delete it permanently instead? [y/N] ");
    // Consent to the trash does not cover this.
    const unasked = await cli(["rm", path, "--yes"], answering("y", "y"));
    expect([unasked.code, existsSync(path)]).toEqual([1, true]);
    const { code, stdout } = await cli(["rm", path], answering("y", "y"));
    expect([code, stdout, existsSync(path)]).toEqual([0, `Deleted permanently: ${path}\n`, false]);
  });

  test("an unreadable file is rejected for that reason, and not as a file that is not a session", async () => {
    const { path } = oneSession();
    const denied = Object.assign(new Error("EACCES: permission denied, open"), { code: "EACCES" });
    const restore = failing("openSync", denied);
    const { code, stderr } = await cli(["rm", path, "--yes"]);
    restore();
    expect([code, existsSync(path)]).toEqual([1, true]);
    expect(stderr).toContain(`Cannot read ${path}: EACCES: permission denied, open.`);
  });
});
