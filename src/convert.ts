/**
 * sessiontree/convert: conversion between session messages and the messages of providers and SDKs. Also runs in
 * browsers.
 *
 * @module
 */

export {
  fromModelMessages,
  fromModelMessagesResponse,
} from "./interop/convert/ai-sdk/from-model-messages.ts";
export { fromUIMessages } from "./interop/convert/ai-sdk/from-ui-messages.ts";
export type {
  AiSdkMajor,
  ModelMessage,
  ModelMessagesOptions,
  ModelMessagesRequest,
} from "./interop/convert/ai-sdk/model-message-types.ts";
export { toModelMessages } from "./interop/convert/ai-sdk/to-model-messages.ts";
export { toUIMessages } from "./interop/convert/ai-sdk/to-ui-messages.ts";
export type { UIMessage, UIMessagesOptions, UIMessagesResult } from "./interop/convert/ai-sdk/ui-parts.ts";
export { type AnswerFields, assistantMessage, type ConvertedAnswer } from "./interop/convert/answer.ts";
export type { AnthropicMessage, AnthropicRequest } from "./interop/convert/anthropic/anthropic-content.ts";
export {
  appendAnthropicSummary,
  requestAnthropicSummary,
} from "./interop/convert/anthropic/anthropic-summary.ts";
export { fromAnthropic, fromAnthropicResponse } from "./interop/convert/anthropic/from-anthropic.ts";
export { toAnthropic } from "./interop/convert/anthropic/to-anthropic.ts";
export { type AppendedConversation, appendConversation } from "./interop/convert/append-conversation.ts";
export type { BedrockMessage, BedrockRequest } from "./interop/convert/bedrock/bedrock-content.ts";
export { fromBedrock, fromBedrockResponse } from "./interop/convert/bedrock/from-bedrock.ts";
export { toBedrock } from "./interop/convert/bedrock/to-bedrock.ts";
export type { ConversionIssue } from "./interop/convert/conversion-issue.ts";
export type { MessageImportOptions, RequestOptions } from "./interop/convert/conversion-options.ts";
export { fromGemini, fromGeminiResponse } from "./interop/convert/gemini/from-gemini.ts";
export type { GeminiContent, GeminiRequest } from "./interop/convert/gemini/gemini-content.ts";
export { toGemini } from "./interop/convert/gemini/to-gemini.ts";
export { fromLangChain } from "./interop/convert/langchain/from-langchain.ts";
export type { LangChainMessage, LangChainRequest } from "./interop/convert/langchain/langchain-content.ts";
export { toLangChain } from "./interop/convert/langchain/to-langchain.ts";
export type { ConvertedMessages } from "./interop/convert/message-history.ts";
export { fromOpenAIChat, fromOpenAIChatResponse } from "./interop/convert/openai-chat/from-openai-chat.ts";
export type {
  OpenAIChatMessage,
  OpenAIChatOptions,
  OpenAIChatRequest,
} from "./interop/convert/openai-chat/openai-chat-content.ts";
export { toOpenAIChat } from "./interop/convert/openai-chat/to-openai-chat.ts";
export {
  fromOpenAIResponses,
  fromOpenAIResponsesResponse,
} from "./interop/convert/openai-responses/from-openai-responses.ts";
export type {
  OpenAIResponsesItem,
  OpenAIResponsesOptions,
  OpenAIResponsesRequest,
} from "./interop/convert/openai-responses/openai-responses-content.ts";
export { toOpenAIResponses } from "./interop/convert/openai-responses/to-openai-responses.ts";
export { requestChanges } from "./interop/convert/session/request-changes.ts";
