import type { ConversionIssue } from "../conversion-issue.ts";
import type { Open } from "../open.ts";

/** Provider-specific data of a part, such as signatures and item ids. */
export type ModelProviderOptions = Record<string, Record<string, string>>;

/** A text. */
export interface ModelTextPart {
  type: "text";
  text: string;
  providerOptions?: ModelProviderOptions;
}

/** A file, inline as base64. */
export interface ModelFilePart {
  type: "file";
  data: string;
  mediaType: string;
}

/** Thinking of the model. */
export interface ModelReasoningPart {
  type: "reasoning";
  text: string;
  providerOptions?: ModelProviderOptions;
}

/** A tool call. */
export interface ModelToolCallPart {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  input: unknown;
  providerOptions?: ModelProviderOptions;
}

/** Output of a tool, as the model gets it. */
export type ModelToolOutput =
  | { type: "text" | "error-text"; value: string }
  | {
      type: "content";
      value: (
        | { type: "text"; text: string }
        | { type: "file"; data: { type: "data"; data: string }; mediaType: string }
      )[];
    };

/** Result of a tool call. */
export interface ModelToolResultPart {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: ModelToolOutput;
}

/** A part of an answer. */
export type ModelAnswerPart = ModelTextPart | ModelReasoningPart | ModelToolCallPart;

/** A message of the AI SDK's `generateText` and `streamText`. */
export type ModelMessage =
  | { role: "user"; content: string | (ModelTextPart | ModelFilePart)[] }
  | { role: "assistant"; content: ModelAnswerPart[] }
  | { role: "tool"; content: ModelToolResultPart[] };

/** What `toModelMessages` makes: `const { issues, ...prompt } = toModelMessages(messages)` is for `generateText`. */
export interface ModelMessagesRequest {
  /** Absent if there is no system message. Before version 7 of the AI SDK this was called `system`. */
  instructions?: string;
  messages: ModelMessage[];
  issues: ConversionIssue[];
}

/** A message as the SDK types it, and as `toModelMessages` makes it. */
export type ModelMessageLike = Open<{
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly Open<{ readonly type: string }>[];
}>;

/** A prompt as `toModelMessages` makes it. */
export type ModelMessagesRequestLike = Open<{
  readonly instructions?: string | undefined;
  readonly messages: readonly (ModelMessageLike | ModelMessagesResponseLike)[];
}>;

/** One model call of a result as the SDK types it. */
export type ModelStepLike = Open<{
  readonly finishReason: string;
  readonly usage: Open<{
    readonly inputTokens: number | undefined;
    readonly outputTokens: number | undefined;
  }>;
  readonly response: Open<{ readonly id: string; readonly modelId: string }>;
}>;

/** A result of `generateText` as the SDK types it; of `streamText`, once its promises are awaited. */
export type ModelMessagesResponseLike = Open<{
  readonly steps: readonly ModelStepLike[];
  /** Since version 7. */
  readonly responseMessages?: readonly ModelMessageLike[] | undefined;
  /** Before that. */
  readonly response?: Open<{ readonly messages: readonly ModelMessageLike[] }> | undefined;
}>;
