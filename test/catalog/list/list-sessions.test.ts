import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { iterateSessions, listSessions } from "../../../src/catalog/list/list-sessions.ts";
import { findMostRecentSession, findSessionById } from "../../../src/session/files/find-session.ts";
import type { FileRow } from "../../../src/session/files/session-row.ts";
import type { SkippedFile } from "../../../src/session/files/skipped-files.ts";
import { getProjectFolder } from "../../../src/session/log/session-paths.ts";
import { IS_WINDOWS } from "../../support/platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { all, Chain, header, joinLines, put, START_MS, touch } from "../support/sessions.ts";

const ids = (sessions: readonly FileRow[]) => sessions.map((session) => session.id);

/** Writes a session with one message; `said` and `written` are seconds. */
function session(
  folder: string,
  id: string,
  options: { cwd?: string; said?: number; written?: number } = {},
) {
  const { cwd = "/project", said = 0, written = 0 } = options;
  const text = new Chain(header({ id, cwd })).user(`I am ${id}`, { timestamp: START_MS + said * 1000 }).text;
  return put(join(folder, `${id}.jsonl`), text, written);
}

describe("a list of one flat folder", () => {
  test("starts with the session with the latest message, whenever files were written", async () => {
    const sessionDir = temporaryFolder();
    session(sessionDir, "old", { said: 10, written: 900 });
    session(sessionDir, "new", { said: 30, written: 100 });
    session(sessionDir, "middle", { said: 20, written: 500 });
    expect(ids(await listSessions({ sessionDir, cache: false }))).toEqual(["new", "middle", "old"]);
  });

  test("contains one project's sessions if a project is given, whatever the folder's name", async () => {
    const sessionDir = temporaryFolder();
    session(sessionDir, "a", { cwd: "/a/b-c", said: 2 });
    session(sessionDir, "b", { cwd: "/a-b/c", said: 1 });
    put(join(sessionDir, "c.jsonl"), joinLines([header({ id: "c", cwd: undefined })]));
    expect(ids(await listSessions({ sessionDir, cwd: "/a/b-c", cache: false }))).toEqual(["a"]);
    expect(ids(await listSessions({ sessionDir, cache: false }))).toEqual(["a", "b", "c"]);
  });

  // Links require a special privilege on Windows, which has no pipes among files.
  test.skipIf(IS_WINDOWS)("treats two paths of one real folder as the same project", async () => {
    const folder = temporaryFolder();
    const real = join(folder, "real");
    mkdirSync(real);
    symlinkSync(real, join(folder, "link"));
    session(join(folder, "s"), "a", { cwd: real, said: 2 });
    session(join(folder, "s"), "b", { cwd: `${join(folder, "link")}/`, said: 1 });
    session(join(folder, "s"), "c", { cwd: join(folder, "other", "real") });
    const found = await listSessions({
      sessionDir: join(folder, "s"),
      cwd: join(folder, "link"),
      cache: false,
    });
    expect(ids(found)).toEqual(["a", "b"]);
  });

  test("accepts folders in headers that no system can look up", async () => {
    const sessionDir = temporaryFolder();
    session(sessionDir, "a", { cwd: "/nul\0" });
    session(sessionDir, "b", { cwd: `/${"x".repeat(5000)}` });
    session(sessionDir, "c", { cwd: "file://%zz" });
    session(sessionDir, "d");
    expect(ids(await listSessions({ sessionDir, cwd: "/project", cache: false }))).toEqual(["d"]);
    expect(await listSessions({ sessionDir, cwd: "/nul\0", cache: false })).toHaveLength(1);
  });

  test("contains both of two sessions with one id", async () => {
    const sessionDir = temporaryFolder();
    put(join(sessionDir, "a.jsonl"), new Chain().user("a").text);
    put(join(sessionDir, "b.jsonl"), new Chain().user("b").text);
    expect(ids(await listSessions({ sessionDir, cache: false }))).toEqual(["session-1", "session-1"]);
  });

  test("is empty if the folder is missing or is a file", async () => {
    const folder = temporaryFolder();
    expect(await listSessions({ sessionDir: join(folder, "none"), cache: false })).toEqual([]);
    const file = session(folder, "a");
    expect(await listSessions({ sessionDir: file, cache: false })).toEqual([]);
  });
});

describe("a list of projects' folders", () => {
  test("contains this project's sessions, and those of its folder that name none", async () => {
    const agentDir = temporaryFolder();
    const folder = getProjectFolder("/a/b-c", { agentDir });
    expect(getProjectFolder("/a-b/c", { agentDir })).toBe(folder);
    session(folder, "mine", { cwd: "/a/b-c", said: 2 });
    session(folder, "theirs", { cwd: "/a-b/c" });
    put(join(folder, "nameless.jsonl"), joinLines([{ type: "session", id: "nameless" }]), 0);
    session(getProjectFolder("/other", { agentDir }), "moved", { cwd: "/a/b-c" });
    const scope = { cwd: "/a/b-c", places: { agentDir }, cache: false };
    expect(ids(await listSessions(scope))).toEqual(["mine", "nameless"]);
    expect(ids(await listSessions({ ...scope, sessionDir: folder }))).toEqual(["mine", "nameless"]);
  });

  // Links require a special privilege on Windows, which has no pipes among files.
  test.skipIf(IS_WINDOWS)("includes the folder of the real path, too", async () => {
    const folder = temporaryFolder();
    const [real, link] = [join(folder, "real"), join(folder, "link")];
    mkdirSync(real);
    symlinkSync(real, link);
    const places = { agentDir: join(folder, "agent") };
    session(getProjectFolder(real, places), "a", { cwd: real, said: 2 });
    session(getProjectFolder(link, places), "b", { cwd: link, said: 1 });
    expect(ids(await listSessions({ cwd: link, places, cache: false }))).toEqual(["a", "b"]);
  });

  test("contains all projects if none is given, and no files next to their folders", async () => {
    const agentDir = temporaryFolder();
    session(getProjectFolder("/a", { agentDir }), "a", { said: 2 });
    session(getProjectFolder("/b", { agentDir }), "b", { said: 1 });
    session(join(agentDir, "sessions"), "beside");
    put(join(agentDir, "sessions", "sessions.json"), "{}");
    expect(ids(await listSessions({ places: { agentDir }, cache: false }))).toEqual(["a", "b"]);
  });
});

describe("files left out of a list", () => {
  // Links require a special privilege on Windows, which has no pipes among files.
  test.skipIf(IS_WINDOWS)(
    "include everything but regular files named *.jsonl, and are not opened",
    async () => {
      const sessionDir = temporaryFolder();
      session(sessionDir, "a");
      symlinkSync(session(temporaryFolder(), "b"), join(sessionDir, "b.jsonl"));
      symlinkSync(join(sessionDir, "nowhere"), join(sessionDir, "dangling.jsonl"));
      mkdirSync(join(sessionDir, "folder.jsonl"));
      execFileSync("mkfifo", [join(sessionDir, "pipe.jsonl")]);
      symlinkSync("/dev/null", join(sessionDir, "device.jsonl"));
      const server = createServer().listen(join(sessionDir, "socket.jsonl"));
      const text = new Chain().user("x").text;
      for (const name of ["a.jsonl.lock", "a.jsonl.bak-1", "a.jsonl.v1.bak", "a.json"])
        put(join(sessionDir, name), text);
      const skipped: SkippedFile[] = [];
      const found = await listSessions({ sessionDir, cache: false, onSkipped: (one) => skipped.push(one) });
      server.close();
      expect(ids(found).sort()).toEqual(["a", "b"]);
      const names = ["device", "folder", "pipe", "socket"];
      const expected = names.map((name) => ({
        path: join(sessionDir, `${name}.jsonl`),
        reason: "not-a-file",
      }));
      expect(skipped).toEqual(expected);
    },
  );

  test("are reported if they are not sessions", async () => {
    const sessionDir = temporaryFolder();
    const path = put(join(sessionDir, "a.jsonl"), "hello\n");
    const skipped: SkippedFile[] = [];
    await listSessions({ sessionDir, cache: false, onSkipped: (one) => skipped.push(one) });
    expect(skipped).toEqual([{ path, reason: "not-a-session" }]);
  });

  test.skipIf(IS_WINDOWS)("are reported if they are links to themselves", async () => {
    const sessionDir = temporaryFolder();
    const path = join(sessionDir, "loop.jsonl");
    symlinkSync(path, path);
    session(sessionDir, "a");
    const skipped: SkippedFile[] = [];
    const found = await listSessions({ sessionDir, cache: false, onSkipped: (one) => skipped.push(one) });
    expect(ids(found)).toEqual(["a"]);
    expect(skipped).toMatchObject([{ path, reason: "unreadable", error: { code: "ELOOP" } }]);
  });
});

describe("progress", () => {
  test("is reported to the end, with the sorted sessions so far", async () => {
    const sessionDir = temporaryFolder();
    for (let i = 0; i < 20; i++) session(sessionDir, `s${i}`, { said: (i * 7) % 20, written: i });
    const counts: number[] = [];
    const partials: (readonly FileRow[])[] = [];
    const found = await listSessions({
      sessionDir,
      cache: false,
      onProgress: (loaded, total, partial) => {
        expect(total).toBe(20);
        counts.push(loaded);
        if (partial !== undefined) partials.push(partial);
        expect(partial === undefined || partial.length === loaded).toBe(true);
      },
    });
    expect(counts).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    expect(partials.length).toBeGreaterThan(3);
    for (const partial of partials) {
      const times = partial.map((one) => one.modified.getTime());
      expect(times).toEqual([...times].sort((a, b) => b - a));
    }
    expect(partials.at(-1)).toEqual(found);
    expect(partials.at(-1)).not.toBe(found);
  });

  test("ends when the caller aborts", async () => {
    const sessionDir = temporaryFolder();
    for (let i = 0; i < 5; i++) session(sessionDir, `s${i}`);
    const stop = new AbortController();
    const listed = listSessions({
      sessionDir,
      cache: false,
      signal: stop.signal,
      onProgress: (loaded) => loaded === 2 && stop.abort("enough"),
    });
    await expect(listed).rejects.toMatchObject({ code: "ABORTED", cause: "enough" });
    const before = listSessions({ sessionDir, cache: false, signal: AbortSignal.abort() });
    await expect(before).rejects.toMatchObject({ code: "ABORTED" });
  });
});

test("leaves the event loop to others with thousands of sessions", async () => {
  const sessionDir = temporaryFolder();
  for (let i = 0; i < 2000; i++) session(sessionDir, `s${i}`, { said: i });
  let [turns, isDone] = [0, false];
  const others = (async () => {
    for (; !isDone; turns++) await setImmediate();
  })();
  const found = await listSessions({ sessionDir, cacheDir: temporaryFolder() });
  const turnsOfFirst = turns;
  expect(found).toHaveLength(2000);
  expect(found[0]?.id).toBe("s1999");
  isDone = true;
  await others;
  expect(turnsOfFirst).toBeGreaterThan(2);
});

describe("an iteration", () => {
  test("yields the session written to last first, without waiting for the others", async () => {
    const sessionDir = temporaryFolder();
    session(sessionDir, "a", { written: 1, said: 50 });
    session(sessionDir, "b", { written: 3, said: 5 });
    session(sessionDir, "c", { written: 2, said: 500 });
    expect(ids(await all(iterateSessions({ sessionDir, cache: false })))).toEqual(["b", "c", "a"]);
    const iteration = iterateSessions({ sessionDir, cache: false });
    expect((await iteration.next()).value?.id).toBe("b");
    rmSync(join(sessionDir, "c.jsonl"));
    expect((await iteration.next()).value?.id).toBe("a");
    expect((await iteration.next()).done).toBe(true);
  });

  test("is limited to words in name, first message, id, or folder, and to a count", async () => {
    const sessionDir = temporaryFolder();
    put(join(sessionDir, "1.jsonl"), new Chain(header({ id: "one" })).user("Fix the Parser").text, 1);
    put(join(sessionDir, "2.jsonl"), new Chain(header({ id: "two" })).user("hello").name("parser").text, 2);
    put(join(sessionDir, "3.jsonl"), new Chain(header({ id: "three", cwd: "/parser" })).user("x").text, 3);
    put(join(sessionDir, "4.jsonl"), new Chain(header({ id: "four" })).user("x").assistant("parser").text, 4);
    const found = async (query: string, limit?: number) =>
      ids(
        await all(
          iterateSessions({ sessionDir, cache: false, query, ...(limit !== undefined && { limit }) }),
        ),
      );
    expect(await found("PARSER")).toEqual(["three", "two", "one"]);
    expect(await found(" the  parser ")).toEqual(["one"]);
    expect(await found("fou")).toEqual(["four"]);
    expect(await found("", 2)).toEqual(["four", "three"]);
    expect(await found("parser", 1)).toEqual(["three"]);
    expect(await found("", 0)).toEqual([]);
    expect(await found("nowhere")).toEqual([]);
  });
});

describe("the session with an id", () => {
  test("is found by its header, whatever its file's name", () => {
    const folder = temporaryFolder();
    session(folder, "abc");
    const path = put(join(folder, "whatever.jsonl"), joinLines([header({ id: "abcd" })]));
    expect(findSessionById({ sessionDir: folder }, "abcd")).toBe(path);
    expect(findSessionById({ sessionDir: folder }, "ab")).toBeUndefined();
    expect(findSessionById({ sessionDir: folder }, "")).toBeUndefined();
    expect(findSessionById({ sessionDir: join(folder, "none") }, "abc")).toBeUndefined();
  });

  test("is of the project, and the one written to last", () => {
    const folder = temporaryFolder();
    const text = (cwd: string) => joinLines([header({ id: "x", cwd })]);
    put(join(folder, "1.jsonl"), text("/a"), 1);
    const second = put(join(folder, "2.jsonl"), text("/a"), 2);
    const third = put(join(folder, "3.jsonl"), text("/b"), 3);
    expect(findSessionById({ sessionDir: folder, cwd: "/a" }, "x")).toBe(second);
    expect(findSessionById({ sessionDir: folder }, "x")).toBe(third);
    expect(findSessionById({ sessionDir: folder, cwd: "/c" }, "x")).toBeUndefined();
  });
});

describe("the most recent session", () => {
  test("is the one with the last modified file", () => {
    const folder = temporaryFolder();
    const a = session(folder, "a", { written: 1, said: 99, cwd: "/a" });
    const b = session(folder, "b", { written: 2, said: 1, cwd: "/b" });
    put(join(folder, "c.jsonl"), "no session\n", 3);
    expect(findMostRecentSession(folder)).toBe(b);
    expect(findMostRecentSession(folder, "/a")).toBe(a);
    touch(a, 5);
    expect(findMostRecentSession(folder)).toBe(a);
  });

  test("is null if there is none", () => {
    const folder = temporaryFolder();
    expect(findMostRecentSession(join(folder, "none"))).toBeNull();
    expect(findMostRecentSession(folder)).toBeNull();
    session(folder, "a");
    expect(findMostRecentSession(folder, "/other")).toBeNull();
  });

  test("has its header wherever it is: after other records, after much of the file, without a line break", () => {
    const folder = temporaryFolder();
    const title = { type: "title", title: "t".repeat(10_000) };
    const path = put(join(folder, "a.jsonl"), joinLines([title, header()]).trimEnd());
    expect(findMostRecentSession(folder)).toBe(path);
    expect(findSessionById({ sessionDir: folder, cwd: "/project" }, "session-1")).toBe(path);
  });

  // Links require a special privilege on Windows, which has no pipes among files.
  test.skipIf(IS_WINDOWS)("skips and reports pipes", () => {
    const folder = temporaryFolder();
    execFileSync("mkfifo", [join(folder, "pipe.jsonl")]);
    const skipped: SkippedFile[] = [];
    expect(findMostRecentSession(folder, undefined, (one) => skipped.push(one))).toBeNull();
    expect(skipped).toEqual([{ path: join(folder, "pipe.jsonl"), reason: "not-a-file" }]);
  });
});

test("listing leaves nothing in the sessions folder", async () => {
  const sessionDir = temporaryFolder();
  session(sessionDir, "a");
  await listSessions({ sessionDir, cacheDir: temporaryFolder() });
  expect(readdirSync(sessionDir)).toEqual(["a.jsonl"]);
});
