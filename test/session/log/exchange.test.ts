import { appendFileSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SessionManager } from "sessiontree";
import { deleteSession, mergeSessions } from "sessiontree/catalog";
import { describe, expect, test } from "vitest";
import { type FileSystem, watchedFs } from "../../fault/support/faulty-fs.ts";
import { litter, place, sandbox } from "../../fault/support/sandbox.ts";
import {
  BRANCHED,
  getIds,
  getTexts,
  header,
  lines,
  message,
  onDisk,
  user,
} from "../../fault/support/sessions.ts";
import { SYSTEMS, systemFs } from "../../fault/support/systems.ts";

const STRAY = lines(message("000000ff", null, "by a program that knows nothing of this"));

const BEFORE = BRANCHED.match(/(?<="id":")[0-9a-f]{8}(?=")/g) ?? [];

/** Creates the error thrown at a call that no longer happens. */
const killed = () => Object.assign(new Error("killed"), { code: "EIO" });

describe.each(SYSTEMS.filter((system) => system !== "posix"))(
  "a file that leaves its path for a moment, %s,",
  (system) => {
    /** Creates a file system that acts just before the new file takes the path, when no file is at it. */
    function inBetween(path: string, act: () => void): FileSystem {
      let isDone = false;
      return watchedFs((_name, [, to]) => {
        if (isDone || to !== path) return;
        isDone = true;
        act();
      }, systemFs(system));
    }

    /** Creates a file system whose process dies just before the new file takes the path. */
    function dying(path: string): FileSystem {
      let isDead = false;
      return watchedFs((_name, [, to]) => {
        isDead ||= to === path;
        if (isDead) throw killed();
      }, systemFs(system));
    }

    function redactAndDie(): string {
      const path = place(sandbox(), "s.jsonl", BRANCHED);
      expect(() => SessionManager.open(path, { fs: dying(path) }).redactEntry("00000002")).toThrow(/killed/);
      expect(existsSync(path)).toBe(false);
      return path;
    }

    test("gets the lines that an unaware program appends", () => {
      const path = place(sandbox(), "s.jsonl", BRANCHED);
      const fs = inBetween(path, () => appendFileSync(path, STRAY));
      SessionManager.open(path, { fs }).redactEntry("00000002");
      expect(getIds(onDisk(path))).toEqual(expect.arrayContaining([...BEFORE, "000000ff"]));
      expect(onDisk(path).getEntry("00000002")).toMatchObject({ message: { content: "[redacted]" } });
      expect(onDisk(path).issues).toEqual([]);
      expect(litter(dirname(path))).toEqual([]);
    });

    test("does not get the lines of another session at the path, but keeps them", () => {
      const path = place(sandbox(), "s.jsonl", BRANCHED);
      const other = lines(header({ id: "another" }), message("000000ff", null, "of another"));
      const fs = inBetween(path, () => writeFileSync(path, other));
      SessionManager.open(path, { fs }).redactEntry("00000002");
      expect(getIds(onDisk(path))).not.toContain("000000ff");
      expect(readFileSync(`${path}.bak`, "utf8")).toBe(other);
      expect(litter(dirname(path))).toEqual([]);
    });

    test("is restored by the next session, with the lines others append in the meantime", () => {
      const path = redactAndDie();
      appendFileSync(path, STRAY);
      const next = SessionManager.open(path, { fs: systemFs(system) });
      expect(getIds(next)).toEqual([...BEFORE, "000000ff"]);
      next.redactEntry("00000002");
      expect(litter(dirname(path))).toEqual([]);
    });

    test("is restored by a read or a list", async () => {
      const path = redactAndDie();
      expect(getIds(SessionManager.open(path, { mode: "read-only", fs: systemFs(system) }))).toEqual(BEFORE);
      const listed = redactAndDie();
      const rows = await SessionManager.list("/project", dirname(listed));
      expect(rows.map((row) => row.path)).toEqual([listed]);
      expect(getIds(onDisk(listed))).toEqual(BEFORE);
    });

    test("is restored by a merge, in place or into another", () => {
      const [path, other] = [redactAndDie(), redactAndDie()];
      const copy = () =>
        place(sandbox(), "copy", lines(header(), message("000000cc", null, "only in the copy")));
      mergeSessions(path, copy(), { inPlace: true, fs: systemFs(system) });
      const target = copy();
      mergeSessions(target, other, { inPlace: true, fs: systemFs(system) });
      for (const merged of [path, target])
        expect(getIds(onDisk(merged)).sort()).toEqual([...BEFORE, "000000cc"]);
      expect(getIds(onDisk(other))).toEqual(BEFORE);
    });

    test("is left for others to finish by a session that was denied the lease", () => {
      const path = place(sandbox(), "s.jsonl", BRANCHED);
      SessionManager.open(path, { lease: "fail" });
      const denied = SessionManager.open(path, { fs: systemFs(system), lease: "read-only" });
      renameSync(path, join(dirname(path), ".s.jsonl.old"));
      writeFileSync(path, BRANCHED.replace("first question", "[redacted]"));
      const names = readdirSync(dirname(path));
      denied.refresh();
      expect(getTexts(denied.getEntries())).toContain("[redacted]");
      expect(readdirSync(dirname(path))).toEqual(names);
    });

    test("can be deleted", async () => {
      const path = redactAndDie();
      await deleteSession(path, { permanent: true });
      expect(existsSync(path)).toBe(false);
      expect(litter(dirname(path)).filter((name) => !name.endsWith(".tmp"))).toEqual([]);
    });

    test("is found by a writer that holds the old one open", () => {
      const path = place(sandbox(), "s.jsonl", BRANCHED);
      const writer = SessionManager.open(path, { fs: systemFs(system) });
      writer.appendMessage(user("one"));
      expect(() => SessionManager.open(path, { fs: dying(path) }).redactEntry("00000002")).toThrow(/killed/);
      writer.appendMessage(user("two"));
      expect(getTexts(onDisk(path).getEntries()).slice(-2)).toEqual(["one", "two"]);
      expect(litter(dirname(path)).filter((name) => !name.endsWith(".tmp"))).toEqual([]);
    });
  },
);

describe("a file that another program holds, such as a virus scanner", () => {
  test.each(["EBUSY", "EPERM", "EACCES"])("for a moment, is replaced after it: %s", (code) => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    let refusals = 0;
    const fs = watchedFs((name, [from]) => {
      if (name === "renameSync" && from === path && ++refusals <= 3)
        throw Object.assign(new Error("held"), { code });
    }, systemFs("windows"));
    SessionManager.open(path, { fs }).redactEntry("00000002");
    expect(refusals).toBe(4);
    expect(onDisk(path).getEntry("00000002")).toMatchObject({ message: { content: "[redacted]" } });
  });

  test("permanently, is not replaced", () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const fs = watchedFs((name, [from]) => {
      if (name === "renameSync" && from === path) throw Object.assign(new Error("held"), { code: "EBUSY" });
    }, systemFs("windows"));
    const session = SessionManager.open(path, { fs });
    expect(() => session.redactEntry("00000002")).toThrow(expect.objectContaining({ code: "WRITE_FAILED" }));
    session.appendMessage(user("next"));
    expect(getTexts(onDisk(path).getEntries()).at(-1)).toBe("next");
    expect(litter(dirname(path))).toEqual([]);
  });
});
