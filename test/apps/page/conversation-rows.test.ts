import { expect, test } from "vitest";
import {
  type ConversationRow,
  findResult,
  makeConversationRows,
  makeEntryRows,
} from "../../../src/apps/page/model/conversation-rows.ts";
import { viewPath } from "../../../src/apps/page/model/path-items.ts";
import type { SessionModel } from "../../../src/apps/page/model/session-model.ts";
import { type Line, makeModel, said } from "./support/session.ts";

const call = (...ids: string[]) =>
  said(
    "assistant",
    ids.map((id) => ({ type: "toolCall", id, name: "t", arguments: {} })),
  );
const result = (toolCallId: string) => said("toolResult", [], { toolCallId, toolName: "t" });

/** Formats rows briefly: `b(c,d)` is an entry with the results c and d, `2 compacted` a line. */
function rowsOf(model: SessionModel, isOpen = false): string[] {
  const { rows, rowByOrdinal: rowOf } = makeConversationRows(viewPath(model, model.leaf).items, () => isOpen);
  const written = rows.map((row) => writeRow(row, model));
  // An item without its own row is still found in one.
  for (const { ordinal } of viewPath(model, model.leaf).items)
    expect(written[rowOf.get(ordinal) ?? -1]).toBeDefined();
  return written;
}

function writeRow(row: ConversationRow, model: SessionModel): string {
  if (row.kind !== "entry") return `${row.size} ${row.kind}, ${row.failed} failed`;
  const ids = row.results.map(({ ordinal }) => model.entryAt(ordinal)?.id);
  return ids.length === 0 ? row.item.entry.id : `${row.item.entry.id}(${ids})`;
}

test("results are next to their calls, in any order, even with something between them", () => {
  const model = makeModel([
    ["a", null, "go"],
    ["b", "a", call("1", "2", "3")],
    ["c", "b", result("2")],
    ["d", "c", "hurry"],
    ["e", "d", result("1")],
    ["f", "e", call("1")],
    ["g", "f", result("1")],
    ["h", "g", result("1")],
  ]);
  expect(rowsOf(model)).toEqual(["a", "b(c,e)", "d", "f(g)", "h"]);
});

test("reads each call and each result of a very wide answer only a few times", () => {
  const ids = Array.from({ length: 200 }, (_, at) => `call-${at}`);
  const results = ids.map((id, at): Line => [`r${at}`, at === 0 ? "a" : `r${at - 1}`, result(id)]);
  const model = makeModel([["a", null, call(...ids)], ...results]);
  let reads = 0;
  const countReads = (holder: object, name: string) => {
    const value: unknown = Reflect.get(holder, name);
    const get = () => {
      reads++;
      return value;
    };
    Object.defineProperty(holder, name, { get });
  };
  for (const facts of model.facts) {
    for (const one of facts.calls) countReads(one, "id");
    countReads(facts, "callId");
  }
  const [row] = makeEntryRows(viewPath(model, model.leaf).items).rows;
  expect(row?.results).toHaveLength(200);
  if (row === undefined) return;
  expect(ids.map((id) => findResult(row, id)?.entry.id)).toEqual(results.map(([id]) => id));
  expect(findResult(row, "call-x")).toBeUndefined();
  expect(reads).toBeLessThan(5 * ids.length);
});

test("a result whose call precedes another answer, or is missing, has its own row", () => {
  const model = makeModel([
    ["a", null, call("1")],
    ["b", "a", call("2")],
    ["c", "b", result("1")],
    ["d", "c", result("")],
    ["e", "d", said("toolResult", [], { toolCallId: 5 })],
  ]);
  expect(rowsOf(model)).toEqual(["a", "b", "c", "d", "e"]);
});

test("calls and results without an ID have their own rows", () => {
  const model = makeModel([
    ["a", null, call("")],
    ["b", "a", "go"],
    ["c", "b", result("")],
  ]);
  expect(rowsOf(model)).toEqual(["a", "b", "c"]);
});

test("compacted entries are one line, including those that never count, until it is opened", () => {
  const lines: Line[] = [
    ["a", null, { type: "model_change", provider: "p", modelId: "m" }],
    ["b", "a", "1"],
    ["c", "b", { type: "label", targetId: "b", label: "x" }],
    ["d", "c", call("1")],
    ["e", "d", said("toolResult", [], { toolCallId: "1", isError: true })],
    ["f", "e", "kept"],
    ["g", "f", { type: "compaction", summary: "s", firstKeptEntryId: "f", tokensBefore: 1 }],
  ];
  expect(rowsOf(makeModel(lines))).toEqual(["a", "3 compacted, 1 failed", "f", "g"]);
  expect(rowsOf(makeModel(lines), true)).toEqual(["a", "3 compacted, 1 failed", "b", "c", "d(e)", "f", "g"]);
});
