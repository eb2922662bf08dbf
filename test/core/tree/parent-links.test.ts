import { describe, expect, it } from "vitest";
import { findCycleBreaks } from "../../../src/core/tree/parent-links.ts";
import fc from "../../support/fast-check.ts";

const breaksOf = (...parents: number[]) => findCycleBreaks(Int32Array.from(parents), parents.length);

/** Returns the first member of each cycle, by walking from every entry for the number of entries. */
function plainBreaks(parents: readonly number[]): number[] {
  return parents.flatMap((parent, start) => {
    const members = [start];
    let at = parent;
    for (; at >= 0 && at !== start && members.length <= parents.length; at = parents[at] ?? -1)
      members.push(at);
    return at === start && Math.min(...members) === start ? [start] : [];
  });
}

describe("cycleBreaks", () => {
  it("finds nothing in a forest", () => {
    expect(breaksOf()).toEqual([]);
    expect(breaksOf(-1, 0, 0, 2, -1, 4)).toEqual([]);
    expect(breaksOf(3, 0, 1, -1)).toEqual([]);
  });

  it("breaks a self-parent and a ring at their first entry", () => {
    expect(breaksOf(-1, 1)).toEqual([1]);
    expect(breaksOf(-1, 3, 1, 2)).toEqual([1]);
  });

  it("breaks the ring and not the tail that leads into it, even if the tail is first", () => {
    expect(breaksOf(2, 3, 1, 2)).toEqual([1]);
  });

  it("checks only the given number of links", () => {
    expect(findCycleBreaks(Int32Array.of(-1, 0, 2), 2)).toEqual([]);
  });

  it("agrees with a plain search on any links", () => {
    const links = fc
      .integer({ min: 1, max: 30 })
      .chain((size) =>
        fc.array(fc.integer({ min: -1, max: size - 1 }), { minLength: size, maxLength: size }),
      );
    fc.assert(
      fc.property(links, (parents) => {
        expect(breaksOf(...parents).sort((a, b) => a - b)).toEqual(plainBreaks(parents));
      }),
    );
  });

  it("handles a ring and a path of 200,000 entries", () => {
    const size = 200_000;
    const ring = Int32Array.from({ length: size }, (_, i) => (i + 1) % size);
    expect(findCycleBreaks(ring, size)).toEqual([0]);
    ring[size - 1] = -1;
    expect(findCycleBreaks(ring, size)).toEqual([]);
  });
});
