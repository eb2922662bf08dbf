import { createOpenAI } from "@ai-sdk/openai";
import {
  convertToModelMessages,
  jsonSchema,
  stepCountIs,
  streamText,
  type UIMessage,
  validateUIMessages,
} from "ai";
import { SessionManager } from "sessiontree";
import { loadChat, saveChat } from "sessiontree/adapters";
import { expect, test } from "vitest";
import { ProviderServer } from "../../support/provider-server/provider-server.ts";
import { USAGE } from "../../support/provider-server/scripted-answer.ts";
import { describeWith } from "../../support/sdk.ts";

/** Number of tokens in each of the server's answers. */
const PER_CALL = USAGE.input + USAGE.output;

describeWith(["ai"], "the AI SDK over a session", () => {
  const tools = {
    read: {
      description: "Reads a file.",
      inputSchema: jsonSchema<{ path: string }>({
        type: "object",
        properties: { path: { type: "string" } },
        required: ["path"],
      }),
      execute: async ({ path }: { path: string }) => `text of ${path}`,
    },
  };
  const asked = (id: string, text: string): UIMessage => ({
    id,
    role: "user",
    parts: [{ type: "text", text }],
  });

  /** Answers a chat as a host's route does, and saves the outcome. */
  async function respond(
    server: ProviderServer,
    session: SessionManager,
    messages: UIMessage[],
    tells: "in metadata" | "in options" | "nothing" = "nothing",
  ): Promise<void> {
    const openai = createOpenAI({ apiKey: "none", baseURL: `${server.origin}/v1` });
    const result = streamText({
      model: openai("gpt-x"),
      messages: await convertToModelMessages(messages),
      tools,
      stopWhen: stepCountIs(5),
      providerOptions: { openai: { store: false } },
    });
    let done: UIMessage[] = [];
    const stream = result.toUIMessageStream({
      originalMessages: messages,
      ...(tells === "in metadata" && {
        messageMetadata: ({ part }) => {
          if (part.type === "finish-step") return { model: part.response.modelId };
          return part.type === "finish" ? { totalUsage: part.totalUsage } : undefined;
        },
      }),
      onEnd: ({ messages: all }) => {
        done = all;
      },
    });
    for await (const _ of stream) {
      // Reads the stream to its end.
    }
    const said = tells === "in options" && { model: "gpt-x", usage: await result.usage };
    await saveChat(session, done, said || {});
  }

  test.each(["in metadata", "in options"] as const)(
    "keeps the SDK's report %s with the answer",
    async (where) => {
      await using server = await ProviderServer.start();
      const session = SessionManager.inMemory();
      const call = { calls: [{ name: "read", arguments: { path: "a" } }] };
      server.script(call, { text: "It says: text of a." });
      await respond(server, session, [asked("u1", "What is in a?")], where);
      const chat = await validateUIMessages({ messages: loadChat(session) });
      server.script({ text: "Gladly." });
      await respond(server, session, [...chat, asked("u2", "Thanks.")], where);
      expect(session.getLeaves()).toHaveLength(1);
      const answers = session.getEntries().flatMap((entry) => {
        if (entry.type !== "message" || entry.message.role !== "assistant") return [];
        return [[entry.message.model, entry.message.usage.totalTokens]];
      });
      expect(answers.map(([model]) => model)).toEqual(["gpt-x", "gpt-x", "gpt-x"]);
      expect(answers.map(([, tokens]) => tokens)).toEqual([0, 2 * PER_CALL, PER_CALL]);
    },
  );

  test("saves a chat with tools, validates it after loading, and continues it; a regenerated answer is a branch", async () => {
    await using server = await ProviderServer.start();
    const session = SessionManager.inMemory();
    server.script(
      { thinking: "A file.", calls: [{ name: "read", arguments: { path: "a" } }] },
      { text: "It says: text of a." },
    );
    await respond(server, session, [asked("u1", "What is in a?")]);
    const chat = await validateUIMessages({ messages: loadChat(session) });
    expect(chat.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(await convertToModelMessages(chat)).toMatchObject([
      { role: "user" },
      { role: "assistant" },
      { role: "tool" },
      { role: "assistant" },
    ]);

    server.script({ text: "Gladly." });
    await respond(server, session, [...chat, asked("u2", "Thanks.")]);
    expect(session.getLeaves()).toHaveLength(1);

    const before = await validateUIMessages({ messages: loadChat(session) });
    server.script({ text: "Any time." });
    await respond(server, session, before.slice(0, -1));
    expect(session.getLeaves()).toHaveLength(2);
    expect(JSON.stringify(loadChat(session).at(-1))).toContain("Any time.");
    expect(server.faults).toEqual([]);
  });
});
