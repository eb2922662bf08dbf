import { describe, expect, it } from "vitest";
import { ByteSearch, startsWith } from "../../src/jsonl/byte-search.ts";
import fc from "../support/fast-check.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const text = (maxLength: number, minLength = 0) =>
  fc.string({ unit: fc.constantFrom("a", "b", '"'), minLength, maxLength });

describe("ByteSearch", () => {
  it("finds what indexOf finds, and nothing that reaches past the end", () => {
    fc.assert(
      fc.property(
        text(5, 1),
        text(60),
        fc.nat({ max: 60 }),
        fc.nat({ max: 60 }),
        (pattern, all, from, to) => {
          const end = Math.min(to, all.length);
          expect(new ByteSearch(pattern).find(bytesOf(all), Math.min(from, end), end)).toBe(
            all.slice(0, end).indexOf(pattern, Math.min(from, end)),
          );
        },
      ),
      {
        numRuns: 2000,
        examples: [
          ["ab", "aab", 0, 3],
          ["aab", "aaab", 1, 4],
        ],
      },
    );
  });

  it("counts bytes, not characters", () => {
    const search = new ByteSearch("é\u2028");
    expect(search.length).toBe(5);
    expect(search.find(bytesOf("ßé\u2028"), 0, 7)).toBe(2);
  });

  it("takes a pattern of 255 bytes", () => {
    const pattern = `${"x".repeat(254)}y`;
    expect(new ByteSearch(pattern).find(bytesOf(`${"x".repeat(1000)}y`), 0, 1001)).toBe(746);
  });
});

describe("startsWith", () => {
  it("compares bytes at a place, up to the end", () => {
    const bytes = bytesOf("abcd");
    expect(startsWith(bytes, 1, 4, bytesOf("bcd"))).toBe(true);
    expect(startsWith(bytes, 1, 3, bytesOf("bcd"))).toBe(false);
    expect(startsWith(bytes, 1, 4, bytesOf("bd"))).toBe(false);
    expect(startsWith(bytes, 4, 4, bytesOf(""))).toBe(true);
  });
});
