import type { Anthropic } from "@anthropic-ai/sdk";
import type { SessionManager } from "sessiontree";
import {
  type AnthropicMessage,
  type AnthropicRequest,
  type requestAnthropicSummary,
  toAnthropic,
} from "sessiontree/convert";
import { expectTypeOf, test } from "vitest";
import type {
  AnthropicMessageLike,
  AnthropicRequestLike,
  AnthropicResponseLike,
} from "../../../src/interop/convert/anthropic/anthropic-content.ts";

// Type expectations fail in the compiler (`npm run types`), not at run time. @anthropic-ai/sdk 1.12.0

test("the SDK accepts toAnthropic's requests", () => {
  expectTypeOf<AnthropicMessage>().toExtend<Anthropic.MessageParam>();
  type Params = Omit<AnthropicRequest, "issues"> & { model: string; max_tokens: number };
  expectTypeOf<Params>().toExtend<Anthropic.MessageCreateParamsNonStreaming>();
});

test("the SDK's beta accepts toAnthropic's requests with beta options", () => {
  const inline = (session: SessionManager) =>
    toAnthropic(session, { systemMessages: "inline", blockBinding: "drop_block" });
  type Beta = Omit<ReturnType<typeof inline>, "issues"> & { model: string; max_tokens: number };
  expectTypeOf<Beta>().toExtend<Anthropic.Beta.MessageCreateParamsNonStreaming>();
  type Summary = ReturnType<typeof requestAnthropicSummary>["request"] & {
    model: string;
    max_tokens: number;
  };
  expectTypeOf<Summary>().toExtend<Anthropic.Beta.MessageCreateParamsNonStreaming>();
  expectTypeOf<Anthropic.Beta.BetaMessage>().toExtend<AnthropicResponseLike>();
});

test("fromAnthropic accepts the SDK's types", () => {
  expectTypeOf<Anthropic.MessageParam>().toExtend<AnthropicMessageLike>();
  expectTypeOf<Anthropic.MessageCreateParams>().toExtend<AnthropicRequestLike>();
  expectTypeOf<Anthropic.Message>().toExtend<AnthropicResponseLike>();
  expectTypeOf<AnthropicRequest>().toExtend<AnthropicRequestLike>();
});

test("both reject other values", () => {
  expectTypeOf<{ role: "robot"; content: string }>().not.toExtend<AnthropicMessageLike>();
  expectTypeOf<{ role: "user"; content: { text: string }[] }>().not.toExtend<AnthropicMessageLike>();
  expectTypeOf<{ role: "system"; content: string }>().not.toExtend<AnthropicMessage>();
});
