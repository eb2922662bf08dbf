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

  it("finds a long sequence wherever it stands in a buffer, and near misses nowhere", () => {
    const pattern = '"timestamp":"';
    const piece = fc.constantFrom(
      pattern,
      pattern.slice(1),
      pattern.slice(0, -1),
      '"time',
      "stamp",
      "x",
      "ab",
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 20 }),
        fc.nat({ max: 40 }),
        fc.nat({ max: 9 }),
        (pieces, from, cut) => {
          const all = pieces.join("");
          const end = Math.max(0, all.length - cut);
          const start = Math.min(from, end);
          const expected = all.slice(0, end).indexOf(pattern, start);
          const whole = bytesOf(all);
          const inside = bytesOf(`-${all}`).subarray(1);
          for (const bytes of [whole, inside])
            expect(new ByteSearch(pattern).find(bytes, start, end)).toBe(expected);
        },
      ),
      { numRuns: 5000 },
    );
  });

  it("looks at one buffer after the other", () => {
    const search = new ByteSearch('"timestamp":"');
    const first = bytesOf('........"timestamp":"');
    expect([first, bytesOf("."), first].map((bytes) => search.find(bytes, 0, bytes.length))).toEqual([
      8, -1, 8,
    ]);
    const large = new Uint8Array(2 * 1024 * 1024);
    large.set(bytesOf('"timestamp":"'), 2_000_003);
    expect(search.find(large, 0, large.length)).toBe(2_000_003);
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
