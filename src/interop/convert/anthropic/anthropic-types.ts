import type { ConversionIssue } from "../conversion-issue.ts";
import type { Open } from "../open-union.ts";

/** A text block of Anthropic's Messages API. */
export interface AnthropicText {
  type: "text";
  text: string;
}

/** An inline image. */
export interface AnthropicImage {
  type: "image";
  source: {
    type: "base64";
    media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp";
    data: string;
  };
}

/** Thinking with the signature that proves it. */
export interface AnthropicThinking {
  type: "thinking";
  thinking: string;
  signature: string;
}

/** Redacted thinking. */
export interface AnthropicRedactedThinking {
  type: "redacted_thinking";
  data: string;
}

/** A tool call. */
export interface AnthropicToolUse {
  type: "tool_use";
  id: string;
  name: string;
  input: Record<string, unknown>;
}

/** Result of a tool call. */
export interface AnthropicToolResult {
  type: "tool_result";
  tool_use_id: string;
  content?: (AnthropicText | AnthropicImage)[];
  is_error?: true;
}

/** A block of a request. */
export type AnthropicBlock =
  | AnthropicText
  | AnthropicImage
  | AnthropicThinking
  | AnthropicRedactedThinking
  | AnthropicToolUse
  | AnthropicToolResult;

/** A message of a request. */
export interface AnthropicMessage {
  role: "user" | "assistant";
  content: string | AnthropicBlock[];
}

/** What `toAnthropic` makes: `const { issues, ...request } = toAnthropic(messages)` is for `messages.create`. */
export interface AnthropicRequest {
  /** Absent if there is no system message. */
  system?: string;
  messages: AnthropicMessage[];
  issues: ConversionIssue[];
}

/** Any block that the API knows, now or later. */
export type AnthropicBlockLike = Open<{ readonly type: string }>;

/** A message as the SDK types it, and as `toAnthropic` makes it. */
export type AnthropicMessageLike = Open<{
  readonly role: "user" | "assistant" | "system";
  readonly content: string | readonly AnthropicBlockLike[];
}>;

/** A request as the SDK types it, and as `toAnthropic` makes it. */
export type AnthropicRequestLike = Open<{
  readonly system?: string | readonly Open<{ readonly type: "text"; readonly text: string }>[] | undefined;
  readonly messages: readonly AnthropicMessageLike[];
}>;

/** A response as the SDK types it. */
export type AnthropicResponseLike = Open<{
  readonly id: string;
  readonly model: string;
  readonly content: readonly AnthropicBlockLike[];
  readonly stop_reason: string | null;
  readonly usage: Open<{ readonly input_tokens: number; readonly output_tokens: number }>;
}>;
