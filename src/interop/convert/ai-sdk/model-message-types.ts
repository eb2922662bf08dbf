import type { ConversionIssue } from "../conversion-issue.ts";
import type { Open, RequestOptions } from "../conversion-options.ts";

/** A major of the AI SDK. */
export type AiSdkMajor = 5 | 6 | 7;

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

/** A file in the output of a tool, by the SDK's major. */
interface ModelToolFiles {
  5: { type: "media"; data: string; mediaType: string };
  6: { type: "image-data" | "file-data"; data: string; mediaType: string };
  7: { type: "file"; data: { type: "data"; data: string }; mediaType: string };
}

/** A part of the output of a tool. */
export type ModelToolOutputPart<Major extends AiSdkMajor = 7> =
  | { type: "text"; text: string }
  | ModelToolFiles[Major];

/** Output of a tool, as the model gets it. */
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

/** Asks the user whether a call may run. */
export interface ModelApprovalRequestPart {
  type: "tool-approval-request";
  approvalId: string;
  toolCallId: string;
}

/** The user's answer to that. */
export interface ModelApprovalResponsePart {
  type: "tool-approval-response";
  approvalId: string;
  approved: boolean;
  reason?: string;
  providerExecuted?: boolean;
}

/** A part that the model wrote. */
export type ModelContentPart = ModelTextPart | ModelReasoningPart | ModelToolCallPart;

/** A part of an answer. */
export type ModelAnswerPart<Major extends AiSdkMajor = 7> =
  | ModelContentPart
  | (Major extends 5 ? never : ModelApprovalRequestPart);

/** A part of what follows an answer: results of its calls, and answers to its requests. */
export type ModelToolPart<Major extends AiSdkMajor = 7> =
  | ModelToolResultPart<Major>
  | (Major extends 5 ? never : ModelApprovalResponsePart);

/** A message of the AI SDK's `generateText` and `streamText`. */
export type ModelMessage<Major extends AiSdkMajor = 7> =
  | { role: "user"; content: string | (ModelTextPart | ModelFilePart)[] }
  | { role: "assistant"; content: ModelAnswerPart<Major>[] }
  | { role: "tool"; content: ModelToolPart<Major>[] };

/** Options of `toModelMessages`. */
export interface ModelMessagesOptions<Major extends AiSdkMajor = AiSdkMajor> extends RequestOptions {
  /**
   * Major of the `ai` package that you pass the request to. Default: files in results are written as the latest one of the
   * session, else as in version 7.
   */
  readonly sdk?: Major;
}

/** What `toModelMessages` makes: `const { issues, ...prompt } = toModelMessages(messages)` is for `generateText`. */
export interface ModelMessagesRequest<Major extends AiSdkMajor = 7> {
  /** The instructions, as versions 5 and 6 read them. Absent if there is no system message. */
  system?: string;
  /** The same, as version 7 reads them. */
  instructions?: string;
  messages: ModelMessage<Major>[];
  issues: ConversionIssue[];
}

/** A message as the SDK types it, and as `toModelMessages` makes it. */
export type ModelMessageLike = Open<{
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly Open<{ readonly type: string }>[];
}>;

/** A prompt as `toModelMessages` makes it. */
export type ModelMessagesRequestLike = Open<{
  readonly system?: string | undefined;
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
