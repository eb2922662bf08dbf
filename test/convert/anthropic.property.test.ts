import { fromAnthropic, toAnthropic } from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import type { ThinkingContent } from "../../src/schema/content.ts";
import fc from "../support/fast-check.ts";
import { checkAnthropicRequest } from "../support/provider-rules/anthropic.ts";
import { shareOf } from "../support/share.ts";
import { hostile, imageBlock, type Sayable, sayable, textBlock, words } from "./support/conversations.ts";

const identity = { api: "anthropic-messages", provider: "anthropic", model: "claude-sonnet-4-5" };

const thinking = fc.oneof(
  fc.tuple(fc.string(), fc.string({ minLength: 1 })).map(
    ([text, thinkingSignature]): ThinkingContent => ({
      type: "thinking",
      thinking: text,
      thinkingSignature,
    }),
  ),
  words.map(
    (data): ThinkingContent => ({
      type: "thinking",
      thinking: "[Reasoning redacted]",
      thinkingSignature: data,
      redacted: true,
    }),
  ),
);

const form: Sayable = {
  identity,
  thinking: fc.array(thinking, { maxLength: 2 }),
  // The end of a request must not be white space, so that no text here ends in it.
  texts: fc.array(
    textBlock.map((block) => ({ ...block, text: `${block.text}.` })),
    { maxLength: 2 },
  ),
  callId: fc.stringMatching(/^toolu_[a-zA-Z0-9]{1,8}$/),
  user: fc.oneof(words, fc.array(fc.oneof(textBlock, imageBlock), { minLength: 1, maxLength: 3 })),
  result: fc.oneof(
    fc.record({
      content: fc.array(fc.oneof(textBlock, imageBlock), { maxLength: 2 }),
      isError: fc.constant(false),
    }),
    fc.record({ content: fc.array(textBlock, { minLength: 1, maxLength: 2 }), isError: fc.constant(true) }),
  ),
  repeatsRoles: true,
};

const options = { timestamp: 0, model: identity.model };

describe("toAnthropic and fromAnthropic", () => {
  it("give back what Anthropic's messages can say, without an issue", () => {
    fc.assert(
      fc.property(sayable(form), (messages) => {
        const { issues, ...request } = toAnthropic(messages);
        expect(issues).toEqual([]);
        expect(checkAnthropicRequest(request)).toEqual([]);
        expect(fromAnthropic(request, options)).toEqual({ messages, issues: [] });
      }),
      { numRuns: shareOf(300) },
    );
  });

  it("never make an invalid request, and change nothing of what they are given", () => {
    fc.assert(
      fc.property(hostile(identity), fc.boolean(), (messages, dropThinking) => {
        const before = structuredClone(messages);
        const { issues, ...request } = toAnthropic(messages, { dropThinking });
        expect(messages).toEqual(before);
        expect(issues.every(({ index }) => index >= -1 && index < messages.length)).toBe(true);
        if (request.messages.length > 0) expect(checkAnthropicRequest(request)).toEqual([]);
      }),
      { numRuns: shareOf(1000) },
    );
  });

  it("make the same request again of what they read from a request", () => {
    fc.assert(
      fc.property(hostile(identity), (messages) => {
        const { issues: _, ...request } = toAnthropic(messages, { model: identity.model });
        const again = toAnthropic(fromAnthropic(request, options).messages, { model: identity.model });
        expect({ ...again, issues: [] }).toEqual({ ...request, issues: [] });
      }),
      { numRuns: shareOf(500) },
    );
  });
});
