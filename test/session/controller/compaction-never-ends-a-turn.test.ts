import { estimateTokens, type SessionManager } from "sessiontree";
import { describe, expect, test } from "vitest";
import { assistant, call, tokens, toolResult, usage, user } from "../../support/messages.ts";
import { isValidRequest, names, rejection, stage, talk } from "./support/stage.ts";

const WINDOW = 8_192;

/** Returns the estimated size of the next request. */
function contextSize(session: SessionManager): number {
  return session.buildSessionContext().messages.reduce((sum, message) => sum + estimateTokens(message), 0);
}

/** Appends a call and its result of the given number of tokens. */
function callTool(session: SessionManager, size: number, id = "c1"): string {
  session.appendMessage(assistant("I look.", {}, call(id)));
  return session.appendMessage(toolResult(id, tokens(size, "r")));
}

describe("a summary that fails", () => {
  const failing = async () => {
    throw new Error("The model is overloaded.");
  };

  test("lets the agent continue as long as the request fits", async () => {
    const { session, controller, writer, seen } = stage();
    talk(session, 3);
    writer.reply = failing;
    const result = await controller.compactIfNeeded({ contextWindow: 300 });
    expect(result).toMatchObject({
      compacted: false,
      reason: "summaryFailed",
      contextTokens: 240,
      summaryError: { code: "SUMMARY_FAILED" },
    });
    expect(names(seen)).toEqual(["session_before_compact", "session_compact_failed"]);
    expect(session.getEntries().some(({ type }) => type === "compaction")).toBe(false);
  });

  test.each([
    ["no longer fits", 1, { contextWindow: 260 }],
    ["was refused as too long", 20, { contextWindow: 100_000, reason: "overflow" as const }],
    ["would fit, if so requested", 1, { contextWindow: 300, onSummaryFailure: "extract" as const }],
  ])("is extracted if the request %s", async (_when, scale, options) => {
    const { session, controller, writer, seen } = stage();
    talk(session, 3, scale * 40);
    writer.reply = failing;
    expect(await controller.compactIfNeeded(options)).toMatchObject({
      compacted: true,
      shrank: true,
      fromExtension: false,
      details: { withoutModel: true },
      summaryError: { code: "SUMMARY_FAILED" },
    });
    expect(names(seen)).toEqual(["session_before_compact", "session_compact"]);
  });

  test.each([{ contextWindow: 300 }, { contextWindow: 250 }])("throws on request (%o)", async (options) => {
    const { session, controller, writer } = stage();
    talk(session, 3);
    writer.reply = failing;
    const thrown = controller.compactIfNeeded({ ...options, onSummaryFailure: "throw" });
    expect(await rejection(thrown)).toMatchObject({ code: "SUMMARY_FAILED" });
  });

  test("is extracted as well if an extension's is unusable", async () => {
    const { session, controller } = stage();
    talk(session, 3);
    controller.hooks.on("session_before_compact", ({ preparation: { firstKeptEntryId, tokensBefore } }) => ({
      compaction: { summary: " ", firstKeptEntryId, tokensBefore },
    }));
    expect(await controller.compactIfNeeded({ contextWindow: 250 })).toMatchObject({
      compacted: true,
      fromExtension: false,
      details: { withoutModel: true },
    });
  });

  test("is not a failure if the caller aborted it", async () => {
    const { session, controller, writer } = stage();
    talk(session, 3);
    writer.reply = async () => ({ text: "", stopReason: "aborted" });
    const aborted = controller.compactIfNeeded({ contextWindow: 250, onSummaryFailure: "extract" });
    expect(await rejection(aborted)).toMatchObject({ code: "ABORTED" });
  });
});

describe("a tool result larger than the window", () => {
  test.each([
    ["after the first question", 0],
    ["in a long conversation", 7],
  ])("is cut in the middle, with a marker, %s", async (_where, turns) => {
    const { session, controller } = stage({ settings: undefined });
    talk(session, turns, 500);
    session.appendMessage(user("Read the log."));
    const id = callTool(session, 20_000);
    const stored = structuredClone(session.getEntry(id));
    const result = await controller.compactIfNeeded({ contextWindow: WINDOW });
    expect(result).toMatchObject({ shortenedResultIds: [id] });
    expect(contextSize(session)).toBeLessThan(WINDOW * 0.75);
    const [last] = session.buildSessionContext().messages.slice(-1);
    expect(JSON.stringify(last)).toMatch(/rrr.*\[\.\.\. \d+ characters left out\].*rrr/);
    expect(last).toMatchObject({ role: "toolResult", toolCallId: "c1" });
    expect(session.getEntry(id)).toEqual(stored);
    expect(isValidRequest(session)).toBe(true);
    const again = await controller.compactIfNeeded({ contextWindow: WINDOW });
    expect(again).toMatchObject({ compacted: false, reason: "belowThreshold" });
    expect(again).not.toHaveProperty("shortenedResultIds");
  });

  test("is cut together with others that do not fit next to it; a short one is kept", async () => {
    const { session, controller } = stage({ settings: undefined });
    session.appendMessage(user("Read them."));
    session.appendMessage(assistant("I look.", {}, call("a"), call("b"), call("c")));
    const [long, short, longer] = [6000, 10, 30_000].map((size, at) =>
      session.appendMessage(toolResult("abc"[at] ?? "", tokens(size, "r"))),
    );
    const result = await controller.compactIfNeeded({ contextWindow: WINDOW });
    expect(result).toMatchObject({ shortenedResultIds: [long, longer] });
    const [, , ...results] = session.buildSessionContext().messages;
    const sizes = results.map((message) => estimateTokens(message));
    expect(sizes[1]).toBe(10);
    expect(Math.abs((sizes[0] ?? 0) - (sizes[2] ?? 0))).toBeLessThan(50);
    expect(session.getEntry(short ?? "")).toMatchObject({ type: "message" });
    expect(contextSize(session)).toBeLessThan(WINDOW * 0.75);
  });

  test("keeps its images", async () => {
    const { session, controller } = stage({ settings: undefined });
    const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
    session.appendMessage(user("Look."));
    session.appendMessage(assistant("I look.", {}, call("a")));
    const { content, ...rest } = toolResult("a", tokens(9000));
    session.appendMessage({ ...rest, content: [image, ...content] });
    await controller.compactIfNeeded({ contextWindow: WINDOW });
    const [last] = session.buildSessionContext().messages.slice(-1);
    expect(last?.role === "toolResult" && last.content.map(({ type }) => type)).toEqual(["image", "text"]);
  });

  test("is cut even if /compact would be rejected", async () => {
    const { session, controller } = stage({ settings: undefined });
    talk(session, 2, 500);
    const id = callTool(session, 20_000);
    expect(await controller.compact({ contextWindow: WINDOW })).toMatchObject({ shortenedResultIds: [id] });
    expect(contextSize(session)).toBeLessThan(WINDOW);
  });

  test("is unchanged while compaction is disabled, or a compaction makes room", async () => {
    const { session, controller } = stage({ settings: undefined });
    callTool(session, 20_000);
    session.appendMessage(assistant("It says nothing.", { usage: usage(WINDOW + 1) }));
    talk(session, 1, 100);
    const result = await controller.compactIfNeeded({ contextWindow: WINDOW });
    expect(result).toMatchObject({ compacted: true });
    expect(result).not.toHaveProperty("shortenedResultIds");

    const off = stage({ settings: { enabled: false, reserveTokens: 100, keepRecentTokens: 50 } });
    callTool(off.session, 20_000);
    expect(await off.controller.compactIfNeeded({ contextWindow: WINDOW })).toMatchObject({
      reason: "disabled",
    });
    expect(off.session.getEntries()).toHaveLength(2);
  });
});

describe("the size of a context", () => {
  const chinese = "会话".repeat(2000);

  test("is counted by script", async () => {
    const { session, controller } = stage({ settings: undefined });
    session.appendMessage(user(chinese));
    session.appendMessage(assistant(chinese));
    session.appendMessage(user("And?"));
    expect(estimateTokens(user(chinese))).toBe(1000);
    expect(await controller.compactIfNeeded({ contextWindow: WINDOW })).toMatchObject({ compacted: true });
    expect(controller.getStats().context.tokens).toBeNull();
  });

  test("is counted by the caller's tokenizer, if there is one", async () => {
    const { session, controller } = stage({ settings: undefined, counter: (text) => text.length / 100 });
    session.appendMessage(user(chinese));
    session.appendMessage(assistant(chinese));
    expect(await controller.compactIfNeeded({ contextWindow: WINDOW })).toMatchObject({
      reason: "belowThreshold",
      contextTokens: 80,
    });
  });

  test("bounds prompts and extracts in any script", async () => {
    const { session, controller, writer } = stage({ settings: undefined });
    for (let turn = 0; turn < 6; turn++) {
      session.appendMessage(user(chinese.slice(0, 3000)));
      session.appendMessage(assistant(chinese.slice(0, 500)));
    }
    writer.reply = async ({ prompt }) => {
      expect(prompt.match(/[会话]/g)?.length).toBeLessThan(WINDOW);
      throw new Error("no");
    };
    const result = await controller.compactIfNeeded({ contextWindow: WINDOW });
    expect(writer.requests.length).toBeGreaterThan(0);
    expect(result).toMatchObject({ compacted: true, details: { withoutModel: true } });
    expect(result.compacted && result.summary.match(/[会话]/g)?.length).toBeLessThan(2048);
  });

  test("includes what is sent in addition to the messages, unless the provider counted it", async () => {
    const { session, controller } = stage();
    talk(session, 3);
    const options = { contextWindow: 400, overheadTokens: 61 };
    expect(await controller.compactIfNeeded({ ...options, overheadTokens: 60 })).toMatchObject({
      reason: "belowThreshold",
      contextTokens: 300,
    });
    session.appendMessage(assistant("x", { usage: usage(300) }));
    expect(await controller.compactIfNeeded(options)).toMatchObject({ contextTokens: 300 });
    session.appendMessage(user("x"));
    expect(await controller.compactIfNeeded(options)).toMatchObject({ compacted: true, tokensBefore: 301 });
  });

  test("leaves room for what is sent in addition to the messages", async () => {
    const { session, controller } = stage({ settings: undefined });
    session.appendMessage(user("Read the log."));
    callTool(session, 20_000);
    const overheadTokens = 3000;
    await controller.compactIfNeeded({ contextWindow: WINDOW, overheadTokens });
    expect(contextSize(session) + overheadTokens).toBeLessThan(WINDOW * 0.75 + 1);
  });
});

describe("content that cannot fit", () => {
  test("is explained: what takes the room, and what to do", async () => {
    const { session, controller } = stage({ settings: undefined });
    session.appendMessage({ role: "system", content: tokens(100), timestamp: 1 });
    talk(session, 2, 500);
    const id = session.appendMessage(user(tokens(9000)));
    const result = await controller.compactIfNeeded({ contextWindow: WINDOW, overheadTokens: 200 });
    expect(result).toMatchObject({ compacted: false, reason: "cannotFit", contextTokens: 11_300 });
    const message = result.compacted ? "" : result.message;
    expect(message).toContain(id);
    for (const part of ["8192", "100", "200", "9000", "larger", "appendContextEdit"])
      expect(message).toContain(part);
    const thrown = await rejection(controller.compact({ contextWindow: WINDOW }));
    expect(thrown).toMatchObject({ code: "NOTHING_TO_COMPACT", message: expect.stringContaining(id) });
  });

  test("is the reason as well if there is nothing to summarize in a context beyond the window", async () => {
    const { session, controller } = stage({ settings: undefined });
    session.appendMessage(user(tokens(9000)));
    expect(await controller.compactIfNeeded({ contextWindow: WINDOW })).toMatchObject({
      reason: "cannotFit",
    });
  });
});
