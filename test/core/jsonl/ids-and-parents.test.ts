import { describe, expect, it } from "vitest";
import { readSession } from "../../../src/core/jsonl/read-session.ts";
import {
  codes,
  entryLine,
  GrowingFile,
  headerLine,
  ids,
  joinFile,
  joinSession,
  links,
  read,
} from "./support/files.ts";

const bare = (text: string) => entryLine(undefined, undefined, { text });
const withId = (id: string) => entryLine(id, undefined);
const HEX = /^[0-9a-f]{8}$/;

/** Lists each entry as `id < parent`, with `#n` for the n-th entry if its id was generated. */
function named(text: string): string[] {
  const index = read(text);
  const all = ids(index);
  const name = (id: string) => (text.includes(JSON.stringify(id)) ? id : `#${all.indexOf(id)}`);
  return links(index).map((link) => link.split(" < ").map(name).join(" < "));
}

describe("an entry without id and parentId", () => {
  it("is a child of the previous entry of the file, in version 1", () => {
    const file = joinFile(headerLine({}), bare("one"), bare("two"), bare("three"));
    expect(named(file)).toEqual(["#0", "#1 < #0", "#2 < #1"]);
    expect(codes(read(file))).toEqual([]);
  });

  it("is a child of the previous entry of the file, in version 3, and is reported", () => {
    const file = joinSession(
      entryLine("a", null),
      entryLine("b", "a"),
      entryLine("c", "a"),
      bare("x"),
      entryLine("d", "c"),
    );
    expect(named(file)).toEqual(["a", "b < a", "c < a", "#3 < c", "d < c"]);
    expect(codes(read(file))).toEqual(["ID_INVENTED 5"]);
  });

  it("at the start is a root", () => {
    expect(named(joinSession(bare("x"), entryLine("a", null)))).toEqual(["#0", "a"]);
  });

  it("is a child of a damaged entry, too, and of a second entry with the same id", () => {
    const file = joinSession(entryLine("a", null).slice(0, -9), bare("x"), entryLine("a", null), bare("y"));
    expect(named(file)).toEqual(["a", "#1 < a", "#2", "#3 < #2"]);
  });

  it.each([7, null, "", {}])("or with the id %j gets an id, and keeps a parent that it names", (id) => {
    const file = joinSession(entryLine("a", null), entryLine("b", "a"), entryLine(id, "a"));
    const index = read(file);
    const last = index.tree.headAt(2);
    expect(last).toMatchObject({ id: expect.stringMatching(HEX), parentId: "a" });
    expect(codes(index)).toEqual(["ID_INVENTED 4"]);
  });

  it("of version 1 keeps its own id if it is unique, but also the order of the file", () => {
    const file = joinFile(
      headerLine({ version: 1 }),
      entryLine("a", "c"),
      bare("x"),
      entryLine("c", null),
      entryLine("a", "a", { n: 1 }),
    );
    expect(named(file)).toEqual(["a", "#1 < a", "c < #1", "#3 < c"]);
    expect(codes(read(file))).toEqual(["ID_DUPLICATE 5"]);
  });
});

describe("generated ids", () => {
  const file = joinSession(bare("x"), "???", bare("y"), entryLine("a", null), entryLine("a", null, { n: 1 }));

  it("are the same on every read", () => {
    expect(ids(read(file))).toEqual(ids(read(file)));
  });

  it("never change between releases", () => {
    expect(ids(read(file))).toEqual(["57c8bbfa", "8b862ebb", "a", "f2f2b739"]);
  });

  it("are derived from the session's id", () => {
    const other = file.replaceAll("0194d0a1-7c3e", "0194d0a1-7c3f");
    expect(ids(read(other))[0]).not.toBe(ids(read(file))[0]);
  });

  it("are derived from the position of the line, not from the lines after it", () => {
    const longer = `${file}${joinFile(bare("z"), entryLine("b", "a"))}`;
    expect(ids(read(longer)).slice(0, 4)).toEqual(ids(read(file)));
  });

  it("are unique, and an equal id later in the file is a duplicate", () => {
    const [invented = ""] = ids(read(joinSession(bare("x"))));
    const index = read(joinFile(`{"type":"title"}`, headerLine(), bare("x")));
    expect(ids(index)).toEqual([invented]);
    const taken = read(joinSession(bare("x"), entryLine(invented, null)));
    expect(ids(taken)[0]).toBe(invented);
    expect(new Set(ids(taken)).size).toBe(2);
    expect(codes(taken)).toContain("ID_DUPLICATE 3");
  });

  it("require an upgrade before the file grows", () => {
    expect(read(file).needsUpgrade).toBe(true);
    expect(read(joinSession(entryLine("a", null))).needsUpgrade).toBe(false);
    expect(read(joinSession(withId("a"), withId("b"))).needsUpgrade).toBe(true);
    expect(read(joinSession(withId("a"), entryLine("b", "a"))).needsUpgrade).toBe(false);
  });
});

describe("an entry with an id but no parentId key", () => {
  it("is a root", () => {
    expect(named(joinSession(entryLine("a", null), withId("b"), entryLine("c", "b")))).toEqual([
      "a",
      "b",
      "c < b",
    ]);
  });

  it("is a child of the previous entry if no entry of the whole file has the key", () => {
    expect(named(joinSession(withId("a"), withId("b"), withId("c")))).toEqual(["a", "b < a", "c < b"]);
    expect(codes(read(joinSession(withId("a"), withId("b"))))).toEqual(["PARENT_BRIDGED 3"]);
  });

  it("is reported only while no entry has the key", () => {
    const file = new GrowingFile().grow(joinSession(withId("a"), withId("b")));
    expect(codes(file.index)).toEqual(["PARENT_BRIDGED 3"]);
    expect(codes(file.grow(joinFile(entryLine("c", "b"))).index)).toEqual([]);
  });

  it("is a child of the previous entry among entries without ids, too, and with a duplicate id", () => {
    expect(
      named(
        joinSession(withId("a"), bare("x"), withId("b"), entryLine("a", undefined, { n: 1 }), withId("c")),
      ),
    ).toEqual(["a", "#1 < a", "b < #1", "#3 < b", "c < #3"]);
  });

  it("is a root if only the last entry has the key, with any value", () => {
    const names = ["a", "b", "c"].map(withId);
    for (const parentId of [null, "b"]) {
      const last = parentId === null ? "d" : "d < b";
      expect(named(joinSession(...names, entryLine("d", parentId)))).toEqual(["a", "b", "c", last]);
    }
    expect(named(joinSession(...names, entryLine("d", null).slice(0, -9)))).toEqual(["a", "b", "c", "d"]);
  });
});

describe("a parent", () => {
  it("is the nearest preceding entry with that id", () => {
    const file = joinSession(
      entryLine("a", null),
      entryLine("b", "a"),
      entryLine("a", "b", { n: 2 }),
      entryLine("c", "a"),
      entryLine("a", "c", { n: 3 }),
      entryLine("d", "a"),
    );
    expect(named(file)).toEqual(["a", "b < a", "#2 < b", "c < #2", "#4 < c", "d < #4"]);
  });

  it("is a later entry only if there is none before, and then the first one", () => {
    const file = joinSession(
      entryLine("b", "a"),
      entryLine("a", null),
      entryLine("a", null, { n: 2 }),
      entryLine("c", "a"),
    );
    expect(named(file)).toEqual(["b < a", "a", "#2", "c < #2"]);
    expect(codes(read(file))).toEqual(["ID_DUPLICATE 4"]);
  });

  it("that is the entry itself is ignored: a root, reported", () => {
    const index = read(joinSession(entryLine("a", "a"), entryLine("b", "a")));
    expect(links(index)).toEqual(["a", "b < a"]);
    expect(codes(index)).toEqual(["PARENT_CYCLE 2"]);
  });

  it("that closes a cycle is removed at the first entry of the cycle in the file, reported", () => {
    const index = read(
      joinSession(entryLine("x", "c"), entryLine("a", "c"), entryLine("b", "a"), entryLine("c", "b")),
    );
    expect(links(index)).toEqual(["x < c", "a", "b < a", "c < b"]);
    expect(codes(index)).toEqual(["PARENT_CYCLE 3"]);
  });

  it("that does not exist makes a root, reported", () => {
    const index = read(joinSession(entryLine("a", null), entryLine("b", "gone"), entryLine("c", "b")));
    expect(links(index)).toEqual(["a", "b", "c < b"]);
    expect(codes(index)).toEqual(["PARENT_MISSING 3"]);
  });

  it.each([
    ["no JSON", "what?"],
    ["no entry", '{"tipe":"message","id":"gone"}'],
    ["zero bytes", "\0\0\0"],
    ["a torn record without a head", '{"type":"mess'],
    ["two lines", "what?\nwhere?"],
  ])("that does not exist is the previous entry, if a damaged line is between them: %s", (_name, damage) => {
    const index = read(
      joinSession(
        entryLine("a", null),
        entryLine("b", "a"),
        damage,
        entryLine("c", "gone"),
        entryLine("d", "gone"),
      ),
    );
    expect(links(index)).toEqual(["a", "b < a", "c < b", "d"]);
    expect(codes(index).filter((code) => code.startsWith("PARENT"))).toHaveLength(2);
    expect(index.issues.find(({ entryId }) => entryId === "c")?.code).toBe("PARENT_BRIDGED");
    expect(index.issues.find(({ entryId }) => entryId === "d")?.code).toBe("PARENT_MISSING");
  });

  it("that does not exist is the previous entry, if the damage is on the same line", () => {
    const c = entryLine("c", "gone");
    for (const end of [`\0\0\n${c}`, `x\n${c}`, `{"type":"mess${c}`, `{"torn\n${c}`, `\0\0${c}`]) {
      const index = read(joinSession(entryLine("b", null) + end));
      expect(links(index)).toEqual(["b", "c < b"]);
    }
  });

  it("that does not exist is the previous entry, if a line over the size limit is between them", () => {
    const file = joinSession(entryLine("b", null), `"${"x".repeat(999)}"`, entryLine("c", "gone"));
    expect(links(read(file, { maxLineBytes: 900 }))).toEqual(["b", "c < b"]);
  });

  it("that does not exist makes a root if nothing is damaged, or only lines before the first or the previous entry", () => {
    const c = entryLine("c", "gone");
    expect(links(read(joinSession("???", c)))).toEqual(["c"]);
    expect(links(read(joinFile("???", headerLine(), c)))).toEqual(["c"]);
    expect(links(read(joinSession("???", entryLine("b", null), c)))).toEqual(["b", "c"]);
  });

  it("that exists is used, with or without damage", () => {
    const file = joinSession(
      entryLine("a", null),
      entryLine("b", "a"),
      "???",
      entryLine("c", "a"),
      "???",
      entryLine("d", null),
    );
    expect(links(read(file))).toEqual(["a", "b < a", "c < a", "d"]);
  });

  it("that a damaged line would bridge, and that arrives later, is used", () => {
    const index = read(joinSession(entryLine("a", null), "???", entryLine("c", "b"), entryLine("b", "a")));
    expect(links(index)).toEqual(["a", "c < b", "b < a"]);
    expect(codes(index)).toEqual(["LINE_UNREADABLE 3"]);
  });

  it("that a bridge makes a descendant is removed as in any cycle", () => {
    const index = read(joinSession(entryLine("a", "c"), "???", entryLine("c", "gone")));
    expect(links(index)).toEqual(["a", "c < a"]);
    expect(codes(index)).toEqual(["PARENT_CYCLE 2", "LINE_UNREADABLE 3", "PARENT_BRIDGED 4"]);
  });

  it.each([5, true, { id: "a" }, ["a"]])("that is %j does not exist", (parentId) => {
    const index = read(
      joinSession(entryLine("a", null), entryLine("b", parentId), "???", entryLine("c", parentId)),
    );
    expect(links(index)).toEqual(["a", "b", "c < b"]);
    expect(codes(index)).toEqual(["PARENT_MISSING 3", "LINE_UNREADABLE 4", "PARENT_BRIDGED 5"]);
  });
});

describe("two lines with the same id", () => {
  const [a, b] = [entryLine("a", null), entryLine("b", "a")];

  it("count once if they are identical bytes, reported", () => {
    const index = read(joinSession(a, b, a, entryLine("c", "a"), b));
    expect(links(index)).toEqual(["a", "b < a", "c < a"]);
    expect(codes(index)).toEqual(["ENTRY_REPEATED 4", "ENTRY_REPEATED 6"]);
    expect(index.issues.map(({ entryId }) => entryId)).toEqual(["a", "b"]);
  });

  it("count once wherever the second is: concatenated, without a line break, after a CR", () => {
    for (const end of [`${b}${a}\n`, `${b}\n${a}`, `${b}\n${a}\r\n`, `${b}\n${a}  \n`]) {
      const index = read(`${joinSession(a)}${end}`);
      expect(links(index)).toEqual(["a", "b < a"]);
      expect(codes(index).some((code) => code.startsWith("ENTRY_REPEATED"))).toBe(true);
    }
  });

  it("leave the id to the first if they differ; the later gets a generated id, and entries after it refer to it", () => {
    const file = joinSession(a, b, entryLine("a", "b", { n: 2 }), entryLine("c", "a"));
    expect(named(file)).toEqual(["a", "b < a", "#2 < b", "c < #2"]);
    const index = read(file);
    expect(codes(index)).toEqual(["ID_DUPLICATE 4"]);
    expect(index.issues[0]?.entryId).toBe(ids(index)[2]);
    expect(index.issues[0]?.message).toContain(" a ");
  });

  it("differ even if they have the same length", () => {
    expect(named(joinSession(entryLine("a", null, { n: 1 }), entryLine("a", null, { n: 2 })))).toEqual([
      "a",
      "#1",
    ]);
  });

  it("count once even if the repeated one is not the first with that id", () => {
    const second = entryLine("a", null, { n: 2 });
    const index = read(joinSession(a, second, second, a, second));
    expect(ids(index)).toHaveLength(2);
    expect(codes(index)).toEqual([
      "ID_DUPLICATE 3",
      "ENTRY_REPEATED 4",
      "ENTRY_REPEATED 5",
      "ENTRY_REPEATED 6",
    ]);
    expect(index.issues[1]?.entryId).toBe(ids(index)[1]);
  });

  it("are children of the parents they name, even if the later one names its own id as parent", () => {
    expect(named(joinSession(a, entryLine("a", "a", { n: 2 })))).toEqual(["a", "#1 < a"]);
  });
});

describe("a second header", () => {
  it("is an issue; entries after it count as usual", () => {
    const [a, b] = [entryLine("a", null), entryLine("b", "a")];
    const index = read(
      joinSession(a, headerLine({ version: 1 }), b, headerLine(), a, b, entryLine("c", "b")),
    );
    expect(links(index)).toEqual(["a", "b < a", "c < b"]);
    expect(index.version).toBe(3);
    expect(codes(index)).toEqual([
      "HEADER_REPEATED 3",
      "HEADER_REPEATED 5",
      "ENTRY_REPEATED 6",
      "ENTRY_REPEATED 7",
    ]);
  });
});

describe("a compaction's firstKeptEntryIndex", () => {
  const compaction = (firstKeptEntryIndex: unknown) =>
    JSON.stringify({
      type: "compaction",
      timestamp: "t",
      summary: "s",
      firstKeptEntryIndex,
      tokensBefore: 1,
    });
  /** Number of the first kept entry; the compaction's own if it keeps nothing. */
  const keptBy = (firstKeptEntryIndex: unknown, ...before: string[]) => {
    const { entries } = readSession(joinFile(...before, compaction(firstKeptEntryIndex), bare("after")));
    const kept = entries.flatMap((entry) => ("firstKeptEntryId" in entry ? [entry.firstKeptEntryId] : []))[0];
    return entries.findIndex(({ id }) => id === kept);
  };
  const header = headerLine({});

  it("counts records with the header at index 0", () => {
    const before = [header, bare("0"), bare("1"), bare("2")];
    expect([1, 2, 3, 4, 5].map((index) => keptBy(index, ...before))).toEqual([0, 1, 2, 3, 4]);
    expect([0, -1].map((index) => keptBy(index, ...before))).toEqual([0, 0]);
    expect([6, 1e9].map((index) => keptBy(index, ...before))).toEqual([3, 3]);
  });

  it("counts the header as 0 even after another record", () => {
    expect(keptBy(2, '{"type":"title"}', header, bare("0"), bare("1"))).toBe(1);
  });

  it("counts an unreadable line as one record, and concatenated ones as one each", () => {
    for (const damage of ["???", "[]", "{}", "\0\0", '{"type":"mess', headerLine({})]) {
      expect(keptBy(3, header, bare("0"), damage, bare("1"), bare("2"))).toBe(1);
      expect(keptBy(4, header, bare("0"), damage, bare("1"), bare("2"))).toBe(2);
    }
    expect(keptBy(3, header, bare("0") + bare("1"), bare("2"))).toBe(2);
    expect(keptBy(3, header, `{"type":"message","mess${bare("0")}`, bare("1"), bare("2"))).toBe(1);
    expect(keptBy(3, header, `${bare("0")}{"type":"message","mess`, bare("1"), bare("2"))).toBe(1);
    expect(keptBy(2, header, `${bare("0")}\0\0`, "", bare("1"), bare("2"))).toBe(1);
  });

  it("that names an unreadable line refers to the entry after it", () => {
    expect(keptBy(2, header, bare("0"), "???", bare("1"))).toBe(1);
  });
});
