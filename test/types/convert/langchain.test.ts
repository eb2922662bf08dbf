import type { BaseMessage, StoredMessage } from "@langchain/core/messages";
import type { LangChainMessage } from "sessiontree/convert";
import { expectTypeOf, test } from "vitest";
import type { LangChainMessageLike } from "../../../src/interop/convert/langchain/langchain-content.ts";

// Type expectations fail in the compiler (`npm run types`), not at run time. @langchain/core 1.4.0

test("LangChain accepts toLangChain's messages", () => {
  expectTypeOf<LangChainMessage>().toExtend<StoredMessage>();
});

test("fromLangChain accepts instances and their stored form", () => {
  expectTypeOf<BaseMessage>().toExtend<LangChainMessageLike>();
  expectTypeOf<StoredMessage>().toExtend<LangChainMessageLike>();
  expectTypeOf<LangChainMessage>().toExtend<LangChainMessageLike>();
});

test("both reject other values", () => {
  expectTypeOf<{ text: string }>().not.toExtend<LangChainMessageLike>();
});
