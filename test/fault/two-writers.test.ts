import { appendFileSync, existsSync, readFileSync, writeSync } from "node:fs";
import { isSessionError, SessionManager } from "sessiontree";
import { describe, expect, test } from "vitest";
import fc from "../support/fast-check.ts";
import { type FileSystem, watchedFs } from "./support/faulty-fs.ts";
import { place, sandbox } from "./support/sandbox.ts";
import {
  BRANCHED,
  getIds,
  getTexts,
  header,
  lines,
  message,
  NOW,
  onDisk,
  user,
  VERSION_1,
  view,
} from "./support/sessions.ts";

/** Session manager with an optional failure in the middle of its next write. */
class Writer {
  readonly session: SessionManager;
  /** Entries whose append has returned. */
  readonly acknowledged: string[] = [];
  /** Called after half of the next line is written and before the write fails. */
  failing: (() => void) | undefined;
  /** Whether the rest of a failed write cannot be cut off. */
  cannotCut = false;

  constructor(path: string) {
    this.session = SessionManager.open(path, { fs: this.#fs(), now: () => NOW });
  }

  say(text: string): void {
    try {
      this.acknowledged.push(this.session.appendMessage(user(text)));
    } catch (error) {
      const isExpected = isSessionError(error, "WRITE_FAILED") || isSessionError(error, "UPGRADE_FAILED");
      if (this.failing === undefined || !isExpected) throw error;
    }
    this.failing = undefined;
  }

  #fs(): FileSystem {
    let isHalfWritten = false;
    return watchedFs((name, [fd, bytes, from, length]) => {
      const { failing } = this;
      if (name === "ftruncateSync" && failing !== undefined && this.cannotCut) throw new Error("injected");
      if (name !== "writeSync" || failing === undefined) return undefined;
      if (typeof fd !== "number" || !(bytes instanceof Uint8Array)) throw new TypeError("not a write");
      isHalfWritten = !isHalfWritten;
      if (isHalfWritten) return writeSync(fd, bytes, Number(from), Math.ceil(Number(length) / 2));
      failing();
      throw Object.assign(new Error("injected"), { code: "ENOSPC" });
    });
  }
}

/** Step on a file with two writers. */
const step = fc.record({
  who: fc.nat(1),
  what: fc.constantFrom(
    "say",
    "say",
    "say",
    "refresh",
    "read",
    "branch",
    "label",
    "fail",
    "fail and stay torn",
    "foreign",
  ),
  size: fc.nat(400),
});

describe("two sessions on one file, in any order", () => {
  test("lose nothing, agree in the end, and each keeps its leaf", () => {
    const start = [BRANCHED, VERSION_1, lines(header()), BRANCHED.trimEnd()];
    fc.assert(
      fc.property(fc.constantFrom(...start), fc.array(step, { maxLength: 30 }), (content, steps) => {
        const path = place(sandbox(), "s.jsonl", content);
        const writers = [new Writer(path), new Writer(path)];
        let torn = "";
        let foreign = 0;
        for (const [i, { who, what, size }] of steps.entries()) {
          const writer = writers[who];
          const other = writers[1 - who]?.session;
          if (writer === undefined) throw new Error();
          const text = `${i} ${"x".repeat(size)}`;
          writer.cannotCut = what === "fail and stay torn";
          if (what.startsWith("fail")) writer.failing = () => other?.refresh();
          if (what === "refresh") writer.session.refresh();
          else if (what === "read") view(writer.session);
          else if (what === "branch") writer.session.resetLeaf();
          else if (what === "label" && writer.acknowledged.length > 0) {
            writer.acknowledged.push(writer.session.appendLabelChange(writer.acknowledged[0] ?? "", text));
          } else if (what === "foreign" && torn === "" && !content.includes('"version":1')) {
            // Another writer writes a line in two parts, with no write between them.
            const line = lines(message(`f${String(foreign++).padStart(7, "0")}`, null, text));
            torn = line.slice(size % line.length);
            appendFileSync(path, line.slice(0, size % line.length));
            other?.refresh();
            appendFileSync(path, torn);
            torn = "";
          } else writer.say(text);
        }
        for (const { session } of writers) session.refresh();
        const disk = onDisk(path);
        const found = new Map(disk.getEntries().map((entry) => [entry.id, JSON.stringify(entry)]));
        for (const { session, acknowledged } of writers) {
          expect(acknowledged.filter((id) => !found.has(id))).toEqual([]);
          expect(new Map(session.getEntries().map((entry) => [entry.id, JSON.stringify(entry)]))).toEqual(
            found,
          );
          expect(getIds(session)).toEqual(getIds(disk));
          expect(session.getSessionName()).toBe(disk.getSessionName());
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe("a line that another writer cut off and rewrote", () => {
  test("is read in its current form, not in its first", () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const reader = SessionManager.open(path);
    const writer = new Writer(path);
    writer.failing = () => reader.refresh();
    writer.say("the same words again and again");
    expect(reader.issues.map(({ code }) => code)).toEqual(["TAIL_TORN"]);
    writer.say("the same words again and again, and some more");
    expect(reader.refresh().map(({ id }) => id)).toEqual(writer.acknowledged);
    expect(reader.getEntries()).toEqual(onDisk(path).getEntries());
    expect(reader.issues).toEqual([]);
  });

  test("is removed for others that read it completely, too, because it could not be made durable", () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const reader = SessionManager.open(path);
    const before = view(reader);
    let fails = true;
    const writer = SessionManager.open(path, {
      durability: "fsync",
      fs: watchedFs((name) => {
        if (name !== "fsyncSync" || !fails) return;
        expect(reader.refresh()).toHaveLength(1);
        fails = false;
        throw new Error("injected");
      }),
    });
    expect(() => writer.appendMessage(user("one"))).toThrow(/injected/);
    reader.refresh();
    expect(view(reader)).toEqual(before);
    writer.appendMessage(user("two"));
    reader.refresh();
    expect(getTexts(reader.getEntries()).slice(-1)).toEqual(["two"]);
    reader.appendMessage(user("three"));
    expect(getIds(reader)).toEqual(getIds(onDisk(path)));
  });
});

describe("a new file that could not be made durable", () => {
  test.each([false, true])(
    "stays if another writer has continued it, even if it was replaced: %s",
    (isReplaced) => {
      const folder = sandbox();
      let id: string | undefined;
      const writer = SessionManager.create("/project", {
        sessionDir: folder,
        durability: "fsync",
        fs: watchedFs((name) => {
          const path = writer.getSessionFile() ?? "";
          if (name !== "fsyncSync" || id !== undefined || !existsSync(path)) return;
          const other = SessionManager.open(path);
          id = other.appendMessage(user("by another"));
          if (isReplaced) other.redactEntry(other.appendMessage(user("secret")));
          throw Object.assign(new Error("injected"), { code: "EIO" });
        }),
      });
      const path = writer.getSessionFile() ?? "";
      expect(() => writer.appendMessage(user("one"))).toThrow(/injected/);
      expect(getIds(onDisk(path))).toContain(id);
      // The session cannot begin there any more, and removes nothing.
      expect(() => writer.appendMessage(user("two"))).toThrow(
        expect.objectContaining({ code: "SESSION_EXISTS" }),
      );
      expect(getIds(onDisk(path))).toContain(id);
    },
  );
});

describe("a write that the system splits", () => {
  /** Opens a session whose writes are split in two, between which `between` is called. */
  function inParts(path: string, between: () => void): SessionManager {
    let isSecond = false;
    return SessionManager.open(path, {
      fs: watchedFs((name, [fd, bytes, from, length]) => {
        if (name !== "writeSync") return undefined;
        if (isSecond) between();
        isSecond = !isSecond;
        if (!isSecond || typeof fd !== "number" || !(bytes instanceof Uint8Array)) return undefined;
        return writeSync(fd, bytes, Number(from), Math.ceil(Number(length) / 2));
      }),
    });
  }

  test("is one line if no other write is between", () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const session = inParts(path, () => undefined);
    session.appendMessage(user("one"));
    expect(readFileSync(path, "utf8").match(/"one"/g)).toHaveLength(1);
    expect(onDisk(path).issues).toEqual([]);
  });

  test("is written again, completely, if another line is between", () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    let count = 0;
    const session = inParts(path, () => {
      if (count++ === 0) appendFileSync(path, lines(message("ffffffff", null, "between")));
    });
    const id = session.appendMessage(user("one"));
    session.refresh();
    for (const one of [session, onDisk(path)]) {
      expect(getTexts(one.getEntries())).toEqual(expect.arrayContaining(["one", "between"]));
      expect(one.getEntries().filter((entry) => entry.id === id)).toHaveLength(1);
    }
  });

  test("fails if lines come between forever, and the session continues", () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    let count = 0;
    let isQuiet = false;
    const session = inParts(path, () => {
      if (!isQuiet)
        appendFileSync(path, lines(message(`f${String(count++).padStart(7, "0")}`, null, "between")));
    });
    expect(() => session.appendMessage(user("one"))).toThrow(/split the write/);
    isQuiet = true;
    session.appendMessage(user("two"));
    expect(new Set(getIds(session))).toEqual(new Set(getIds(onDisk(path))));
    expect(getTexts(onDisk(path).getEntries()).filter((text) => text === "between")).toHaveLength(count);
  });
});
