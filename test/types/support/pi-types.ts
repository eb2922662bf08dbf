/*
 * The data types as code written against pi 1.5.2 expects them, declared from the descriptions in docs/format.md and
 * of the session manager's API, not from its sources. Whoever changes a type of ours must not change these.
 */

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export type TextContent = { type: "text"; text: string; textSignature?: string };
export type ImageContent = { type: "image"; data: string; mimeType: string };
export type ThinkingContent = {
  type: "thinking";
  thinking: string;
  thinkingSignature?: string;
  redacted?: boolean;
};
export type ToolCall = {
  type: "toolCall";
  id: string;
  name: string;
  // biome-ignore lint/suspicious/noExplicitAny: code written against pi makes and reads arguments without casts
  arguments: { [key: string]: any };
  thoughtSignature?: string;
  namespace?: string;
};
export type Usage = {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  cacheWrite1h?: number;
  reasoning?: number;
  totalTokens: number;
  cost: {
    input: number;
    output: number;
    cacheRead: number;
    cacheWrite: number;
    total: number;
    totalFromProvider?: boolean;
  };
};

export type SystemMessage = {
  role: "system";
  content: string | TextContent[];
  sections?: { [name: string]: string | null };
  toolsAdded?: { name: string; description: string; parameters: JsonObject }[];
  toolsRemoved?: string[];
  timestamp: number;
};
export type UserMessage = {
  role: "user";
  content: string | (TextContent | ImageContent)[];
  timestamp: number;
};
export type AssistantMessage = {
  role: "assistant";
  content: (TextContent | ThinkingContent | ToolCall)[];
  api: string;
  provider: string;
  model: string;
  responseModel?: string;
  responseId?: string;
  thinkingLevel?: "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
  usage: Usage;
  stopReason: "pending" | "stop" | "length" | "toolUse" | "error" | "aborted" | "deferred";
  errorMessage?: string;
  timestamp: number;
};
export type ToolResultMessage = {
  role: "toolResult";
  toolCallId: string;
  toolName: string;
  content: (TextContent | ImageContent)[];
  details?: Json;
  isError: boolean;
  usage?: Usage;
  nestedCalls?: {
    calls: { id: string; name: string; arguments?: JsonObject; status: "ok" | "error" | "unfinished" }[];
    complete: boolean;
  };
  timestamp: number;
};
export type BashExecutionMessage = {
  role: "bashExecution";
  command: string;
  output: string;
  exitCode: number | undefined;
  cancelled: boolean;
  truncated: boolean;
  fullOutputPath?: string;
  excludeFromContext?: boolean;
  timestamp: number;
};
export type CustomMessage<T = unknown> = {
  role: "custom";
  customType: string;
  content: string | (TextContent | ImageContent)[];
  display: boolean;
  details?: T;
  timestamp: number;
};
export type BranchSummaryMessage = {
  role: "branchSummary";
  summary: string;
  fromId: string | null;
  timestamp: number;
};
export type CompactionSummaryMessage = {
  role: "compactionSummary";
  summary: string;
  tokensBefore: number;
  timestamp: number;
};
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolResultMessage;
export type AgentMessage =
  | Message
  | BashExecutionMessage
  | CustomMessage
  | BranchSummaryMessage
  | CompactionSummaryMessage;

export type SessionHeader = {
  type: "session";
  version?: number;
  id: string;
  timestamp: string;
  cwd: string;
  parentSession?: string;
};
export type SessionEntryBase = { type: string; id: string; parentId: string | null; timestamp: string };
type Entry<Type extends string, Fields> = Omit<SessionEntryBase, "type"> & { type: Type } & Fields;

export type SessionMessageEntry = Entry<"message", { message: AgentMessage }>;
export type ThinkingLevelChangeEntry = Entry<"thinking_level_change", { thinkingLevel: string }>;
export type ModelChangeEntry = Entry<"model_change", { provider: string; modelId: string }>;
export type UsageEntry = Entry<
  "usage",
  { kind: string; provider: string; model: string; usage: Usage; note?: string }
>;
export type CompactionEntry<T = unknown> = Entry<
  "compaction",
  {
    summary: string;
    firstKeptEntryId: string;
    tokensBefore: number;
    details?: T;
    fromHook?: boolean;
    usage?: Usage;
    systemMessage?: SystemMessage;
  }
>;
export type BranchSummaryEntry<T = unknown> = Entry<
  "branch_summary",
  { fromId: string; summary: string; details?: T; fromHook?: boolean; usage?: Usage }
>;
export type CustomEntry<T = unknown> = Entry<"custom", { customType: string; data?: T }>;
export type CustomMessageEntry<T = unknown> = Entry<
  "custom_message",
  { customType: string; content: string | (TextContent | ImageContent)[]; display: boolean; details?: T }
>;
export type ContextEditableContent =
  | string
  | (TextContent | ImageContent)[]
  | (TextContent | ThinkingContent | ToolCall)[];
export type ContextEditEntry = Entry<
  "context_edit",
  { targetId: string; replacement: null | { content: ContextEditableContent } }
>;
export type LabelEntry = Entry<"label", { targetId: string; label: string | undefined }>;
export type SessionInfoEntry = Entry<"session_info", { name?: string }>;

export type SessionEntry =
  | SessionMessageEntry
  | ThinkingLevelChangeEntry
  | ModelChangeEntry
  | UsageEntry
  | CompactionEntry
  | BranchSummaryEntry
  | CustomEntry
  | CustomMessageEntry
  | ContextEditEntry
  | LabelEntry
  | SessionInfoEntry;
export type FileEntry = SessionHeader | SessionEntry;

export type SessionTreeNode = {
  entry: SessionEntry;
  children: SessionTreeNode[];
  label?: string;
  labelTimestamp?: string;
};
export type SessionContext = {
  messages: AgentMessage[];
  thinkingLevel: string;
  model: { provider: string; modelId: string } | null;
};
export type ProjectedSessionEntry = { sourceEntry: SessionEntry; messages: AgentMessage[] };
export type SessionProjection = SessionContext & { entries: ProjectedSessionEntry[] };
export type NewSessionOptions = { id?: string; parentSession?: string };
export type SessionInfo = {
  path: string;
  id: string;
  cwd: string;
  name?: string;
  parentSessionPath?: string;
  created: Date;
  modified: Date;
  messageCount: number;
  firstMessage: string;
  allMessagesText: string;
};
export type SessionListProgress = (loaded: number, total: number, partial?: SessionInfo[]) => void;

export type CompactionSettings = { enabled: boolean; reserveTokens: number; keepRecentTokens: number };
export type CutPointResult = { firstKeptEntryIndex: number; turnStartIndex: number; isSplitTurn: boolean };
export type FileOperations = { read: Set<string>; written: Set<string>; edited: Set<string> };
export type CompactionResult<T = unknown> = {
  summary: string;
  firstKeptEntryId: string;
  tokensBefore: number;
  details?: T;
  usage?: Usage;
};
export type CollectEntriesResult = { entries: SessionEntry[]; commonAncestorId: string | null };
export type BranchPreparation = { messages: AgentMessage[]; fileOps: FileOperations; totalTokens: number };
