import type { ConversionIssue } from "../conversion-issue.ts";
import type { Open, RequestOptions } from "../conversion-options.ts";

/** Major version of the AI SDK. */
export type AiSdkMajor = 5 | 6 | 7;

/** Provider-specific data for a part, such as signatures and item ids. */
export type ModelProviderOptions = Record<string, Record<string, string>>;

/** Text part. */
export interface ModelTextPart {
  type: "text";
  text: string;
  providerOptions?: ModelProviderOptions;
}

/** Inline file, as base64. */
export interface ModelFilePart {
  type: "file";
  data: string;
  mediaType: string;
}

/** Thinking by the model. */
export interface ModelReasoningPart {
  type: "reasoning";
  text: string;
  providerOptions?: ModelProviderOptions;
}

/** Tool call. */
export interface ModelToolCallPart {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  input: unknown;
  providerOptions?: ModelProviderOptions;
}

/** File in the output of a tool, by major version of the SDK. */
interface ModelToolFiles {
  5: { type: "media"; data: string; mediaType: string };
  6: { type: "image-data" | "file-data"; data: string; mediaType: string };
  7: { type: "file"; data: { type: "data"; data: string }; mediaType: string };
}

/** Part of a tool's output. */
export type ModelToolOutputPart<Major extends AiSdkMajor = 7> =
  | { type: "text"; text: string }
  | ModelToolFiles[Major];

/** Tool output as sent to the model. */
export type ModelToolOutput<Major extends AiSdkMajor = 7> =
  | { type: "text" | "error-text"; value: string }
  | { type: "content"; value: ModelToolOutputPart<Major>[] }
  | (Major extends 5 ? never : { type: "execution-denied"; reason?: string });

/** Result of a tool call. */
export interface ModelToolResultPart<Major extends AiSdkMajor = 7> {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: ModelToolOutput<Major>;
}

/** Request for the user's approval of a call. */
export interface ModelApprovalRequestPart {
  type: "tool-approval-request";
  approvalId: string;
  toolCallId: string;
}

/** The user's response to an approval request. */
export interface ModelApprovalResponsePart {
  type: "tool-approval-response";
  approvalId: string;
  approved: boolean;
  reason?: string;
  providerExecuted?: boolean;
}

/** Part written by the model. */
export type ModelContentPart = ModelTextPart | ModelReasoningPart | ModelToolCallPart;

/** Part of an answer. */
export type ModelAnswerPart<Major extends AiSdkMajor = 7> =
  | ModelContentPart
  | (Major extends 5 ? never : ModelApprovalRequestPart);

/** Part of the message after an answer: results of its calls, and responses to its approval requests. */
export type ModelToolPart<Major extends AiSdkMajor = 7> =
  | ModelToolResultPart<Major>
  | (Major extends 5 ? never : ModelApprovalResponsePart);

/** Message for the AI SDK's `generateText` and `streamText`. */
export type ModelMessage<Major extends AiSdkMajor = 7> =
  | { role: "user"; content: string | (ModelTextPart | ModelFilePart)[] }
  | { role: "assistant"; content: ModelAnswerPart<Major>[] }
  | { role: "tool"; content: ModelToolPart<Major>[] };

/** Options for `toModelMessages`. */
export interface ModelMessagesOptions<Major extends AiSdkMajor = AiSdkMajor> extends RequestOptions {
  /**
   * Major version of the `ai` package that receives the request. Default: the oldest version that supports the latest
   * file in the session's tool results; if there are no such files, 7.
   */
  readonly sdk?: Major;
}

/**
 * Result of `toModelMessages`: use `const { issues, ...prompt } = toModelMessages(messages)` and pass `prompt` to
 * `generateText`.
 */
export interface ModelMessagesRequest<Major extends AiSdkMajor = 7> {
  /** Instructions, as read by version 5 or 6. Absent if the request has no system message. */
  system?: string;
  /** Instructions, as read by version 7. */
  instructions?: string;
  messages: ModelMessage<Major>[];
  issues: ConversionIssue[];
}

/** Message from the SDK or from `toModelMessages`. */
export type ModelMessageLike = Open<{
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly Open<{ readonly type: string }>[];
}>;

/** System message from the SDK. */
export type ModelSystemMessageLike = Open<{ readonly role: "system"; readonly content: string }>;

/** Instructions as passed to the SDK. Since version 6, they may be system messages. */
type ModelInstructionsLike = string | ModelSystemMessageLike | readonly ModelSystemMessageLike[];

/** Prompt as returned by `toModelMessages` or as passed to the SDK. */
export type ModelMessagesRequestLike = Open<{
  readonly system?: ModelInstructionsLike | undefined;
  readonly instructions?: ModelInstructionsLike | undefined;
  readonly messages: readonly (ModelMessageLike | ModelMessagesResponseLike)[];
}>;

/** Model call in a result from the SDK. */
type ModelStepLike = Open<{
  readonly finishReason: string;
  readonly usage: Open<{
    readonly inputTokens: number | undefined;
    readonly outputTokens: number | undefined;
  }>;
  readonly response: Open<{ readonly id: string; readonly modelId: string }>;
}>;

/** Result of the SDK's `generateText`. For `streamText`, after awaiting its promises. */
export type ModelMessagesResponseLike = Open<{
  readonly steps: readonly ModelStepLike[];
  /** Messages, since version 7. */
  readonly responseMessages?: readonly ModelMessageLike[] | undefined;
  /** Response with messages, used before version 7. */
  readonly response?: Open<{ readonly messages: readonly ModelMessageLike[] }> | undefined;
}>;
