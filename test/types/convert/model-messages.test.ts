import type { GenerateTextResult, ModelMessage as SdkModelMessage, ToolSet } from "ai";
import type {
  ModelMessage,
  ModelMessageLike,
  ModelMessagesRequest,
  ModelMessagesRequestLike,
  ModelMessagesResponseLike,
} from "sessiontree/convert";
import { expectTypeOf, test } from "vitest";

// What is asked of types fails in the compiler (`npm run types`), not at run time. ai 7.0.173

test("what toModelMessages makes is what the SDK takes", () => {
  expectTypeOf<ModelMessage>().toExtend<SdkModelMessage>();
});

test("what the SDK types is what fromModelMessages takes", () => {
  expectTypeOf<SdkModelMessage>().toExtend<ModelMessageLike>();
  expectTypeOf<{ messages: SdkModelMessage[] }>().toExtend<ModelMessagesRequestLike>();
  expectTypeOf<ModelMessagesRequest>().toExtend<ModelMessagesRequestLike>();
  type Result = Pick<GenerateTextResult<ToolSet, never, never>, "steps" | "responseMessages" | "response">;
  expectTypeOf<Result>().toExtend<ModelMessagesResponseLike>();
});

test("what is neither is refused", () => {
  expectTypeOf<{ role: "robot"; content: string }>().not.toExtend<ModelMessageLike>();
  expectTypeOf<{ role: "tool"; content: string }>().not.toExtend<ModelMessage>();
});
