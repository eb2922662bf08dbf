import { fromGemini, type GeminiRequest, toGemini } from "sessiontree/convert";
import { describe, it } from "vitest";
import type { TextContent, ThinkingContent } from "../../../src/core/format/content.ts";
import fc from "../../support/fast-check.ts";
import { checkGeminiRequest } from "../../support/provider-rules/gemini.ts";
import { imageBlock, type Sayable, textBlock, words } from "./support/conversations.ts";
import { checkHostile, checkRepeated, checkSaid, type RoundTrip } from "./support/round-trips.ts";

const identity = { api: "google-generative-ai", provider: "google", model: "gemini-3-pro" };

const signature = fc.base64String({ minLength: 4, maxLength: 12 });

const thinking = fc.oneof(
  words.map((text): ThinkingContent => ({ type: "thinking", thinking: text })),
  fc.tuple(fc.string(), signature).map(
    ([text, thinkingSignature]): ThinkingContent => ({
      type: "thinking",
      thinking: text,
      thinkingSignature,
    }),
  ),
);

/** Texts with a signature, which may be empty. */
const signedText = fc
  .tuple(fc.oneof(words, fc.constant("")), signature)
  .map(([text, textSignature]): TextContent => ({ type: "text", text, textSignature }));

const form: Sayable = {
  identity,
  thinking: fc.array(thinking, { maxLength: 2 }),
  texts: fc.array(fc.oneof(textBlock, signedText), { maxLength: 3 }),
  callId: fc.stringMatching(/^[a-z]{1,4}_[0-9]{1,8}$/),
  call: (call) =>
    fc.oneof(
      fc.constant(call),
      signature.map((thoughtSignature) => ({ ...call, thoughtSignature })),
    ),
  user: fc.oneof(
    words,
    fc.array(fc.oneof(textBlock, imageBlock), { minLength: 2, maxLength: 3 }),
    imageBlock.map((one) => [one]),
  ),
  result: fc.record({
    content: fc
      .tuple(fc.array(textBlock, { maxLength: 1 }), fc.array(imageBlock, { maxLength: 2 }))
      .map((all) => all.flat()),
    isError: fc.boolean(),
  }),
  repeatsRoles: false,
};

const TRIP: RoundTrip<Omit<GeminiRequest, "issues">> = {
  identity,
  to: (messages, options) => {
    const { issues, ...request } = toGemini(messages, options);
    return { request, issues };
  },
  from: fromGemini,
  check: (request, { model = identity.model }) =>
    request.contents.length > 0 ? checkGeminiRequest(request, { model }) : [],
  options: fc.constant({ model: identity.model }),
};

describe("toGemini and fromGemini", () => {
  it("restore what Gemini's contents can express, without an issue", () => checkSaid(TRIP, form));

  describe.each(["gemini-3-pro", "gemini-2.5-flash"])("for %s", (model) => {
    const trip = { ...TRIP, identity: { ...identity, model }, options: fc.constant({ model }) };

    it("never make an invalid request, and do not change their input", () => checkHostile(trip));

    it("make the same request again from what they read from a request", () => checkRepeated(trip));
  });
});
