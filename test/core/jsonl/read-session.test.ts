import { describe, expect, it } from "vitest";
import { readSession } from "../../../src/core/jsonl/read-session.ts";
import { entryLine, headerLine, joinFile, joinSession, SESSION_ID } from "./support/files.ts";

const [a, b] = [entryLine("a", null), entryLine("b", "a")];

describe("readSession", () => {
  it("returns header, entries, leaf, and issues of a session in today's version", () => {
    const { header, version, entries, leafId, issues } = readSession(joinSession(a, b));
    expect(header).toEqual(JSON.parse(headerLine()));
    expect(entries).toEqual([JSON.parse(a), JSON.parse(b)]);
    expect([version, leafId, issues]).toEqual([3, "b", []]);
  });

  it("reads text and bytes alike", () => {
    const text = joinSession(entryLine("ü", null, { text: "☃\u2028" }), b, "???");
    expect(readSession(new TextEncoder().encode(text))).toEqual(readSession(text));
  });

  it("upgrades an older version in memory, and reports it", () => {
    const hook = { role: "hookMessage", content: "x" };
    const file = joinFile(headerLine({ version: 2 }), entryLine("a", null, { message: hook }));
    const { version, header, entries } = readSession(file);
    expect([version, header?.version]).toEqual([2, 3]);
    expect(entries[0]).toMatchObject({ message: { role: "custom", content: "x" } });
    const list = joinFile(headerLine({}), entryLine(undefined, undefined), entryLine(undefined, undefined));
    const [first, second] = readSession(list).entries;
    expect([first?.parentId, second?.parentId]).toEqual([null, first?.id]);
  });

  it("returns each entry with its id and parent in the tree", () => {
    const { entries } = readSession(joinSession(a, entryLine("a", "gone", { n: 1 }), entryLine("c", "a")));
    expect(entries[1]).toMatchObject({ type: "message", parentId: null, n: 1 });
    expect(entries[2]?.parentId).toBe(entries[1]?.id);
  });

  it("returns no entries of a file that is not a session, and never throws", () => {
    for (const text of [
      "",
      "prose\n",
      a,
      '{"type":"session"}\n',
      "\0\0\0",
      "[".repeat(100_000),
      '{"type":"session","id":"',
    ])
      expect(readSession(text)).toMatchObject({ header: undefined, entries: [], leafId: null });
  });

  it("reads invalid UTF-8 as the replacement character", () => {
    const bytes = new TextEncoder().encode(joinSession(entryLine("a", null, { text: "x?y" })));
    bytes[bytes.lastIndexOf(0x3f)] = 0xff;
    expect(readSession(bytes).entries[0]).toMatchObject({ text: "x\uFFFDy" });
  });

  it("accepts data of any depth", () => {
    const deep = `{"type":"new","id":"d","parentId":"a","timestamp":"t","data":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
    const { entries, issues } = readSession(joinSession(a, deep, b));
    expect([entries.length, issues]).toEqual([3, []]);
  });

  it("reads a session named as a path", () => {
    expect(readSession(joinSession().replace(SESSION_ID, "../../etc")).header?.id).toBe("../../etc");
  });
});
