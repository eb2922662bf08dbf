import { describe, expect, it } from "vitest";
import { parseRecords, parseSessionEntries } from "../../../src/core/jsonl/parse-records.ts";
import { entryLine, headerLine, joinFile } from "./support/files.ts";

const [a, b] = [entryLine("a", null), entryLine("b", "a")];
const parse = (text: string) => parseSessionEntries(text).map((record): unknown => record);

describe("parseSessionEntries", () => {
  it("returns header and entries unchanged, in the order of the file", () => {
    const lines = [headerLine({ version: "1" }), a, '{"type":"new","n":1}', b];
    expect(parse(joinFile(...lines))).toEqual(lines.map((line) => JSON.parse(line)));
  });

  it("omits lines that do not parse, and those that are not records", () => {
    expect(parse(joinFile(a, "???", "", "42", "[]", '{"a":1}', '{"type":7}', b))).toEqual([
      JSON.parse(a),
      JSON.parse(b),
    ]);
    expect(parse("")).toEqual([]);
  });

  it("returns a last line without a line break, but not a torn one", () => {
    expect(parse(`${a}\n${b}`)).toHaveLength(2);
    expect(parse(`${a}\n${b.slice(0, -1)}`)).toHaveLength(1);
  });

  it("returns the complete records of a line that does not parse", () => {
    expect(parse(`${a}${b}\n`)).toEqual([JSON.parse(a), JSON.parse(b)]);
    expect(parse(`${b.slice(0, -9)}${a}\n`)).toEqual([JSON.parse(a)]);
    expect(parse(`${a}\0\0\n`)).toEqual([JSON.parse(a)]);
  });

  it("does not search a line that parses", () => {
    expect(parse(joinFile(JSON.stringify([JSON.parse(a)]), JSON.stringify(a)))).toEqual([]);
  });

  it("drops a byte order mark and CRs", () => {
    expect(parse(`\uFEFF${headerLine()}\r\n${a}\r\n`)).toHaveLength(2);
  });

  it("handles a hundred thousand lines that do not parse", () => {
    expect(parse("x\n".repeat(100_000))).toEqual([]);
  });

  it("returns the same for pieces, wherever they are cut", () => {
    const bytes = new TextEncoder().encode(
      joinFile(headerLine(), entryLine("ü", null, { text: "☃" }), `${a}${b}`, "???"),
    );
    for (let size = 1; size < 50; size++) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      expect(parseRecords(pieces)).toEqual(parseRecords([bytes]));
    }
  });
});
