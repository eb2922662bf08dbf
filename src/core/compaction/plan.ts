import { toRecord } from "../context/entry-fields.ts";
import { makeEntryPath } from "../context/entry-path.ts";
import { toText } from "../context/message-parts.ts";
import type { ModelChoice } from "../context/path-settings.ts";
import {
  type ProjectedSessionEntry,
  projectPath,
  type SessionProjection,
} from "../context/session-context.ts";
import { foldSystemMessages } from "../context/system-message.ts";
import { assertArgument, OBJECTS } from "../format/arguments.ts";
import type { AnySessionEntry } from "../format/entry.ts";
import type { AgentMessage } from "../format/message.ts";
import { assertOptions } from "../format/options.ts";
import { type CutPointResult, cutContributions } from "./cut-point.ts";
import {
  addFilesOfSummary,
  createFileOps,
  extractFileOpsFromMessage,
  type FileOperations,
} from "./file-operations.ts";
import { assertSettings, type CompactionSettings, settingsForModel } from "./settings.ts";
import { expectSummarySize } from "./summary-size.ts";
import { estimateAll, estimateProjectedContextTokens, estimateTokens, type TokenCounter } from "./tokens.ts";

/** A planned compaction: the messages to summarize and the first entry to keep. */
export interface CompactionPreparation {
  /** Id of the first entry that stays in the context. */
  firstKeptEntryId: string;
  /** Messages of the context before the cut, or before the turn that the cut splits. Excludes system messages. */
  messagesToSummarize: AgentMessage[];
  /** Messages of a split turn before the cut. */
  turnPrefixMessages: AgentMessage[];
  /** Whether the cut splits a turn. */
  isSplitTurn: boolean;
  /** Current size of the context, in tokens. Uses the provider's count if it still applies. */
  tokensBefore: number;
  /** Summary at the start of the context, to be updated. */
  previousSummary?: string | undefined;
  /** Files touched by the summarized messages and the previous summary. */
  fileOps: FileOperations;
  /** Settings for the current model. */
  settings: CompactionSettings;
  /** Estimated size of the context after compaction, in tokens, with a summary of the expected length. */
  estimatedTokensAfter: number;
  /** Whether a summary of the expected length is shorter than the content that it replaces. */
  wouldShrink: boolean;
}

/**
 * Reason why there is nothing to compact.
 *
 * - `empty`: the context has no messages.
 * - `justCompacted`: the last entry is a compaction.
 * - `noCutPoint`: every cut would separate a tool result from its call.
 * - `nothingToSummarize`: everything before the cut has already been summarized, and the rest is recent.
 */
export type CompactionSkipReason = "empty" | "justCompacted" | "noCutPoint" | "nothingToSummarize";

/** A planned compaction, or the reason for skipping it. */
export type CompactionPlan =
  | { kind: "compact"; preparation: CompactionPreparation }
  | { kind: "skip"; reason: CompactionSkipReason };

/** Options for a plan, in addition to the settings. */
export interface PlanOptions {
  /** Counts tokens instead of estimating them. */
  readonly counter?: TokenCounter | undefined;
  /** Current model; null if unknown. Default: the model recorded on the branch, not the header's. */
  readonly model?: ModelChoice | null | undefined;
}

/**
 * Plans the compaction of a branch: the cut point, the messages to summarize, and the entries to keep.
 *
 * Uses the effective context: edits are applied, and entries omitted by an earlier compaction stay omitted. Every message except
 * system messages is either summarized or kept. The same branch always results in the same plan.
 *
 * @param pathEntries - The branch, root first.
 * @param settings - Amount to keep, with optional overrides by model.
 * @remarks Cost: O(branch) head reads, plus O(context size). Source: docs/compaction.md#plan
 */
export function planCompaction(
  pathEntries: readonly AnySessionEntry[],
  settings: CompactionSettings,
  options: PlanOptions = {},
): CompactionPlan {
  assertArgument("pathEntries", pathEntries, OBJECTS);
  assertOptions<object>(options, {});
  const { counter, model } = options;
  if (pathEntries.at(-1)?.type === "compaction") return { kind: "skip", reason: "justCompacted" };
  const projection = projectPath(makeEntryPath(pathEntries));
  if (projection.messages.length === 0) return { kind: "skip", reason: "empty" };
  const { entries } = projection;
  assertSettings(settings);
  const applied = settingsForModel(settings, model === undefined ? projection.model : model);
  const boundary = entries[0]?.sourceEntry.type === "compaction" ? 1 : 0;
  const cut = cutContributions(entries, boundary, applied.keepRecentTokens, counter);
  const firstKept = cut && entries[cut.firstKeptEntryIndex];
  if (cut === undefined || firstKept === undefined) return { kind: "skip", reason: "noCutPoint" };
  const parts = splitParts(entries, boundary, cut);
  if (parts.messagesToSummarize.length + parts.turnPrefixMessages.length === 0) {
    return { kind: "skip", reason: "nothingToSummarize" };
  }
  const preparation: CompactionPreparation = {
    firstKeptEntryId: firstKept.sourceEntry.id,
    ...parts,
    isSplitTurn: cut.isSplitTurn,
    tokensBefore: estimateProjectedContextTokens(projection, pathEntries, counter).tokens,
    settings: applied,
    ...estimateOutlook(projection, cut, parts, counter),
  };
  return { kind: "compact", preparation };
}

/**
 * Plans the compaction of a branch, as `planCompaction` does.
 *
 * @returns Undefined if there is nothing to compact.
 */
export function prepareCompaction(
  pathEntries: readonly AnySessionEntry[],
  settings: CompactionSettings,
  options: PlanOptions = {},
): CompactionPreparation | undefined {
  const plan = planCompaction(pathEntries, settings, options);
  return plan.kind === "compact" ? plan.preparation : undefined;
}

type Parts = Pick<
  CompactionPreparation,
  "messagesToSummarize" | "turnPrefixMessages" | "previousSummary" | "fileOps"
>;

function splitParts(entries: readonly ProjectedSessionEntry[], boundary: number, cut: CutPointResult): Parts {
  const previous = boundary === 1 ? entries[0] : undefined;
  const historyEnd = cut.isSplitTurn ? cut.turnStartIndex : cut.firstKeptEntryIndex;
  const messagesToSummarize = [...getRetained(previous), ...getMessages(entries, boundary, historyEnd)];
  const turnPrefixMessages = getMessages(entries, historyEnd, cut.firstKeptEntryIndex);
  const fileOps = createFileOps();
  // A context edit may have removed the summary; then it must not return as a part of the next one.
  const summary = previous?.messages.find(({ role }) => role === "compactionSummary");
  if (previous !== undefined && summary !== undefined) addFilesOfSummary(previous.sourceEntry, fileOps);
  for (const message of messagesToSummarize) extractFileOpsFromMessage(message, fileOps);
  for (const message of turnPrefixMessages) extractFileOpsFromMessage(message, fileOps);
  const previousSummary = toText(toRecord(summary)["summary"]);
  return {
    messagesToSummarize,
    turnPrefixMessages,
    previousSummary: previousSummary === "" ? undefined : previousSummary,
    fileOps,
  };
}

/** Returns the messages in a compaction's `retainedTail`. They cannot be kept again, because they are not entries. */
function getRetained(compaction: ProjectedSessionEntry | undefined): AgentMessage[] {
  const messages = compaction?.messages ?? [];
  const summaryAt = messages.findIndex(({ role }) => role === "compactionSummary");
  return messages.slice(summaryAt + 1).filter(isNoSystemMessage);
}

function getMessages(entries: readonly ProjectedSessionEntry[], start: number, end: number): AgentMessage[] {
  return entries.slice(start, end).flatMap(({ messages }) => messages.filter(isNoSystemMessage));
}

function isNoSystemMessage(message: AgentMessage): boolean {
  return message.role !== "system";
}

function estimateOutlook(
  projection: SessionProjection,
  cut: CutPointResult,
  parts: Parts,
  counter: TokenCounter | undefined,
): Pick<CompactionPreparation, "estimatedTokensAfter" | "wouldShrink"> {
  const { entries, messages } = projection;
  const system = foldSystemMessages(messages, 0);
  const systemTokens = system === undefined ? 0 : estimateTokens(system, counter);
  const keptTokens = estimateAll(getMessages(entries, cut.firstKeptEntryIndex, entries.length), counter);
  const { replacedTokens, textTokens, fileListTokens } = expectSummarySize(parts, counter);
  const summaryTokens = textTokens + fileListTokens;
  return {
    estimatedTokensAfter: systemTokens + keptTokens + summaryTokens,
    wouldShrink: summaryTokens < replacedTokens,
  };
}
