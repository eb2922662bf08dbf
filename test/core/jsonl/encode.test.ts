import { describe, expect, it } from "vitest";
import { encodeRecord } from "../../../src/core/jsonl/encode.ts";

describe("encodeRecord", () => {
  it("keeps the order of the fields and drops values that JSON cannot hold", () => {
    const record = { type: "a", id: "b", parentId: null, z: 1, a: undefined, f: () => 1, list: [undefined] };
    expect(encodeRecord(record)).toBe('{"type":"a","id":"b","parentId":null,"z":1,"list":[null]}');
  });

  it("encodes texts with line breaks in one line, and keeps halves of surrogate pairs", () => {
    const line = encodeRecord({ text: "a\nb\r\u2028\ud83d\0" });
    expect(line).not.toMatch(/[\n\r\0]/);
    expect(JSON.parse(new TextDecoder().decode(new TextEncoder().encode(line)))).toEqual({
      text: "a\nb\r\u2028\ud83d\0",
    });
  });

  it("writes a field named __proto__", () => {
    const record = JSON.parse('{"__proto__":{"a":1},"b":2}');
    expect(encodeRecord(record)).toBe('{"__proto__":{"a":1},"b":2}');
  });

  it("rejects a cycle and a BigInt, and names the place", () => {
    const ring: { a: { b: unknown[] } } = { a: { b: [0] } };
    ring.a.b.push(ring.a);
    expect(() => encodeRecord(ring)).toThrow(
      new TypeError("Cannot store the circular reference at $.a.b[1]; pass plain JSON data."),
    );
    expect(() => encodeRecord({ list: [1, { big: 2n }] })).toThrow(
      new TypeError("Cannot store the BigInt at $.list[1].big; pass plain JSON data."),
    );
  });

  it("encodes 100,000 levels of objects and arrays", () => {
    let deep: unknown = "bottom";
    for (let i = 0; i < 50_000; i++) deep = [{ a: deep }];
    expect(encodeRecord({ deep })).toBe(`{"deep":${'[{"a":'.repeat(50_000)}"bottom"${"}]".repeat(50_000)}}`);
  });

  it("rethrows the error of a toJSON", () => {
    const fault = new Error("no");
    const record = {
      toJSON: () => {
        throw fault;
      },
    };
    expect(() => encodeRecord(record)).toThrow(fault);
  });
});
