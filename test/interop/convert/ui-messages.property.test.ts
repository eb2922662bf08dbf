import {
  convertToModelMessages,
  modelMessageSchema,
  type UIMessage as SdkUIMessage,
  validateUIMessages,
} from "ai";
import { fromUIMessages, toModelMessages, toUIMessages } from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { TextContent, ThinkingContent } from "../../../src/core/format/content.ts";
import fc from "../../support/fast-check.ts";
import { scaleCount } from "../../support/share.ts";
import { hostile, imageBlock, type Sayable, sayable, textBlock, words } from "./support/conversations.ts";

const itemId = fc.uuid().map((id) => id.replaceAll("-", ""));
const identity = { api: "openai-responses", provider: "openai", model: "m" };

const form: Sayable = {
  identity,
  thinking: fc.array(
    fc.tuple(itemId, fc.array(words, { maxLength: 2 })).map(([id, summary]): ThinkingContent => {
      const parts = summary.map((text) => ({ type: "summary_text", text }));
      const item = { type: "reasoning", id: `rs_${id}`, summary: parts, encrypted_content: "enc" };
      return { type: "thinking", thinking: summary.join("\n\n"), thinkingSignature: JSON.stringify(item) };
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
  user: fc.oneof(words, fc.array(fc.oneof(textBlock, imageBlock), { minLength: 2, maxLength: 3 })),
  result: fc.oneof(
    fc.record({ content: fc.array(textBlock, { maxLength: 1 }), isError: fc.constant(false) }),
    fc.record({ content: fc.array(textBlock, { maxLength: 1 }), isError: fc.constant(true) }),
  ),
  repeatsRoles: true,
};

describe("toUIMessages and fromUIMessages", () => {
  it("restore what UI messages can express, without an issue", () => {
    fc.assert(
      fc.property(sayable(form), (messages) => {
        const { issues, messages: shown } = toUIMessages(messages);
        expect(issues).toEqual([]);
        const said = messages.filter(({ role }) => role !== "system");
        expect(fromUIMessages(shown, { timestamp: 0, model: "m" })).toEqual({ messages: said, issues: [] });
      }),
      { numRuns: scaleCount(200) },
    );
  });

  it("make messages that the SDK validates and converts as toModelMessages does", async () => {
    await fc.assert(
      fc.asyncProperty(sayable(form), async (messages) => {
        const shown = toUIMessages(messages).messages;
        const validated = await validateUIMessages<SdkUIMessage>({ messages: shown });
        const converted = await convertToModelMessages(validated);
        expect(() => z.array(modelMessageSchema).parse(converted)).not.toThrow();
        const asked = toModelMessages(messages).messages;
        const roles = (list: readonly { role: string }[]) => list.map(({ role }) => role);
        expect(roles(converted)).toEqual(roles(asked));
        const answers = converted.filter(({ role }) => role === "assistant");
        expect(JSON.parse(JSON.stringify(answers))).toEqual(asked.filter(({ role }) => role === "assistant"));
      }),
      { numRuns: scaleCount(100) },
    );
  });

  it("make messages that the SDK validates and converts, from any input", async () => {
    await fc.assert(
      fc.asyncProperty(hostile(identity), async (messages) => {
        const before = structuredClone(messages);
        const shown = toUIMessages(messages).messages;
        expect(messages).toEqual(before);
        expect(new Set(shown.map(({ id }) => id)).size).toBe(shown.length);
        if (shown.length === 0) return;
        const validated = await validateUIMessages<SdkUIMessage>({ messages: shown });
        const converted = await convertToModelMessages(validated, { ignoreIncompleteToolCalls: true });
        expect(() => z.array(modelMessageSchema).parse(converted)).not.toThrow();
      }),
      { numRuns: scaleCount(300) },
    );
  });

  it("make the same UI messages again from what they read from some", () => {
    fc.assert(
      fc.property(hostile(identity), (messages) => {
        const shown = toUIMessages(messages).messages;
        const read = fromUIMessages(shown, { timestamp: 0, ...identity }).messages;
        const parts = (list: readonly { parts: unknown }[]) => list.map((message) => message.parts);
        expect(parts(toUIMessages(read).messages)).toEqual(parts(shown));
      }),
      { numRuns: scaleCount(300) },
    );
  });
});
