import { describe, expect, it } from "vitest";
import { type Column, withRoom } from "../../../src/core/tree/columns.ts";

describe("withRoom", () => {
  it("returns the same column while it is large enough", () => {
    const column = new Int32Array(3);
    expect(withRoom(column, 0)).toBe(column);
    expect(withRoom(column, 3)).toBe(column);
  });

  it("keeps the values and the kind of column, and fills the new part with zeros", () => {
    const columns: Column[] = [
      Float64Array.of(0.5, Number.NaN),
      Int32Array.of(-1, 2),
      Uint32Array.of(0xffffffff, 2),
    ];
    for (const column of columns) {
      const larger = withRoom(column, 3);
      expect(Object.getPrototypeOf(larger)).toBe(Object.getPrototypeOf(column));
      expect(Array.from(larger.subarray(0, 3))).toEqual([...column, 0]);
    }
  });

  it("allocates the requested room at once", () => {
    expect(withRoom(new Int32Array(0), 1_000_001).length).toBeGreaterThanOrEqual(1_000_001);
  });

  it("copies so rarely that n pushes cost O(n)", () => {
    let column = new Int32Array(0);
    let copied = 0;
    for (let size = 1; size <= 100_000; size++) {
      const larger = withRoom(column, size);
      if (larger !== column) copied += column.length;
      column = larger;
      column[size - 1] = size;
    }
    expect(copied).toBeLessThan(200_000);
    expect(column.subarray(0, 100_000).every((value, i) => value === i + 1)).toBe(true);
  });
});
