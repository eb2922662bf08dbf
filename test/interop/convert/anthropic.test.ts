import { fromAnthropic, fromAnthropicResponse, toAnthropic } from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import { user } from "../../support/messages.ts";
import { checkAnthropicRequest } from "../../support/provider-rules/anthropic.ts";
import { makeAnswer } from "./support/conversations.ts";

const model = "claude-sonnet-4-5";
const identity = { api: "anthropic-messages", provider: "anthropic", model };
const thinking = { type: "thinking" as const, thinking: "Hm.", thinkingSignature: "c2lnbmVk" };
const call = (id: string) => ({ type: "toolCall" as const, id, name: "read", arguments: { path: "a" } });
const result = (toolCallId: string) => ({
  role: "toolResult" as const,
  toolCallId,
  toolName: "read",
  content: [{ type: "text" as const, text: "done" }],
  isError: false,
  timestamp: 0,
});

describe("toAnthropic", () => {
  it("puts all results of an answer into one message after it, whatever came between", () => {
    const { messages, issues } = toAnthropic([
      user("Read both."),
      makeAnswer([call("toolu_1"), call("toolu_2")], identity),
      result("toolu_2"),
      { role: "system", content: "Be brief.", timestamp: 0 },
      result("toolu_1"),
      user("And?"),
    ]);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "user"]);
    expect(messages[2]?.content).toEqual([
      { type: "tool_result", tool_use_id: "toolu_2", content: [{ type: "text", text: "done" }] },
      { type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "done" }] },
    ]);
    expect(issues.map(({ code, index }) => [code, index])).toEqual([
      ["CONTENT_MOVED", 3],
      ["PAIR_REPAIRED", 4],
    ]);
  });

  it("joins system messages, sections included, into one text", () => {
    const { system, issues } = toAnthropic([
      { role: "system", content: "Help.", sections: { rules: "Be kind.", old: "x" }, timestamp: 0 },
      user("Hi"),
      {
        role: "system",
        content: [{ type: "text", text: "Be brief." }],
        sections: { old: null },
        timestamp: 0,
      },
    ]);
    expect(system).toBe("Help.\n\nBe brief.\n\nBe kind.");
    expect(issues).toEqual([
      { code: "CONTENT_MOVED", index: 2, message: "Moved a system message to the front of the request." },
    ]);
    expect(toAnthropic([user("Hi")])).not.toHaveProperty("system");
  });

  it("reports the tools that system messages declare, since they belong next to the messages", () => {
    const tool = { name: "read", description: "Reads.", parameters: { type: "object" } };
    const { issues } = toAnthropic([
      { role: "system", content: "Help.", toolsAdded: [tool], timestamp: 0 },
      user("Hi"),
    ]);
    expect(issues).toEqual([
      { code: "TOOLS_DROPPED", index: -1, message: "Pass these tools with the request: read." },
    ]);
  });

  it("sends the target model's thinking byte for byte, and no other thinking", () => {
    const messages = [
      user("Hi"),
      makeAnswer([thinking, { type: "text", text: "Hello" }], identity),
      user("So?"),
    ];
    const block = { type: "thinking", thinking: "Hm.", signature: "c2lnbmVk" };
    expect(toAnthropic(messages).messages[1]?.content).toContainEqual(block);
    expect(toAnthropic(messages, { model: `${model}-20250929` }).messages[1]?.content).toContainEqual(block);
    for (const options of [{ model: "claude-opus-4-1" }, { provider: "bedrock" }, { dropThinking: true }]) {
      const { messages: request, issues } = toAnthropic(messages, options);
      expect(request[1]?.content).toEqual([{ type: "text", text: "Hello" }]);
      expect(issues.map(({ code, index }) => [code, index])).toEqual([["THINKING_DROPPED", 1]]);
    }
  });

  it("sends no thinking if the last answer came from another model and no target model is given", () => {
    const other = { api: "openai-responses", provider: "openai", model: "gpt-5" };
    const messages = [
      user("Hi"),
      makeAnswer([thinking, { type: "text", text: "Hello" }], identity),
      user("So?"),
      makeAnswer([{ type: "text", text: "So." }], other),
    ];
    expect(toAnthropic(messages).issues.map(({ code }) => code)).toEqual(["THINKING_DROPPED"]);
    expect(toAnthropic(messages, { model }).issues).toEqual([]);
  });

  it.each(["aborted", "error", "deferred", "pending"] as const)(
    "omits an answer that ended with %s, with the results of its calls",
    (stopReason) => {
      const { messages, issues } = toAnthropic([
        user("Hi"),
        makeAnswer([{ type: "text", text: "Half" }, call("toolu_1")], { ...identity, stopReason }),
        result("toolu_1"),
        user("Again"),
      ]);
      expect(messages).toEqual([
        { role: "user", content: "Hi" },
        { role: "user", content: "Again" },
      ]);
      expect(issues.map(({ code, index }) => [code, index])).toEqual([
        ["MESSAGE_DROPPED", 1],
        ["PAIR_REPAIRED", 2],
      ]);
    },
  );

  it("moves images of a failed call after the results", () => {
    const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
    const request = toAnthropic([
      user("Look"),
      makeAnswer([call("toolu_1"), call("toolu_2")], identity),
      { ...result("toolu_1"), content: [image], isError: true },
      { ...result("toolu_2"), content: [image] },
    ]);
    const source = { type: "base64", media_type: "image/png", data: "AAAA" };
    expect(request.messages.slice(2)).toEqual([
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "toolu_1",
            content: [{ type: "text", text: "(see the image that follows)" }],
            is_error: true,
          },
          { type: "tool_result", tool_use_id: "toolu_2", content: [{ type: "image", source }] },
        ],
      },
      { role: "user", content: [{ type: "image", source }] },
    ]);
    expect(request.issues.map(({ code, index }) => [code, index])).toEqual([["CONTENT_MOVED", 2]]);
  });

  it("renames another provider's id equally in call and result, and keeps different ids different", () => {
    const { messages } = toAnthropic([
      user("Go"),
      makeAnswer([call("a|fc_1"), call("a_fc_1"), call("x".repeat(80))], identity),
      result("a|fc_1"),
      result("a_fc_1"),
      result("x".repeat(80)),
    ]);
    expect(checkAnthropicRequest({ messages })).toEqual([]);
    const ids = JSON.stringify(messages).match(/"(?:id|tool_use_id)":"[^"]+"/g) ?? [];
    expect(ids.slice(0, 3).map((id) => id.slice(5))).toEqual(ids.slice(3).map((id) => id.slice(14)));
    expect(new Set(ids).size).toBe(6);
  });

  it("adds a placeholder result for a call that a crash left open, though an earlier answer used its id", () => {
    const { messages, issues } = toAnthropic([
      user("Go"),
      makeAnswer([call("call_0")], identity),
      result("call_0"),
      makeAnswer([call("call_0")], identity),
      user("Go on"),
    ]);
    expect(checkAnthropicRequest({ messages })).toEqual([]);
    expect(messages.slice(3, 5)).toMatchObject([
      { role: "assistant", content: [{ type: "tool_use", id: "call_0_2" }] },
      { role: "user", content: [{ tool_use_id: "call_0_2", is_error: true }] },
    ]);
    expect(issues.map(({ code, index, message }) => [code, index, message])).toEqual([
      ["PAIR_REPAIRED", 3, 'Tool call "call_0" reuses an id; it was assigned a new one.'],
      ["PAIR_REPAIRED", 3, 'Tool call "call_0" has no result; a result that states this was added.'],
    ]);
  });

  it("sends no system prompt of white space", () => {
    const { issues, ...request } = toAnthropic([
      { role: "system", content: " \n", timestamp: 0 },
      user("Hi"),
    ]);
    expect(request).toEqual({ messages: [{ role: "user", content: "Hi" }] });
    expect(issues.map(({ code, index }) => [code, index])).toEqual([["BLOCK_DROPPED", -1]]);
  });

  it("trims trailing white space from an answer to continue, and puts a user message before one that is first", () => {
    const { messages } = toAnthropic([makeAnswer([{ type: "text", text: "Once upon " }], identity)]);
    expect(messages).toEqual([
      { role: "user", content: "(The conversation starts with an answer.)" },
      { role: "assistant", content: [{ type: "text", text: "Once upon" }] },
    ]);
  });

  it("converts nothing to nothing", () => {
    expect(toAnthropic([])).toEqual({ messages: [], issues: [] });
  });
});

describe("fromAnthropic", () => {
  const options = { timestamp: 5, model };

  it("makes results and a user message from one message with both", () => {
    const { messages, issues } = fromAnthropic(
      {
        system: [{ type: "text", text: "Help." }],
        messages: [
          { role: "user", content: "Go" },
          {
            role: "assistant",
            content: [{ type: "tool_use", id: "toolu_1", name: "read", input: { path: "a" } }],
          },
          {
            role: "user",
            content: [
              { type: "tool_result", tool_use_id: "toolu_1", content: "text", is_error: true },
              { type: "text", text: "And now?", cache_control: { type: "ephemeral" } },
            ],
          },
        ],
      },
      { ...options, timestamp: (index) => index + 10 },
    );
    expect(issues).toEqual([]);
    expect(messages).toEqual([
      { role: "system", content: "Help.", timestamp: 9 },
      { role: "user", content: "Go", timestamp: 10 },
      { ...makeAnswer([call("toolu_1")], identity), timestamp: 11 },
      { ...result("toolu_1"), content: [{ type: "text", text: "text" }], isError: true, timestamp: 12 },
      { role: "user", content: [{ type: "text", text: "And now?" }], timestamp: 12 },
    ]);
  });

  it("keeps content without a counterpart, reports it, and restores it without cache marks", () => {
    const document = {
      type: "document",
      source: { type: "url", url: "https://example.com/a.pdf" },
      title: null,
    };
    const search = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } };
    const messages = [
      { role: "user" as const, content: [{ ...document, cache_control: { type: "ephemeral" } }] },
      { role: "assistant" as const, content: [search, { type: "text", text: "Found.", citations: null }] },
      {
        role: "user" as const,
        content: [{ type: "image", source: { type: "url", url: "https://example.com/a.png" } }],
      },
    ];
    const converted = fromAnthropic(messages, options);
    expect(converted.issues.map(({ code, index }) => [code, index])).toEqual([
      ["KEPT_IN_DETAILS", 0],
      ["KEPT_IN_DETAILS", 1],
      ["KEPT_IN_DETAILS", 2],
    ]);
    expect(converted.messages.map((message) => message.content)).toEqual([
      [{ type: "text", text: "[document: https://example.com/a.pdf]" }],
      [{ type: "text", text: "Found." }],
      [{ type: "text", text: "[image: https://example.com/a.png]" }],
    ]);
    expect(toAnthropic(converted.messages).messages).toEqual([
      { role: "user", content: [{ type: "document", source: document.source }] },
      { role: "assistant", content: [search, { type: "text", text: "Found." }] },
      messages[2],
    ]);
  });

  it("no longer restores kept content once the message's content changes", () => {
    const { messages } = fromAnthropic(
      [{ role: "user", content: [{ type: "image", source: { type: "file", file_id: "f1" } }] }],
      options,
    );
    const edited = messages.map((message) => ({ ...message, content: "Forget the image." }));
    expect(toAnthropic(JSON.parse(JSON.stringify(edited))).messages).toEqual([
      { role: "user", content: "Forget the image." },
    ]);
  });

  it("refuses unknown roles, invalid content, and a conversion without a time", () => {
    const odd = JSON.parse('[{"role":"robot","content":"x"}]');
    expect(() => fromAnthropic(odd, options)).toThrow('Message 0 has the role "robot"');
    const empty = JSON.parse('[{"role":"assistant","content":{}}]');
    expect(() => fromAnthropic(empty, options)).toThrow(TypeError);
    expect(() => fromAnthropic([], JSON.parse("{}"))).toThrow("pass { timestamp: Date.now() }");
  });
});

describe("fromAnthropicResponse", () => {
  const response = {
    id: "msg_1",
    model: `${model}-20250929`,
    content: [
      { type: "thinking", thinking: "Hm.", signature: "c2lnbmVk" },
      { type: "redacted_thinking", data: "b3BhcXVl" },
      { type: "text", text: "Reading.", citations: null },
      { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a" }, caller: { type: "direct" } },
    ],
    stop_reason: "tool_use",
    usage: {
      input_tokens: 10,
      output_tokens: 20,
      cache_read_input_tokens: 300,
      cache_creation_input_tokens: 40,
      cache_creation: { ephemeral_1h_input_tokens: 30, ephemeral_5m_input_tokens: 10 },
      output_tokens_details: { thinking_tokens: 7 },
    },
  };

  it("makes the assistant message, with usage, stop reason, ids, and signatures", () => {
    const { message, issues } = fromAnthropicResponse(response, { timestamp: 5, model });
    expect(issues).toEqual([]);
    expect(message).toEqual({
      role: "assistant",
      content: [
        thinking,
        { type: "thinking", thinking: "[Reasoning redacted]", thinkingSignature: "b3BhcXVl", redacted: true },
        { type: "text", text: "Reading." },
        call("toolu_1"),
      ],
      ...identity,
      responseModel: `${model}-20250929`,
      responseId: "msg_1",
      usage: {
        input: 10,
        output: 20,
        cacheRead: 300,
        cacheWrite: 40,
        cacheWrite1h: 30,
        reasoning: 7,
        totalTokens: 370,
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
      },
      stopReason: "toolUse",
      rawStopReason: "tool_use",
      timestamp: 5,
    });
  });

  it.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["pause_turn", "stop"],
    ["tool_use", "toolUse"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "error"],
    [null, "pending"],
    ["of_tomorrow", "stop"],
  ])("maps the stop reason %s to %s", (stop_reason, expected) => {
    const { message } = fromAnthropicResponse({ ...response, stop_reason }, { timestamp: 5 });
    expect(message.stopReason).toBe(expected);
    expect(message.errorMessage).toBe(expected === "error" ? "The model refused to answer." : undefined);
    expect(message.model).toBe(response.model);
  });
});
