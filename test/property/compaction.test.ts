import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { prepareBranchEntries } from "../../src/core/compaction/branch-summary.ts";
import { findCutPoint } from "../../src/core/compaction/cut-point.ts";
import { DEFAULT_COMPACTION_SETTINGS } from "../../src/core/compaction/settings.ts";
import { estimateTokens } from "../../src/core/compaction/tokens.ts";
import { serializeConversation, shortenText } from "../../src/core/compaction/transcript.ts";
import { convertToLlm } from "../../src/core/context/convert-to-llm.ts";
import { findLeafPath } from "../../src/core/context/leaf-path.ts";
import { sessionEntryToContextMessages } from "../../src/core/context/project-entry.ts";
import type { AnySessionEntry } from "../../src/core/format/entry.ts";
import type { AgentMessage } from "../../src/core/format/message.ts";
import {
  compactAndCheck,
  findPairs,
  getConversation,
  project,
  TURN_STARTS,
} from "../core/compaction/accounting.ts";
import { malformed } from "../core/compaction/builders.ts";
import { anyChapter, Conversation, plainChapter } from "../core/compaction/conversations.ts";
import fc from "../support/fast-check.ts";
import { getMinimum } from "../support/share.ts";

const settingsOf = (keepRecentTokens: number) => ({ ...DEFAULT_COMPACTION_SETTINGS, keepRecentTokens });
const budget = fc.oneof(fc.nat({ max: 50 }), fc.nat({ max: 2000 }));
const chapters = (chapter: typeof anyChapter) =>
  fc.array(fc.record({ steps: chapter, keepRecentTokens: budget }), { minLength: 1, maxLength: 6 });

describe("any number of compactions of any conversation", () => {
  it("splits no pair, accounts for every message, stays valid, and reports any growth", () => {
    let compactions = 0;
    let splitTurns = 0;
    let again = 0;
    fc.assert(
      fc.property(chapters(anyChapter), fc.boolean(), (story, reusesCallIds) => {
        const conversation = new Conversation({ reusesCallIds });
        let before = 0;
        for (const { steps, keepRecentTokens } of story) {
          conversation.play(steps);
          const path = findLeafPath(conversation.entries);
          const compacted = compactAndCheck(path, settingsOf(keepRecentTokens));
          if (compacted === undefined) continue;
          conversation.append(compacted.draft);
          compactions++;
          if (compacted.preparation.isSplitTurn) splitTurns++;
          if (before++ > 0) again++;
        }
      }),
      { numRuns: 400 },
    );
    // The property proves nothing if nothing was compacted.
    expect(Math.min(compactions, splitTurns, again)).toBeGreaterThan(getMinimum(50));
  });

  it("summarizes or keeps every message, once", () => {
    fc.assert(
      fc.property(chapters(plainChapter), fc.boolean(), (story, reusesCallIds) => {
        const conversation = new Conversation({ reusesCallIds });
        const summarized: AgentMessage[] = [];
        for (const { steps, keepRecentTokens } of story) {
          conversation.play(steps);
          const compacted = compactAndCheck(conversation.entries, settingsOf(keepRecentTokens));
          if (compacted === undefined) continue;
          const { messagesToSummarize, turnPrefixMessages } = compacted.preparation;
          summarized.push(...messagesToSummarize, ...turnPrefixMessages);
          conversation.append(compacted.draft);
        }
        const said = conversation.entries.filter(({ type }) => type !== "compaction");
        const messages = said.flatMap(sessionEntryToContextMessages).filter(({ role }) => role !== "system");
        expect([...summarized, ...getConversation(project(conversation.entries))]).toEqual(messages);
      }),
      { numRuns: 300 },
    );
  });

  it("keeps every file in the lists", () => {
    fc.assert(
      fc.property(chapters(plainChapter), (story) => {
        const conversation = new Conversation({ reusesCallIds: false });
        let known: string[] = [];
        for (const { steps, keepRecentTokens } of story) {
          conversation.play(steps);
          const compacted = compactAndCheck(conversation.entries, settingsOf(keepRecentTokens));
          if (compacted === undefined) continue;
          const { read, written, edited } = compacted.preparation.fileOps;
          const now = [...read, ...written, ...edited];
          expect(now).toEqual(expect.arrayContaining(known));
          known = now;
          conversation.append(compacted.draft);
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe("findCutPoint", () => {
  /** Returns the message of an entry on its own, if any. */
  const messageOf = (entry: AnySessionEntry): AgentMessage | undefined =>
    entry.type === "compaction" ? undefined : sessionEntryToContextMessages(entry)[0];

  /** Applies the documented rule, position by position, regardless of cost. */
  function cutByTheRule(path: readonly AnySessionEntry[], startIndex: number, keepRecentTokens: number) {
    const messages = path.map(messageOf);
    const pairs = findPairs(messages.map((message) => message ?? malformed({ role: "nobody" })));
    const isLegal = (place: number) =>
      [...TURN_STARTS, "assistant"].includes(messages[place]?.role ?? "") &&
      pairs.every(([calledAt, answeredAt]) => place <= calledAt || answeredAt < place);
    const places = [...path.keys()].filter((place) => place >= startIndex && isLegal(place));
    const isCounted = (place: number) => messages[place] !== undefined && messages[place]?.role !== "system";
    const tokensFrom = (start: number) =>
      messages
        .slice(start)
        .filter((_, i) => isCounted(start + i))
        .reduce((sum, message) => sum + (message ? estimateTokens(message) : 0), 0);
    const reachedAt = [...path.keys()].findLast(
      (place) => place >= startIndex && isCounted(place) && tokensFrom(place) >= keepRecentTokens,
    );
    const wanted = reachedAt === undefined ? places[0] : places.find((place) => place >= reachedAt);
    const cut = wanted ?? places.at(-1);
    if (cut === undefined) return { firstKeptEntryIndex: startIndex, turnStartIndex: -1, isSplitTurn: false };
    let firstKeptEntryIndex = cut;
    while (firstKeptEntryIndex > startIndex && isMetadata(path[firstKeptEntryIndex - 1]))
      firstKeptEntryIndex--;
    const turnStartIndex =
      messages[cut]?.role === "assistant"
        ? messages.findLastIndex(
            (message, at) => at >= startIndex && at < cut && TURN_STARTS.includes(message?.role ?? ""),
          )
        : -1;
    return { firstKeptEntryIndex, turnStartIndex, isSplitTurn: turnStartIndex !== -1 };
  }

  const isMetadata = (entry: AnySessionEntry | undefined) =>
    entry !== undefined && entry.type !== "compaction" && messageOf(entry) === undefined;

  it("cuts by the rule, in any path", () => {
    fc.assert(
      fc.property(
        fc.array(anyChapter, { maxLength: 3 }),
        budget,
        fc.nat({ max: 3 }),
        fc.boolean(),
        (steps, keepRecentTokens, start, reusesCallIds) => {
          const conversation = new Conversation({ reusesCallIds });
          conversation.play(steps.flat());
          const path = findLeafPath(conversation.entries);
          const startIndex = Math.min(start, path.length);
          expect(findCutPoint(path, startIndex, path.length, keepRecentTokens)).toEqual(
            cutByTheRule(path, startIndex, keepRecentTokens),
          );
        },
      ),
      { numRuns: 400 },
    );
  });
});

describe("branch summaries", () => {
  const endsWith = (all: readonly AgentMessage[], end: readonly AgentMessage[]) =>
    isDeepStrictEqual(all.slice(all.length - end.length), end);

  it("fit the budget except for one summary, keep order, and are deterministic", () => {
    fc.assert(
      fc.property(anyChapter, fc.integer({ min: 1, max: 2000 }), (steps, tokenBudget) => {
        const conversation = new Conversation({ reusesCallIds: true });
        conversation.play(steps);
        const path = findLeafPath(conversation.entries);
        const everything = prepareBranchEntries(path);
        const { messages, totalTokens, fileOps } = prepareBranchEntries(path, tokenBudget);
        expect(totalTokens).toBe(messages.reduce((sum, message) => sum + estimateTokens(message), 0));
        const [first, ...rest] = messages;
        // A summary may exceed the budget, without the messages its compaction carried.
        const isNewest = endsWith(everything.messages, messages);
        if (!isNewest || totalTokens > tokenBudget) {
          expect(first?.role).toMatch(/Summary$/);
          expect(endsWith(everything.messages, rest)).toBe(true);
        }
        expect(fileOps).toEqual(everything.fileOps);
        expect(prepareBranchEntries(structuredClone(path), tokenBudget)).toEqual({
          messages,
          totalTokens,
          fileOps,
        });
      }),
      { numRuns: 200 },
    );
  });
});

describe("any stored message", () => {
  const anything = fc.oneof(
    fc.anything(),
    fc.record(
      {
        role: fc.constantFrom(
          "user",
          "assistant",
          "toolResult",
          "bashExecution",
          "custom",
          "system",
          "branchSummary",
        ),
        content: fc.oneof(
          fc.anything(),
          fc.array(
            fc.record(
              {
                type: fc.constantFrom("text", "image", "thinking", "toolCall"),
                text: fc.anything(),
                thinking: fc.anything(),
                name: fc.anything(),
                arguments: fc.anything(),
              },
              { requiredKeys: [] },
            ),
          ),
        ),
        usage: fc.anything(),
        sections: fc.anything(),
        toolsAdded: fc.anything(),
        nestedCalls: fc.anything(),
        toolCallId: fc.anything(),
        summary: fc.anything(),
      },
      { requiredKeys: [] },
    ),
  );

  it("is estimated and serialized without an exception", () => {
    fc.assert(
      fc.property(fc.array(anything), (values) => {
        const messages = values.map(malformed);
        for (const message of messages) expect(estimateTokens(message)).toBeGreaterThanOrEqual(0);
        expect(serializeConversation(convertToLlm(messages))).toBeTypeOf("string");
      }),
      { numRuns: 300 },
    );
  });

  it("does not prevent a session from being compacted", () => {
    fc.assert(
      fc.property(fc.array(anything), plainChapter, budget, (values, steps, keepRecentTokens) => {
        const conversation = new Conversation({ reusesCallIds: false });
        for (const message of values) conversation.append({ type: "message", message });
        conversation.play(steps);
        const cut = findCutPoint(conversation.entries, 0, conversation.entries.length, keepRecentTokens);
        expect(cut.firstKeptEntryIndex).toBeGreaterThanOrEqual(0);
        prepareBranchEntries(conversation.entries, keepRecentTokens);
      }),
      { numRuns: 200 },
    );
  });
});

describe("shortenText", () => {
  it("cuts between characters only and states exactly how much is missing", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat({ max: 20 }), (text, limit) => {
        const short = shortenText(text, limit);
        if (text.length <= limit) {
          expect(short).toBe(text);
          return;
        }
        const missing = Number(/\[\.\.\. (\d+) more characters truncated\]$/.exec(short)?.[1]);
        const head = text.slice(0, text.length - missing);
        expect(short).toBe(`${head}\n\n[... ${missing} more characters truncated]`);
        expect(limit - head.length).toBeLessThanOrEqual(1);
        expect(() => encodeURIComponent(head)).not.toThrow();
      }),
      { numRuns: 500 },
    );
  });
});
