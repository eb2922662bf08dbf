/**
 * Functions for working with many sessions: list, search, total usage, find by name, delete, restore, merge copies, and
 * plan retention.
 *
 * @module
 */

export type { SessionLineage } from "./catalog/list/lineage.ts";
export { type IterateOptions, iterateSessions } from "./catalog/list/list-sessions.ts";
export { resolveSession } from "./catalog/list/resolve-session.ts";
export type { EntryHit } from "./catalog/query/entry-search.ts";
export type { TextMatch } from "./catalog/query/text-matcher.ts";
export {
  type FileHit,
  type SearchHit,
  type SearchOptions,
  type SearchSessionOptions,
  searchSessions,
} from "./catalog/search/search.ts";
export {
  listTrashed,
  restoreSession,
  type TrashedSession,
  type TrashOptions,
} from "./catalog/trash/restore.ts";
export {
  planRetention,
  type RetentionCandidate,
  type RetentionPlan,
  type RetentionPolicy,
} from "./catalog/trash/retention.ts";
export { type DeletedSession, type DeleteOptions, deleteSession } from "./catalog/trash/trash.ts";
export { collectUsage, type UsageOptions, type UsageReport } from "./catalog/usage/collect-usage.ts";
export type { PriceFunction, UsageGroup } from "./catalog/usage/usage-groups.ts";
export type { MergeConflict, MergeOptions, MergeReport } from "./core/merge/merge-plan.ts";
export { type MergedContent, mergeSessionContents } from "./core/merge/merge-plan.ts";
export type { FileRow, SessionRow } from "./session/files/session-row.ts";
export type { SkippedFile, SkipReport } from "./session/files/skipped-files.ts";
export {
  type MergeFilesOptions,
  type MergeFilesResult,
  mergeSessions,
} from "./session/manager/merge-files.ts";
