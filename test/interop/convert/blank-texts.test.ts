import {
  fromAnthropic,
  fromGemini,
  fromModelMessages,
  fromOpenAIChat,
  fromOpenAIResponses,
  fromOpenAIResponsesResponse,
  fromUIMessages,
  toAnthropic,
  toGemini,
  toModelMessages,
  toOpenAIChat,
  toOpenAIResponses,
} from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import { user } from "../../support/messages.ts";

const timestamp = 1;
const model = "m";

describe("a blank text is dropped without the parts next to it", () => {
  const message = {
    type: "message" as const,
    id: "msg_1",
    role: "assistant" as const,
    status: "completed" as const,
    content: [{ type: "output_text" as const, text: "", annotations: [], logprobs: [] }],
  };
  const image = { type: "image_generation_call", id: "ig_1", status: "completed", result: "iVBORw0KGgo=" };
  const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "e" };

  it.each([
    ["an image", [image, message]],
    ["an image that was thought about", [reasoning, image, message]],
  ])("OpenAI's image generation: %s", (_, output) => {
    const response = fromOpenAIResponsesResponse(
      { id: "resp_1", model, status: "completed", output },
      { timestamp },
    );
    const { input, issues } = toOpenAIResponses([user("Draw."), response.message], { model });
    expect(input.slice(1)).toEqual(output);
    expect(issues).toEqual([]);
  });

  it("OpenAI's reasoning, unless nothing follows it: a text whose signature names no item is dropped", () => {
    const { messages } = fromOpenAIResponses([{ role: "user", content: "Draw." }, reasoning, message], {
      timestamp,
      model,
    });
    const unnamed: typeof messages = JSON.parse(JSON.stringify(messages).replaceAll("msg_1", "none"));
    expect(toOpenAIResponses(messages, { model }).input.slice(1)).toMatchObject([reasoning, { id: "msg_1" }]);
    expect(toOpenAIResponses(unnamed, { model }).input).toEqual([{ role: "user", content: "Draw." }]);
  });

  it("OpenAI's image generation through the AI SDK", () => {
    const state = (itemId: string) => ({ providerOptions: { openai: { itemId } } });
    const call = {
      type: "tool-call",
      toolCallId: "ig_1",
      toolName: "image_generation",
      input: {},
      providerExecuted: true,
    };
    const result = {
      type: "tool-result",
      toolCallId: "ig_1",
      toolName: "image_generation",
      output: { type: "json", value: { result: "iVBORw0KGgo=" } },
    };
    const text = { type: "text", text: "", ...state("msg_1") };
    const { messages } = fromModelMessages(
      [
        { role: "user", content: "Draw." },
        { role: "assistant", content: [call, result, text] },
      ],
      { timestamp, model },
    );
    const { messages: again } = toModelMessages(messages, { model });
    expect(again.at(-1)).toEqual({ role: "assistant", content: [call, result] });
  });

  const search = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } };
  const found = {
    type: "web_search_tool_result",
    tool_use_id: "srvtoolu_1",
    content: [{ type: "web_search_result", url: "u" }],
  };

  it.each([" ", ""])("Anthropic's server tools through model messages, next to %j", (text) => {
    const tool = { toolCallId: "srvtoolu_1", toolName: "web_search" };
    const hosted = [
      { type: "tool-call", ...tool, input: { query: "x" }, providerExecuted: true },
      { type: "tool-result", ...tool, output: { type: "json", value: [{ url: "u" }] } },
    ];
    const said = { type: "text", text: "Found." };
    const content = [{ type: "text", text }, ...hosted, said];
    const { messages } = fromModelMessages(
      [
        { role: "user", content: "Go" },
        { role: "assistant", content },
      ],
      { timestamp, model },
    );
    const { messages: again, issues } = toModelMessages(messages, { model });
    expect(again.at(-1)).toEqual({ role: "assistant", content: [...hosted, said] });
    expect(issues.map(({ code }) => code)).toEqual(["BLOCK_DROPPED"]);
  });

  it("Anthropic's server tools through UI messages", () => {
    const tool = {
      type: "tool-web_search",
      toolCallId: "srvtoolu_1",
      state: "output-available",
      input: { query: "x" },
      output: [{ url: "u" }],
      providerExecuted: true,
    };
    const parts = [
      { type: "step-start" },
      { type: "text", text: " " },
      tool,
      { type: "text", text: "Found." },
    ];
    const { messages } = fromUIMessages([{ id: "a1", role: "assistant", parts }], { timestamp, model });
    const { messages: again } = toModelMessages([user("Go"), ...messages], { model });
    expect(again.at(-1)?.content).toMatchObject([
      { type: "tool-call", toolCallId: "srvtoolu_1", providerExecuted: true },
      { type: "tool-result", toolCallId: "srvtoolu_1" },
      { type: "text", text: "Found." },
    ]);
  });

  it("Anthropic's documents and server tools", () => {
    const document = {
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data: "AAAA" },
    };
    const { messages } = fromAnthropic(
      [
        { role: "user", content: [{ type: "text", text: " " }, document] },
        { role: "assistant", content: [{ type: "text", text: "\n" }, search, found] },
        { role: "user", content: "And?" },
      ],
      { timestamp, model },
    );
    expect(toAnthropic(messages, { model }).messages).toEqual([
      { role: "user", content: [document] },
      { role: "assistant", content: [search, found] },
      { role: "user", content: "And?" },
    ]);
  });

  it("a document in a result of Anthropic's", () => {
    const document = { type: "document", source: { type: "text", media_type: "text/plain", data: "x" } };
    const call = { type: "tool_use", id: "toolu_1", name: "read", input: {} };
    const result = { type: "tool_result", tool_use_id: "toolu_1" };
    const { messages } = fromAnthropic(
      [
        { role: "user", content: "Go" },
        { role: "assistant", content: [call] },
        { role: "user", content: [{ ...result, content: [{ type: "text", text: " " }, document] }] },
      ],
      { timestamp, model },
    );
    expect(toAnthropic(messages, { model }).messages.at(-1)).toEqual({
      role: "user",
      content: [{ ...result, content: [document] }],
    });
  });

  it("files of OpenAI's chat and responses", () => {
    const file = { type: "file", file: { file_id: "f1" } };
    const chat = fromOpenAIChat([{ role: "user", content: [{ type: "text", text: "" }, file] }], {
      timestamp,
    });
    expect(toOpenAIChat(chat.messages).messages).toEqual([{ role: "user", content: [file] }]);
    const input = { type: "input_file", file_id: "f1" };
    const { messages } = fromOpenAIResponses(
      [{ role: "user", content: [{ type: "input_text", text: "" }, input] }],
      { timestamp },
    );
    expect(toOpenAIResponses(messages).input).toEqual([{ role: "user", content: [input] }]);
  });

  it("Gemini's files and code, and empty texts keep their signatures", () => {
    const file = { fileData: { mimeType: "video/mp4", fileUri: "https://example.com/a" } };
    const code = { executableCode: { language: "PYTHON", code: "1" } };
    const signed = { text: "", thoughtSignature: "c2ln" };
    const { messages } = fromGemini(
      [
        { role: "user", parts: [{ text: "" }, file] },
        { role: "model", parts: [{ text: "" }, code, signed] },
      ],
      { timestamp, model: "gemini-3-pro" },
    );
    expect(toGemini(messages, { model: "gemini-3-pro" }).contents).toEqual([
      { role: "user", parts: [file] },
      { role: "model", parts: [code, signed] },
    ]);
  });

  it("a tool's JSON result", () => {
    const call = { type: "tool-call", toolCallId: "c1", toolName: "read", input: {} };
    const output = { type: "json", value: [{ text: "" }, { type: "text", text: "" }] };
    const result = { type: "tool-result", toolCallId: "c1", toolName: "read", output };
    const given = [
      { role: "user" as const, content: "Go" },
      { role: "assistant" as const, content: [call] },
      { role: "tool" as const, content: [result] },
    ];
    const { messages } = fromModelMessages(given, { timestamp, model });
    expect(toModelMessages(messages, { model }).messages).toEqual(given);
  });

  it("but a message that is only blank is dropped", () => {
    const { messages } = fromOpenAIChat(
      [{ role: "user", name: "Ann", content: [{ type: "text", text: "" }] }],
      { timestamp },
    );
    const { messages: asked, issues } = toOpenAIChat(messages);
    expect(asked).toEqual([]);
    expect(issues.map(({ code }) => code)).toEqual(["BLOCK_DROPPED", "MESSAGE_DROPPED"]);
    const marked = { type: "text", text: " ", providerOptions: { acme: { mark: 1 } } };
    const said = fromModelMessages([{ role: "assistant", content: [marked] }], { timestamp, model });
    expect(toModelMessages([user("Go"), ...said.messages], { model }).messages).toHaveLength(1);
  });
});
