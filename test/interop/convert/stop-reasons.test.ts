import type { Anthropic } from "@anthropic-ai/sdk";
import type { StopReason as BedrockReason } from "@aws-sdk/client-bedrock-runtime";
import type { FinishReason as GeminiReason } from "@google/genai";
import type { FinishReason as AiSdkReason } from "ai";
import type { OpenAI } from "openai";
import {
  fromAnthropicResponse,
  fromBedrockResponse,
  fromGeminiResponse,
  fromLangChain,
  fromModelMessagesResponse,
  fromOpenAIChatResponse,
  fromOpenAIResponsesResponse,
} from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import type { StopReason } from "../../../src/core/format/message.ts";

// The compiler compares the reasons with those of the SDKs: a new one of theirs fails here.
type Table<Reason extends string> = Readonly<Record<Reason, StopReason>>;
type Status = OpenAI.Responses.ResponseStatus;
type Incomplete = NonNullable<OpenAI.Responses.Response.IncompleteDetails["reason"]>;

const options = { timestamp: 1 };
const base = { id: "x", model: "m" };

const ANTHROPIC: Table<Anthropic.StopReason> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  tool_use: "toolUse",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "error",
};
const BEDROCK: Table<BedrockReason> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "toolUse",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  guardrail_intervened: "error",
  content_filtered: "error",
  malformed_model_output: "error",
  malformed_tool_use: "error",
};
const CHAT: Table<OpenAI.Chat.ChatCompletion.Choice["finish_reason"]> = {
  stop: "stop",
  tool_calls: "toolUse",
  function_call: "toolUse",
  length: "length",
  content_filter: "error",
};
const STATUSES: Table<Exclude<Status, "incomplete">> = {
  completed: "stop",
  failed: "error",
  cancelled: "aborted",
  in_progress: "pending",
  queued: "deferred",
};
const INCOMPLETE: Table<Incomplete> = {
  max_output_tokens: "length",
  max_messages: "length",
  content_filter: "error",
  steered: "aborted",
};
const GEMINI: Table<`${GeminiReason}`> = {
  STOP: "stop",
  CONTINUATION: "stop",
  MAX_TOKENS: "length",
  FINISH_REASON_UNSPECIFIED: "pending",
  SAFETY: "error",
  RECITATION: "error",
  LANGUAGE: "error",
  OTHER: "error",
  BLOCKLIST: "error",
  PROHIBITED_CONTENT: "error",
  SPII: "error",
  MALFORMED_FUNCTION_CALL: "error",
  IMAGE_SAFETY: "error",
  UNEXPECTED_TOOL_CALL: "error",
  TOO_MANY_TOOL_CALLS: "error",
  IMAGE_PROHIBITED_CONTENT: "error",
  NO_IMAGE: "error",
  IMAGE_RECITATION: "error",
  IMAGE_OTHER: "error",
  MALFORMED_RESPONSE: "error",
};
const AI_SDK: Table<AiSdkReason> = {
  stop: "stop",
  other: "stop",
  "tool-calls": "toolUse",
  length: "length",
  "content-filter": "error",
  error: "error",
  interrupted: "aborted",
};

const usage = { input_tokens: 1, output_tokens: 1 };
const readers: readonly (readonly [
  string,
  Readonly<Record<string, StopReason>>,
  (reason: string) => unknown,
])[] = [
  [
    "Anthropic",
    ANTHROPIC,
    (stop_reason) => fromAnthropicResponse({ ...base, content: [], stop_reason, usage }, options).message,
  ],
  [
    "Bedrock",
    BEDROCK,
    (stopReason) =>
      fromBedrockResponse({ output: { message: { content: [] } }, stopReason }, options).message,
  ],
  [
    "LangChain, of all its providers",
    { ...ANTHROPIC, ...BEDROCK, ...CHAT, MAX_TOKENS: "length", SAFETY: "error" },
    (stop_reason) =>
      fromLangChain([{ type: "ai", data: { content: "Hi", response_metadata: { stop_reason } } }], options)
        .messages[0],
  ],
  [
    "OpenAI chat",
    CHAT,
    (finish_reason) => {
      const message = { role: "assistant" as const, content: "Hi" };
      return fromOpenAIChatResponse({ ...base, choices: [{ finish_reason, message }] }, options).message;
    },
  ],
  [
    "OpenAI Responses, by status",
    STATUSES,
    (status) => fromOpenAIResponsesResponse({ ...base, output: [], status }, options).message,
  ],
  [
    "OpenAI Responses, incomplete",
    INCOMPLETE,
    (reason) => {
      const facts = { status: "incomplete", incomplete_details: { reason } };
      return fromOpenAIResponsesResponse({ ...base, output: [], ...facts }, options).message;
    },
  ],
  [
    "Gemini",
    GEMINI,
    (finishReason) => fromGeminiResponse({ candidates: [{ finishReason }] }, options).message,
  ],
  [
    "the AI SDK",
    AI_SDK,
    (finishReason) => {
      const step = {
        finishReason,
        usage: { inputTokens: 1, outputTokens: 1 },
        response: { id: "x", modelId: "m" },
      };
      const responseMessages = [{ role: "assistant" as const, content: "Hi" }];
      return fromModelMessagesResponse({ steps: [step], responseMessages }, options).messages[0];
    },
  ],
];

describe.each(readers)("stop reasons of %s", (_, table, read) => {
  it.each(Object.entries(table))("%s is %s", (rawStopReason, stopReason) => {
    const message = read(rawStopReason);
    expect(message).toMatchObject({ stopReason, rawStopReason });
    expect(message).toEqual(
      stopReason === "error"
        ? expect.objectContaining({ errorMessage: expect.any(String) })
        : expect.not.objectContaining({ errorMessage: expect.anything() }),
    );
  });
});
