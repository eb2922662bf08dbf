/**
 * sessiontree: session memory for agents, an append-only tree in a plain JSONL file.
 *
 * @module
 */

export {
  type IterateOptions,
  iterateSessions,
  mostRecentSession as findMostRecentSession,
} from "./catalog/catalog.ts";
export type { CatalogOptions } from "./catalog/catalog-run.ts";
export type { SessionLineage } from "./catalog/descent.ts";
export { resolveSession } from "./catalog/resolve-session.ts";
export { listTrashed, restoreSession, type TrashedSession, type TrashOptions } from "./catalog/restore.ts";
export {
  type KeepReason,
  planRetention,
  type RetentionCandidate,
  type RetentionPlan,
  type RetentionPolicy,
} from "./catalog/retention.ts";
export { type SearchHit, type SearchOptions, searchSessions } from "./catalog/search.ts";
export type { CatalogScope } from "./catalog/session-files.ts";
export type { SessionInfo, SessionListProgress } from "./catalog/session-info.ts";
export type { SkippedFile, SkipReport } from "./catalog/skipping.ts";
export type { CacheOptions } from "./catalog/summary-cache.ts";
export type { TextMatch } from "./catalog/text-matcher.ts";
export { type DeletedSession, type DeleteOptions, deleteSession } from "./catalog/trash.ts";
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
  createFileOps,
  extractFileOpsFromMessage,
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
export type {
  Summarize,
  SummarizeReply,
  SummarizeRequest,
  SummaryKind,
} from "./compaction/request-summary.ts";
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
  calculateContextTokens,
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
export {
  repairToolPairs,
  type ToolPairRepair,
  type ToolPairRepairKind,
  type ToolPairsRepaired,
} from "./context/tool-pairs.ts";
export type {
  CompactCommandOptions,
  CompletedCompaction,
  NoCompactionReason,
} from "./controller/compact.ts";
export type {
  CompactIfNeededOptions,
  CompactIfNeededResult,
  NotNeededReason,
} from "./controller/compact-if-needed.ts";
export type { BranchSummaryLimits } from "./controller/controller-host.ts";
export type { ForkOptions, ForkResult } from "./controller/fork.ts";
export type {
  BeforeCompactResult,
  BeforeTreeResult,
  CancelResult,
  CompactionReason,
  ExtensionBranchSummary,
  ExtensionCompaction,
  SessionBeforeCompactEvent,
  SessionBeforeForkEvent,
  SessionBeforeSwitchEvent,
  SessionBeforeTreeEvent,
  SessionCompactEvent,
  SessionCompactFailedEvent,
  SessionHookEvents,
  SessionHookHandler,
  SessionHookName,
  SessionHookResult,
  SessionHookResults,
  SessionInfoChangedEvent,
  SessionShutdownEvent,
  SessionStartEvent,
  SessionTreeEvent,
  TreePreparation,
} from "./controller/hook-events.ts";
export { type SessionHookErrorHandler, SessionHooks, type SessionHooksOptions } from "./controller/hooks.ts";
export type { NavigateTreeOptions, NavigateTreeResult } from "./controller/navigate.ts";
export { SessionController, type SessionControllerOptions } from "./controller/session-controller.ts";
export type { ContextUse, SessionStats, StatsOptions } from "./controller/stats.ts";
export type { SwitchResult, SwitchSessionOptions } from "./controller/switch-session.ts";
export type { ModelUsage, UsageTotals } from "./controller/usage-tally.ts";
export { isSessionError, SessionError, type SessionErrorCode, type SessionErrorDetails } from "./errors.ts";
export { assertValidSessionId } from "./ids.ts";
export { migrateSessionEntries } from "./jsonl/migrate.ts";
export type { DraftMaker, EntryDraft } from "./manager/entry-draft.ts";
export { staleLeaf } from "./manager/expected-leaf.ts";
export { defineEntryType, type EntryType, type StateSession } from "./manager/extension-state.ts";
export {
  type MergeFilesOptions,
  type MergeFilesResult,
  type MergeTarget,
  mergeSessions,
} from "./manager/merge-files.ts";
export type { ReadonlySessionManager } from "./manager/readonly-session-manager.ts";
export { type AppendableMessage, type AppendOptions, SessionAppender } from "./manager/session-appender.ts";
export type { SessionEventMap, SessionEventName, SessionListener } from "./manager/session-events.ts";
export { SessionManager } from "./manager/session-manager.ts";
export type { NewSessionOptions, SessionOptions } from "./manager/session-options.ts";
export { SessionReader } from "./manager/session-reader.ts";
export type { SessionTreeNode } from "./manager/session-tree.ts";
export { type MergedContent, mergeSessionContents } from "./merge/merge-content.ts";
export type { HeaderDifference } from "./merge/merge-headers.ts";
export type { MergeConflict, MergeOptions, MergeReport } from "./merge/merge-plan.ts";
export type { MergeSide } from "./merge/merge-source.ts";
export { parseSessionEntries } from "./reading/parse-records.ts";
export { type ReadSessionResult, readSession } from "./reading/read-session.ts";
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
export type { SessionHeader } from "./schema/header.ts";
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
  ToolResultMessage,
  UserMessage,
} from "./schema/message.ts";
export { type Validation, validateEntry, validateHeader } from "./schema/validate.ts";
export { CURRENT_SESSION_VERSION } from "./schema/version.ts";
export type { Durability, FileLogOptions, LoadOptions } from "./store/file-log-options.ts";
export type { LeaseMode } from "./store/lease.ts";
export { loadEntriesFromFile } from "./store/load-entries.ts";
export { type RepairAction, type RepairReport, repairSession } from "./store/repair-session.ts";
export { getDefaultSessionDir, type SessionPlaces } from "./store/session-paths.ts";
export { copySession } from "./stores/copy-session.ts";
export { type FileStoreOptions, fileStore } from "./stores/file-store.ts";
export { memoryStore, type RemoteStoreOptions, remoteStore } from "./stores/remote-store.ts";
export type { RetryOptions } from "./stores/retries.ts";
export { selectSessions } from "./stores/select-sessions.ts";
export type {
  Amendment,
  AppendCondition,
  AppendReceipt,
  BackendListQuery,
  BackendSearchQuery,
  BackendSupport,
  EntryFacts,
  FoundLine,
  LinePage,
  ListPosition,
  NewEntryLine,
  NewLine,
  SessionBackend,
  StoredLine,
} from "./stores/session-backend.ts";
export { COMMUTING_TYPES, factsAfter, type SessionFacts } from "./stores/session-facts.ts";
export type {
  CloseStoreOptions,
  CreateInStoreOptions,
  ImportOptions,
  ListInStoreOptions,
  OpenInStoreOptions,
  SearchInStoreOptions,
  SessionStore,
  StoredSession,
  StoreSearchHit,
  StoreSessionOptions,
  StoreSupport,
} from "./stores/session-store.ts";
export { sessionExists, sessionNotFound } from "./stores/store-errors.ts";
