import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import {
  BedrockRuntimeClient,
  ConverseCommand,
  type ConverseCommandInput,
  type ConverseCommandOutput,
  type Message,
} from "@aws-sdk/client-bedrock-runtime";
import { SessionManager } from "sessiontree";
import {
  type BedrockMessage,
  type BedrockRequest,
  fromBedrock,
  fromBedrockResponse,
  toAnthropic,
  toBedrock,
} from "sessiontree/convert";
import { expect, expectTypeOf, onTestFinished, test, vi } from "vitest";
import type {
  BedrockMessageLike,
  BedrockRequestLike,
  BedrockResponseLike,
} from "../../../src/interop/convert/bedrock/bedrock-content.ts";
import { toolResult, user } from "../../support/messages.ts";
import { checkBedrockRequest } from "../../support/provider-rules/bedrock.ts";

const PNG = "iVBORw0KGgo=";
const model = "anthropic.claude-sonnet-5-5-v1:0";
const timestamp = 1;

test("has the client's types", () => {
  expectTypeOf<BedrockMessage>().toExtend<Message>();
  expectTypeOf<Omit<BedrockRequest, "issues">>().toExtend<
    Pick<ConverseCommandInput, "messages" | "system">
  >();
  expectTypeOf<Message>().toExtend<BedrockMessageLike>();
  expectTypeOf<ConverseCommandInput>().toExtend<BedrockRequestLike>();
  expectTypeOf<ConverseCommandOutput>().toExtend<BedrockResponseLike>();
});

/** A server on this machine that refuses what the provider refuses, and answers in order. */
async function serve(answers: readonly object[]) {
  const bodies: unknown[] = [];
  const faults: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += String(piece);
    bodies.push(JSON.parse(body));
    faults.push(...checkBedrockRequest(bodies.at(-1)));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(answers[bodies.length - 1]));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address: AddressInfo | string | null = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return {
    ...{ bodies, faults, endpoint: `http://127.0.0.1:${port}` },
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

test("sends the real client's valid requests, and returns its answers unchanged", async () => {
  const usage = {
    inputTokens: 10,
    outputTokens: 5,
    totalTokens: 25,
    cacheReadInputTokens: 7,
    cacheWriteInputTokens: 3,
  };
  const metrics = { latencyMs: 1 };
  const reasoning = { reasoningContent: { reasoningText: { text: "A file.", signature: "sig" } } };
  const redacted = { reasoningContent: { redactedContent: "AAEC" } };
  const toolUse = { toolUse: { toolUseId: "tooluse_1", name: "read", input: { path: "a" } } };
  const first = [reasoning, redacted, { text: "Let me see." }, toolUse];
  const answer = (content: object[], stopReason: string) => ({
    ...{ output: { message: { role: "assistant", content } }, stopReason, usage, metrics },
  });
  vi.stubEnv("AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED", "true");
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  await using server = await serve([answer(first, "tool_use"), answer([{ text: "Empty." }], "end_turn")]);
  const client = new BedrockRuntimeClient({
    ...{ region: "us-east-1", endpoint: server.endpoint, maxAttempts: 1 },
    credentials: { accessKeyId: "none", secretAccessKey: "none" },
  });
  const session = SessionManager.inMemory();
  const ask = async () => {
    const { issues, ...request } = toBedrock(session.buildSessionContext().messages, { model });
    const response = await client.send(new ConverseCommand({ modelId: model, ...request }));
    const { message, issues: reported } = fromBedrockResponse(response, { timestamp, model });
    session.appendMessage(message);
    return { message, issues: [...issues, ...reported] };
  };
  session.appendMessage({ role: "system", content: "Be brief." });
  session.appendMessage({
    ...user(""),
    content: [
      { type: "text", text: "Look." },
      { type: "image", data: PNG, mimeType: "image/png" },
    ],
  });
  const asked = await ask();
  expect(asked.issues).toEqual([]);
  expect(asked.message).toMatchObject({
    ...{ api: "bedrock-converse-stream", provider: "amazon-bedrock", model, stopReason: "toolUse" },
    usage: { input: 10, output: 5, cacheRead: 7, cacheWrite: 3, totalTokens: 25 },
    content: [
      { type: "thinking", thinking: "A file.", thinkingSignature: "sig" },
      { type: "thinking", thinkingSignature: "AAEC", redacted: true },
      { type: "text", text: "Let me see." },
      { type: "toolCall", id: "tooluse_1", name: "read", arguments: { path: "a" } },
    ],
  });
  session.appendMessage(toolResult("tooluse_1", "nothing", true));
  expect((await ask()).issues).toEqual([]);
  client.destroy();
  expect(server.faults).toEqual([]);
  const [body, next] = server.bodies;
  expect(body).toEqual({
    system: [{ text: "Be brief." }],
    messages: [
      { role: "user", content: [{ text: "Look." }, { image: { format: "png", source: { bytes: PNG } } }] },
    ],
  });
  expect(next).toMatchObject({
    messages: [
      {},
      { role: "assistant", content: first },
      {
        role: "user",
        content: [
          { toolResult: { toolUseId: "tooluse_1", content: [{ text: "nothing" }], status: "error" } },
        ],
      },
    ],
  });
});

test("keeps and restores documents, citations, guarded texts, and cache points; other providers get their texts", () => {
  const bytes = new Uint8Array([1, 2, 3]);
  const cachePoint = { cachePoint: { type: "default" } };
  const messages = [
    {
      role: "user",
      content: [
        { document: { format: "pdf", name: "cart", source: { bytes } } },
        { guardContent: { text: { text: "Guarded." } } },
        cachePoint,
      ],
    },
    {
      role: "assistant",
      content: [
        { citationsContent: { content: [{ text: "It is empty." }], citations: [{ title: "cart" }] } },
      ],
    },
    { role: "user", content: [{ text: "Why?" }] },
  ];
  const { messages: ours, issues } = fromBedrock(
    { system: [{ text: "Be brief." }, cachePoint], messages },
    { timestamp, model },
  );
  expect(issues.map(({ code, index }) => [code, index])).toEqual([
    ["BLOCK_DROPPED", -1],
    ["KEPT_IN_DETAILS", 0],
    ["KEPT_IN_DETAILS", 1],
  ]);
  expect(toBedrock(ours, { model })).toEqual({ system: [{ text: "Be brief." }], messages, issues: [] });
  const session = SessionManager.inMemory();
  for (const message of ours) session.appendMessage(message);
  const elsewhere = JSON.stringify(toAnthropic(session.buildSessionContext().messages).messages);
  for (const text of ["[document: cart]", "Guarded.", "It is empty."]) expect(elsewhere).toContain(text);
});

test("treats a withheld answer as a failure and an unknown role as a TypeError", () => {
  const response = {
    output: { message: { role: "assistant", content: [] } },
    stopReason: "guardrail_intervened",
  };
  expect(fromBedrockResponse(response, { timestamp, model }).message).toMatchObject({
    ...{ stopReason: "error", rawStopReason: "guardrail_intervened", content: [] },
  });
  const strange = [{ role: "system", content: [] }];
  expect(() => fromBedrock(strange, { timestamp })).toThrow(/^Message 0 has the role "system"/);
});

test("restores bytes from the JSON of stored messages", () => {
  const bytes = Buffer.from(PNG, "base64");
  const content = [bytes, Uint8Array.from(bytes)].map((one) => ({
    image: { format: "png", source: { bytes: one } },
  }));
  const stored = JSON.parse(JSON.stringify([{ role: "user", content }]));
  const { messages } = fromBedrock(stored, { timestamp });
  const image = { type: "image", data: PNG, mimeType: "image/png" };
  expect(messages).toMatchObject([{ content: [image, image] }]);
  expect(toBedrock(messages).messages[0]?.content).toEqual(
    content.map(() => ({ image: { format: "png", source: { bytes: Uint8Array.from(bytes) } } })),
  );
});
