import { chmodSync, linkSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { repairSession, SessionManager } from "sessiontree";
import { deleteSession, mergeSessions } from "sessiontree/catalog";
import { describe, expect, test, vi } from "vitest";
import { type FileSystem, watchedFs } from "../../fault/support/faulty-fs.ts";
import { litter, names, place, sandbox } from "../../fault/support/sandbox.ts";
import {
  BRANCHED,
  getIds,
  getTexts,
  header,
  lines,
  message,
  onDisk,
  user,
  VERSION_1,
} from "../../fault/support/sessions.ts";
import { SYSTEMS, systemFs } from "../../fault/support/systems.ts";
import { failing } from "../../support/failing-calls.ts";
import { IS_WINDOWS } from "../../support/platform.ts";
import { isSampled } from "../../support/share.ts";

const SECRET = "hunter2";

/** 600 entries, the first with a secret: more than are copied at once. */
const LONG = lines(
  header(),
  message("00000000", null, SECRET),
  ...Array.from({ length: 599 }, (_, i) => message(hex(i + 1), hex(i), `entry ${i}`)),
);

function hex(number: number): string {
  return number.toString(16).padStart(8, "0");
}

/** Creates a file system that acts once, before the first matching call. */
function once(isDue: (name: string, args: unknown[]) => boolean, act: () => void): FileSystem {
  let isDone = false;
  return watchedFs((name, args) => {
    if (isDone || !isDue(name, args)) return;
    isDone = true;
    act();
  });
}

const isTemporary = (name: string, [path]: unknown[]) => name === "openSync" && /\.tmp$/.test(String(path));

const isRename = (name: string) => name === "renameSync";

describe("during a replacement", () => {
  test.each(SYSTEMS)("no deletion at any call is undone, %s", async (system) => {
    const refused = (error: unknown) => {
      expect(error).toMatchObject({ code: expect.stringMatching(/^(WRITE_FAILED|SESSION_NOT_FOUND)$/) });
      return undefined;
    };
    let deleted = 0;
    for (let at = 1, total = at; at <= total; at++) {
      const path = place(sandbox(), "s.jsonl", `${BRANCHED}what is this\n`);
      let deletion: Promise<unknown> | undefined;
      let calls = 0;
      const act = () => {
        if (++calls === at) deletion = deleteSession(path, { permanent: true }).catch(refused);
      };
      try {
        repairSession(path, { fs: watchedFs(act, systemFs(system)) });
      } catch (error) {
        refused(error);
      }
      // An early deletion ends the repair early.
      total = Math.max(total, calls, deletion === undefined ? 0 : at + 1);
      const isDeleted = (await deletion) !== undefined;
      expect(names(dirname(path)).includes("s.jsonl"), `call ${at}`).toBe(!isDeleted);
      if (isDeleted) deleted++;
    }
    expect(deleted).toBeGreaterThan(0);
  });

  test("its deletion is rejected temporarily, and the file does not return after one that is not", async () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const deletions: Promise<unknown>[] = [];
    const fs = once(isRename, () => {
      deletions.push(expect(deleteSession(path, { permanent: true })).rejects.toThrow(/being replaced/));
    });
    const session = SessionManager.open(path, { fs });
    session.redactEntry("00000002");
    await Promise.all(deletions);
    expect(deletions).toHaveLength(1);
    await deleteSession(path, { permanent: true });
    expect(() => session.redactEntry("00000003")).toThrow(
      expect.objectContaining({ code: "SESSION_NOT_FOUND" }),
    );
    // Windows keeps the name of a file that is open.
    expect(names(dirname(path)).filter((name) => !name.endsWith(".tmp"))).toEqual([]);
  });

  test("entries that another session appends during the copy are in the new file", async () => {
    const path = place(sandbox(), "s.jsonl", LONG);
    const said: string[] = [];
    const fs = once(isTemporary, () => {
      const other = SessionManager.open(path);
      said.push(other.appendMessage(user("meanwhile")));
    });
    SessionManager.open(path, { fs }).redactEntry("00000000");
    expect(getIds(onDisk(path))).toEqual(expect.arrayContaining(said));
    expect(onDisk(path).getEntryCount()).toBe(602);
    expect(readFileSync(path, "utf8")).not.toContain(SECRET);
  });

  test("a fork copies the lines of one state, whatever file is moved to the path", () => {
    const path = place(sandbox(), "s.jsonl", LONG);
    const fs = once(isTemporary, () => {
      // In another order, so that every entry has another ordinal.
      const [first = "", ...rest] = readFileSync(path, "utf8").trimEnd().split("\n");
      writeFileSync(`${path}.new`, lines(first, message("ffffffff", null, "first now"), ...rest));
      rmSync(path);
      linkSync(`${path}.new`, path);
    });
    const fork = SessionManager.forkFrom(path, "/other", { sessionDir: sandbox(), fs });
    expect(
      fork
        .getEntries()
        .slice(1)
        .map((entry) => JSON.stringify(entry)),
    ).toEqual(
      SessionManager.open(path)
        .getEntries()
        .slice(2)
        .map((entry) => JSON.stringify(entry)),
    );
  });

  test("two sessions that have read each other's line continue", async () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const [a, b] = [SessionManager.open(path), SessionManager.open(path)];
    const said: string[] = [];
    const fs = once(isRename, () => {
      said.push(a.appendMessage(user("a")), b.appendMessage(user("b")));
      a.refresh();
    });
    SessionManager.open(path, { fs }).redactEntry("00000002");
    for (const session of [a, b]) {
      session.refresh();
      said.push(session.appendMessage(user("after")));
      await session.close();
    }
    expect(getIds(onDisk(path))).toEqual(expect.arrayContaining(said));
    expect(onDisk(path).issues).toEqual([]);
  });

  test("two sessions continue while another program moves a copy over the file, each with its own line", async () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const sessions = [SessionManager.open(path), SessionManager.open(path)];
    const before = readFileSync(path);
    const said = sessions.map((session, i) => session.appendMessage(user(`by ${i}`)));
    for (const session of sessions) session.refresh();
    rmSync(path);
    writeFileSync(path, before);
    for (const session of [...sessions, ...sessions]) {
      try {
        session.refresh();
      } catch (error) {
        // Until the other session checks, its line is missing.
        expect(error).toMatchObject({ code: "WRITE_FAILED" });
      }
    }
    said.push(...sessions.map((session) => session.appendMessage(user("after"))));
    expect(getIds(onDisk(path))).toEqual(expect.arrayContaining(said));
    expect(onDisk(path).issues).toEqual([]);
  });

  test.each(["os", "fsync"] as const)(
    "a line appended at the last moment is in the file after flush and close, with %s",
    async (durability) => {
      const path = place(sandbox(), "s.jsonl", BRANCHED);
      const writer = SessionManager.open(path, { durability });
      const said = [writer.appendMessage(user("one"))];
      const fs = once(isRename, () => said.push(writer.appendMessage(user("in the last moment"))));
      SessionManager.open(path, { fs }).redactEntry("00000002");
      // Even without another check: the session that replaced the file has copied it.
      expect(getIds(onDisk(path))).toEqual(expect.arrayContaining(said));
      await writer.flush();
      await writer.close();
      expect(getIds(onDisk(path))).toEqual(expect.arrayContaining(said));
    },
  );

  // Windows keeps the name of a file that is removed while it is open.
  test.skipIf(IS_WINDOWS).each(["os", "fsync"] as const)(
    "a flush rejects if the file was removed, with %s",
    async (durability) => {
      const path = place(sandbox(), "s.jsonl", BRANCHED);
      const writer = SessionManager.open(path, { durability });
      writer.appendMessage(user("one"));
      await writer.flush();
      rmSync(path);
      await expect(writer.flush()).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
      await writer.close();
    },
  );

  test("a line that was written too late is written again before it is acknowledged", () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    let isDue = false;
    // The file is replaced between this session's check and its write.
    const fs = watchedFs((name) => {
      if (name !== "writeSync" || !isDue) return;
      isDue = false;
      SessionManager.open(path).redactEntry("00000002");
    });
    const writer = SessionManager.open(path, { fs });
    writer.appendMessage(user("one"));
    isDue = true;
    const id = writer.appendMessage(user("two"));
    expect(isDue).toBe(false);
    expect(getIds(onDisk(path))).toContain(id);
    expect(onDisk(path).issues).toEqual([]);
    expect(getIds(writer)).toEqual(getIds(onDisk(path)));
  });

  test("refresh restores what another program has removed, before the next write", () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const writer = SessionManager.open(path);
    const before = readFileSync(path);
    const id = writer.appendMessage(user("one"));
    rmSync(path);
    writeFileSync(path, before);
    expect(writer.refresh()).toEqual([]);
    expect(getIds(onDisk(path))).toContain(id);
  });

  test("opening follows to the new file", async () => {
    const path = place(sandbox(), "s.jsonl", LONG);
    for (const call of ["fstatSync", "readSync", "closeSync"]) {
      const fs = once(
        (name) => name === call,
        () => {
          SessionManager.open(path).redactEntry("00000000");
        },
      );
      const session = SessionManager.open(path, { fs });
      expect(session.getEntry("00000000")).toMatchObject({ message: { content: "[redacted]" } });
      session.refresh();
      expect((await SessionManager.openAsync(path)).getEntryCount()).toBe(session.getEntryCount());
    }
  });

  test("a system without free descriptors is reported as such", () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const heal = failing("openSync", Object.assign(new Error("too many open files"), { code: "EMFILE" }));
    try {
      expect(() => SessionManager.open(path)).toThrow(expect.objectContaining({ code: "READ_FAILED" }));
    } finally {
      heal();
    }
    expect(SessionManager.open(path).getEntryCount()).toBe(6);
  });
});

const replacements: readonly (readonly [
  name: string,
  content: string,
  run: (path: string, fs: FileSystem) => void,
])[] = [
  [
    "a redaction",
    lines(header(), message("00000000", null, SECRET)),
    (path, fs) => SessionManager.open(path, { fs }).redactEntry("00000000"),
  ],
  ["an upgrade", VERSION_1, (path, fs) => SessionManager.open(path, { fs }).upgrade()],
  ["a repair", `${BRANCHED}what is this\n`, (path, fs) => repairSession(path, { fs })],
  [
    "a merge",
    BRANCHED,
    (path, fs) => {
      const copy = place(dirname(path), "copy", lines(header(), message("000000cc", null, "more")));
      mergeSessions(path, copy, { inPlace: true, fs });
    },
  ],
];

/** Appends, unless the file is missing temporarily: another process would wait, but this one is within the replacement itself. */
function appendUnlessReplaced(writer: SessionManager): string[] {
  try {
    return [writer.appendMessage(user("in the last moment"))];
  } catch (error) {
    expect(error).toMatchObject({ message: expect.stringContaining("is being replaced") });
    return [];
  }
}

/** Expires unsigned locks: without links, a process that dies before signing its lock blocks others for half a minute. */
function ageUnsigned(folder: string): void {
  for (const name of names(folder)) {
    const path = join(folder, name);
    if (name.endsWith(".lease") && statSync(path).size === 0) utimesSync(path, 0, 0);
  }
}

describe.each(SYSTEMS)("a process that dies at any call, %s,", (system) => {
  test.each(replacements)(
    "of %s loses no line that was reported as safe to a writer before it died, too",
    (_name, content, run) => {
      let isOver = false;
      let survivors = 0;
      for (let at = 1; !isOver; at++) {
        // Wine takes a second for each.
        if (IS_WINDOWS && at > 1 && !isSampled(at)) continue;
        const path = place(sandbox(), "s.jsonl", content);
        let calls = 0;
        const said: string[] = [];
        // Opens a session for each, without a later check.
        const options = { fs: systemFs(system) };
        const writer = content === VERSION_1 ? undefined : SessionManager.open(path, options);
        if (writer !== undefined) said.push(writer.appendMessage(user("before")));
        const fs = watchedFs(() => {
          if (++calls < at) return;
          if (calls === at && writer !== undefined) said.push(...appendUnlessReplaced(writer));
          throw Object.assign(new Error("killed"), { code: "EIO" });
        }, options.fs);
        try {
          run(path, fs);
        } catch (error) {
          expect(String(error)).toContain("killed");
        }
        isOver = calls < at;
        if (isOver) break;
        survivors++;
        ageUnsigned(dirname(path));
        const next = SessionManager.open(path, options);
        expect(
          said.filter((id) => next.getEntry(id) === undefined),
          `at call ${at}`,
        ).toEqual([]);
        next.upgrade();
        const first = next.getEntries().find(({ type }) => type === "message");
        next.redactEntry(first?.id ?? "");
        expect(litter(dirname(path)), `at call ${at}`).toEqual([]);
        for (const name of names(dirname(path))) {
          if (content.includes(SECRET))
            expect(readFileSync(join(dirname(path), name), "utf8")).not.toContain(SECRET);
        }
        expect(onDisk(path).issues.filter(({ code }) => code !== "LINE_UNREADABLE")).toEqual([]);
      }
      expect(survivors).toBeGreaterThan(IS_WINDOWS ? 0 : 30);
    },
  );
});

describe("redacted text", () => {
  test("is not restored by a session that appended it, if another program has removed the redaction record", () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const [idle, looking] = [SessionManager.open(path), SessionManager.open(path)];
    for (const session of [idle, looking]) {
      const id = session.appendMessage(user(SECRET));
      const other = SessionManager.open(path);
      other.redactEntry(id);
      if (session === looking) session.refresh();
      const kept = readFileSync(path, "utf8")
        .split("\n")
        .filter((line) => !line.includes(id));
      writeFileSync(path, kept.join("\n"));
      try {
        session.appendMessage(user("next"));
      } catch (error) {
        expect(error).toMatchObject({ code: "WRITE_FAILED" });
      }
      expect(readFileSync(path, "utf8")).not.toContain(SECRET);
    }
  });

  test("is removed with a permanently deleted session, including leftovers of a killed redaction", async () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED.replace("first question", SECRET));
    let isKilled = false;
    const fs = watchedFs((name) => {
      isKilled ||=
        name === (IS_WINDOWS ? "utimesSync" : "fchmodSync") &&
        names(dirname(path)).some((one) => one.endsWith(".old"));
      if (isKilled) throw Object.assign(new Error("killed"), { code: "EIO" });
    });
    const warnings = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    SessionManager.open(path, { fs }).redactEntry("00000002");
    expect(warnings).toHaveBeenCalled();
    warnings.mockRestore();
    const texts = () => names(dirname(path)).map((name) => readFileSync(join(dirname(path), name), "utf8"));
    expect(texts().join()).toContain(SECRET);
    await deleteSession(path, { permanent: true });
    expect(texts().join()).not.toContain(SECRET);
  });

  test("remains only in backups that were made before", () => {
    const folder = sandbox();
    const path = place(folder, "s.jsonl", VERSION_1);
    const idle = SessionManager.open(path);
    const upgrading = SessionManager.open(path);
    upgrading.upgrade();
    const id = idle.appendMessage(user(SECRET));
    upgrading.refresh();
    upgrading.redactEntry(id);
    for (const name of names(folder)) {
      expect(readFileSync(join(folder, name), "utf8"), name).not.toContain(SECRET);
    }
    expect(readFileSync(`${path}.v1.bak`, "utf8")).toBe(VERSION_1);
  });
});

describe("a writer whose file seems to have been replaced", () => {
  // Windows ignores modes.
  test.skipIf(IS_WINDOWS)("because it is read-only, continues", () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const session = SessionManager.open(path);
    session.appendMessage(user("one"));
    chmodSync(path, 0o400);
    session.appendMessage(user("two"));
    expect(getTexts(onDisk(path).getEntries()).slice(-2)).toEqual(["one", "two"]);
    expect(statSync(path).mode & 0o777).toBe(0o400);
  });

  test("because it has a second name, continues", () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    linkSync(path, `${path}.kept`);
    const session = SessionManager.open(path);
    session.appendMessage(user("one"));
    SessionManager.open(path).redactEntry("00000002");
    session.appendMessage(user("two"));
    expect(getTexts(onDisk(path).getEntries()).slice(-2)).toEqual(["one", "two"]);
    expect(readFileSync(`${path}.kept`, "utf8")).not.toContain("two");
  });
});
