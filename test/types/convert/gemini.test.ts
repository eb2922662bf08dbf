import type { Content, GenerateContentParameters, GenerateContentResponse } from "@google/genai";
import type { GeminiContent, GeminiRequest } from "sessiontree/convert";
import { expectTypeOf, test } from "vitest";
import type {
  GeminiContentLike,
  GeminiRequestLike,
  GeminiResponseLike,
} from "../../../src/interop/convert/gemini/gemini-content.ts";

// Type expectations fail in the compiler (`npm run types`), not at run time. @google/genai 3.1.0

test("the SDK accepts toGemini's requests", () => {
  expectTypeOf<GeminiContent>().toExtend<Content>();
  type Params = {
    model: string;
    contents: GeminiRequest["contents"];
    config: Pick<GeminiRequest, "systemInstruction">;
  };
  expectTypeOf<Params>().toExtend<GenerateContentParameters>();
});

test("fromGemini accepts the SDK's types", () => {
  expectTypeOf<Content>().toExtend<GeminiContentLike>();
  expectTypeOf<{ contents: Content[]; systemInstruction: string }>().toExtend<GeminiRequestLike>();
  expectTypeOf<GenerateContentResponse>().toExtend<GeminiResponseLike>();
  expectTypeOf<GeminiRequest>().toExtend<GeminiRequestLike>();
});

test("both reject other values", () => {
  expectTypeOf<{ role: "user"; parts: string }>().not.toExtend<GeminiContentLike>();
  expectTypeOf<{ role: "robot"; parts: [] }>().not.toExtend<GeminiContent>();
});
