import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { SessionManager } from "sessiontree";
import { expect, test } from "vitest";
import { EntryCache } from "../../src/log/entry-cache.ts";
import { FileLog } from "../../src/log/file-log.ts";
import { realFileSystem } from "../../src/log/file-system.ts";
import { SessionState } from "../../src/manager/session-state.ts";
import { place, sandbox } from "../fault/support/sandbox.ts";
import { header, lines, message, NOW } from "../fault/support/sessions.ts";

/** How many entries a file of so many characters gives, and how often it is read for them once it is open. */
function readsAfterOpening(characters: number): { entries: number; reads: number } {
  const text = "x".repeat(characters / 4);
  const ids = ["0000000a", "0000000b", "0000000c", "0000000d"];
  const entries = ids.map((id, i) => message(id, ids[i - 1] ?? null, text));
  const path = place(sandbox(), "s.jsonl", lines(header(), ...entries));
  let reads = 0;
  // The call is looked up each time that it is made.
  const fs = new Proxy(realFileSystem, {
    get(target, name) {
      if (name === "readSync") reads++;
      return Reflect.get(target, name);
    },
  });
  const log = FileLog.open(path, { fs });
  if (log === undefined) throw new Error("the file is there");
  reads = 0;
  // The second time everything is held.
  const cache = new EntryCache(log);
  for (let i = 0; i < 2; i++) expect(cache.entriesAt([0, 1, 2, 3]).map(({ id }) => id)).toEqual(ids);
  return { entries: log.index.tree.size, reads };
}

test("the lines of a small file are parsed once, and not read again for their bodies", () => {
  const { entries, reads } = readsAfterOpening(40_000);
  expect(entries).toBe(4);
  // What is read is the fingerprint, which tells whether the file is still the same.
  expect(reads).toBeLessThanOrEqual(1);
});

test("of a large file the bodies that are asked for are read", () => {
  const { entries, reads } = readsAfterOpening(6_000_000);
  expect(entries).toBe(4);
  expect(reads).toBeGreaterThan(1);
});

test("of a small compacted session only what the context is made of is parsed", () => {
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
  expect(state.context().contextEntries()).toEqual([compaction, kept]);
  expect([...log.index.untaken.keys()]).toEqual([]);
  expect(log.index.tree.size).toBe(4);
  expect([...log.index.untaken.keys()].sort()).toEqual([1, 2, 3]);
});

test("a body that is damaged, or has other ids than its head, is what the tree says of it", () => {
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

/** A session of a small file. */
function opened() {
  const path = place(
    sandbox(),
    "s.jsonl",
    lines(header(), message("0000000a", null, "x"), message("0000000b", "0000000a", "y")),
  );
  return { path, session: SessionManager.open(path) };
}

test("the entries of a context that was made before the tree are those that are looked up later", () => {
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
  renameSync(`${path}.new`, path);
  session.refresh();
  expect(session.getEntries().map(({ id }) => id)).toEqual(["0000000a", "0000000b", "0000000c"]);
  expect(session.getEntry("0000000b")).toBe(given[1]);
});

test("what another process appends before the tree is made is read after it", () => {
  const { path, session } = opened();
  appendFileSync(path, lines(message("0000000c", "0000000b", "z")));
  const own = session.appendMessage({ role: "user", content: "own", timestamp: NOW });
  expect(session.getEntries().map(({ id }) => id)).toEqual(["0000000a", "0000000b", "0000000c", own]);
  expect(readFileSync(path, "utf8").trim().split("\n")).toHaveLength(5);
});

test("before the first entry the context is empty, also if the tree was not made yet", () => {
  const { session } = opened();
  session.resetLeaf();
  expect(session.buildContextEntries()).toEqual([]);
});

test("a first context follows to the file that took the place of the opened one", () => {
  const path = place(sandbox(), "s.jsonl", lines(header(), message("0000000a", null, "secret")));
  const session = SessionManager.open(path);
  SessionManager.open(path).redact("0000000a");
  expect(JSON.stringify(session.buildSessionContext())).not.toContain("secret");
});
