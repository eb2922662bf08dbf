import type Anthropic from "@anthropic-ai/sdk";
import type { GenerateContentResponse } from "@google/genai";
import type OpenAI from "openai";
import { SessionManager } from "sessiontree";
import {
  appendConversation,
  type ConvertedMessages,
  fromAnthropic,
  fromAnthropicResponse,
  fromGemini,
  fromGeminiResponse,
  fromModelMessages,
  fromModelMessagesResponse,
  fromOpenAIChat,
  fromOpenAIChatResponse,
  fromOpenAIResponses,
  fromOpenAIResponsesResponse,
  fromUIMessages,
  type MessageImportOptions,
  toAnthropic,
  toGemini,
  toModelMessages,
  toOpenAIChat,
  toOpenAIResponses,
} from "sessiontree/convert";
import { describe, expect, test } from "vitest";
import type { AgentMessage, AssistantMessage } from "../../../src/core/format/message.ts";

const timestamp = 1;

/** Parts of the SDKs' own types that a host would pass, with fields that requests must not have. */
const ANTHROPIC = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-x",
  content: [{ type: "text", text: "Hello", citations: null }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: {
    input_tokens: 10,
    output_tokens: 5,
    cache_read_input_tokens: 100,
    cache_creation_input_tokens: 20,
  },
} satisfies Partial<Omit<Anthropic.Message, "usage">> & { usage: Partial<Anthropic.Usage> };

const CHAT = {
  id: "chatcmpl_1",
  object: "chat.completion",
  created: 1,
  model: "gpt-x",
  choices: [
    {
      index: 0,
      finish_reason: "stop",
      logprobs: null,
      message: { role: "assistant", content: "Hello", refusal: null },
    },
  ],
  usage: {
    prompt_tokens: 130,
    completion_tokens: 5,
    total_tokens: 135,
    prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 20 },
  },
} satisfies OpenAI.ChatCompletion;

const RESPONSE = {
  id: "resp_1",
  object: "response",
  model: "gpt-x",
  status: "completed",
  output: [
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Hello", annotations: [] }],
    },
  ],
  usage: {
    input_tokens: 130,
    output_tokens: 5,
    total_tokens: 135,
    input_tokens_details: { cached_tokens: 100, cache_write_tokens: 20 },
    output_tokens_details: { reasoning_tokens: 0 },
  },
} satisfies Partial<OpenAI.Responses.Response>;

const GEMINI = {
  responseId: "r1",
  modelVersion: "gemini-x",
  candidates: [{ content: { role: "model", parts: [{ text: "Hello" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 130, cachedContentTokenCount: 100, candidatesTokenCount: 5 },
};
const asGemini: Pick<GenerateContentResponse, "responseId" | "modelVersion" | "usageMetadata"> = GEMINI;

const COUNTED = {
  inputTokens: 130,
  inputTokenDetails: { noCacheTokens: 10, cacheReadTokens: 100, cacheWriteTokens: 20 },
  outputTokens: 5,
};
const RESULT = {
  steps: [
    {
      finishReason: "stop",
      usage: COUNTED,
      model: { provider: "acme.chat", modelId: "acorn" },
      response: { id: "r1", modelId: "acorn" },
    },
  ],
  responseMessages: [{ role: "assistant" as const, content: [{ type: "text", text: "Hello" }] }],
};

interface Case {
  readonly name: string;
  /** Converts a question, an answer, and another question, with the answer as a whole response or as its message. */
  readonly convert: (isWhole: boolean, options?: Partial<MessageImportOptions>) => ConvertedMessages;
  readonly single: () => AgentMessage | undefined;
  readonly request: (messages: readonly AgentMessage[]) => { issues: readonly unknown[] };
  /** Usage as the SDK counts it. */
  readonly usage: object;
}

const ask = { role: "user" as const, content: "Hi" };

const CASES: readonly Case[] = [
  {
    name: "Anthropic",
    convert: (isWhole, options) =>
      fromAnthropic(
        [ask, isWhole ? ANTHROPIC : { role: "assistant" as const, content: ANTHROPIC.content }, ask],
        { timestamp, ...options },
      ),
    single: () => fromAnthropicResponse(ANTHROPIC, { timestamp }).message,
    request: toAnthropic,
    usage: ANTHROPIC.usage,
  },
  {
    name: "OpenAI Chat Completions",
    convert: (isWhole, options) =>
      fromOpenAIChat([ask, isWhole ? CHAT : { role: "assistant" as const, content: "Hello" }, ask], {
        timestamp,
        ...options,
      }),
    single: () => fromOpenAIChatResponse(CHAT, { timestamp }).message,
    request: toOpenAIChat,
    usage: CHAT.usage,
  },
  {
    name: "OpenAI Responses",
    convert: (isWhole, options) =>
      fromOpenAIResponses([ask, ...(isWhole ? [RESPONSE] : RESPONSE.output), ask], { timestamp, ...options }),
    single: () => fromOpenAIResponsesResponse(RESPONSE, { timestamp }).message,
    request: toOpenAIResponses,
    usage: RESPONSE.usage,
  },
  {
    name: "Gemini",
    convert: (isWhole, options) => {
      const question = { role: "user", parts: [{ text: "Hi" }] };
      const answer = isWhole ? { ...GEMINI, ...asGemini } : { role: "model", parts: [{ text: "Hello" }] };
      return fromGemini([question, answer, question], { timestamp, ...options });
    },
    single: () => fromGeminiResponse(GEMINI, { timestamp }).message,
    request: toGemini,
    usage: GEMINI.usageMetadata,
  },
  {
    name: "AI SDK",
    convert: (isWhole, options) =>
      fromModelMessages([ask, ...(isWhole ? [RESULT] : RESULT.responseMessages), ask], {
        timestamp,
        ...options,
      }),
    single: () => fromModelMessagesResponse(RESULT, { timestamp }).messages[0],
    request: toModelMessages,
    usage: COUNTED,
  },
];

function answersIn(messages: readonly AgentMessage[]): AssistantMessage[] {
  return messages.flatMap((message) => (message.role === "assistant" ? [message] : []));
}

describe.each(CASES)("$name", ({ convert, single, request, usage }) => {
  test("converts a whole response among the messages to its answer, with model and usage", () => {
    const { messages, issues } = convert(true);
    expect(issues.filter(({ index }) => index !== 1)).toEqual([]);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(messages[1]).toEqual(single());
    const [answer] = answersIn(messages);
    expect(answer?.usage.totalTokens).toBeGreaterThanOrEqual(135);
    expect(answer?.usage.cacheRead).toBe(100);
  });

  test("makes the same request from it as from the message alone, without usage", () => {
    const made = request(convert(true).messages);
    const plain = request(
      convert(false, { model: answersIn(convert(true).messages)[0]?.model ?? "" }).messages,
    );
    expect({ ...made, issues: [] }).toEqual({ ...plain, issues: [] });
    expect(JSON.stringify(made)).not.toContain('sage":{');
  });

  test("continues an array without it from an array with it", () => {
    const session = SessionManager.inMemory();
    appendConversation(session, convert(false).messages);
    expect(appendConversation(session, convert(true).messages)).toMatchObject({
      entryIds: [],
      hasBranched: false,
    });
    expect(appendConversation(session, convert(false).messages)).toMatchObject({ entryIds: [] });
  });

  test("takes the usage of the last answer, or of each one by index, from an option", () => {
    const [whole] = answersIn(convert(true).messages);
    const [last] = answersIn(convert(false, { usage, model: "m" }).messages);
    expect([last?.model, last?.usage]).toEqual(["m", whole?.usage]);
    const indexes: number[] = [];
    const [each] = answersIn(
      convert(false, {
        usage: (index) => {
          indexes.push(index);
          return usage;
        },
      }).messages,
    );
    expect([each?.usage, indexes]).toEqual([whole?.usage, [1]]);
    expect(answersIn(convert(true, { usage: () => ({}) }).messages)[0]?.usage).toEqual(whole?.usage);
    const [silent] = answersIn(convert(false).messages);
    expect([silent?.model, silent?.usage.totalTokens]).toEqual(["unknown", 0]);
  });
});

test("refuses a usage that is neither an object nor a function", () => {
  const usage = JSON.parse("7");
  expect(() => fromAnthropic([], { timestamp, usage })).toThrow(TypeError);
});

test("gives the usage in an option to the last step of a UI message", () => {
  const parts = ["One.", "Two."].flatMap((text) => [{ type: "step-start" }, { type: "text", text }]);
  const chat = [
    { id: "u", role: "user" as const, parts: [{ type: "text", text: "Hi" }] },
    { id: "a", role: "assistant" as const, parts },
  ];
  for (const usage of [COUNTED, () => COUNTED]) {
    const { messages } = fromUIMessages(chat, { timestamp, usage });
    expect(answersIn(messages).map((answer) => answer.usage.totalTokens)).toEqual([0, 135]);
  }
});
