import { fromGemini, toGemini } from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import type { TextContent, ThinkingContent } from "../../src/schema/content.ts";
import fc from "../support/fast-check.ts";
import { checkGeminiRequest } from "../support/provider-rules/gemini.ts";
import { shareOf } from "../support/share.ts";
import { hostile, imageBlock, type Sayable, sayable, textBlock, words } from "./support/conversations.ts";

const identity = { api: "google-generative-ai", provider: "google", model: "gemini-3-pro" };
const options = { timestamp: 0, model: identity.model };

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

describe("toGemini and fromGemini", () => {
  it("give back what Gemini's contents can say, without an issue", () => {
    fc.assert(
      fc.property(sayable(form), (messages) => {
        const { issues, ...request } = toGemini(messages);
        expect(issues).toEqual([]);
        expect(checkGeminiRequest(request)).toEqual([]);
        expect(fromGemini(request, options)).toEqual({ messages, issues: [] });
      }),
      { numRuns: shareOf(300) },
    );
  });

  it.each(["gemini-3-pro", "gemini-2.5-flash"])(
    "never make an invalid request for %s, nor change what they are given",
    (model) => {
      fc.assert(
        fc.property(hostile({ ...identity, model }), fc.boolean(), (messages, dropThinking) => {
          const before = structuredClone(messages);
          const { issues, ...request } = toGemini(messages, { model, dropThinking });
          expect(messages).toEqual(before);
          expect(issues.every(({ index }) => index >= -1 && index < messages.length)).toBe(true);
          if (request.contents.length > 0) expect(checkGeminiRequest(request, { model })).toEqual([]);
        }),
        { numRuns: shareOf(1000) },
      );
    },
  );

  it.each(["gemini-3-pro", "gemini-2.5-flash"])(
    "make the same request for %s again of what they read from it",
    (model) => {
      fc.assert(
        fc.property(hostile({ ...identity, model }), (messages) => {
          const { issues: _, ...request } = toGemini(messages, { model });
          const again = toGemini(fromGemini(request, { ...options, model }).messages, { model });
          expect({ ...again, issues: [] }).toEqual({ ...request, issues: [] });
        }),
        { numRuns: shareOf(500) },
      );
    },
  );
});
