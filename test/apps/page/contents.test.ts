import { expect, test } from "vitest";
import { findEdits } from "../../../src/apps/page/model/file-changes.ts";
import { formatTokens, roundValues } from "../../../src/apps/page/model/format.ts";
import { cutSnippet, readQuery } from "../../../src/apps/page/model/search.ts";
import type { SessionModel } from "../../../src/apps/page/model/session-model.ts";
import {
  type CallOrder,
  cacheShare,
  getUsage,
  groupCalls,
  type ModelCall,
  orderCalls,
  sumCosts,
} from "../../../src/apps/page/model/usage.ts";
import { getEntryContent } from "../../../src/core/facts/entry-content.ts";
import { getExcerpt } from "../../../src/core/facts/excerpt.ts";
import { toImageAddress } from "../../../src/core/facts/images.ts";
import { formatDollars, roundDollars } from "../../../src/core/facts/number-text.ts";
import { formatDuration } from "../../../src/core/facts/times.ts";
import { makeEmptySpent, sumSpent } from "../../../src/core/facts/usage-tally.ts";
import { getEntries, type Line, makeModel, said, searchModel } from "./support/session.ts";

const snippetsIn = (model: SessionModel, text: string) =>
  searchModel(model, text).map((hit) => cutSnippet(model, hit));

/** Values of a wrong type for most fields. */
const ODD = [
  null,
  undefined,
  0,
  -1,
  true,
  "",
  "text",
  [],
  [null],
  [[]],
  {},
  { type: "text" },
  { type: 5 },
  [{ type: "toolCall" }],
];

test("shows something and throws nothing, whatever an entry's fields contain", () => {
  const types = [
    "message",
    "custom_message",
    "compaction",
    "branch_summary",
    "custom",
    "context_edit",
    "usage",
    "label",
    "new",
  ];
  const roles = [
    "user",
    "assistant",
    "toolResult",
    "bashExecution",
    "system",
    "custom",
    "branchSummary",
    "else",
  ];
  const entries = types.flatMap((type) =>
    ODD.flatMap((odd) =>
      [
        { summary: odd, content: odd, data: odd, replacement: odd, usage: odd, details: odd, label: odd },
        ...roles.map((role) => ({
          message: {
            role,
            content: odd,
            command: odd,
            sections: odd,
            toolsAdded: odd,
            errorMessage: odd,
            stopReason: odd,
          },
        })),
      ].map((fields) => ({ type, id: "a", parentId: null, timestamp: "", ...fields })),
    ),
  );
  for (const entry of entries) {
    expect(Array.isArray(getEntryContent(entry).parts)).toBe(true);
    expect(getExcerpt(entry).text).toBeTypeOf("string");
  }
});

test("an excerpt of an answer without text shows its calls, how it ended, or its thinking", () => {
  const call = { type: "toolCall", name: "bash", arguments: { command: "ls" } };
  const thinking = { type: "thinking", thinking: "Hm." };
  const excerpt = (content: readonly unknown[], stopReason: string) =>
    getExcerpt({
      type: "message",
      id: "a",
      parentId: null,
      timestamp: "",
      message: { role: "assistant", content, stopReason },
    }).text;
  expect(excerpt([thinking, call], "toolUse")).toBe("→ bash ls");
  expect(excerpt([thinking], "stop")).toBe("(thinking)");
  expect(excerpt([], "aborted")).toBe("(aborted)");
  expect(excerpt([], "stop")).toBe("");
});

test("shows only raster images", () => {
  const shown = (mimeType: unknown, data: unknown) => {
    const entry = makeModel([["a", null, said("user", [{ type: "image", mimeType, data }])]]).entryAt(0);
    const parts = getEntryContent(entry).parts;
    return parts.map((part) => part.kind === "image" && toImageAddress(part) !== undefined);
  };
  for (const data of ["AAAA", "AAA=", "AA==", "AAA", "AA\r\nAA"])
    expect(shown("image/png", data)).toEqual([true]);
  for (const [type, data] of [
    ["image/svg+xml", "AAAA"],
    ["text/html", "AAAA"],
    ['image/png" onerror="x', "AAAA"],
    ["image/png", 'AA" onerror="x'],
    ["image/png", ""],
    ["image/png", "AAAAA"],
    ["image/png", "AA=A"],
    ["image/png", "[image removed]"],
    [5, "AAAA"],
    ["image/png", ["AAAA"]],
  ]) {
    expect(shown(type, data), String(type)).toEqual([false]);
  }
});

test("shows the diff of one or several edits, whatever a tool's arguments are called", () => {
  const signs = (given: unknown) =>
    findEdits(given).map((lines) => lines.map(({ sign, text }) => sign + text));
  expect(signs({ path: "a", oldText: "x\ny", newText: "x\nz" })).toEqual([[" x", "-y", "+z"]]);
  expect(signs({ old_string: "a", new_string: "" })).toEqual([["-a"]]);
  expect(signs({ edits: [{ oldText: "a", newText: "b" }, { oldText: 1 }] })).toEqual([["-a", "+b"]]);
  for (const given of [null, "text", [], {}, { oldText: "a" }, { oldText: 1, newText: 2 }, { edits: "x" }]) {
    expect(findEdits(given)).toEqual([]);
  }
  const long = Array.from({ length: 30_000 }, (_, line) => `line ${line}`).join("\n");
  expect(findEdits({ oldText: long, newText: long.replaceAll("line", "row") })[0]).toHaveLength(60_000);
});

test("a search finds strings of every kind, in any case, with the text around them", () => {
  const call = { type: "toolCall", id: "1", name: "grep", arguments: { pattern: "Needle [x]" } };
  const lines: Line[] = [
    ["a", null, "a NEEDLE\nin two lines"],
    ["b", "a", said("assistant", [{ type: "thinking", thinking: "needle?" }, call])],
    ["c", "b", said("toolResult", [{ type: "text", text: "no such thing" }], { toolName: "grep" })],
    ["d", "c", { type: "label", targetId: "c", label: "needle here" }],
    ["e", "d", { type: "custom", customType: "state", data: { deep: ["the needle"] } }],
  ];
  const model = makeModel(lines);
  expect(searchModel(model, " Needle ").map(({ ordinal }) => ordinal)).toEqual([0, 1, 2, 3, 4]);
  expect(searchModel(model, '"needle ["')).toHaveLength(1);
  expect(snippetsIn(model, "needle")[0]).toEqual(["a ", "NEEDLE", " in two lines"]);
  // Words match in any order, quoted phrases exactly; all of them in one entry.
  expect(searchModel(model, "lines a needle").map(({ ordinal }) => ordinal)).toEqual([0]);
  expect(snippetsIn(model, '"needle in two"').map(([, match]) => match)).toEqual(["NEEDLE in two"]);
  expect(searchModel(model, '"two needle"')).toEqual([]);
  expect(searchModel(model, "word ".repeat(1000))).toEqual([]);
  expect(readQuery("word ".repeat(1000)).problem).toContain("at most");
  // An ID is separate from the entry's text.
  const named = makeModel([["4f86", null, "some text"]]);
  expect(snippetsIn(named, "F8")[0]).toEqual(["id 4", "f8", "6"]);
  expect(searchModel(model, "  ")).toEqual([]);
  expect(searchModel(model, "nothing like it")).toEqual([]);
});

test("a search keeps no text of its hits: a hit reads its entry when it is shown", () => {
  const model = makeModel([["a", null, "a needle in hay"]]);
  const read: number[] = [];
  const entryAt = (ordinal: number) => {
    read.push(ordinal);
    return model.entryAt(ordinal);
  };
  const watched = { ...model, entryAt };
  const hits = searchModel(watched, "needle");
  expect([hits.length, read]).toEqual([1, []]);
  expect(hits.map((hit) => cutSnippet(watched, hit))).toEqual([["a ", "needle", " in hay"]]);
  expect(read).toEqual([0]);
});

test("orders calls by cost, by tokens, or by time", () => {
  const call = (ordinal: number, cost: number, total: number): ModelCall => ({
    ordinal,
    used: { ...makeEmptySpent(), model: "m", calls: 1, total, cost },
  });
  const calls = [call(0, 1, 30), call(1, 3, 10), call(2, 1, 50)];
  const ordinalsBy = (order: CallOrder, max = 3) =>
    orderCalls(calls, order, max).map(({ ordinal }) => ordinal);
  expect(ordinalsBy("cost")).toEqual([1, 0, 2]);
  expect(ordinalsBy("tokens")).toEqual([2, 0, 1]);
  expect(ordinalsBy("time")).toEqual([0, 1, 2]);
  for (const order of ["cost", "tokens", "time"] as const)
    for (const max of [0, 1, 2]) expect(ordinalsBy(order, max)).toEqual(ordinalsBy(order).slice(0, max));
});

test("adds up usage by model, even if numbers are missing", () => {
  const answer = (model: string, usage: unknown) => said("assistant", [], { provider: "p", model, usage });
  const cost = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 3 };
  const usage = getUsage(
    makeModel([
      ["a", null, answer("m", { input: 10, output: 2, cacheRead: 30, cacheWrite: 0, totalTokens: 42, cost })],
      ["b", "a", answer("n", { input: "5", output: 1 })],
      ["c", "b", answer("m", { cost: { input: 0.5, output: 0.25 } })],
      ["d", "c", answer("n", "none")],
      ["e", "d", { type: "usage", kind: "title", provider: "p", model: "m", usage: { input: 1, output: 1 } }],
      [
        "f",
        "e",
        { type: "compaction", summary: "", firstKeptEntryId: "a", tokensBefore: 1, usage: { output: 4 } },
      ],
    ]),
  );
  const { calls, all, models } = usage;
  expect(all).toMatchObject({ calls: 4, input: 11, output: 8, cacheRead: 30, cost: 3.75 });
  expect(models.map(({ model, sum }) => [model, sum.calls])).toEqual([
    ["p/m", 3],
    ["p/n", 1],
  ]);
  expect(cacheShare(all)).toBeCloseTo(30 / 41);
  expect(groupCalls(calls, 2).map((group) => group.calls.length)).toEqual([3, 2]);
  expect(groupCalls(calls, 2)[0]?.sum).toEqual(sumSpent(calls.slice(0, 3).map(({ used }) => used)));
  expect(sumCosts(usage).names).toEqual(["p/m", "p/n"]);
  expect(sumCosts(usage).sums[0]).toEqual([0, 0]);
  expect(sumCosts(usage).sums.at(-1)).toEqual([3.75, 0]);
});

test("abbreviates numbers, and scales end above the largest value", () => {
  expect([0, 950, 12_400, 999_499, 1_234_567, 1.8e9].map(formatTokens)).toEqual([
    "0",
    "950",
    "12.4k",
    "999k",
    "1.2M",
    "1.8B",
  ]);
  expect([0, 0.00001, 0.00123, 0.25, 3, 12.5, -0.5].map(formatDollars)).toEqual([
    "$0.00",
    "<$0.0001",
    "$0.0012",
    "$0.25",
    "$3.00",
    "$12.50",
    "-$0.50",
  ]);
  const seconds = [0.04, 9.94, 9.96, 59.4, 59.6, 200, 3599.6, 8040, 86_399, 273_600, 3e8];
  expect(seconds.map((value) => formatDuration(value * 1000))).toEqual([
    "<0.1 s",
    "9.9 s",
    "10 s",
    "59 s",
    "1 min",
    "3 min 20 s",
    "1 h",
    "2 h 14 min",
    "1 d",
    "3 d 4 h",
    "3,472 d 5 h",
  ]);
  expect([0, 0.0005, 0.25, 7.5].map(roundDollars)).toEqual(["$0", "$0.0005", "$0.25", "$7.5"]);
  for (const max of [0.003, 1, 7, 99, 100, 12_345]) {
    const values = roundValues(max);
    expect(values.at(-1)).toBeGreaterThanOrEqual(max);
    expect(values.length).toBeLessThan(8);
  }
  expect(roundValues(0)).toEqual([0, 1]);
});

test("a command is red if it failed, but not if the user stopped it", () => {
  const shown = (fields: object) => {
    const model = makeModel([["a", null, said("bashExecution", [], { command: "make", ...fields })]]);
    return getEntries(model).flatMap((entry) =>
      getEntryContent(entry).parts.map((part) => "isError" in part && part.isError),
    );
  };
  expect(shown({ exitCode: 2 })).toEqual([true]);
  expect(shown({ exitCode: 0 })).toEqual([false]);
  expect(shown({ exitCode: 130, cancelled: true })).toEqual([false]);
});

test("shows and finds unknown parts, details, and nested calls of a result", () => {
  const parts = [{ type: "text", text: "plain" }, { type: "audio", data: "unheard" }, "bare"];
  const nestedCalls = { calls: [{ name: "inner" }], complete: true };
  const fields = { toolName: "task", details: { kept: "aside" }, nestedCalls };
  const model = makeModel([["a", null, said("toolResult", parts, fields)]]);
  const { parts: shown } = getEntryContent(model.entryAt(0));
  const titles = shown.map((part) => ("title" in part ? part.title : ""));
  const unknown = "Content of an unknown kind";
  expect(titles).toEqual(["task", unknown, unknown, "Details", "Nested calls"]);
  for (const text of ["unheard", "bare", "aside", "inner"])
    expect(searchModel(model, text), text).toHaveLength(1);
});
