import { expect, test } from "vitest";
import { chooseEarlyEntries } from "../../../src/apps/page/model/early-entries.ts";
import { makeModel, straight } from "./support/session.ts";

const { tree, leaf: storedLeaf } = makeModel(straight(2_000));

const isChosen = (chosen: readonly number[], ...ordinals: number[]) =>
  ordinals.map((ordinal) => chosen.includes(ordinal));

test("chooses both ends of the path, and the entries around the one in the address", () => {
  const plain = chooseEarlyEntries({ tree, storedLeaf }, undefined, "");
  expect(plain.length).toBeLessThan(400);
  expect(isChosen(plain, 0, 100, 1_000, 1_900, 1_999)).toEqual([true, true, false, true, true]);
  const linked = chooseEarlyEntries({ tree, storedLeaf }, undefined, "#entry=e1000");
  expect(isChosen(linked, 0, 940, 1_000, 1_060)).toEqual([true, true, true, true]);
  const ended = chooseEarlyEntries({ tree, storedLeaf }, "e1200", "#end=e500&entry=gone");
  expect(isChosen(ended, 0, 499, 1_199, 1_900)).toEqual([true, true, true, false]);
  expect([...ended].sort((a, b) => a - b)).toEqual(ended);
});

test("chooses every entry of a short path, and none of an empty session", () => {
  const short = makeModel(straight(3));
  const read = { tree: short.tree, storedLeaf: short.leaf };
  expect(chooseEarlyEntries(read, undefined, "#entry=e1")).toEqual([0, 1, 2]);
  const empty = makeModel([]);
  expect(chooseEarlyEntries({ tree: empty.tree, storedLeaf: empty.leaf }, undefined, "#entry=x")).toEqual([]);
});
