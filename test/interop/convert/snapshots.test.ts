import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import {
  fromAnthropicResponse,
  fromBedrockResponse,
  fromGeminiResponse,
  fromLangChain,
  fromModelMessagesResponse,
  fromOpenAIChatResponse,
  fromOpenAIResponsesResponse,
  toAnthropic,
} from "sessiontree/convert";
import { describe, expect, test } from "vitest";
import { user } from "../../support/messages.ts";
import { describeWith } from "../../support/sdk.ts";

const options = { timestamp: 5, stopReason: "aborted" } as const;

/** A fetch that sends some events and then nothing more until it is aborted. */
function sending(events: readonly object[]): typeof fetch {
  return async (_url, init) => {
    const lines = events.map((event) => {
      const type = "type" in event ? `event: ${String(event.type)}\n` : "";
      return `${type}data: ${JSON.stringify(event)}\n\n`;
    });
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(lines.join("")));
        init?.signal?.addEventListener("abort", () => controller.error(new DOMException("", "AbortError")));
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
}

describeWith(["@anthropic-ai/sdk"], "a stream of Anthropic's client", () => {
  test("stopped in the middle of a call is an aborted answer", async () => {
    const usage = { input_tokens: 12, output_tokens: 1 };
    const started = {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-x",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage,
    };
    const call = { type: "tool_use", id: "toolu_1", name: "read", input: {} };
    const client = new Anthropic({
      apiKey: "none",
      maxRetries: 0,
      fetch: sending([
        { type: "message_start", message: started },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "I read" } },
        { type: "content_block_stop", index: 0 },
        { type: "content_block_start", index: 1, content_block: call },
        {
          type: "content_block_delta",
          index: 1,
          delta: { type: "input_json_delta", partial_json: '{"path":"a' },
        },
      ]),
    });
    const stream = client.messages.stream({
      model: "claude-x",
      max_tokens: 9,
      messages: [{ role: "user", content: "Hi" }],
    });
    await new Promise<void>((resolve) => stream.on("inputJson", () => resolve()));
    const snapshot = stream.currentMessage;
    stream.abort();
    await stream.done().catch(() => undefined);
    if (snapshot === undefined) throw new Error("There is no snapshot.");
    const { message } = fromAnthropicResponse(snapshot, options);
    expect(message).toMatchObject({
      stopReason: "aborted",
      usage: { input: 12 },
      content: [{ text: "I read" }, { id: "toolu_1" }],
    });
    expect(message).not.toHaveProperty("errorMessage");
    expect(toAnthropic([user("Hi"), message]).messages).toHaveLength(1);
  });
});

describeWith(["openai"], "a stream of OpenAI's client", () => {
  test("stopped in the middle of a call is an aborted answer", async () => {
    const chunk = (delta: object) => ({
      id: "c1",
      object: "chat.completion.chunk",
      created: 1,
      model: "gpt-x",
      choices: [{ index: 0, delta, finish_reason: null }],
    });
    const client = new OpenAI({
      apiKey: "none",
      maxRetries: 0,
      fetch: sending([
        chunk({ role: "assistant", content: "I read" }),
        chunk({
          tool_calls: [
            { index: 0, id: "call_1", type: "function", function: { name: "read", arguments: '{"path":"a' } },
          ],
        }),
      ]),
    });
    const stream = client.chat.completions.stream({
      model: "gpt-x",
      messages: [{ role: "user", content: "Hi" }],
    });
    await new Promise<void>((resolve) =>
      stream.on("chunk", (one) => one.choices[0]?.delta.tool_calls && resolve()),
    );
    const snapshot = stream.currentChatCompletionSnapshot;
    stream.abort();
    await stream.done().catch(() => undefined);
    if (snapshot === undefined) throw new Error("There is no snapshot.");
    const { message } = fromOpenAIChatResponse(snapshot, options);
    expect(message).toMatchObject({ stopReason: "aborted", content: [{ text: "I read" }, { id: "call_1" }] });
  });
});

describe("a snapshot of any other stream", () => {
  test.each<[string, () => { stopReason: string }[]]>([
    [
      "OpenAI's Responses",
      () => [
        fromOpenAIResponsesResponse({ id: "r", model: "m", status: "in_progress", output: [] }, options)
          .message,
      ],
    ],
    ["Gemini", () => [fromGeminiResponse({ candidates: [] }, options).message]],
    [
      "Bedrock",
      () => [
        fromBedrockResponse({ output: { message: { role: "assistant", content: [{ text: "I" }] } } }, options)
          .message,
      ],
    ],
    [
      "OpenAI's chat",
      () => {
        const tool_calls = [
          { id: "call_1", type: "function", function: { name: "read", arguments: '{"path":"a' } },
        ];
        const choices = [{ finish_reason: null, message: { content: "I", tool_calls } }];
        return [fromOpenAIChatResponse({ id: "c", model: "m", choices }, options).message];
      },
    ],
    [
      "LangChain",
      () =>
        fromLangChain([{ type: "ai", data: { content: "I" } }], options).messages.flatMap((one) =>
          one.role === "assistant" ? one : [],
        ),
    ],
    [
      "the AI SDK",
      () =>
        fromModelMessagesResponse(
          {
            steps: [
              {
                finishReason: "other",
                usage: { inputTokens: 1, outputTokens: 1 },
                response: { id: "x", modelId: "m" },
              },
            ],
            responseMessages: [{ role: "assistant", content: "I" }],
          },
          options,
        ).messages.flatMap((one) => (one.role === "assistant" ? one : [])),
    ],
  ])("of %s is an aborted answer, not a failure", (_name, convert) => {
    const [message] = convert();
    expect(message).toMatchObject({ stopReason: "aborted" });
    expect(message).not.toHaveProperty("errorMessage");
  });
});
