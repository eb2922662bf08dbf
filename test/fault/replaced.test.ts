import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { isSessionError, type SessionErrorCode, SessionManager, type SessionOptions } from "sessiontree";
import { deleteSession } from "sessiontree/catalog";
import { beforeEach, describe, expect, test } from "vitest";
import { moveOver } from "../support/move-over.ts";
import { IS_WINDOWS } from "../support/platform.ts";
import { watchedFs } from "./support/faulty-fs.ts";
import { litter, place, sandbox, snapshot } from "./support/sandbox.ts";
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
} from "./support/sessions.ts";

/** Session of three entries of other writers, and two that it has appended itself. */
class Stage {
  readonly path: string;
  readonly session: SessionManager;
  readonly last: string;

  constructor(options: SessionOptions = {}) {
    const folder = join(sandbox(), "sessions");
    mkdirSync(folder);
    const others = [message("0000000a", null, "a"), message("0000000b", "0000000a", "b")];
    this.path = place(folder, "s.jsonl", lines(header(), ...others));
    this.session = SessionManager.open(this.path, options);
    this.say("c");
    this.last = this.say("d");
  }

  say(text: string): string {
    return this.session.appendMessage(user(text));
  }

  /** Copies the file next to it. */
  copy(): string {
    const copy = join(dirname(this.path), "copy.jsonl");
    copyFileSync(this.path, copy);
    return copy;
  }

  /** Returns the texts in the file, in order; the file must be a session. */
  texts(): unknown[] {
    return getTexts(onDisk(this.path).getEntries());
  }

  /** Checks that an append fails repeatedly and changes nothing. */
  assertRefused(code: SessionErrorCode): void {
    const before = existsSync(this.path) && statSync(this.path).isFile() ? snapshot(this.path) : undefined;
    for (let i = 0; i < 3; i++) {
      expect(codeOf(() => this.say("lost"))).toBe(code);
      if (before === undefined) expect(existsSync(this.path) && statSync(this.path).isFile()).toBe(false);
      else expect(snapshot(this.path)).toEqual(before);
    }
    expect(this.session.getLeafId()).toBe(this.last);
    expect(this.session.getEntryCount()).toBe(4);
    expect(litter(dirname(this.path))).toEqual([]);
  }
}

function codeOf(call: () => unknown): SessionErrorCode | "no error" {
  try {
    call();
    return "no error";
  } catch (error) {
    if (!isSessionError(error)) throw error;
    return error.code;
  }
}

let stage: Stage;
beforeEach(() => {
  stage = new Stage();
});

// Windows keeps the name of a file that is removed while it is open.
describe.skipIf(IS_WINDOWS)("a removed file", () => {
  test("is written again, entirely, by the next append", () => {
    rmSync(stage.path);
    stage.say("e");
    expect(stage.texts()).toEqual(["a", "b", "c", "d", "e"]);
    expect(readFileSync(stage.path, "utf8")).toMatch(/^\{"type":"session"/);
    expect(statSync(stage.path).mode & 0o777).toBe(0o600);
    stage.say("f");
    expect(stage.texts()).toEqual(["a", "b", "c", "d", "e", "f"]);
    expect(litter(dirname(stage.path))).toEqual([]);
  });

  test("is written again with its folder", () => {
    rmSync(dirname(stage.path), { recursive: true });
    stage.say("e");
    expect(stage.texts()).toEqual(["a", "b", "c", "d", "e"]);
    expect(statSync(dirname(stage.path)).mode & 0o777).toBe(0o700);
  });

  test("is written again at its path after it was moved, and the moved one is not changed", () => {
    const moved = join(dirname(stage.path), "moved.jsonl");
    renameSync(stage.path, moved);
    const before = readFileSync(moved);
    stage.say("e");
    expect(readFileSync(moved)).toEqual(before);
    expect(stage.texts()).toEqual(["a", "b", "c", "d", "e"]);
  });

  test("is not written again by a check or a close", async () => {
    rmSync(stage.path);
    expect(stage.session.refresh()).toEqual([]);
    expect(getTexts(stage.session.getEntries())).toEqual(["a", "b", "c", "d"]);
    await expect(stage.session.flush()).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    await stage.session.close();
    expect(existsSync(stage.path)).toBe(false);
  });

  test("is a typed error for a session that does not hold it open", () => {
    const session = SessionManager.open(stage.path);
    rmSync(stage.path);
    expect(codeOf(() => session.appendMessage(user("e")))).toBe("SESSION_NOT_FOUND");
    expect(existsSync(stage.path)).toBe(false);
    expect(session.refresh()).toEqual([]);
  });

  test.each([[[]], [["one before"]]])(
    "at any call of an append, after %j, is written again or a typed error, and never part of a session",
    (before) => {
      for (let at = 1, calls = at; at <= calls; at++) {
        const path = place(sandbox(), "s.jsonl", BRANCHED);
        calls = Number.NEGATIVE_INFINITY;
        const fs = watchedFs(() => {
          if (++calls === at) rmSync(path, { force: true });
        });
        const session = SessionManager.open(path, { fs });
        for (const text of before) session.appendMessage(user(text));
        calls = 0;
        const code = codeOf(() => session.appendMessage(user("e")));
        expect(["no error", "SESSION_NOT_FOUND"], `call ${at} of ${calls}`).toContain(code);
        if (existsSync(path)) expect(onDisk(path).issues).toEqual([]);
      }
    },
  );

  test("may return", () => {
    const session = SessionManager.open(stage.path);
    const away = `${stage.path}.away`;
    renameSync(stage.path, away);
    expect(codeOf(() => session.appendMessage(user("e")))).toBe("SESSION_NOT_FOUND");
    renameSync(away, stage.path);
    session.appendMessage(user("e"));
    expect(stage.texts()).toEqual(["a", "b", "c", "d", "e"]);
  });

  test("is written again by one of the sessions that hold it open; the others continue with that one", () => {
    const other = SessionManager.open(stage.path);
    other.appendMessage(user("e"));
    rmSync(stage.path);
    stage.say("f");
    other.appendMessage(user("g"));
    stage.session.refresh();
    expect(stage.texts()).toEqual(["a", "b", "c", "d", "e", "f", "g"]);
    expect(new Set(getIds(stage.session))).toEqual(new Set(getIds(onDisk(stage.path))));
  });

  test.each(["ENOSPC", "EIO"] as const)("stays open while it cannot be written again, with %s", (code) => {
    let failures = 0;
    let isOver = false;
    for (let at = 1; !isOver; at++) {
      const path = place(sandbox(), "s.jsonl", BRANCHED);
      let isBroken = false;
      let calls = 0;
      const fs = watchedFs((name) => {
        // Cleanup errors are not tested here.
        if (!isBroken || name === "closeSync" || name === "unlinkSync" || ++calls < at) return;
        throw Object.assign(new Error("injected"), { code });
      });
      const session = SessionManager.open(path, { fs });
      session.appendMessage(user("one"));
      rmSync(path);
      isBroken = true;
      const outcome = codeOf(() => session.appendMessage(user("two")));
      isBroken = false;
      session.appendMessage(user("three"));
      const all = ["one", "two", "three"];
      const texts = getTexts(onDisk(path).getEntries());
      const appended = texts.filter((text) => all.includes(String(text)));
      // A line that was written and could neither be confirmed nor cut off stays.
      expect(outcome === "no error" ? [all] : [all, ["one", "three"]]).toContainEqual(appended);
      if (outcome !== "no error") failures++;
      isOver = calls < at;
    }
    expect(failures).toBeGreaterThan(5);
  });
});

describe("another file at the path", () => {
  test("is never written to, and the session continues when its own is restored", () => {
    const away = `${stage.path}.away`;
    renameSync(stage.path, away);
    const foreign = lines(header({ id: "other" }), message("0000000a", null, "x".repeat(5000)));
    writeFileSync(stage.path, foreign);
    stage.assertRefused("WRITE_FAILED");
    expect(codeOf(() => stage.session.refresh())).toBe("WRITE_FAILED");
    renameSync(away, stage.path);
    stage.say("e");
    expect(stage.texts()).toEqual(["a", "b", "c", "d", "e"]);
  });

  test.each([
    ["of no session", "hello\n".repeat(500), "NOT_A_SESSION"],
    ["that is empty", "", "WRITE_FAILED"],
    [
      "of an earlier state of the same session",
      lines(header(), message("0000000a", null, "a")),
      "WRITE_FAILED",
    ],
  ] as const)("%s is rejected", (_name, content, code) => {
    rmSync(stage.path);
    writeFileSync(stage.path, content);
    stage.assertRefused(code);
  });

  // Windows moves no file over one that is open.
  test.skipIf(IS_WINDOWS)("that is a grown copy is read, and the own leaf stays", () => {
    const leafId = stage.session.getLeafId();
    const copy = stage.copy();
    appendFileSync(copy, lines(message("0000000e", "0000000a", "e")));
    renameSync(copy, stage.path);
    const foreign: unknown[] = [];
    stage.session.on("foreign_entries", ({ entries }) => foreign.push(...entries.map(({ id }) => id)));
    const id = stage.say("f");
    expect(foreign).toEqual(["0000000e"]);
    expect(stage.session.getEntry(id)?.parentId).toBe(leafId);
    expect(stage.texts()).toEqual(["a", "b", "c", "d", "e", "f"]);
    expect(stage.session.getEntry("0000000e")).toMatchObject({ message: { content: "e" } });
  });

  test.skipIf(IS_WINDOWS)("that lacks the last appended entry gets it again", () => {
    const copy = stage.copy();
    const leafId = stage.say("e");
    renameSync(copy, stage.path);
    const id = stage.say("f");
    expect(stage.texts()).toEqual(["a", "b", "c", "d", "e", "f"]);
    expect(onDisk(stage.path).getEntry(id)?.parentId).toBe(leafId);
    expect(onDisk(stage.path).issues).toEqual([]);
  });

  test.skipIf(IS_WINDOWS)("gets missing entries when the session is flushed or closed, too", async () => {
    const copy = stage.copy();
    stage.say("e");
    renameSync(copy, stage.path);
    await stage.session.close();
    expect(stage.texts()).toEqual(["a", "b", "c", "d", "e"]);
  });

  test.skipIf(IS_WINDOWS)("that lacks entries of other writers is rejected", () => {
    writeFileSync(`${stage.path}.new`, lines(header(), message("0000000a", null, "a")));
    renameSync(`${stage.path}.new`, stage.path);
    stage.assertRefused("WRITE_FAILED");
  });

  test.skipIf(IS_WINDOWS).each([
    ["a folder", (path: string) => mkdirSync(path)],
    ["a pipe", (path: string) => execFileSync("mkfifo", [path])],
    ["a link to nowhere", (path: string) => symlinkSync("nowhere", path)],
    ["a link to the file itself", (path: string) => symlinkSync(`${path}.away`, path)],
  ])("that is %s is rejected", (_name, make) => {
    renameSync(stage.path, `${stage.path}.away`);
    make(stage.path);
    const before = snapshot(`${stage.path}.away`);
    const session = SessionManager.open(`${stage.path}.away`);
    // A session that holds the file open must detect it, too.
    const code = codeOf(() => stage.say("lost"));
    expect(["WRITE_FAILED", "SESSION_EXISTS", "no error"]).toContain(code);
    if (code !== "no error") expect(snapshot(`${stage.path}.away`)).toEqual(before);
    expect(getIds(session)).toHaveLength(4);
  });

  test("with the inode number of the old one is recognized by its content", () => {
    const session = SessionManager.open(stage.path);
    const { ino } = statSync(stage.path);
    // The same inode number, as the system may reuse it: the content is written without a new file.
    writeFileSync(
      stage.path,
      lines(header({ id: "other" }), ...Array(9).fill(message("0000000f", null, "foreign"))),
    );
    expect(statSync(stage.path).ino).toBe(ino);
    const before = snapshot(stage.path);
    expect(codeOf(() => session.appendMessage(user("e")))).toBe("WRITE_FAILED");
    expect(codeOf(() => session.refresh())).toBe("WRITE_FAILED");
    expect(snapshot(stage.path)).toEqual(before);
  });
});

describe("a file that changed in place", () => {
  const sizes = ["nothing", "half a line", "whole lines"] as const;

  test.each(sizes)(
    "because it was cut to %s is never appended to, unless the missing lines can be restored",
    (kind) => {
      const text = readFileSync(stage.path, "utf8");
      const ends = [...text.matchAll(/\n/g)].map(({ index }) => index + 1);
      const size = { nothing: 0, "half a line": (ends[1] ?? 0) + 20, "whole lines": ends[1] ?? 0 }[kind];
      truncateSync(stage.path, size);
      stage.assertRefused("WRITE_FAILED");
    },
  );

  test("because the last append was cut off gets it again", () => {
    const { size } = statSync(stage.path);
    stage.say("e");
    truncateSync(stage.path, size);
    stage.say("f");
    truncateSync(stage.path, size + 10);
    stage.say("g");
    expect(stage.texts()).toEqual(["a", "b", "c", "d", "e", "f", "g"]);
  });

  test("by one of a newer version gets no line, not even those that it lacks", () => {
    const stage = new Stage();
    const [head = "", ...rest] = readFileSync(stage.path, "utf8").split("\n");
    const newer = [head.replace('"version":3', '"version":9'), ...rest.slice(0, 2), ""].join("\n");
    const copy = stage.copy();
    writeFileSync(copy, newer);
    moveOver(copy, stage.path);
    expect(() => stage.session.refresh()).toThrow(expect.objectContaining({ code: "VERSION_TOO_NEW" }));
    expect(() => stage.say("e")).toThrow(expect.objectContaining({ code: "VERSION_TOO_NEW" }));
    expect(readFileSync(stage.path, "utf8")).toBe(newer);
  });

  test("because another program rewrote it is read again", () => {
    const text = readFileSync(stage.path, "utf8");
    const rewritten = text.replace("{", '{ "note" : "written by another program, with more bytes", ');
    writeFileSync(stage.path, `${rewritten}${lines(message("0000000e", "0000000b", "e"))}`);
    expect(stage.session.refresh().map(({ id }) => id)).toEqual(["0000000e"]);
    stage.say("f");
    expect(stage.texts()).toEqual(["a", "b", "c", "d", "e", "f"]);
    expect(getTexts(SessionManager.open(stage.path).getEntries())).toEqual(
      getTexts(stage.session.getEntries()),
    );
  });

  test("returns no body of another entry to a session that does not hold it open", () => {
    const session = SessionManager.open(stage.path);
    const other = SessionManager.open(stage.path);
    other.redactEntry("0000000a", {
      replacement: "a much longer text than there was before, so that all lines stand elsewhere",
    });
    expect(getTexts(session.getEntries()).slice(1, 4)).toEqual(["b", "c", "d"]);
    expect(session.getEntry("0000000a")).toMatchObject({ message: { content: /longer/ } });
  });

  test("because it was redacted by another process returns the old content to no caller", () => {
    const held = stage.session.getEntry("0000000a");
    const kept = stage.session.getEntry("0000000b");
    expect(held).toMatchObject({ message: { content: "a" } });
    SessionManager.open(stage.path).redactEntry("0000000a");
    stage.session.refresh();
    expect(stage.session.getEntry("0000000a")).toMatchObject({ message: { content: "[redacted]" } });
    expect(JSON.stringify(stage.session.buildSessionContext())).toContain("[redacted]");
    // Unchanged entries stay the same objects.
    expect(stage.session.getEntry("0000000b")).toBe(kept);
  });
});

describe("a file that is replaced at the moment of an append", () => {
  /** Calls `act` just before a session renames its copy over the file. */
  function atRename(path: string, act: () => void): SessionManager {
    let isDone = false;
    return SessionManager.open(path, {
      fs: watchedFs((name) => {
        if (name !== "renameSync" || isDone) return;
        isDone = true;
        act();
      }),
    });
  }

  test("by a redaction has the entry when that is finished", () => {
    const redacting = atRename(stage.path, () => stage.say("in between"));
    redacting.redactEntry("0000000a");
    expect(stage.texts()).toEqual(["[redacted]", "b", "c", "d", "in between"]);
    stage.say("after");
    expect(stage.texts()).toEqual(["[redacted]", "b", "c", "d", "in between", "after"]);
  });

  test("by an upgrade that waits below it is rejected, but not permanently", () => {
    const path = place(sandbox(), "s.jsonl", VERSION_1);
    const other = SessionManager.open(path);
    const refusals: string[] = [];
    const upgrading = atRename(path, () =>
      refusals.push(codeOf(() => other.appendMessage(user("in between")))),
    );
    upgrading.appendMessage(user("by the first"));
    expect(refusals).toEqual(["WRITE_FAILED"]);
    other.appendMessage(user("after"));
    expect(getTexts(onDisk(path).getEntries())).toEqual([
      "first",
      "second",
      "third",
      "by the first",
      "after",
    ]);
    upgrading.refresh();
    expect(new Set(getIds(upgrading))).toEqual(new Set(getIds(onDisk(path))));
  });

  test("by concurrent upgrades in two processes ends in one file", () => {
    const path = place(sandbox(), "s.jsonl", VERSION_1);
    const sessions = [1, 2, 3].map(() => SessionManager.open(path));
    for (const [i, session] of sessions.entries()) session.appendMessage(user(`by ${i}`));
    for (const session of sessions) session.refresh();
    const found = new Set(getIds(onDisk(path)));
    for (const session of sessions) expect(new Set(getIds(session))).toEqual(found);
    expect(getTexts(onDisk(path).getEntries())).toEqual(["first", "second", "third", "by 0", "by 1", "by 2"]);
  });
});

// Windows keeps the name of a file that is removed while it is open.
describe.skipIf(IS_WINDOWS)("a deleted session", () => {
  test("is not written again by a process that holds it open", async () => {
    await deleteSession(stage.path, { permanent: true });
    expect(codeOf(() => stage.session.appendMessage(user("e")))).toBe("SESSION_NOT_FOUND");
    expect(existsSync(stage.path)).toBe(false);
  });

  test("is not written again in the mode that requires an existing file, however it was removed", () => {
    rmSync(stage.path);
    const draft = { type: "custom" as const, customType: "note" };
    expect(codeOf(() => stage.session.append(draft, { mustExist: true }))).toBe("SESSION_NOT_FOUND");
    expect(codeOf(() => stage.session.appendAll([draft, draft], { mustExist: true }))).toBe(
      "SESSION_NOT_FOUND",
    );
    expect(existsSync(stage.path)).toBe(false);
    expect(codeOf(() => SessionManager.open(stage.path, { mustExist: true }))).toBe("SESSION_NOT_FOUND");
    // Without the mode, it is written again from the entries in memory.
    stage.say("e");
    const session = SessionManager.open(stage.path, { mustExist: true });
    session.appendMessage(user("f"));
    rmSync(stage.path);
    expect(codeOf(() => session.appendMessage(user("g")))).toBe("SESSION_NOT_FOUND");
    expect(existsSync(stage.path)).toBe(false);
  });
});
