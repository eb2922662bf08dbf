import { mapStoredMessagesToChatMessages } from "@langchain/core/messages";
import { fromLangChain, type LangChainRequest, toLangChain } from "sessiontree/convert";
import { describe, it } from "vitest";
import fc from "../../support/fast-check.ts";
import { fields, list } from "../../support/provider-rules/json.ts";
import { checkOpenAIChatRequest } from "../../support/provider-rules/openai-chat.ts";
import { imageBlock, type Sayable, textBlock, words } from "./support/conversations.ts";
import { checkHostile, checkRepeated, checkSaid, type RoundTrip } from "./support/round-trips.ts";

const identity = { api: "langchain", provider: "unknown", model: "m" };

const form: Sayable = {
  identity,
  thinking: fc.array(
    words.map((thinking) => ({ type: "thinking" as const, thinking, thinkingSignature: "reasoning" })),
    { maxLength: 2 },
  ),
  texts: fc.array(textBlock, { maxLength: 2 }),
  callId: fc.stringMatching(/^call_[a-zA-Z0-9]{1,8}$/),
  user: fc.oneof(words, fc.array(fc.oneof(textBlock, imageBlock), { minLength: 1, maxLength: 3 })),
  result: fc.record({ content: fc.array(textBlock, { maxLength: 2 }), isError: fc.boolean() }),
  repeatsRoles: true,
};

const ROLES = new Map([
  ["human", "user"],
  ["ai", "assistant"],
  ["tool", "tool"],
  ["system", "system"],
]);

/** Messages that LangChain's client for OpenAI sends: the instances, without reasoning. */
function chatRequest({ messages }: Pick<LangChainRequest, "messages">) {
  return {
    messages: mapStoredMessagesToChatMessages(messages).map((message) => {
      const { tool_calls, tool_call_id } = fields(message);
      const calls = list(tool_calls).map((call) => {
        const { id, name, args } = fields(call);
        return { id, type: "function", function: { name, arguments: JSON.stringify(args) } };
      });
      const said = message.content;
      const content = Array.isArray(said) ? said.filter(({ type }) => type !== "reasoning") : said;
      return {
        role: ROLES.get(message.type),
        content,
        ...(calls.length > 0 && { tool_calls: calls }),
        ...(tool_call_id !== undefined && { tool_call_id }),
      };
    }),
  };
}

const TRIP: RoundTrip<Omit<LangChainRequest, "issues">> = {
  identity,
  to: (messages, options) => {
    const { issues, ...request } = toLangChain(messages, options);
    return { request, issues };
  },
  from: ({ messages }, options) => fromLangChain(messages, options),
  check: (request) => (request.messages.length > 0 ? checkOpenAIChatRequest(chatRequest(request)) : []),
  // Images stay in results for Anthropic alone.
  options: fc.constant({ provider: "unknown" }),
};

describe("toLangChain and fromLangChain", () => {
  it("restore what LangChain's messages can express, without an issue", () => checkSaid(TRIP, form));

  it("never make an invalid request, and do not change their input", () => checkHostile(TRIP));

  it("make the same request again from what they read from a request", () => checkRepeated(TRIP));
});
