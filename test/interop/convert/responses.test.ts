import {
  assistantMessage,
  fromGeminiResponse,
  fromModelMessagesResponse,
  fromOpenAIChat,
  fromOpenAIChatResponse,
  fromOpenAIResponses,
  fromOpenAIResponsesResponse,
  toGemini,
  toModelMessages,
  toOpenAIChat,
  toOpenAIResponses,
} from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import type { AgentMessage } from "../../../src/core/format/message.ts";
import { assistant, call, toolResult, user } from "../../support/messages.ts";
import { checkOpenAIChatRequest } from "../../support/provider-rules/openai-chat.ts";

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

  it("makes the assistant message, with reasoning and with cache tokens subtracted from the input", () => {
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

  it("treats an empty reasoning, which some servers always send, as none", () => {
    const { message, issues } = fromOpenAIChatResponse(
      response({ content: "Hi", reasoning_content: "" }, "stop"),
      options,
    );
    expect([message.content, issues]).toEqual([[{ type: "text", text: "Hi" }], []]);
  });

  it("keeps arguments that are not JSON, and sends them back to the same API", () => {
    const { message, issues } = fromOpenAIChatResponse(response(call('{"path":'), "tool_calls"), options);
    expect(issues.map(({ code }) => code)).toEqual(["KEPT_IN_DETAILS"]);
    expect(message.content).toEqual([{ type: "toolCall", id: "call_1", name: "read", arguments: {} }]);
    expect(JSON.stringify(toOpenAIChat([message]).messages[0])).toContain('"arguments":"{\\"path\\":"');
  });

  it.each(["12345678901234567890", "-9007199254740993", "1e999"])(
    "reports the number %s, which parsing changes, and sends it back to the same API",
    (number) => {
      const json = `{"id":${number},"text":"12345678901234567890"}`;
      const { message, issues } = fromOpenAIChatResponse(response(call(json), "tool_calls"), options);
      expect(issues.map(({ code }) => code)).toEqual(["CONTENT_REPLACED", "KEPT_IN_DETAILS"]);
      expect(toOpenAIChat([message]).messages[0]).toMatchObject({
        tool_calls: [{ function: { arguments: json } }],
      });
    },
  );

  it.each(["9007199254740991", "12345678901234567000", "0.1", "1.50", "1e21"])(
    "accepts the number %s unchanged",
    (number) => {
      const json = `{"id":${number},"text":"12345678901234567890 \\" 9007199254740993"}`;
      expect(fromOpenAIChatResponse(response(call(json), "tool_calls"), options).issues).toEqual([]);
    },
  );

  it("reports a missing choice as no answer, and what the filter withheld", () => {
    const failed = { ...response({}, null), choices: [], error: { message: "overloaded" } };
    expect(fromOpenAIChatResponse(failed, options).message).toMatchObject({
      stopReason: "error",
      errorMessage: "overloaded",
    });
    expect(fromOpenAIChatResponse(response({}, "content_filter"), options).message.stopReason).toBe("error");
  });
});

describe("fromOpenAIChat", () => {
  it("pairs calls from before ids existed by name and order", () => {
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

describe("ids of calls", () => {
  const kimi = "functions.read:0";
  const called = (id: string) => [
    user("Go"),
    assistant([call(id)], { api: "openai-completions", provider: "moonshot", model: "kimi-k2" }),
    toolResult(id, "done"),
  ];

  it.each([kimi, "a b", "x".repeat(40), "ä"])(
    "that fit stay in a chat, whatever their characters: %s",
    (id) => {
      for (const model of ["kimi-k2", "other"]) {
        const { messages, issues } = toOpenAIChat(called(id), { model });
        expect(messages.slice(1)).toMatchObject([{ tool_calls: [{ id }] }, { tool_call_id: id }]);
        expect(issues).toEqual([]);
      }
    },
  );

  it("stay for the model that made them through the AI SDK, too, and change for others", () => {
    const idIn = (model: string) =>
      JSON.stringify(toModelMessages(called(kimi), { model })).match(/functions[^"]+/)?.[0];
    expect([idIn("kimi-k2"), idIn("other")]).toEqual([kimi, "functions_read_0"]);
  });

  it("change if they do not fit, and never to one that another call has", () => {
    const ids = ["x".repeat(41), "x".repeat(42), "x".repeat(40), "", `${"y".repeat(39)}😀`];
    const { messages } = toOpenAIChat([
      user("Go"),
      assistant(ids.map((id) => call(id))),
      ...ids.map((id) => toolResult(id, id)),
    ]);
    expect(checkOpenAIChatRequest({ messages })).toEqual([]);
    const sent = messages.flatMap((message) => ("tool_call_id" in message ? message.tool_call_id : []));
    expect(new Set(sent).size).toBe(ids.length);
    expect(sent[2]).toBe(ids[2]);
  });
});

describe("reasoning items with opaque ids", () => {
  const item = { type: "reasoning", id: `${"Zm9v/+".repeat(60)}==`, summary: [], encrypted_content: "e" };
  const asked = (provider: string) => [
    user("Go"),
    assistant(
      [
        { type: "thinking", thinking: "", thinkingSignature: JSON.stringify(item) },
        { type: "text", text: "Done." },
      ],
      { api: "openai-responses", provider },
    ),
    user("So?"),
  ];

  it("go back to the server that made them, such as Copilot's", () => {
    const { input, issues } = toOpenAIResponses(asked("github-copilot"), { store: false });
    expect(input[1]).toEqual(item);
    expect(issues).toEqual([]);
  });

  it.each(["openai", "azure-openai-responses"])("do not go to %s, which makes other ones", (provider) => {
    const { input, issues } = toOpenAIResponses(asked(provider), { store: false });
    expect(input).toHaveLength(3);
    expect(issues.map(({ code }) => code)).toEqual(["THINKING_DROPPED"]);
  });
});

describe("fromOpenAIResponsesResponse", () => {
  it("reports integers that parsing rounds, and sends them back to the same API", () => {
    const json = '{"id":12345678901234567890}';
    const output = [{ type: "function_call", id: "fc_1", call_id: "c1", name: "read", arguments: json }];
    const { message, issues } = fromOpenAIResponsesResponse({ id: "r", model: "m", output }, options);
    expect(issues.map(({ code }) => code)).toEqual(["CONTENT_REPLACED", "KEPT_IN_DETAILS"]);
    expect(toOpenAIResponses([message]).input[0]).toMatchObject({ arguments: json });
  });

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

  it("keeps reasoning whole, and sends it back with its item", () => {
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

  it("sends items of another model, and of dropped reasoning, without their ids", () => {
    const { message } = fromOpenAIResponsesResponse(response([reasoning, answer]), options);
    for (const asked of [{ model: "gpt-6" }, { dropThinking: true }]) {
      expect(JSON.stringify(toOpenAIResponses([message], asked).input)).not.toContain("msg_1");
    }
  });

  it("keeps items without a counterpart in their place", () => {
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
  ])("maps %j to %s", (facts, expected) => {
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

  it("gives other models' calls what newer models accept in place of a signature", () => {
    const other: AgentMessage = assistantMessage(
      [{ type: "toolCall", id: "toolu_1", name: "read", arguments: {} }],
      { ...options, api: "anthropic-messages", provider: "anthropic", model: "claude" },
    );
    const parts = toGemini([other], { model: "gemini-3-pro" }).contents[1]?.parts ?? [];
    expect(parts[0]?.thoughtSignature).toBe("skip_thought_signature_validator");
  });

  it("reports why a prompt was blocked", () => {
    const { message } = fromGeminiResponse({ promptFeedback: { blockReason: "SAFETY" } }, options);
    expect(message).toMatchObject({ stopReason: "error", content: [] });
    expect(message.errorMessage).toContain("SAFETY");
  });
});

describe("fromModelMessagesResponse", () => {
  it("refuses a result from which another version's messages were read", () => {
    expect(() => fromModelMessagesResponse({ steps: [], responseMessages: undefined }, options)).toThrow(
      new TypeError(
        "The result has no messages: pass { steps, responseMessages } from AI SDK 7, or { steps, response } from AI SDK 5 or 6.",
      ),
    );
  });

  it("gives each answer the usage and the model of its step", () => {
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
  it("fills in the given bookkeeping fields", () => {
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

  it("requires a time", () => {
    expect(() => assistantMessage("Hi", JSON.parse("{}"))).toThrow("pass { timestamp: Date.now() }");
  });
});
