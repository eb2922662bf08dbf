import { fromOpenAIChat, toOpenAIChat } from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import type { ThinkingContent } from "../../src/schema/content.ts";
import fc from "../support/fast-check.ts";
import { checkOpenAIChatRequest } from "../support/provider-rules/openai-chat.ts";
import { shareOf } from "../support/share.ts";
import { hostile, imageBlock, type Sayable, sayable, textBlock, words } from "./support/conversations.ts";

const identity = { api: "openai-completions", provider: "openai", model: "gpt-5" };
const options = { timestamp: 0, model: identity.model };

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

describe("toOpenAIChat and fromOpenAIChat", () => {
  it("give back what OpenAI's messages can say, without an issue", () => {
    fc.assert(
      fc.property(sayable(form), (messages) => {
        const { issues, ...request } = toOpenAIChat(messages);
        expect(issues).toEqual([]);
        expect(checkOpenAIChatRequest(request)).toEqual([]);
        expect(fromOpenAIChat(request, options)).toEqual({ messages, issues: [] });
      }),
      { numRuns: shareOf(300) },
    );
  });

  it("never make an invalid request, and change nothing of what they are given", () => {
    fc.assert(
      fc.property(hostile(identity), fc.boolean(), (messages, dropThinking) => {
        const before = structuredClone(messages);
        const { issues, ...request } = toOpenAIChat(messages, { dropThinking });
        expect(messages).toEqual(before);
        expect(issues.every(({ index }) => index >= -1 && index < messages.length)).toBe(true);
        if (request.messages.length > 0) expect(checkOpenAIChatRequest(request)).toEqual([]);
      }),
      { numRuns: shareOf(1000) },
    );
  });

  it("make the same request again of what they read from a request", () => {
    fc.assert(
      fc.property(hostile(identity), (messages) => {
        const { messages: request } = toOpenAIChat(messages, { model: identity.model });
        const again = toOpenAIChat(fromOpenAIChat(request, options).messages, { model: identity.model });
        expect(again.messages).toEqual(request);
      }),
      { numRuns: shareOf(500) },
    );
  });
});
