import { expect, test } from "vitest";
import { formatBranchName, formatPlace } from "../../../src/apps/page/model/session-model.ts";
import { NONE } from "../../../src/core/tree/entry-tree.ts";
import { makeModel } from "./support/session.ts";

test("a branch is the current one, or is identified by its last entry", () => {
  const model = makeModel([
    ["a", null, "first"],
    ["b", "a", "second"],
  ]);
  expect(formatBranchName(model, model.leaf)).toBe("current branch");
  expect(formatBranchName(model, model.tree.find("a"))).toBe("branch to entry a");
  expect(formatBranchName(model, NONE)).toBe("start of the session");
  expect(formatPlace(model, model.tree.find("a"))).toBe("on the branch to entry a");
  expect(formatPlace(model, NONE)).toBe("before the first entry");
});
