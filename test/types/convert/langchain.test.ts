import type { BaseMessage, StoredMessage } from "@langchain/core/messages";
import type { LangChainMessage } from "sessiontree/convert";
import { expectTypeOf, test } from "vitest";
import type { LangChainMessageLike } from "../../../src/interop/convert/langchain/langchain-content.ts";

// What is asked of types fails in the compiler (`npm run types`), not at run time. @langchain/core 1.4.0

test("what toLangChain makes is what LangChain takes", () => {
  expectTypeOf<LangChainMessage>().toExtend<StoredMessage>();
});

test("instances and their stored form are what fromLangChain takes", () => {
  expectTypeOf<BaseMessage>().toExtend<LangChainMessageLike>();
  expectTypeOf<StoredMessage>().toExtend<LangChainMessageLike>();
  expectTypeOf<LangChainMessage>().toExtend<LangChainMessageLike>();
});

test("what is neither is refused", () => {
  expectTypeOf<{ text: string }>().not.toExtend<LangChainMessageLike>();
});
