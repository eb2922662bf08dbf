import { createOpenAI } from "@ai-sdk/openai";
import {
  convertToModelMessages,
  generateText,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  stepCountIs,
  type ToolSet,
  type UIMessage,
} from "ai";
import {
  fromModelMessages,
  fromModelMessagesResponse,
  fromUIMessages,
  toModelMessages,
  toOpenAIResponses,
  toUIMessages,
} from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import type { Message } from "../../../src/core/format/message.ts";
import { assistant, toolResult, user } from "../../support/messages.ts";
import { describeWith } from "../../support/sdk.ts";

const timestamp = 1;
const model = "gpt-x";
const direct = { type: "direct" as const };
const program = { type: "program" as const, caller_id: "call_p" };
const usage = { input_tokens: 1, output_tokens: 1 };

/** Output of a model that writes a program, calls functions of a namespace, and calls a custom tool. */
const called = [
  { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "e" },
  { type: "program", id: "prog_1", call_id: "call_p", code: "f()", fingerprint: "fp" },
  ...[program, direct].map((caller, at) => ({
    type: "function_call",
    id: `fc_${at}`,
    call_id: `call_${at}`,
    name: "read",
    arguments: '{"path":"a"}',
    namespace: "files",
    caller,
    async: false,
  })),
  { type: "custom_tool_call", id: "ctc_1", call_id: "call_c", name: "patch", input: "*** Begin" },
  { type: "apply_patch_call", id: "apc_1", call_id: "call_a", status: "completed", operation: operation() },
];
const done = [
  { type: "program_output", id: "po_1", call_id: "call_p", result: "ok", status: "completed" },
  {
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "Done.", annotations: [] }],
  },
];

function operation() {
  return { type: "delete_file", path: "a" };
}

/** Answers requests with outputs in order, and records the requests. */
function provider(...outputs: readonly object[][]) {
  const asked: unknown[][] = [];
  const openai = createOpenAI({
    apiKey: "none",
    fetch: async (_, init) => {
      const output = outputs[asked.length] ?? done;
      asked.push(JSON.parse(String(init?.body)).input);
      const body = { id: "resp_1", created_at: 1, model, status: "completed", output, usage };
      return new Response(JSON.stringify(body), { headers: { "content-type": "application/json" } });
    },
  });
  const tools: ToolSet = {
    read: { inputSchema: jsonSchema<object>({ type: "object" }), execute: async () => "text" },
    patch: Object.assign(openai.tools.customTool({}), { execute: async (given: string) => `${given} done` }),
    apply_patch: Object.assign(openai.tools.applyPatch({}), {
      execute: async () => ({ status: "completed" as const, output: "gone" }),
    }),
    program: openai.tools.programmaticToolCalling(),
  };
  return { asked, tools, model: openai(model) };
}

/** Sends a request without storage, so that the model needs the whole history again. */
function ask({ model, tools }: { model: LanguageModel; tools: ToolSet }, messages: ModelMessage[]) {
  const providerOptions = { openai: { store: false } };
  return generateText({ model, tools, messages, stopWhen: stepCountIs(3), providerOptions });
}

/** Returns the chat as the SDK's hooks hold it. */
function chatOf(messages: readonly ModelMessage[]): UIMessage {
  const parts = messages.flatMap(({ role, content }): object[] => {
    if (role !== "assistant" || typeof content === "string") return [];
    return [{ type: "step-start" }, ...content.flatMap((part) => uiParts(part, messages))];
  });
  return JSON.parse(JSON.stringify({ id: "a1", role: "assistant", parts }));
}

function uiParts(part: object, messages: readonly ModelMessage[]): object[] {
  const { type, providerOptions, toolName, toolCallId, input, ...rest } = fields(part);
  if (type === "tool-result") return [];
  if (type !== "tool-call") return [{ type, ...rest, providerMetadata: providerOptions }];
  const all = messages.flatMap(({ content }): object[] => (typeof content === "string" ? [] : content));
  const result = all
    .map(fields)
    .find((one) => one["type"] === "tool-result" && one["toolCallId"] === toolCallId);
  const state = {
    callProviderMetadata: providerOptions,
    resultProviderMetadata: result?.["providerOptions"],
  };
  const output = fields(result?.["output"])["value"];
  const name = `tool-${String(toolName)}`;
  return [{ type: name, toolCallId, state: "output-available", input, output, ...rest, ...state }];
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

describeWith(["ai"], "OpenAI's calls through the AI SDK", () => {
  /** Plays a run, and returns the SDK's next request for its own messages. */
  async function play() {
    const server = provider(called, done);
    const question: ModelMessage = { role: "user", content: "Go" };
    const result = await ask(server, [question]);
    const given = [question, ...result.responseMessages];
    const next: ModelMessage = { role: "user", content: "And?" };
    await ask(server, [...given, next]);
    return { server, result, given, next, expected: server.asked.at(-1) };
  }

  it("go back as the SDK sends them, from a session's model messages", async () => {
    const { server, result, next, expected } = await play();
    const { messages } = fromModelMessagesResponse(result, { timestamp });
    const request = toModelMessages([user("Go"), ...messages, user("And?")]);
    expect(request.issues).toEqual([]);
    expect(request.messages.at(-1)).toEqual(next);
    await ask(server, request.messages);
    expect(server.asked.at(-1)).toEqual(expected);
  });

  it("go back as the SDK sends them, from a session's UI messages", async () => {
    const { server, given } = await play();
    const chat = [chatOf(given)];
    const asked = await convertToModelMessages(chat, { tools: server.tools });
    await ask(server, [{ role: "user", content: "Go" }, ...asked, { role: "user", content: "And?" }]);
    const expected = server.asked.at(-1);
    const { messages } = fromUIMessages(chat, { timestamp, model });
    expect(toUIMessages(messages).messages).toMatchObject([{ parts: chat[0]?.parts }]);
    const request = toModelMessages([user("Go"), ...messages, user("And?")]);
    expect(request.issues).toEqual([]);
    await ask(server, request.messages);
    expect(server.asked.at(-1)).toEqual(expected);
  });
});

describe("a call's metadata", () => {
  const state = (openai: object) => ({ openai: { itemId: "fc_1", ...openai } });
  const part = (more: object) => ({
    type: "tool-read",
    toolCallId: "c1",
    state: "output-available",
    input: { path: "a" },
    output: "text",
    ...more,
  });
  const chat = (more: object) =>
    fromUIMessages([{ id: "a1", role: "assistant", parts: [part(more)] }], { timestamp, model }).messages;
  const callOf = (messages: readonly Message[]) => toModelMessages(messages, { model }).messages[1]?.content;

  it.each([
    ["a namespace", { callProviderMetadata: state({ namespace: "files" }) }],
    ["a caller", { callProviderMetadata: state({ caller: direct }) }],
    ["the item of a patch", { callProviderMetadata: { openai: { itemId: "apc_1" } } }],
    ["a parallel call", { callProviderMetadata: state({ parallelToolCall: { index: 0 } }) }],
  ])("is restored from a UI message: %s", (_, more) => {
    expect(callOf(chat(more))).toMatchObject([
      { type: "tool-call", providerOptions: more.callProviderMetadata },
    ]);
  });

  it("is restored with the result: the caller", () => {
    const more = { callProviderMetadata: state({ caller: { type: "program", callerId: "call_p" } }) };
    expect(toModelMessages(chat(more), { model }).messages[2]?.content).toMatchObject([
      {
        type: "tool-result",
        output: { type: "text", value: "text" },
        providerOptions: more.callProviderMetadata,
      },
    ]);
  });

  it("is reported for other forms, except a namespace, which they support", () => {
    const codes = (more: object) => toOpenAIResponses(chat(more), { model }).issues.map(({ code }) => code);
    expect(codes({ callProviderMetadata: state({ namespace: "files" }) })).toEqual([]);
    expect(codes({ callProviderMetadata: state({ caller: direct }) })).toEqual(["DETAILS_DROPPED"]);
    const usual = { anthropic: { caller: direct, cacheControl: { type: "ephemeral" } } };
    expect(codes({ callProviderMetadata: usual })).toEqual([]);
  });

  it("stays with a custom tool: its text and its namespace", () => {
    const item = {
      type: "custom_tool_call",
      id: "ctc_1",
      call_id: "c1",
      name: "patch",
      input: "x",
      namespace: "n",
    };
    const { messages, issues } = fromModelMessages(
      [
        { role: "user", content: "Go" },
        {
          role: "assistant",
          content: [
            {
              type: "tool-call",
              toolCallId: "c1",
              toolName: "patch",
              input: "x",
              providerOptions: { openai: { itemId: "ctc_1", namespace: "n" } },
            },
          ],
        },
      ],
      { timestamp, model },
    );
    expect(issues).toEqual([]);
    expect(messages[1]?.content).toMatchObject([
      { id: "c1|ctc_1", arguments: { input: "x" }, namespace: "n" },
    ]);
    expect(toOpenAIResponses(messages, { model }).input[1]).toEqual(item);
  });

  it("shows other models an input that the SDK could not parse", () => {
    const broken = chat({ state: "output-error", output: undefined, errorText: "bad", input: '{"a":' });
    expect(broken[0]?.content).toMatchObject([{ arguments: { input: '{"a":' } }]);
    expect(callOf(broken)).toMatchObject([{ type: "tool-call", input: '{"a":' }]);
  });

  it("gives other models an object, even when the whole message is kept", () => {
    const openai = { itemId: "ctc_1", async: true };
    const call = {
      type: "tool-call",
      toolCallId: "c1",
      toolName: "patch",
      input: "x",
      providerOptions: { openai },
    };
    const { messages } = fromModelMessages([{ role: "assistant", content: [call] }], { timestamp, model });
    const inputOf = (asked: string) =>
      toModelMessages([user("Go"), ...messages], { model: asked }).messages[1];
    expect(inputOf(model)?.content).toEqual([call]);
    expect(inputOf("other")?.content).toEqual([{ ...call, input: { input: "x" } }]);
  });

  it("keeps its namespace but not its item when the reasoning before it is removed", () => {
    const call = {
      type: "toolCall" as const,
      id: "c1|fc_1",
      name: "read",
      arguments: {},
      namespace: "files",
    };
    const thought = { type: "thinking" as const, thinking: "Hm.", thinkingSignature: "broken" };
    const identity = { api: "openai-responses", provider: "openai", model };
    const messages = [user("Go"), { ...assistant([thought, call]), ...identity }, toolResult("c1|fc_1", "x")];
    expect(callOf(messages)).toEqual([
      {
        type: "tool-call",
        toolCallId: "c1",
        toolName: "read",
        input: {},
        providerOptions: { openai: { namespace: "files" } },
      },
    ]);
  });
});
