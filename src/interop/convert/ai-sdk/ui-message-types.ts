import type { ConversionIssue } from "../conversion-issue.ts";
import type { Open } from "../open-union.ts";
import type { ModelProviderOptions } from "./model-message-types.ts";

/** A text. */
export interface UITextPart {
  type: "text";
  text: string;
  providerMetadata?: ModelProviderOptions;
}

/** Thinking of the model. */
export interface UIReasoningPart {
  type: "reasoning";
  text: string;
  providerMetadata?: ModelProviderOptions;
}

/** A file, as a `data:` URL. */
export interface UIFilePart {
  type: "file";
  mediaType: string;
  url: string;
}

/** Begins a model call. */
export interface UIStepStartPart {
  type: "step-start";
}

/** A tool call and its outcome. */
export type UIToolPart = {
  type: `tool-${string}`;
  toolCallId: string;
  input: unknown;
  callProviderMetadata?: ModelProviderOptions;
} & (
  | { state: "input-available" }
  | { state: "output-available"; output: unknown }
  | { state: "output-error"; errorText: string }
);

/** A part of a UI message. */
export type UIPart = UITextPart | UIReasoningPart | UIFilePart | UIStepStartPart | UIToolPart;

/** A message of the AI SDK's user interfaces: a user message, or everything until the next one. */
export interface UIMessage {
  id: string;
  role: "user" | "assistant";
  /** Data of the host; absent if there is none. */
  metadata?: unknown;
  parts: UIPart[];
}

/** Options of `toUIMessages`. */
export interface UIMessagesOptions {
  /**
   * Returns the id of a UI message, for the index of the first message in it. Default: a digest of index and content, the
   * same at every conversion.
   */
  readonly id?: (index: number) => string;
}

/** What `toUIMessages` makes. */
export interface UIMessagesResult {
  /** Absent if there is no system message. Since version 7, the AI SDK wants instructions apart from messages. */
  instructions?: string;
  messages: UIMessage[];
  issues: ConversionIssue[];
}

/** A message as the SDK types it, and as `toUIMessages` makes it. */
export type UIMessageLike = Open<{
  readonly id: string;
  readonly role: "system" | "user" | "assistant";
  readonly parts: readonly Open<{ readonly type: string }>[];
}>;
