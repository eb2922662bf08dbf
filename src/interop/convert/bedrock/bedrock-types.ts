import type { ConversionIssue } from "../conversion-issue.ts";
import type { Open } from "../open-union.ts";

/** An inline image. */
export interface BedrockImage {
  format: "png" | "jpeg" | "gif" | "webp";
  source: { bytes: Uint8Array };
}

/** JSON, as the SDK types it. */
export type BedrockDocument =
  | null
  | boolean
  | number
  | string
  | BedrockDocument[]
  | { [name: string]: BedrockDocument };

/** A block of a request; each has one of these fields. */
export type BedrockBlock =
  | { text: string }
  | { image: BedrockImage }
  | { reasoningContent: { reasoningText: { text: string; signature: string } } }
  | { reasoningContent: { redactedContent: Uint8Array } }
  | { toolUse: { toolUseId: string; name: string; input: BedrockDocument } }
  | { toolResult: BedrockToolResult };

/** Result of a tool call. */
export interface BedrockToolResult {
  toolUseId: string;
  content: ({ text: string } | { image: BedrockImage })[];
  status?: "error";
}

/** A message of a request. */
export interface BedrockMessage {
  role: "user" | "assistant";
  content: BedrockBlock[];
}

/** What `toBedrock` makes: `const { issues, ...request } = toBedrock(messages)` is for `ConverseCommand`. */
export interface BedrockRequest {
  /** Absent if there is no system message. */
  system?: { text: string }[];
  messages: BedrockMessage[];
  issues: ConversionIssue[];
}

/** A message as the SDK types it, and as `toBedrock` makes it. */
export interface BedrockMessageLike {
  readonly role: string | undefined;
  readonly content: readonly object[] | undefined;
}

/** A request as the SDK types it, and as `toBedrock` makes it. */
export type BedrockRequestLike = Open<{
  readonly system?: readonly object[] | undefined;
  readonly messages?: readonly BedrockMessageLike[] | undefined;
}>;

/** A response as the SDK types it. */
export interface BedrockResponseLike {
  readonly output?: object | undefined;
  readonly stopReason?: string | undefined;
  readonly usage?: object | undefined;
  readonly $metadata?: object | undefined;
}
