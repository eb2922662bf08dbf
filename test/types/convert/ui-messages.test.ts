import type { UIMessage as SdkUIMessage } from "ai";
import type { UIMessage } from "sessiontree/convert";
import { expectTypeOf, test } from "vitest";
import type { UIMessageLike } from "../../../src/interop/convert/ai-sdk/ui-parts.ts";

// Type expectations fail in the compiler (`npm run types`), not at run time. ai 7.0.173

test("the SDK accepts toUIMessages' messages, and the reverse", () => {
  expectTypeOf<UIMessage>().toExtend<SdkUIMessage>();
  expectTypeOf<SdkUIMessage>().toExtend<UIMessageLike>();
  expectTypeOf<UIMessage>().toExtend<UIMessageLike>();
});

test("both reject other values", () => {
  expectTypeOf<{ id: string; role: "robot"; parts: [] }>().not.toExtend<UIMessageLike>();
  expectTypeOf<{ id: string; role: "system"; parts: [] }>().not.toExtend<UIMessage>();
});
