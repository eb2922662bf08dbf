import type { ConversionIssue } from "../conversion-issue.ts";
import type { RequestOptions } from "../conversion-options.ts";
import type { Open } from "../open-union.ts";

/** A text part of OpenAI's Chat Completions API. */
export interface OpenAIChatText {
  type: "text";
  text: string;
}

/** An image part, inline as a `data:` URL. */
export interface OpenAIChatImage {
  type: "image_url";
  image_url: { url: string };
}

/** A tool call. */
export interface OpenAIChatToolCall {
  id: string;
  type: "function";
  /** `arguments` is JSON. */
  function: { name: string; arguments: string };
}

/** Instructions. */
export interface OpenAIChatSystemMessage {
  role: "system" | "developer";
  content: string;
}

/** A user message. */
export interface OpenAIChatUserMessage {
  role: "user";
  content: string | (OpenAIChatText | OpenAIChatImage)[];
}

/** An answer, with the reasoning fields of other servers for this API. */
export interface OpenAIChatAssistantMessage {
  role: "assistant";
  content: string | null;
  tool_calls?: OpenAIChatToolCall[];
  reasoning?: string;
  reasoning_content?: string;
  reasoning_text?: string;
  reasoning_details?: unknown[];
}

/** Result of a tool call. */
export interface OpenAIChatToolMessage {
  role: "tool";
  tool_call_id: string;
  content: string;
}

/** A message of a request. */
export type OpenAIChatMessage =
  | OpenAIChatSystemMessage
  | OpenAIChatUserMessage
  | OpenAIChatAssistantMessage
  | OpenAIChatToolMessage;

/** Options of `toOpenAIChat`. */
export interface OpenAIChatOptions extends RequestOptions {
  /** Role of system messages. Default: `system`, which every server knows. */
  readonly systemRole?: "system" | "developer";
}

/** What `toOpenAIChat` makes: `const { issues, ...request } = toOpenAIChat(messages)` is for `completions.create`. */
export interface OpenAIChatRequest {
  messages: OpenAIChatMessage[];
  issues: ConversionIssue[];
}

/** A message as the SDK types it, and as `toOpenAIChat` makes it. */
export type OpenAIChatMessageLike = Open<{
  readonly role: "system" | "developer" | "user" | "assistant" | "tool" | "function";
  readonly content?: string | readonly Open<{ readonly type: string }>[] | null | undefined;
}>;

/** A request as the SDK types it, and as `toOpenAIChat` makes it. */
export type OpenAIChatRequestLike = Open<{
  readonly messages: readonly (OpenAIChatMessageLike | OpenAIChatResponseLike)[];
}>;

/** A response as the SDK types it. */
export type OpenAIChatResponseLike = Open<{
  readonly id: string;
  readonly model: string;
  readonly choices: readonly Open<{
    readonly finish_reason: string | null;
    readonly message: Open<{ readonly role: "assistant"; readonly content: string | null }>;
  }>[];
  readonly usage?:
    | Open<{ readonly prompt_tokens: number; readonly completion_tokens: number }>
    | null
    | undefined;
}>;
