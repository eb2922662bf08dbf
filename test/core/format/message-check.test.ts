import type { ContentBlock } from "@aws-sdk/client-bedrock-runtime";
import { describe, expect, test } from "vitest";
import { findConverter } from "../../../src/core/format/foreign-form.ts";
import { findMessageProblems, findStoredMessageProblems } from "../../../src/core/format/message-check.ts";
import { MESSAGE_SAMPLES } from "./support/samples.ts";

const record = (value: object) => JSON.parse(JSON.stringify(value));
const problemsOf = (value: object) => findMessageProblems(record(value));

const text = { type: "text", text: "x" };
const chatCall = { id: "c", type: "function", function: { name: "read", arguments: "{}" } };

describe("a message of this format has no problem", () => {
  test.each(MESSAGE_SAMPLES)("of role $name, complete", ({ value }) => {
    expect(problemsOf(Object(value))).toEqual([]);
    expect(findStoredMessageProblems(Object(value))).toEqual([]);
  });

  test.each([
    ["an answer with nothing but content", { role: "assistant", content: [text], stopReason: "injected" }],
    ["an empty answer", { role: "assistant", content: [] }],
    ["unknown fields", { role: "user", content: "x", provenance: {}, idempotencyKey: "k", id: "m" }],
    ["an empty list of another SDK's calls", { role: "assistant", content: [text], tool_calls: [] }],
    ["an unknown block", { role: "user", content: [{ type: "hologram", data: 1 }] }],
    ["a call whose arguments were cut off", { role: "assistant", content: [{ type: "toolCall", id: "c" }] }],
    ["a tool without a result", { role: "toolResult", toolCallId: "c", toolName: "x", isError: false }],
    ["a host's role with any content", { role: "note", content: null, tool_calls: [chatCall] }],
    ["a host's role without content", { role: "notification", text: "x" }],
  ])("%s", (_what, value) => {
    expect(problemsOf(value)).toEqual([]);
  });
});

/** Message of an SDK, the places in the problem, and the function that converts it. */
const FOREIGN: [string, object, string[], string | undefined][] = [
  [
    "OpenAI chat, calls",
    { role: "assistant", content: null, tool_calls: [chatCall] },
    ["tool_calls", "content"],
    "fromOpenAIChat",
  ],
  [
    "OpenAI chat, a refusal",
    { role: "assistant", content: null, refusal: "no" },
    ["content"],
    "fromOpenAIChat",
  ],
  [
    "OpenAI chat, a result",
    { role: "tool", tool_call_id: "c", content: "x" },
    ["role", "tool_call_id"],
    "fromOpenAIChat",
  ],
  ["OpenAI chat, a result without its id", { role: "tool", content: "x" }, ["role"], "fromOpenAIChat"],
  ["OpenAI chat, a function", { role: "function", name: "f", content: "x" }, ["role"], "fromOpenAIChat"],
  [
    "OpenAI chat, a function's call",
    { role: "assistant", content: "", function_call: { name: "f", arguments: "{}" } },
    ["function_call", "content"],
    "fromOpenAIChat",
  ],
  ["OpenAI chat, a developer", { role: "developer", content: "x" }, ["role"], "fromOpenAIChat"],
  [
    "OpenAI chat, an image",
    { role: "user", content: [text, { type: "image_url", image_url: { url: "x" } }] },
    ["content[1].type"],
    "fromOpenAIChat",
  ],
  [
    "OpenAI Responses, input",
    { role: "user", content: [{ type: "input_text", text: "x" }] },
    ["content[0].type"],
    "fromOpenAIResponses",
  ],
  [
    "OpenAI Responses, output",
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "x" }] },
    ["content[0].type"],
    "fromOpenAIResponses",
  ],
  [
    "Anthropic, a call",
    { role: "assistant", content: [text, { type: "tool_use", id: "c", name: "f", input: {} }] },
    ["content[1].type"],
    "fromAnthropic",
  ],
  [
    "Anthropic, a result",
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "x" }] },
    ["content[0].type"],
    "fromAnthropic",
  ],
  [
    "Anthropic, thinking",
    { role: "assistant", content: [{ type: "thinking", thinking: "hm", signature: "s" }] },
    ["content[0].signature"],
    "fromAnthropic",
  ],
  [
    "Anthropic, an image",
    { role: "user", content: [{ type: "image", source: { type: "base64", data: "x" } }] },
    ["content[0].data"],
    "fromAnthropic",
  ],
  [
    "Bedrock, a call",
    { role: "assistant", content: [{ text: "x" }, { toolUse: { toolUseId: "c", name: "f", input: {} } }] },
    ["content[0].type"],
    "fromBedrock",
  ],
  [
    "Bedrock, a result",
    { role: "user", content: [{ toolResult: { toolUseId: "c", content: [] } }] },
    ["content[0].type"],
    "fromBedrock",
  ],
  ["Gemini, the model", { role: "model", parts: [{ text: "x" }] }, ["role", "parts"], "fromGemini"],
  ["Gemini, the user", { role: "user", parts: [{ text: "x" }] }, ["parts", "content"], "fromGemini"],
  [
    "AI SDK, a call",
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "c", toolName: "f", input: {} }] },
    ["content[0].type"],
    "fromModelMessages",
  ],
  [
    "AI SDK, results",
    { role: "tool", content: [{ type: "tool-result", toolCallId: "c", output: {} }] },
    ["role"],
    "fromModelMessages",
  ],
  [
    "AI SDK, an image",
    { role: "user", content: [{ type: "image", image: "x" }] },
    ["content[0].data"],
    "fromModelMessages",
  ],
  [
    "AI SDK, of a user interface",
    { id: "m", role: "user", parts: [{ type: "text", text: "x" }] },
    ["parts", "content"],
    "fromUIMessages",
  ],
  [
    "AI SDK 4, of a user interface",
    { id: "m", role: "assistant", content: "x", toolInvocations: [{}] },
    ["content"],
    "fromUIMessages",
  ],
  ["no SDK's: an answer as a string", { role: "assistant", content: "x" }, ["content"], undefined],
  ["no SDK's: a number", { role: "user", content: 7 }, ["content"], undefined],
  ["no SDK's: bare texts", { role: "user", content: ["x"] }, ["content[0]"], undefined],
  [
    "no SDK's: a block without type",
    { role: "user", content: [{ text: "x" }] },
    ["content[0].type"],
    undefined,
  ],
  [
    "no SDK's: a text block without text",
    { role: "user", content: [{ type: "text" }] },
    ["content[0].text"],
    undefined,
  ],
  ["no SDK's: a result of no call", { role: "toolResult", content: [] }, ["toolCallId"], undefined],
  [
    "no SDK's: a result as null",
    { role: "toolResult", toolCallId: "c", content: null },
    ["content"],
    undefined,
  ],
  ["no SDK's: a command without one", { role: "bashExecution", output: "x" }, ["command"], undefined],
];

describe("a message of another shape", () => {
  test.each(FOREIGN)("%s", (_what, value, places, converter) => {
    expect(problemsOf(value).map((problem) => problem.split(":")[0])).toEqual(places);
    expect(findConverter(record(value))).toBe(converter);
  });

  test("that is stored has problems only if it is an SDK's", () => {
    for (const [, value, , converter] of FOREIGN) {
      expect(findStoredMessageProblems(record(value)).length > 0).toBe(converter !== undefined);
    }
  });

  test("reports what was found and never quotes it", () => {
    expect(problemsOf({ role: "user", content: 7 })).toEqual([
      "content: expected a string or an array of blocks, found a number",
    ]);
    expect(problemsOf({ role: "user" })).toEqual([
      "content: missing, expected a string or an array of blocks",
    ]);
    expect(problemsOf({ role: "assistant", content: "secret" })).toEqual([
      "content: expected an array of blocks, found a string",
    ]);
  });
});

describe("converterFor", () => {
  test.each([
    [{ type: "function_call", call_id: "c", name: "f", arguments: "{}" }, "fromOpenAIResponses"],
    [{ type: "function_call_output", call_id: "c", output: "x" }, "fromOpenAIResponses"],
    [{ type: "reasoning", summary: [] }, "fromOpenAIResponses"],
    [{ parts: [{ text: "x" }] }, "fromGemini"],
    [{ type: "human", data: {} }, undefined],
    [{ type: "human", data: { content: "x" } }, "fromLangChain"],
    [{ type: "ai", content: "x", id: "run-1" }, "fromLangChain"],
    [{ lc: 1, type: "constructor", id: ["HumanMessage"], kwargs: { content: "x" } }, "fromLangChain"],
    [{}, undefined],
    [null, undefined],
    ["x", undefined],
  ])("returns the converter of %j, which has no role: %s", (value, converter) => {
    expect(findConverter(value)).toBe(converter);
  });

  // The compiler compares the kinds with those of the SDK.
  const kinds: Record<Exclude<keyof ContentBlock.Visitor<unknown>, "_">, "fromBedrock" | undefined> = {
    text: undefined,
    image: "fromBedrock",
    document: "fromBedrock",
    video: "fromBedrock",
    audio: "fromBedrock",
    searchResult: "fromBedrock",
    toolUse: "fromBedrock",
    toolResult: "fromBedrock",
    toolAddition: "fromBedrock",
    toolRemoval: "fromBedrock",
    reasoningContent: "fromBedrock",
    citationsContent: "fromBedrock",
    guardContent: "fromBedrock",
    cachePoint: "fromBedrock",
  };
  test.each(Object.entries(kinds))(
    "returns the converter of Bedrock's block %s, which has no type: %s",
    (kind, converter) => {
      expect(findConverter({ role: "user", content: [{ [kind]: {} }] })).toBe(converter);
      expect(findConverter({ role: "user", content: [{ type: "x", [kind]: {} }] })).toBeUndefined();
    },
  );

  test.each(MESSAGE_SAMPLES)("returns undefined for a message of this format, of role $name", ({ value }) => {
    expect(findConverter(value)).toBeUndefined();
  });
});
