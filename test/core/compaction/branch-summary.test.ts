import { describe, expect, it } from "vitest";
import {
  collectEntriesForBranchSummary,
  generateBranchSummary,
  prepareBranchEntries,
} from "../../../src/core/compaction/branch-summary.ts";
import type { Summarize, SummarizeRequest } from "../../../src/core/compaction/request-summary.ts";
import { findLeafPath } from "../../../src/core/context/leaf-path.ts";
import type { SessionEntry } from "../../../src/core/format/entry.ts";
import { call, toolResult as result, tokens, usage, user } from "../../support/messages.ts";
import { assistant, makeKnownPath, makePath, system } from "./builders.ts";

/** Creates a session that consists of parents only. */
function sessionOf(parents: { [id: string]: string | null }) {
  const entries = Object.entries(parents).map(([id, parentId]): SessionEntry => {
    return { type: "custom", customType: "x", id, parentId, timestamp: "2026-01-01T00:00:00.000Z" };
  });
  const getBranch = (fromId?: string) =>
    entries.some(({ id }) => id === fromId) ? (findLeafPath(entries, fromId ?? null) as SessionEntry[]) : [];
  return { getBranch };
}

describe("collectEntriesForBranchSummary", () => {
  const session = sessionOf({ a: null, b: "a", c: "b", d: "c", x: "b", y: "x", other: null });
  const collect = (from: string | null, to: string) => {
    const { entries, commonAncestorId } = collectEntriesForBranchSummary(session, from, to);
    return [entries.map(({ id }) => id).join(""), commonAncestorId];
  };

  it("collects from below the deepest common ancestor to the old leaf, in order", () => {
    expect(collect("d", "y")).toEqual(["cd", "b"]);
    expect(collect("y", "d")).toEqual(["xy", "b"]);
  });

  it("collects the entries below the target if the target is an ancestor", () => {
    expect(collect("d", "b")).toEqual(["cd", "b"]);
    expect(collect("d", "a")).toEqual(["bcd", "a"]);
  });

  it("collects nothing if the target is the old leaf or a descendant of it", () => {
    expect(collect("b", "b")).toEqual(["", "b"]);
    expect(collect("b", "d")).toEqual(["", "b"]);
  });

  it("collects everything if the paths have no common entry", () => {
    expect(collect("d", "other")).toEqual(["abcd", null]);
  });

  it("collects nothing if there was no leaf", () => {
    expect(collect(null, "d")).toEqual(["", null]);
    expect(collect("unknown", "d")).toEqual(["", null]);
  });
});

describe("prepareBranchEntries", () => {
  it("includes everything without a budget, except system messages", () => {
    const path = makePath(system("s"), user(tokens(3)), assistant(tokens(2)), {
      type: "label",
      targetId: "e0",
      label: "x",
    });
    const { messages, totalTokens } = prepareBranchEntries(path);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(totalTokens).toBe(5);
  });

  it("includes the newest entries that fit, in order", () => {
    const path = makePath(user(tokens(10, "a")), user(tokens(10, "b")), user(tokens(10, "c")));
    const texts = (budget: number) =>
      prepareBranchEntries(path, budget).messages.map((m) => JSON.stringify(m)[35]);
    expect(prepareBranchEntries(path, 20)).toMatchObject({
      totalTokens: 20,
      messages: [{ content: tokens(10, "b") }, {}],
    });
    expect(texts(29)).toHaveLength(2);
    expect(texts(30)).toHaveLength(3);
    expect(texts(9)).toHaveLength(0);
  });

  it("includes a summary that exceeds the budget while less than 90 % of it is used", () => {
    const summary = { type: "branch_summary", fromId: "root", summary: tokens(50) };
    const path = (newest: number) => makePath(user("old"), summary, user(tokens(newest)));
    expect(prepareBranchEntries(path(89), 100)).toMatchObject({
      totalTokens: 139,
      messages: [{ role: "branchSummary" }, {}],
    });
    expect(prepareBranchEntries(path(90), 100)).toMatchObject({
      totalTokens: 90,
      messages: [{ role: "user" }],
    });
    const compaction = { type: "compaction", summary: tokens(50), firstKeptEntryId: "e0", tokensBefore: 1 };
    const { messages } = prepareBranchEntries(makePath(user("old"), compaction, user(tokens(89))), 100);
    expect(messages.map(({ role }) => role)).toEqual(["compactionSummary", "user"]);
  });

  it("includes the summary of a compaction only, not the messages it carries", () => {
    const other = {
      type: "compaction",
      summary: tokens(5),
      tokensBefore: 1,
      retainedTail: [user(tokens(500))],
    };
    const { messages } = prepareBranchEntries(makePath(other, user(tokens(50))), 100);
    expect(messages.map(({ role }) => role)).toEqual(["compactionSummary", "user"]);
  });

  it("keeps tool results, shortened", () => {
    const short = result("1", "x".repeat(1000));
    const { messages, totalTokens } = prepareBranchEntries(makePath(short, result("2", "y".repeat(5000))));
    expect(messages[0]).toBe(short);
    expect(messages[1]).toMatchObject({
      toolCallId: "2",
      content: [{ text: `${"y".repeat(1000)}\n\n[... 4000 more characters truncated]` }],
    });
    expect(totalTokens).toBeLessThan(600);
  });

  it("does not spend the budget on images in tool results", () => {
    const image = { type: "image" as const, data: "aaaa", mimeType: "image/png" };
    const shot = { ...result("1", ""), content: [image, { type: "text" as const, text: "1234" }] };
    expect(prepareBranchEntries(makePath(shot)).totalTokens).toBe(1);
  });

  it("applies the latest context edit of each entry", () => {
    const path = makePath(
      user("secret"),
      user("long"),
      { type: "context_edit", targetId: "e1", replacement: null },
      { type: "context_edit", targetId: "e0", replacement: null },
      { type: "context_edit", targetId: "e1", replacement: { content: "short" } },
    );
    expect(prepareBranchEntries(path).messages).toEqual([{ ...user(""), content: "short" }]);
  });

  it("leaves out the files of calls and summaries that context edits have removed", () => {
    const path = makePath(
      assistant("", [call("1", "read", { path: "secret.ts" })]),
      {
        type: "branch_summary",
        fromId: "e0",
        summary: "s",
        details: { readFiles: ["old.ts"], modifiedFiles: [] },
      },
      assistant("", [call("2", "read", { path: "kept.ts" })]),
    );
    const edit = (targetId: string) => ({ type: "context_edit", targetId, replacement: null });
    const edited = [...path, ...makePath(edit("e0"), edit("e1")).map((one, i) => ({ ...one, id: `x${i}` }))];
    expect([...prepareBranchEntries(path).fileOps.read].sort()).toEqual(["kept.ts", "old.ts", "secret.ts"]);
    expect([...prepareBranchEntries(edited).fileOps.read]).toEqual(["kept.ts"]);
  });

  it("collects the files of all entries, including those beyond the budget and of nested summaries", () => {
    const path = makePath(
      {
        type: "branch_summary",
        fromId: "root",
        summary: "s",
        details: { readFiles: ["r1"], modifiedFiles: ["m1"] },
      },
      {
        type: "compaction",
        summary: "s",
        firstKeptEntryId: "e0",
        details: { readFiles: ["r2"], modifiedFiles: [] },
      },
      {
        type: "branch_summary",
        fromId: "root",
        summary: "s",
        fromHook: true,
        details: { readFiles: ["theirs"] },
      },
      assistant("", [call("1", "write", { path: "w" })]),
      result("1", "ok"),
      user(tokens(10)),
    );
    const { fileOps, messages } = prepareBranchEntries(path, 10);
    expect(messages).toHaveLength(1);
    expect(fileOps).toEqual({
      read: new Set(["r1", "r2"]),
      edited: new Set(["m1"]),
      written: new Set(["w"]),
    });
  });
});

describe("generateBranchSummary", () => {
  function model(reply: Awaited<ReturnType<Summarize>>) {
    const requests: SummarizeRequest[] = [];
    const summarize: Summarize = async (request) => {
      requests.push(request);
      return reply;
    };
    return { requests, summarize };
  }
  const branch = makeKnownPath(
    user("Try it."),
    assistant("", [call("1", "read", { path: "r.ts" })]),
    result("1", "found"),
  );

  it("returns the text followed by the files", async () => {
    const { requests, summarize } = model({ text: "Tried.", usage: usage(9) });
    expect(await generateBranchSummary(branch, { summarize })).toEqual({
      summary: "Tried.\n\n<read-files>\nr.ts\n</read-files>",
      readFiles: ["r.ts"],
      modifiedFiles: [],
      usage: usage(9),
    });
    expect(requests[0]).toMatchObject({ kind: "branch" });
    expect(requests[0]?.prompt).toContain("[User]: Try it.");
    expect(requests[0]?.prompt).toContain("[Tool result]: found");
    expect(requests[0]?.prompt).toContain("## Goal");
  });

  it("uses instructions as a focus or in place of its own", async () => {
    const { requests, summarize } = model({ text: "Tried." });
    await generateBranchSummary(branch, { summarize, customInstructions: "Mind the API." });
    await generateBranchSummary(branch, {
      summarize,
      customInstructions: "One haiku.",
      replaceInstructions: true,
    });
    expect(requests[0]?.prompt).toMatch(/## Goal[\s\S]*Mind the API\.$/);
    expect(requests[1]?.prompt).toMatch(/<\/conversation>\n\nOne haiku\.$/);
  });

  it("fits the conversation into the window minus the reserve", async () => {
    const { requests, summarize } = model({ text: "Tried." });
    const long = makePath(user(tokens(300, "o")), user(tokens(300, "n")));
    await generateBranchSummary(long, { summarize, contextWindow: 1000, reserveTokens: 500 });
    expect(requests[0]?.prompt).toContain("nnn");
    expect(requests[0]?.prompt).not.toContain("ooo");
  });

  it("shortens a tool result once", async () => {
    const { requests, summarize } = model({ text: "Tried." });
    await generateBranchSummary(makePath(result("1", "y".repeat(9000))), { summarize });
    expect(requests[0]?.prompt.match(/more characters truncated/g)).toHaveLength(1);
  });

  it("calls no summarizer for a branch without conversation", async () => {
    const { requests, summarize } = model({ text: "Tried." });
    const label = makePath({ type: "label", targetId: "e0", label: "x" });
    expect(await generateBranchSummary(label, { summarize })).toEqual({
      summary: "",
      readFiles: [],
      modifiedFiles: [],
    });
    expect(await generateBranchSummary([], { summarize })).toMatchObject({ summary: "" });
    expect(requests).toEqual([]);
  });

  it("does not treat a branch as empty if its newest message is too long", async () => {
    const { summarize } = model({ text: "Tried." });
    const long = makePath(user(tokens(600)));
    for (const contextWindow of [1000, 500, 10]) {
      const work = generateBranchSummary(long, { summarize, contextWindow, reserveTokens: 500 });
      await expect(work).rejects.toMatchObject({ code: "SUMMARY_FAILED" });
    }
  });

  it("fails and stops as compact does, with its own messages", async () => {
    const cut = model({ text: "Half", stopReason: "length" });
    await expect(generateBranchSummary(branch, { summarize: cut.summarize })).rejects.toMatchObject({
      code: "SUMMARY_FAILED",
      details: { kind: "branch" },
    });
    const { requests, summarize } = model({ text: "Tried." });
    const work = generateBranchSummary(branch, { summarize, signal: AbortSignal.abort() });
    await expect(work).rejects.toMatchObject({ code: "ABORTED", message: "Branch summary cancelled" });
    expect(requests).toEqual([]);
  });
});
