import type { UIMessage as SdkUIMessage } from "ai";
import type { UIMessage } from "sessiontree/convert";
import { expectTypeOf, test } from "vitest";
import type { UIMessageLike } from "../../../src/interop/convert/ai-sdk/ui-parts.ts";

// What is asked of types fails in the compiler (`npm run types`), not at run time. ai 7.0.173

test("what toUIMessages makes is what the SDK takes, and the reverse", () => {
  expectTypeOf<UIMessage>().toExtend<SdkUIMessage>();
  expectTypeOf<SdkUIMessage>().toExtend<UIMessageLike>();
  expectTypeOf<UIMessage>().toExtend<UIMessageLike>();
});

test("what is neither is refused", () => {
  expectTypeOf<{ id: string; role: "robot"; parts: [] }>().not.toExtend<UIMessageLike>();
  expectTypeOf<{ id: string; role: "system"; parts: [] }>().not.toExtend<UIMessage>();
});
