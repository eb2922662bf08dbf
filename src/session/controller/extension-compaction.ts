import type { CompactionPreparation } from "../../core/compaction/plan.ts";
import type { SessionEntry } from "../../core/format/entry.ts";
import { SessionError } from "../../core/format/errors.ts";
import type { ExtensionCompaction } from "./hook-events.ts";

/** What a handler's compaction is checked against. */
export interface CompactedBranch {
  readonly branchEntries: readonly SessionEntry[];
  readonly preparation: CompactionPreparation;
}

/**
 * Rejects a handler's compaction that would lose entries without summarising them.
 *
 * @param input - As the handler returned it; foreign code may break its types.
 * @returns A copy, in which an invalid size is replaced by the planned one.
 * @throws {SessionError} `SUMMARY_FAILED` without a text, or if the first kept entry is not on the branch.
 */
export function checkExtensionCompaction(
  input: ExtensionCompaction,
  { branchEntries, preparation }: CompactedBranch,
): ExtensionCompaction {
  const summary: unknown = input.summary;
  if (typeof summary !== "string" || summary.trim() === "") throw unusable("its summary has no text");
  const firstKept: unknown = input.firstKeptEntryId;
  if (firstKept !== null && !branchEntries.some(({ id }) => id === firstKept)) {
    throw unusable(`it keeps from ${JSON.stringify(firstKept)} on, which is not on the branch`);
  }
  const tokensBefore = Number.isFinite(input.tokensBefore) ? input.tokensBefore : preparation.tokensBefore;
  return { ...input, tokensBefore };
}

function unusable(why: string): SessionError {
  return new SessionError(
    "SUMMARY_FAILED",
    `The compaction that a handler of session_before_compact gave cannot be used: ${why}. Nothing was changed; correct the extension.`,
    { details: { kind: "history" } },
  );
}
