import type { OpenAI } from "openai";
import type { OpenAIResponsesItem, OpenAIResponsesRequest } from "sessiontree/convert";
import { expectTypeOf, test } from "vitest";
import type {
  OpenAIResponsesItemLike,
  OpenAIResponsesRequestLike,
  OpenAIResponsesResponseLike,
} from "../../../src/interop/convert/openai-responses/openai-responses-content.ts";

// Type expectations fail in the compiler (`npm run types`), not at run time. openai 7.57.0

test("the SDK accepts toOpenAIResponses' requests", () => {
  expectTypeOf<OpenAIResponsesItem>().toExtend<OpenAI.Responses.ResponseInputItem>();
  type Params = Omit<OpenAIResponsesRequest, "issues"> & { model: string };
  expectTypeOf<Params>().toExtend<OpenAI.Responses.ResponseCreateParamsNonStreaming>();
});

test("fromOpenAIResponses accepts the SDK's types", () => {
  expectTypeOf<OpenAI.Responses.ResponseInputItem>().toExtend<OpenAIResponsesItemLike>();
  expectTypeOf<OpenAI.Responses.ResponseOutputItem>().toExtend<OpenAIResponsesItemLike>();
  expectTypeOf<OpenAI.Responses.ResponseCreateParams>().toExtend<OpenAIResponsesRequestLike>();
  expectTypeOf<OpenAI.Responses.Response>().toExtend<OpenAIResponsesResponseLike>();
  expectTypeOf<OpenAIResponsesRequest>().toExtend<OpenAIResponsesRequestLike>();
});

test("both reject other values", () => {
  expectTypeOf<{ type: 1; role: "user" }>().not.toExtend<OpenAIResponsesItemLike>();
  expectTypeOf<{ type: "function_call"; call_id: string }>().not.toExtend<OpenAIResponsesItem>();
});
