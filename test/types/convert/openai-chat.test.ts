import type { OpenAI } from "openai";
import type { OpenAIChatMessage, OpenAIChatRequest } from "sessiontree/convert";
import { expectTypeOf, test } from "vitest";
import type {
  OpenAIChatMessageLike,
  OpenAIChatRequestLike,
  OpenAIChatResponseLike,
} from "../../../src/interop/convert/openai-chat/openai-chat-content.ts";

// Type expectations fail in the compiler (`npm run types`), not at run time. openai 7.57.0

test("the SDK accepts toOpenAIChat's requests", () => {
  expectTypeOf<OpenAIChatMessage>().toExtend<OpenAI.Chat.ChatCompletionMessageParam>();
  type Params = Omit<OpenAIChatRequest, "issues"> & { model: string };
  expectTypeOf<Params>().toExtend<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming>();
});

test("fromOpenAIChat accepts the SDK's types", () => {
  expectTypeOf<OpenAI.Chat.ChatCompletionMessageParam>().toExtend<OpenAIChatMessageLike>();
  expectTypeOf<OpenAI.Chat.ChatCompletionMessage>().toExtend<OpenAIChatMessageLike>();
  expectTypeOf<OpenAI.Chat.ChatCompletionCreateParams>().toExtend<OpenAIChatRequestLike>();
  expectTypeOf<OpenAI.Chat.ChatCompletion>().toExtend<OpenAIChatResponseLike>();
  expectTypeOf<OpenAIChatRequest>().toExtend<OpenAIChatRequestLike>();
});

test("both reject other values", () => {
  expectTypeOf<{ role: "robot"; content: string }>().not.toExtend<OpenAIChatMessageLike>();
  expectTypeOf<{ role: "tool"; content: string }>().not.toExtend<OpenAIChatMessage>();
});
