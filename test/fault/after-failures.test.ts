import nodeFs, { readFileSync, writeFileSync } from "node:fs";
import { SessionManager, type SessionOptions } from "sessiontree";
import { describe, expect, test } from "vitest";
import { FileLog } from "../../src/session/log/file-log.ts";
import { toLogLine } from "../../src/session/log/log-lines.ts";
import { type FileSystem, watchedFs } from "./support/faulty-fs.ts";
import { place, sandbox } from "./support/sandbox.ts";
import { getTexts, header, lines, message, onDisk, user } from "./support/sessions.ts";

const SECRET = "hunter2";

/** File system whose calls fail while `isFailing` returns true. */
class Failing {
  isFailing: (name: string) => boolean = () => false;
  readonly fs: FileSystem = watchedFs((name) => {
    if (this.isFailing(name)) throw Object.assign(new Error("EIO: injected"), { code: "EIO" });
    return undefined;
  });

  /** Makes reads fail after the given number. */
  failReadsAfter(count: number): void {
    let reads = 0;
    this.isFailing = (name) => name === "readSync" && ++reads > count;
  }

  heal(): void {
    this.isFailing = () => false;
  }
}

/** Opens a session that records the entries of others it reported, and another one that has its file open. */
function openTwice(fs: FileSystem) {
  const path = place(sandbox(), "s.jsonl", lines(header(), message("0000000a", null, "a")));
  const session = SessionManager.open(path, { fs });
  const told: string[] = [];
  session.on("foreign_entries", ({ entries }) => told.push(...entries.map(({ id }) => id)));
  return { path, session, told, other: SessionManager.open(path) };
}

describe("entries of other writers", () => {
  test("are reported once, even if reading them fails in the middle, repeatedly", () => {
    const disk = new Failing();
    const { session, told, other } = openTwice(disk.fs);
    const ids = Array.from({ length: 10 }, (_, i) => other.appendMessage(user(`${i}${"x".repeat(100_000)}`)));
    for (const count of [1, 2, 0]) {
      disk.failReadsAfter(count);
      expect(() => session.refresh()).toThrow("EIO");
    }
    disk.heal();
    session.refresh();
    expect(session.getEntries().map(({ id }) => id)).toEqual(["0000000a", ...ids]);
    expect(told).toEqual(ids);
  });

  test("are not reported if they were cut off before", () => {
    const disk = new Failing();
    const { path, session, told, other } = openTwice(disk.fs);
    const before = readFileSync(path);
    other.appendMessage(user("cut off"));
    disk.failReadsAfter(2);
    expect(() => session.refresh()).toThrow("EIO");
    disk.heal();
    writeFileSync(path, before);
    session.refresh();
    session.appendMessage(user("mine"));
    session.refresh();
    expect(getTexts(session.getEntries())).toEqual(["a", "mine"]);
    expect(told).toEqual([]);
  });
});

describe("a session whose file could not be created", () => {
  test("is written after a redaction, over the rest of the failed attempt", async () => {
    let isBroken = true;
    const fs = watchedFs((name, [fd, bytes]) => {
      if (!isBroken || (name !== "writeSync" && name !== "unlinkSync")) return undefined;
      if (typeof fd === "number" && bytes instanceof Uint8Array) nodeFs.writeSync(fd, bytes);
      throw Object.assign(new Error("EIO: injected"), { code: "EIO" });
    });
    const options: SessionOptions = { sessionDir: sandbox(), fs };
    const session = SessionManager.create("/project", options);
    const path = session.getSessionFile() ?? "";
    session.appendSessionInfo(SECRET);
    expect(() => session.appendMessage(user(SECRET))).toThrow("EIO");
    expect(readFileSync(path, "utf8")).toContain(SECRET);
    session.redactEntry(session.getEntries()[0]?.id ?? "");
    isBroken = false;
    session.appendMessage(user("hello"));
    await session.close();
    expect(getTexts(onDisk(path).getEntries())).toEqual(expect.arrayContaining(["hello"]));
    expect(readFileSync(path, "utf8")).not.toContain(SECRET);
  });
});

describe("a file system without inode numbers", () => {
  test("a session reads and appends to the file that its own redaction wrote", async () => {
    const fs: FileSystem = new Proxy<FileSystem>(nodeFs, {
      get(target, key) {
        const call: unknown = Reflect.get(target, key);
        if (typeof call !== "function" || !["statSync", "lstatSync", "fstatSync"].includes(String(key)))
          return call;
        return (...args: unknown[]) => {
          const stats: unknown = Reflect.apply(call, target, args);
          return stats && Object.assign(Object(stats), { ino: 0n, birthtimeNs: 0n, ctimeNs: 0n });
        };
      },
    });
    const path = place(sandbox(), "s.jsonl", lines(header()));
    const session = SessionManager.open(path, { fs });
    const id = session.appendMessage(user(SECRET));
    session.redactEntry(id);
    expect(JSON.stringify(session.getEntries())).not.toContain(SECRET);
    session.appendMessage(user("after"));
    await session.close();
    expect(readFileSync(path, "utf8")).not.toContain(SECRET);
    expect(getTexts(onDisk(path).getEntries())).toContain("after");
  });
});

test("a walk continues through concurrent redactions and appends, including those of its own session", () => {
  const hex = (number: number) => number.toString(16).padStart(8, "0");
  const records = Array.from({ length: 50 }, (_, i) =>
    message(hex(i), i === 0 ? null : hex(i - 1), `${SECRET} ${i} ${"y".repeat(9000)}`),
  );
  const path = place(sandbox(), "s.jsonl", lines(header(), ...records));
  const session = SessionManager.open(path);
  const log = FileLog.open(path);
  const append = (id: string) =>
    log?.append(
      [
        toLogLine({
          type: "custom",
          id,
          parentId: hex(49),
          timestamp: "2026-01-01T00:00:00.000Z",
          customType: "x",
        }),
      ],
      true,
    );
  const walked: string[] = [];
  log?.readLines(log.index.tree.ordinals(), (ordinal, bytes) => {
    walked.push(JSON.parse(Buffer.from(bytes).toString()).id);
    if (ordinal === 3 || ordinal === 30) session.redactEntry(hex(ordinal + 7));
    if (ordinal === 20) log.refresh();
    if (ordinal === 20) session.appendMessage(user("theirs"));
    if (ordinal === 20 || ordinal === 35) append(hex(0xffff0000 + ordinal));
  });
  expect(walked).toEqual(records.map((_, i) => hex(i)));
  const ids = onDisk(path)
    .getEntries()
    .map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining([hex(0xffff0014), hex(0xffff0023), session.getLeafId()]));
  expect(readFileSync(path, "utf8")).not.toContain(`${SECRET} 37`);
});
