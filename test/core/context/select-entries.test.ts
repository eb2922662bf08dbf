import { describe, expect, it } from "vitest";
import { selectEntries } from "../../../src/core/context/select-entries.ts";
import { user } from "../../support/messages.ts";
import { Line, system, watchedPath } from "./support/entries.ts";

/** e1 user, e2 system, e3 user, e4 label, e5 compaction keeping from `kept`, e6 system, e7 user. */
function compacted(kept: string, more: object = {}) {
  const line = new Line();
  line.message(user("a"));
  line.message(system("rules"));
  line.message(user("b"));
  line.add({ type: "label", targetId: "e1", label: "x" });
  line.compaction(kept, more);
  line.message(system("more rules"));
  line.message(user("c"));
  return line.entries;
}

describe("selectEntries", () => {
  it("selects the whole path without a compaction, and parses nothing", () => {
    const line = new Line();
    line.message(user("a"));
    line.raw("unheard_of", {});
    const path = watchedPath(line.entries);
    expect(selectEntries(path)).toMatchObject({ indices: [0, 1], compactionIndex: -1, issue: undefined });
    expect(path.asked).toEqual([]);
  });

  it("begins with the compaction, then the kept entries without system messages, then all that follow", () => {
    const { indices, compactionIndex, issue } = selectEntries(watchedPath(compacted("e1")));
    expect(indices).toEqual([4, 0, 2, 3, 5, 6]);
    expect(compactionIndex).toBe(4);
    expect(issue).toBeUndefined();
  });

  it("parses only the compaction and the messages that it keeps, each once", () => {
    const path = watchedPath(compacted("e2"));
    selectEntries(path);
    expect(path.asked.sort()).toEqual(["e2", "e3", "e5"]);
  });

  it("uses the latest of several compactions", () => {
    const line = new Line();
    line.message(user("a"));
    line.compaction("e1");
    line.message(user("b"));
    line.compaction("e3");
    line.message(user("c"));
    expect(selectEntries(watchedPath(line.entries)).indices).toEqual([3, 2, 4]);
  });

  it("ignores a compaction with a damaged body rather than the history before it", () => {
    const entries = compacted("e3");
    expect(selectEntries(watchedPath(entries, ["e5"])).indices).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it("includes a kept entry with a damaged body", () => {
    expect(selectEntries(watchedPath(compacted("e1"), ["e3"])).indices).toEqual([4, 0, 2, 3, 5, 6]);
  });

  it("keeps nothing if a compaction names itself", () => {
    expect(selectEntries(watchedPath(compacted("e5")))).toMatchObject({
      indices: [4, 5, 6],
      issue: undefined,
    });
  });

  it.each([["nowhere"], ["e7"]])(
    "keeps nothing and reports an issue if it names %s, which is not before it",
    (kept) => {
      const { indices, issue, keepsTail } = selectEntries(watchedPath(compacted(kept)));
      expect(indices).toEqual([4, 5, 6]);
      expect(keepsTail).toBe(true);
      expect(issue).toMatchObject({ code: "KEPT_ENTRY_MISSING", entryId: "e5", index: 4 });
      expect(issue?.message).toContain(kept);
    },
  );

  it.each([[undefined], [null], [7], [{}]])("keeps nothing and reports an issue if it names %j", (kept) => {
    const line = new Line();
    line.message(user("a"));
    line.raw("compaction", { summary: "s", firstKeptEntryId: kept });
    expect(selectEntries(watchedPath(line.entries))).toMatchObject({
      indices: [1],
      issue: { code: "KEPT_ENTRY_MISSING" },
    });
  });

  it("accepts a compaction that carries its kept messages instead", () => {
    const line = new Line();
    line.message(user("a"));
    line.raw("compaction", { summary: "s", retainedTail: [user("a")] });
    expect(selectEntries(watchedPath(line.entries))).toMatchObject({
      indices: [1],
      keepsTail: true,
      issue: undefined,
    });
  });

  it("reports such a compaction if it names an entry that does not exist", () => {
    const entries = compacted("nowhere", { retainedTail: [user("x")] });
    expect(selectEntries(watchedPath(entries))).toMatchObject({
      indices: [4, 5, 6],
      keepsTail: true,
      issue: { entryId: "e5" },
    });
  });

  it("prefers kept entries to carried messages", () => {
    const entries = compacted("e3", { retainedTail: [user("x")] });
    expect(selectEntries(watchedPath(entries))).toMatchObject({ indices: [4, 2, 3, 5, 6], keepsTail: false });
  });

  it("selects nothing of an empty path", () => {
    expect(selectEntries(watchedPath([])).indices).toEqual([]);
  });
});
