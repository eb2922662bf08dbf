import type { Content, GenerateContentParameters, GenerateContentResponse } from "@google/genai";
import type { GeminiContent, GeminiRequest } from "sessiontree/convert";
import { expectTypeOf, test } from "vitest";
import type {
  GeminiContentLike,
  GeminiRequestLike,
  GeminiResponseLike,
} from "../../../src/interop/convert/gemini/gemini-content.ts";

// What is asked of types fails in the compiler (`npm run types`), not at run time. @google/genai 3.1.0

test("what toGemini makes is what the SDK takes", () => {
  expectTypeOf<GeminiContent>().toExtend<Content>();
  type Params = {
    model: string;
    contents: GeminiRequest["contents"];
    config: Pick<GeminiRequest, "systemInstruction">;
  };
  expectTypeOf<Params>().toExtend<GenerateContentParameters>();
});

test("what the SDK types is what fromGemini takes", () => {
  expectTypeOf<Content>().toExtend<GeminiContentLike>();
  expectTypeOf<{ contents: Content[]; systemInstruction: string }>().toExtend<GeminiRequestLike>();
  expectTypeOf<GenerateContentResponse>().toExtend<GeminiResponseLike>();
  expectTypeOf<GeminiRequest>().toExtend<GeminiRequestLike>();
});

test("what is neither is refused", () => {
  expectTypeOf<{ role: "user"; parts: string }>().not.toExtend<GeminiContentLike>();
  expectTypeOf<{ role: "robot"; parts: [] }>().not.toExtend<GeminiContent>();
});
