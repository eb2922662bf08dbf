import { DEFAULT_COMPACTION_SETTINGS, estimateTokens, SessionManager } from "sessiontree";
import { describe, expect, test } from "vitest";
import { assistant, tokens, usage, user } from "../../support/messages.ts";
import { deferred, names, rejection, SMALL, stage, talk } from "./support/stage.ts";

/** Adds a handler that makes every summary longer than the summarized text. */
function writeTooMuch({ controller }: ReturnType<typeof stage>): () => void {
  return controller.hooks.on("session_before_compact", ({ preparation }) => {
    const { firstKeptEntryId, tokensBefore } = preparation;
    return { compaction: { summary: tokens(tokensBefore + 500), firstKeptEntryId, tokensBefore } };
  });
}

/** Appends a turn and compacts if needed. */
async function turn({ session, controller }: ReturnType<typeof stage>, contextWindow = 200) {
  talk(session, 1, 60);
  return controller.compactIfNeeded({ contextWindow });
}

/** Returns the estimated size of the next request. */
function contextSize(session: SessionManager): number {
  return session.buildSessionContext().messages.reduce((sum, message) => sum + estimateTokens(message), 0);
}

describe("compactIfNeeded", () => {
  test("does not compact a context with room", async () => {
    const { session, controller, seen } = stage();
    talk(session, 3);
    expect(await controller.compactIfNeeded({ contextWindow: 340 })).toEqual({
      compacted: false,
      reason: "belowThreshold",
      contextTokens: 240,
    });
    expect(seen).toEqual([]);
  });

  test("compacts a context without room next to the reserve", async () => {
    const { session, controller, seen } = stage();
    talk(session, 3);
    expect(await controller.compactIfNeeded({ contextWindow: 339 })).toMatchObject({
      compacted: true,
      tokensBefore: 240,
      shrank: true,
    });
    expect(seen).toMatchObject([
      ["session_before_compact", { reason: "threshold", willRetry: false }],
      ["session_compact", { reason: "threshold", willRetry: false }],
    ]);
    expect(session.getLeafEntry()).toMatchObject({ type: "compaction" });
  });

  test("uses the size that the model reported, but not one from before the last compaction", async () => {
    const { session, controller } = stage();
    talk(session, 3);
    session.appendMessage(assistant("big", { usage: usage(5000) }));
    expect(await controller.compactIfNeeded({ contextWindow: 1000 })).toMatchObject({
      compacted: true,
      tokensBefore: 5000,
    });
    expect(await controller.compactIfNeeded({ contextWindow: 1000 })).toMatchObject({
      reason: "belowThreshold",
    });
  });

  test("trusts a provider that rejected the request as too long", async () => {
    const { session, controller, seen } = stage();
    talk(session, 3);
    const result = await controller.compactIfNeeded({ contextWindow: 100_000, reason: "overflow" });
    expect(result).toMatchObject({ compacted: true });
    expect(seen).toMatchObject([
      ["session_before_compact", { reason: "overflow", willRetry: true }],
      ["session_compact", { reason: "overflow", willRetry: true }],
    ]);
  });

  test("reports why there is nothing to compact", async () => {
    const { controller } = stage();
    expect(await controller.compactIfNeeded({ contextWindow: 0, reason: "overflow" })).toEqual({
      compacted: false,
      reason: "empty",
      contextTokens: 0,
    });
  });

  test("respects the settings, including those of the current model", async () => {
    const settings = { ...SMALL, models: { "acme/m1": { enabled: false } } };
    for (const reason of ["threshold", "overflow"] as const) {
      const { session, controller } = stage({ settings });
      talk(session, 3);
      const result = await controller.compactIfNeeded({ contextWindow: 300, reason });
      expect(result).toMatchObject({ compacted: false, reason: "disabled" });
      session.appendModelChange("acme", "m2");
      expect(await controller.compactIfNeeded({ contextWindow: 300, reason })).toMatchObject({
        compacted: true,
      });
    }
  });

  test("plans with the model that it checked, even if only the header names it", async () => {
    const keepMore = { ...SMALL, models: { "acme/m1": { keepRecentTokens: 90 } } };
    const header = {
      type: "session" as const,
      version: 3,
      id: "s1",
      timestamp: "2025-01-01T00:00:00.000Z",
      cwd: "/project",
      provider: "acme",
      modelId: "m1",
    };
    const session = SessionManager.inMemory("/project", {}, [header]);
    const { controller, seen } = stage({ session, settings: keepMore });
    const ids = Array.from({ length: 6 }, () => session.appendMessage(user(tokens(40))));
    expect(session.buildSessionContext().model).toEqual({ provider: "acme", modelId: "m1" });
    expect(await controller.compactIfNeeded({ contextWindow: 300 })).toMatchObject({
      compacted: true,
      firstKeptEntryId: ids[3],
    });
    expect(seen[0]).toMatchObject([
      "session_before_compact",
      { preparation: { settings: { keepRecentTokens: 90 } } },
    ]);
  });

  test("throws a typed error and retries the next time", async () => {
    const { session, controller, writer, seen } = stage();
    talk(session, 3);
    writer.reply = async () => ({ text: "" });
    const failing = controller.compactIfNeeded({ contextWindow: 300, onSummaryFailure: "throw" });
    expect(await rejection(failing)).toMatchObject({ code: "SUMMARY_FAILED" });
    const aborting = controller.compactIfNeeded({ contextWindow: 300, signal: AbortSignal.abort() });
    expect(await rejection(aborting)).toMatchObject({ code: "ABORTED", message: "Compaction cancelled" });
    writer.reply = async () => ({ text: "Notes." });
    expect(await controller.compactIfNeeded({ contextWindow: 300 })).toMatchObject({ compacted: true });
    expect(names(seen)).toEqual([
      "session_before_compact",
      "session_compact_failed",
      "session_before_compact",
      "session_compact",
    ]);
  });
});

describe("the breaker", () => {
  test("stops after two compactions in a row that did not shrink the context, and reports it", async () => {
    const on = stage();
    writeTooMuch(on);
    expect(await turn(on)).toMatchObject({ compacted: true, shrank: false });
    expect(await turn(on)).toMatchObject({ compacted: true, shrank: false });
    const events = on.seen.length;
    expect(await turn(on)).toMatchObject({ compacted: false, reason: "notShrinking" });
    const overflow = await on.controller.compactIfNeeded({ contextWindow: 200, reason: "overflow" });
    expect(overflow).toMatchObject({ compacted: false, reason: "notShrinking" });
    expect(on.seen).toHaveLength(events);
  });

  test("does not count compactions that are not in a row", async () => {
    const on = stage();
    for (let round = 0; round < 3; round++) {
      const stop = writeTooMuch(on);
      expect(await turn(on)).toMatchObject({ compacted: true });
      stop();
      expect(await turn(on)).toMatchObject({ compacted: true, shrank: true });
    }
  });

  test("allows the user's compaction, and resets after one that shrinks the context", async () => {
    const on = stage();
    const stop = writeTooMuch(on);
    await turn(on);
    await turn(on);
    talk(on.session, 1, 60);
    stop();
    expect(await on.controller.compact()).toMatchObject({ shrank: true });
    expect(await turn(on, 190)).toMatchObject({ compacted: true });
  });

  test.each([
    ["another branch", (on: ReturnType<typeof stage>, first: string) => on.controller.navigateTree(first)],
    ["another session", (on: ReturnType<typeof stage>) => on.controller.newSession()],
  ] as const)("applies to the branch: %s resets it", async (_what, leave) => {
    const on = stage();
    const [, first = ""] = talk(on.session, 1);
    writeTooMuch(on);
    await turn(on);
    await turn(on);
    await leave(on, first);
    const { controller } = on;
    talk(controller.session, 3);
    expect(await controller.compactIfNeeded({ contextWindow: 200 })).toMatchObject({ compacted: true });
  });
});

describe("during another compaction", () => {
  test("waits for it, and checks again", async () => {
    const { session, controller, writer } = stage();
    talk(session, 3);
    const { asked, release } = writer.hold();
    const manual = controller.compact();
    await asked;
    const automatic = controller.compactIfNeeded({ contextWindow: 339 });
    release();
    await manual;
    expect(await automatic).toMatchObject({ compacted: false, reason: "belowThreshold" });
    expect(session.getEntries().filter(({ type }) => type === "compaction")).toHaveLength(1);
  });

  test("waits for it even if it fails, and then compacts", async () => {
    const { session, controller, writer } = stage();
    talk(session, 3);
    const { asked, release } = writer.hold();
    const manual = rejection(controller.compact());
    await asked;
    const automatic = controller.compactIfNeeded({ contextWindow: 300 });
    writer.reply = async () => ({ text: "Second." });
    release({ text: "" });
    expect(await manual).toMatchObject({ code: "SUMMARY_FAILED" });
    expect(await automatic).toMatchObject({ compacted: true, summary: "Second." });
  });

  test("stops waiting when aborted", async () => {
    const { session, controller, writer } = stage();
    talk(session, 3);
    const { asked, release } = writer.hold();
    const manual = controller.compact();
    await asked;
    const abort = new AbortController();
    const automatic = rejection(controller.compactIfNeeded({ contextWindow: 300, signal: abort.signal }));
    abort.abort();
    expect(await automatic).toMatchObject({ code: "ABORTED", message: "Compaction cancelled" });
    release();
    expect(await manual).toMatchObject({ summary: "Notes." });
  });

  test("does not wait for the compaction that calls it", async () => {
    const { session, controller } = stage();
    talk(session, 3);
    const inner = deferred<unknown>();
    controller.hooks.on("session_before_compact", async () => {
      inner.resolve(await controller.compactIfNeeded({ contextWindow: 300 }));
    });
    await controller.compact();
    expect(await inner.promise).toEqual({ compacted: false, reason: "running", contextTokens: 240 });
  });

  test("continues as soon as that one is written, even if its handlers still run", async () => {
    const { session, controller } = stage();
    talk(session, 3);
    const inner = deferred<unknown>();
    const remove = controller.hooks.on("session_compact", async () => {
      remove();
      session.appendMessage(user(tokens(300)));
      inner.resolve(await controller.compactIfNeeded({ contextWindow: 450 }));
    });
    await controller.compact();
    expect(await inner.promise).toMatchObject({ compacted: true });
  });

  test("two at the same time compact once", async () => {
    const { session, controller, writer } = stage();
    talk(session, 3);
    const results = await Promise.all([
      controller.compactIfNeeded({ contextWindow: 339 }),
      controller.compactIfNeeded({ contextWindow: 339 }),
    ]);
    expect(results).toMatchObject([{ compacted: true }, { compacted: false, reason: "belowThreshold" }]);
    expect(session.getEntries().filter(({ type }) => type === "compaction")).toHaveLength(1);
    expect(new Set(writer.requests.map(({ kind }) => kind)).size).toBe(writer.requests.length);
  });
});

test("a long conversation is compacted repeatedly, and never exceeds its window", async () => {
  const { session, controller } = stage({ session: SessionManager.inMemory("/project") });
  let compactions = 0;
  for (let round = 0; round < 40; round++) {
    talk(session, 1, 60);
    const result = await controller.compactIfNeeded({ contextWindow: 600 });
    if (result.compacted) compactions++;
    const size = result.compacted ? result.estimatedTokensAfter : result.contextTokens;
    expect(size).toBeLessThanOrEqual(500);
  }
  expect(compactions).toBeGreaterThan(5);
});

describe("in a small context window", () => {
  test.each([
    [8_192, 18],
    [32_768, 4],
  ])("60 turns of 1,000 tokens fit %i, with at most %i summaries", async (contextWindow, maxSummaries) => {
    const { session, controller } = stage({ settings: undefined });
    let tooLarge = 0;
    let summaries = 0;
    for (let round = 0; round < 60; round++) {
      talk(session, 1, 500);
      const result = await controller.compactIfNeeded({ contextWindow });
      if (result.compacted) summaries++;
      if (contextSize(session) > contextWindow) tooLarge++;
    }
    expect({ tooLarge, isOften: summaries > maxSummaries }).toEqual({ tooLarge: 0, isOften: false });
  });

  test("settings stay unchanged", async () => {
    const settings = { ...DEFAULT_COMPACTION_SETTINGS };
    const { session, controller } = stage({ settings });
    talk(session, 4, 1000);
    const result = await controller.compactIfNeeded({ contextWindow: 8_192 });
    expect(result).toMatchObject({ compacted: false, reason: "nothingToSummarize" });
  });

  test("a message that leaves no room is summarized, even one that is too long for the prompt", async () => {
    const { session, controller, writer } = stage({ settings: undefined });
    talk(session, 2, 500);
    session.appendMessage(user(tokens(9000)));
    talk(session, 1, 300);
    const result = await controller.compactIfNeeded({ contextWindow: 8_192 });
    expect(result).toMatchObject({ compacted: true, shrank: true });
    expect(contextSize(session)).toBeLessThan(8_192);
    for (const { prompt } of writer.requests) {
      expect(prompt.length / 4).toBeLessThan(8_192);
      expect(prompt).toContain("characters left out]");
    }
  });

  test("content that cannot fit is a reason, and costs no summary", async () => {
    const { session, controller, writer, seen } = stage({ settings: undefined });
    talk(session, 2, 500);
    session.appendMessage(user(tokens(9000)));
    const result = await controller.compactIfNeeded({ contextWindow: 8_192 });
    expect(result).toMatchObject({ compacted: false, reason: "cannotFit", contextTokens: 11_000 });
    const requested = controller.compact({ contextWindow: 8_192 });
    expect(await rejection(requested)).toMatchObject({
      code: "NOTHING_TO_COMPACT",
      details: { reason: "cannotFit" },
    });
    expect([writer.requests, seen]).toEqual([[], []]);
  });
});

describe("a summary that does not fit", () => {
  test("is requested again, smaller", async () => {
    const { session, controller, writer } = stage({ settings: undefined });
    talk(session, 7, 512);
    writer.reply = async ({ prompt }) => ({
      text: prompt.includes("Write at most") ? "Short notes." : tokens(6000),
      usage: usage(10),
    });
    const result = await controller.compactIfNeeded({ contextWindow: 8_192 });
    expect(result).toMatchObject({ compacted: true, summary: "Short notes.", usage: { totalTokens: 20 } });
    expect(writer.requests).toHaveLength(2);
  });

  test("is extracted without a model if the second is too long as well", async () => {
    const { session, controller, writer } = stage({ settings: undefined });
    talk(session, 7, 512);
    writer.reply = async () => ({ text: tokens(6000), usage: usage(10) });
    const result = await controller.compactIfNeeded({ contextWindow: 8_192 });
    expect(result).toMatchObject({
      compacted: true,
      shrank: true,
      details: { withoutModel: true },
      usage: { totalTokens: 20 },
    });
    expect(contextSize(session)).toBeLessThan(8_192 - 2048);
  });
});
