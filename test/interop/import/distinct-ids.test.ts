import { expect, test } from "vitest";
import { DistinctIds } from "../../../src/interop/import/distinct-ids.ts";

test("numbers repeated ids, even if an id looks like a numbered one", () => {
  const ids = new DistinctIds();
  expect(["a", "a_2", "a", "a", "a_2", "b"].map((id) => ids.take(id))).toEqual([
    "a",
    "a_2",
    "a_3",
    "a_4",
    "a_2_2",
    "b",
  ]);
});
