import { convertToLlm, SessionManager, serializeConversation } from "sessiontree";
import type { SessionController } from "sessiontree/controller";
import { describe, expect, test, vi } from "vitest";
import { assistant, call, tokens, toolResult, usage, user } from "../../support/messages.ts";
import { deferred, isValidRequest, names, rejection, seenByModel, stage, talk } from "./support/stage.ts";

const cancelled = { code: "ABORTED", message: "Compaction cancelled" };

/** Events of a compaction, without those before it. */
const compacting = ["session_before_compact", "session_compact"];
const failing = ["session_before_compact", "session_compact_failed"];

/** Adds a handler that returns a compaction made from the preparation. */
function compactBy(controller: SessionController, make: (firstKeptEntryId: string) => object): void {
  controller.hooks.on("session_before_compact", ({ preparation }) => ({
    compaction: {
      summary: "By hand.",
      firstKeptEntryId: preparation.firstKeptEntryId,
      tokensBefore: preparation.tokensBefore,
      ...make(preparation.firstKeptEntryId),
    },
  }));
}

describe("compact", () => {
  test("summarizes the older part and appends the summary", async () => {
    const { session, controller, writer, seen } = stage();
    const ids = talk(session, 3);
    writer.reply = async () => ({ text: "The story.", usage: usage(7) });
    const done = await controller.compact({ instructions: "numbers" });
    const entry = session.getLeafEntry();
    expect(done.compactionEntry).toBe(entry);
    expect(done).toMatchObject({
      summary: "The story.",
      firstKeptEntryId: ids[4],
      tokensBefore: 240,
      details: { readFiles: [], modifiedFiles: [] },
      usage: usage(7),
      fromExtension: false,
      estimatedTokensAfter: 83,
      shrank: true,
    });
    expect(entry).toMatchObject({
      type: "compaction",
      summary: "The story.",
      parentId: ids[5],
      usage: usage(7),
    });
    expect(entry).not.toHaveProperty("fromHook");
    expect(seenByModel(session)).toEqual([expect.stringContaining("user: "), "user: 2…", "assistant: 2…"]);
    expect(writer.requests).toMatchObject([{ kind: "history", prompt: expect.stringContaining("numbers") }]);
    expect(names(seen)).toEqual(compacting);
  });

  test("reports the plan and the result to the hooks", async () => {
    const { session, controller, seen } = stage();
    talk(session, 3);
    const branch = session.getBranch();
    const { compactionEntry } = await controller.compact({ instructions: "numbers" });
    expect(seen).toEqual([
      [
        "session_before_compact",
        {
          preparation: expect.objectContaining({ tokensBefore: 240, isSplitTurn: false }),
          branchEntries: branch,
          customInstructions: "numbers",
          reason: "manual",
          willRetry: false,
          signal: expect.any(AbortSignal),
        },
      ],
      ["session_compact", { compactionEntry, fromExtension: false, reason: "manual", willRetry: false }],
    ]);
  });

  test("replaces the prompt by the instructions on request", async () => {
    const { session, controller, writer } = stage();
    talk(session, 3);
    await controller.compact({ instructions: "As a poem.", replaceInstructions: true });
    expect(writer.requests[0]?.prompt).toMatch(/<\/conversation>\s+As a poem\.$/);
  });

  test("works without a model, and reports it", async () => {
    const { session, controller } = stage({ summarize: undefined });
    talk(session, 3, 200);
    const { details, summary } = await controller.compact();
    expect(details).toMatchObject({ withoutModel: true });
    expect(summary).toContain("## Goal");
    expect(session.getLeafEntry()).toMatchObject({ type: "compaction", details: { withoutModel: true } });
  });

  test("counts with the caller's counter", async () => {
    const { session, controller } = stage({ counter: (text) => text.length });
    talk(session, 3);
    expect(await controller.compact()).toMatchObject({ tokensBefore: 960 });
  });

  test("separates no tool call from its result", async () => {
    const { session, controller } = stage();
    session.appendMessage(user(tokens(30)));
    session.appendMessage(assistant("", {}, call("c1", "read", "a.ts")));
    session.appendMessage(toolResult("c1", tokens(60)));
    session.appendMessage(assistant(tokens(10)));
    expect(await controller.compact()).toMatchObject({ details: { readFiles: ["a.ts"] } });
    expect(seenByModel(session)).toHaveLength(2);
    expect(isValidRequest(session)).toBe(true);
  });
});

describe("reasons to reject a compaction", () => {
  test.each([
    ["empty", 0],
    ["nothingToSummarize", 1],
  ] as const)("%s: nothing to compact, and no hook is called", async (reason, turns) => {
    const { session, controller, seen, writer } = stage({
      settings: { enabled: true, reserveTokens: 0, keepRecentTokens: 1000 },
    });
    talk(session, turns);
    const error = await rejection(controller.compact());
    expect(error).toMatchObject({ code: "NOTHING_TO_COMPACT", details: { reason } });
    expect(seen).toEqual([]);
    expect(writer.requests).toEqual([]);
  });

  test("a compaction at the end of the branch", async () => {
    const { session, controller } = stage();
    talk(session, 3);
    await controller.compact();
    const error = await rejection(controller.compact());
    expect(error).toMatchObject({ code: "NOTHING_TO_COMPACT", details: { reason: "justCompacted" } });
  });

  test("a model that returns nothing, runs out of room, or fails: nothing is written", async () => {
    for (const reply of [
      async () => ({ text: "  " }),
      async () => ({ text: "Half a sen", stopReason: "length" }),
      async () => {
        throw new Error("overloaded");
      },
    ]) {
      const { session, controller, writer, seen } = stage();
      talk(session, 3);
      writer.reply = reply;
      expect(await rejection(controller.compact())).toMatchObject({ code: "SUMMARY_FAILED" });
      expect(session.getEntryCount()).toBe(6);
      expect(names(seen)).toEqual(failing);
      expect(seen[1]?.[1]).toEqual({
        reason: "manual",
        errorMessage: expect.stringContaining("No summary was written"),
        aborted: false,
        willRetry: false,
        fromExtension: false,
      });
    }
  });

  test("a session that cannot be written to is rejected before the model is called", async () => {
    const { session, controller, writer, seen } = stage();
    talk(session, 3);
    await session.close();
    expect(await rejection(controller.compact())).toMatchObject({ code: "SESSION_CLOSED" });
    expect(writer.requests).toEqual([]);
    expect(seen).toEqual([]);
  });
});

describe("handlers of session_before_compact", () => {
  test("can make the compaction themselves, as extensions of pi do", async () => {
    const { session, controller, writer, seen } = stage();
    talk(session, 3);
    controller.hooks.on("session_before_compact", async ({ preparation }) => {
      const { messagesToSummarize, firstKeptEntryId, tokensBefore } = preparation;
      const text = serializeConversation(convertToLlm(messagesToSummarize));
      return {
        compaction: {
          summary: `${text.length} characters`,
          firstKeptEntryId,
          tokensBefore,
          details: { by: "me" },
          usage: usage(3, 0.5),
        },
      };
    });
    const done = await controller.compact();
    expect(done).toMatchObject({ fromExtension: true, details: { by: "me" }, usage: usage(3, 0.5) });
    expect(session.getLeafEntry()).toMatchObject({
      summary: expect.stringMatching(/^\d+ characters$/),
      fromHook: true,
      details: { by: "me" },
      usage: usage(3, 0.5),
    });
    expect(writer.requests).toEqual([]);
    expect(seen[1]).toMatchObject(["session_compact", { fromExtension: true }]);
  });

  test("that return nothing specific leave it to the model", async () => {
    const { session, controller } = stage();
    talk(session, 3);
    const answer = JSON.parse('{ "compaction": null }');
    controller.hooks.on("session_before_compact", () => answer);
    expect(await controller.compact()).toMatchObject({ summary: "Notes.", fromExtension: false });
  });

  test("can cancel it", async () => {
    const { session, controller, writer, seen } = stage();
    talk(session, 3);
    controller.hooks.on("session_before_compact", () => ({ cancel: true }));
    expect(await rejection(controller.compact())).toMatchObject(cancelled);
    expect(session.getEntryCount()).toBe(6);
    expect(writer.requests).toEqual([]);
    expect(seen[1]).toEqual([
      "session_compact_failed",
      { reason: "manual", aborted: true, willRetry: false, fromExtension: false },
    ]);
  });

  test("can keep nothing", async () => {
    const { session, controller } = stage();
    talk(session, 3);
    compactBy(controller, () => ({ firstKeptEntryId: null }));
    const { compactionEntry, firstKeptEntryId } = await controller.compact();
    expect(firstKeptEntryId).toBe(compactionEntry.id);
    expect(seenByModel(session)).toHaveLength(1);
  });

  test("keep entries appended in the meantime, even if they keep nothing", async () => {
    const { session, controller } = stage();
    talk(session, 3);
    compactBy(controller, () => {
      session.appendMessage(user("meanwhile"));
      return { firstKeptEntryId: null };
    });
    await controller.compact();
    expect(seenByModel(session)).toEqual([expect.any(String), "user: meanwhile"]);
  });

  test.each([
    ["no text", { summary: " " }],
    ["a value that is not a string", { summary: 7 }],
    ["an entry that is not on the branch", { firstKeptEntryId: "nowhere" }],
    ["no first kept entry", { firstKeptEntryId: undefined }],
  ])("cannot lose the history by %s", async (_what, flaw) => {
    const { session, controller, seen } = stage();
    talk(session, 3);
    compactBy(controller, () => flaw);
    expect(await rejection(controller.compact())).toMatchObject({ code: "SUMMARY_FAILED" });
    expect(session.getEntryCount()).toBe(6);
    expect(seen[1]).toMatchObject(["session_compact_failed", { fromExtension: true, aborted: false }]);
  });

  test("do not need the size of the context", async () => {
    const { session, controller } = stage();
    talk(session, 3);
    compactBy(controller, () => ({ tokensBefore: Number.NaN }));
    expect(await controller.compact()).toMatchObject({ tokensBefore: 240 });
  });
});

describe("an abort of a compaction", () => {
  test("before it begins: no hook, no model", async () => {
    const { session, controller, seen, writer } = stage();
    talk(session, 3);
    expect(await rejection(controller.compact({ signal: AbortSignal.abort() }))).toMatchObject(cancelled);
    expect(seen).toEqual([]);
    expect(writer.requests).toEqual([]);
  });

  test("during a handler, which sees the signal", async () => {
    const { session, controller, seen, writer } = stage();
    talk(session, 3);
    const abort = new AbortController();
    const aborts = vi.fn();
    const asked = deferred<void>();
    controller.hooks.on("session_before_compact", ({ signal }) => {
      signal.addEventListener("abort", aborts);
      asked.resolve();
      return deferred<undefined>().promise;
    });
    const compacting = rejection(controller.compact({ signal: abort.signal }));
    await asked.promise;
    abort.abort();
    expect(await compacting).toMatchObject(cancelled);
    expect(aborts).toHaveBeenCalledTimes(1);
    expect(writer.requests).toEqual([]);
    expect(seen[1]).toMatchObject(["session_compact_failed", { aborted: true }]);
    expect(session.getEntryCount()).toBe(6);
  });

  test("by a handler that returns a compaction nevertheless", async () => {
    const { session, controller } = stage();
    talk(session, 3);
    const abort = new AbortController();
    compactBy(controller, () => {
      abort.abort();
      return {};
    });
    expect(await rejection(controller.compact({ signal: abort.signal }))).toMatchObject(cancelled);
    expect(session.getEntryCount()).toBe(6);
  });

  test("during the model's reply, whether it listens or not", async () => {
    const { session, controller, writer, seen } = stage();
    talk(session, 3);
    const abort = new AbortController();
    const { asked } = writer.hold();
    const compacting = rejection(controller.compact({ signal: abort.signal }));
    await asked;
    abort.abort();
    expect(await compacting).toMatchObject(cancelled);
    expect(writer.requests[0]?.signal?.aborted).toBe(true);
    expect(names(seen)).toEqual(failing);
    expect(session.getEntryCount()).toBe(6);
  });

  test("after the summary but before the write", async () => {
    const { session, controller, writer } = stage();
    talk(session, 3);
    const abort = new AbortController();
    writer.reply = async () => {
      queueMicrotask(() => abort.abort());
      return { text: "Notes." };
    };
    expect(await rejection(controller.compact({ signal: abort.signal }))).toMatchObject(cancelled);
    expect(session.getEntryCount()).toBe(6);
  });

  test("after the write has no effect", async () => {
    const { session, controller } = stage();
    talk(session, 3);
    const abort = new AbortController();
    controller.hooks.on("session_compact", () => abort.abort());
    await controller.compact({ signal: abort.signal });
    expect(session.getLeafEntry()).toMatchObject({ type: "compaction" });
  });

  test("leaves no compaction running", async () => {
    const { session, controller, writer } = stage();
    talk(session, 3);
    const abort = new AbortController();
    const { asked } = writer.hold();
    const first = rejection(controller.compact({ signal: abort.signal }));
    await asked;
    abort.abort();
    await first;
    writer.reply = async () => ({ text: "Second." });
    expect(await controller.compact()).toMatchObject({ summary: "Second." });
  });
});

describe("during a compaction", () => {
  test("appended entries stay in the context, after the boundary", async () => {
    const { session, controller, writer } = stage();
    const ids = talk(session, 3);
    const { asked, release } = writer.hold();
    const compacting = controller.compact();
    await asked;
    const prompt = session.appendMessage(user("meanwhile"));
    session.appendMessage(assistant("", {}, call("c1")));
    session.appendMessage(toolResult("c1", "out"));
    session.appendLabelChange(prompt, "here");
    release();
    const { compactionEntry } = await compacting;
    expect(compactionEntry).toMatchObject({ firstKeptEntryId: ids[4] });
    expect(session.getLeafId()).toBe(compactionEntry.id);
    expect(seenByModel(session).slice(1)).toEqual([
      "user: 2…",
      "assistant: 2…",
      "user: meanwhile",
      "assistant: ",
      "toolResult: out",
    ]);
    expect(isValidRequest(session)).toBe(true);
  });

  test("tools that end in the meantime keep their pairs complete", async () => {
    const { session, controller, writer } = stage();
    talk(session, 3);
    session.appendMessage(user("run"));
    session.appendMessage(assistant("", {}, call("c1"), call("c2")));
    const { asked, release } = writer.hold();
    const compacting = controller.compact();
    await asked;
    session.appendMessage(toolResult("c1", "one"));
    session.appendMessage(toolResult("c2", "two"));
    release();
    await compacting;
    expect(isValidRequest(session)).toBe(true);
    expect(seenByModel(session).slice(-2)).toEqual(["toolResult: one", "toolResult: two"]);
  });

  test("tools that end later find their call", async () => {
    const { session, controller } = stage();
    talk(session, 3);
    session.appendMessage(user("run"));
    session.appendMessage(assistant("", {}, call("c1")));
    await controller.compact();
    session.appendMessage(toolResult("c1", "one"));
    expect(isValidRequest(session)).toBe(true);
  });

  test("leaving the branch makes it stale: nothing is written", async () => {
    const { session, controller, writer, seen } = stage();
    const ids = talk(session, 3);
    const { asked, release } = writer.hold();
    const compacting = rejection(controller.compact());
    await asked;
    session.branch(ids[1] ?? "");
    release();
    expect(await compacting).toMatchObject({
      code: "STALE_LEAF",
      details: { expectedLeafId: ids[5], leafId: ids[1] },
    });
    expect(session.getEntryCount()).toBe(6);
    expect(seen[1]).toMatchObject([
      "session_compact_failed",
      { aborted: false, errorMessage: expect.stringContaining("left in the meantime") },
    ]);
  });

  test("leaving the branch and returning has no effect", async () => {
    const { session, controller, writer } = stage();
    const ids = talk(session, 3);
    const { asked, release } = writer.hold();
    const compacting = controller.compact();
    await asked;
    session.branch(ids[1] ?? "");
    session.branch(ids[5] ?? "");
    release();
    expect((await compacting).compactionEntry.parentId).toBe(ids[5]);
  });

  test("another writer's compaction makes it stale", async () => {
    const { session, controller, writer } = stage();
    const ids = talk(session, 3);
    const { asked, release } = writer.hold();
    const compacting = rejection(controller.compact());
    await asked;
    session.appendCompaction("Other.", ids[4] ?? "", 1);
    release();
    expect(await compacting).toMatchObject({ code: "STALE_LEAF" });
    expect(session.getEntryCount()).toBe(7);
  });

  test("a second one is rejected, and the first continues", async () => {
    const { session, controller, writer, seen } = stage();
    talk(session, 3);
    const { asked, release } = writer.hold();
    const first = controller.compact();
    await asked;
    expect(await rejection(controller.compact())).toMatchObject({
      code: "NOTHING_TO_COMPACT",
      details: { reason: "running" },
    });
    release();
    expect(await first).toMatchObject({ summary: "Notes." });
    expect(names(seen)).toEqual(compacting);
    expect(writer.requests).toHaveLength(1);
  });

  test("a handler that requests another one is rejected, without a loop", async () => {
    const { session, controller, writer } = stage();
    talk(session, 3);
    const refusals: unknown[] = [];
    controller.hooks.on("session_before_compact", async () => {
      refusals.push(await rejection(controller.compact()));
    });
    await controller.compact();
    expect(refusals).toMatchObject([{ code: "NOTHING_TO_COMPACT", details: { reason: "running" } }]);
    expect(writer.requests).toHaveLength(1);
  });

  test("switching to another session makes it stale, and stops the model", async () => {
    const { session, controller, writer } = stage();
    talk(session, 3);
    const { asked } = writer.hold();
    const compacting = rejection(controller.compact());
    await asked;
    await controller.newSession();
    expect(await compacting).toMatchObject({ code: "STALE_LEAF" });
    expect(writer.requests[0]?.signal?.aborted).toBe(true);
    expect(controller.session.getEntryCount()).toBe(0);
    expect(session.getEntryCount()).toBe(6);
  });

  test("closing aborts it", async () => {
    const { session, controller, writer } = stage();
    talk(session, 3);
    const { asked } = writer.hold();
    const compacting = rejection(controller.compact());
    await asked;
    await controller.close();
    expect(await compacting).toMatchObject(cancelled);
  });

  test("a disk error at the end changes nothing", async () => {
    let isFull = false;
    const session = SessionManager.inMemory("/project", {
      beforePersist: (entry) => {
        if (isFull) throw new Error("disk full");
        return entry;
      },
    });
    const { controller, seen } = stage({ session });
    talk(session, 3);
    controller.hooks.on("session_before_compact", () => {
      isFull = true;
    });
    expect(await rejection(controller.compact())).toMatchObject({ message: "disk full" });
    expect(session.getEntryCount()).toBe(6);
    expect(seen[1]).toMatchObject(["session_compact_failed", { errorMessage: "disk full" }]);
  });
});
