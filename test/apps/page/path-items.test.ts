import { expect, test } from "vitest";
import { makeConversationRows } from "../../../src/apps/page/model/conversation-rows.ts";
import { viewPath } from "../../../src/apps/page/model/path-items.ts";
import { estimateHeight } from "../../../src/apps/page/model/row-height.ts";
import { listShownItems } from "../../../src/apps/page/model/shown-items.ts";
import { NONE } from "../../../src/core/tree/entry-tree.ts";
import { type Line, makeModel, said, straight } from "./support/session.ts";

const LINES: Line[] = [
  ["a", null, said("system", "You help.")],
  ["b", "a", "question"],
  ["c", "b", said("assistant", [{ type: "text", text: "answer" }])],
  ["d", "c", { type: "label", targetId: "b", label: "x" }],
  ["e", "d", "kept"],
  ["f", "e", said("toolResult", [{ type: "text", text: "long" }], { toolCallId: "1", toolName: "t" })],
  ["g", "f", "unwanted"],
  ["h", "g", { type: "context_edit", targetId: "f", replacement: { content: "short" } }],
  ["i", "h", { type: "context_edit", targetId: "g", replacement: null }],
  ["j", "i", { type: "compaction", summary: "sum", firstKeptEntryId: "e", tokensBefore: 9 }],
  ["k", "j", { message: { role: "bashExecution", command: "ls", output: "", excludeFromContext: true } }],
];

test("each entry of a path has the state of what the model gets of it", () => {
  const model = makeModel(LINES);
  const { items, modelItems } = viewPath(model, model.leaf);
  expect(Object.fromEntries(items.map(({ entry, state }) => [entry.id, state]))).toEqual({
    a: "compacted",
    b: "compacted",
    c: "compacted",
    d: "aside",
    e: "seen",
    f: "edited",
    g: "removed",
    h: "aside",
    i: "aside",
    j: "seen",
    k: "aside",
  });
  expect(modelItems.map(({ entry }) => entry.id)).toEqual(["j", "e", "f"]);
  expect(modelItems[0]?.messages[0]).toMatchObject({ role: "user" });
  expect(modelItems[2]?.messages[0]).toMatchObject({
    role: "toolResult",
    content: [{ type: "text", text: "short" }],
  });
});

test("the end of the path decides: before a compaction nothing is omitted", () => {
  const model = makeModel(LINES);
  const { items, modelItems } = viewPath(model, model.tree.find("g"));
  expect(items.map(({ state }) => state)).toEqual(["seen", "seen", "seen", "aside", "seen", "seen", "seen"]);
  expect(modelItems).toHaveLength(6);
});

test("only the last of several compactions counts", () => {
  const model = makeModel([
    ["a", null, "1"],
    ["b", "a", { type: "compaction", summary: "one", firstKeptEntryId: "b", tokensBefore: 1 }],
    ["c", "b", "2"],
    ["d", "c", { type: "compaction", summary: "two", firstKeptEntryId: "d", tokensBefore: 1 }],
  ]);
  const { items } = viewPath(model, model.leaf);
  expect(items.map(({ state }) => state)).toEqual(["compacted", "compacted", "compacted", "seen"]);
});

test("messages without content were not edited", () => {
  const model = makeModel([
    ["a", null, said("user", null)],
    ["b", "a", { type: "custom_message", customType: "x", display: true }],
    ["c", "b", { type: "label", targetId: "a", label: "x" }],
  ]);
  const states = viewPath(model, model.leaf).items.map(({ state }) => state);
  expect(states).not.toContain("edited");
});

test("reports tool calls without a result", () => {
  const call = { type: "toolCall", id: "1", name: "read", arguments: {} };
  const model = makeModel([
    ["a", null, said("assistant", [call])],
    ["b", "a", "next"],
  ]);
  expect(viewPath(model, model.leaf).repairs).toMatchObject([{ kind: "resultMade", toolCallId: "1" }]);
});

test("nothing is visible before the first entry", () => {
  const model = makeModel(LINES);
  const view = viewPath(model, NONE);
  expect(view.items).toEqual([]);
  expect(view.modelItems).toEqual([]);
});

test("views and lays out a path without a compaction without its bodies, except the last ones", () => {
  const { entryAt, ...model } = makeModel(straight(5_000));
  const asked = new Set<number>();
  const session = {
    ...model,
    entryAt: (ordinal: number) => {
      asked.add(ordinal);
      return entryAt(ordinal);
    },
  };
  const { items, modelItems, repairs, messageCount, contextSize } = viewPath(session, model.leaf);
  const shown = listShownItems(session, items, {});
  const { rows } = makeConversationRows(shown, () => false);
  const height = rows.reduce((sum, row) => sum + estimateHeight(session, row), 0);
  expect([items.length, modelItems.length, messageCount, repairs.length]).toEqual([5_000, 5_000, 5_000, 0]);
  expect(contextSize?.tokens).toBeGreaterThan(5_000);
  expect(height).toBeGreaterThan(5_000 * 50);
  expect(asked.size).toBe(0);
});
