import { expect, test } from "vitest";
import { findLinks } from "../../../src/apps/page/model/entry-facts.ts";
import { type Line, makeModel, said } from "./support/session.ts";

const child = { path: "/s/child.jsonl", href: undefined };

test("finds existing sessions in details and stored data, and links them at the related result", () => {
  const known = new Map([
    ["child", child],
    ["/s/child.jsonl", child],
  ]);
  const lines: Line[] = [
    ["a", null, said("assistant", [{ type: "toolCall", id: "1", name: "task", arguments: {} }])],
    ["b", "a", said("toolResult", [], { toolCallId: "1", toolName: "task" })],
    ["c", "b", { type: "custom", customType: "x", data: { toolCallId: "1", sessionId: "child" } }],
    ["d", "c", said("toolResult", [], { toolCallId: "2", details: { deep: [{ file: "/s/child.jsonl" }] } })],
    ["e", "d", { type: "custom", customType: "x", data: { sessionId: "nobody" } }],
  ];
  expect([...makeModel(lines, known).linked]).toEqual([
    [2, [child]],
    [1, [child]],
    [3, [child]],
  ]);
  expect(makeModel(lines).linked.size).toBe(0);
});

test("stops at data that is nested too deeply", () => {
  let deep: unknown = "child";
  for (let level = 0; level < 10_000; level++) deep = [deep];
  const entry = { type: "custom", id: "a", parentId: null, timestamp: "", data: deep };
  expect(findLinks(entry, new Map([["child", child]]))).toBeUndefined();
});
