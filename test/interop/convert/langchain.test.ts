import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  ChatMessage,
  HumanMessage,
  mapChatMessagesToStoredMessages,
  mapStoredMessagesToChatMessages,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { SessionManager } from "sessiontree";
import { fromLangChain, toAnthropic, toLangChain } from "sessiontree/convert";
import { describe, expect, it } from "vitest";

const timestamp = 1_790_000_000_000;
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const codes = (issues: readonly { code: string; index: number }[]) =>
  issues.map(({ code, index }) => [code, index]);
const plain = (messages: readonly BaseMessage[]) => mapChatMessagesToStoredMessages([...messages]);

const ANSWER = {
  id: "msg_1",
  content: [
    { type: "thinking", thinking: "Look.", signature: "c2ln" },
    { type: "text", text: "I look." },
    { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a" } },
  ],
  tool_calls: [{ id: "toolu_1", name: "read", args: { path: "a" }, type: "tool_call" }],
  usage_metadata: {
    input_tokens: 20,
    output_tokens: 7,
    total_tokens: 27,
    input_token_details: { cache_read: 5, cache_creation: 3 },
    output_token_details: { reasoning: 2 },
  },
  response_metadata: { model_provider: "anthropic", model: "claude-x", stop_reason: "tool_use" },
};

const CONVERSATION: readonly BaseMessage[] = [
  new SystemMessage("Be brief."),
  new HumanMessage({ id: "h1", name: "ada", content: "Why is the cart empty?" }),
  new AIMessage(JSON.parse(JSON.stringify(ANSWER))),
  new ToolMessage({
    id: "t1",
    content: "none",
    tool_call_id: "toolu_1",
    name: "read",
    status: "error",
    artifact: [1],
  }),
  new AIMessage({ content: "It is Monday." }),
];

describe("LangChain's messages", () => {
  it.each([
    ["instances", CONVERSATION],
    ["their stored form", plain(CONVERSATION)],
    ["what a checkpointer serializes", JSON.parse(JSON.stringify(CONVERSATION))],
  ])("pass through a session unchanged: %s", (_, given) => {
    const session = SessionManager.inMemory();
    const { messages, issues } = fromLangChain(given, { timestamp });
    expect(codes(issues)).toEqual([
      ["KEPT_IN_DETAILS", 1],
      ["KEPT_IN_DETAILS", 2],
      ["KEPT_IN_DETAILS", 3],
    ]);
    for (const message of messages) session.appendMessage(message);
    const said = session.buildSessionContext().messages;
    expect(said[2]).toMatchObject({
      api: "anthropic-messages",
      provider: "anthropic",
      model: "claude-x",
      responseId: "msg_1",
      stopReason: "toolUse",
      rawStopReason: "tool_use",
      usage: { input: 12, output: 7, cacheRead: 5, cacheWrite: 3, reasoning: 2, totalTokens: 27 },
      content: [
        { type: "thinking", thinking: "Look.", thinkingSignature: "c2ln" },
        { type: "text", text: "I look." },
        { type: "toolCall", id: "toolu_1", name: "read", arguments: { path: "a" } },
      ],
    });
    const again = toLangChain(said, { model: "claude-x", provider: "anthropic" });
    expect(again.issues).toEqual([]);
    expect(plain(mapStoredMessagesToChatMessages(again.messages))).toEqual(plain(CONVERSATION));
    // LangChain mutates its input while making instances; the session stays unchanged. The thinking is Anthropic's own, so its
    // request accepts it as well.
    expect(toAnthropic(said, { model: "claude-x" }).messages[1]?.content[0]).toMatchObject({
      type: "thinking",
    });
  });

  it("have images in each form that its providers accept, and as bytes", () => {
    const bytes = new Uint8Array(Buffer.from(PNG, "base64"));
    const url = `data:image/png;base64,${PNG}`;
    const content = [
      { type: "image_url", image_url: { url } },
      { type: "image_url", image_url: url },
      { type: "image", source_type: "base64", mime_type: "image/png", data: PNG },
      { type: "image", mimeType: "image/png", data: bytes },
      { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
      { type: "image_url", image_url: { url: "https://example.com/a.png" } },
      { type: "file", filename: "a.pdf", data: "AAAA", mimeType: "application/pdf" },
      { type: "image_url", image_url: { url: "data:text/plain;base64,AAAA" } },
    ];
    const { messages } = fromLangChain([new HumanMessage({ content })], { timestamp });
    const image = { type: "image", mimeType: "image/png", data: PNG };
    expect(messages[0]?.content).toEqual([
      ...[image, image, image, image, image],
      { type: "text", text: "[image: https://example.com/a.png]" },
      { type: "text", text: "[file: a.pdf]" },
      { type: "text", text: "[image]" },
    ]);
    expect(toLangChain(messages).messages[0]?.data.content[3]).toMatchObject({ type: "image", data: PNG });
  });

  it("keep calls with invalid arguments, older calls, chunks, and messages of other roles than the user", () => {
    const invalid = {
      id: "i1",
      name: "read",
      args: "{",
      error: "Malformed.",
      type: "invalid_tool_call" as const,
    };
    const old = {
      type: "ai",
      data: {
        content: "",
        additional_kwargs: {
          tool_calls: [{ id: "c1", type: "function", function: { name: "read", arguments: '{"a":1}' } }],
        },
      },
    };
    const given = [
      new ChatMessage({ role: "manager", content: "Go" }),
      new AIMessage({ content: "Hm.", invalid_tool_calls: [invalid] }),
      old,
      { role: "tool", content: "x", tool_call_id: "c1" },
      new AIMessageChunk({ content: "Done." }),
      new RemoveMessage({ id: "h1" }),
    ];
    const { messages, issues } = fromLangChain(given, { timestamp });
    expect(messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "assistant",
      "toolResult",
      "assistant",
    ]);
    expect(messages[2]?.content).toEqual([{ type: "toolCall", id: "c1", name: "read", arguments: { a: 1 } }]);
    expect(codes(issues)).toContainEqual(["MESSAGE_DROPPED", 5]);
    const again = toLangChain(messages).messages;
    expect(again.map(({ type }) => type)).toEqual(["generic", "ai", "ai", "tool", "ai"]);
    expect(again[1]?.data).toMatchObject({ invalid_tool_calls: [invalid] });
  });

  it("are refused by index if the type is unknown, the call is missing, or the value is invalid", () => {
    const read = (...given: unknown[]) => fromLangChain(JSON.parse(JSON.stringify(given)), { timestamp });
    expect(() => read({ type: "robot", content: "x" })).toThrow('Message 0 has the role "robot"');
    expect(() => read({ type: "human", content: "x" }, { type: "tool", content: "x" })).toThrow(
      "tool_call_id",
    );
    expect(() => read({ content: "x" })).toThrow(TypeError);
    expect(() => read({ type: "human", content: "x" }, null)).toThrow("Message 1 is null, not an object.");
    expect(() => read({ type: "human", content: [null] })).toThrow("Part 0 of message 0 is null");
  });

  it("are recognized when they are appended unchanged", () => {
    const session = SessionManager.inMemory();
    const append = () =>
      session.appendMessage(Object.assign(JSON.parse("{}"), new HumanMessage("Hi"), { type: "human" }));
    expect(append).toThrow("Convert it with fromLangChain from sessiontree/convert.");
  });
});
