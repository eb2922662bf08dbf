/**
 * Two copies of a session become one; two branches are compared.
 *
 * @module
 */

export {
  type BranchDiff,
  type BranchSide,
  diffBranches,
  type EntrySource,
} from "./compaction/diff-branches.ts";
export {
  type MergeFilesOptions,
  type MergeFilesResult,
  type MergeTarget,
  mergeSessions,
} from "./manager/merge-files.ts";
export { type MergedContent, mergeSessionContents } from "./merge/merge-content.ts";
export type { HeaderDifference } from "./merge/merge-headers.ts";
export type { MergeConflict, MergeOptions, MergeReport } from "./merge/merge-plan.ts";
export type { MergeSide } from "./merge/merge-source.ts";
