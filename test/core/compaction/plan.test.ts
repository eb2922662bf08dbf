import { describe, expect, it } from "vitest";
import { planCompaction, prepareCompaction } from "../../../src/core/compaction/plan.ts";
import { DEFAULT_COMPACTION_SETTINGS } from "../../../src/core/compaction/settings.ts";
import { sessionEntryToContextMessages } from "../../../src/core/context/project-entry.ts";
import type { AnySessionEntry } from "../../../src/core/format/entry.ts";
import { call, toolResult as result, tokens, user } from "../../support/messages.ts";
import { assistant, makePath, system } from "./builders.ts";

const keep = (keepRecentTokens: number) => ({ ...DEFAULT_COMPACTION_SETTINGS, keepRecentTokens });

function prepare(path: AnySessionEntry[], keepRecentTokens: number) {
  const preparation = prepareCompaction(path, keep(keepRecentTokens));
  if (preparation === undefined) throw new Error("Expected a preparation.");
  return preparation;
}

const messageOf = (path: AnySessionEntry[], index: number) =>
  sessionEntryToContextMessages(path[index] ?? { type: "label", id: "", parentId: null, timestamp: "" })[0];
const compaction = (firstKeptEntryId: string, more: object = {}) => ({
  type: "compaction",
  summary: "Earlier.",
  firstKeptEntryId,
  tokensBefore: 100,
  ...more,
});

describe("planCompaction", () => {
  it("reports why there is nothing to compact", () => {
    const skip = (path: AnySessionEntry[], keepRecentTokens = 1) =>
      planCompaction(path, keep(keepRecentTokens));
    const label = { type: "label", targetId: "e0", label: "x" };
    expect(skip([])).toEqual({ kind: "skip", reason: "empty" });
    expect(skip(makePath(label))).toEqual({ kind: "skip", reason: "empty" });
    expect(skip(makePath(user("a"), assistant("b"), compaction("e1")))).toEqual({
      kind: "skip",
      reason: "justCompacted",
    });
    expect(skip(makePath(user("a"), assistant("b")), 1000)).toEqual({
      kind: "skip",
      reason: "nothingToSummarize",
    });
    expect(skip(makePath(system("s"), result("lost", "x")))).toEqual({ kind: "skip", reason: "noCutPoint" });
  });

  it("does not bring back a summary, or its files, that a context edit has removed", () => {
    const details = { readFiles: ["secret.ts"], modifiedFiles: [] };
    const path = makePath(
      user("a"),
      assistant("b"),
      compaction("e1", { details }),
      user(tokens(10)),
      assistant("c"),
      { type: "context_edit", targetId: "e2", replacement: null },
      user(tokens(10)),
    );
    const known = prepare(path.slice(0, 5), 1);
    expect([known.previousSummary, [...known.fileOps.read]]).toEqual(["Earlier.", ["secret.ts"]]);
    const { previousSummary, fileOps } = prepare(path, 5);
    expect([previousSummary, [...fileOps.read]]).toEqual([undefined, []]);
  });

  it("agrees with prepareCompaction", () => {
    const path = makePath(user(tokens(10)), assistant("b"), user(tokens(10)));
    expect(planCompaction(path, keep(10))).toEqual({ kind: "compact", preparation: prepare(path, 10) });
    expect(prepareCompaction([], keep(10))).toBeUndefined();
  });

  it("is deterministic and does not change its arguments", () => {
    const path = makePath(
      user(tokens(10)),
      assistant("b", [call("1", "read", { path: "r" })]),
      result("1", "x"),
      user("c"),
    );
    const before = structuredClone(path);
    expect(planCompaction(path, keep(1))).toEqual(planCompaction(structuredClone(path), keep(1)));
    expect(path).toEqual(before);
  });

  it("counts with the caller's counter", () => {
    const path = makePath(user("a"), assistant("b"), user("c"), assistant("d"));
    const plan = planCompaction(path, keep(20), { counter: () => 10 });
    expect(plan).toMatchObject({ preparation: { firstKeptEntryId: "e2", tokensBefore: 40 } });
  });
});

describe("prepareCompaction", () => {
  it("summarizes up to the cut and keeps the rest", () => {
    const path = makePath(user(tokens(10)), assistant(tokens(10)), user(tokens(10)), assistant(tokens(10)));
    expect(prepare(path, 20)).toMatchObject({
      firstKeptEntryId: "e2",
      messagesToSummarize: [messageOf(path, 0), messageOf(path, 1)],
      turnPrefixMessages: [],
      isSplitTurn: false,
      tokensBefore: 40,
      settings: keep(20),
    });
    expect(prepare(path, 20).previousSummary).toBeUndefined();
  });

  it("returns the beginning of a split turn separately", () => {
    const path = makePath(
      user("old"),
      assistant("ok"),
      user("go"),
      assistant("", [call("1")]),
      result("1", "x"),
      assistant(tokens(10)),
    );
    const preparation = prepare(path, 10);
    expect(preparation).toMatchObject({ firstKeptEntryId: "e5", isSplitTurn: true });
    expect(preparation.messagesToSummarize).toEqual([messageOf(path, 0), messageOf(path, 1)]);
    expect(preparation.turnPrefixMessages).toEqual([2, 3, 4].map((index) => messageOf(path, index)));
  });

  it("begins at the kept boundary of the previous compaction, and passes on its summary", () => {
    const path = makePath(
      user("gone"),
      user("kept"),
      assistant("kept too"),
      compaction("e1"),
      user("new"),
      assistant(tokens(10)),
    );
    const preparation = prepare(path, 10);
    expect(preparation.messagesToSummarize).toEqual([messageOf(path, 1), messageOf(path, 2)]);
    expect(preparation.turnPrefixMessages).toEqual([messageOf(path, 4)]);
    expect(preparation.previousSummary).toBe("Earlier.");
  });

  it("may cut before the previous compaction entry, among the entries it kept", () => {
    const path = makePath(
      user("a"),
      user(tokens(5)),
      user(tokens(10)),
      compaction("e1"),
      assistant("b"),
      user(tokens(1)),
    );
    expect(prepare(path, 12)).toMatchObject({
      firstKeptEntryId: "e2",
      messagesToSummarize: [messageOf(path, 1)],
    });
  });

  it("summarizes the messages that another writer's compaction carries", () => {
    const tail = [user("tail"), assistant("", [call("1")])];
    const other = { type: "compaction", summary: "Theirs.", tokensBefore: 9, retainedTail: tail };
    const path = makePath(user("gone"), other, result("1", "x"), assistant("done"), user("new"));
    expect(prepare(path, 1)).toMatchObject({
      firstKeptEntryId: "e4",
      previousSummary: "Theirs.",
      messagesToSummarize: [...tail, messageOf(path, 2), messageOf(path, 3)],
    });
    const answered = makePath(other, result("1", "x"));
    expect(planCompaction(answered, keep(0))).toEqual({ kind: "skip", reason: "noCutPoint" });
  });

  it("leaves system messages to the compaction entry", () => {
    const path = makePath(system("one"), user("a"), system("two"), assistant("b"), user(tokens(5)));
    const preparation = prepare(path, 5);
    expect(preparation.messagesToSummarize.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  it("uses the context after edits", () => {
    const path = makePath(
      user("secret"),
      user("long"),
      assistant("b"),
      { type: "context_edit", targetId: "e0", replacement: null },
      { type: "context_edit", targetId: "e1", replacement: { content: "short" } },
      user(tokens(5)),
    );
    expect(prepare(path, 5).messagesToSummarize).toEqual([
      { ...user(""), content: "short" },
      messageOf(path, 2),
    ]);
  });

  it("uses the provider's tokensBefore while it still applies", () => {
    const path = makePath(user("a"), assistant("b", [], 5000), user(tokens(5)));
    expect(prepare(path, 5).tokensBefore).toBe(5005);
  });

  it("collects the files of the summarized messages, of the turn prefix, and of the previous compaction", () => {
    const read = (id: string, path: string) => assistant("", [call(id, "read", { path })]);
    const path = makePath(
      user("a"),
      compaction("e1", { details: { readFiles: ["before"], modifiedFiles: ["changed"] } }),
      user("b"),
      read("1", "history"),
      result("1", "x"),
      user("c"),
      read("2", "prefix"),
      result("2", "x"),
      read("3", "kept"),
      result("3", tokens(10)),
    );
    expect(prepare(path, 10)).toMatchObject({
      isSplitTurn: true,
      fileOps: {
        read: new Set(["before", "history", "prefix"]),
        written: new Set(),
        edited: new Set(["changed"]),
      },
    });
  });

  it("ignores the lists of a compaction that an extension wrote", () => {
    const theirs = compaction("e1", { fromHook: true, details: { readFiles: ["r"], modifiedFiles: ["m"] } });
    expect(prepare(makePath(user("a"), theirs, user("b"), user("c")), 1).fileOps.read.size).toBe(0);
  });

  it("applies the settings of the model at the end of the branch", () => {
    const path = makePath(user("a"), assistant("b"), user(tokens(5)), assistant(tokens(5)));
    const settings = { ...keep(1000), models: { "acme/m1": { keepRecentTokens: 10 } } };
    expect(prepareCompaction(path, settings)).toMatchObject({ firstKeptEntryId: "e2", settings: keep(10) });
  });

  it("reports the size of the resulting context, and whether it is smaller", () => {
    const small = prepare(makePath(user(tokens(5)), user(tokens(10))), 10);
    expect(small).toMatchObject({ estimatedTokensAfter: 10 + 256, wouldShrink: false });
    const large = prepare(makePath(system(tokens(7)), user(tokens(8000)), user(tokens(10))), 10);
    expect(large).toMatchObject({ estimatedTokensAfter: 7 + 10 + 1000, wouldShrink: true });
  });

  it("does not reject a session because of one malformed message", () => {
    const odd = [
      { type: "message" },
      { type: "message", message: { role: "assistant", content: null, usage: { prompt_tokens: 3 } } },
      { type: "message", message: { role: "toolResult", content: "as text" } },
      { type: "message", message: { role: "hologram", content: {} } },
      { type: "compaction", summary: 7, firstKeptEntryId: null, details: [] },
      { type: "context_edit", targetId: 4 },
    ];
    const path = makePath(...odd, user("a"), assistant("b"), user(tokens(5)));
    expect(prepare(path, 5)).toMatchObject({ firstKeptEntryId: "e8", previousSummary: undefined });
  });
});
