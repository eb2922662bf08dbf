import { fromOpenAIResponses, toOpenAIResponses } from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import type { TextContent, ThinkingContent } from "../../src/schema/content.ts";
import fc from "../support/fast-check.ts";
import { checkOpenAIResponsesRequest } from "../support/provider-rules/openai-responses.ts";
import { shareOf } from "../support/share.ts";
import { hostile, imageBlock, type Sayable, sayable, textBlock, words } from "./support/conversations.ts";

const identity = { api: "openai-responses", provider: "openai", model: "gpt-5" };
const options = { timestamp: 0, model: identity.model };

/** Ids of items, each of which occurs once in a conversation. */
const itemId = fc.uuid().map((id) => id.replaceAll("-", ""));

const thinking = fc.tuple(itemId, fc.array(words, { maxLength: 2 })).map(([id, summary]): ThinkingContent => {
  const item = {
    id: `rs_${id}`,
    type: "reasoning",
    summary: summary.map((text) => ({ type: "summary_text", text })),
    encrypted_content: `enc-${id}`,
    status: null,
  };
  return { type: "thinking", thinking: summary.join("\n\n"), thinkingSignature: JSON.stringify(item) };
});

const signedText = fc
  .tuple(textBlock, itemId, fc.constantFrom({}, { phase: "commentary" }, { phase: "final_answer" }))
  .map(
    ([block, id, phase]): TextContent => ({
      ...block,
      textSignature: JSON.stringify({ v: 1, id: `msg_${id}`, ...phase }),
    }),
  );

const form: Sayable = {
  identity,
  thinking: fc.array(thinking, { maxLength: 2 }),
  texts: fc.array(fc.oneof(textBlock, signedText), { maxLength: 2 }),
  callId: fc
    .tuple(itemId, itemId, fc.boolean())
    .map(([a, b, hasItem]) => (hasItem ? `call_${a}|fc_${b}` : `call_${a}`)),
  call: (call) =>
    fc.constantFrom(
      call,
      { ...call, namespace: "tools" },
      {
        ...call,
        id: `${call.id.split("|")[0]}|ctc_${call.id.length}${call.id.slice(5, 20)}`,
        arguments: { input: "free text" },
      },
    ),
  user: fc.oneof(words, fc.array(fc.oneof(textBlock, imageBlock), { minLength: 1, maxLength: 3 })),
  result: fc.record({
    content: fc.array(fc.oneof(textBlock, imageBlock), { maxLength: 2 }),
    isError: fc.constant(false),
  }),
  repeatsRoles: false,
  system: "anywhere",
};

describe("toOpenAIResponses and fromOpenAIResponses", () => {
  it("give back what OpenAI's items can say, without an issue", () => {
    fc.assert(
      fc.property(sayable(form), fc.boolean(), (messages, store) => {
        const { issues, ...request } = toOpenAIResponses(messages, { store });
        expect(issues).toEqual([]);
        expect(checkOpenAIResponsesRequest({ ...request, store })).toEqual([]);
        expect(fromOpenAIResponses(request, options)).toEqual({ messages, issues: [] });
      }),
      { numRuns: shareOf(300) },
    );
  });

  it("never make an invalid request, and change nothing of what they are given", () => {
    fc.assert(
      fc.property(hostile(identity), fc.boolean(), fc.boolean(), (messages, dropThinking, store) => {
        const before = structuredClone(messages);
        const { issues, ...request } = toOpenAIResponses(messages, { dropThinking, store });
        expect(messages).toEqual(before);
        expect(issues.every(({ index }) => index >= -1 && index < messages.length)).toBe(true);
        if (request.input.length > 0) expect(checkOpenAIResponsesRequest({ ...request, store })).toEqual([]);
      }),
      { numRuns: shareOf(1000) },
    );
  });

  it("make the same request again of what they read from a request", () => {
    fc.assert(
      fc.property(hostile(identity), (messages) => {
        const { issues: _, ...request } = toOpenAIResponses(messages, { model: identity.model });
        const again = toOpenAIResponses(fromOpenAIResponses(request, options).messages, {
          model: identity.model,
        });
        expect({ ...again, issues: [] }).toEqual({ ...request, issues: [] });
      }),
      { numRuns: shareOf(500) },
    );
  });
});
