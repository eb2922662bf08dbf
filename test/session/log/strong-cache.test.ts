import { describe, expect, it } from "vitest";
import type { AnySessionEntry } from "../../../src/core/format/entry.ts";
import { StrongCache } from "../../../src/session/log/entry-cache.ts";
import fc from "../../support/fast-check.ts";

const entry = (id: string): AnySessionEntry => ({ type: "custom", id, parentId: null, timestamp: "" });

/** Ordinals near each other, at the ends of pages, and far away. */
const ordinal = fc.oneof(fc.nat(5), fc.constantFrom(1023, 1024, 2047, 2048), fc.nat(3_000_000));
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ ordinal, bytes: fc.nat(1000) }) },
  { weight: 2, arbitrary: fc.constant("remove" as const) },
);

describe("KeptEntries", () => {
  it("returns added entries, releases them in the order of arrival, and counts bytes", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const kept = new StrongCache();
        const there = new Map<number, AnySessionEntry>();
        const arrivals: { ordinal: number; bytes: number }[] = [];
        for (const [i, one] of steps.entries()) {
          if (one === "remove") {
            const oldest = arrivals.shift();
            const expected = oldest === undefined ? undefined : there.get(oldest.ordinal);
            expect(kept.removeOldest()?.entry).toBe(expected);
            if (oldest !== undefined) there.delete(oldest.ordinal);
          } else {
            kept.add(one.ordinal, entry(String(i)), one.bytes);
            const added = kept.get(one.ordinal);
            expect(added?.id).toBe(String(i));
            if (added !== undefined) there.set(one.ordinal, added);
            arrivals.push(one);
          }
          expect(kept.count).toBe(arrivals.length);
          expect(kept.size).toBe(arrivals.reduce((sum, { bytes }) => sum + bytes, 0));
        }
        expect([...kept]).toEqual([...there].sort(([a], [b]) => a - b));
        for (const [at, one] of there) expect(kept.get(at)).toBe(one);
      }),
      { numRuns: 500 },
    );
  });

  it("replaces an entry by another, which is released at the same time", () => {
    const kept = new StrongCache();
    kept.add(7, entry("a"), 1);
    kept.add(8, entry("b"), 1);
    const other = entry("c");
    kept.replace(7, other);
    expect(kept.get(7)).toBe(other);
    expect(kept.count).toBe(2);
    expect(kept.removeOldest()).toEqual({ ordinal: 7, entry: other });
    expect(kept.get(7)).toBeUndefined();
  });

  it("accepts any number of entries", () => {
    const kept = new StrongCache();
    for (let i = 0; i < 20_000; i++) {
      kept.add(i, entry(String(i)), 3);
      if (i >= 10) expect(kept.removeOldest()?.ordinal).toBe(i - 10);
    }
    expect(kept.size).toBe(30);
    expect([...kept].map(([at]) => at)).toEqual(Array.from({ length: 10 }, (_, i) => 19_990 + i));
    while (kept.count > 0) kept.removeOldest();
    expect(kept.removeOldest()).toBeUndefined();
    expect(kept.size).toBe(0);
  });
});
