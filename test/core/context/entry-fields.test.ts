import { expect, test } from "vitest";
import { toCount, toNumber } from "../../../src/core/context/entry-fields.ts";

test("reads numbers whose sums are finite, and others as 0", () => {
  const values = [
    3,
    -3,
    0.5,
    Number.MAX_SAFE_INTEGER,
    1e308,
    -1e308,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    "3",
  ];
  expect(values.map(toNumber)).toEqual([3, -3, 0.5, Number.MAX_SAFE_INTEGER, 0, 0, 0, 0, 0]);
  expect(values.map(toCount)).toEqual([3, 0, 0.5, Number.MAX_SAFE_INTEGER, 0, 0, 0, 0, 0]);
});
