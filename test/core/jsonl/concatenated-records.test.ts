import { describe, expect, it } from "vitest";
import { readFrontRecord, recoverRecords } from "../../../src/core/jsonl/concatenated-records.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const entry = (id: string, fields: object = {}) => ({
  type: "message",
  id,
  parentId: null,
  timestamp: "2026-01-01T00:00:00.000Z",
  ...fields,
});
const [a, b] = [entry("a"), entry("b", { message: { role: "user", content: 'a { in "quotes\\"' } })];
const json = (record: object) => JSON.stringify(record);

/** Returns the records in a line, after checking each against its range of the bytes. */
function recover(line: string): unknown[] {
  const bytes = bytesOf(line);
  return recoverRecords(bytes).map(({ start, end, record }) => {
    expect(JSON.parse(new TextDecoder().decode(bytes.subarray(start, end)))).toEqual(record);
    return record;
  });
}

describe("recoverRecords", () => {
  it("finds adjacent records, also with blanks and zero bytes between them", () => {
    expect(recover(json(a) + json(b))).toEqual([a, b]);
    expect(recover(`\0\0${json(b)} \t\0${json(a)}\0`)).toEqual([b, a]);
  });

  it("finds a record after the rest of a torn one, and before one", () => {
    for (let cut = 1; cut < json(b).length; cut++) {
      expect(recover(json(b).slice(0, cut) + json(a)).at(-1)).toEqual(a);
      expect(recover(json(a) + json(b).slice(0, cut))).toEqual([a]);
    }
  });

  it("finds a header and a compaction without ids", () => {
    const header = { type: "session", version: 3, id: "s" };
    const compaction = { type: "compaction", summary: "s", timestamp: 1 };
    expect(recover(`{"torn":"x${json(header)}`)).toEqual([header]);
    expect(recover(`{"torn":1,${json(header)}${json(compaction)}`)).toEqual([header, compaction]);
  });

  it("does not treat a content block as a record", () => {
    const torn = json(entry("c", { message: { content: [{ type: "text", text: "t" }] } })).slice(0, -4);
    expect(recover(`${torn}x`)).toEqual([]);
    expect(recover('{"type":"text","text":"t"}x')).toEqual([]);
  });

  it("does not treat an object inside a torn record as one, unless it looks like an entry", () => {
    expect(recover('{"x":1,"y":{"type":"new","n":1}')).toEqual([]);
    expect(recover('{"x":1,"y":{"type":"message","id":"a"}')).toEqual([]);
    expect(recover(`{"x":1,"y":${json(a)}`)).toEqual([a]);
  });

  it("does not treat a text that spells a record as one", () => {
    expect(recover(`${json(entry("c", { text: json(a) }))}x`)).toEqual([entry("c", { text: json(a) })]);
  });

  it("accepts an unknown type at a border", () => {
    expect(recover('{"type":"new"}{"type":"newer"}')).toEqual([{ type: "new" }, { type: "newer" }]);
  });

  it.each(["", " ", "\0\0\0", "x", "[1]x", "{}{}", '{"a":1}{"b":2}', "}{"])("finds nothing in %j", (line) => {
    expect(recover(line)).toEqual([]);
  });

  it.each([
    ["braces", "{".repeat(1_000_000)],
    ["starts of records", '{"type":'.repeat(100_000)],
    ["starts of records in a record", `{"type":"${'{"type":"x"'.repeat(50_000)}`],
    ["records that are none", '{"id":{"id":1}}'.repeat(50_000)],
    ["quotes", `{"type":${'"'.repeat(1_000_001)}`],
  ])("finishes on a megabyte of %s", (_name, line) => {
    // Takes minutes or hours if the rest is read again for each position.
    expect(recover(line)).toEqual([]);
  });
});

describe("recordInFront", () => {
  it("finds the record at the beginning of a line, whatever follows", () => {
    const line = ` \0${json(a)}{"torn`;
    expect(readFrontRecord(bytesOf(line))).toEqual({ start: 2, end: 2 + json(a).length, record: a });
  });

  it.each(["", `x${json(a)}`, json(a).slice(0, -1), '{"type":"text"}', '{"id":"a"}', '{"type":"a",}'])(
    "finds none in %j",
    (line) => {
      expect(readFrontRecord(bytesOf(line))).toBeUndefined();
    },
  );
});
