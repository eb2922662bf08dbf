import { fromModelMessages, type ModelMessagesRequest, toModelMessages } from "sessiontree/convert";
import { describe, it } from "vitest";
import type { TextContent, ThinkingContent, ToolCall } from "../../../src/core/format/content.ts";
import fc from "../../support/fast-check.ts";
import { checkModelMessages } from "../../support/provider-rules/model-messages.ts";
import { imageBlock, type Sayable, textBlock, words } from "./support/conversations.ts";
import { checkHostile, checkRepeated, checkSaid, type RoundTrip } from "./support/round-trips.ts";

const itemId = fc.uuid().map((id) => id.replaceAll("-", ""));
const signature = fc.base64String({ minLength: 4, maxLength: 12 });
const plainCall = (call: ToolCall) => fc.constant(call);
const oneResult = fc.oneof(
  fc.record({
    content: fc.array(fc.oneof(textBlock, imageBlock), { maxLength: 2 }),
    isError: fc.constant(false),
  }),
  fc.record({ content: fc.array(textBlock, { maxLength: 1 }), isError: fc.constant(true) }),
);

const shared = {
  user: fc.oneof(words, fc.array(fc.oneof(textBlock, imageBlock), { minLength: 1, maxLength: 3 })),
  result: oneResult,
  repeatsRoles: true,
};

/** Provider data that model messages can carry. At least one is present, to identify the provider. */
const forms: readonly (readonly [string, Sayable])[] = [
  [
    "Anthropic",
    {
      ...shared,
      identity: { api: "anthropic-messages", provider: "anthropic", model: "m" },
      thinking: fc.array(
        fc.tuple(words, words).map(
          ([text, thinkingSignature]): ThinkingContent => ({
            type: "thinking",
            thinking: text,
            thinkingSignature,
          }),
        ),
        { minLength: 1, maxLength: 2 },
      ),
      texts: fc.array(textBlock, { maxLength: 2 }),
      callId: fc.stringMatching(/^toolu_[a-zA-Z0-9]{1,8}$/),
      call: plainCall,
    },
  ],
  [
    "OpenAI",
    {
      ...shared,
      identity: { api: "openai-responses", provider: "openai", model: "m" },
      thinking: fc.array(
        fc.tuple(itemId, fc.array(words, { maxLength: 2 })).map(([id, summary]): ThinkingContent => {
          const parts = summary.map((text) => ({ type: "summary_text", text }));
          const item = { type: "reasoning", id: `rs_${id}`, summary: parts, encrypted_content: "enc" };
          return {
            type: "thinking",
            thinking: summary.join("\n\n"),
            thinkingSignature: JSON.stringify(item),
          };
        }),
        { minLength: 1, maxLength: 2 },
      ),
      texts: fc.array(
        fc.tuple(textBlock, itemId).map(
          ([block, id]): TextContent => ({
            ...block,
            textSignature: JSON.stringify({ v: 1, id: `msg_${id}` }),
          }),
        ),
        { maxLength: 2 },
      ),
      callId: fc.tuple(itemId, itemId).map(([a, b]) => `call_${a}|fc_${b}`),
      call: plainCall,
    },
  ],
  [
    "Google",
    {
      ...shared,
      identity: { api: "google-generative-ai", provider: "google", model: "m" },
      thinking: fc.array(
        fc.tuple(words, signature).map(
          ([text, thinkingSignature]): ThinkingContent => ({
            type: "thinking",
            thinking: text,
            thinkingSignature,
          }),
        ),
        { minLength: 1, maxLength: 2 },
      ),
      texts: fc.array(
        fc
          .tuple(fc.oneof(words, fc.constant("")), signature)
          .map(([text, textSignature]): TextContent => ({ type: "text", text, textSignature })),
        { maxLength: 2 },
      ),
      callId: fc.stringMatching(/^[a-z]{1,4}_[0-9]{1,8}$/),
      call: (call) => signature.map((thoughtSignature) => ({ ...call, thoughtSignature })),
    },
  ],
  [
    "anybody",
    {
      ...shared,
      identity: { api: "ai-sdk", provider: "unknown", model: "m" },
      thinking: fc.array(
        words.map((thinking): ThinkingContent => ({ type: "thinking", thinking })),
        { maxLength: 2 },
      ),
      texts: fc.array(textBlock, { maxLength: 2 }),
      callId: fc.stringMatching(/^[a-z]{1,4}_[0-9]{1,8}$/),
      call: plainCall,
    },
  ],
];

const TRIP: RoundTrip<Omit<ModelMessagesRequest, "issues">> = {
  identity: { api: "anthropic-messages", provider: "anthropic", model: "m" },
  to: (messages, options) => {
    const { issues, ...request } = toModelMessages(messages, options);
    return { request, issues };
  },
  from: fromModelMessages,
  check: (request) => (request.messages.length > 0 ? checkModelMessages(request) : []),
  options: fc.constant({}),
};

describe("toModelMessages and fromModelMessages", () => {
  it.each(forms)("restore what model messages can express for %s, without an issue", (_, form) =>
    checkSaid(TRIP, form, 150),
  );

  it("never make an invalid request, and do not change their input", () => checkHostile(TRIP));

  it.each(forms)("make the same messages for %s again from what they read from some", (_, { identity }) =>
    checkRepeated({ ...TRIP, identity }, 300),
  );
});
