import { convertToModelMessages, type UIMessage as SdkUIMessage } from "ai";
import {
  fromAnthropic,
  fromGemini,
  fromModelMessages,
  fromOpenAIChat,
  fromOpenAIResponses,
  fromUIMessages,
  toAnthropic,
  toGemini,
  toModelMessages,
  toOpenAIChat,
  toOpenAIResponses,
  toUIMessages,
} from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import type { Message } from "../../../src/core/format/message.ts";
import fc from "../../support/fast-check.ts";
import { checkAnthropicRequest } from "../../support/provider-rules/anthropic.ts";
import { checkGeminiRequest } from "../../support/provider-rules/gemini.ts";
import { checkModelMessages } from "../../support/provider-rules/model-messages.ts";
import { checkOpenAIChatRequest } from "../../support/provider-rules/openai-chat.ts";
import { checkOpenAIResponsesRequest } from "../../support/provider-rules/openai-responses.ts";
import { scaleCount } from "../../support/share.ts";
import {
  anthropicMessages,
  geminiContents,
  openAIChatMessages,
  openAIResponsesItems,
  uiMessages,
} from "./support/provider-messages.ts";

const timestamp = 0;
const numRuns = scaleCount(150);

/** Returns a message's content without call ids: Gemini's calls may have none. */
function withoutIds(contents: unknown): unknown {
  const text = JSON.stringify(contents, (key, value: unknown) => (key === "id" ? undefined : value));
  return JSON.parse(text);
}

/** Normalizes a model message, which has several spellings: text as a part, images as base64. */
function spelled(message: { content: unknown }): object {
  const { content } = message;
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const text = JSON.stringify({ ...message, content: parts });
  return JSON.parse(text.replace(/\{"type":"url","url":"data:image\/png;base64,([^"]*)"\}/g, '"$1"'));
}

const HALF = "\ud83d";

/** Fields that hold message content, in one form or another. */
const SAID = new Set(
  [
    "text",
    "thinking",
    "refusal",
    "title",
    "content",
    "output",
    "input",
    "errorText",
    "cited_text",
    "query",
  ].concat(["error", "code", "data", "filename", "name", "reasoning_content"]),
);

/** Messages whose texts, names, and arguments were cut inside an emoji. */
function cut<T>(given: T, isCut: boolean): T {
  if (!isCut) return given;
  const text = JSON.stringify(given, (key, value: unknown) => {
    if (key === "arguments" && value === "{}") return JSON.stringify({ [HALF]: HALF });
    if (key === "args" || key === "input") return typeof value === "string" ? value + HALF : { [HALF]: HALF };
    return SAID.has(key) && typeof value === "string" && !/^(?:read|[A-Za-z0-9+/]{4,})$/.test(value)
      ? value + HALF
      : value;
  });
  return JSON.parse(text);
}

/** Changes to a conversation: another model, dropped thinking, removed or edited messages. */
const harm = fc.record({
  model: fc.constantFrom("m", "other"),
  dropThinking: fc.boolean(),
  store: fc.boolean(),
  isCut: fc.boolean(),
  lost: fc.nat(20),
  edited: fc.nat(20),
});

function harmed(messages: readonly Message[], { lost, edited }: { lost: number; edited: number }): Message[] {
  return messages.flatMap((message, at) => {
    if (at === lost) return [];
    if (at !== edited || message.role !== "assistant") return [message];
    const content = message.content.map((block) =>
      block.type === "text" ? { ...block, text: "Edited." } : block,
    );
    return [{ ...message, content }];
  });
}

/** Returns the model outputs in a list of items: those between the host's inputs. */
function outputsOf(items: readonly { readonly [field: string]: unknown }[]): object[][] {
  const outputs: object[][] = [[]];
  for (const item of items) {
    if (item["role"] === "user" || String(item["type"]).endsWith("_output")) outputs.push([]);
    else outputs.at(-1)?.push(item);
  }
  return outputs;
}

describe("providers' messages make no invalid request, whatever happens to them in a session", () => {
  it("Anthropic's messages", () => {
    fc.assert(
      fc.property(anthropicMessages(), harm, (said, what) => {
        const given = cut(said, what.isCut);
        const { messages } = fromAnthropic(given, { timestamp, model: "m" });
        const { issues: _, ...request } = toAnthropic(harmed(messages, what), what);
        const issued = given.flatMap(({ role, content }) => (role === "assistant" ? [content] : []));
        if (request.messages.length > 0) expect(checkAnthropicRequest(request, { issued })).toEqual([]);
      }),
      { numRuns },
    );
  });

  it("OpenAI's chat messages", () => {
    fc.assert(
      fc.property(openAIChatMessages(), harm, (said, what) => {
        const given = cut(said, what.isCut);
        const { messages } = fromOpenAIChat(JSON.parse(JSON.stringify(given)), { timestamp, model: "m" });
        const request = toOpenAIChat(harmed(messages, what), what).messages;
        if (request.length > 0) expect(checkOpenAIChatRequest({ messages: request })).toEqual([]);
      }),
      { numRuns },
    );
  });

  it("OpenAI's response items", () => {
    fc.assert(
      fc.property(openAIResponsesItems(), harm, (said, what) => {
        const given = cut(said, what.isCut);
        const { messages } = fromOpenAIResponses(JSON.parse(JSON.stringify(given)), {
          timestamp,
          model: "m",
        });
        const { issues: _, ...request } = toOpenAIResponses(harmed(messages, what), what);
        const asked = { ...request, store: what.store };
        if (request.input.length > 0)
          expect(checkOpenAIResponsesRequest(asked, { issued: outputsOf(given) })).toEqual([]);
      }),
      { numRuns },
    );
  });

  it.each(["gemini-3-pro", "gemini-2.5-flash"])("contents of %s", (model) => {
    fc.assert(
      fc.property(geminiContents(), harm, (said, what) => {
        const given = cut(said, what.isCut);
        const { messages } = fromGemini(given, { timestamp, model });
        const { issues: _, ...request } = toGemini(harmed(messages, what), { ...what, model });
        if (request.contents.length > 0) expect(checkGeminiRequest(request, { model })).toEqual([]);
      }),
      { numRuns },
    );
  });

  it("UI messages, for the model", () => {
    fc.assert(
      fc.property(uiMessages(), harm, (said, what) => {
        const given = cut(said, what.isCut);
        const { messages } = fromUIMessages(given, { timestamp, model: "m" });
        const { issues: _, ...request } = toModelMessages(harmed(messages, what), what);
        if (request.messages.length > 0) expect(checkModelMessages(request)).toEqual([]);
      }),
      { numRuns },
    );
  });
});

describe("providers' messages are restored from a session unchanged, with nothing reported", () => {
  it("Anthropic's messages", () => {
    fc.assert(
      fc.property(anthropicMessages(), (messages) => {
        const read = fromAnthropic(messages, { timestamp, model: "m" });
        expect(read.issues.every(({ code }) => code === "KEPT_IN_DETAILS")).toBe(true);
        expect(toAnthropic(read.messages, { model: "m" })).toEqual({ messages, issues: [] });
      }),
      { numRuns },
    );
  });

  it("OpenAI's chat messages", () => {
    fc.assert(
      fc.property(openAIChatMessages(), (messages) => {
        const read = fromOpenAIChat(JSON.parse(JSON.stringify(messages)), { timestamp, model: "m" });
        expect(read.issues.every(({ code }) => code === "KEPT_IN_DETAILS")).toBe(true);
        expect(toOpenAIChat(read.messages, { model: "m" })).toEqual({ messages, issues: [] });
      }),
      { numRuns },
    );
  });

  it("OpenAI's response items", () => {
    fc.assert(
      fc.property(openAIResponsesItems(), (input) => {
        const read = fromOpenAIResponses(JSON.parse(JSON.stringify(input)), { timestamp, model: "m" });
        expect(read.issues.every(({ code }) => code === "KEPT_IN_DETAILS")).toBe(true);
        expect(toOpenAIResponses(read.messages, { model: "m" })).toEqual({ input, issues: [] });
      }),
      { numRuns },
    );
  });

  it.each(["gemini-3-pro", "gemini-2.5-flash"])("contents of %s", (model) => {
    fc.assert(
      fc.property(geminiContents(), (contents) => {
        const hasImages = JSON.stringify(contents).includes(
          '"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}',
        );
        fc.pre(model === "gemini-3-pro" || !hasImages);
        const read = fromGemini(contents, { timestamp, model });
        expect(read.issues.every(({ code }) => code === "KEPT_IN_DETAILS")).toBe(true);
        const { contents: again, issues } = toGemini(read.messages, { model });
        expect(issues).toEqual([]);
        expect(withoutIds(again)).toEqual(contents);
      }),
      { numRuns },
    );
  });

  it("UI messages", () => {
    fc.assert(
      fc.property(uiMessages(), (messages) => {
        const read = fromUIMessages(messages, { timestamp });
        expect(read.issues.every(({ code }) => code === "KEPT_IN_DETAILS")).toBe(true);
        const again = toUIMessages(read.messages);
        expect(again.issues).toEqual([]);
        expect(again.messages.map(({ parts }) => parts)).toEqual(messages.map(({ parts }) => parts));
      }),
      { numRuns },
    );
  });

  it("UI messages, as the model messages that the SDK makes from them, both ways", async () => {
    await fc.assert(
      fc.asyncProperty(uiMessages(), async (chat) => {
        const asked = JSON.parse(JSON.stringify(await convertToModelMessages(chat as SdkUIMessage[])));
        const { messages, issues } = toModelMessages(
          fromUIMessages(chat, { timestamp, model: "m" }).messages,
        );
        expect(issues).toEqual([]);
        expect(messages.map(spelled)).toEqual(asked.map(spelled));
        const again = toModelMessages(fromModelMessages(asked, { timestamp, model: "m" }).messages);
        expect(again).toEqual({ messages: asked, issues: [] });
      }),
      { numRuns },
    );
  });
});
