import { expect, test } from "vitest";
import { decodeRawText, getPathTo, getSiblings } from "../../../src/apps/page/model/session-model.ts";
import { NONE } from "../../../src/core/tree/entry-tree.ts";
import { makeModel, modelOfText, straight } from "./support/session.ts";

test("entries are connected as by the reader, in any order", () => {
  const model = makeModel([
    ["child", "root", "second"],
    ["root", null, "first"],
    ["other", "root", "third"],
    ["tip", "child", "fourth"],
  ]);
  const at = (id: string) => model.tree.find(id);
  expect(getPathTo(model, at("tip")).map((ordinal) => model.entryAt(ordinal)?.id)).toEqual([
    "root",
    "child",
    "tip",
  ]);
  expect(getSiblings(model, at("other"))).toEqual([at("child"), at("other")]);
  expect(model.newestTip[at("root")]).toBe(at("tip"));
  expect(model.newestTip[at("other")]).toBe(at("other"));
  expect(getPathTo(model, NONE)).toEqual([]);
});

test("the latest label and name count, and an empty one clears", () => {
  const model = makeModel([
    ["a", null, "one"],
    ["b", "a", { type: "label", targetId: "a", label: "first" }],
    ["c", "b", { type: "label", targetId: "a", label: "second" }],
    ["d", "c", { type: "label", targetId: "b", label: "gone" }],
    ["e", "d", { type: "label", targetId: "b" }],
    ["f", "e", { type: "session_info", name: " Till " }],
    ["g", "f", { type: "label", targetId: "nobody", label: "lost" }],
  ]);
  expect([...model.labels]).toEqual([[0, "second"]]);
  expect(model.name).toBe("Till");
});

test("walks a long line of entries without recursion", () => {
  const model = makeModel(straight(20_000));
  expect(getPathTo(model, model.leaf)).toHaveLength(20_000);
});

test("accepts names of object members as IDs", () => {
  const model = makeModel([
    ["__proto__", null, "a"],
    ["constructor", "__proto__", "b"],
    ["toString", "constructor", "c"],
  ]);
  expect(getPathTo(model, model.leaf)).toHaveLength(3);
});

test("reports damage with its bytes", () => {
  const good =
    '{"type":"session","version":3,"id":"s","timestamp":"2026-02-03T09:00:00.000Z","cwd":"/projects/till"}\n';
  const model = modelOfText(`${good}this is <b>no</b> record\n`);
  const [issue] = model.issues;
  expect(issue?.line).toBe(2);
  expect(issue && decodeRawText(model.bytes, issue)).toBe("this is <b>no</b> record");
});

test("data that is not a session gives an empty page, not an error", () => {
  for (const text of ["", "prose", "\u0000\u0000", "[]\n{}\n"]) {
    const model = modelOfText(text);
    expect(model.leaf).toBe(NONE);
    expect(model.size).toBe(0);
  }
});
