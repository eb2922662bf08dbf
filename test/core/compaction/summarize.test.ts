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
import { assistant, makePath } from "./builders.ts";

function prepare(path: AnySessionEntry[]): CompactionPreparation {
  const preparation = prepareCompaction(path, { ...DEFAULT_COMPACTION_SETTINGS, keepRecentTokens: 10 });
  if (preparation === undefined) throw new Error("Expected a preparation.");
  return preparation;
}

/** Creates a scripted model that replies in order and records its requests. */
function scripted(...replies: (string | SummarizeReply)[]) {
  const requests: SummarizeRequest[] = [];
  const summarize: Summarize = async (request) => {
    requests.push(request);
    const reply = replies.shift() ?? "unexpected call";
    return typeof reply === "string" ? { text: reply } : reply;
  };
  return { requests, summarize };
}

const plain = () => prepare(makePath(user("Build it."), assistant("Built."), user(tokens(10))));
const split = (...history: Parameters<typeof makePath>) =>
  prepare(
    makePath(
      ...history,
      user("Go on."),
      assistant("", [call("1", "read", { path: "r.ts" })]),
      result("1", "x"),
      assistant(tokens(10)),
    ),
  );
const earlier = { type: "compaction", summary: "Notes of old.", firstKeptEntryId: "e1", tokensBefore: 100 };

describe("compact", () => {
  it("returns the entry to append", async () => {
    const { requests, summarize } = scripted({ text: " The notes. \n", usage: usage(7), stopReason: "stop" });
    const path = makePath(
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

  it("passes the conversation as tagged text, and requests the structured format", async () => {
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

  it("passes the previous summary, without its file lists, for updating", async () => {
    const { requests, summarize } = scripted("New notes.");
    const details = { readFiles: ["r.ts"], modifiedFiles: [] };
    const summary = "Notes of old.\n\n<read-files>\nr.ts\n</read-files>";
    const path = makePath(user("a"), { ...earlier, summary, details }, user("b"), user(tokens(10)));
    const compacted = await compact(prepare(path), summarize);
    expect(requests[0]?.prompt).toContain("<previous-summary>\nNotes of old.\n</previous-summary>");
    expect(compacted.summary).toBe("New notes.\n\n<read-files>\nr.ts\n</read-files>");
  });

  it("joins the two texts of a split turn under a heading, and adds up their usage", async () => {
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

  it("keeps the previous summary if only the turn is new", async () => {
    const { requests, summarize } = scripted("Beginning.");
    const compacted = await compact(split(user("gone"), earlier), summarize);
    expect(requests.map(({ kind }) => kind)).toEqual(["turnPrefix"]);
    expect(compacted.summary).toMatch(/^Notes of old\.\n\n## .+\n\nBeginning\./);
    expect(compacted).not.toHaveProperty("usage");
  });

  it("does not require a history", async () => {
    const { requests, summarize } = scripted("Beginning.");
    const compacted = await compact(split(), summarize);
    expect(requests.map(({ kind }) => kind)).toEqual(["turnPrefix"]);
    expect(compacted.summary).toMatch(/^## .+\n\nBeginning\./);
  });

  it("calls no summarizer for messages hidden from the model, and still returns a summary", async () => {
    const hidden = {
      role: "bashExecution" as const,
      command: "x",
      output: "y",
      exitCode: 0,
      cancelled: false,
      truncated: false,
    };
    const { requests, summarize } = scripted();
    const path = makePath({ ...hidden, excludeFromContext: true, timestamp: 1 }, user(tokens(10)));
    expect((await compact(prepare(path), summarize)).summary).not.toBe("");
    expect(requests).toEqual([]);
  });

  it("appends the user's instructions as a focus, or replaces its own with them", async () => {
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

  it("sends no halves of surrogate pairs, which providers reject", async () => {
    const { requests, summarize } = scripted("Notes.");
    const path = makePath(
      user("Look \ud83d"),
      assistant("\ude00", [call("1", "read", { path: "\ud83d" })]),
      user(tokens(10)),
    );
    await compact(prepare(path), summarize, { customInstructions: "Mind \ud83d" });
    expect(requests[0]?.prompt).toMatch(/Look \ufffd[\s\S]*: \ufffd[\s\S]*Mind \ufffd$/);
    expect(requests[0]?.prompt).not.toMatch(/\p{Surrogate}/u);
  });

  it("keeps the previous summary in the prompt if the instructions are replaced", async () => {
    const { requests, summarize } = scripted("Notes.");
    const preparation = prepare(makePath(user("a"), earlier, user("b"), user(tokens(10))));
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
  ])("rejects a reply that %s", async (_, reply) => {
    await expect(compact(plain(), scripted(reply).summarize)).rejects.toMatchObject({
      code: "SUMMARY_FAILED",
      details: { kind: "history" },
    });
  });

  it.each([undefined, "stop", "end_turn", "completed"])(
    "accepts a reply that stopped for %s",
    async (stopReason) => {
      const reply = stopReason === undefined ? { text: "Notes." } : { text: "Notes.", stopReason };
      expect((await compact(plain(), scripted(reply).summarize)).summary).toBe("Notes.");
    },
  );

  it("rejects a value that is not a reply", async () => {
    for (const reply of [undefined, null, "text", { text: 7 }]) {
      const summarize = (async () => reply) as unknown as Summarize;
      await expect(compact(plain(), summarize)).rejects.toMatchObject({ code: "SUMMARY_FAILED" });
    }
  });

  it("keeps the summarizer's error as the cause, thrown or rejected", async () => {
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

  it("returns nothing if the second of two texts fails", async () => {
    const { summarize } = scripted("History.", { text: "Half", stopReason: "length" });
    await expect(compact(split(user("old")), summarize)).rejects.toMatchObject({
      code: "SUMMARY_FAILED",
      details: { kind: "turnPrefix", stopReason: "length" },
    });
  });

  describe("aborted", () => {
    const cancelled = { code: "ABORTED", message: "Compaction cancelled" };

    it("before it begins: calls no summarizer", async () => {
      const { requests, summarize } = scripted("Notes.");
      await expect(compact(plain(), summarize, { signal: AbortSignal.abort() })).rejects.toMatchObject(
        cancelled,
      );
      expect(requests).toEqual([]);
    });

    it("during a summarizer that ignores the signal: does not wait for it", async () => {
      const controller = new AbortController();
      const summarize: Summarize = () => new Promise(() => controller.abort());
      await expect(compact(plain(), summarize, { signal: controller.signal })).rejects.toMatchObject(
        cancelled,
      );
    });

    it("during a summarizer that respects the signal: ignores what it throws", async () => {
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

    it("between two texts: does not request the second", async () => {
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

    it("by the reply", async () => {
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

  it("rejects an empty preparation", async () => {
    const nothing = { ...plain(), messagesToSummarize: [] };
    await expect(compact(nothing, scripted("Notes.").summarize)).rejects.toMatchObject({
      code: "NOTHING_TO_COMPACT",
    });
  });
});
