import type { ImageContent, TextContent, ThinkingContent, ToolCall, Usage } from "./content.ts";
import type { JsonObject, JsonValue } from "./json.ts";

/** Declaration of a tool for a model. */
export interface ToolDeclaration {
  name: string;
  description: string;
  /** JSON Schema for the arguments, or a schema library's equivalent. */
  parameters: object;
}

/** Reference to a tool by name. */
export interface ToolReference {
  name: string;
}

/** Instructions for the model, either complete or as a patch to earlier instructions. */
export interface SystemMessage {
  role: "system";
  content: string | TextContent[];
  /** Named sections of the instructions; `null` removes a section. */
  sections?: { [name: string]: string | null };
  toolsAdded?: ToolDeclaration[];
  /** Old files contain bare names. */
  toolsRemoved?: ToolReference[];
  /** For display and state, such as parts of another SDK's message that `content` cannot represent. */
  details?: JsonValue;
  /** Unix milliseconds, as in every message. */
  timestamp: number;
}

/** Message from the user. */
export interface UserMessage {
  role: "user";
  content: string | (TextContent | ImageContent)[];
  /** For display and state, such as parts of another SDK's message that `content` cannot represent. */
  details?: JsonValue;
  timestamp: number;
}

/**
 * Reason why a model stopped.
 *
 * `stop`: the answer is complete. `length`: the token limit was reached. `toolUse`: the model is waiting for the results of its
 * calls. `error`: the call failed, or the provider refused or withheld the answer. `aborted`: the request was stopped. `pending`:
 * the answer is still being written. `deferred`: the answer continues elsewhere and will finish later.
 */
export type StopReason = "pending" | "stop" | "length" | "toolUse" | "error" | "aborted" | "deferred";

/** Amount of thinking requested from a model. */
export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** Value for an answer's `api`, `provider`, or `model` if it is unknown. Readers expect a string. */
export const UNKNOWN_NAME = "unknown";

/** A model's answer. */
export interface AssistantMessage {
  role: "assistant";
  content: (TextContent | ThinkingContent | ToolCall)[];
  api: string;
  provider: string;
  model: string;
  /** Responding model, if it differs from the requested one. */
  responseModel?: string;
  responseId?: string;
  thinkingLevel?: ThinkingLevel;
  usage: Usage;
  stopReason: StopReason;
  /** Provider's own name for `stopReason`. */
  rawStopReason?: string;
  errorMessage?: string;
  /** For display and state, such as parts of another SDK's message that `content` cannot represent. */
  details?: JsonValue;
  timestamp: number;
}

/** Tool call made by another tool. */
export interface NestedToolCall {
  id: string;
  name: string;
  arguments?: JsonObject;
  status: "ok" | "error" | "unfinished";
}

/** Result of a tool call. */
export interface ToolResultMessage {
  role: "toolResult";
  toolCallId: string;
  toolName: string;
  content: (TextContent | ImageContent)[];
  /** For display and state; never sent to a model. */
  details?: JsonValue;
  isError: boolean;
  usage?: Usage;
  nestedCalls?: { calls: NestedToolCall[]; complete: boolean };
  timestamp: number;
}

/** Command that the user ran. */
export interface BashExecutionMessage {
  role: "bashExecution";
  command: string;
  output: string;
  exitCode: number | undefined;
  cancelled: boolean;
  truncated: boolean;
  fullOutputPath?: string;
  /** Whether to exclude the command from the model's context. */
  excludeFromContext?: boolean;
  timestamp: number;
}

/** Message that an extension added to the context. */
export interface CustomMessage<T = unknown> {
  role: "custom";
  customType: string;
  content: string | (TextContent | ImageContent)[];
  /** Whether user interfaces display the message. */
  display: boolean;
  /** For the extension; never sent to a model. */
  details?: T;
  timestamp: number;
}

/** Summary of an abandoned branch. Created during projection, never stored as a message. */
export interface BranchSummaryMessage {
  role: "branchSummary";
  summary: string;
  fromId: string | null;
  timestamp: number;
}

/** Summary of compacted history. Created during projection, never stored as a message. */
export interface CompactionSummaryMessage {
  role: "compactionSummary";
  summary: string;
  tokensBefore: number;
  timestamp: number;
}

/**
 * Message roles that a host adds by declaration merging. The type of each property becomes part of `AgentMessage`.
 *
 * @example
 * import type { AgentMessage } from "sessiontree";
 *
 * declare module "sessiontree" {
 *   interface CustomAgentMessages { note: { role: "note"; text: string; timestamp: number } }
 * }
 *
 * export const isNote = (message: AgentMessage) => message.role === "note";
 */
// biome-ignore lint/suspicious/noEmptyInterface: hosts merge their roles into it
export interface CustomAgentMessages {}

/** Messages that model providers support. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolResultMessage;

/** Any message in a session or a projection. */
export type AgentMessage =
  | Message
  | BashExecutionMessage
  | CustomMessage
  | BranchSummaryMessage
  | CompactionSummaryMessage
  | CustomAgentMessages[keyof CustomAgentMessages];
