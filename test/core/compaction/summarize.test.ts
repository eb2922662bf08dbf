import { describe, expect, it } from "vitest";
import { type CompactionPreparation, prepareCompaction } from "../../../src/core/compaction/plan.ts";
import type {
  Summarize,
  SummarizeReply,
  SummarizeRequest,
} from "../../../src/core/compaction/request-summary.ts";
import { DEFAULT_COMPACTION_SETTINGS } from "../../../src/core/compaction/settings.ts";
import { compact } from "../../../src/core/compaction/summarize.ts";
import type { AnySessionEntry } from "../../../src/core/format/entry.ts";
import { isSessionError } from "../../../src/core/format/errors.ts";
import { call, toolResult as result, tokens, usage, user } from "../../support/messages.ts";
import { assistant, pathOf } from "./builders.ts";

function prepare(path: AnySessionEntry[]): CompactionPreparation {
  const preparation = prepareCompaction(path, { ...DEFAULT_COMPACTION_SETTINGS, keepRecentTokens: 10 });
  if (preparation === undefined) throw new Error("Expected a preparation.");
  return preparation;
}

/** A scripted model: one reply after the other, and what it was asked. */
function scripted(...replies: (string | SummarizeReply)[]) {
  const requests: SummarizeRequest[] = [];
  const summarize: Summarize = async (request) => {
    requests.push(request);
    const reply = replies.shift() ?? "unexpected call";
    return typeof reply === "string" ? { text: reply } : reply;
  };
  return { requests, summarize };
}

const plain = () => prepare(pathOf(user("Build it."), assistant("Built."), user(tokens(10))));
const split = (...history: Parameters<typeof pathOf>) =>
  prepare(
    pathOf(
      ...history,
      user("Go on."),
      assistant("", [call("1", "read", { path: "r.ts" })]),
      result("1", "x"),
      assistant(tokens(10)),
    ),
  );
const earlier = { type: "compaction", summary: "Notes of old.", firstKeptEntryId: "e1", tokensBefore: 100 };

describe("compact", () => {
  it("gives what is to be appended", async () => {
    const { requests, summarize } = scripted({ text: " The notes. \n", usage: usage(7), stopReason: "stop" });
    const path = pathOf(
      user("a"),
      assistant("", [call("1", "edit", { path: "m.ts" })]),
      result("1", "ok"),
      user(tokens(10)),
    );
    expect(await compact(prepare(path), summarize)).toEqual({
      summary: "The notes.\n\n<modified-files>\nm.ts\n</modified-files>",
      firstKeptEntryId: "e3",
      tokensBefore: prepare(path).tokensBefore,
      details: { readFiles: [], modifiedFiles: ["m.ts"] },
      usage: usage(7),
    });
    expect(requests.map(({ kind }) => kind)).toEqual(["history"]);
  });

  it("hands the conversation over as text in tags, and asks for the structured format", async () => {
    const { requests, summarize } = scripted("Notes.");
    await compact(plain(), summarize);
    const { prompt, systemPrompt } = requests[0] ?? { prompt: "", systemPrompt: "" };
    expect(prompt).toContain("<conversation>\n[User]: Build it.\n\n[Assistant]: Built.\n</conversation>");
    const headings = ["Goal", "Constraints & Preferences", "Progress", "Done", "In Progress", "Blocked"];
    for (const heading of [...headings, "Key Decisions", "Next Steps", "Critical Context"]) {
      expect(prompt).toContain(`# ${heading}\n`);
    }
    expect(prompt).not.toContain("<previous-summary>");
    expect(systemPrompt).not.toBe("");
  });

  it("hands over the summary before, without its file lists, to be updated", async () => {
    const { requests, summarize } = scripted("New notes.");
    const details = { readFiles: ["r.ts"], modifiedFiles: [] };
    const summary = "Notes of old.\n\n<read-files>\nr.ts\n</read-files>";
    const path = pathOf(user("a"), { ...earlier, summary, details }, user("b"), user(tokens(10)));
    const compacted = await compact(prepare(path), summarize);
    expect(requests[0]?.prompt).toContain("<previous-summary>\nNotes of old.\n</previous-summary>");
    expect(compacted.summary).toBe("New notes.\n\n<read-files>\nr.ts\n</read-files>");
  });

  it("joins the two texts of a split turn under a heading, and adds up what they used", async () => {
    const { requests, summarize } = scripted(
      { text: "History.", usage: usage(5) },
      { text: "Beginning.", usage: { ...usage(8), reasoning: 2 } },
    );
    const compacted = await compact(split(user("old"), assistant("ok")), summarize);
    expect(requests.map(({ kind }) => kind)).toEqual(["history", "turnPrefix"]);
    expect(requests[0]?.prompt).not.toContain("Go on.");
    expect(requests[1]?.prompt).toContain("[User]: Go on.");
    expect(compacted.summary).toMatch(
      /^History\.\n\n## .+\n\nBeginning\.\n\n<read-files>\nr\.ts\n<\/read-files>$/,
    );
    expect(compacted.usage).toEqual({ ...usage(13), reasoning: 2 });
  });

  it("lets the summary before stand where there is nothing new but the turn", async () => {
    const { requests, summarize } = scripted("Beginning.");
    const compacted = await compact(split(user("gone"), earlier), summarize);
    expect(requests.map(({ kind }) => kind)).toEqual(["turnPrefix"]);
    expect(compacted.summary).toMatch(/^Notes of old\.\n\n## .+\n\nBeginning\./);
    expect(compacted).not.toHaveProperty("usage");
  });

  it("needs no history at all", async () => {
    const { requests, summarize } = scripted("Beginning.");
    const compacted = await compact(split(), summarize);
    expect(requests.map(({ kind }) => kind)).toEqual(["turnPrefix"]);
    expect(compacted.summary).toMatch(/^## .+\n\nBeginning\./);
  });

  it("asks nobody about messages that a model may not see, and still has a summary", async () => {
    const hidden = {
      role: "bashExecution" as const,
      command: "x",
      output: "y",
      exitCode: 0,
      cancelled: false,
      truncated: false,
    };
    const { requests, summarize } = scripted();
    const path = pathOf({ ...hidden, excludeFromContext: true, timestamp: 1 }, user(tokens(10)));
    expect((await compact(prepare(path), summarize)).summary).not.toBe("");
    expect(requests).toEqual([]);
  });

  it("adds the user's instructions as a focus, or puts them in place of its own", async () => {
    const focus = scripted("Notes.");
    await compact(plain(), focus.summarize, { customInstructions: "Mind the API." });
    expect(focus.requests[0]?.prompt).toMatch(/## Critical Context[\s\S]*Mind the API\.$/);
    const own = scripted("Notes.");
    await compact(plain(), own.summarize, { customInstructions: "One haiku.", replaceInstructions: true });
    expect(own.requests[0]?.prompt).toMatch(/<\/conversation>\n\nOne haiku\.$/);
    const none = scripted("Notes.");
    await compact(plain(), none.summarize, { customInstructions: " ", replaceInstructions: true });
    expect(none.requests[0]?.prompt).toContain("## Goal");
  });

  it("asks without halves of surrogate pairs, which providers refuse", async () => {
    const { requests, summarize } = scripted("Notes.");
    const path = pathOf(
      user("Look \ud83d"),
      assistant("\ude00", [call("1", "read", { path: "\ud83d" })]),
      user(tokens(10)),
    );
    await compact(prepare(path), summarize, { customInstructions: "Mind \ud83d" });
    expect(requests[0]?.prompt).toMatch(/Look \ufffd[\s\S]*: \ufffd[\s\S]*Mind \ufffd$/);
    expect(requests[0]?.prompt).not.toMatch(/\p{Surrogate}/u);
  });

  it("keeps a previous summary in the prompt also when the instructions are replaced", async () => {
    const { requests, summarize } = scripted("Notes.");
    const preparation = prepare(pathOf(user("a"), earlier, user("b"), user(tokens(10))));
    await compact(preparation, summarize, { customInstructions: "One haiku.", replaceInstructions: true });
    expect(requests[0]?.prompt).toContain("Notes of old.");
  });

  it.each([
    ["is empty", { text: "" }],
    ["is blank", { text: " \n" }],
    ["was cut for length", { text: "Half a sum", stopReason: "length" }],
    ["was cut for length, in another provider's words", { text: "Half a sum", stopReason: "max_tokens" }],
    ["failed", { text: "Oops", stopReason: "error" }],
    ["asked for a tool", { text: "Let me see", stopReason: "toolUse" }],
    ["was not finished", { text: "Soon", stopReason: "pending" }],
    ["was filtered", { text: "I", stopReason: "content-filter" }],
  ])("makes no summary of a reply that %s", async (_, reply) => {
    await expect(compact(plain(), scripted(reply).summarize)).rejects.toMatchObject({
      code: "SUMMARY_FAILED",
      details: { kind: "history" },
    });
  });

  it.each([undefined, "stop", "end_turn", "completed"])(
    "takes a reply that stopped for %s",
    async (stopReason) => {
      const reply = stopReason === undefined ? { text: "Notes." } : { text: "Notes.", stopReason };
      expect((await compact(plain(), scripted(reply).summarize)).summary).toBe("Notes.");
    },
  );

  it("makes no summary of a reply that is none", async () => {
    for (const reply of [undefined, null, "text", { text: 7 }]) {
      const summarize = (async () => reply) as unknown as Summarize;
      await expect(compact(plain(), summarize)).rejects.toMatchObject({ code: "SUMMARY_FAILED" });
    }
  });

  it("keeps the summarizer's own error as the cause, thrown or rejected", async () => {
    const cause = new Error("no route to the model");
    const throwing: Summarize = () => {
      throw cause;
    };
    for (const summarize of [throwing, () => Promise.reject(cause)]) {
      const error: unknown = await compact(plain(), summarize).catch((caught: unknown) => caught);
      expect(isSessionError(error, "SUMMARY_FAILED")).toBe(true);
      expect(error).toMatchObject({ cause, message: expect.stringContaining("no route to the model") });
    }
  });

  it("gives nothing when the second of two texts fails", async () => {
    const { summarize } = scripted("History.", { text: "Half", stopReason: "length" });
    await expect(compact(split(user("old")), summarize)).rejects.toMatchObject({
      code: "SUMMARY_FAILED",
      details: { kind: "turnPrefix", stopReason: "length" },
    });
  });

  describe("aborted", () => {
    const cancelled = { code: "ABORTED", message: "Compaction cancelled" };

    it("before it begins: asks nobody", async () => {
      const { requests, summarize } = scripted("Notes.");
      await expect(compact(plain(), summarize, { signal: AbortSignal.abort() })).rejects.toMatchObject(
        cancelled,
      );
      expect(requests).toEqual([]);
    });

    it("while a summarizer that ignores the signal is at work: does not wait for it", async () => {
      const controller = new AbortController();
      const summarize: Summarize = () => new Promise(() => controller.abort());
      await expect(compact(plain(), summarize, { signal: controller.signal })).rejects.toMatchObject(
        cancelled,
      );
    });

    it("while one that minds it is at work: whatever it throws", async () => {
      const controller = new AbortController();
      const summarize: Summarize = async ({ signal }) => {
        expect(signal).toBe(controller.signal);
        controller.abort();
        throw new Error("socket closed");
      };
      await expect(compact(plain(), summarize, { signal: controller.signal })).rejects.toMatchObject(
        cancelled,
      );
    });

    it("between two texts: asks for no second one", async () => {
      const controller = new AbortController();
      const { requests, summarize } = scripted("History.", "Beginning.");
      const aborting: Summarize = async (request) => {
        const reply = await summarize(request);
        controller.abort();
        return reply;
      };
      const work = compact(split(user("old")), aborting, { signal: controller.signal });
      await expect(work).rejects.toMatchObject(cancelled);
      expect(requests).toHaveLength(1);
    });

    it("as the reply says", async () => {
      const { summarize } = scripted({ text: "Half", stopReason: "aborted" });
      await expect(compact(plain(), summarize)).rejects.toMatchObject(cancelled);
    });

    it("leaves no listener on a signal that was not aborted", async () => {
      const { signal } = new AbortController();
      let listeners = 0;
      const counting = new Proxy(signal, {
        get(target, name) {
          if (name === "addEventListener") listeners++;
          if (name === "removeEventListener") listeners--;
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
      await compact(plain(), scripted("Notes.").summarize, { signal: counting });
      expect(listeners).toBe(0);
    });
  });

  it("refuses a preparation that holds nothing", async () => {
    const nothing = { ...plain(), messagesToSummarize: [] };
    await expect(compact(nothing, scripted("Notes.").summarize)).rejects.toMatchObject({
      code: "NOTHING_TO_COMPACT",
    });
  });
});
