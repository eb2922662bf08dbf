import { type AnthropicRequest, fromAnthropic, toAnthropic } from "sessiontree/convert";
import { describe, it } from "vitest";
import type { ThinkingContent } from "../../../src/core/format/content.ts";
import fc from "../../support/fast-check.ts";
import { checkAnthropicRequest } from "../../support/provider-rules/anthropic.ts";
import { imageBlock, type Sayable, textBlock, words } from "./support/conversations.ts";
import { checkHostile, checkRepeated, checkSaid, type RoundTrip } from "./support/round-trips.ts";

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
  // The end of a request must not be white space, so no text here ends in it.
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

const TRIP: RoundTrip<Omit<AnthropicRequest, "issues">> = {
  identity,
  to: (messages, options) => {
    const { issues, ...request } = toAnthropic(messages, options);
    return { request, issues };
  },
  from: fromAnthropic,
  check: (request) => (request.messages.length > 0 ? checkAnthropicRequest(request) : []),
  options: fc.constant({}),
};

describe("toAnthropic and fromAnthropic", () => {
  it("restore what Anthropic's messages can express, without an issue", () => checkSaid(TRIP, form));

  it("never make an invalid request, and do not change their input", () => checkHostile(TRIP));

  it("make the same request again from what they read from a request", () => checkRepeated(TRIP));
});
