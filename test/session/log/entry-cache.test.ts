import { appendFileSync, writeFileSync } from "node:fs";
import { SessionManager } from "sessiontree";
import { describe, expect, test } from "vitest";
import { EntryCache } from "../../../src/session/log/entry-cache.ts";
import { FileLog } from "../../../src/session/log/file-log.ts";
import { place, sandbox } from "../../fault/support/sandbox.ts";
import { BRANCHED, DAMAGED, header, lines, message, user } from "../../fault/support/sessions.ts";
import { moveOver } from "../../support/move-over.ts";

/** Opens a log over a file and counts the reads of lines. */
function counted(content: string): { cache: EntryCache; log: FileLog; path: string; reads: number[][] } {
  const path = place(sandbox(), "s.jsonl", content);
  const log = FileLog.open(path);
  if (log === undefined) throw new Error("no log");
  const reads: number[][] = [];
  const readLines = log.readLines.bind(log);
  log.readLines = (ordinals, take) => {
    reads.push([...ordinals]);
    readLines([...ordinals], take);
  };
  return { cache: new EntryCache(log), log, path, reads };
}

describe("the cache of entries", () => {
  test("reads requested entries together, once, and returns the same objects again", () => {
    // If nothing in a file is unusual, all entries are parsed when it is opened.
    const { cache, reads } = counted(BRANCHED.replaceAll("\n", "\r\n"));
    const first = cache.entriesAt([0, 2, 4]);
    expect(reads).toEqual([[0, 2, 4]]);
    const all = cache.entriesAt([0, 1, 2, 3, 4, 5]);
    expect(reads).toEqual([
      [0, 2, 4],
      [1, 3, 5],
    ]);
    expect([all[0], all[2], all[4]]).toEqual(first);
    for (const [i, entry] of first.entries()) expect(all[i * 2]).toBe(entry);
    expect(cache.entryAt(3)).toBe(all[3]);
    expect(reads).toHaveLength(2);
  });

  test("distinguishes damaged bodies from valid ones", () => {
    const { cache, log } = counted(DAMAGED);
    const ordinal = log.index.tree.find("0000000b");
    expect(cache.bodyAt(ordinal)).toBeUndefined();
    expect(cache.entryAt(ordinal)).toMatchObject({
      type: "damaged",
      originalType: "message",
      id: "0000000b",
    });
    expect(cache.bodiesAt([ordinal, 0])).toEqual([undefined, expect.objectContaining({ id: "0000000a" })]);
  });

  test("releases large entries, but not while they are referenced", () => {
    const big = Array.from({ length: 24 }, (_, i) =>
      message(`000000${10 + i}`, null, "x".repeat(1024 * 1024)),
    );
    const { cache, reads } = counted(lines(header(), ...big));
    const held = cache.entryAt(0);
    for (let i = 1; i < 24; i++) cache.entryAt(i);
    expect(cache.entryAt(0)).toBe(held);
    expect(cache.entryAt(23)).toMatchObject({ id: "00000033" });
    expect(reads).toHaveLength(24);
  });

  test("keeps unchanged entries after the file was read again", () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const session = SessionManager.open(path);
    const before = session.getEntries();
    // The lines are in another order, one is changed, and one is new.
    const [head = "", ...rest] = BRANCHED.trimEnd().split("\n");
    const changed = rest.map((line) => line.replace("another branch", "an edited branch")).reverse();
    writeFileSync(`${path}.new`, lines(head, ...changed, message("0000000f", null, "new")));
    moveOver(`${path}.new`, path);
    expect(session.refresh().map(({ id }) => id)).toEqual(["0000000f"]);
    for (const entry of before) {
      const now = session.getEntry(entry.id);
      if (entry.id === "00000004") expect(now).toMatchObject({ message: { content: "an edited branch" } });
      else expect(now).toBe(entry);
    }
  });

  test("keeps the appended message object, even across others' lines", () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const session = SessionManager.open(path);
    const given = user("mine");
    const id = session.appendMessage(given);
    appendFileSync(path, lines(message("0000000f", null, "theirs")));
    session.refresh();
    const entry = session.getEntry(id);
    expect(entry?.type === "message" && entry.message).toBe(given);
    SessionManager.open(path).redactEntry("00000002");
    session.refresh();
    const again = session.getEntry(id);
    expect(again?.type === "message" && again.message).toBe(given);
  });
});
