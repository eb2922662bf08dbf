import {
  fromAnthropicResponse,
  fromGeminiResponse,
  fromModelMessages,
  fromOpenAIChatResponse,
  fromOpenAIResponses,
  fromUIMessages,
  toAnthropic,
  toGemini,
  toModelMessages,
  toOpenAIChat,
  toOpenAIResponses,
} from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import type { AgentMessage, AssistantMessage } from "../../../src/core/format/message.ts";
import { user } from "../../support/messages.ts";

const timestamp = 1;
const question = user("Look it up.");
const codes = (issues: readonly { code: string; index: number }[]) =>
  issues.map(({ code, index }) => [code, index]);
const edited = (message: AssistantMessage): AssistantMessage => ({
  ...message,
  content: message.content.map((block) => (block.type === "text" ? { ...block, text: "Edited." } : block)),
});

describe("a compaction of Anthropic's", () => {
  it.each(["They said hello.", null])(
    "is restored unchanged except for its cache mark, with content %j",
    (content) => {
      const compaction = { type: "compaction", content, encrypted_content: null, signature: "c2ln" };
      const marked = { ...compaction, cache_control: { type: "ephemeral" } };
      const blocks = [marked, { type: "text", text: "Go on." }];
      const { message, issues } = fromAnthropicResponse(
        {
          id: "msg_1",
          model: "m",
          content: blocks,
          stop_reason: "end_turn",
          usage: { input_tokens: 1, output_tokens: 1 },
        },
        { timestamp },
      );
      expect(codes(issues)).toEqual([["KEPT_IN_DETAILS", 0]]);
      const sent = toAnthropic([question, message], { model: "m" });
      expect(sent.messages[1]?.content).toEqual([compaction, { type: "text", text: "Go on." }]);
      expect(sent.issues).toEqual([]);
    },
  );
});

describe("tools that Anthropic ran", () => {
  const content = [
    { type: "thinking", thinking: "Search.", signature: "c2ln" },
    { type: "text", text: "\n\n" },
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } },
    {
      type: "web_search_tool_result",
      tool_use_id: "srvtoolu_1",
      content: [{ type: "web_search_result", url: "u" }],
    },
    { type: "text", text: "Found." },
  ];
  const answer = (blocks: { type: string }[], stop_reason = "end_turn") =>
    fromAnthropicResponse(
      { id: "msg_1", model: "m", content: blocks, stop_reason, usage: { input_tokens: 1, output_tokens: 1 } },
      { timestamp },
    ).message;
  const said = (message: AgentMessage, model = "m") => {
    const { messages, issues } = toAnthropic([question, message], { model });
    return { content: messages[1]?.content, issues: codes(issues) };
  };

  it("are restored next to a blank text, which models write and the API refuses", () => {
    const { content: sent, issues } = said(answer(content));
    expect(sent).toEqual(content.filter(({ text }) => text !== "\n\n"));
    expect(issues).toEqual([["BLOCK_DROPPED", 1]]);
  });

  it("are restored from a paused turn, even when it thought before them", () => {
    const paused = [{ type: "text", text: "Let me see." }, ...content.slice(0, 1), ...content.slice(2, 3)];
    expect(said(answer(paused, "pause_turn"))).toEqual({ content: paused, issues: [] });
  });

  it("are reported when they cannot be sent, and the thinking between them is dropped, too", () => {
    const text = (said: string) => [{ type: "text", text: said }];
    expect(said(edited(answer(content.filter((_, at) => at !== 1))))).toEqual({
      content: text("Edited."),
      issues: [
        ["DETAILS_DROPPED", 1],
        ["THINKING_DROPPED", 1],
      ],
    });
    const other = said(answer(content.filter((_, at) => at !== 1)), "other");
    expect(other.content).toEqual(text("Found."));
    expect(other.issues).toContainEqual(["DETAILS_DROPPED", 1]);
    expect(codes(toOpenAIChat([question, answer(content)]).issues)).toContainEqual(["DETAILS_DROPPED", 1]);
  });
});

describe("tools that OpenAI ran", () => {
  const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "e" };
  const search = { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search" } };
  const answer = {
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "Found.", annotations: [] }],
  };
  const read = (...items: { type: string }[]) =>
    fromOpenAIResponses([{ role: "user", content: "Go" }, ...items], { timestamp, model: "m" }).messages;

  it("are dropped with the reasoning that belongs to them when they cannot be sent", () => {
    const [, message] = read(reasoning, search, answer);
    expect(toOpenAIResponses([message as AgentMessage], { model: "m" }).input).toEqual([
      reasoning,
      search,
      answer,
    ]);
    const { input, issues } = toOpenAIResponses([edited(message as AssistantMessage)], { model: "m" });
    expect(input).toEqual([{ role: "assistant", content: "Edited." }]);
    expect(codes(issues)).toEqual([
      ["DETAILS_DROPPED", 0],
      ["THINKING_DROPPED", 0],
    ]);
    expect(toModelMessages([message as AgentMessage], { model: "m" }).messages.at(-1)).toEqual({
      role: "assistant",
      content: [{ type: "text", text: "Found." }],
    });
  });

  it("get outputs of their own kind, also for custom calls without their item's id", () => {
    const items = [
      { role: "user", content: "Go" },
      { type: "custom_tool_call", call_id: "call_1", name: "patch", input: "x" },
      { type: "custom_tool_call_output", call_id: "call_1", output: "done" },
    ];
    const { messages } = fromOpenAIResponses(items, { timestamp, model: "m" });
    expect(toOpenAIResponses(messages).input).toEqual(items);
    expect(toOpenAIResponses(messages.slice(0, 2)).input[2]).toMatchObject({
      type: "custom_tool_call_output",
    });
  });

  it("omit references to items that are not stored", () => {
    const messages = read({ type: "item_reference", id: "msg_0" } as { type: string });
    expect(toOpenAIResponses(messages, { model: "m" }).input).toHaveLength(2);
    const { input, issues } = toOpenAIResponses(messages, { model: "m", store: false });
    expect(input).toHaveLength(1);
    expect(codes(issues)).toContainEqual(["DETAILS_DROPPED", 1]);
  });
});

describe("OpenAI tools that are not functions", () => {
  const call = { type: "computer_call", id: "cu_1", call_id: "call_1", action: { type: "click" } };
  const image_url = "data:image/png;base64,AAAA";
  const output = {
    type: "computer_call_output",
    call_id: "call_1",
    output: { type: "computer_screenshot", image_url },
  };
  const items = [{ role: "user", content: "Go" }, call, output, { role: "assistant", content: "Done." }];
  const { messages } = fromOpenAIResponses(items, { timestamp, model: "m" });

  it("are separate from the host's result, which other models see", () => {
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(toOpenAIResponses(messages).input).toEqual(items);
    expect(messages[2]?.content).toEqual([
      { type: "text", text: "[computer call output]" },
      { type: "image", data: "AAAA", mimeType: "image/png" },
    ]);
  });

  it("are sent only together with the host's result", () => {
    const sent = (list: AgentMessage[]) => {
      const { input, issues } = toOpenAIResponses(list, { model: "m" });
      return { types: input.map((item) => ("type" in item ? item.type : item.role)), issues: codes(issues) };
    };
    const [asked, called, given, done] = messages as [AgentMessage, AgentMessage, AgentMessage, AgentMessage];
    expect(sent([asked, called, done])).toEqual({
      types: ["user", "assistant"],
      issues: [["DETAILS_DROPPED", 1]],
    });
    expect(sent([asked, given, done])).toEqual({
      types: ["user", "user", "assistant"],
      issues: [["DETAILS_DROPPED", 1]],
    });
  });
});

describe("Gemini's calls without ids", () => {
  const parts = [
    { executableCode: { language: "PYTHON", code: "1" }, thoughtSignature: "c2ln" },
    { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } },
    { functionCall: { name: "read", args: {} }, thoughtSignature: "c2ln" },
  ];
  const answer = (responseId: string) =>
    fromGeminiResponse(
      {
        responseId,
        modelVersion: "gemini-3-pro",
        candidates: [{ finishReason: "STOP", content: { role: "model", parts } }],
      },
      { timestamp },
    ).message;
  const idOf = ({ content }: AssistantMessage) =>
    content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));

  it("get ids that differ between responses and are stable for one response", () => {
    expect(idOf(answer("a"))).toEqual(idOf(answer("a")));
    expect(idOf(answer("a"))).not.toEqual(idOf(answer("b")));
  });

  it("are restored with the code that the provider ran; older models get no ids", () => {
    const sent = (model: string) =>
      toGemini([question, { ...answer("a"), model }], { model }).contents[1]?.parts;
    const [id] = idOf(answer("a"));
    expect(sent("gemini-3-pro")).toEqual([
      ...parts.slice(0, 2),
      { ...parts[2], functionCall: { name: "read", args: {}, id } },
    ]);
    expect(sent("gemini-2.5-pro")).toEqual(parts);
  });
});

describe("spoken output of OpenAI's models", () => {
  const audio = { id: "audio_1", data: "AAAA", transcript: "Hello there.", expires_at: 1 };

  it("is text for other models, and goes back by its id alone", () => {
    const choices = [
      { finish_reason: "stop", message: { role: "assistant" as const, content: null, audio } },
    ];
    const { message } = fromOpenAIChatResponse({ id: "c", model: "m", choices }, { timestamp });
    expect(message.content).toEqual([{ type: "text", text: "Hello there." }]);
    expect(message.details).toMatchObject({ openaiChat: { audio } });
    expect(toOpenAIChat([message]).messages).toEqual([{ role: "assistant", audio: { id: "audio_1" } }]);
  });
});

describe("UI messages of the AI SDK", () => {
  const item = (itemId: string) => ({ openai: { itemId } });
  const chat = [
    {
      id: "u1",
      role: "user" as const,
      parts: [
        {
          type: "file",
          mediaType: "application/pdf",
          filename: "a.pdf",
          url: "data:application/pdf;base64,AAAA",
        },
        { type: "data-place", data: { city: "Rome" } },
      ],
    },
    {
      id: "a1",
      role: "assistant" as const,
      metadata: { cost: 1 },
      parts: [
        { type: "step-start" },
        { type: "reasoning", text: "Search.", providerMetadata: item("rs_1") },
        {
          type: "tool-web_search",
          toolCallId: "ws_1",
          state: "output-available",
          input: { query: "x" },
          output: { sources: [] },
          providerExecuted: true,
          callProviderMetadata: item("ws_1"),
        },
        { type: "text", text: "Found.", providerMetadata: item("msg_1") },
        { type: "step-start" },
        { type: "text", text: "More." },
      ],
    },
  ];
  const { messages } = fromUIMessages(chat, { timestamp, model: "m" });

  it("show the model their files and the tools that the provider ran, and keep data for the host", () => {
    const { messages: asked, issues } = toModelMessages(messages);
    expect(issues).toEqual([]);
    expect(asked).toMatchObject([
      { role: "user", content: [{ type: "file", mediaType: "application/pdf", filename: "a.pdf" }] },
      {
        role: "assistant",
        content: [
          { type: "reasoning", providerOptions: item("rs_1") },
          { type: "tool-call", toolCallId: "ws_1", providerExecuted: true, providerOptions: item("ws_1") },
          { type: "tool-result", toolCallId: "ws_1", output: { type: "json", value: { sources: [] } } },
          { type: "text", text: "Found.", providerOptions: item("msg_1") },
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "More." }] },
    ]);
    expect(JSON.stringify(asked)).not.toContain("Rome");
  });

  it("report what other forms cannot express", () => {
    const { input, issues } = toOpenAIResponses(messages, { model: "m" });
    expect(JSON.stringify(input)).not.toContain("rs_1");
    expect(codes(issues).filter(([code]) => code === "DETAILS_DROPPED")).toEqual([
      ["DETAILS_DROPPED", 0],
      ["DETAILS_DROPPED", 1],
    ]);
  });

  it("from before parts existed are refused with a message", () => {
    const old = JSON.parse('[{"id":"1","role":"user","content":"Hi"}]');
    expect(() => fromUIMessages(old, { timestamp })).toThrow("Message 0 has no parts");
  });
});

describe("an answer without state", () => {
  it("is attributed to the model of the turn's other answers, and does not hide the target model", () => {
    const signed = { type: "reasoning", text: "Hm.", providerOptions: { anthropic: { signature: "c2ln" } } };
    const given = [
      { role: "user" as const, content: "Go" },
      { role: "assistant" as const, content: [signed, { type: "text", text: "One." }] },
      { role: "assistant" as const, content: [{ type: "text", text: "Two." }] },
      { role: "user" as const, content: "And?" },
      { role: "assistant" as const, content: [{ type: "text", text: "Three." }] },
    ];
    const { messages } = fromModelMessages(given, { timestamp });
    expect(
      messages.map((message) => (message.role === "assistant" ? message.provider : message.role)),
    ).toEqual([...["user", "anthropic", "anthropic"], ...["user", "unknown"]]);
    expect(toModelMessages(messages)).toEqual({ messages: given, issues: [] });
  });
});
