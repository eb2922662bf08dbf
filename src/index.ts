/**
 * sessiontree: session memory for agents, stored as an append-only tree in a plain JSONL file.
 *
 * @module
 */

export {
  type BranchPreparation,
  type BranchSummaryResult,
  type CollectEntriesResult,
  collectEntriesForBranchSummary,
  type GenerateBranchSummaryOptions,
  generateBranchSummary,
  prepareBranchEntries,
  type WrittenBranchSummary,
} from "./core/compaction/branch-summary.ts";
export { compactWithoutModel } from "./core/compaction/compact-without-model.ts";
export { type CutPointResult, findCutPoint, findTurnStartIndex } from "./core/compaction/cut-point.ts";
export { type BranchDiff, diffBranches } from "./core/compaction/diff-branches.ts";
export {
  computeFileLists,
  type FileLists,
  type FileOperations,
  formatFileOperations,
} from "./core/compaction/file-operations.ts";
export {
  type CompactionPlan,
  type CompactionPreparation,
  type PlanOptions,
  planCompaction,
  prepareCompaction,
} from "./core/compaction/plan.ts";
export type { Summarize, SummarizeReply, SummarizeRequest } from "./core/compaction/request-summary.ts";
export {
  type CompactionSettings,
  DEFAULT_COMPACTION_SETTINGS,
  settingsForModel,
} from "./core/compaction/settings.ts";
export {
  type CompactionDetails,
  type CompactionResult,
  type CompactOptions,
  compact,
} from "./core/compaction/summarize.ts";
export {
  type ContextUsageEstimate,
  estimateContextTokens,
  estimateProjectedContextTokens,
  estimateTokens,
  getLastAssistantUsage,
  shouldCompact,
  type TokenCounter,
} from "./core/compaction/tokens.ts";
export { serializeConversation } from "./core/compaction/transcript.ts";
export { convertToLlm } from "./core/context/convert-to-llm.ts";
export { projectContextEntry, sessionEntryToContextMessages } from "./core/context/project-entry.ts";
export {
  buildContextEntries,
  buildSessionContext,
  buildSessionProjection,
  getLatestCompactionEntry,
  type ProjectedSessionEntry,
  type SessionContext,
  type SessionProjection,
} from "./core/context/session-context.ts";
export { foldSystemMessages } from "./core/context/system-message.ts";
export { repairToolPairs, type ToolPairsRepaired } from "./core/context/tool-pairs.ts";
export { calculateContextTokens } from "./core/context/usage.ts";
export type { ImageContent, TextContent, ThinkingContent, ToolCall, Usage } from "./core/format/content.ts";
export {
  type AnySessionEntry,
  type BranchSummaryEntry,
  type CompactionEntry,
  type ContextEditableContent,
  type ContextEditEntry,
  type CustomEntry,
  type CustomMessageEntry,
  type FileEntry,
  isKnownEntry,
  type LabelEntry,
  type ModelChangeEntry,
  type SessionEntry,
  type SessionEntryBase,
  type SessionInfoEntry,
  type SessionMessageEntry,
  type ThinkingLevelChangeEntry,
  type UnknownEntry,
  type UsageEntry,
} from "./core/format/entry.ts";
export { isSessionError, SessionError, type SessionErrorCode } from "./core/format/errors.ts";
export type { SessionHeader } from "./core/format/header.ts";
export { assertValidSessionId } from "./core/format/ids.ts";
export type { IssueCode, SessionIssue } from "./core/format/issue.ts";
export type { JsonObject, JsonValue } from "./core/format/json.ts";
export type {
  AgentMessage,
  AssistantMessage,
  BashExecutionMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
  CustomAgentMessages,
  CustomMessage,
  Message,
  NestedToolCall,
  StopReason,
  SystemMessage,
  ThinkingLevel,
  ToolDeclaration,
  ToolReference,
  ToolResultMessage,
  UserMessage,
} from "./core/format/message.ts";
export { CURRENT_SESSION_VERSION } from "./core/format/version.ts";
export { migrateSessionEntries } from "./core/jsonl/migrate.ts";
export { parseSessionEntries } from "./core/jsonl/parse-records.ts";
export { type ReadSessionResult, readSession } from "./core/jsonl/read-session.ts";
export { findMostRecentSession } from "./session/files/find-session.ts";
export type { LoadOptions } from "./session/log/file-log-options.ts";
export { loadEntriesFromFile } from "./session/log/read-session-file.ts";
export { type RepairAction, type RepairReport, repairSession } from "./session/log/repair-session.ts";
export { getDefaultSessionDir, type SessionPlaces } from "./session/log/session-paths.ts";
export type { AppendableMessage, EntryDraft } from "./session/manager/entry-draft.ts";
export {
  defineEntryType,
  type EntryType,
  type StandardSchema,
  type StateSession,
} from "./session/manager/extension-state.ts";
export type { SessionEventMap, SessionListener } from "./session/manager/session-events.ts";
export type { SessionInfo, SessionListProgress } from "./session/manager/session-info.ts";
export type { ReadonlySessionManager } from "./session/manager/session-manager.ts";
export { type AppendOptions, SessionManager } from "./session/manager/session-manager.ts";
export type { ForkOptions, NewSessionOptions, SessionOptions } from "./session/manager/session-options.ts";
export type { SessionTreeNode } from "./session/manager/session-tree.ts";
export type { RedactTextOptions, SessionTextRedaction } from "./session/manager/text-redaction.ts";
