import { expect, test } from "vitest";
import { type Filter, FilterIndex, toggleChoice } from "../../../src/apps/page/model/filters.ts";
import { findNextFailure } from "../../../src/apps/page/model/navigation.ts";
import { getEntryTitle } from "../../../src/apps/text/entry-kind.ts";
import { getEntries, makeModel, said } from "./support/session.ts";

const call = (id: string, name: string) => ({ type: "toolCall", id, name, arguments: {} });
const model = makeModel([
  ["a", null, "go"],
  ["b", "a", said("assistant", [call("1", "bash"), call("2", "read")])],
  ["c", "b", said("toolResult", [], { toolCallId: "1", toolName: "bash", isError: true })],
  ["d", "c", { type: "label", targetId: "c", label: "here" }],
  ["e", "d", said("bashExecution", [], { command: "make", exitCode: 2 })],
  ["f", "e", said("bashExecution", [], { command: "make", exitCode: 130, cancelled: true })],
  ["g", "f", said("bashExecution", [], { command: "make", exitCode: 0 })],
  ["h", "g", said("assistant", [], { stopReason: "error" })],
  ["i", "h", said("assistant", [], { stopReason: "aborted" })],
]);
const index = new FilterIndex(model);
const left = (filter: Filter) =>
  getEntries(model)
    .flatMap(({ id }, ordinal) => (index.isLeft(ordinal, filter) ? id : []))
    .join("");

test("tools, commands, and models fail; entries that the user stopped do not", () => {
  expect(model.failures.map((ordinal) => model.entryAt(ordinal)?.id)).toEqual(["c", "e", "h"]);
  expect(left([{ group: "mark", value: "aborted" }])).toBe("fi");
  expect(findNextFailure(model, -1, 1)).toBe(2);
  expect(findNextFailure(model, 2, 1)).toBe(4);
  expect(findNextFailure(model, 7, 1)).toBe(2);
  expect(findNextFailure(model, 2, -1)).toBe(7);
  expect(findNextFailure({ failures: [] }, 2, 1)).toBeUndefined();
});

test("one choice of a group is enough, but every group counts; without a choice every entry is left", () => {
  expect(left([])).toBe("abcdefghi");
  expect(
    left([
      { group: "kind", value: "user" },
      { group: "kind", value: "assistant" },
    ]),
  ).toBe("abhi");
  expect(
    left([
      { group: "mark", value: "failed" },
      { group: "kind", value: "assistant" },
    ]),
  ).toBe("h");
  // A call without a result is found by its tool.
  expect(left([{ group: "tool", value: "read" }])).toBe("b");
  expect(left([{ group: "tool", value: "bash" }])).toBe("c");
});

test("each count is the number of entries the choice leaves, and no choice disappears", () => {
  for (const filter of [
    [],
    [{ group: "mark", value: "failed" }],
    [{ group: "kind", value: "command" }],
  ] as Filter[]) {
    const choices = index.choices(filter);
    for (const choice of choices) {
      const others = filter.filter(({ group }) => group !== choice.group);
      expect(left([...others, choice])).toHaveLength(choice.count);
    }
    expect(choices).toHaveLength(index.choices([]).length);
  }
});

test("toggles a choice", () => {
  const chosen = toggleChoice([], { group: "mark", value: "failed" });
  expect(chosen).toEqual([{ group: "mark", value: "failed" }]);
  expect(toggleChoice(chosen, { group: "mark", value: "failed" })).toEqual([]);
});

test("in a list the title of a result is its call's, and other titles are the entry's text", () => {
  const asked = makeModel([
    ["a", null, said("assistant", [{ ...call("1", "bash"), arguments: { command: "npm test" } }])],
    [
      "b",
      "a",
      said("toolResult", [{ type: "text", text: "Command exited with code 1" }], { toolCallId: "1" }),
    ],
    ["c", "b", said("toolResult", [{ type: "text", text: "of nothing" }], { toolCallId: "2" })],
    ["d", "c", "## What **now**?"],
  ]);
  expect(getEntries(asked).map((_, ordinal) => getEntryTitle(asked, ordinal))).toEqual([
    "→ bash npm test",
    "npm test",
    "of nothing",
    "What now?",
  ]);
});
