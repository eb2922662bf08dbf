import { describe, expect, it } from "vitest";
import { repairToolPairs } from "../../src/core/context/tool-pairs.ts";
import type { AgentMessage, AssistantMessage, Message } from "../../src/core/format/message.ts";
import { call, result, system } from "../core/context/support/entries.ts";
import { hasFailed, pairFaults } from "../core/context/support/pairs.ts";
import fc from "../support/fast-check.ts";
import { assistant, user } from "../support/messages.ts";

/** Few ids, so that they collide; some look like the ids that a repair assigns. */
const id = fc.constantFrom("a", "b", "c", "a_2", "a_3", "__proto__");
const block = fc.oneof(
  { weight: 4, arbitrary: id.map((one) => call(one)) },
  { weight: 1, arbitrary: fc.constant({ type: "text" as const, text: "words" }) },
  { weight: 1, arbitrary: fc.constant({ type: "thinking" as const, thinking: "hm" }) },
);
const stopReason = fc.constantFrom<AssistantMessage["stopReason"]>(
  "toolUse",
  "stop",
  "error",
  "aborted",
  "deferred",
);
const answer = fc.tuple(id, fc.uuid()).map(([one, text]) => result(one, text));
const message: fc.Arbitrary<Message> = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(user("x"), system("x"), assistant("x")) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.array(block, { maxLength: 4 }), stopReason)
      .map(([content, reason]) => assistant(content, { stopReason: reason })),
  },
  { weight: 4, arbitrary: answer },
);
const odd: fc.Arbitrary<AgentMessage> = fc
  .record({
    role: fc.constantFrom("assistant", "toolResult", "x"),
    content: fc.jsonValue(),
    toolCallId: fc.jsonValue(),
  })
  .map((value): AgentMessage => JSON.parse(JSON.stringify(value)));

const callCount = (messages: readonly Message[]) =>
  messages.flatMap((one) =>
    one.role === "assistant" ? one.content.filter(({ type }) => type === "toolCall") : [],
  ).length;

describe("repairToolPairs", () => {
  it("makes any list one that the strictest provider accepts", () => {
    const list = fc.array(fc.oneof({ weight: 9, arbitrary: message }, { weight: 1, arbitrary: odd }), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(list, (messages) => {
        const { messages: repaired } = repairToolPairs(messages);
        expect(pairFaults(repaired)).toEqual([]);
        expect(pairFaults(repaired.filter((one) => !hasFailed(one)))).toEqual([]);
      }),
      { numRuns: 5000 },
    );
  });

  it("is idempotent", () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 20 }), (messages) => {
        const once = repairToolPairs(messages).messages;
        const twice = repairToolPairs(once);
        expect(twice.repairs).toEqual([]);
        twice.messages.forEach((one, i) => {
          expect(one).toBe(once[i]);
        });
        expect(twice.messages).toHaveLength(once.length);
      }),
      { numRuns: 3000 },
    );
  });

  it("changes and reports something exactly if something was wrong", () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), (messages) => {
        const { messages: repaired, repairs } = repairToolPairs(messages);
        const isSame = repaired.length === messages.length && repaired.every((one, i) => one === messages[i]);
        expect(repairs.length === 0).toBe(isSame);
        expect(isSame).toBe(pairFaults(messages).length === 0);
        expect(repairs.map(({ index }) => index)).toEqual(
          repairs.map(({ index }) => index).sort((a, b) => a - b),
        );
      }),
      { numRuns: 5000 },
    );
  });

  it("accounts for every call and every result", () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 20 }), (messages) => {
        const { messages: repaired, repairs } = repairToolPairs(messages);
        const count = (kind: string) => repairs.filter((repair) => repair.kind === kind).length;
        const results = (list: readonly Message[]) => list.filter(({ role }) => role === "toolResult").length;
        expect(callCount(repaired)).toBe(callCount(messages) - count("callDropped"));
        expect(results(repaired)).toBe(results(messages) - count("resultDropped") + count("resultMade"));
        expect(repaired.length - results(repaired)).toBe(
          messages.length - results(messages) - count("messageDropped"),
        );
      }),
      { numRuns: 3000 },
    );
  });

  it("never separates a result from its content", () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 20 }), (messages) => {
        const texts = new Set(
          messages.flatMap((one) => (one.role === "toolResult" ? JSON.stringify(one.content) : [])),
        );
        for (const one of repairToolPairs(messages).messages) {
          if (one.role === "toolResult" && !one.isError)
            expect(texts.delete(JSON.stringify(one.content))).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
