import { join } from "node:path";
import { convertToLlm, SessionManager } from "sessiontree";
import { describe, expect, test } from "vitest";
import { assistant, call, tokens, toolResult, usage, user } from "../../support/messages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { deferred, isValidRequest, names, rejection, seenByModel, stage, talk } from "./support/stage.ts";

/** Appends two turns, then a second branch from the first answer with one turn. */
function twoBranches(session: SessionManager) {
  const [first = "", firstAnswer = "", second = "", secondAnswer = ""] = talk(session, 2);
  session.branch(firstAnswer);
  const other = session.appendMessage(user("other"));
  const otherAnswer = session.appendMessage(assistant("other answer"));
  return { first, firstAnswer, second, secondAnswer, other, otherAnswer };
}

describe("the target of a navigation", () => {
  test("an answer: the leaf is the answer", async () => {
    const { session, controller, seen } = stage();
    const { secondAnswer, otherAnswer, firstAnswer, other } = twoBranches(session);
    const left = [session.getEntry(other), session.getEntry(otherAnswer)];
    expect(await controller.navigateTree(secondAnswer)).toEqual({ cancelled: false });
    expect(session.getLeafId()).toBe(secondAnswer);
    expect(seen).toEqual([
      [
        "session_before_tree",
        {
          preparation: {
            targetId: secondAnswer,
            oldLeafId: otherAnswer,
            commonAncestorId: firstAnswer,
            entriesToSummarize: left,
            userWantsSummary: false,
          },
          signal: expect.any(AbortSignal),
        },
      ],
      ["session_tree", { newLeafId: secondAnswer, oldLeafId: otherAnswer }],
    ]);
  });

  test("a user message: the leaf is its parent, and its text is returned", async () => {
    const { session, controller } = stage();
    const { firstAnswer, other } = twoBranches(session);
    expect(await controller.navigateTree(other)).toEqual({ cancelled: false, editorText: "other" });
    expect(session.getLeafId()).toBe(firstAnswer);
  });

  test("the first message: the leaf is null", async () => {
    const { session, controller, seen } = stage();
    const first = session.appendMessage({
      role: "user",
      content: [
        { type: "text", text: "Look: " },
        { type: "image", data: "", mimeType: "image/png" },
        { type: "text", text: "a cat." },
      ],
      timestamp: 1,
    });
    session.appendMessage(assistant("A cat."));
    expect(await controller.navigateTree(first)).toMatchObject({ editorText: "Look: a cat." });
    expect(session.getLeafId()).toBeNull();
    expect(seen[1]).toMatchObject(["session_tree", { newLeafId: null }]);
  });

  test("an extension's message: as for a user's", async () => {
    const { session, controller } = stage();
    const [, answer = ""] = talk(session, 1);
    const custom = session.appendCustomMessageEntry("note", "Remember.", true);
    talk(session, 1);
    expect(await controller.navigateTree(custom)).toMatchObject({ editorText: "Remember." });
    expect(session.getLeafId()).toBe(answer);
  });

  test("any other entry: the leaf is the entry", async () => {
    const { session, controller } = stage();
    const [first = ""] = talk(session, 1);
    const label = session.appendLabelChange(first, "start");
    talk(session, 1);
    expect(await controller.navigateTree(label)).toEqual({ cancelled: false });
    expect(session.getLeafId()).toBe(label);
  });

  test("the current leaf: nothing happens", async () => {
    const { session, controller, seen } = stage();
    talk(session, 1);
    const before = session.getLeafId() ?? "";
    const result = await controller.navigateTree(before, { summarize: true, label: "x" });
    expect(result).toEqual({ cancelled: false });
    expect(session.getEntryCount()).toBe(2);
    expect(seen).toEqual([]);
  });

  test("an unknown entry: rejected", async () => {
    const { controller, seen } = stage();
    expect(await rejection(controller.navigateTree("nowhere"))).toMatchObject({
      code: "ENTRY_NOT_FOUND",
      message: expect.stringMatching(/^Entry nowhere not found/),
    });
    expect(seen).toEqual([]);
  });
});

describe("with a summary", () => {
  test("the left branch is summarized at the target", async () => {
    const { session, controller, writer, seen } = stage();
    const { secondAnswer, otherAnswer } = twoBranches(session);
    session.appendMessage(assistant("", {}, call("c1", "edit", "a.ts")));
    const left = session.getLeafId();
    writer.reply = async () => ({ text: "Tried it.", usage: usage(9) });
    const { summaryEntry, ...rest } = await controller.navigateTree(secondAnswer, { summarize: true });
    expect(rest).toEqual({ cancelled: false });
    expect(summaryEntry).toBe(session.getLeafEntry());
    expect(summaryEntry).toMatchObject({
      type: "branch_summary",
      parentId: secondAnswer,
      fromId: left,
      summary: expect.stringMatching(/^Tried it\.\n\n<modified-files>\na\.ts/),
      details: { readFiles: [], modifiedFiles: ["a.ts"] },
      usage: usage(9),
    });
    expect(summaryEntry).not.toHaveProperty("fromHook");
    expect(writer.requests).toMatchObject([
      { kind: "branch", prompt: expect.stringContaining("other answer") },
    ]);
    expect(writer.requests[0]?.prompt).not.toContain("1xxx");
    expect(seen[1]).toEqual([
      "session_tree",
      { newLeafId: summaryEntry?.id, oldLeafId: left, summaryEntry, fromExtension: false },
    ]);
    expect(otherAnswer).not.toBe(left);
  });

  test("a user message is still edited, after the summary", async () => {
    const { session, controller } = stage();
    const { first } = twoBranches(session);
    const { summaryEntry, editorText } = await controller.navigateTree(first, { summarize: true });
    expect(editorText).toMatch(/^0x/);
    expect(summaryEntry).toMatchObject({ parentId: null, fromId: expect.any(String) });
    expect(seenByModel(session)).toEqual([expect.stringContaining("user: ")]);
  });

  test("the instructions are in the prompt, or replace it", async () => {
    const { session, controller, writer } = stage();
    const { otherAnswer, secondAnswer } = twoBranches(session);
    await controller.navigateTree(secondAnswer, { summarize: true, customInstructions: "errors" });
    await controller.navigateTree(otherAnswer, {
      summarize: true,
      customInstructions: "As a poem.",
      replaceInstructions: true,
    });
    expect(writer.requests[0]?.prompt).toMatch(/attention to this: errors$/);
    expect(writer.requests[1]?.prompt).toMatch(/<\/conversation>\s+As a poem\.$/);
  });

  test("the label is on the summary; without one on the target", async () => {
    const { session, controller } = stage();
    const { otherAnswer, secondAnswer } = twoBranches(session);
    const { summaryEntry } = await controller.navigateTree(secondAnswer, { summarize: true, label: "tried" });
    expect(session.getLabel(summaryEntry?.id ?? "")).toBe("tried");
    expect(session.getLabel(secondAnswer)).toBeUndefined();
    await controller.navigateTree(otherAnswer, { label: "back" });
    expect(session.getLabel(otherAnswer)).toBe("back");
  });

  test("nothing is appended if no entries were left", async () => {
    const { session, controller, writer } = stage();
    const { firstAnswer, secondAnswer } = twoBranches(session);
    session.branch(firstAnswer);
    const count = session.getEntryCount();
    expect(await controller.navigateTree(secondAnswer, { summarize: true })).toEqual({ cancelled: false });
    session.branch(secondAnswer);
    session.appendLabelChange(firstAnswer, "only a label");
    expect(await controller.navigateTree(secondAnswer, { summarize: true })).toEqual({ cancelled: false });
    expect(session.getEntryCount()).toBe(count + 1);
    expect(writer.requests).toEqual([]);
  });

  test("a branch too long for the model is summarized as far as it fits", async () => {
    const { session, controller, writer } = stage({
      branchSummary: { contextWindow: 100, reserveTokens: 10 },
    });
    const [first = ""] = talk(session, 3);
    await controller.navigateTree(first, { summarize: true });
    expect(writer.requests[0]?.prompt).toContain("2xxx");
    expect(writer.requests[0]?.prompt).not.toContain("0xxx");
  });

  test("a failing model changes nothing", async () => {
    const { session, controller, writer, seen } = stage();
    const { secondAnswer, otherAnswer } = twoBranches(session);
    writer.reply = async () => ({ text: "" });
    const failing = controller.navigateTree(secondAnswer, { summarize: true });
    expect(await rejection(failing)).toMatchObject({ code: "SUMMARY_FAILED" });
    expect(session.getLeafId()).toBe(otherAnswer);
    expect(session.getEntryCount()).toBe(6);
    expect(names(seen)).toEqual(["session_before_tree"]);
  });

  test("without a model and a handler it is rejected, and nothing is lost", async () => {
    const { session, controller } = stage({ summarize: undefined });
    const { secondAnswer, otherAnswer } = twoBranches(session);
    const failing = controller.navigateTree(secondAnswer, { summarize: true });
    expect(await rejection(failing)).toMatchObject({
      code: "SUMMARY_FAILED",
      message: expect.stringContaining("no summarizer"),
    });
    expect(session.getLeafId()).toBe(otherAnswer);
  });
});

describe("handlers of session_before_tree", () => {
  test("can cancel", async () => {
    const { session, controller, seen } = stage();
    const { secondAnswer, otherAnswer } = twoBranches(session);
    controller.hooks.on("session_before_tree", () => ({ cancel: true }));
    expect(await controller.navigateTree(secondAnswer)).toEqual({ cancelled: true });
    expect(session.getLeafId()).toBe(otherAnswer);
    expect(names(seen)).toEqual(["session_before_tree"]);
  });

  test("can return the summary, if one is requested", async () => {
    const { session, controller, writer, seen } = stage();
    const { secondAnswer, otherAnswer } = twoBranches(session);
    controller.hooks.on("session_before_tree", () => ({
      summary: { summary: "By hand.", details: { by: "me" }, usage: usage(2) },
    }));
    const { summaryEntry } = await controller.navigateTree(secondAnswer, { summarize: true });
    expect(summaryEntry).toMatchObject({
      summary: "By hand.",
      details: { by: "me" },
      usage: usage(2),
      fromHook: true,
    });
    expect(seen[1]).toMatchObject(["session_tree", { fromExtension: true, summaryEntry }]);
    expect(await controller.navigateTree(otherAnswer)).toEqual({ cancelled: false });
    expect(session.getLeafId()).toBe(otherAnswer);
    expect(writer.requests).toEqual([]);
  });

  test.each([[" "], [undefined], [7]])("cannot return %j as a summary", async (summary) => {
    const { session, controller } = stage();
    const { secondAnswer, otherAnswer } = twoBranches(session);
    // Extensions in JavaScript may return what the types do not allow.
    const answer = JSON.parse(JSON.stringify({ summary: { summary } }));
    controller.hooks.on("session_before_tree", () => answer);
    const failing = controller.navigateTree(secondAnswer, { summarize: true });
    expect(await rejection(failing)).toMatchObject({ code: "SUMMARY_FAILED" });
    expect(session.getLeafId()).toBe(otherAnswer);
  });

  test("cannot label a read-only session: the leaf does not move", async () => {
    const path = join(temporaryFolder(), "read-only.jsonl");
    const written = SessionManager.open(path);
    const [, firstAnswer = "", , leafId = ""] = talk(written, 2);
    written.close();
    const session = SessionManager.open(path, { mode: "read-only" });
    const { controller, hooks, seen } = stage({ session });
    const stop = hooks.on("session_before_tree", () => ({ label: "mine" }));
    expect(await rejection(controller.navigateTree(firstAnswer))).toMatchObject({ code: "READ_ONLY" });
    expect(session.getLeafId()).toBe(leafId);
    expect(names(seen)).toEqual(["session_before_tree"]);
    stop();
    expect(await controller.navigateTree(firstAnswer)).toEqual({ cancelled: false });
    expect(session.getLeafId()).toBe(firstAnswer);
    session.close();
  });

  test("can override instructions and label", async () => {
    const { session, controller, writer } = stage();
    const { secondAnswer } = twoBranches(session);
    controller.hooks.on("session_before_tree", ({ preparation }) => ({
      customInstructions: `${preparation.customInstructions}, better`,
      replaceInstructions: true,
      label: `${preparation.label}, better`,
    }));
    const { summaryEntry } = await controller.navigateTree(secondAnswer, {
      summarize: true,
      customInstructions: "mine",
      label: "mine",
    });
    expect(writer.requests[0]?.prompt).toMatch(/\s+mine, better$/);
    expect(session.getLabel(summaryEntry?.id ?? "")).toBe("mine, better");
  });
});

describe("an abort of a navigation", () => {
  test("before it begins: no hook", async () => {
    const { session, controller, seen } = stage();
    const { secondAnswer, otherAnswer } = twoBranches(session);
    const result = await controller.navigateTree(secondAnswer, { signal: AbortSignal.abort() });
    expect(result).toEqual({ cancelled: true, aborted: true });
    expect(session.getLeafId()).toBe(otherAnswer);
    expect(seen).toEqual([]);
  });

  test("during a handler", async () => {
    const { session, controller } = stage();
    const { secondAnswer, otherAnswer } = twoBranches(session);
    const abort = new AbortController();
    controller.hooks.on("session_before_tree", () => deferred<undefined>().promise);
    const navigating = controller.navigateTree(secondAnswer, { signal: abort.signal });
    abort.abort();
    expect(await navigating).toEqual({ cancelled: true, aborted: true });
    expect(session.getLeafId()).toBe(otherAnswer);
  });

  test("during the model's reply", async () => {
    const { session, controller, writer, seen } = stage();
    const { secondAnswer, otherAnswer } = twoBranches(session);
    const abort = new AbortController();
    const { asked } = writer.hold();
    const navigating = controller.navigateTree(secondAnswer, { summarize: true, signal: abort.signal });
    await asked;
    abort.abort();
    expect(await navigating).toEqual({ cancelled: true, aborted: true });
    expect(session.getLeafId()).toBe(otherAnswer);
    expect(session.getEntryCount()).toBe(6);
    expect(names(seen)).toEqual(["session_before_tree"]);
  });

  test("by a handler that returns a summary nevertheless", async () => {
    const { session, controller } = stage();
    const { secondAnswer, otherAnswer } = twoBranches(session);
    const abort = new AbortController();
    controller.hooks.on("session_before_tree", () => {
      abort.abort();
      return { summary: { summary: "By hand." } };
    });
    const navigating = controller.navigateTree(secondAnswer, { summarize: true, signal: abort.signal });
    expect(await navigating).toEqual({ cancelled: true, aborted: true });
    expect(session.getLeafId()).toBe(otherAnswer);
    expect(session.getEntryCount()).toBe(6);
  });

  test("after the summary but before the write", async () => {
    const { session, controller, writer } = stage();
    const { secondAnswer } = twoBranches(session);
    const abort = new AbortController();
    writer.reply = async () => {
      queueMicrotask(() => abort.abort());
      return { text: "Notes." };
    };
    const navigating = controller.navigateTree(secondAnswer, { summarize: true, signal: abort.signal });
    expect(await navigating).toEqual({ cancelled: true, aborted: true });
    expect(session.getEntryCount()).toBe(6);
  });
});

describe("during a navigation", () => {
  test("appended entries stay on the branch that is left", async () => {
    const { session, controller, writer, seen } = stage();
    const { secondAnswer } = twoBranches(session);
    const { asked, release } = writer.hold();
    const navigating = controller.navigateTree(secondAnswer, { summarize: true });
    await asked;
    const late = session.appendMessage(user("late"));
    release();
    const { summaryEntry } = await navigating;
    expect(summaryEntry).toMatchObject({ parentId: secondAnswer, fromId: late });
    expect(seen[1]).toMatchObject(["session_tree", { oldLeafId: late }]);
    expect(session.getBranch(late).at(-1)).toMatchObject({ id: late });
    expect(seenByModel(session).join()).not.toContain("late");
  });

  test("leaving the branch makes it stale: nothing is written", async () => {
    const { session, controller, writer, seen } = stage();
    const { secondAnswer, firstAnswer } = twoBranches(session);
    const { asked, release } = writer.hold();
    const navigating = rejection(controller.navigateTree(secondAnswer, { summarize: true, label: "x" }));
    await asked;
    session.branch(firstAnswer);
    release();
    expect(await navigating).toMatchObject({ code: "STALE_LEAF" });
    expect(session.getLeafId()).toBe(firstAnswer);
    expect(session.getEntryCount()).toBe(6);
    expect(names(seen)).toEqual(["session_before_tree"]);
  });

  test("another navigation finishes first, and this one is stale", async () => {
    const { session, controller, writer } = stage();
    const { secondAnswer, first } = twoBranches(session);
    const { asked, release } = writer.hold();
    const slow = rejection(controller.navigateTree(secondAnswer, { summarize: true }));
    await asked;
    await controller.navigateTree(first);
    release();
    expect(await slow).toMatchObject({ code: "STALE_LEAF" });
    expect(session.getLeafId()).toBeNull();
  });

  test("switching to another session makes it stale", async () => {
    const { session, controller, writer } = stage();
    const { secondAnswer } = twoBranches(session);
    const { asked } = writer.hold();
    const slow = rejection(controller.navigateTree(secondAnswer, { summarize: true }));
    await asked;
    await controller.newSession();
    expect(await slow).toMatchObject({ code: "STALE_LEAF" });
    expect(session.getEntryCount()).toBe(6);
  });

  test("from before the first entry: an append makes it stale", async () => {
    const { session, controller } = stage();
    const { secondAnswer } = twoBranches(session);
    session.resetLeaf();
    controller.hooks.on("session_before_tree", () => {
      session.appendMessage(user("first again"));
    });
    expect(await rejection(controller.navigateTree(secondAnswer))).toMatchObject({ code: "STALE_LEAF" });
  });

  test("a compaction of the branch that is left becomes stale, and the navigation continues", async () => {
    const { session, controller, writer } = stage();
    const [, firstAnswer = ""] = talk(session, 4);
    const { asked, release } = writer.hold();
    const compacting = rejection(controller.compact());
    await asked;
    await controller.navigateTree(firstAnswer);
    release();
    expect(await compacting).toMatchObject({ code: "STALE_LEAF" });
    expect(session.getLeafId()).toBe(firstAnswer);
  });
});

describe("a navigation during tool calls", () => {
  /** Appends a turn whose tool has not ended. */
  function running(session: SessionManager) {
    const [, answer = ""] = talk(session, 1);
    session.appendMessage(user("run"));
    const callId = session.appendMessage(assistant("", {}, call("c1")));
    return { answer, callId };
  }

  test("leaves a call without a result, and requests on either branch are valid", async () => {
    const { session, controller } = stage();
    const { answer, callId } = running(session);
    await controller.navigateTree(answer, { summarize: true });
    expect(isValidRequest(session)).toBe(true);
    await controller.navigateTree(callId);
    expect(isValidRequest(session)).toBe(false);
    const { messages } = session.buildSessionContext();
    expect(convertToLlm(messages, { repairToolPairs: true }).at(-1)).toMatchObject({
      role: "toolResult",
      toolCallId: "c1",
      isError: true,
    });
  });

  test("makes a late result stale, for a runtime that states the expected leaf", async () => {
    const { session, controller } = stage();
    const { answer, callId } = running(session);
    await controller.navigateTree(answer);
    const append = () =>
      session.append({ type: "message", message: toolResult("c1", "late") }, { expectedLeafId: callId });
    expect(append).toThrow(expect.objectContaining({ code: "STALE_LEAF" }));
    expect(session.getLeafId()).toBe(answer);
    expect(isValidRequest(session)).toBe(true);
  });

  test("keeps a timely result on the branch that is left", async () => {
    const { session, controller, writer } = stage();
    const { answer, callId } = running(session);
    const { asked, release } = writer.hold();
    const navigating = controller.navigateTree(answer, { summarize: true });
    await asked;
    const result = session.appendMessage(toolResult("c1", tokens(3)));
    release();
    await navigating;
    expect(session.getEntry(result)).toMatchObject({ parentId: callId });
    expect(isValidRequest(session)).toBe(true);
    await controller.navigateTree(result);
    expect(isValidRequest(session)).toBe(true);
  });
});
