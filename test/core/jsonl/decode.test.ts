import { describe, expect, it } from "vitest";
import { decodeRecord, decodeText, parseJson } from "../../../src/core/jsonl/decode.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

describe("decodeText", () => {
  it("converts broken sequences to U+FFFD and keeps the characters around them", () => {
    expect(decodeText(Uint8Array.of(0x61, 0xff, 0x62, 0xe2, 0x82))).toBe("a\uFFFDb\uFFFD");
  });

  it("keeps a byte order mark, every time", () => {
    for (const _ of [1, 2]) expect(decodeText(bytesOf("\uFEFFa"))).toBe("\uFEFFa");
  });
});

describe("parseJson", () => {
  it("distinguishes the value null from invalid JSON", () => {
    expect(parseJson("null")).toEqual({ value: null });
    for (const text of ["", "{", "undefined", "{'a':1}", "1 2"]) expect(parseJson(text)).toBeUndefined();
  });
});

describe("decodeRecord", () => {
  it("returns objects and nothing else", () => {
    expect(decodeRecord(bytesOf(' {"a":"\u2028"} '))).toEqual({ a: "\u2028" });
    for (const text of ["[]", "null", "1", '"a"', "", "{}{}", '\uFEFF{"a":1}', '{"a":1}\0'])
      expect(decodeRecord(bytesOf(text))).toBeUndefined();
  });

  it("treats a field named __proto__ as a field", () => {
    const record = decodeRecord(bytesOf('{"__proto__":{"type":"message"}}'));
    expect(Object.keys(record ?? {})).toEqual(["__proto__"]);
    expect(record?.["type"]).toBeUndefined();
  });

  it("accepts 100,000 levels", () => {
    const record = decodeRecord(bytesOf(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`));
    expect(Object.keys(record ?? {})).toEqual(["a"]);
  });
});
