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
  SESSION_ID,
  TIME,
} from "./support/files.ts";

const [a, b, c] = [entryLine("a", null), entryLine("b", "a"), entryLine("c", "b")];

describe("5. a last line without a line break", () => {
  it("is complete if it parses", () => {
    const index = read(`${joinSession(a)}${b}`);
    expect(links(index)).toEqual(["a", "b < a"]);
    expect(codes(index)).toEqual([]);
    expect(index.isMidLine).toBe(true);
  });

  it("is complete if followed by a CR, blanks, or zero bytes", () => {
    for (const [end, found] of [
      ["\r", []],
      [" \t", []],
      ["\0\0", ["NUL_BYTES 3"]],
    ] as const) {
      const index = read(`${joinSession(a)}${b}${end}`);
      expect(links(index)).toEqual(["a", "b < a"]);
      expect(codes(index)).toEqual(found);
    }
  });

  it("is a torn tail if it does not parse: reported and skipped, wherever it was cut", () => {
    for (let cut = 1; cut < b.length; cut++) {
      const index = read(`${joinSession(a)}${b.slice(0, cut)}`);
      expect(links(index)).toEqual(["a"]);
      expect(index.issues).toHaveLength(1);
      const offset = headerLine().length + 1 + a.length + 1;
      expect(index.issues[0]).toMatchObject({ code: "TAIL_TORN", line: 3, offset, length: cut });
      expect(index.isMidLine).toBe(true);
    }
  });

  it("that is JSON but not a record is reported too, and not consumed before it ends", () => {
    expect(codes(read(`${joinSession(a)}{"a":1}`))).toEqual(["NOT_AN_ENTRY 3"]);
    expect(codes(read(`${joinSession(a)}17`))).toEqual(["TAIL_TORN 3"]);
  });

  it("yields the complete records at its beginning, and keeps the torn rest", () => {
    const index = read(`${joinSession(a)}${b}${c.slice(0, 20)}`);
    expect(links(index)).toEqual(["a", "b < a"]);
    expect(codes(index)).toEqual(["TAIL_TORN 3"]);
    expect(read(headerLine() + a).header?.id).toBe(SESSION_ID);
  });

  it("is pending while another process writes", () => {
    const file = new GrowingFile().grow(joinSession(a));
    for (const piece of [b.slice(0, 30), b.slice(30, 60)]) {
      file.grow(piece);
      expect([ids(file.index), codes(file.index)]).toEqual([["a"], ["TAIL_TORN 3"]]);
    }
    file.grow(`${b.slice(60)}\n`);
    expect(links(file.index)).toEqual(["a", "b < a"]);
    expect(codes(file.index)).toEqual([]);
    expect(file.index.isMidLine).toBe(false);
  });

  it("may be torn inside a character", () => {
    const line = new TextEncoder().encode(entryLine("b", "a", { text: "☃" }));
    const inside = line.indexOf(0xe2) + 1;
    const file = new GrowingFile().grow(joinSession(a)).grow(line.subarray(0, inside));
    expect(codes(file.index)).toEqual(["TAIL_TORN 3"]);
    file.grow(line.subarray(inside)).grow("\n");
    expect(links(file.index)).toEqual(["a", "b < a"]);
    expect(codes(file.index)).toEqual([]);
  });
});

describe("6. a line that does not parse", () => {
  it("is searched for concatenated records; those that parse are used and reported", () => {
    const index = read(joinSession(a, b + c, entryLine("d", "c")));
    expect(links(index)).toEqual(["a", "b < a", "c < b", "d < c"]);
    expect(codes(index)).toEqual(["RECORDS_GLUED 3"]);
    const start = headerLine().length + 1 + a.length + 1;
    expect(index.spans.at(1)).toEqual({ offset: start, length: b.length, line: 3 });
    expect(index.spans.at(2)).toEqual({ offset: start + b.length, length: c.length, line: 3 });
  });

  it("yields the record after a torn one, whose legible head keeps its place", () => {
    const index = read(joinSession(a, b.slice(0, -20) + c));
    expect(links(index)).toEqual(["a", "b < a", "c < b"]);
    expect(codes(index)).toEqual(["RECORDS_GLUED 3", "BODY_DAMAGED 3"]);
  });

  it("yields the record before a torn one, whose legible head keeps its place", () => {
    const index = read(joinSession(a, b + c.slice(0, -20), entryLine("d", "c")));
    expect(links(index)).toEqual(["a", "b < a", "c < b", "d < c"]);
    expect(codes(index)).toEqual(["RECORDS_GLUED 3", "BODY_DAMAGED 3"]);
  });

  it("yields three records and more", () => {
    const many = Array.from({ length: 100 }, (_, i) => entryLine(`n${i}`, i === 0 ? null : `n${i - 1}`));
    expect(ids(read(joinSession(many.join(""))))).toHaveLength(100);
  });

  it("with blanks before its records yields each once", () => {
    const index = read(joinSession(a, `  ${b} ${c} `));
    expect(links(index)).toEqual(["a", "b < a", "c < b"]);
    expect(codes(index)).toEqual(["RECORDS_GLUED 3"]);
  });

  it("yields a record of an unknown kind", () => {
    const unknown = JSON.stringify({ type: "new", id: "n", parentId: "a", timestamp: TIME });
    expect(links(read(joinSession(a + unknown)))).toEqual(["a", "n < a"]);
  });

  describe("is one in which a record in another spelling follows one in the usual", () => {
    const spaced = (id: string, parentId: string) => entryLine(id, parentId).replace(/([,:])"/g, '$1 "');
    const timed = (id: string, parentId: string) => entryLine(id, parentId, { timestamp: 17 });

    it.each([
      ["blanks", spaced],
      ["times as numbers", timed],
    ])("yields it once any writer wrote a line with %s", (_name, spell) => {
      const index = read(joinSession(a, spell("b", "a"), entryLine("c", "b") + spell("d", "c")));
      expect(links(index)).toEqual(["a", "b < a", "c < b", "d < c"]);
      expect(codes(index)).toEqual(["RECORDS_GLUED 4"]);
    });

    it("is one damaged entry before that, and reported on reading: the price of not parsing bodies", () => {
      const { entries, issues } = readSession(joinSession(a + spaced("b", "a")));
      expect(entries.map(({ type, id }) => [type, id])).toEqual([["damaged", "a"]]);
      expect(issues.map(({ code, line }) => [code, line])).toEqual([["BODY_DAMAGED", 2]]);
    });
  });

  it("with records of any century is split", () => {
    const old = entryLine("b", "a", { timestamp: "1970-01-01T00:00:00.000Z" });
    expect(links(read(joinSession(a + old)))).toEqual(["a", "b < a"]);
  });

  it("that parses is not searched: text may hold what looks like records", () => {
    const text = `${b}${c}`;
    const index = read(
      joinSession(
        entryLine("a", null, { text, list: [JSON.parse(b)] }),
        JSON.stringify([text, JSON.parse(b)]),
      ),
    );
    expect(ids(index)).toEqual(["a"]);
    expect(codes(index)).toEqual(["NOT_AN_ENTRY 3"]);
  });
});

describe("7. a line whose head is legible but whose body is not", () => {
  const place = (line: string) => readSession(joinSession(a, line, entryLine("c", "b")));

  it.each([
    ["is torn", b.slice(0, -5)],
    ["has no closing quote", b.replace('hello"', "hello")],
    ["has zero bytes in it", b.replace("hello", "he\0\0o")],
    ["is not a message", JSON.stringify({ ...JSON.parse(b), message: "hello" })],
    ["has no message", entryLine("b", "a", { message: undefined })],
    ["has no role", entryLine("b", "a", { message: { content: "" } })],
    [
      "has its fields in another order",
      `{"id":"b","timestamp":17,"parentId":"a","type":"message","message":{"ro`,
    ],
    [
      "precedes its head",
      `{"type":"custom","customType":"x","data":{"a":,"id":"b","parentId":"a","timestamp":"2026"}`,
    ],
  ])("keeps its place when it %s", (_name, line) => {
    const { entries, issues, leafId } = place(line);
    expect(entries.map(({ type, id, parentId }) => [type, id, parentId])).toEqual([
      ["message", "a", null],
      ["damaged", "b", "a"],
      ["message", "c", "b"],
    ]);
    expect(leafId).toBe("c");
    expect(issues.map(({ code, line, entryId }) => [code, line, entryId])).toEqual([
      ["BODY_DAMAGED", 3, "b"],
    ]);
  });

  it("reads as damaged, with the type that it had", () => {
    expect(place(b.slice(0, -5)).entries[1]).toEqual({
      type: "damaged",
      id: "b",
      parentId: "a",
      timestamp: "2026-02-03T22:52:06.410Z",
      originalType: "message",
    });
  });

  it("is reported under the id that it got, if another entry has its own", () => {
    const { entries, issues } = readSession(joinSession(a, b, b.slice(0, -5)));
    const damaged = issues.find(({ code }) => code === "BODY_DAMAGED");
    expect(damaged?.entryId).toBe(entries[2]?.id);
    expect(damaged?.entryId).not.toBe("b");
  });

  it("is not an entry before there is a header", () => {
    const index = read(joinFile(b.slice(0, -5), headerLine(), a));
    expect(ids(index)).toEqual(["a"]);
    expect(codes(index)).toEqual(["LINE_UNREADABLE 1"]);
  });
});
