import { expect, test, vi } from "vitest";
import { type Position, takeStep } from "../../../src/apps/page/model/navigation.ts";
import {
  countHiddenRecords,
  findShownEnd,
  listShownItems,
} from "../../../src/apps/page/model/shown-items.ts";
import { chooseForDetail, makePageTreeRows } from "../../../src/apps/page/model/tree-rows.ts";
import { formatHash, parseHash } from "../../../src/apps/page/ui/use-position.ts";
import { findTrunk } from "../../../src/apps/text/tree-rows.ts";
import { NONE } from "../../../src/core/tree/entry-tree.ts";
import { type Line, makeModel, said } from "./support/session.ts";

const state = { type: "custom", customType: "todo", data: { open: 1 } };

/** Records at both ends, between messages, with a label, and at a fork. */
const LINES: Line[] = [
  ["a", null, state],
  ["b", "a", "ask"],
  ["c", "b", state],
  ["d", "c", { type: "label", targetId: "e", label: "kept" }],
  ["e", "d", state],
  ["f", "e", said("assistant", "answer")],
  ["g", "f", state],
  ["h", "f", "again"],
  ["i", "h", { type: "usage", usage: {} }],
];
const model = makeModel(LINES);
const at = (id: string) => model.tree.find(id);
const items = Array.from(model.tree.path(at("i")), (ordinal) => ({ ordinal }));
const idsOf = (some: readonly { ordinal: number }[]) =>
  some.map(({ ordinal }) => model.tree.idAt(ordinal)).join("");

test("hides records unless they have a label, or are linked or requested", () => {
  expect(idsOf(listShownItems(model, items, {}))).toBe("befh");
  expect(idsOf(listShownItems(model, items, { revealed: new Set([at("c")]) }))).toBe("bcefh");
  expect(idsOf(listShownItems(model, items, { areRecordsShown: true }))).toBe("abcdefhi");
  expect(countHiddenRecords(model)).toBe(4);
});

test("counting hidden records reads at most two children per parent", () => {
  const records = Array.from({ length: 100 }, (_, i): Line => [`r${i}`, "a", state]);
  const star = makeModel([["a", null, "ask"], ...records]);
  const children = star.tree.children.bind(star.tree);
  let read = 0;
  vi.spyOn(star.tree, "children").mockImplementation(function* (ordinal) {
    for (const child of children(ordinal)) {
      read++;
      yield child;
    }
  });
  expect(countHiddenRecords(star)).toBe(0);
  expect(read).toBeGreaterThan(records.length);
  expect(read).toBeLessThanOrEqual(2 * star.size);
});

test("returns the same array if everything is shown", () => {
  const shown = listShownItems(model, items, {});
  expect(listShownItems(model, shown, {})).toBe(shown);
});

test("a path that ends in records ends before them for the reader", () => {
  expect(findShownEnd(model, at("i"), {})).toBe(at("h"));
  expect(findShownEnd(model, at("i"), { areRecordsShown: true })).toBe(at("i"));
  expect(findShownEnd(model, at("a"), {})).toBe(NONE);
});

const START: Position = { end: at("i"), focus: NONE, view: "path", asked: NONE, reveal: undefined };

test("keys skip hidden records, and only the step for records shows or hides them", () => {
  const first = takeStep(model, START, { go: "first" });
  expect(first.focus).toBe(at("b"));
  expect(takeStep(model, first, { go: "by", direction: 1, from: NONE }).focus).toBe(at("e"));
  expect(takeStep(model, START, { go: "last" }).focus).toBe(at("h"));
  expect(takeStep(model, START, { go: "end", ordinal: at("i") })).toMatchObject({
    end: at("i"),
    focus: at("h"),
  });
  const all = takeStep(model, first, { go: "records", areShown: true });
  expect(takeStep(model, all, { go: "by", direction: 1, from: NONE }).focus).toBe(at("c"));
  expect(takeStep(model, all, { go: "context", ordinal: at("f") }).areRecordsShown).toBe(true);
});

test("an address records that records are shown", () => {
  expect(formatHash(model, { ...START, areRecordsShown: true })).toBe("#records=shown");
  expect(parseHash(model, "#records=shown", at("i")).areRecordsShown).toBe(true);
  expect(formatHash(model, START)).toBe("");
});

test("the tree omits hidden records, and still begins and ends its lines", () => {
  const trunk = findTrunk(model.tree, model.leaf);
  const draw = (areShown: boolean) =>
    makePageTreeRows(model, trunk, chooseForDetail(model, trunk, "all"), new Set(), areShown).map(
      ({ ordinal, start, goesOn }) => `${model.tree.idAt(ordinal)} ${start ?? "on"} ${goesOn}`,
    );
  expect(draw(false)).toEqual(["b root true", "e on true", "f on true", "g branch false", "h on false"]);
  expect(draw(true)).toHaveLength(LINES.length);
});

test("a run below a hidden root begins the tree", () => {
  const lines: Line[] = [["r", null, state]];
  for (let turn = 0; turn < 8; turn++)
    lines.push([`t${turn}`, lines.at(-1)?.[0] ?? null, said("assistant", "x")]);
  const line = makeModel(lines);
  const trunk = findTrunk(line.tree, line.leaf);
  const rows = makePageTreeRows(line, trunk, chooseForDetail(line, trunk, "branches"), new Set(), false);
  expect(rows.map(({ ordinal, start, run }) => [line.tree.idAt(ordinal), start, run.length])).toEqual([
    ["t0", "root", 6],
    ["t7", undefined, 0],
  ]);
});
