import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import {
  type AgentMessage,
  type AssistantMessage,
  SessionManager,
  type ToolResultMessage,
} from "sessiontree";
import {
  fromAnthropicResponse,
  fromOpenAIChatResponse,
  fromOpenAIResponsesResponse,
  toAnthropic,
  toOpenAIChat,
  toOpenAIResponses,
} from "sessiontree/convert";
import { expect, test } from "vitest";
import { ProviderServer } from "../../support/provider-server/provider-server.ts";
import { describeWith } from "../../support/sdk.ts";

const timestamp = 1_790_000_000_000;
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const files = {
  type: "object" as const,
  properties: { path: { type: "string" } },
  required: ["path"],
  additionalProperties: false,
};

/** Sends our context through a real client and returns its answer as our message. */
type Ask = (origin: string, messages: readonly AgentMessage[]) => Promise<AssistantMessage>;

/** A provider's client, as a host uses it. */
interface RealClient {
  readonly name: string;
  readonly packages: readonly string[];
  /** Whether answers contain thinking and requests send it back. */
  readonly thinks: boolean;
  readonly ask: Ask;
  readonly stream: Ask;
}

const anthropicAt = (origin: string) => new Anthropic({ apiKey: "none", baseURL: origin, maxRetries: 0 });
const openaiAt = (origin: string) => new OpenAI({ apiKey: "none", baseURL: `${origin}/v1`, maxRetries: 0 });

const anthropicRequest = (messages: readonly AgentMessage[]) => {
  const { system, messages: asked } = toAnthropic(messages, { model: "claude-x" });
  return {
    model: "claude-x",
    max_tokens: 4096,
    thinking: { type: "enabled" as const, budget_tokens: 1024 },
    tools: [{ name: "read", description: "Reads a file.", input_schema: files }],
    ...(system !== undefined && { system }),
    messages: asked,
  };
};

const chatRequest = (messages: readonly AgentMessage[]) => ({
  model: "gpt-x",
  tools: [{ type: "function" as const, function: { name: "read", parameters: files } }],
  messages: toOpenAIChat(messages, { model: "gpt-x" }).messages,
});

const responsesRequest = (messages: readonly AgentMessage[]) => {
  const { instructions, input } = toOpenAIResponses(messages, { model: "gpt-x" });
  return {
    model: "gpt-x",
    store: false,
    include: ["reasoning.encrypted_content" as const],
    tools: [{ type: "function" as const, name: "read", parameters: files, strict: true }],
    ...(instructions !== undefined && { instructions }),
    input,
  };
};

const CLIENTS: readonly RealClient[] = [
  {
    name: "Anthropic's client",
    packages: ["@anthropic-ai/sdk"],
    thinks: true,
    ask: async (origin, messages) => {
      const response = await anthropicAt(origin).messages.create(anthropicRequest(messages));
      return fromAnthropicResponse(response, { timestamp }).message;
    },
    stream: async (origin, messages) => {
      const response = await anthropicAt(origin).messages.stream(anthropicRequest(messages)).finalMessage();
      return fromAnthropicResponse(response, { timestamp }).message;
    },
  },
  {
    name: "OpenAI's client, chat",
    packages: ["openai"],
    thinks: false,
    ask: async (origin, messages) => {
      const response = await openaiAt(origin).chat.completions.create(chatRequest(messages));
      return fromOpenAIChatResponse(response, { timestamp }).message;
    },
    stream: async (origin, messages) => {
      const stream = openaiAt(origin).chat.completions.stream(chatRequest(messages));
      return fromOpenAIChatResponse(await stream.finalChatCompletion(), { timestamp }).message;
    },
  },
  {
    name: "OpenAI's client, responses",
    packages: ["openai"],
    thinks: true,
    ask: async (origin, messages) => {
      const response = await openaiAt(origin).responses.create(responsesRequest(messages));
      return fromOpenAIResponsesResponse(response, { timestamp }).message;
    },
    stream: async (origin, messages) => {
      const stream = openaiAt(origin).responses.stream(responsesRequest(messages));
      return fromOpenAIResponsesResponse(await stream.finalResponse(), { timestamp }).message;
    },
  },
];

function result(toolCallId: string, isError: boolean, hasImage: boolean): ToolResultMessage {
  const image = { type: "image" as const, data: PNG, mimeType: "image/png" };
  const content = [{ type: "text" as const, text: `result of ${toolCallId}` }, ...(hasImage ? [image] : [])];
  return { role: "toolResult", toolCallId, toolName: "read", content, isError, timestamp };
}

function callIds({ content }: AssistantMessage): string[] {
  return content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
}

/** Plays a whole conversation: parallel calls, failed results with images, a branch, a compaction, and a crash. */
async function play(ask: Ask, server: ProviderServer): Promise<SessionManager> {
  const session = SessionManager.inMemory();
  const say = (content: string) => session.appendMessage({ role: "user", content, timestamp });
  const answer = async () => {
    const message = await ask(server.origin, session.buildSessionContext().messages);
    session.appendMessage(message);
    return message;
  };
  session.appendMessage({ role: "system", content: "Be brief.", timestamp });
  const question = say("Compare a and b.");
  const calls = ["a", "b"].map((path) => ({ name: "read", arguments: { path } }));
  server.script({ thinking: "Both at once.", text: "Let me look.", calls });
  const [first = "", second = ""] = callIds(await answer());
  // The second tool was faster, and the first one failed with an image.
  session.appendMessage(result(second, false, true));
  session.appendMessage(result(first, true, true));
  server.script({ thinking: "So that is it.", text: "They differ. " });
  await answer();
  const compared = session.getLeafId() ?? "";

  session.branch(question);
  say("No: only tell me what you can do.");
  server.script({ thinking: "Easy.", text: "Read files." });
  await answer();

  session.branch(compared);
  const kept = say("Why?");
  server.script({ thinking: "Again.", calls: calls.slice(0, 1) });
  const [again = ""] = callIds(await answer());
  session.appendMessage(result(again, false, false));
  server.script({ text: "Because of the third line." });
  await answer();
  session.appendCompaction("The user compared a and b.", kept, 1000);
  say("And now?");
  server.script({ thinking: "One more.", calls: calls.slice(1) });
  await answer();
  // The process dies before the tool is finished.
  say("Are you there?");
  server.script({ thinking: "Yes.", text: "Yes." });
  await answer();
  return session;
}

for (const { name, packages, thinks, ask, stream } of CLIENTS) {
  describeWith(packages, name, () => {
    test.each([
      ["at once", ask],
      ["streaming", stream],
    ])(
      "sends nothing that the provider refuses, through branches, a compaction, and a crash: %s",
      async (_, one) => {
        await using server = await ProviderServer.start();
        const session = await play(one, server);
        expect(server.faults).toEqual([]);
        const answers = session.getEntries().flatMap((entry) => {
          return entry.type === "message" && entry.message.role === "assistant" ? [entry.message] : [];
        });
        expect(answers).toHaveLength(server.requests.length);
        for (const { usage, responseId, stopReason, content } of answers) {
          expect(usage).toMatchObject({ input: 17, cacheRead: 4, output: 9 });
          expect(responseId).toMatch(/_\d{8}$/);
          expect(stopReason).toBe(content.some(({ type }) => type === "toolCall") ? "toolUse" : "stop");
        }
        expect(answers.some(({ content }) => content.some(({ type }) => type === "thinking"))).toBe(thinks);
      },
    );
  });
}

describeWith(["openai", "@anthropic-ai/sdk"], "one session, several providers", () => {
  test("each continues from the others' answers", async () => {
    await using server = await ProviderServer.start();
    const session = SessionManager.inMemory();
    for (const { ask } of [...CLIENTS, ...CLIENTS]) {
      session.appendMessage({ role: "user", content: "Read a.", timestamp });
      server.script(
        { thinking: "Reading.", calls: [{ name: "read", arguments: { path: "a" } }] },
        { text: "Done." },
      );
      for (let isWaiting = true; isWaiting; ) {
        const message = await ask(server.origin, session.buildSessionContext().messages);
        session.appendMessage(message);
        for (const id of callIds(message)) session.appendMessage(result(id, false, true));
        isWaiting = message.stopReason === "toolUse";
      }
    }
    expect(server.faults).toEqual([]);
    expect(server.requests).toHaveLength(12);
  });

  test("Anthropic continues calls of another model if thinking stays off until the next user message", async () => {
    await using server = await ProviderServer.start();
    const session = SessionManager.inMemory();
    session.appendMessage({ role: "user", content: "Read a.", timestamp });
    const [anthropic, , openai] = CLIENTS;
    server.script({ thinking: "Reading.", calls: [{ name: "read", arguments: { path: "a" } }] });
    const call = await openai?.ask(server.origin, session.buildSessionContext().messages);
    if (call === undefined || anthropic === undefined) throw new Error("a client is missing");
    session.appendMessage(call);
    for (const id of callIds(call)) session.appendMessage(result(id, false, false));

    const context = session.buildSessionContext().messages;
    await expect(anthropic.ask(server.origin, context)).rejects.toThrow(/400.*Expected .thinking./s);
    const { thinking: _, ...request } = anthropicRequest(context);
    server.script({ text: "Done." });
    const response = await anthropicAt(server.origin).messages.create(request);
    expect(fromAnthropicResponse(response, { timestamp }).message.stopReason).toBe("stop");
  });

  test("the server does not accept everything: it refuses what the providers refuse, in their words", async () => {
    await using server = await ProviderServer.start();
    const user = { role: "user" as const, content: "Read a." };
    const call = { type: "tool_use" as const, id: "toolu_1", name: "read", input: {} };
    const forged = { type: "thinking" as const, thinking: "mine", signature: "forged" };
    const askAnthropic = (content: (typeof call | typeof forged)[]) =>
      anthropicAt(server.origin).messages.create({
        model: "claude-x",
        max_tokens: 10,
        messages: [user, { role: "assistant", content }, user],
      });
    await expect(askAnthropic([call])).rejects.toThrow(/400.*tool_use. ids were found without/s);
    await expect(askAnthropic([forged])).rejects.toThrow(/400.*Invalid .signature./s);
    const chat = openaiAt(server.origin).chat.completions.create({
      model: "gpt-x",
      messages: [user, { role: "tool", tool_call_id: "call_1", content: "text" }],
    });
    await expect(chat).rejects.toThrow(/400.*tool/s);
    const responses = openaiAt(server.origin).responses.create({
      model: "gpt-x",
      store: false,
      input: [user, { type: "reasoning", id: "rs_1", summary: [] }],
    });
    await expect(responses).rejects.toThrow(/400.*required following item/s);
  });
});
