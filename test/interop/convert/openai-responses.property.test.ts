import {
  fromOpenAIResponses,
  type OpenAIResponsesOptions,
  type OpenAIResponsesRequest,
  toOpenAIResponses,
} from "sessiontree/convert";
import { describe, it } from "vitest";
import type { TextContent, ThinkingContent } from "../../../src/core/format/content.ts";
import fc from "../../support/fast-check.ts";
import { checkOpenAIResponsesRequest } from "../../support/provider-rules/openai-responses.ts";
import { imageBlock, type Sayable, textBlock, words } from "./support/conversations.ts";
import { checkHostile, checkRepeated, checkSaid, type RoundTrip } from "./support/round-trips.ts";

const identity = { api: "openai-responses", provider: "openai", model: "gpt-5" };

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

const TRIP: RoundTrip<Omit<OpenAIResponsesRequest, "issues">, OpenAIResponsesOptions> = {
  identity,
  to: (messages, options) => {
    const { issues, ...request } = toOpenAIResponses(messages, options);
    return { request, issues };
  },
  from: fromOpenAIResponses,
  check: (request, { store = true }) =>
    request.input.length > 0 ? checkOpenAIResponsesRequest({ ...request, store }) : [],
  options: fc.record({ store: fc.boolean() }),
};

describe("toOpenAIResponses and fromOpenAIResponses", () => {
  it("restore what OpenAI's items can express, without an issue", () => checkSaid(TRIP, form));

  it("never make an invalid request, and do not change their input", () => checkHostile(TRIP));

  it("make the same request again from what they read from a request", () => checkRepeated(TRIP));
});
