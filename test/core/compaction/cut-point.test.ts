import { describe, expect, it } from "vitest";
import { findCutPoint, findTurnStartIndex } from "../../../src/core/compaction/cut-point.ts";
import type { AnySessionEntry } from "../../../src/core/format/entry.ts";
import { call, toolResult as result, tokens, user } from "../../support/messages.ts";
import { assistant, bash, makePath, malformed, system } from "./builders.ts";

const cutAll = (path: AnySessionEntry[], keepRecentTokens: number) =>
  findCutPoint(path, 0, path.length, keepRecentTokens);

describe("findCutPoint", () => {
  const turns = makePath(
    user(tokens(10)),
    assistant(tokens(10)),
    user(tokens(10)),
    assistant(tokens(10)),
    user(tokens(10)),
    assistant(tokens(10)),
  );

  it("cuts at the entry that reaches the budget", () => {
    expect(cutAll(turns, 20)).toEqual({ firstKeptEntryIndex: 4, turnStartIndex: -1, isSplitTurn: false });
    expect(cutAll(turns, 40).firstKeptEntryIndex).toBe(2);
  });

  it("splits a turn if that entry is an assistant message", () => {
    expect(cutAll(turns, 30)).toEqual({ firstKeptEntryIndex: 3, turnStartIndex: 2, isSplitTurn: true });
    expect(cutAll(turns, 21)).toEqual({ firstKeptEntryIndex: 3, turnStartIndex: 2, isSplitTurn: true });
  });

  it("keeps the newest message however small the budget", () => {
    expect(cutAll(turns, 0).firstKeptEntryIndex).toBe(5);
    expect(cutAll(turns, -5).firstKeptEntryIndex).toBe(5);
  });

  it("cuts at the first legal position if the budget is never reached", () => {
    expect(cutAll(turns, 61)).toEqual({ firstKeptEntryIndex: 0, turnStartIndex: -1, isSplitTurn: false });
    const afterResult = makePath(result("lost", "x"), user("a"), assistant("b"));
    expect(cutAll(afterResult, 1000).firstKeptEntryIndex).toBe(1);
  });

  it("stays between startIndex and endIndex", () => {
    expect(findCutPoint(turns, 2, 4, 1000).firstKeptEntryIndex).toBe(2);
    expect(findCutPoint(turns, 2, 4, 0).firstKeptEntryIndex).toBe(3);
    expect(findCutPoint(turns, 3, 4, 0)).toEqual({
      firstKeptEntryIndex: 3,
      turnStartIndex: -1,
      isSplitTurn: false,
    });
  });

  it("never cuts at a tool result but at the next legal position", () => {
    const path = makePath(
      user("a"),
      assistant("", [call("1"), call("2")]),
      result("1", tokens(50)),
      result("2", tokens(50)),
      assistant("done"),
      user("b"),
    );
    expect(cutAll(path, 60)).toEqual({ firstKeptEntryIndex: 4, turnStartIndex: 0, isSplitTurn: true });
  });

  it("keeps the call if only tool results follow", () => {
    const path = makePath(
      user("a"),
      assistant("", [call("1"), call("2")]),
      result("1", "x"),
      result("2", tokens(90)),
    );
    expect(cutAll(path, 50)).toEqual({ firstKeptEntryIndex: 1, turnStartIndex: 0, isSplitTurn: true });
  });

  it("does not cut where a user or an extension message is between a call and its result", () => {
    const note = { type: "custom_message", customType: "note", content: tokens(5), display: true };
    const path = makePath(
      user("a"),
      assistant("", [call("1")]),
      user("wait"),
      note,
      result("1", tokens(3)),
      user("b"),
    );
    expect(cutAll(path, 6).firstKeptEntryIndex).toBe(5);
    const open = makePath(user("a"), assistant("", [call("1")]), user("wait"), result("1", tokens(9)));
    expect(cutAll(open, 5)).toEqual({ firstKeptEntryIndex: 1, turnStartIndex: 0, isSplitTurn: true });
  });

  it("pairs a result with the latest call of its id, and only the first result", () => {
    const path = makePath(
      assistant("", [call("1")]),
      user(tokens(10)),
      assistant("", [call("1")]),
      result("1", "x"),
      user(tokens(10)),
      result("1", "again"),
    );
    expect(cutAll(path, 10).firstKeptEntryIndex).toBe(4);
    expect(cutAll(path, 19).firstKeptEntryIndex).toBe(1);
  });

  it.each([
    ["bashExecution", bash(tokens(10), "")],
    ["custom", { type: "custom_message", customType: "n", content: tokens(10), display: true }],
    ["branchSummary", { type: "branch_summary", fromId: "root", summary: tokens(10) }],
    [
      "a stored compactionSummary",
      { role: "compactionSummary" as const, summary: tokens(10), tokensBefore: 1, timestamp: 1 },
    ],
    ["user", user(tokens(10))],
  ])("cuts at a message of role %s, which begins a turn", (_, draft) => {
    const path = makePath(user("a"), assistant("b"), draft, assistant(tokens(1)));
    expect(cutAll(path, 11)).toEqual({ firstKeptEntryIndex: 2, turnStartIndex: -1, isSplitTurn: false });
    expect(cutAll(path, 1)).toEqual({ firstKeptEntryIndex: 3, turnStartIndex: 2, isSplitTurn: true });
  });

  it("includes metadata directly before the cut, and does not split a turn for it", () => {
    const path = makePath(
      user("a"),
      assistant(tokens(1)),
      { type: "label", targetId: "e0", label: "x" },
      { type: "model_change", provider: "p", modelId: "m" },
      { type: "of_tomorrow" },
      user(tokens(10)),
      assistant(tokens(10)),
    );
    expect(cutAll(path, 20)).toEqual({ firstKeptEntryIndex: 2, turnStartIndex: -1, isSplitTurn: false });
  });

  it("splits a turn by the role of the message at the cut, even if metadata precedes it", () => {
    const path = makePath(
      user("a"),
      { type: "model_change", provider: "p", modelId: "m" },
      assistant(tokens(10)),
    );
    expect(cutAll(path, 10)).toEqual({ firstKeptEntryIndex: 1, turnStartIndex: 0, isSplitTurn: true });
  });

  it("includes metadata back to a compaction only, and does not cut at one", () => {
    const compaction = { type: "compaction", summary: tokens(100), firstKeptEntryId: "e0", tokensBefore: 1 };
    const label = { type: "label", targetId: "e0", label: "x" };
    const path = makePath(user("a"), label, compaction, label, user(tokens(10)));
    expect(cutAll(path, 10).firstKeptEntryIndex).toBe(3);
    expect(cutAll(path, 50).firstKeptEntryIndex).toBe(0);
    expect(cutAll(makePath(compaction, compaction), 1).firstKeptEntryIndex).toBe(0);
  });

  it("does not split a turn whose beginning is missing", () => {
    const path = makePath(assistant(tokens(10)), assistant(tokens(10)));
    expect(cutAll(path, 10)).toEqual({ firstKeptEntryIndex: 1, turnStartIndex: -1, isSplitTurn: false });
  });

  it("returns startIndex if no position is legal", () => {
    const nowhere = { firstKeptEntryIndex: 0, turnStartIndex: -1, isSplitTurn: false };
    expect(cutAll([], 10)).toEqual(nowhere);
    expect(cutAll(makePath(result("a", "x"), system("s"), malformed({ role: "hologram" })), 0)).toEqual(
      nowhere,
    );
  });

  it("counts with the caller's counter", () => {
    expect(findCutPoint(turns, 0, turns.length, 2, () => 1).firstKeptEntryIndex).toBe(4);
  });

  it("survives malformed messages", () => {
    const path = makePath(
      malformed(null),
      malformed({ role: "assistant", content: null }),
      malformed({ role: "toolResult" }),
      malformed({ role: "assistant", content: [{ type: "toolCall" }] }),
      user(tokens(1)),
    );
    expect(cutAll(path, 1).firstKeptEntryIndex).toBe(4);
  });

  it("runs in linear time if every call waits for its result", () => {
    const calls = Array.from({ length: 50_000 }, (_, i) => assistant("", [call(`c${i}`)]));
    const results = Array.from({ length: 50_000 }, (_, i) => result(`c${i}`, "x"));
    const path = makePath(user("a"), ...calls, ...results);
    expect(cutAll(path, 10).firstKeptEntryIndex).toBe(1);
  });
});

describe("findTurnStartIndex", () => {
  const path = makePath(
    assistant("greeting"),
    user("a"),
    { type: "label", targetId: "e0", label: "x" },
    assistant("", [call("1")]),
    result("1", "x"),
    assistant("b"),
  );

  it("finds the user-like message at or before an entry", () => {
    expect(findTurnStartIndex(path, 5, 0)).toBe(1);
    expect(findTurnStartIndex(path, 1, 0)).toBe(1);
  });

  it("returns -1 if there is none", () => {
    expect(findTurnStartIndex(path, 0, 0)).toBe(-1);
    expect(findTurnStartIndex(path, 5, 2)).toBe(-1);
    expect(findTurnStartIndex([], 3, 0)).toBe(-1);
  });

  it("does not treat a compaction as one", () => {
    const compaction = { type: "compaction", summary: "s", firstKeptEntryId: "e0", tokensBefore: 1 };
    expect(findTurnStartIndex(makePath(user("a"), compaction, assistant("b")), 2, 0)).toBe(0);
  });
});
