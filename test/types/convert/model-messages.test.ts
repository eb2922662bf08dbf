import type { GenerateTextResult, generateText, ModelMessage as SdkModelMessage, ToolSet } from "ai";
import type { generateText as generateText5, ModelMessage as SdkModelMessage5 } from "ai5";
import type { generateText as generateText6, ModelMessage as SdkModelMessage6 } from "ai6";
import type { ModelMessage, ModelMessagesRequest } from "sessiontree/convert";
import { expectTypeOf, test } from "vitest";
import type {
  ModelMessageLike,
  ModelMessagesRequestLike,
  ModelMessagesResponseLike,
} from "../../../src/interop/convert/ai-sdk/model-message-types.ts";

// Type expectations fail in the compiler (`npm run types`), not at run time. ai 5.0.277, 6.0.326, 7.0.173

test("the SDK accepts toModelMessages' requests", () => {
  expectTypeOf<ModelMessage>().toExtend<SdkModelMessage>();
  expectTypeOf<ModelMessage<6>>().toExtend<SdkModelMessage6>();
  expectTypeOf<ModelMessage<5>>().toExtend<SdkModelMessage5>();
  expectTypeOf<ModelMessage>().not.toExtend<SdkModelMessage6>();
});

test("fromModelMessages accepts the SDK's types", () => {
  expectTypeOf<SdkModelMessage>().toExtend<ModelMessageLike>();
  expectTypeOf<{ messages: SdkModelMessage[] }>().toExtend<ModelMessagesRequestLike>();
  expectTypeOf<ModelMessagesRequest>().toExtend<ModelMessagesRequestLike>();
  type Result = Pick<GenerateTextResult<ToolSet, never, never>, "steps" | "responseMessages" | "response">;
  expectTypeOf<Result>().toExtend<ModelMessagesResponseLike>();
  expectTypeOf<SdkModelMessage5>().toExtend<ModelMessageLike>();
  expectTypeOf<SdkModelMessage6>().toExtend<ModelMessageLike>();
});

test("fromModelMessages accepts the SDK's instructions, as text and as system messages", () => {
  type Instructions = "system" | "instructions";
  expectTypeOf<Pick<Parameters<typeof generateText>[0], Instructions>>().toExtend<
    Pick<ModelMessagesRequestLike, Instructions>
  >();
  expectTypeOf<Pick<Parameters<typeof generateText6>[0], "system">>().toExtend<
    Pick<ModelMessagesRequestLike, "system">
  >();
  expectTypeOf<Pick<Parameters<typeof generateText5>[0], "system">>().toExtend<
    Pick<ModelMessagesRequestLike, "system">
  >();
});

test("both reject other values", () => {
  expectTypeOf<{ role: "robot"; content: string }>().not.toExtend<ModelMessageLike>();
  expectTypeOf<{ role: "tool"; content: string }>().not.toExtend<ModelMessage>();
  expectTypeOf<{
    system: { role: "user"; content: string };
    messages: [];
  }>().not.toExtend<ModelMessagesRequestLike>();
});
