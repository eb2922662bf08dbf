import { fromOpenAIChat, type OpenAIChatRequest, toOpenAIChat } from "sessiontree/convert";
import { describe, it } from "vitest";
import type { ThinkingContent } from "../../../src/core/format/content.ts";
import fc from "../../support/fast-check.ts";
import { checkOpenAIChatRequest } from "../../support/provider-rules/openai-chat.ts";
import { imageBlock, type Sayable, textBlock, words } from "./support/conversations.ts";
import { checkHostile, checkRepeated, checkSaid, type RoundTrip } from "./support/round-trips.ts";

const identity = { api: "openai-completions", provider: "openai", model: "gpt-5" };

const thinking = fc.oneof(
  fc.tuple(words, fc.constantFrom("reasoning", "reasoning_content", "reasoning_text")).map(
    ([text, thinkingSignature]): ThinkingContent => ({
      type: "thinking",
      thinking: text,
      thinkingSignature,
    }),
  ),
  words.map((text): ThinkingContent => {
    const details = [{ type: "reasoning.text", text, format: "x", index: 0 }];
    return { type: "thinking", thinking: text, thinkingSignature: JSON.stringify(details) };
  }),
);

const form: Sayable = {
  identity,
  thinking: fc.array(thinking, { maxLength: 1 }),
  texts: fc.array(textBlock, { maxLength: 1 }),
  callId: fc.stringMatching(/^call_[a-zA-Z0-9]{1,8}$/),
  user: fc.oneof(words, fc.array(fc.oneof(textBlock, imageBlock), { minLength: 2, maxLength: 3 })),
  result: fc.record({ content: fc.array(textBlock, { maxLength: 1 }), isError: fc.constant(false) }),
  repeatsRoles: true,
  system: "anywhere",
};

const TRIP: RoundTrip<Omit<OpenAIChatRequest, "issues">> = {
  identity,
  to: (messages, options) => {
    const { issues, ...request } = toOpenAIChat(messages, options);
    return { request, issues };
  },
  from: fromOpenAIChat,
  check: (request) => (request.messages.length > 0 ? checkOpenAIChatRequest(request) : []),
  options: fc.constant({}),
};

describe("toOpenAIChat and fromOpenAIChat", () => {
  it("restore what OpenAI's messages can express, without an issue", () => checkSaid(TRIP, form));

  it("never make an invalid request, and do not change their input", () => checkHostile(TRIP));

  it("make the same request again from what they read from a request", () => checkRepeated(TRIP));
});
