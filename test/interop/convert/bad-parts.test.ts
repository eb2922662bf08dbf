import { SessionManager } from "sessiontree";
import { loadChat, saveChat } from "sessiontree/adapters";
import {
  fromAnthropic,
  fromAnthropicResponse,
  fromBedrock,
  fromBedrockResponse,
  fromGemini,
  fromGeminiResponse,
  fromLangChain,
  fromModelMessages,
  fromModelMessagesResponse,
  fromOpenAIChat,
  fromOpenAIChatResponse,
  fromOpenAIResponses,
  fromOpenAIResponsesResponse,
  fromUIMessages,
  type MessageImportOptions,
  toModelMessages,
} from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import { user } from "../../support/messages.ts";

const options = { timestamp: 1 };
const question = { id: "u1", role: "user", parts: [{ type: "text", text: "Go" }] };
/** Values in place of a part, as database JSON or a faulty tool may contain; the compiler does not see them. */
const given = (value: unknown) => JSON.parse(JSON.stringify([value]))[0];
const BAD: readonly [string, unknown][] = [
  ["null", null],
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["undefined", undefined],
  ["a string", "secret"],
  ["an array", []],
];

describe("an invalid part", () => {
  const saved = (part: unknown) => {
    const answer = { ...question, id: "a1", role: "assistant", parts: [{ type: "step-start" }, part] };
    return saveChat(SessionManager.inMemory(), Object.assign(JSON.parse("[]"), [question, answer]));
  };

  it.each(BAD)("is reported by saveChat with message, part, and what to do: %s", async (name, part) => {
    await expect(saved(part)).rejects.toThrow(
      `Part 1 of message 1 is ${name}, not an object. Remove it from the list, or make it a part with text.`,
    );
  });

  it("leaves a session unchanged, without an entry and with its leaf", async () => {
    const session = SessionManager.inMemory();
    await saveChat(session, [{ id: "u1", role: "user", parts: [{ type: "text", text: "Go" }] }]);
    const leaf = session.getLeafId();
    const bad = [
      { ...question, parts: [{ type: "text", text: "Other" }] },
      { ...question, parts: [null] },
    ];
    await expect(saveChat(session, JSON.parse(JSON.stringify(bad)))).rejects.toThrow(TypeError);
    expect([session.getLeafId(), session.getEntryCount()]).toEqual([leaf, 1]);
  });

  it.each<[string, () => unknown]>([
    ["fromUIMessages", () => fromUIMessages([{ id: "1", role: "user", parts: [given(null)] }], options)],
    ["fromModelMessages", () => fromModelMessages([{ role: "user", content: [given(null)] }], options)],
    ["fromModelMessages, tool", () => fromModelMessages([{ role: "tool", content: [given(null)] }], options)],
    ["fromAnthropic", () => fromAnthropic([{ role: "user", content: [given(null)] }], options)],
    ["fromOpenAIChat", () => fromOpenAIChat([{ role: "user", content: [given(null)] }], options)],
    ["fromOpenAIResponses", () => fromOpenAIResponses([{ role: "user", content: [given(null)] }], options)],
    ["fromGemini", () => fromGemini([{ role: "user", parts: [given(null)] }], options)],
  ])("is named by %s", (_, convert) => {
    expect(convert).toThrow(/^Part 0 of (message|item|content) 0 is null, not an object/);
  });

  it.each<[string, () => unknown]>([
    ["fromUIMessages", () => fromUIMessages([given(null)], options)],
    ["fromModelMessages", () => fromModelMessages([given(null)], options)],
    ["fromAnthropic", () => fromAnthropic([given(null)], options)],
    ["fromOpenAIChat", () => fromOpenAIChat([given(null)], options)],
    ["fromOpenAIResponses", () => fromOpenAIResponses([given(null)], options)],
    ["fromGemini", () => fromGemini([given(null)], options)],
  ])("is reported like an invalid message: %s", (_, convert) => {
    expect(convert).toThrow(/^(Message|Item|Content) 0 is null, not an object/);
  });

  it.each<[string, () => unknown]>([
    ["`messages` is null", () => fromAnthropic({ messages: given(null) }, options)],
    ["`messages` is undefined", () => fromAnthropic(given({}), options)],
    ["`messages` is undefined", () => fromOpenAIChat(given({}), options)],
    ["`messages` is 1", () => fromModelMessages({ messages: given(1) }, options)],
    ["`messages` is an object", () => fromBedrock({ messages: given({}) }, options)],
    ["`input` is an object", () => fromOpenAIResponses({ input: given({}) }, options)],
    ["`contents` is a string", () => fromGemini({ contents: given("secret") }, options)],
    ["`contents` is undefined", () => fromGemini(given({}), options)],
    ["`output` is undefined", () => fromOpenAIResponsesResponse(given({}), options)],
    [
      "`responseMessages` is a string",
      () => fromModelMessagesResponse(given({ steps: [], responseMessages: "secret" }), options),
    ],
    ["The list of messages is an object", () => fromLangChain(given({}), options)],
    ["The list of messages is a string", () => fromUIMessages(given("secret"), options)],
  ])("is reported like a list that is not an array: %s", (start, convert) => {
    expect(convert).toThrow(/^[^.]*, not an array\. Pass the (message|item|content)s as an array\.$/);
    expect(convert).toThrow(start);
  });

  it("that an earlier version stored does not prevent requests", () => {
    const parts = [null, { type: "file", mediaType: "image/png", url: "https://example.com/a" }, null];
    const stored = {
      ...user("[file: https://example.com/a]"),
      details: { uiMessage: { role: "user", parts } },
    };
    expect(toModelMessages([stored]).messages).toHaveLength(1);
  });
});

const CONVERTERS: [name: string, convert: (given: never, options: MessageImportOptions) => unknown][] = [
  ["fromAnthropic", fromAnthropic],
  ["fromBedrock", fromBedrock],
  ["fromGemini", fromGemini],
  ["fromLangChain", fromLangChain],
  ["fromModelMessages", fromModelMessages],
  ["fromOpenAIChat", fromOpenAIChat],
  ["fromOpenAIResponses", fromOpenAIResponses],
  ["fromUIMessages", fromUIMessages],
];
const RESPONSE_CONVERTERS: typeof CONVERTERS = [
  ["fromAnthropicResponse", fromAnthropicResponse],
  ["fromBedrockResponse", fromBedrockResponse],
  ["fromGeminiResponse", fromGeminiResponse],
  ["fromModelMessagesResponse", fromModelMessagesResponse],
  ["fromOpenAIChatResponse", fromOpenAIChatResponse],
  ["fromOpenAIResponsesResponse", fromOpenAIResponsesResponse],
];
const ROOTS: readonly [string, unknown][] = [
  ["null", null],
  ["undefined", undefined],
  ["1", 1],
  ["a string", "secret"],
  ["a function", () => []],
  ["a promise", Promise.resolve([])],
];

describe("an argument of the wrong type", () => {
  it.each(CONVERTERS)("is described by %s", (_, convert) => {
    for (const [name, root] of ROOTS) {
      expect(() => Reflect.apply(convert, undefined, [root, options])).toThrow(
        expect.objectContaining({
          name: "TypeError",
          message: expect.stringMatching(`^The (request|list of messages) is ${name}[,.] .*Pass .*\\.$`),
        }),
      );
    }
  });

  it.each(RESPONSE_CONVERTERS)("is described by %s", (_, convert) => {
    for (const [name, root] of [...ROOTS, ["an array", []] as const]) {
      expect(() => Reflect.apply(convert, undefined, [root, options])).toThrow(
        new TypeError(`The response is ${name}, not an object. Await the SDK's response and pass it.`),
      );
    }
  });

  it.each<[string, () => unknown]>([
    ["`choices` is undefined", () => fromOpenAIChatResponse(given({}), options)],
    ["`choices` is an object", () => fromOpenAIChatResponse(given({ choices: {} }), options)],
    ["`choices[0]` is a string", () => fromOpenAIChatResponse(given({ choices: ["secret"] }), options)],
    [
      "`choices[0].message` is a string",
      () => fromOpenAIChatResponse(given({ choices: [{ message: "secret" }] }), options),
    ],
    ["`candidates` is undefined", () => fromGeminiResponse(given({}), options)],
    ["`candidates` is an object", () => fromGeminiResponse(given({ candidates: {} }), options)],
    ["`candidates[0]` is a string", () => fromGeminiResponse(given({ candidates: ["secret"] }), options)],
    [
      "`candidates[0].content` is 1",
      () => fromGeminiResponse(given({ candidates: [{ content: 1 }] }), options),
    ],
    ["`output` is a string", () => fromBedrockResponse(given({ output: "secret" }), options)],
  ])("is found in a response: %s", (start, convert) => {
    expect(convert).toThrow(TypeError);
    expect(convert).toThrow(`${start}, not an`);
  });

  it("is not stored as a stop reason or as instructions", () => {
    const steps = [{ finishReason: {}, rawFinishReason: {} }];
    const responseMessages = [{ role: "assistant", content: "Hello" }];
    const said = fromModelMessagesResponse(given({ steps, responseMessages }), options).messages;
    expect(said).toMatchObject([{ role: "assistant", stopReason: "stop" }]);
    expect(said[0]).not.toHaveProperty("rawStopReason");
    const candidates = [{ content: { parts: [{ text: "Hello" }] }, finishReason: {} }];
    const { message } = fromGeminiResponse(given({ candidates }), options);
    expect(message.rawStopReason).toBe("FINISH_REASON_UNSPECIFIED");
    const parts = [{ type: "text", text: {} }, { type: "text" }, { type: "text", text: "Be brief." }];
    const { messages } = fromUIMessages(given([{ id: "s", role: "system", parts }]), options);
    expect(messages).toMatchObject([{ role: "system", content: "Be brief." }]);
  });

  it.each([
    [5, "", "is 5"],
    [["Be brief."], "[0]", "is a string"],
    [
      [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hi" },
      ],
      "[1]",
      "is an object",
    ],
    [{ role: "system", content: [{ type: "text", text: "Be brief." }] }, "", "is an object"],
  ])("is named instead of being stored as instructions: %j", (said, place, is) => {
    for (const field of ["system", "instructions"]) {
      expect(() => fromModelMessages(given({ [field]: said, messages: [] }), options)).toThrow(
        new TypeError(
          `\`${field}${place}\` ${is}, not a system message. Pass the text, or system messages with text.`,
        ),
      );
    }
  });

  it("is not a response without an answer", () => {
    const failed = given({ error: { message: "overloaded" } });
    expect(fromOpenAIChatResponse(failed, options).message).toMatchObject({
      stopReason: "error",
      errorMessage: "overloaded",
    });
    const empty = fromGeminiResponse({ usageMetadata: { promptTokenCount: 1 } }, options);
    expect(empty.message.stopReason).toBe("error");
  });
});

describe("a kept answer whose content is a string", () => {
  const answer = { role: "assistant", content: "Hello", providerOptions: { acme: { a: 1 } } };

  it("is sent as it was", () => {
    const chat = [{ role: "user", content: "Go" }, given(answer)];
    const { messages } = fromModelMessages(chat, options);
    expect(toModelMessages(messages).messages).toEqual(chat);
  });
});

describe("a number that JSON cannot hold", () => {
  it("is saved as null, and saving the chat again or after reopening changes nothing", async () => {
    const parts = [
      {
        type: "tool-measure",
        toolCallId: "c1",
        state: "output-available",
        input: { ratio: Number.NaN },
        output: { size: Number.POSITIVE_INFINITY, at: new Date(0), gone: undefined },
      },
    ];
    const chat = [
      { id: "u1", role: "user" as const, parts: [{ type: "text", text: "Go" }] },
      { id: "a1", role: "assistant" as const, metadata: { load: Number.NaN }, parts },
    ];
    const session = SessionManager.inMemory();
    const { entryIds } = await saveChat(session, chat);
    expect(entryIds).toHaveLength(3);
    expect(await saveChat(session, chat)).toMatchObject({ entryIds: [], hasBranched: false });
    const loaded = loadChat(session);
    expect(loaded).toEqual(JSON.parse(JSON.stringify(chat)));
    expect(await saveChat(session, loaded)).toMatchObject({ entryIds: [], hasBranched: false });
    expect(toModelMessages(session.buildSessionContext().messages).messages).toHaveLength(3);
  });
});
