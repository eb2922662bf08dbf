import { describe, expect, it } from "vitest";
import { encodeDeep } from "../../../src/core/jsonl/encode-deep.ts";
import fc from "../../support/fast-check.ts";

const scalar = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.double(),
  fc.boolean(),
  fc.constantFrom(null, undefined, Symbol("s"), () => 1, -0),
  fc.date(),
  fc.constantFrom<unknown>(new Number(1), new String("boxed"), new Boolean(false), /a/, new Map([[1, 2]])),
  fc.string().map((key) => ({ toJSON: (at: string) => `${key} at ${at}` })),
  fc.constant({ toJSON: () => undefined }),
);
const value = fc.object({
  key: fc.oneof(fc.string(), fc.constantFrom("__proto__", "0", "length")),
  values: [scalar],
  maxDepth: 4,
});

describe("encodeDeep", () => {
  it("encodes everything as JSON.stringify does", () => {
    fc.assert(
      fc.property(value, (record) => {
        expect(encodeDeep(record)).toBe(JSON.stringify(record));
      }),
      { numRuns: 500 },
    );
  });

  it("encodes arrays with holes, empty containers, and objects without a prototype as JSON.stringify does", () => {
    const sparse: unknown[] = [1];
    sparse[3] = [];
    const record = {
      sparse,
      none: {},
      bare: Object.assign(Object.create(null), { a: 1 }),
      nested: [[], {}, [[]]],
    };
    expect(encodeDeep(record)).toBe(JSON.stringify(record));
  });

  it("does not treat one object in two places as a cycle", () => {
    const twice = { a: 1 };
    expect(encodeDeep({ x: twice, y: [twice, twice] })).toBe('{"x":{"a":1},"y":[{"a":1},{"a":1}]}');
  });

  it("names the place of a cycle, and keeps the original error", () => {
    const ring: { list: unknown[] } = { list: [] };
    ring.list.push("first", ring);
    const cause = new Error("before");
    let caught: unknown;
    try {
      encodeDeep(ring, cause);
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(TypeError);
    expect(caught).toMatchObject({
      message: "Cannot store the circular reference at $.list[1]; pass plain JSON data.",
      cause,
    });
  });

  it("shortens the path of an error 100,000 levels down", () => {
    let deep: unknown = 1n;
    for (let i = 0; i < 100_000; i++) deep = { a: deep };
    expect(() => encodeDeep({ deep })).toThrow(/^Cannot store the BigInt at \$\.deep\.a.{900,1100}\.a; pass/);
  });

  it("passes a BigInt to its toJSON", () => {
    const big = { toJSON: () => "12" };
    expect(encodeDeep({ big })).toBe('{"big":"12"}');
    expect(() => encodeDeep({ big: Object(1n) })).toThrow("the BigInt at $.big");
  });

  it("rejects an object that generates its own depth", () => {
    const endless = () => ({
      get a() {
        return endless();
      },
    });
    expect(() => encodeDeep(endless())).toThrow("data that is nested so deeply");
  });
});
