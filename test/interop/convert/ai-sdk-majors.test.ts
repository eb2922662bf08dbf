import { createOpenAI } from "@ai-sdk/openai";
import { generateText, validateUIMessages } from "ai";
import { createOpenAI as createOpenAI2 } from "ai-sdk-openai-2";
import { createOpenAI as createOpenAI3 } from "ai-sdk-openai-3";
import { generateText as generateText5, validateUIMessages as validateUIMessages5 } from "ai5";
import { generateText as generateText6, validateUIMessages as validateUIMessages6 } from "ai6";
import { SessionManager } from "sessiontree";
import {
  type AiSdkMajor,
  appendConversation,
  fromModelMessages,
  fromModelMessagesResponse,
  fromUIMessages,
  type ModelMessagesRequest,
  toAnthropic,
  toModelMessages,
  toUIMessages,
} from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import type { Message } from "../../../src/core/format/message.ts";
import { assistant, call, toolResult, user } from "../../support/messages.ts";
import { ProviderServer } from "../../support/provider-server/provider-server.ts";
import { USAGE } from "../../support/provider-server/scripted-answer.ts";
import { describeWith } from "../../support/sdk.ts";

const data = "iVBORw0KGgo=";
const mediaType = "image/png";
const text = { type: "text", text: "Here." };

const providerOptions = { openai: { store: false } };

/** Images in a result, in the shape of each version. */
const SHAPES = {
  media: { type: "media", data, mediaType },
  "image-data": { type: "image-data", data, mediaType },
  "file-data": { type: "file-data", data, mediaType },
  file: { type: "file", data: { type: "data", data }, mediaType },
};

const shotCall = { type: "tool-call", toolCallId: "c1", toolName: "shoot", input: {} };
const shotResult = { type: "tool-result", toolCallId: "c1", toolName: "shoot" };

/** Returns a prompt with a tool's output. */
const shot = (output: object) => [
  { role: "user" as const, content: "Go" },
  { role: "assistant" as const, content: [shotCall] },
  { role: "tool" as const, content: [{ ...shotResult, output }] },
];
const shotOf = (image: object) => shot({ type: "content", value: [text, image] });
const stored = (prompt: ReturnType<typeof shot>) =>
  fromModelMessages(prompt, { timestamp: 1, model: "gpt-x" }).messages;

describe("an image in a tool's result", () => {
  it.each([
    ["5", SHAPES.media],
    ["6", SHAPES["image-data"]],
    ["6, as a file", SHAPES["file-data"]],
    ["7", SHAPES.file],
  ])("of version %s is an image for all, and goes back in that version's shape", (_, image) => {
    const messages = stored(shotOf(image));
    expect(messages[2]?.content).toEqual([text, { type: "image", data, mimeType: mediaType }]);
    expect(toModelMessages(messages, { model: "gpt-x" })).toEqual({ messages: shotOf(image), issues: [] });
    expect(JSON.stringify(toAnthropic(messages).messages)).toContain(`"data":"${data}"`);
  });

  it.each([
    ["an address", { type: "image-url", url: "https://example.com/a.png" }],
    ["an id", { type: "image-file-id", fileId: "f1" }],
    [
      "an address of a file",
      { type: "file-url", url: "https://example.com/a.pdf", mediaType: "application/pdf" },
    ],
    ["something of a provider", { type: "custom", providerOptions: { acme: { a: 1 } } }],
  ])("is restored as %s", (_, image) => {
    const messages = stored(shotOf(image));
    expect(toModelMessages(messages, { model: "gpt-x" })).toEqual({ messages: shotOf(image), issues: [] });
  });

  it.each([
    [5, SHAPES["image-data"], SHAPES.media],
    [5, SHAPES.file, SHAPES.media],
    [6, SHAPES.media, SHAPES.media],
    [6, SHAPES.file, SHAPES["image-data"]],
    [
      6,
      { type: "file", data: { type: "url", url: `data:${mediaType};base64,${data}` }, mediaType },
      SHAPES["image-data"],
    ],
    [5, { type: "image-url", url: `data:${mediaType};base64,${data}` }, SHAPES.media],
    [7, SHAPES.media, SHAPES.file],
    [7, SHAPES["image-data"], SHAPES["image-data"]],
  ] as const)("is sent to version %s in its shape", (sdk, image, expected) => {
    const request = toModelMessages(stored(shotOf(image)), { model: "gpt-x", sdk });
    expect(request).toEqual({ messages: shotOf(expected), issues: [] });
  });

  it("has the latest version's shape unless a version is given", () => {
    const messages = [...stored(shotOf(SHAPES.media)), ...stored(shotOf(SHAPES.file))];
    const of = (sdk?: AiSdkMajor) =>
      JSON.stringify(toModelMessages(messages, { model: "gpt-x", ...(sdk !== undefined && { sdk }) }));
    expect(of()).not.toContain('"media"');
    expect(of(5)).not.toContain('"type":"file"');
    const later = [...stored(shotOf(SHAPES.file)), ...stored(shotOf(SHAPES.media))];
    expect(JSON.stringify(toModelMessages(later))).not.toContain('"type":"file"');
  });
});

describe("content that a version does not support", () => {
  const file = { type: "file", mediaType: "application/pdf", url: "https://example.com/a.pdf" };
  const chat = fromUIMessages(
    [
      { id: "u1", role: "user", parts: [text, file] },
      { id: "a1", role: "assistant", parts: [{ type: "custom", kind: "acme.x" }, text] },
    ],
    { timestamp: 1, model: "gpt-x" },
  ).messages;

  it("is replaced by text or dropped, and reported", () => {
    const denied = stored(shot({ type: "execution-denied", reason: "No." }));
    const outputOf = (sdk: AiSdkMajor) => toModelMessages(denied, { model: "gpt-x", sdk });
    expect(outputOf(6)).toEqual({ messages: shot({ type: "execution-denied", reason: "No." }), issues: [] });
    expect(outputOf(5)).toMatchObject({
      messages: shot({ type: "error-text", value: "No." }),
      issues: [{ code: "CONTENT_REPLACED", index: 1 }],
    });
    expect(
      toModelMessages(stored(shot({ type: "execution-denied", reason: "" })), { model: "gpt-x", sdk: 5 })
        .messages,
    ).toEqual(shot({ type: "error-text", value: "" }));
    const addressed = stored(shotOf({ type: "image-url", url: "https://example.com/a.png" }));
    expect(toModelMessages(addressed, { model: "gpt-x", sdk: 5 })).toMatchObject({
      messages: shotOf({ type: "text", text: expect.stringContaining("https://example.com/a.png") }),
      issues: [{ code: "CONTENT_REPLACED" }],
    });
    expect(toModelMessages(chat, { model: "gpt-x", sdk: 6 })).toMatchObject({
      messages: [{ role: "user" }, { role: "assistant", content: [text] }],
      issues: [{ code: "BLOCK_DROPPED", index: 1 }],
    });
    expect(toModelMessages(chat, { model: "gpt-x", sdk: 7 }).issues).toEqual([]);
  });

  it("includes the tag of a file's data", () => {
    const dataIn = (sdk: AiSdkMajor) => toModelMessages(chat, { model: "gpt-x", sdk }).messages[0]?.content;
    expect(dataIn(6)).toMatchObject([text, { type: "file", data: file.url }]);
    expect(dataIn(7)).toMatchObject([text, { type: "file", data: { type: "url", url: file.url } }]);
  });

  it("includes an invalid version", () => {
    // @ts-expect-error Version 4 has other messages.
    expect(() => toModelMessages([user("Hi")], { sdk: 4 })).toThrow(
      new TypeError("AI SDK version 4 is not supported; use 5, 6, or 7."),
    );
  });
});

/** Parts of a request other than its messages. */
type Instructions = Pick<ModelMessagesRequest, "system" | "instructions">;

/** The package of each version with its own provider. */
const SDKS = [
  {
    sdk: 5,
    packages: ["ai5", "ai-sdk-openai-2"],
    validate: (messages: unknown) => validateUIMessages5({ messages }),
    ask: (baseURL: string, asked: Message[], said: Instructions) => {
      const model = createOpenAI2({ apiKey: "none", baseURL })("gpt-x");
      const { messages } = toModelMessages(asked, { sdk: 5 });
      return generateText5({ model, providerOptions, messages, ...said });
    },
  },
  {
    sdk: 6,
    packages: ["ai6", "ai-sdk-openai-3"],
    validate: (messages: unknown) => validateUIMessages6({ messages }),
    ask: (baseURL: string, asked: Message[], said: Instructions) => {
      const model = createOpenAI3({ apiKey: "none", baseURL })("gpt-x");
      const { messages } = toModelMessages(asked, { sdk: 6 });
      return generateText6({ model, providerOptions, messages, ...said });
    },
  },
  {
    sdk: 7,
    packages: ["ai", "@ai-sdk/openai"],
    validate: (messages: unknown) => validateUIMessages({ messages }),
    ask: (baseURL: string, asked: Message[], said: Instructions) => {
      const model = createOpenAI({ apiKey: "none", baseURL })("gpt-x");
      const { messages } = toModelMessages(asked, { sdk: 7 });
      return generateText({ model, providerOptions, messages, ...said });
    },
  },
] as const;

for (const { sdk, packages, validate, ask } of SDKS) {
  describeWith(packages, `version ${sdk} of the AI SDK`, () => {
    const rule: Message = { role: "system", content: "Be brief.", timestamp: 1 };
    const image = { type: "image" as const, data, mimeType: mediaType };
    const shown = { ...toolResult("c9", "x"), content: [{ type: "text" as const, text: "Here." }, image] };
    const asked = [
      rule,
      user("Show me."),
      ...Object.values(SHAPES).flatMap((shape) => stored(shotOf(shape))),
      ...stored(shot({ type: "execution-denied", reason: "No." })),
      user("And the cart?"),
      assistant("", {}, call("c9")),
      shown,
    ];

    it("receives everything that a session holds, and its answer is stored with its usage", async () => {
      await using server = await ProviderServer.start();
      server.script({ text: "Empty." });
      const { messages: _, issues, ...said } = toModelMessages(asked, { sdk });
      const result = await ask(`${server.origin}/v1`, asked, said);
      expect(server.faults).toEqual([]);
      for (const { body } of server.requests) {
        const input = JSON.stringify(body["input"]);
        expect(input.split("Be brief.")).toHaveLength(2);
        expect(input.split(data)).toHaveLength(6);
      }
      const { messages } = fromModelMessagesResponse(result, { timestamp: 1 });
      expect(messages).toMatchObject([
        {
          role: "assistant",
          provider: "openai",
          model: "gpt-x",
          content: [{ type: "text", text: "Empty." }],
          usage: {
            input: USAGE.input - USAGE.cached,
            cacheRead: USAGE.cached,
            output: USAGE.output,
            reasoning: USAGE.reasoning,
          },
        },
      ]);
    });

    it.each([5, 6, 7, undefined] as const)(
      "receives the instructions of a request for version %s",
      async (other) => {
        await using server = await ProviderServer.start();
        server.script({ text: "Empty." });
        const { messages, issues, ...said } = toModelMessages(
          [rule],
          other === undefined ? {} : { sdk: other },
        );
        await ask(`${server.origin}/v1`, [user("Why?")], said);
        expect(JSON.stringify(server.requests[0]?.body["input"]).split("Be brief.")).toHaveLength(2);
      },
    );

    it("accepts a session's chat", async () => {
      const { messages } = toUIMessages(asked);
      expect(await validate(messages)).toEqual(messages);
    });
  });
}

describe("a prompt of any version", () => {
  it.each(["system", "instructions"])("has instructions as %s", (field) => {
    const { messages } = fromModelMessages(
      { [field]: "Be brief.", messages: [{ role: "user", content: "Hi" }] },
      { timestamp: 1 },
    );
    expect(messages).toMatchObject([{ role: "system", content: "Be brief." }, { role: "user" }]);
    expect(fromModelMessages(toModelMessages(messages), { timestamp: 1 }).messages).toEqual(messages);
  });

  const marked = {
    role: "system" as const,
    content: "Be brief.",
    providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } },
  };
  const plain = { role: "system" as const, content: "Be kind." };

  it.each([
    ["a system message", marked, ["Be brief."]],
    ["system messages", [marked, plain], ["Be brief.", "Be kind."]],
    ["no system messages", [], []],
  ])(
    "has %s as instructions, without the marks for a cache, which apply to one request",
    (_, said, texts) => {
      const question = { role: "user" as const, content: "Hi" };
      for (const field of ["system", "instructions"]) {
        const { messages, issues } = fromModelMessages(
          { [field]: said, messages: [question] },
          { timestamp: 1 },
        );
        expect(messages.map(({ content }) => content)).toEqual([...texts, "Hi"]);
        expect(issues).toEqual([]);
        const session = SessionManager.inMemory();
        appendConversation(session, messages);
        // A request contains one text, which is the same conversation.
        const again = fromModelMessages(toModelMessages(session), { timestamp: 1 }).messages;
        expect(appendConversation(session, again)).toEqual({ entryIds: [], matched: 1, hasBranched: false });
      }
    },
  );

  it("reports other options of a system message among the instructions", () => {
    const instructions = { ...plain, providerOptions: { openai: { other: true } } };
    const { issues } = fromModelMessages({ instructions, messages: [] }, { timestamp: 1 });
    expect(issues).toMatchObject([{ code: "FLAG_DROPPED", index: -1 }]);
  });
});
