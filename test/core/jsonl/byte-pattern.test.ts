import { describe, expect, it } from "vitest";
import { BytePattern } from "../../../src/core/jsonl/byte-pattern.ts";
import fc from "../../support/fast-check.ts";
import { getMinimum } from "../../support/share.ts";

/** Result of `find`, by comparing every byte at every position. */
function firstPlain(classes: readonly number[][], bytes: Uint8Array, from: number, end: number): number {
  for (let at = from; at + classes.length <= end; at++) {
    if (classes.every((those, i) => those.includes(bytes[at + i] ?? -1))) return at;
  }
  return -1;
}

const few = fc.constantFrom(0x61, 0x62, 0x41, 0xff);
const classes = fc.array(fc.uniqueArray(few, { minLength: 1, maxLength: 2 }), {
  minLength: 1,
  maxLength: 32,
});

describe("BytePattern", () => {
  it("finds the same as a plain search, in short and long ranges that begin anywhere", () => {
    let found = 0;
    fc.assert(
      fc.property(
        classes,
        // By default, fast-check makes arrays of about ten elements, whatever their maximum length.
        fc.array(few, { maxLength: 400, size: "max" }),
        fc.nat({ max: 400 }),
        fc.nat({ max: 40 }),
        fc.nat({ max: 3 }),
        fc.nat(),
        (pattern, noise, place, from, shift, pick) => {
          const match = pattern.map((those) => those[pick % those.length] ?? 0);
          const all = Uint8Array.from([...noise.slice(0, place), ...match, ...noise.slice(place)]);
          const bytes = new Uint8Array(all.length + shift).subarray(shift);
          bytes.set(all);
          const end = all.length - (pick % 5);
          const expected = firstPlain(pattern, bytes, from, end);
          if (expected !== -1) found++;
          expect(new BytePattern(pattern).find(bytes, from, end)).toBe(expected);
        },
      ),
      { numRuns: 3000 },
    );
    expect(found).toBeGreaterThan(getMinimum(1000));
  });

  it("finds further matches in the same bytes, and none after the end", () => {
    const bytes = new TextEncoder().encode(`${"x".repeat(301)}needle in hay${"y".repeat(333)}needle in hay`);
    const pattern = BytePattern.of("needle in hay");
    expect(pattern.find(bytes, 0, bytes.length)).toBe(301);
    expect(pattern.find(bytes, 302, bytes.length)).toBe(301 + 13 + 333);
    expect(pattern.find(bytes, 302, bytes.length - 1)).toBe(-1);
  });

  it("searches one buffer after the other, large ones among them", () => {
    const pattern = BytePattern.of('"timestamp":"');
    const first = new TextEncoder().encode('........"timestamp":"');
    const large = new Uint8Array(2 * 1024 * 1024);
    large.set(new TextEncoder().encode('"timestamp":"'), 2_000_003);
    const all = [first, Uint8Array.of(0x2e), first, large, first];
    expect(all.map((bytes) => pattern.find(bytes, 0, bytes.length))).toEqual([8, -1, 8, 2_000_003, 8]);
  });

  it("counts bytes, not characters", () => {
    const pattern = BytePattern.of("é\u2028");
    expect(pattern.length).toBe(5);
    expect(pattern.find(new TextEncoder().encode("ßé\u2028"), 0, 7)).toBe(2);
  });

  it.each([0, 33])("rejects a pattern of %i positions", (length) => {
    expect(() => new BytePattern(Array.from({ length }, () => [0x61]))).toThrow(RangeError);
  });
});
