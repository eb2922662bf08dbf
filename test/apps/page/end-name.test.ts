import { expect, test } from "vitest";
import { endName } from "../../../src/apps/page/model/session-model.ts";
import { NONE } from "../../../src/core/tree/entry-tree.ts";
import { modelOf } from "./support/session.ts";

test("the end of a path is the leaf, an entry by its id, or the start", () => {
  const model = modelOf([
    ["a", null, "first"],
    ["b", "a", "second"],
  ]);
  expect(endName(model, model.leaf)).toBe("the leaf");
  expect(endName(model, model.tree.find("a"))).toBe("entry a");
  expect(endName(model, NONE)).toBe("the start");
});
