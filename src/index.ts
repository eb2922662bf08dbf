/**
 * sessiontree: session memory for agents, an append-only tree in a plain JSONL file.
 *
 * @module
 */

export { findMostRecentSession } from "./catalog/find-session.ts";
export {
  type BranchPreparation,
  type BranchSource,
  type BranchSummaryResult,
  type CollectEntriesResult,
  collectEntriesForBranchSummary,
  type GenerateBranchSummaryOptions,
  generateBranchSummary,
  prepareBranchEntries,
  type WrittenBranchSummary,
} from "./compaction/branch-summary.ts";
export { compactWithoutModel } from "./compaction/compact-without-model.ts";
export { type CutPointResult, findCutPoint, findTurnStartIndex } from "./compaction/cut-point.ts";
export {
  type BranchDiff,
  type BranchSide,
  diffBranches,
  type EntrySource,
} from "./compaction/diff-branches.ts";
export {
  computeFileLists,
  type FileLists,
  type FileOperations,
  formatFileOperations,
} from "./compaction/file-operations.ts";
export {
  type CompactionPlan,
  type CompactionPreparation,
  type CompactionSkipReason,
  type PlanOptions,
  planCompaction,
  prepareCompaction,
} from "./compaction/plan.ts";
export type { Summarize, SummarizeReply, SummarizeRequest } from "./compaction/request-summary.ts";
export {
  type CompactionLimits,
  type CompactionSettings,
  DEFAULT_COMPACTION_SETTINGS,
  settingsForModel,
} from "./compaction/settings.ts";
export {
  type CompactionDetails,
  type CompactionResult,
  type CompactOptions,
  compact,
} from "./compaction/summarize.ts";
export {
  type ContextUsageEstimate,
  estimateContextTokens,
  estimateProjectedContextTokens,
  estimateTokens,
  getLastAssistantUsage,
  shouldCompact,
  type TokenCounter,
} from "./compaction/tokens.ts";
export { serializeConversation } from "./compaction/transcript.ts";
export { convertToLlm } from "./context/convert-to-llm.ts";
export type { ModelChoice } from "./context/path-settings.ts";
export { projectContextEntry, sessionEntryToContextMessages } from "./context/project-entry.ts";
export {
  buildContextEntries,
  buildSessionContext,
  buildSessionProjection,
  getLatestCompactionEntry,
  type ProjectedSessionEntry,
  type SessionContext,
  type SessionProjection,
} from "./context/session-context.ts";
export { foldSystemMessages } from "./context/system-message.ts";
export { repairToolPairs, type ToolPairRepair, type ToolPairsRepaired } from "./context/tool-pairs.ts";
export { calculateContextTokens } from "./context/usage.ts";
export { migrateSessionEntries } from "./jsonl/migrate.ts";
export { parseSessionEntries } from "./jsonl/parse-records.ts";
export { type ReadSessionResult, readSession } from "./jsonl/read-session.ts";
export type { LoadOptions } from "./log/file-log-options.ts";
export { loadEntriesFromFile } from "./log/read-session-file.ts";
export { type RepairAction, type RepairReport, repairSession } from "./log/repair-session.ts";
export { getDefaultSessionDir, type SessionPlaces } from "./log/session-paths.ts";
export type { AppendableMessage, DraftMaker, EntryDraft } from "./manager/entry-draft.ts";
export {
  defineEntryType,
  type EntryType,
  type StandardSchema,
  type StateSession,
} from "./manager/extension-state.ts";
export type { SessionEventMap, SessionListener } from "./manager/session-events.ts";
export type { SessionInfo, SessionListProgress } from "./manager/session-info.ts";
export type { ReadonlySessionManager } from "./manager/session-manager.ts";
export { type AppendOptions, SessionManager } from "./manager/session-manager.ts";
export type { NewSessionOptions, SessionOptions } from "./manager/session-options.ts";
export type { SessionTreeNode } from "./manager/session-tree.ts";
export type { RedactTextOptions, SessionTextRedaction } from "./manager/text-redaction.ts";
export type { ImageContent, TextContent, ThinkingContent, ToolCall, Usage } from "./schema/content.ts";
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
} from "./schema/entry.ts";
export { isSessionError, SessionError, type SessionErrorCode } from "./schema/errors.ts";
export type { SessionHeader } from "./schema/header.ts";
export { assertValidSessionId } from "./schema/ids.ts";
export type { IssueCode, SessionIssue } from "./schema/issue.ts";
export type { JsonObject, JsonValue } from "./schema/json.ts";
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
} from "./schema/message.ts";
export { CURRENT_SESSION_VERSION } from "./schema/version.ts";
export { failureLine } from "./view/failure-text.ts";
export { type EntryOutcome, outcomeOf } from "./view/outcome.ts";
