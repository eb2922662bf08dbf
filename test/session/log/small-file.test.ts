import { appendFileSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { SessionManager } from "sessiontree";
import { expect, test, vi } from "vitest";
import { realFileSystem } from "../../../src/session/fs/file-system.ts";
import { EntryCache } from "../../../src/session/log/entry-cache.ts";
import { FileLog } from "../../../src/session/log/file-log.ts";
import { SessionState } from "../../../src/session/manager/session-state.ts";
import { place, sandbox } from "../../fault/support/sandbox.ts";
import { header, lines, message, NOW } from "../../fault/support/sessions.ts";
import { collectGarbage } from "../../support/collect-garbage.ts";
import { moveOver } from "../../support/move-over.ts";

/** Returns the number of entries in a file of the given size, and of its reads after opening. */
function readsAfterOpening(characters: number): { entries: number; reads: number } {
  const text = "x".repeat(characters / 4);
  const ids = ["0000000a", "0000000b", "0000000c", "0000000d"];
  const entries = ids.map((id, i) => message(id, ids[i - 1] ?? null, text));
  const path = place(sandbox(), "s.jsonl", lines(header(), ...entries));
  let reads = 0;
  // The call is looked up on each use.
  const fs = new Proxy(realFileSystem, {
    get(target, name) {
      if (name === "readSync") reads++;
      return Reflect.get(target, name);
    },
  });
  const log = FileLog.open(path, { fs });
  if (log === undefined) throw new Error("the file is there");
  reads = 0;
  // The second time everything is in memory.
  const cache = new EntryCache(log);
  for (let i = 0; i < 2; i++) expect(cache.entriesAt([0, 1, 2, 3]).map(({ id }) => id)).toEqual(ids);
  return { entries: log.index.tree.size, reads };
}

test("the lines of a small file are parsed once, and not read again for their bodies", () => {
  const { entries, reads } = readsAfterOpening(40_000);
  expect(entries).toBe(4);
  // The only read is for the fingerprint, which shows whether the file is unchanged.
  expect(reads).toBeLessThanOrEqual(1);
});

test("the requested bodies of a large file are read", () => {
  const { entries, reads } = readsAfterOpening(6_000_000);
  expect(entries).toBe(4);
  expect(reads).toBeGreaterThan(1);
});

test("only the context of a small compacted session is parsed", () => {
  const compaction = {
    ...{ type: "compaction", id: "0000000c", parentId: "0000000b", timestamp: "2026-02-03T09:00:01.000Z" },
    ...{ summary: "So far.", firstKeptEntryId: "0000000b", tokensBefore: 1 },
  };
  const model = {
    ...{ type: "model_change", id: "0000000d", parentId: "0000000a", timestamp: "2026-02-03T09:00:01.000Z" },
    ...{ provider: "acme", modelId: "m1" },
  };
  const [first, kept] = [message("0000000a", null, "x"), message("0000000b", "0000000d", "y")];
  const path = place(sandbox(), "s.jsonl", lines(header(), first, model, kept, compaction));
  const log = FileLog.open(path);
  if (log === undefined) throw new Error("the file is there");
  const state = new SessionState(log, { now: () => NOW });
  const parse = vi.spyOn(JSON, "parse");
  try {
    expect(state.context().contextEntries()).toEqual([compaction, kept]);
    // Opening has parsed the compaction, the entries it keeps, and the settings.
    expect(parse).toHaveBeenCalledTimes(0);
    expect(log.index.tree.size).toBe(4);
    expect(state.cache.entryAt(0)).toEqual(first);
    expect(parse).toHaveBeenCalledTimes(1);
  } finally {
    parse.mockRestore();
  }
});

test("a body that is damaged, or has other ids than its head, is read with the ids in the tree", () => {
  const first = message("0000000a", null, "x");
  const damaged =
    '{"type":"message","id":"0000000b","parentId":"0000000a","timestamp":"2026-02-03T09:00:01.000Z","message":{"role"}}';
  const double = `${JSON.stringify(message("0000000c", "0000000b", "z")).slice(0, -1)},"id":"elsewhere"}`;
  const path = place(sandbox(), "s.jsonl", `${lines(header(), first)}${damaged}\n${double}\n`);
  const session = SessionManager.open(path);
  expect(session.buildContextEntries().map(({ id }) => id)).toEqual(["0000000a", "0000000c"]);
  expect(session.issues.map(({ code, line }) => [code, line])).toEqual([["BODY_DAMAGED", 3]]);
  expect(session.getEntry("0000000a")).toBe(session.buildContextEntries()[0]);
});

/** Opens a session of a small file. */
function opened() {
  const path = place(
    sandbox(),
    "s.jsonl",
    lines(header(), message("0000000a", null, "x"), message("0000000b", "0000000a", "y")),
  );
  return { path, session: SessionManager.open(path) };
}

test("the entries of a context built before the tree are the same in later look-ups", () => {
  const { session } = opened();
  const given = session.buildContextEntries();
  expect(given.map(({ id }) => id)).toEqual(["0000000a", "0000000b"]);
  expect(session.getEntry("0000000a")).toBe(given[0]);
  session.appendMessage({ role: "user", content: "z", timestamp: NOW });
  expect(session.getBranch().slice(0, 2)).toEqual(given);
  expect(session.getBranch()[1]).toBe(given[1]);
  expect(session.buildContextEntries()[0]).toBe(given[0]);
});

test("they stay the same objects when another process replaces the file", () => {
  const { path, session } = opened();
  const given = session.buildContextEntries();
  const text = readFileSync(path, "utf8");
  writeFileSync(`${path}.new`, `${text}${lines(message("0000000c", "0000000b", "z"))}`);
  moveOver(`${path}.new`, path);
  session.refresh();
  expect(session.getEntries().map(({ id }) => id)).toEqual(["0000000a", "0000000b", "0000000c"]);
  expect(session.getEntry("0000000b")).toBe(given[1]);
});

test("entries that another process appends before the tree is built are read after it", () => {
  const { path, session } = opened();
  appendFileSync(path, lines(message("0000000c", "0000000b", "z")));
  const own = session.appendMessage({ role: "user", content: "own", timestamp: NOW });
  expect(session.getEntries().map(({ id }) => id)).toEqual(["0000000a", "0000000b", "0000000c", own]);
  expect(readFileSync(path, "utf8").trim().split("\n")).toHaveLength(5);
});

test("before the first entry the context is empty, even if the tree was not built yet", () => {
  const { session } = opened();
  session.resetLeaf();
  expect(session.buildContextEntries()).toEqual([]);
});

test("a first context uses the file that replaced the opened one", () => {
  const path = place(sandbox(), "s.jsonl", lines(header(), message("0000000a", null, "secret")));
  const session = SessionManager.open(path);
  SessionManager.open(path).redactEntry("0000000a");
  expect(JSON.stringify(session.buildSessionContext())).not.toContain("secret");
});

/** Replaces the file by one with the same lines and more, as an editor does. */
function replaced(path: string, ...more: readonly object[]): void {
  writeFileSync(`${path}.new`, `${readFileSync(path, "utf8")}${lines(...more)}`);
  moveOver(`${path}.new`, path);
}

test("returned entries are the same objects after an undetected replacement", () => {
  const calls: readonly ((session: SessionManager) => unknown)[] = [
    (session) => session.getEntry("0000000b"),
    (session) => session.getEntries()[1],
    (session) => session.getBranch()[1],
    (session) => {
      session.branch("0000000b");
      return session.buildContextEntries()[1];
    },
  ];
  for (const call of calls) {
    const { path, session } = opened();
    const given = session.buildContextEntries();
    replaced(path, message("0000000c", "0000000b", "z"));
    expect(call(session)).toBe(given[1]);
    expect(call(session)).toBe(given[1]);
  }
});

test("returned entries no longer need the file", () => {
  const { path, session } = opened();
  const given = session.buildContextEntries();
  unlinkSync(path);
  expect(session.getEntry("0000000a")).toBe(given[0]);
  expect(session.buildContextEntries()).toEqual(given);
});

test("a first context of a file removed since then is that of the lines read before", () => {
  const { path, session } = opened();
  unlinkSync(path);
  expect(session.buildContextEntries().map(({ id }) => id)).toEqual(["0000000a", "0000000b"]);
});

test("a session of pi's version 4 is rejected, whatever else its header says", () => {
  const path = place(
    sandbox(),
    "s.jsonl",
    lines({ ...header(), kind: "header" }, message("0000000a", null, "x")),
  );
  expect(() => SessionManager.open(path)).toThrow(expect.objectContaining({ code: "NOT_A_SESSION" }));
});

test("a load reports progress and can be aborted, for a file of any size", async () => {
  for (const characters of [10, 2_000_000]) {
    const entries = Array.from({ length: 20 }, (_, i) =>
      message(`000000${10 + i}`, i === 0 ? null : `000000${9 + i}`, "x".repeat(characters / 20)),
    );
    for (const content of [
      lines(header(), ...entries),
      lines(header(), ...entries).replaceAll("\n", "\r\n"),
    ]) {
      const path = place(sandbox(), "s.jsonl", content);
      const told: number[][] = [];
      const onProgress = (read: number, total: number) => told.push([read, total]);
      await SessionManager.openAsync(path, { onProgress });
      expect(told.at(-1)).toEqual([content.length, content.length]);
      const read = told.map(([bytes = 0]) => bytes);
      expect(read).toEqual([...read].sort((a, b) => a - b));
      expect(new Set(read).size).toBeGreaterThan(characters > 1000 ? 5 : 0);
      const load = SessionManager.openAsync(path, { signal: AbortSignal.abort() });
      await expect(load).rejects.toMatchObject({ code: "ABORTED" });
    }
  }
});

/** Writes a session with a compaction that keeps the given number of damaged entries. */
function damagedOften(count: number): string {
  const line =
    '{"type":"message","id":"ID","parentId":"PARENT","timestamp":"2026-02-03T09:00:01.000Z","message":{"role"}}\n';
  const ids = Array.from({ length: count }, (_, i) => (i + 16).toString(16).padStart(8, "0"));
  const damaged = ids.map((id, i) => line.replace("ID", id).replace("PARENT", ids[i - 1] ?? "0000000a"));
  const compaction = {
    ...{ type: "compaction", id: "ffffffff", parentId: ids.at(-1), timestamp: "2026-02-03T09:00:01.000Z" },
    ...{ summary: "So far.", firstKeptEntryId: "0000000a", tokensBefore: 1 },
  };
  return `${lines(header(), message("0000000a", null, "x"))}${damaged.join("")}${lines(compaction)}`;
}

test("many damaged bodies are read together", () => {
  let opens = 0;
  const fs = new Proxy(realFileSystem, {
    get(target, name) {
      if (name === "openSync") opens++;
      return Reflect.get(target, name);
    },
  });
  const session = SessionManager.open(place(sandbox(), "s.jsonl", damagedOften(500)), { fs });
  expect(session.buildContextEntries().map(({ id }) => id)).toEqual(["ffffffff", "0000000a"]);
  expect(session.issues).toHaveLength(500);
  expect(opens).toBeLessThan(10);
});

test("a file replaced during a first context gives the context of the new one", () => {
  for (let arm = 1; arm < 12; arm++) {
    const path = place(sandbox(), "s.jsonl", damagedOften(3).replace('"x"', '"secret"'));
    let calls = 0;
    let isArmed = false;
    const fs = new Proxy(realFileSystem, {
      get(target, name) {
        if (isArmed && ++calls === arm) {
          isArmed = false;
          writeFileSync(`${path}.new`, readFileSync(path, "utf8").replace("secret", "hidden"));
          moveOver(`${path}.new`, path);
        }
        return Reflect.get(target, name);
      },
    });
    const session = SessionManager.open(path, { fs, mode: "read-only" });
    isArmed = true;
    session.buildContextEntries();
    isArmed = false;
    session.refresh();
    expect(JSON.stringify(session.buildContextEntries()), `call ${arm}`).not.toContain("secret");
  }
});

test("a tree retains no text of its file", async () => {
  const types = ["thinking_level_change", "custom_message", "branch_summary"];
  const id = (i: number) => `0190a3f2-0000-7000-8000-${String(i).padStart(12, "0")}`;
  const entries = Array.from({ length: 30 }, (_, i) => ({
    ...{
      type: types[i % 3],
      id: id(i),
      parentId: i === 0 ? null : id(i - 1),
      timestamp: "2026-02-03T09:00:01.000Z",
    },
    ...(i % 3 === 0 ? { thinkingLevel: "high" } : { content: "x".repeat(150_000) }),
  }));
  const compaction = {
    ...{ type: "compaction", id: "ffffffff", parentId: id(29), timestamp: "2026-02-03T09:00:01.000Z" },
    ...{ summary: "So far.", firstKeptEntryId: "ffffffff", tokensBefore: 1 },
  };
  const path = place(sandbox(), "s.jsonl", lines(header(), ...entries, compaction));
  await collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const sessions = Array.from({ length: 10 }, (_, i) => {
    const session = SessionManager.open(path, { mode: "read-only" });
    session.buildContextEntries();
    if (i % 2 === 0) session.getEntryCount();
    return session;
  });
  await collectGarbage();
  // Ten files of 3 MB; engines retain the text that a regular expression matched last.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(6_000_000);
  expect(sessions.map((session) => session.getEntryCount())).toEqual(sessions.map(() => 31));
});

test("entries that are looked up one by one need one check of the file", () => {
  let opens = 0;
  const fs = new Proxy(realFileSystem, {
    get(target, name) {
      if (name === "openSync") opens++;
      return Reflect.get(target, name);
    },
  });
  const { path } = opened();
  const session = SessionManager.open(path, { fs, mode: "read-only" });
  expect(session.getEntry("0000000b")).toMatchObject({ id: "0000000b" });
  const before = opens;
  expect(session.getEntry("0000000a")).toMatchObject({ id: "0000000a" });
  expect(opens).toBe(before);
});

test("a file rewritten in place during opening is detected, also at the same size", () => {
  const { path } = opened();
  const text = readFileSync(path, "utf8");
  let hasRead = false;
  const fs = new Proxy(realFileSystem, {
    get(target, name) {
      if (hasRead && name === "fstatSync") {
        hasRead = false;
        writeFileSync(path, text.replace('"y"', '"z"'));
      }
      if (name === "readSync") hasRead = !readFileSync(path, "utf8").includes('"z"');
      return Reflect.get(target, name);
    },
  });
  const session = SessionManager.open(path, { fs, mode: "read-only" });
  session.refresh();
  expect(session.getEntry("0000000b")).toMatchObject({ message: { content: "z" } });
});

test("an aborted load closes its file", async () => {
  for (const characters of [2_000_000, 6_000_000]) {
    const entries = Array.from({ length: 20 }, (_, i) =>
      message(`000000${10 + i}`, i === 0 ? null : `000000${9 + i}`, "x".repeat(characters / 20)),
    );
    const path = place(sandbox(), "s.jsonl", lines(header(), ...entries));
    let open = 0;
    const fs = new Proxy(realFileSystem, {
      get(target, name) {
        if (name === "openSync") open++;
        if (name === "closeSync") open--;
        return Reflect.get(target, name);
      },
    });
    const stop = new AbortController();
    const load = SessionManager.openAsync(path, { fs, signal: stop.signal, onProgress: () => stop.abort() });
    await expect(load).rejects.toMatchObject({ code: "ABORTED" });
    expect(open).toBe(0);
  }
});
