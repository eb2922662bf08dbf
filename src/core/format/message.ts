import type { ImageContent, TextContent, ThinkingContent, ToolCall, Usage } from "./content.ts";
import type { JsonObject, JsonValue } from "./json.ts";

/** A tool as it is declared to a model. */
export interface ToolDeclaration {
  name: string;
  description: string;
  /** JSON Schema of the arguments, or a schema library's form of one. */
  parameters: object;
}

/** A tool by its name. */
export interface ToolReference {
  name: string;
}

/** Instructions to the model, whole or as a patch of the earlier ones. */
export interface SystemMessage {
  role: "system";
  content: string | TextContent[];
  /** Named parts of the instructions; `null` removes one. */
  sections?: { [name: string]: string | null };
  toolsAdded?: ToolDeclaration[];
  /** Old files hold bare names. */
  toolsRemoved?: ToolReference[];
  /** For display and state, such as parts of another SDK's message that `content` cannot hold. */
  details?: JsonValue;
  /** Unix milliseconds, as in every message. */
  timestamp: number;
}

/** What the user said. */
export interface UserMessage {
  role: "user";
  content: string | (TextContent | ImageContent)[];
  /** For display and state, such as parts of another SDK's message that `content` cannot hold. */
  details?: JsonValue;
  timestamp: number;
}

/**
 * Why a model stopped.
 *
 * `stop`: it was done. `length`: no room was left. `toolUse`: it waits for results of its calls. `error`: the call failed,
 * or the provider refused or withheld the answer. `aborted`: somebody stopped it. `pending`: it is still being written.
 * `deferred`: it continues elsewhere and ends later.
 */
export type StopReason = "pending" | "stop" | "length" | "toolUse" | "error" | "aborted" | "deferred";

/** How hard a model is asked to think. */
export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** What `api`, `provider` and `model` of an answer say if its writer does not know them: readers expect a text. */
export const UNKNOWN_NAME = "unknown";

/** What a model answered. */
export interface AssistantMessage {
  role: "assistant";
  content: (TextContent | ThinkingContent | ToolCall)[];
  api: string;
  provider: string;
  model: string;
  /** The model that answered, where it is not the one asked. */
  responseModel?: string;
  responseId?: string;
  thinkingLevel?: ThinkingLevel;
  usage: Usage;
  stopReason: StopReason;
  /** The provider's own word for `stopReason`. */
  rawStopReason?: string;
  errorMessage?: string;
  /** For display and state, such as parts of another SDK's message that `content` cannot hold. */
  details?: JsonValue;
  timestamp: number;
}

/** A tool call that a tool made itself. */
export interface NestedToolCall {
  id: string;
  name: string;
  arguments?: JsonObject;
  status: "ok" | "error" | "unfinished";
}

/** What a tool returned. */
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

/** A command that the user ran. */
export interface BashExecutionMessage {
  role: "bashExecution";
  command: string;
  output: string;
  exitCode: number | undefined;
  cancelled: boolean;
  truncated: boolean;
  fullOutputPath?: string;
  /** Whether the model must not see it. */
  excludeFromContext?: boolean;
  timestamp: number;
}

/** A message that an extension put into the context. */
export interface CustomMessage<T = unknown> {
  role: "custom";
  customType: string;
  content: string | (TextContent | ImageContent)[];
  /** Whether a user interface shows it. */
  display: boolean;
  /** For the extension; never sent to a model. */
  details?: T;
  timestamp: number;
}

/** A summary of a branch that was left. Made while projecting, never stored as a message. */
export interface BranchSummaryMessage {
  role: "branchSummary";
  summary: string;
  fromId: string | null;
  timestamp: number;
}

/** A summary of compacted history. Made while projecting, never stored as a message. */
export interface CompactionSummaryMessage {
  role: "compactionSummary";
  summary: string;
  tokensBefore: number;
  timestamp: number;
}

/**
 * Roles that a host adds, by declaration merging: each property's type joins `AgentMessage`.
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

/** The messages that a model's provider understands. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolResultMessage;

/** Any message of a session or of a projection. */
export type AgentMessage =
  | Message
  | BashExecutionMessage
  | CustomMessage
  | BranchSummaryMessage
  | CompactionSummaryMessage
  | CustomAgentMessages[keyof CustomAgentMessages];
