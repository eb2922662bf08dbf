import { appendFileSync, closeSync, existsSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { isSessionError, SessionManager, type SessionOptions } from "sessiontree";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { IS_WINDOWS } from "../support/platform.ts";
import { removeFolder } from "../support/remove-folder.ts";
import { isSampled } from "../support/share.ts";
import { watchedFs } from "./support/faulty-fs.ts";
import { REPLACEMENTS, type ReplacementName } from "./support/replacements.ts";
import { litter, place, sandbox } from "./support/sandbox.ts";
import { getIds, header, lines, message, onDisk, user, VERSION_1 } from "./support/sessions.ts";
import { StoppedReplacement } from "./support/stopped-replacement.ts";
import { SYSTEMS, type System, systemFs } from "./support/systems.ts";

/** Session with text to redact and a line to repair. */
const SESSION = lines(header(), message("0000000a", null, "hunter2"), "what is this");

/** Additional lines that each replacement needs, written so late that no session does the work itself. */
const NEEDS: { readonly [task in ReplacementName]: string } = {
  redact: "",
  upgrade: lines({ type: "message", timestamp: "2026-03-01T12:00:00.000Z", message: user("without an id") }),
  repair: "",
  merge: "",
};

const NAMES = ["redact", "upgrade", "repair", "merge"] as const;

/** Behavior of a writer's call during the replacement. */
interface Moment {
  /** Call of the writer during which the replacement continues for some calls. */
  readonly at: "fsyncSync" | "fstatSync" | "ftruncateSync";
  /** Whether the flush fails. */
  readonly fails: boolean;
}

const thread = new StoppedReplacement();

/** File, a writer, and a reader that has read the writer's line before it was acknowledged. */
class Stage {
  readonly path = place(sandbox(), "s.jsonl", SESSION);
  readonly reader: SessionManager;
  readonly writer: SessionManager;
  readonly #task: ReplacementName;
  readonly #system: System;
  readonly #moment: Moment;
  readonly #calls: number;
  #next: "nothing" | "write" | "moment" | "look" = "nothing";
  /** Error of the replacement, and the number of its calls. */
  outcome: { error: string | undefined; calls: number } | undefined;

  constructor(task: ReplacementName, system: System, moment: Moment, calls: number) {
    this.#task = task;
    this.#system = system;
    this.#moment = moment;
    this.#calls = calls;
    place(dirname(this.path), "copy", lines(header(), message("000000cc", null, "only in the copy")));
    const durability: SessionOptions["durability"] = moment.at === "fstatSync" ? "os" : "fsync";
    const fs = watchedFs((name) => this.#before(name), systemFs(system));
    this.reader = SessionManager.open(this.path, { fs: systemFs(system) });
    this.writer = SessionManager.open(this.path, { durability, fs });
    // A session that has appended holds the file open.
    this.reader.appendMessage(user("by the reader"));
    this.writer.appendMessage(user("by the writer"));
  }

  /** Appends during the replacement; undefined if that was rejected. */
  append(): string | undefined {
    this.#next = "write";
    try {
      return this.writer.appendMessage(user("in the last moment"));
    } catch (error) {
      if (!this.#moment.fails || !isSessionError(error, "WRITE_FAILED")) throw error;
      return undefined;
    } finally {
      this.#next = "nothing";
      this.outcome ??= thread.finish();
    }
  }

  #before(name: string): void {
    const { at, fails } = this.#moment;
    if (this.#next === "write" && name === "writeSync") {
      this.#next = "moment";
      appendFileSync(this.path, NEEDS[this.#task]);
      thread.start({ task: this.#task, path: this.path, system: this.#system });
    } else if (this.#next === "moment" && (name === at || (fails && name === "fsyncSync"))) {
      if (name === at) {
        this.#next = "look";
        this.reader.refresh();
        thread.allow(this.#calls);
      }
      if (fails && name === "fsyncSync") throw Object.assign(new Error("injected"), { code: "EIO" });
    } else if (this.#next === "look" && name === "lstatSync") {
      this.#next = "nothing";
      this.outcome = thread.finish();
    }
  }
}

const MOMENTS: readonly (readonly [name: string, moment: Moment])[] = [
  ["waits for the disk", { at: "fsyncSync", fails: false }],
  ["is about to look whether its line has its place", { at: "fstatSync", fails: false }],
  ["waits for the disk, in vain", { at: "fsyncSync", fails: true }],
  ["is about to cut off what has failed", { at: "ftruncateSync", fails: true }],
];

const KINDS = SYSTEMS.flatMap((system) => NAMES.map((task) => [task, system] as const));

describe.each(KINDS)("a file that is retired by: %s, %s,", (task, system) => {
  test.each(MOMENTS)("while a writer %s", (_name, moment) => {
    for (let calls = 0, all = 0; calls <= all; calls++) {
      if (calls > 0 && !isSampled(calls)) continue;
      const stage = new Stage(task, system, moment, calls);
      const { path, reader, writer } = stage;
      const said = [stage.append()];
      const where = `after ${calls} calls`;
      expect(stage.outcome?.error, where).toBe(undefined);
      all = stage.outcome?.calls ?? 0;
      for (const session of [reader, writer]) said.push(session.appendMessage(user("afterwards")));
      const acknowledged = said.filter((id) => id !== undefined);
      expect(getIds(onDisk(path)), where).toEqual(expect.arrayContaining(acknowledged));
      expect(litter(dirname(path)), where).toEqual([]);
      removeFolder(dirname(path));
    }
  });
});

/** Call by which the new file takes the path. */
const TAKING = { posix: "renameSync", windows: "linkSync", "without links": "renameSync" } as const;

describe("a completed replacement", () => {
  test.each(KINDS)("reports no failure after the rename: %s, %s", (name, system) => {
    const warnings = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    onTestFinished(() => warnings.mockRestore());
    let failures = 0;
    for (let at = 1, isOver = false; !isOver; at++) {
      if (IS_WINDOWS && at > 1 && !isSampled(at)) continue;
      const path = place(sandbox(), "s.jsonl", name === "upgrade" ? VERSION_1 : SESSION);
      place(dirname(path), "copy", lines(header(), message("000000cc", null, "only in the copy")));
      let calls = 0;
      const fs = watchedFs((call, [, to]) => {
        if (calls === 0 && !(call === TAKING[system] && to === path)) return;
        // All fail from here on; cleanup errors are not tested here.
        if (++calls <= at || call === "closeSync" || call === "unlinkSync") return;
        failures++;
        throw Object.assign(new Error("injected"), { code: "EIO" });
      }, systemFs(system));
      warnings.mockClear();
      REPLACEMENTS[name](path, fs);
      isOver = calls <= at;
      const isLeft = litter(dirname(path)).some((one) => one.endsWith(".old"));
      if (isLeft) {
        expect(warnings).toHaveBeenCalledWith(expect.stringContaining(".s.jsonl.old"), {
          code: "SESSIONTREE_REPLACED",
        });
      }
      const next = SessionManager.open(path);
      next.appendMessage(user("next"));
      expect(litter(dirname(path)).filter((one) => one.endsWith(".old"))).toEqual([]);
      expect(onDisk(path).issues.filter(({ code }) => code !== "LINE_UNREADABLE")).toEqual([]);
      if (name === "redact") expect(readFileSync(path, "utf8")).not.toContain("hunter2");
      removeFolder(dirname(path));
    }
    expect(failures).toBeGreaterThan(IS_WINDOWS ? 0 : 10);
  });
});

describe("a retired file", () => {
  test("does not return, with the redacted text, when the file that has taken its path is removed", () => {
    const path = place(sandbox(), "s.jsonl", SESSION);
    const writer = SessionManager.open(path);
    writer.appendMessage(user("one"));
    SessionManager.open(path).redactEntry("0000000a");
    rmSync(path);
    expect(() => writer.appendMessage(user("two"))).toThrow(
      expect.objectContaining({ code: "SESSION_NOT_FOUND" }),
    );
    expect(existsSync(path)).toBe(false);
  });

  /** Opens a session that holds its file open, which another one then redacts. */
  function redactedBesides(act: (session: SessionManager) => void = () => undefined): SessionManager {
    const path = place(sandbox(), "s.jsonl", SESSION);
    const session = SessionManager.open(path);
    session.appendMessage(user("one"));
    act(session);
    SessionManager.open(path).redactEntry("0000000a");
    return session;
  }

  test("yields no body to the session that holds it open, but the tree until the next check", () => {
    const session = redactedBesides();
    const count = session.getEntryCount();
    expect(session.getEntry("0000000a")).toMatchObject({ message: { content: "[redacted]" } });
    expect(JSON.stringify(session.getEntries())).not.toContain("hunter2");
    expect(session.getEntryCount()).toBe(count);
    expect(session.refresh()).toHaveLength(1);
  });

  test("yields nothing to a context that is built later, even if all bodies are in memory", () => {
    const session = redactedBesides((before) => {
      expect(JSON.stringify(before.getEntries())).toContain("hunter2");
      before.branch("0000000a");
    });
    expect(JSON.stringify(session.buildSessionContext())).toContain("[redacted]");
  });

  test("yields nothing to a later fork or branch", () => {
    const path = redactedBesides().getSessionFile() ?? "";
    const fork = SessionManager.forkFrom(path, "/other", { sessionDir: sandbox() });
    expect(JSON.stringify(fork.getEntries())).not.toContain("hunter2");
    const session = redactedBesides();
    session.createBranchedSession(session.getLeafId() ?? "");
    expect(JSON.stringify(session.getEntries())).not.toContain("hunter2");
  });

  test("is read by no session when the file that has taken its path is removed", () => {
    const session = redactedBesides();
    rmSync(session.getSessionFile() ?? "");
    expect(() => session.getEntry("0000000a")).toThrow(
      expect.objectContaining({ code: "SESSION_NOT_FOUND" }),
    );
  });

  test.each(["open", "openAsync"] as const)(
    "is not continued by a session that began to read it: %s",
    async (how) => {
      for (let at = 1, all = 1; at <= all; at++) {
        const path = place(sandbox(), "s.jsonl", SESSION);
        let calls = 0;
        const fs = watchedFs(() => {
          if (++calls !== at) return;
          const old = openSync(path, "a");
          SessionManager.open(path).redactEntry("0000000a");
          // Its writer dies before it writes the line to the new file.
          writeSync(old, lines(message("0000000f", "0000000a", "written late")));
          closeSync(old);
        });
        const session = await SessionManager[how](path, { fs });
        all = calls;
        const id = session.appendMessage(user("next"));
        expect(getIds(session), `at call ${at}`).toEqual(getIds(onDisk(path)));
        expect(getIds(session)).toContain(id);
      }
    },
  );
});
