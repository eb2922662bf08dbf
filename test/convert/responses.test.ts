import {
  assistantMessage,
  fromGeminiResponse,
  fromModelMessagesResponse,
  fromOpenAIChat,
  fromOpenAIChatResponse,
  fromOpenAIResponses,
  fromOpenAIResponsesResponse,
  toGemini,
  toOpenAIChat,
  toOpenAIResponses,
} from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import type { AgentMessage } from "../../src/schema/message.ts";
import { checkOpenAIChatRequest } from "../support/provider-rules/openai-chat.ts";

const options = { timestamp: 5 };
const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };

describe("fromOpenAIChatResponse", () => {
  const response = (message: object, finish_reason: string | null) => ({
    id: "chatcmpl-1",
    model: "gpt-5",
    choices: [
      { finish_reason, message: { role: "assistant" as const, content: null, refusal: null, ...message } },
    ],
    usage: {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 60 },
      completion_tokens_details: { reasoning_tokens: 8 },
    },
  });
  const call = (json: string) => ({
    tool_calls: [{ id: "call_1", type: "function", function: { name: "read", arguments: json } }],
  });

  it("makes the assistant message, with reasoning and with tokens of the cache taken out of the input", () => {
    const given = response({ ...call('{"path": "a"}'), reasoning_content: "Hm." }, "tool_calls");
    const { message, issues } = fromOpenAIChatResponse(given, options);
    expect(issues).toEqual([]);
    expect(message).toMatchObject({
      content: [
        { type: "thinking", thinking: "Hm.", thinkingSignature: "reasoning_content" },
        { type: "toolCall", id: "call_1", name: "read", arguments: { path: "a" } },
      ],
      api: "openai-completions",
      provider: "openai",
      model: "gpt-5",
      responseId: "chatcmpl-1",
      stopReason: "toolUse",
      usage: { input: 40, output: 20, cacheRead: 60, cacheWrite: 0, reasoning: 8, totalTokens: 120, cost },
    });
  });

  it("takes an empty reasoning, which some servers always send, for none", () => {
    const { message, issues } = fromOpenAIChatResponse(
      response({ content: "Hi", reasoning_content: "" }, "stop"),
      options,
    );
    expect([message.content, issues]).toEqual([[{ type: "text", text: "Hi" }], []]);
  });

  it("keeps arguments that are no JSON, and gives them back to the same API", () => {
    const { message, issues } = fromOpenAIChatResponse(response(call('{"path":'), "tool_calls"), options);
    expect(issues.map(({ code }) => code)).toEqual(["KEPT_IN_DETAILS"]);
    expect(message.content).toEqual([{ type: "toolCall", id: "call_1", name: "read", arguments: {} }]);
    expect(JSON.stringify(toOpenAIChat([message]).messages[0])).toContain('"arguments":"{\\"path\\":"');
  });

  it("says that nothing was answered where there is no choice, and what the filter withheld", () => {
    const failed = { ...response({}, null), choices: [], error: { message: "overloaded" } };
    expect(fromOpenAIChatResponse(failed, options).message).toMatchObject({
      stopReason: "error",
      errorMessage: "overloaded",
    });
    expect(fromOpenAIChatResponse(response({}, "content_filter"), options).message.stopReason).toBe("error");
  });
});

describe("fromOpenAIChat", () => {
  it("pairs calls of the time without ids by name and order", () => {
    const { messages } = fromOpenAIChat(
      [
        { role: "user", content: "Go" },
        { role: "assistant", content: null, function_call: { name: "read", arguments: "{}" } },
        { role: "function", name: "read", content: "done" },
      ],
      options,
    );
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult"]);
    const ids = JSON.stringify(messages).match(/call_[0-9a-f]{24}/g) ?? [];
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
    expect(checkOpenAIChatRequest({ messages: toOpenAIChat(messages).messages })).toEqual([]);
  });
});

describe("fromOpenAIResponsesResponse", () => {
  const reasoning = {
    id: "rs_1",
    type: "reasoning",
    summary: [{ type: "summary_text", text: "Hm." }],
    encrypted_content: "e",
  };
  const search = {
    id: "ws_1",
    type: "web_search_call",
    status: "completed",
    action: { type: "search", query: "x" },
  };
  const answer = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    status: "completed",
    phase: "final_answer",
    content: [{ type: "output_text", text: "Done.", annotations: [], logprobs: [] }],
  };
  const response = (output: { type: string }[], facts: object = {}) => ({
    id: "resp_1",
    model: "gpt-5-2025-08-07",
    output,
    status: "completed",
    usage: {
      input_tokens: 100,
      output_tokens: 20,
      total_tokens: 120,
      input_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
    },
    ...facts,
  });

  it("keeps reasoning whole, and gives it back with its item", () => {
    const { message, issues } = fromOpenAIResponsesResponse(response([reasoning, answer]), {
      ...options,
      model: "gpt-5",
    });
    expect(issues).toEqual([]);
    expect(message).toMatchObject({
      content: [
        { type: "thinking", thinking: "Hm.", thinkingSignature: JSON.stringify(reasoning) },
        { type: "text", text: "Done.", textSignature: '{"v":1,"id":"msg_1","phase":"final_answer"}' },
      ],
      model: "gpt-5",
      responseModel: "gpt-5-2025-08-07",
      responseId: "resp_1",
      usage: { input: 30, cacheRead: 60, cacheWrite: 10, totalTokens: 120 },
    });
    const { input } = toOpenAIResponses([message], { store: false });
    expect(input[0]).toEqual(reasoning);
    expect(input[1]).toMatchObject({ id: "msg_1", phase: "final_answer" });
  });

  it("sends items of another model, and of reasoning that is left out, without their ids", () => {
    const { message } = fromOpenAIResponsesResponse(response([reasoning, answer]), options);
    for (const asked of [{ model: "gpt-6" }, { dropThinking: true }]) {
      expect(JSON.stringify(toOpenAIResponses([message], asked).input)).not.toContain("msg_1");
    }
  });

  it("keeps items that have no counterpart in their place", () => {
    const { message, issues } = fromOpenAIResponsesResponse(response([search, answer]), options);
    expect(issues.map(({ code }) => code)).toEqual(["KEPT_IN_DETAILS"]);
    expect(toOpenAIResponses([message]).input).toEqual([search, answer]);
  });

  it.each([
    [{ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }, "length"],
    [{ status: "incomplete", incomplete_details: { reason: "content_filter" } }, "error"],
    [{ status: "failed", error: { message: "broken" } }, "error"],
    [{ status: "cancelled" }, "aborted"],
    [{ status: "queued" }, "deferred"],
  ])("takes %j as %s", (facts, expected) => {
    expect(fromOpenAIResponsesResponse(response([answer], facts), options).message.stopReason).toBe(expected);
  });

  it("pairs results by the call's id and keeps the item's", () => {
    const items = [
      { type: "function_call", id: "fc_1", call_id: "call_1", name: "read", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: "done" },
    ];
    const { messages, issues } = fromOpenAIResponses(items, options);
    expect(issues).toEqual([]);
    expect(messages[1]).toMatchObject({ role: "toolResult", toolCallId: "call_1|fc_1", toolName: "read" });
    expect(toOpenAIResponses(messages).input).toEqual(items);
  });
});

describe("fromGeminiResponse", () => {
  const response = {
    candidates: [
      {
        finishReason: "STOP",
        content: {
          role: "model",
          parts: [
            { thought: true, text: "Hm." },
            { functionCall: { name: "read", args: { path: "a" } }, thoughtSignature: "c2ln" },
          ],
        },
      },
    ],
    responseId: "r1",
    modelVersion: "gemini-3-pro",
    usageMetadata: {
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 7,
      totalTokenCount: 112,
    },
  };

  it("makes the assistant message, with signatures on their parts", () => {
    const { message, issues } = fromGeminiResponse(response, options);
    expect(issues).toEqual([]);
    expect(message).toMatchObject({
      content: [
        { type: "thinking", thinking: "Hm." },
        { type: "toolCall", name: "read", arguments: { path: "a" }, thoughtSignature: "c2ln" },
      ],
      model: "gemini-3-pro",
      responseId: "r1",
      stopReason: "toolUse",
      usage: { input: 40, output: 12, cacheRead: 60, reasoning: 7, totalTokens: 112 },
    });
    const parts = toGemini([message]).contents[1]?.parts ?? [];
    expect(parts[1]?.thoughtSignature).toBe("c2ln");
  });

  it("gives calls of other models what newer models accept in place of a signature", () => {
    const other: AgentMessage = assistantMessage(
      [{ type: "toolCall", id: "toolu_1", name: "read", arguments: {} }],
      { ...options, api: "anthropic-messages", provider: "anthropic", model: "claude" },
    );
    const parts = toGemini([other], { model: "gemini-3-pro" }).contents[1]?.parts ?? [];
    expect(parts[0]?.thoughtSignature).toBe("skip_thought_signature_validator");
  });

  it("says why a prompt was blocked", () => {
    const { message } = fromGeminiResponse({ promptFeedback: { blockReason: "SAFETY" } }, options);
    expect(message).toMatchObject({ stopReason: "error", content: [] });
    expect(message.errorMessage).toContain("SAFETY");
  });
});

describe("fromModelMessagesResponse", () => {
  it("gives each answer the usage of its step, and knows whose it is", () => {
    const step = (finishReason: string, inputTokens: number) => ({
      finishReason,
      usage: { inputTokens, outputTokens: 1 },
      model: { provider: "anthropic.messages", modelId: "claude-sonnet-4-5" },
      response: { id: `msg_${inputTokens}`, modelId: "claude-sonnet-4-5" },
    });
    const { messages, issues } = fromModelMessagesResponse(
      {
        steps: [step("tool-calls", 10), step("stop", 20)],
        responseMessages: [
          {
            role: "assistant",
            content: [{ type: "tool-call", toolCallId: "t1", toolName: "read", input: {} }],
          },
          {
            role: "tool",
            content: [
              {
                type: "tool-result",
                toolCallId: "t1",
                toolName: "read",
                output: { type: "text", value: "done" },
              },
            ],
          },
          { role: "assistant", content: "Done." },
        ],
      },
      options,
    );
    expect(issues).toEqual([]);
    expect(messages.map(({ role }) => role)).toEqual(["assistant", "toolResult", "assistant"]);
    const identity = { api: "anthropic-messages", provider: "anthropic", model: "claude-sonnet-4-5" };
    expect(messages[0]).toMatchObject({
      ...identity,
      stopReason: "toolUse",
      responseId: "msg_10",
      usage: { input: 10 },
    });
    expect(messages[2]).toMatchObject({
      ...identity,
      stopReason: "stop",
      responseId: "msg_20",
      usage: { input: 20 },
    });
  });
});

describe("assistantMessage", () => {
  it("fills in what is there for bookkeeping", () => {
    expect(assistantMessage("Hi", options)).toEqual({
      role: "assistant",
      content: [{ type: "text", text: "Hi" }],
      api: "unknown",
      provider: "unknown",
      model: "unknown",
      usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost },
      stopReason: "stop",
      timestamp: 5,
    });
  });

  it("wants a time", () => {
    expect(() => assistantMessage("Hi", JSON.parse("{}"))).toThrow("pass { timestamp: Date.now() }");
  });
});
