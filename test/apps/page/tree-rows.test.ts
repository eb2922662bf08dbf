import { expect, test } from "vitest";
import type { SessionModel } from "../../../src/apps/page/model/session-model.ts";
import {
  chooseDetail,
  chooseForDetail,
  makePageTreeRows,
  type TreeDetail,
} from "../../../src/apps/page/model/tree-rows.ts";
import { DEEPEST, findTrunk } from "../../../src/apps/text/tree-rows.ts";
import { type Line, makeModel, said, straight } from "./support/session.ts";

/** Draws the tree as text: two spaces per depth, `/` where a branch begins, `+n` for a run. */
function drawn(model: SessionModel, detail: TreeDetail, open: ReadonlySet<number> = new Set()): string[] {
  const trunk = findTrunk(model.tree, model.leaf);
  return makePageTreeRows(model, trunk, chooseForDetail(model, trunk, detail), open, true).map(
    ({ ordinal, depth, start, run }) => {
      const id = model.entryAt(ordinal)?.id ?? "?";
      return `${"  ".repeat(depth)}${start === "branch" ? "/" : ""}${id}${run.length > 0 ? ` +${run.length}` : ""}`;
    },
  );
}

test("side branches are first and indented, and the path to the leaf stays straight", () => {
  const model = makeModel([
    ["a", null, "1"],
    ["b", "a", "2"],
    ["c", "b", "3"],
    ["d", "a", "4"],
    ["e", "d", "5"],
    ["f", "d", "6"],
  ]);
  expect(drawn(model, "all")).toEqual(["a", "  /b", "  c", "d", "  /e", "f"]);
});

test("each row has the lines that pass it, with their targets", () => {
  const model = makeModel([
    ["a", null, "1"],
    ["b", "a", "2"],
    ["c", "b", "3"],
    ["d", "b", "4"],
    ["e", "a", "5"],
  ]);
  const trunk = findTrunk(model.tree, model.leaf);
  const rows = makePageTreeRows(model, trunk, chooseForDetail(model, trunk, "all"), new Set(), true);
  const leads = rows.map(({ passing }) =>
    passing.map(({ to, from }) => to.slice(from).map((at) => model.entryAt(at)?.id)),
  );
  expect(drawn(model, "all")).toEqual(["a", "  /b", "    /c", "  d", "e"]);
  expect(leads).toEqual([[], [["e"]], [["e"], ["d"]], [["e"]], []]);
});

test("draws each of several roots from the left", () => {
  const model = makeModel([
    ["a", null, "1"],
    ["b", null, "2"],
    ["c", "b", "3"],
  ]);
  expect(drawn(model, "all")).toEqual(["a", "b", "c"]);
});

test("folds long straight runs, which can be opened", () => {
  const lines: Line[] = straight(100, "toolResult");
  const model = makeModel([...lines, ["x", "e50", "a branch"], ["y", "x", said("assistant", [])]]);
  expect(drawn(model, "branches")).toEqual(["e0 +49", "e50", "  /e51 +47", "  e99", "x", "y"]);
  const opened = drawn(model, "branches", new Set([0]));
  expect(opened).toHaveLength(6 + 49);
  expect(opened[0]).toBe("e0 +49");
  expect(opened[1]).toBe("e1");
});

test("labels, summaries, damage, and the leaf have their own rows", () => {
  const lines: Line[] = straight(60, "toolResult");
  lines[20] = ["e20", "e19", { type: "compaction", summary: "s", firstKeptEntryId: "e19", tokensBefore: 1 }];
  lines[40] = ["e40", "e39", { message: "none" }];
  lines[59] = ["e59", "e58", { type: "label", targetId: "e30", label: "here" }];
  expect(drawn(makeModel(lines), "branches").map((row) => row.split(" ")[0])).toEqual([
    "e0",
    "e20",
    "e30",
    "e40",
    "e58",
    "e59",
  ]);
});

test("the number of rows drawn at first depends on the size", () => {
  expect(chooseDetail(makeModel(straight(10)))).toBe("all");
  expect(chooseDetail(makeModel(straight(100)))).toBe("turns");
  expect(chooseDetail(makeModel(straight(1000)))).toBe("branches");
  expect(drawn(makeModel(straight(1000)), "branches")).toEqual(["e0 +998", "e999"]);
  expect(drawn(makeModel(straight(100)), "turns")).toHaveLength(100);
});

test("every entry is drawn or in a run, once, in trees of any shape", () => {
  let state = 7;
  const below = (limit: number) => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return state % limit;
  };
  const lines = Array.from({ length: 400 }, (_, index): Line => {
    const parent = index === 0 || below(50) === 0 ? null : `e${index - 1 - below(Math.min(index, 5))}`;
    return [`e${index}`, parent, said(below(3) === 0 ? "user" : "toolResult", "x")];
  });
  const model = makeModel(lines);
  const trunk = findTrunk(model.tree, model.leaf);
  for (const detail of ["branches", "turns", "all"] as const) {
    const rows = makePageTreeRows(model, trunk, chooseForDetail(model, trunk, detail), new Set(), true);
    const all = rows.flatMap(({ ordinal, run }) => [ordinal, ...run]);
    expect(all.toSorted((a, b) => a - b)).toEqual([...model.tree.ordinals()]);
    expect(rows.every(({ depth, passing }) => passing.length === Math.min(depth, DEEPEST))).toBe(true);
  }
});

test("nested forks of any depth need memory in proportion to their entries", () => {
  const size = 3000;
  const trunk = straight(size);
  // Newer tips branch off closer to the root, so each entry has the rest as a side branch.
  const tips = trunk.map(([id], index): Line => [`x${index}`, id, "a tip"]).reverse();
  const model = makeModel([...trunk, ...tips]);
  const line = findTrunk(model.tree, model.leaf);
  const rows = makePageTreeRows(model, line, chooseForDetail(model, line, "all"), new Set(), true);
  expect(rows).toHaveLength(2 * size);
  expect(Math.max(...rows.map(({ depth }) => depth))).toBe(size - 1);
  expect(Math.max(...rows.map(({ passing }) => passing.length))).toBe(DEEPEST);
});
