import {
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { isSessionError, SessionManager, type SessionOptions } from "sessiontree";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { Children } from "../../fault/support/children.ts";
import { watchedFs } from "../../fault/support/faulty-fs.ts";
import { litter, names, place, sandbox } from "../../fault/support/sandbox.ts";
import { BRANCHED, getTexts, onDisk, user } from "../../fault/support/sessions.ts";
import { IS_WINDOWS } from "../../support/platform.ts";

const children = new Children();

let path: string;
let lease: string;
beforeEach(() => {
  path = place(sandbox(), "s.jsonl", BRANCHED);
  lease = `${path}.lease`;
});

const open = (options: SessionOptions = {}) => SessionManager.open(path, { lease: "fail", ...options });

function errorOf(call: () => unknown): { code: string; details: object } | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (!isSessionError(error)) throw error;
    return { code: error.code, details: error.details };
  }
}

/** Content of a lease file for a process. */
const owner = (fields: object) =>
  JSON.stringify({
    pid: 1,
    host: hostname(),
    startedAt: "",
    token: "00000000-0000-4000-8000-000000000000",
    ...fields,
  });

/** Owner that no longer exists: only Linux reports that another process has its pid. */
const GONE = process.platform === "linux" ? { pid: process.pid, startedAt: "1" } : { pid: 4_194_300 };

describe("a lease", () => {
  test("is not requested by default", async () => {
    const [a, b] = [SessionManager.open(path), SessionManager.open(path)];
    a.appendMessage(user("one"));
    b.appendMessage(user("two"));
    expect(names(dirname(path))).toEqual(["s.jsonl"]);
    open();
    b.appendMessage(user("three"));
    expect(getTexts(onDisk(path).getEntries())).toContain("three");
  });

  test("excludes a second writer and names the first", async () => {
    const first = open();
    expect(errorOf(() => open())).toEqual({
      code: "LEASE_HELD",
      details: { path, pid: process.pid, host: hostname() },
    });
    await first.close();
    expect(errorOf(() => open())).toBeUndefined();
  });

  test.skipIf(IS_WINDOWS)("is a small file of mode 0600", () => {
    open();
    expect(statSync(lease).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(lease, "utf8"))).toMatchObject({ pid: process.pid, host: hostname() });
    expect(names(dirname(path))).toEqual(["s.jsonl", "s.jsonl.lease"]);
  });

  test("does not affect readers", () => {
    open();
    const reader = SessionManager.open(path, { lease: "fail", mode: "read-only" });
    expect(reader.getEntryCount()).toBe(6);
  });

  test("that is held makes a session read-only on request", async () => {
    const first = open();
    const second = open({ lease: "read-only" });
    expect(errorOf(() => second.appendMessage(user("one")))).toMatchObject({ code: "READ_ONLY" });
    first.appendMessage(user("two"));
    expect(second.refresh()).toHaveLength(1);
    await second.close();
    expect(errorOf(() => open())).toMatchObject({ code: "LEASE_HELD" });
    await first.close();
    open({ lease: "read-only" }).appendMessage(user("three"));
  });

  test("is awaited", async () => {
    const child = children.start("holdLease", [path, JSON.stringify({ lease: "fail" }), "150"]);
    await child.hear();
    open({ lease: "wait" }).appendMessage(user("one"));
    expect(await child.ended).toBe(0);
  });

  test("is awaited up to a limit", () => {
    open();
    const before = performance.now();
    expect(errorOf(() => open({ lease: "wait", leaseWaitMs: 80 }))).toMatchObject({ code: "LEASE_HELD" });
    expect(performance.now() - before).toBeGreaterThanOrEqual(80);
  });

  test("is released once, however often a session is closed", async () => {
    const first = open();
    await first.close();
    const second = open();
    await first.close();
    await first[Symbol.asyncDispose]();
    expect(errorOf(() => open())).toMatchObject({ code: "LEASE_HELD" });
    await second.close();
    expect(names(dirname(path))).toEqual(["s.jsonl"]);
  });

  test("is released when the process ends without a close", async () => {
    const child = children.start("holdLease", [path, JSON.stringify({ lease: "fail" })]);
    await child.hear();
    expect(existsSync(lease)).toBe(true);
    child.dismiss();
    expect(await child.ended).toBe(0);
    expect(names(dirname(path))).toEqual(["s.jsonl"]);
  });

  test("is released for the previous session and acquired for the next on a switch", async () => {
    const session = open();
    const next = session.newSession() ?? "";
    session.appendMessage(user("one"));
    expect(errorOf(() => open())).toBeUndefined();
    expect(errorOf(() => SessionManager.open(next, { lease: "fail" }))).toMatchObject({ code: "LEASE_HELD" });
    await session.close();
    expect(errorOf(() => SessionManager.open(next, { lease: "fail" }))).toBeUndefined();
  });

  test("is released when the file is not a session", () => {
    writeFileSync(path, "hello\n");
    expect(errorOf(() => open())).toMatchObject({ code: "NOT_A_SESSION" });
    expect(names(dirname(path))).toEqual(["s.jsonl"]);
  });

  test("is released when the file cannot be created", () => {
    const empty = place(dirname(path), "e.jsonl", "");
    const fs = watchedFs((name) => {
      if (name === "fchmodSync" && names(dirname(path)).includes("e.jsonl.lease"))
        throw new Error("injected");
    });
    expect(errorOf(() => SessionManager.open(empty, { lease: "fail", fs }))).toMatchObject({
      code: "WRITE_FAILED",
    });
    expect(names(dirname(path))).toEqual(["e.jsonl", "s.jsonl"]);
  });

  test("of a new session is acquired before its file exists", () => {
    const session = SessionManager.create("/project", { sessionDir: dirname(path), lease: "fail" });
    const file = session.getSessionFile() ?? "";
    expect(existsSync(file)).toBe(false);
    expect(existsSync(`${file}.lease`)).toBe(true);
  });
});

describe("a dead owner", () => {
  test("that was killed does not block the next", async () => {
    const child = children.start("holdLease", [path, JSON.stringify({ lease: "fail" })]);
    await child.hear();
    child.process.kill("SIGKILL");
    await child.ended;
    expect(existsSync(lease)).toBe(true);
    open().appendMessage(user("one"));
    expect(litter(dirname(path))).toEqual([]);
  });

  test.skipIf(IS_WINDOWS)("differs from a process that got its pid", () => {
    writeFileSync(lease, owner({ ...GONE }));
    expect(errorOf(() => open())).toBeUndefined();
  });

  test("on another machine is detected by its heartbeat", async () => {
    writeFileSync(lease, owner({ host: "elsewhere" }));
    expect(errorOf(() => open())).toMatchObject({
      code: "LEASE_HELD",
      details: { host: "elsewhere", pid: 1 },
    });
    age(29);
    expect(errorOf(() => open())).toMatchObject({ code: "LEASE_HELD" });
    age(31);
    expect(errorOf(() => open())).toBeUndefined();
  });

  test("is one whose last heartbeat is in the future", () => {
    writeFileSync(lease, owner({ host: "elsewhere" }));
    age(-29);
    expect(errorOf(() => open())).toMatchObject({ code: "LEASE_HELD" });
    age(-3600);
    expect(errorOf(() => open())).toBeUndefined();
  });

  test("can be a thread of a live process", async () => {
    const child = children.start("leaseInThread", [path]);
    await child.hear();
    expect(errorOf(() => open())).toMatchObject({ code: "LEASE_HELD", details: { pid: child.process.pid } });
    child.tell();
    expect(await child.hear()).toBe("terminated");
    // Known immediately only if the system reports threads.
    if (process.platform !== "linux") age(31);
    open().appendMessage(user("one"));
    child.dismiss();
    expect(await child.ended).toBe(0);
  });

  test("leaves no other file: its lease's guard is removed by the next owner", () => {
    const folder = dirname(path);
    const [dead, living, young] = ["1", "2", "3"].map(
      (digit) => `.${digit.repeat(8)}-0000-4000-8000-000000000000`,
    );
    const gone = owner({ ...GONE });
    place(folder, `${dead}.lease`, gone);
    place(folder, `${living}.lease`, owner({ host: "elsewhere" }));
    place(folder, `${young}.lease`, "");
    place(folder, ".other.lease", gone);
    open();
    const left = [".other.lease", `${living}.lease`, `${young}.lease`, "s.jsonl", "s.jsonl.lease"];
    expect(names(folder).sort()).toEqual(left.sort());
  });

  test("is not a slow one: on this machine a heartbeat may be late while the process runs", async () => {
    const child = children.start("holdLease", [path, JSON.stringify({ lease: "fail" })]);
    await child.hear();
    child.process.kill("SIGSTOP");
    age(24 * 3600);
    expect(errorOf(() => open())).toMatchObject({ code: "LEASE_HELD" });
    child.process.kill("SIGCONT");
    child.dismiss();
    expect(await child.ended).toBe(0);
  });

  test.each([
    ["nothing", ""],
    ["zeros", "\0".repeat(100)],
    ["half a record", owner({}).slice(0, 30)],
    ["another record", '{"pid":"1","host":{},"token":"../../x"}'],
    ["no object", "[1,2]"],
    ["much", "x".repeat(100_000)],
  ])("may have left %s in its lease, which expires", (_name, content) => {
    writeFileSync(lease, content);
    expect(errorOf(() => open())).toMatchObject({ code: "LEASE_HELD" });
    age(31);
    expect(errorOf(() => open())).toBeUndefined();
    expect(names(dirname(path))).toEqual(["s.jsonl", "s.jsonl.lease"]);
    expect(JSON.parse(readFileSync(lease, "utf8"))).toMatchObject({ pid: process.pid });
  });

  test("that died while removing another's lease does not block the next", () => {
    const [first, second] = ["1", "2"].map((digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`);
    writeFileSync(lease, owner({ ...GONE, token: first }));
    place(dirname(path), `.${first}.lease`, owner({ ...GONE, token: second }));
    expect(errorOf(() => open())).toBeUndefined();
    expect(names(dirname(path))).toEqual(["s.jsonl", "s.jsonl.lease"]);
  });

  test("leaves its lease to exactly one of the contenders", async () => {
    const racers = Array.from({ length: 4 }, () => children.start("raceForLease", [path]));
    for (const racer of racers) expect(await racer.hear()).toBe("ready");
    for (let round = 0; round < 60; round++) {
      // The winner of the previous round is dead, according to its lease.
      const token = `${String(round).padStart(8, "0")}-0000-4000-8000-000000000000`;
      writeFileSync(`${lease}.new`, owner({ ...GONE, token }));
      renameSync(`${lease}.new`, lease);
      for (const racer of racers) racer.tell();
      const results = await Promise.all(racers.map((racer) => racer.hear()));
      expect(results.sort(), `round ${round}`).toEqual(["lost", "lost", "lost", "won"]);
      expect(litter(dirname(path))).toEqual([]);
    }
    for (const racer of racers) racer.dismiss();
    await Promise.all(racers.map((racer) => racer.ended));
  });
});

describe("a heartbeat", () => {
  test("is written every few seconds, and a failed one has no effect", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const fails = { now: false };
    const session = open({
      fs: watchedFs((name) => {
        if (name === "utimesSync" && fails.now) throw new Error("injected");
      }),
    });
    const beat = () => {
      age(25);
      vi.advanceTimersByTime(5_000);
      return Date.now() - statSync(lease).mtimeMs < 5_000;
    };
    expect(beat()).toBe(true);
    fails.now = true;
    expect(beat()).toBe(false);
    fails.now = false;
    expect(beat()).toBe(true);
    await session.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("a lease acquired by another owner", () => {
  const theirs = () => owner({ host: "elsewhere", pid: 7, token: "11111111-0000-4000-8000-000000000000" });
  const expected = { code: "LEASE_HELD", details: { pid: 7, host: "elsewhere" } };

  /** Makes sessions whose heartbeats the test triggers. */
  function fakeTimers(): () => void {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"], now: Date.now() });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    return () => vi.advanceTimersByTime(5_000);
  }

  test("is not refreshed, and its old owner gets an error and appends no more", async () => {
    const beat = fakeTimers();
    const session = open({ persistLeafOnClose: true });
    const states: unknown[] = [];
    session.on("persistence_state", ({ state, error }) => states.push([state, error]));
    session.branch("00000001");
    writeFileSync(lease, theirs());
    age(20);
    const { mtimeMs } = statSync(lease);
    beat();
    expect(statSync(lease).mtimeMs).toBe(mtimeMs);
    expect(states).toMatchObject([["degraded", expected]]);
    const before = readFileSync(path);
    const calls = [
      () => session.appendMessage(user("mine")),
      () => session.assertWritable(),
      () => session.redactEntry("00000001"),
      () => session.upgrade(),
    ];
    for (const call of calls) expect(errorOf(call)).toMatchObject(expected);
    await session.close();
    expect(readFileSync(path)).toEqual(before);
    expect(readFileSync(lease, "utf8")).toBe(theirs());
    expect(vi.getTimerCount()).toBe(0);
  });

  test("is detected before the first append after a long pause, without a heartbeat", () => {
    fakeTimers();
    const session = open();
    const states: unknown[] = [];
    session.on("persistence_state", ({ state }) => states.push(state));
    writeFileSync(lease, theirs());
    vi.setSystemTime(Date.now() + 60_000);
    expect(errorOf(() => session.appendMessage(user("mine")))).toMatchObject(expected);
    expect(states).toEqual(["degraded"]);
    expect(onDisk(path).getEntryCount()).toBe(6);
  });

  test("does not affect the session after it is reopened or continues with another file", async () => {
    const beat = fakeTimers();
    const session = open();
    const states: unknown[] = [];
    session.on("persistence_state", ({ state }) => states.push(state));
    writeFileSync(lease, theirs());
    beat();
    session.newSession();
    session.appendMessage(user("one"));
    expect(states).toEqual(["degraded", "ok"]);
    await session.close();
    writeFileSync(lease, owner({ ...GONE }));
    open().appendMessage(user("one"));
  });

  test("and removed since belongs to the old owner again", () => {
    const beat = fakeTimers();
    const session = open();
    const before = readFileSync(lease, "utf8");
    rmSync(lease);
    beat();
    expect(readFileSync(lease, "utf8")).toBe(before);
    session.appendMessage(user("one"));
    expect(names(dirname(path))).toEqual(["s.jsonl", "s.jsonl.lease"]);
  });
});

describe("a lease that cannot be acquired", () => {
  test("because of the system is a typed error, and leaves no file", () => {
    let calls = 0;
    const count = watchedFs(() => {
      calls++;
    });
    open({ fs: count });
    const total = calls;
    let failures = 0;
    for (let at = 1; at <= total; at++) {
      path = place(sandbox(), "s.jsonl", BRANCHED);
      calls = 0;
      let failed = "";
      const fs = watchedFs((name) => {
        if (++calls !== at) return;
        failed = name;
        throw Object.assign(new Error("injected"), { code: "EIO" });
      });
      const error = errorOf(() => open({ fs }));
      if (error !== undefined) {
        failures++;
        expect(["WRITE_FAILED", "READ_FAILED"]).toContain(error.code);
        if (failed !== "unlinkSync") expect(names(dirname(path))).toEqual(["s.jsonl"]);
      }
    }
    expect(failures).toBeGreaterThan(5);
  });

  test.skipIf(IS_WINDOWS)("because something else is at its path is a typed error", () => {
    symlinkSync("nowhere", lease);
    expect(errorOf(() => open())).toMatchObject({ code: "WRITE_FAILED" });
  });
});

/** Sets the last heartbeat of a lease back by the given number of seconds. */
function age(seconds: number): void {
  const then = new Date(Date.now() - seconds * 1000);
  utimesSync(lease, then, then);
}
