import { expect, test } from "vitest";
import { type Position, type Step, takeStep } from "../../../src/apps/page/model/navigation.ts";
import { formatHash, makeLinkTo, parseHash } from "../../../src/apps/page/ui/use-position.ts";
import { NONE } from "../../../src/core/tree/entry-tree.ts";
import { makeModel, said } from "./support/session.ts";

const model = makeModel([
  ["a", null, "first"],
  ["b", "a", said("assistant", "left")],
  ["c", "b", "left end"],
  ["d", "a", said("assistant", "right")],
  ["e", "d", "right middle"],
  ["f", "e", said("assistant", "right end")],
]);
const at = (id: string) => model.tree.find(id);
const idOf = (ordinal: number) => model.entryAt(ordinal)?.id ?? null;
const START: Position = { end: at("f"), focus: NONE, view: "path", asked: NONE, reveal: undefined };

/** Applies steps at the leaf; returns the IDs of the new end and focus. */
function after(...steps: Step[]): [end: string | null, focus: string | null] {
  const position = steps.reduce((before, step) => takeStep(model, before, step), START);
  return [idOf(position.end), idOf(position.focus)];
}

test("focuses an entry of the path, and shows the newest path of any other entry", () => {
  expect(after({ go: "entry", ordinal: at("d") })).toEqual(["f", "d"]);
  expect(after({ go: "entry", ordinal: at("b") })).toEqual(["c", "b"]);
  expect(after({ go: "end", ordinal: at("d") })).toEqual(["d", "d"]);
  expect(takeStep(model, { ...START, view: "usage" }, { go: "entry", ordinal: at("d") }).view).toBe("path");
  expect(takeStep(model, { ...START, view: "model" }, { go: "entry", ordinal: at("d") }).view).toBe("model");
});

test("steps begin at the first visible entry and stop at the ends", () => {
  const next: Step = { go: "by", direction: 1, from: at("d") };
  expect(after(next)).toEqual(["f", "d"]);
  expect(after(next, next)).toEqual(["f", "e"]);
  expect(after(next, next, next, next, next)).toEqual(["f", "f"]);
  const back: Step = { go: "by", direction: -1, from: at("a") };
  expect(after({ go: "last" }, back)).toEqual(["f", "e"]);
  expect(after({ go: "first" }, back)).toEqual(["f", "a"]);
});

test("steps from user message to user message skip other entries", () => {
  const back: Step = { go: "by", direction: -1, from: NONE, only: "user" };
  expect(after({ go: "last" }, back)).toEqual(["f", "e"]);
  expect(after({ go: "last" }, back, back)).toEqual(["f", "a"]);
  expect(after({ go: "first" }, { go: "by", direction: 1, from: NONE, only: "user" })).toEqual(["f", "e"]);
});

test("switches branches at the fork, and wraps around", () => {
  expect(after({ go: "branch", direction: 1 })).toEqual(["c", "b"]);
  expect(after({ go: "branch", direction: -1 }, { go: "branch", direction: -1 })).toEqual(["f", "d"]);
  const line = makeModel([["x", null, "alone"]]);
  const position: Position = { end: 0, focus: 0, view: "path", asked: NONE, reveal: undefined };
  expect(takeStep(line, position, { go: "branch", direction: 1 })).toBe(position);
});

test("what the model saw at an entry is a separate position, from which one can return to the whole path", () => {
  const context = takeStep(model, START, { go: "context", ordinal: at("d") });
  expect(context).toMatchObject({ end: at("a"), asked: at("d"), focus: at("a"), view: "model" });
  expect(takeStep(model, START, { go: "context", ordinal: at("e") })).toMatchObject({ end: at("e") });
  const whole = { end: at("f"), asked: NONE, focus: at("d"), view: "path" };
  expect(takeStep(model, context, { go: "whole" })).toMatchObject(whole);
  expect(takeStep(model, context, { go: "view", view: "path" })).toMatchObject(whole);
  // On another branch, the newest path there.
  expect(after({ go: "context", ordinal: at("b") }, { go: "whole" })).toEqual(["c", "b"]);
  // Usage in between loses nothing.
  const usage = takeStep(model, context, { go: "view", view: "usage" });
  expect(takeStep(model, usage, { go: "view", view: "model" })).toMatchObject({
    asked: at("d"),
    end: at("a"),
  });
  expect(takeStep(model, usage, { go: "whole" })).toMatchObject(whole);
  // Steps stay within what the model saw; an entry it did not see is shown on its own path.
  expect(takeStep(model, context, { go: "entry", ordinal: at("a") })).toMatchObject({
    asked: at("d"),
    view: "model",
  });
  expect(takeStep(model, context, { go: "entry", ordinal: at("e") })).toMatchObject({
    end: at("f"),
    asked: NONE,
    focus: at("e"),
    view: "path",
  });
  expect(takeStep(model, context, { go: "end", ordinal: at("f") })).toMatchObject({
    asked: NONE,
    view: "model",
  });
  expect(parseHash(model, formatHash(model, context), at("f"))).toMatchObject({
    ...context,
    reveal: { align: "start" },
  });
  expect(parseHash(model, "#saw=d", at("f"))).toMatchObject({ asked: NONE });
  expect(takeStep(model, { ...START, view: "model" }, { go: "whole" })).toMatchObject({
    end: at("f"),
    view: "path",
  });
});

test("an address restores the position that it was created for", () => {
  for (const view of ["path", "model", "usage"] as const) {
    for (const [end, focus] of [
      ["f", "e"],
      ["e", "d"],
      ["c", "a"],
      ["c", "b"],
      ["f", "a"],
    ] as const) {
      const position = { end: at(end), focus: at(focus), view, asked: NONE, reveal: undefined };
      const back = parseHash(model, formatHash(model, position), at("f"));
      expect(back, `${end} ${focus} ${view}`).toMatchObject({ end: at(end), focus: at(focus), view });
    }
  }
  expect(formatHash(model, START)).toBe("");
  expect(formatHash(model, { ...START, focus: at("e") })).toBe("#entry=e");
});

test("any ID has a link that opens its entry", () => {
  const ids = ["a b&c#d=%", "é🙂", "__proto__", "\ud800", "x\udc00"];
  const odd = makeModel(ids.map((id, i) => [id, ids[i - 1] ?? null, "said"]));
  for (const [ordinal, id] of ids.entries()) {
    const { focus } = parseHash(odd, makeLinkTo(id), NONE);
    // An address cannot contain half of a surrogate pair.
    expect(focus).toBe(/\p{Surrogate}/u.test(id) ? NONE : ordinal);
    expect(makeLinkTo(id)).toMatch(/^#entry=[\w%+.*-]+$/);
  }
});

test("the page ignores an address that it does not understand", () => {
  for (const hash of ["", "#", "#entry=nobody", "#end=nobody&view=none", "#%", "#entry=__proto__"]) {
    expect(parseHash(model, hash, at("f"))).toEqual(START);
  }
  // An end that does not follow the entry is ignored.
  expect(parseHash(model, "#entry=b&end=f", at("f"))).toMatchObject({ end: at("c"), focus: at("b") });
});

test("from usage next to what the model saw, opens an entry on the whole path, without that context", () => {
  const context = takeStep(model, START, { go: "context", ordinal: at("d") });
  const usage = takeStep(model, context, { go: "view", view: "usage" });
  const whole = { end: at("f"), asked: NONE, focus: at("a"), view: "path" };
  expect(takeStep(model, usage, { go: "entry", ordinal: at("a") })).toMatchObject(whole);
});

test("an address can contain the position before the first entry", () => {
  const rooted = makeModel([
    ["r", null, said("assistant", "a root")],
    ["s", "r", "then"],
  ]);
  const leaf = { end: 1, focus: NONE, view: "path", asked: NONE, reveal: undefined } as const;
  const context = takeStep(rooted, leaf, { go: "context", ordinal: 0 });
  expect(context).toMatchObject({ end: NONE, asked: 0 });
  expect(parseHash(rooted, formatHash(rooted, context), 1)).toMatchObject({
    end: NONE,
    asked: 0,
    view: "model",
  });
  expect(parseHash(rooted, "#entry=s&end=", 1)).toMatchObject({ end: 1, focus: 1 });
});
