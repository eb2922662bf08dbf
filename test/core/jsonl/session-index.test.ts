import { describe, expect, it } from "vitest";
import { decodeEntry } from "../../../src/core/jsonl/entry-body.ts";
import { SessionIndex } from "../../../src/core/jsonl/session-index.ts";
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
} from "./support/files.ts";

const [a, b, c] = [entryLine("a", null), entryLine("b", "a"), entryLine("c", "b")];

describe("1. lines", () => {
  it("are split on byte 0x0A only", () => {
    const text = "one\u2028two\u2029three\u0085four";
    const index = read(joinSession(entryLine("a", null, { text }), `${b}\r${c}`));
    expect(ids(index)).toEqual(["a", "b", "c"]);
    expect(codes(index)).toEqual(["RECORDS_GLUED 3"]);
  });

  it("lose one CR before the line break", () => {
    const index = read(joinFile(`${headerLine()}\r`, `${a}\r`, `${b}\r`));
    expect(links(index)).toEqual(["a", "b < a"]);
    expect(index.spans.at(0)).toMatchObject({ length: a.length });
    expect(codes(index)).toEqual([]);
  });

  it("lose one byte order mark at the start", () => {
    const index = read(`\uFEFF${joinSession(a)}`);
    expect(ids(index)).toEqual(["a"]);
    expect(index.headerSpan).toEqual({ offset: 3, length: headerLine().length, line: 1 });
    expect(codes(index)).toEqual([]);
  });

  it("that are blank are ignored", () => {
    const index = read(joinFile("", headerLine(), "", " \t ", "\r", a, "", ""));
    expect(links(index)).toEqual(["a"]);
    expect(index.spans.at(0).line).toBe(6);
    expect(codes(index)).toEqual([]);
  });

  it("end at a run of zero bytes, which is damage, not text", () => {
    const index = read(joinSession(`${a}\0\0\0`, "\0\0", b));
    expect(links(index)).toEqual(["a", "b < a"]);
    expect(codes(index)).toEqual(["NUL_BYTES 2", "NUL_BYTES 3"]);
    const [first] = index.issues;
    expect(first).toMatchObject({ offset: headerLine().length + 1 + a.length, length: 3 });
  });

  it("that are zero bytes at the end of the file are reported and skipped", () => {
    const index = read(`${joinSession(a)}\0\0\0\0`);
    expect(ids(index)).toEqual(["a"]);
    expect(codes(index)).toEqual(["NUL_BYTES 3"]);
    expect(index.isMidLine).toBe(true);
  });

  it("may hold zero bytes before a record, which is read", () => {
    const index = read(joinSession(a, `\0\0\0\0${b}`));
    expect(links(index)).toEqual(["a", "b < a"]);
    expect(index.issues).toHaveLength(1);
    expect(index.issues[0]).toMatchObject({ code: "NUL_BYTES", line: 3, length: 4 });
    expect(index.spans.at(1).length).toBe(b.length);
  });
});

describe("2. every line", () => {
  const odd = [
    "42",
    "null",
    '"text"',
    "[]",
    "{}",
    '{"id":"x","parentId":null}',
    '{"type":7}',
    "what?",
    "{",
    '{"type":"mess',
  ];

  it.each(odd)("that is %s is an issue, and throws nothing", (line) => {
    const index = read(joinSession(a, line, b));
    expect(links(index)).toEqual(["a", "b < a"]);
    expect(index.issues).toHaveLength(1);
    const offset = headerLine().length + 1 + a.length + 1;
    expect(index.issues[0]).toMatchObject({ line: 3, offset, length: line.length });
    expect(["NOT_AN_ENTRY", "LINE_UNREADABLE"]).toContain(index.issues[0]?.code);
  });

  it("that is JSON but not an entry is distinguished from invalid JSON", () => {
    expect(codes(read(joinSession("[]", "}{")))).toEqual(["NOT_AN_ENTRY 2", "LINE_UNREADABLE 3"]);
  });

  it("that is over the size limit is an issue, in any pieces", () => {
    const long = entryLine("b", "a", { text: "x".repeat(500) });
    const at = { offset: headerLine().length + 1 + a.length + 1, length: long.length, line: 3 };
    for (const size of [1, 7, 1000]) {
      const file = new GrowingFile({ maxLineBytes: 400 });
      const bytes = file.write(joinSession(a, long, entryLine("c", "b")));
      for (let i = 0; i < bytes.length; i += size) file.index.feed(bytes.subarray(i, i + size));
      file.index.end();
      expect(links(file.index)).toEqual(["a", "c < a"]);
      expect(file.index.issues[0]).toMatchObject({ code: "LINE_TOO_LONG", ...at });
    }
  });

  it("has an issue that names its entry, if any", () => {
    const index = read(joinSession(entryLine("a", "gone")));
    expect(index.issues[0]).toMatchObject({ code: "PARENT_MISSING", entryId: "a", line: 2 });
    expect(index.issues[0]?.message).toContain("gone");
  });
});

describe("3. the header", () => {
  it("is the first record that parses, and its fields are kept", () => {
    const line = JSON.stringify({
      type: "session",
      version: 3,
      id: SESSION_ID,
      timestamp: "t",
      cwd: "/x",
      mine: [1],
    });
    expect(read(joinFile(line, a)).header).toEqual({ ...JSON.parse(line) });
  });

  it("may follow records of another type, which are kept and reported, and damage", () => {
    const index = read(joinFile('{"type":"title","title":"x"}', "???", "[]", headerLine(), a));
    expect(index.header?.id).toBe(SESSION_ID);
    expect(ids(index)).toEqual(["a"]);
    expect(codes(index)).toEqual(["RECORD_BEFORE_HEADER 1", "LINE_UNREADABLE 2", "NOT_AN_ENTRY 3"]);
  });

  it("is not searched for beyond the first records", () => {
    const titles = Array.from({ length: 16 }, () => '{"type":"title"}');
    expect(read(joinFile(...titles.slice(1), headerLine())).header?.id).toBe(SESSION_ID);
    const index = read(joinFile(...titles, headerLine(), a));
    expect([index.header, index.isRejected, index.tree.size]).toEqual([undefined, true, 0]);
    expect(codes(index)).toHaveLength(18);
  });

  it.each(["7", "null", "{}", undefined])("with the id %s makes the file invalid as a session", (id) => {
    const line = `{"type":"session","version":3${id === undefined ? "" : `,"id":${id}`}}`;
    const index = read(joinFile(line, headerLine(), a));
    expect([index.header, index.isRejected, index.tree.size]).toEqual([undefined, true, 0]);
    expect(codes(index).map((code) => code.split(" ")[1])).toEqual(["1", "2", "3"]);
  });

  it("is missing in an empty file and in one of blank lines, which are accepted", () => {
    for (const text of ["", "\n\r\n \n", "\uFEFF"]) {
      const index = read(text);
      expect([index.header, index.isRejected, codes(index)]).toEqual([undefined, false, []]);
    }
  });

  it("may be on the line of the first entry", () => {
    const index = read(joinFile(headerLine() + a, b));
    expect(links(index)).toEqual(["a", "b < a"]);
    expect(codes(index)).toEqual(["RECORDS_GLUED 1"]);
  });

  it("that was lost can be supplied by the caller", () => {
    const header = { type: "session", version: 3, id: "given", timestamp: "", cwd: "" } as const;
    const index = read(joinFile(a, b), { header });
    expect(index.header).toEqual(header);
    expect(links(index)).toEqual(["a", "b < a"]);
    expect(codes(index)).toEqual(["HEADER_MISSING 1"]);
  });
});

describe("4. a version", () => {
  const versionOf = (version: unknown, ...lines: string[]) => {
    const { version: found, issues, needsUpgrade } = read(joinFile(headerLine({ version }), ...lines));
    return { version: found, codes: issues.map(({ code }) => code), needsUpgrade };
  };

  it.each([
    ["1", 1],
    ["2", 2],
    ["3", 3],
    ["03", 3],
  ])("that is the text %s counts as that number", (text, number) => {
    expect(versionOf(text, a)).toMatchObject({ version: number, codes: [] });
  });

  it.each(["0.1.0", "three", "", " 3", "3.0", "-3", "0", 0, -1, 2.5, null, true, [3]])(
    "that is %j counts as 3 if entries have ids, otherwise as 1, and is reported",
    (version) => {
      const bare = entryLine(undefined, undefined);
      expect(versionOf(version, a)).toEqual({ version: 3, codes: ["VERSION_UNCLEAR"], needsUpgrade: false });
      expect(versionOf(version, bare)).toEqual({
        version: 1,
        codes: ["VERSION_UNCLEAR"],
        needsUpgrade: true,
      });
      expect(versionOf(version)).toMatchObject({ version: 3, codes: ["VERSION_UNCLEAR"] });
      expect(versionOf(version, bare, entryLine("b", null)).version).toBe(3);
    },
  );

  it("that is unclear is 3 even if the first entries have no id: the tree does not become a list", () => {
    const title = JSON.stringify({ type: "title", title: "x" });
    const lines = [title, entryLine("a", null), entryLine("b", "a"), entryLine("c", "a")];
    const index = read(joinFile(headerLine({ version: "0.1.0" }), ...lines));
    expect(links(index).slice(1)).toEqual(["a", "b < a", "c < a"]);
    expect(codes(index)).toEqual(["VERSION_UNCLEAR 1", "ID_INVENTED 2"]);
  });

  it.each([4, "4", 1e300, "99999999999999999999", 3.5])(
    "above 3, as %j, is reported as too new",
    (version) => {
      const { version: found, codes } = versionOf(version, a);
      expect(found).toBeGreaterThan(3);
      expect(codes).toEqual(["VERSION_TOO_NEW"]);
    },
  );

  it("that is missing is 1", () => {
    expect(versionOf(undefined, entryLine(undefined, undefined))).toMatchObject({ version: 1, codes: [] });
  });
});

describe("8. unknown types, roles and fields", () => {
  it("are kept unchanged", () => {
    const lines = [
      entryLine("a", null, { type: "new", deep: { list: [0.5] } }),
      entryLine("b", "a", { message: { role: "robot", content: null, extra: {} }, extra: true }),
      '{"type":"custom","customType":"x","data":{"n":1.0,"__proto__":{"m":1e400}},"id":"c","parentId":"b","timestamp":"2026-02-03T22:52:06.410Z"}',
    ];
    const bytes = new TextEncoder().encode(joinSession(...lines));
    const index = read(bytes);
    const context = { version: 3, entryIdFrom: () => undefined };
    for (const [ordinal, line] of lines.entries()) {
      const { offset, length } = index.spans.at(ordinal);
      const written = bytes.subarray(offset, offset + length);
      expect(new TextDecoder().decode(written)).toBe(line);
      expect(decodeEntry(written, index.tree.headAt(ordinal), context)).toEqual(JSON.parse(line));
    }
    expect(codes(index)).toEqual([]);
  });
});

it("the file is read only if two lines have the same id", () => {
  const index = new SessionIndex({
    readBytes: () => {
      throw new Error("asked for bytes");
    },
  });
  index.feed(new TextEncoder().encode(joinSession(a, b, `${c}${entryLine("d", "x")}`, "???")));
  index.end();
  expect(index.tree.size).toBe(4);
});
