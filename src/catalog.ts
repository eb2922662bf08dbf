/**
 * Many sessions: list, search, add up usage, resolve a name to a path, delete, restore, merge copies, decide what to keep.
 *
 * @module
 */

export type { CatalogOptions } from "./catalog/catalog-run.ts";
export { collectUsage, type UsageOptions, type UsageReport } from "./catalog/collect-usage.ts";
export type { SessionLineage } from "./catalog/descent.ts";
export { type IterateOptions, iterateSessions } from "./catalog/list-sessions.ts";
export { resolveSession } from "./catalog/resolve-session.ts";
export { listTrashed, restoreSession, type TrashedSession, type TrashOptions } from "./catalog/restore.ts";
export {
  planRetention,
  type RetentionCandidate,
  type RetentionPlan,
  type RetentionPolicy,
} from "./catalog/retention.ts";
export {
  type FileHit,
  type SearchHit,
  type SearchOptions,
  type SearchSessionOptions,
  searchSessions,
} from "./catalog/search.ts";
export type { FileRow, SessionRow } from "./catalog/session-row.ts";
export type { SkippedFile, SkipReport } from "./catalog/skipping.ts";
export { type DeletedSession, type DeleteOptions, deleteSession } from "./catalog/trash.ts";
export type { PriceFunction, UsageGroup, UsageKey } from "./catalog/usage-groups.ts";
export { type MergeFilesOptions, type MergeFilesResult, mergeSessions } from "./manager/merge-files.ts";
export { type MergedContent, mergeSessionContents } from "./merge/merge-content.ts";
export type { HeaderDifference } from "./merge/merge-headers.ts";
export type { MergeConflict, MergeOptions, MergeReport } from "./merge/merge-plan.ts";
export type { MergeSide } from "./merge/merge-source.ts";
export type { EntryHit } from "./search/entry-search.ts";
export type { SearchFilters } from "./search/search-filters.ts";
export type { QueryOptions } from "./search/search-query.ts";
export type { TextMatch } from "./search/text-matcher.ts";
