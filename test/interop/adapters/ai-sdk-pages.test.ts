import { createOpenAI } from "@ai-sdk/openai";
import {
  AbstractChat,
  convertToModelMessages,
  createUIMessageStreamResponse,
  DefaultChatTransport,
  generateId,
  isStepCount,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  streamText,
  tool,
  toUIMessageStream,
  type UIMessage,
  validateUIMessages,
} from "ai";
import { createOpenAI as createOpenAI2 } from "ai-sdk-openai-2";
import { createOpenAI as createOpenAI3 } from "ai-sdk-openai-3";
import * as ai5 from "ai5";
import * as ai6 from "ai6";
import { SessionManager } from "sessiontree";
import { chatVersions, loadChat, receiveChat, saveChat } from "sessiontree/adapters";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { ProviderServer } from "../../support/provider-server/provider-server.ts";
import { USAGE } from "../../support/provider-server/scripted-answer.ts";
import { describeWith } from "../../support/sdk.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { PageState } from "./support/page-state.ts";

const clientTools = ["locate"];
const providerOptions = { openai: { store: false } };
const inputSchema = z.object({ amount: z.number() });
const metadataOf = ({ part }: { part: { type: string; totalUsage?: unknown } }) =>
  part.type === "finish" ? { totalUsage: part.totalUsage } : undefined;

/** Server side of one test. */
interface Server {
  readonly session: SessionManager;
  readonly baseURL: string;
  /** Amounts paid. */
  readonly paid: number[];
  /** Requests as `receiveChat` and the SDK's own converter make them. */
  readonly requests: { readonly ours: unknown; readonly theirs: unknown }[];
}

/** Converts messages to their JSON form. The SDK repeats a call's state next to its result, where no provider reads it. */
function plain(messages: unknown): unknown[] {
  const list: { role: string; content: unknown }[] = JSON.parse(JSON.stringify(messages));
  return list
    .filter(({ role }) => role !== "system")
    .map(({ role, content }) => {
      const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
      const withoutState = ({ providerOptions: _, ...part }: Record<string, unknown>) => part;
      return { role, content: role === "tool" && Array.isArray(parts) ? parts.map(withoutState) : parts };
    });
}

class Chat5 extends ai5.AbstractChat<ai5.UIMessage> {}
class Chat6 extends ai6.AbstractChat<ai6.UIMessage> {}
class Chat7 extends AbstractChat<UIMessage> {}

const SDKS = [
  {
    sdk: 5,
    packages: ["ai5", "ai-sdk-openai-2"],
    hasApprovals: false,
    page: (fetch: typeof globalThis.fetch) =>
      new Chat5({
        state: new PageState<ai5.UIMessage>(),
        transport: new ai5.DefaultChatTransport({ api: "http://localhost/api/chat", fetch }),
        sendAutomaticallyWhen: ai5.lastAssistantMessageIsCompleteWithToolCalls,
      }),
    async answer({ session, baseURL, paid, requests }: Server, body: unknown): Promise<Response> {
      const { messages, prompt } = await receiveChat(session, body, { sdk: 5, clientTools });
      const originalMessages = await ai5.validateUIMessages({ messages });
      requests.push({ ours: prompt.messages, theirs: ai5.convertToModelMessages(originalMessages) });
      const execute = ({ amount }: { amount: number }) => `paid ${paid.push(amount)}`;
      return ai5
        .streamText({
          model: createOpenAI2({ apiKey: "none", baseURL })("gpt-x"),
          ...prompt,
          providerOptions,
          stopWhen: ai5.stepCountIs(3),
          tools: { pay: ai5.tool({ inputSchema, execute }), locate: ai5.tool({ inputSchema: z.object({}) }) },
        })
        .toUIMessageStreamResponse({
          originalMessages,
          generateMessageId: ai5.generateId,
          messageMetadata: metadataOf,
          onFinish: async (end) => void (await saveChat(session, end.messages)),
        });
    },
  },
  {
    sdk: 6,
    packages: ["ai6", "ai-sdk-openai-3"],
    hasApprovals: true,
    page: (fetch: typeof globalThis.fetch) =>
      new Chat6({
        state: new PageState<ai6.UIMessage>(),
        transport: new ai6.DefaultChatTransport({ api: "http://localhost/api/chat", fetch }),
        sendAutomaticallyWhen: (chat) =>
          ai6.lastAssistantMessageIsCompleteWithToolCalls(chat) ||
          ai6.lastAssistantMessageIsCompleteWithApprovalResponses(chat),
      }),
    async answer({ session, baseURL, paid, requests }: Server, body: unknown): Promise<Response> {
      const { messages, prompt } = await receiveChat(session, body, { sdk: 6, clientTools });
      const originalMessages = await ai6.validateUIMessages({ messages });
      requests.push({ ours: prompt.messages, theirs: await ai6.convertToModelMessages(originalMessages) });
      const execute = ({ amount }: { amount: number }) => `paid ${paid.push(amount)}`;
      return ai6
        .streamText({
          model: createOpenAI3({ apiKey: "none", baseURL })("gpt-x"),
          ...prompt,
          providerOptions,
          stopWhen: ai6.stepCountIs(3),
          tools: {
            pay: ai6.tool({ inputSchema, needsApproval: true, execute }),
            locate: ai6.tool({ inputSchema: z.object({}) }),
          },
        })
        .toUIMessageStreamResponse({
          originalMessages,
          generateMessageId: ai6.generateId,
          messageMetadata: metadataOf,
          onFinish: async (end) => void (await saveChat(session, end.messages)),
        });
    },
  },
  {
    sdk: 7,
    packages: ["ai", "@ai-sdk/openai"],
    hasApprovals: true,
    page: (fetch: typeof globalThis.fetch) =>
      new Chat7({
        state: new PageState<UIMessage>(),
        transport: new DefaultChatTransport({ api: "http://localhost/api/chat", fetch }),
        sendAutomaticallyWhen: (chat) =>
          lastAssistantMessageIsCompleteWithToolCalls(chat) ||
          lastAssistantMessageIsCompleteWithApprovalResponses(chat),
      }),
    async answer({ session, baseURL, paid, requests }: Server, body: unknown): Promise<Response> {
      const { messages, prompt } = await receiveChat(session, body, { sdk: 7, clientTools });
      const originalMessages = await validateUIMessages({ messages });
      requests.push({ ours: prompt.messages, theirs: await convertToModelMessages(originalMessages) });
      const execute = ({ amount }: { amount: number }) => `paid ${paid.push(amount)}`;
      const result = streamText({
        model: createOpenAI({ apiKey: "none", baseURL })("gpt-x"),
        ...prompt,
        providerOptions,
        stopWhen: isStepCount(3),
        tools: {
          pay: tool({ inputSchema, needsApproval: true, execute }),
          locate: tool({ inputSchema: z.object({}) }),
        },
      });
      return createUIMessageStreamResponse({
        stream: toUIMessageStream({
          stream: result.stream,
          originalMessages,
          generateMessageId: generateId,
          messageMetadata: metadataOf,
          onEnd: async (end) => void (await saveChat(session, end.messages)),
        }),
      });
    },
  },
] as const;

/** Returns the tokens of all calls in a session. */
function tokensOf(session: SessionManager): number {
  return session.getEntries().reduce((sum, entry) => {
    if (entry.type === "usage") return sum + entry.usage.totalTokens;
    const isAnswer = entry.type === "message" && entry.message.role === "assistant";
    return isAnswer && entry.message.role === "assistant" ? sum + entry.message.usage.totalTokens : sum;
  }, 0);
}

for (const { sdk, packages, hasApprovals, page, answer } of SDKS) {
  describeWith(packages, `a page with version ${sdk} of the AI SDK`, () => {
    /** Opens a page whose requests the server answers from a script. */
    async function open() {
      const provider = await ProviderServer.start();
      onTestFinished(() => provider[Symbol.asyncDispose]());
      const session = SessionManager.create("/projects/shop", { sessionDir: temporaryFolder() });
      session.appendMessage({ role: "system", content: "Be brief.", timestamp: 1 });
      const server: Server = { session, baseURL: `${provider.origin}/v1`, paid: [], requests: [] };
      const chat = page(async (_, init) => answer(server, JSON.parse(String(init?.body))));
      const check = (leaves: number, calls: number) => {
        expect([chat.error, provider.faults]).toEqual([undefined, []]);
        for (const { ours, theirs } of server.requests) expect(plain(ours)).toEqual(plain(theirs));
        const reopened = SessionManager.open(session.getSessionFile() ?? "");
        expect(loadChat(session)).toEqual(JSON.parse(JSON.stringify(chat.messages)));
        expect(loadChat(reopened)).toEqual(loadChat(session));
        expect(session.getLeaves()).toHaveLength(leaves);
        expect(tokensOf(session)).toBe(calls * (USAGE.input + USAGE.output));
      };
      return { ...server, provider, chat, check };
    }
    const pay = { name: "pay", arguments: { amount: 7 } };
    const idle = async (chat: { readonly status: string }) => {
      await expect.poll(() => chat.status).toBe("ready");
    };

    test.runIf(hasApprovals).each([
      ["approved", true, "Fine.", [7]],
      ["denied", false, "Too much.", []],
    ])("stores a call %s as one branch", async (_, approved, reason, expected) => {
      const { provider, chat, check, paid } = await open();
      provider.script({ thinking: "Pay?", calls: [pay] }, { text: "Very well." });
      await chat.sendMessage({ text: "Pay." });
      check(1, 1);
      const part = chat.lastMessage?.parts.find(({ type }) => type === "tool-pay");
      if (part === undefined || !("approval" in part) || !("addToolApprovalResponse" in chat))
        throw new Error("the page has no approval to answer");
      await chat.addToolApprovalResponse({ id: part.approval?.id ?? "", approved, reason });
      await expect.poll(() => JSON.stringify(chat.lastMessage)).toContain("Very well.");
      await idle(chat);
      check(1, 2);
      expect(paid).toEqual(expected);
      if (!approved) expect(JSON.stringify(provider.requests.at(-1)?.body)).toContain(reason);
    });

    test("stores a call of the page's own tool as one branch", async () => {
      const { provider, chat, check } = await open();
      provider.script(
        { text: "One moment.", calls: [{ name: "locate", arguments: {} }] },
        { text: "In Ulm." },
      );
      await chat.sendMessage({ text: "Where?" });
      check(1, 1);
      const part = chat.lastMessage?.parts.find(({ type }) => type === "tool-locate");
      if (part === undefined || !("toolCallId" in part)) throw new Error("the page has no call to run");
      const { toolCallId } = part;
      await chat.addToolOutput({ tool: "locate", toolCallId, output: { city: "Ulm" } });
      await expect.poll(() => JSON.stringify(chat.lastMessage)).toContain("In Ulm.");
      await idle(chat);
      check(1, 2);
    });

    test("regenerates and edits: every version is kept and can be shown", async () => {
      const { provider, session, chat, check } = await open();
      provider.script({ text: "One." }, { text: "Two." }, { text: "Three." });
      await chat.sendMessage({ text: "Count." });
      const first = chat.lastMessage?.id ?? "";
      await chat.regenerate();
      check(2, 2);
      const second = chat.lastMessage?.id ?? "";
      const question = chat.messages[0]?.id ?? "";
      expect(chatVersions(session, second).map(({ id, isActive }) => [id, isActive])).toEqual([
        [first, false],
        [second, true],
      ]);
      await chat.sendMessage({ text: "Count on.", messageId: question });
      check(3, 3);
      const [before] = chatVersions(session, question);
      session.branch(before?.leafId ?? "");
      expect(JSON.stringify(loadChat(session))).not.toContain("Count on.");
    });
  });
}
