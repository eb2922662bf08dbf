import type { ConvertedMessages, MessageImportOptions } from "sessiontree/convert";
import * as convert from "sessiontree/convert";
import type { Message } from "../../../../src/core/format/message.ts";

/** Messages or a response of one form, with as many kinds of parts as possible. */
export interface RichMessages {
  readonly name: string;
  readonly given: object;
  /** Converts messages of this form. They may contain any value, so their type is not that of the converter. */
  readonly convert: (given: unknown) => readonly Message[];
}

const OPTIONS: MessageImportOptions = { timestamp: 1, model: "claude-opus-5-5" };

/** Functions by name. */
const CONVERTERS: ReadonlyMap<string, unknown> = new Map(Object.entries(convert));

/** Calls a function of `sessiontree/convert` with a value that its type does not allow. */
function callConverter(name: string, given: unknown): readonly Message[] {
  const convertValue = CONVERTERS.get(name);
  if (typeof convertValue !== "function") throw new Error(`sessiontree/convert does not export ${name}`);
  const { messages, message }: Partial<ConvertedMessages> & { message?: Message } = Reflect.apply(
    convertValue,
    undefined,
    [given, OPTIONS],
  );
  return messages ?? (message === undefined ? [] : [message]);
}

const PNG = { media_type: "image/png", data: "AAAA" };
const URL = "data:image/png;base64,AAAA";

const ANTHROPIC = {
  system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "look" },
        { type: "image", source: { type: "base64", ...PNG } },
        { type: "document", source: { type: "text", data: "x" }, title: "T" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "s" },
        { type: "redacted_thinking", data: "x" },
        { type: "text", text: "ok", citations: [{ type: "char_location", cited_text: "x" }] },
        { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } },
        { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [{ type: "opaque" }] },
        { type: "tool_use", id: "t1", name: "ls", input: { path: "." }, caller: { type: "direct" } },
      ],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "t1",
          is_error: true,
          content: [
            { type: "text", text: "a" },
            { type: "image", source: { type: "url", url: "https://x" } },
          ],
        },
      ],
    },
    { role: "system", content: "Be kind." },
  ],
};

const CHAT = [
  { role: "developer", content: [{ type: "text", text: "Be brief." }] },
  {
    role: "user",
    name: "Ann",
    content: [
      { type: "text", text: "look" },
      { type: "image_url", image_url: { url: URL, detail: "high" } },
      { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
    ],
  },
  {
    role: "assistant",
    content: [{ type: "text", text: "ok" }],
    refusal: "no",
    reasoning_content: "hm",
    reasoning_details: [{ type: "reasoning.text", text: "hm" }],
    annotations: [{ type: "url_citation", url: "x" }],
    tool_calls: [
      { id: "t1", type: "function", function: { name: "ls", arguments: '{"path":"."}' } },
      { id: "t2", type: "custom", custom: { name: "shell", input: "ls" } },
    ],
  },
  { role: "tool", tool_call_id: "t1", content: [{ type: "text", text: "a" }] },
  { role: "tool", tool_call_id: "t2", content: "b" },
  { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
  { role: "function", name: "f", content: "x" },
];

const RESPONSES = {
  instructions: "Be brief.",
  input: [
    { role: "user", content: "look" },
    {
      role: "user",
      content: [
        { type: "input_text", text: "x" },
        { type: "input_image", image_url: URL },
      ],
    },
    {
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: "hm" }],
      content: [{ type: "reasoning_text", text: "hm" }],
      encrypted_content: "e",
    },
    {
      type: "message",
      role: "assistant",
      id: "msg_1",
      status: "completed",
      phase: "commentary",
      content: [
        { type: "output_text", text: "ok", annotations: [{ type: "url_citation", url: "x" }] },
        { type: "refusal", refusal: "no" },
      ],
    },
    { type: "function_call", id: "fc_1", call_id: "c1", name: "ls", arguments: '{"path":"."}' },
    { type: "function_call_output", call_id: "c1", output: [{ type: "input_text", text: "a" }] },
    { type: "custom_tool_call", id: "ctc_1", call_id: "c2", name: "patch", input: "x" },
    { type: "custom_tool_call_output", call_id: "c2", output: "b" },
    { type: "local_shell_call", id: "x_1", call_id: "c3", action: { type: "exec", command: ["ls"] } },
    { type: "local_shell_call_output", call_id: "c3", output: "done" },
    { type: "web_search_call", id: "ws_1", status: "completed", action: { query: "x" } },
  ],
};

const GEMINI = {
  systemInstruction: { parts: [{ text: "Be brief." }] },
  contents: [
    { role: "user", parts: [{ text: "look" }, { inlineData: { mimeType: "image/png", data: "AAAA" } }] },
    {
      role: "model",
      parts: [
        { text: "hm", thought: true, thoughtSignature: "c2ln" },
        { text: "ok", thoughtSignature: "c2ln" },
        { executableCode: { language: "PYTHON", code: "1" } },
        { functionCall: { id: "c1", name: "ls", args: { path: "." } }, thoughtSignature: "c2ln" },
      ],
    },
    {
      role: "user",
      parts: [
        {
          functionResponse: {
            id: "c1",
            name: "ls",
            response: { output: "a" },
            parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }],
          },
        },
      ],
    },
  ],
};

const BEDROCK = {
  system: [{ text: "Be brief." }, { cachePoint: { type: "default" } }],
  messages: [
    {
      role: "user",
      content: [
        { text: "look" },
        { image: { format: "png", source: { bytes: "AAAA" } } },
        { document: { name: "x", format: "pdf", source: { bytes: "AAAA" } } },
      ],
    },
    {
      role: "assistant",
      content: [
        { reasoningContent: { reasoningText: { text: "hm", signature: "s" } } },
        { reasoningContent: { redactedContent: "AAEC" } },
        { text: "ok" },
        { toolUse: { toolUseId: "t1", name: "ls", input: { path: "." } } },
      ],
    },
    {
      role: "user",
      content: [
        { toolResult: { toolUseId: "t1", status: "error", content: [{ text: "a" }, { json: { a: 1 } }] } },
      ],
    },
  ],
};

const LANGCHAIN = [
  { type: "system", data: { content: "Be brief." } },
  {
    type: "human",
    data: {
      id: "h1",
      name: "ann",
      content: [
        { type: "text", text: "look" },
        { type: "image_url", image_url: { url: URL } },
        { type: "image", source_type: "base64", mime_type: "image/png", data: "AAAA" },
        { type: "image", source: { type: "base64", ...PNG } },
      ],
    },
  },
  {
    type: "ai",
    data: {
      id: "msg_1",
      content: [
        { type: "thinking", thinking: "hm", signature: "s" },
        { type: "text", text: "ok" },
        { type: "tool_use", id: "t1", name: "ls", input: { path: "." } },
      ],
      tool_calls: [{ id: "t1", name: "ls", args: { path: "." }, type: "tool_call" }],
      invalid_tool_calls: [{ id: "t2", name: "ls", args: "{", error: "no" }],
      usage_metadata: { input_tokens: 1, output_tokens: 2, input_token_details: { cache_read: 1 } },
      response_metadata: { model_provider: "anthropic", model: "x", stop_reason: "tool_use" },
      additional_kwargs: { reasoning_content: "hm", function_call: { name: "f", arguments: "{}" } },
    },
  },
  {
    type: "tool",
    data: { id: "r1", content: "a", tool_call_id: "t1", name: "ls", status: "error", artifact: [1] },
  },
  {
    lc: 1,
    type: "constructor",
    id: ["langchain_core", "messages", "HumanMessage"],
    kwargs: { content: "x" },
  },
  { role: "user", content: "plain" },
];

const STATE = {
  anthropic: { signature: "s", redactedData: "x" },
  openai: { itemId: "rs_1", reasoningEncryptedContent: "e" },
  google: { thoughtSignature: "c2ln" },
};

const MODEL_MESSAGES = [
  { role: "system", content: "Be brief." },
  {
    role: "user",
    content: [
      { type: "text", text: "look" },
      { type: "image", image: "AAAA", mediaType: "image/png" },
      { type: "file", data: { type: "url", url: URL }, mediaType: "image/png", filename: "x" },
    ],
  },
  {
    role: "assistant",
    content: [
      { type: "reasoning", text: "hm", providerOptions: STATE },
      { type: "text", text: "ok", providerOptions: { openai: { itemId: "msg_1" } } },
      { type: "file", data: "AAAA", mediaType: "image/png" },
      { type: "tool-call", toolCallId: "c1", toolName: "ls", input: { path: "." }, providerOptions: STATE },
      { type: "tool-call", toolCallId: "c2", toolName: "web", input: "x", providerExecuted: true },
      { type: "tool-result", toolCallId: "c2", toolName: "web", output: { type: "json", value: { a: 1 } } },
      { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" },
    ],
    providerOptions: { acme: { a: 1 } },
  },
  {
    role: "tool",
    content: [
      { type: "tool-approval-response", approvalId: "a1", approved: true, reason: "x" },
      {
        type: "tool-result",
        toolCallId: "c1",
        toolName: "ls",
        output: {
          type: "content",
          value: [
            { type: "text", text: "a" },
            { type: "media", data: "AAAA", mediaType: "image/png" },
            { type: "image-url", url: "x" },
          ],
        },
      },
      { type: "tool-result", toolCallId: "c3", toolName: "ls", output: { type: "error-text", value: "no" } },
      { type: "tool-result", toolCallId: "c4", toolName: "ls", result: { a: 1 }, isError: true },
    ],
  },
];

const UI_MESSAGES = [
  { id: "s1", role: "system", parts: [{ type: "text", text: "Be brief." }] },
  {
    id: "u1",
    role: "user",
    metadata: { createdAt: "2026-01-01T00:00:00.000Z" },
    parts: [
      { type: "text", text: "look" },
      { type: "file", mediaType: "image/png", url: URL, filename: "a.png" },
      { type: "data-weather", id: "w", data: { degrees: 20 } },
    ],
  },
  {
    id: "a1",
    role: "assistant",
    metadata: { model: "m", totalUsage: { inputTokens: 1 } },
    parts: [
      { type: "step-start" },
      { type: "reasoning", text: "hm", state: "done", providerMetadata: STATE },
      { type: "text", text: "ok", state: "done" },
      {
        type: "tool-ls",
        toolCallId: "c1",
        state: "output-available",
        input: { path: "." },
        output: { a: 1 },
      },
      { type: "tool-ls", toolCallId: "c2", state: "output-error", rawInput: "{", errorText: "no" },
      {
        type: "dynamic-tool",
        toolName: "rm",
        toolCallId: "c3",
        state: "output-denied",
        input: {},
        approval: { id: "a1", approved: false, reason: "no" },
      },
      { type: "source-url", sourceId: "s", url: "x" },
    ],
  },
];

const USAGE = { input_tokens: 9, output_tokens: 5, cache_read_input_tokens: 1 };
const OPENAI_USAGE = { prompt_tokens: 9, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 1 } };

const RESPONSE_OBJECTS = {
  fromAnthropicResponse: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-x",
    content: ANTHROPIC.messages[1]?.content,
    stop_reason: "refusal",
    stop_details: { type: "refusal", explanation: "no" },
    usage: { ...USAGE, cache_creation: { ephemeral_1h_input_tokens: 1 } },
    input_transformations: [{ type: "thinking_dropped", path: "messages.1.content.0", reason: "x" }],
  },
  fromOpenAIChatResponse: {
    id: "chatcmpl_1",
    model: "gpt-x",
    choices: [{ index: 0, finish_reason: "stop", message: CHAT[2] }],
    usage: OPENAI_USAGE,
    error: { message: "no" },
  },
  fromOpenAIResponsesResponse: {
    id: "resp_1",
    object: "response",
    model: "gpt-x",
    status: "incomplete",
    incomplete_details: { reason: "content_filter" },
    error: { message: "no" },
    output: RESPONSES.input.slice(2, 5),
    usage: { ...USAGE, input_tokens_details: { cached_tokens: 1 } },
  },
  fromGeminiResponse: {
    responseId: "r1",
    modelVersion: "gemini-x",
    promptFeedback: { blockReason: "SAFETY" },
    candidates: [{ content: GEMINI.contents[1], finishReason: "SAFETY", finishMessage: "no" }],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 5, thoughtsTokenCount: 1 },
  },
  fromBedrockResponse: {
    output: { message: BEDROCK.messages[1] },
    stopReason: "guardrail_intervened",
    usage: { inputTokens: 9, outputTokens: 5, cacheReadInputTokens: 1 },
    $metadata: { requestId: "x" },
  },
  fromModelMessagesResponse: {
    steps: [
      {
        finishReason: "stop",
        rawFinishReason: "end",
        usage: { inputTokens: 9, inputTokenDetails: { cacheReadTokens: 1 }, outputTokens: 5 },
        model: { provider: "acme.chat", modelId: "acorn" },
        response: { id: "r1", modelId: "acorn-2" },
      },
    ],
    responseMessages: MODEL_MESSAGES.slice(2),
  },
};

const MESSAGES = {
  fromAnthropic: ANTHROPIC,
  fromOpenAIChat: CHAT,
  fromOpenAIResponses: RESPONSES,
  fromGemini: GEMINI,
  fromBedrock: BEDROCK,
  fromLangChain: LANGCHAIN,
  fromModelMessages: MODEL_MESSAGES,
  fromUIMessages: UI_MESSAGES,
};

/** Messages and responses of every form. */
export const RICH_MESSAGES: readonly RichMessages[] = [MESSAGES, RESPONSE_OBJECTS].flatMap((forms) =>
  Object.entries(forms).map(([name, given]) => ({
    name,
    given,
    convert: (changed) => callConverter(name, changed),
  })),
);

/** Functions that write messages in each form. */
export const WRITERS = {
  toAnthropic: convert.toAnthropic,
  toBedrock: convert.toBedrock,
  toGemini: convert.toGemini,
  toLangChain: convert.toLangChain,
  toModelMessages: convert.toModelMessages,
  toOpenAIChat: convert.toOpenAIChat,
  toOpenAIResponses: convert.toOpenAIResponses,
  toUIMessages: convert.toUIMessages,
};
