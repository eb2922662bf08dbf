import { expect, test } from "vitest";
import { formatEndName } from "../../../src/apps/page/model/session-model.ts";
import { NONE } from "../../../src/core/tree/entry-tree.ts";
import { makeModel } from "./support/session.ts";

test("the end of a path is the leaf, an entry by its id, or the start", () => {
  const model = makeModel([
    ["a", null, "first"],
    ["b", "a", "second"],
  ]);
  expect(formatEndName(model, model.leaf)).toBe("the leaf");
  expect(formatEndName(model, model.tree.find("a"))).toBe("entry a");
  expect(formatEndName(model, NONE)).toBe("the start");
});
