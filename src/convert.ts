/**
 * sessiontree/convert: messages of providers and SDKs, to those of a session and back. Runs in a browser, too.
 *
 * @module
 */

export { fromModelMessages, fromModelMessagesResponse } from "./convert/ai-sdk/from-model-messages.ts";
export { fromUIMessages } from "./convert/ai-sdk/from-ui-messages.ts";
export type {
  AiSdkMajor,
  ModelMessage,
  ModelMessageLike,
  ModelMessagesOptions,
  ModelMessagesRequest,
  ModelMessagesRequestLike,
  ModelMessagesResponseLike,
} from "./convert/ai-sdk/model-message-types.ts";
export { toModelMessages } from "./convert/ai-sdk/to-model-messages.ts";
export { toUIMessages } from "./convert/ai-sdk/to-ui-messages.ts";
export type {
  UIMessage,
  UIMessageLike,
  UIMessagesOptions,
  UIMessagesResult,
} from "./convert/ai-sdk/ui-message-types.ts";
export { type AnswerFields, assistantMessage, type ConvertedAnswer } from "./convert/answer.ts";
export type {
  AnthropicMessage,
  AnthropicMessageLike,
  AnthropicRequest,
  AnthropicRequestLike,
  AnthropicResponseLike,
} from "./convert/anthropic/anthropic-types.ts";
export { fromAnthropic, fromAnthropicResponse } from "./convert/anthropic/from-anthropic.ts";
export { toAnthropic } from "./convert/anthropic/to-anthropic.ts";
export {
  type AppendedConversation,
  appendConversation,
  type ConversationSession,
} from "./convert/append-conversation.ts";
export type {
  BedrockMessage,
  BedrockMessageLike,
  BedrockRequest,
  BedrockRequestLike,
  BedrockResponseLike,
} from "./convert/bedrock/bedrock-types.ts";
export { fromBedrock, fromBedrockResponse } from "./convert/bedrock/from-bedrock.ts";
export { toBedrock } from "./convert/bedrock/to-bedrock.ts";
export type { ConversionIssue, ConversionIssueCode } from "./convert/conversion-issue.ts";
export type { MessageImportOptions, RequestOptions } from "./convert/conversion-options.ts";
export { fromGemini, fromGeminiResponse } from "./convert/gemini/from-gemini.ts";
export type {
  GeminiContent,
  GeminiContentLike,
  GeminiRequest,
  GeminiRequestLike,
  GeminiResponseLike,
} from "./convert/gemini/gemini-types.ts";
export { toGemini } from "./convert/gemini/to-gemini.ts";
export type { ConvertedMessages } from "./convert/history.ts";
export { fromLangChain } from "./convert/langchain/from-langchain.ts";
export type {
  LangChainMessage,
  LangChainMessageData,
  LangChainMessageLike,
  LangChainRequest,
} from "./convert/langchain/langchain-types.ts";
export { toLangChain } from "./convert/langchain/to-langchain.ts";
export { fromOpenAIChat, fromOpenAIChatResponse } from "./convert/openai-chat/from-openai-chat.ts";
export type {
  OpenAIChatMessage,
  OpenAIChatMessageLike,
  OpenAIChatOptions,
  OpenAIChatRequest,
  OpenAIChatRequestLike,
  OpenAIChatResponseLike,
} from "./convert/openai-chat/openai-chat-types.ts";
export { toOpenAIChat } from "./convert/openai-chat/to-openai-chat.ts";
export {
  fromOpenAIResponses,
  fromOpenAIResponsesResponse,
} from "./convert/openai-responses/from-openai-responses.ts";
export type {
  OpenAIResponsesItem,
  OpenAIResponsesItemLike,
  OpenAIResponsesOptions,
  OpenAIResponsesRequest,
  OpenAIResponsesRequestLike,
  OpenAIResponsesResponseLike,
} from "./convert/openai-responses/openai-responses-types.ts";
export { toOpenAIResponses } from "./convert/openai-responses/to-openai-responses.ts";
