import { expect, test } from "vitest";
import { findChangedFiles } from "../../../src/apps/page/model/file-changes.ts";
import { getPathTo } from "../../../src/apps/page/model/session-model.ts";
import { findStretches, getTookMs, PathTurns } from "../../../src/apps/page/model/turns.ts";
import { type Line, makeModel, said } from "./support/session.ts";

const at = (seconds: number) => ({ timestamp: new Date(1_770_000_000_000 + seconds * 1000).toISOString() });
const usage = (total: number) => ({ usage: { input: 1, output: 1, cost: { total } } });
const call = (id: string, name: string, input: object) => ({ type: "toolCall", id, name, arguments: input });

/** A session of two turns, with a failed tool. */
function timed(times: readonly number[]) {
  const bodies = [
    said("user", "go"),
    said("assistant", [call("1", "bash", {}), call("2", "bash", {})], usage(0.5)),
    said("toolResult", [], { toolCallId: "1" }),
    said("toolResult", [], { toolCallId: "2", isError: true }),
    said("assistant", "done", usage(0.25)),
    { type: "session_info", name: "later" },
    said("user", "again"),
    said("assistant", "no", {}),
  ];
  const ids = "abcdefgh";
  return makeModel(
    bodies.map(
      (body, index): Line => [
        ids[index] ?? "",
        ids[index - 1] ?? null,
        { ...body, ...at(times[index] ?? 0) },
      ],
    ),
  );
}

test("a turn has cost and duration, without records appended later", () => {
  const model = timed([0, 10, 12, 15, 20, 5000, 6000, 6001]);
  const path = getPathTo(model, model.leaf);
  const turns = new PathTurns(model, path);
  const told = path.flatMap((ordinal) => {
    const turn = turns.get(ordinal);
    return turn === undefined ? [] : [[ordinal, turn.used.calls, turn.used.cost, turn.milliseconds]];
  });
  // A turn without usage has no numbers.
  expect(told).toEqual([[0, 2, 0.75, 20_000]]);
});

test("the time of an answer counts from the previous entry, a result's from its call; without timestamps it is unknown", () => {
  const model = timed([0, 10, 12, 15, 20, 5000, 6000, 6001]);
  expect(Array.from({ length: 8 }, (_, ordinal) => getTookMs(model, ordinal))).toEqual([
    undefined,
    10_000,
    2000,
    5000,
    5000,
    undefined,
    undefined,
    1000,
  ]);
  const still = timed([]);
  expect(Array.from({ length: 8 }, (_, ordinal) => getTookMs(still, ordinal))).toEqual(
    Array(8).fill(undefined),
  );
  expect(findStretches(still, getPathTo(still, still.leaf))).toEqual([]);
});

test("divides the time of a path among models and tools, and merges some of very many stretches", () => {
  const model = timed([0, 10, 12, 15, 20, 5000, 6000, 6001]);
  const path = getPathTo(model, model.leaf);
  expect(findStretches(model, path).map(({ kind, milliseconds }) => [kind, milliseconds])).toEqual([
    ["model", 10_000],
    ["tool", 2000],
    ["failed", 3000],
    ["model", 5000],
    ["model", 1000],
  ]);
  const long = makeModel(
    Array.from({ length: 900 }, (_, index): Line => {
      const body = said("assistant", "a", index === 450 ? { stopReason: "error" } : {});
      return [`e${index}`, index === 0 ? null : `e${index - 1}`, { ...body, ...at(index) }];
    }),
  );
  const stretches = findStretches(long, getPathTo(long, long.leaf));
  expect(stretches.length).toBeLessThanOrEqual(300);
  expect(stretches.reduce((sum, { milliseconds }) => sum + milliseconds, 0)).toBe(899_000);
  expect(stretches.filter(({ kind }) => kind === "failed").map(({ ordinal }) => ordinal)).toEqual([450]);
});

test("lists changed files with their changes in order, including failed ones and patches", () => {
  const patch =
    "*** Begin Patch\n*** Update File: a.ts\n@@\n-old\n+new\n*** Add File: b.ts\n+one\n*** End Patch\n";
  const model = makeModel([
    ["a", null, "go"],
    ["b", "a", said("assistant", [call("1", "edit", { path: "a.ts", oldText: "x", newText: "y" })])],
    ["c", "b", said("toolResult", [], { toolCallId: "1", isError: true })],
    [
      "d",
      "c",
      said("assistant", [
        call("2", "read", { path: "r.ts" }),
        call("3", "write", { path: "w.ts", content: "1\n2\n" }),
      ]),
    ],
    ["e", "d", said("toolResult", [], { toolCallId: "3" })],
    ["f", "e", said("assistant", [call("4", "apply_patch", { input: patch })])],
    ["g", "f", said("assistant", [call("5", "edit", { path: "w.ts" })])],
  ]);
  const shown = findChangedFiles(model, getPathTo(model, model.leaf)).map(({ path, changes }) => [
    path,
    changes.map(({ tool, result, hasFailed, edits }) => [
      tool,
      result,
      hasFailed,
      edits.map((lines) => lines.map(({ sign, text }) => sign + text)),
    ]),
  ]);
  expect(shown).toEqual([
    [
      "a.ts",
      [
        ["edit", 2, true, [["-x", "+y"]]],
        ["apply_patch", undefined, false, [["-old", "+new"]]],
      ],
    ],
    [
      "w.ts",
      [
        ["write", 4, false, [["+1", "+2"]]],
        ["edit", undefined, false, []],
      ],
    ],
    ["b.ts", [["apply_patch", undefined, false, [["+one"]]]]],
  ]);
});
