import { expect, it, vi } from "vitest";
import { addTo, getOrAdd, groupBy } from "../../../src/core/format/group-by.ts";

it("makes a value once for each key, also in a weak map", () => {
  const make = vi.fn(() => 0);
  const values = new Map<string, number>();
  expect([getOrAdd(values, "a", make), getOrAdd(values, "a", make), getOrAdd(values, "b", make)]).toEqual([
    0, 0, 0,
  ]);
  expect(make).toHaveBeenCalledTimes(2);
  expect([...values.keys()]).toEqual(["a", "b"]);
  const key = {};
  const weak = new WeakMap<object, string>();
  expect([getOrAdd(weak, key, () => "first"), getOrAdd(weak, key, () => "second")]).toEqual([
    "first",
    "first",
  ]);
});

it("groups values in the order in which their keys first occur", () => {
  const groups = groupBy([3, 1, 5, 2], (value) => value % 2);
  addTo(groups, 0, 4);
  expect([...groups]).toEqual([
    [1, [3, 1, 5]],
    [0, [2, 4]],
  ]);
});
