import type { CompactionSkipReason } from "../../core/compaction/plan.ts";
import { fitSettingsToWindow, settingsForModel } from "../../core/compaction/settings.ts";
import {
  type ContextUsageEstimate,
  countByScript,
  estimateProjectedContextTokens,
  shouldCompact,
  type TokenCounter,
} from "../../core/compaction/tokens.ts";
import type { SessionEntry } from "../../core/format/entry.ts";
import { isSessionError, type SessionError } from "../../core/format/errors.ts";
import {
  assertOptions,
  makeChoiceRule,
  makeNumberRule,
  type OptionRules,
  SIGNAL,
} from "../../core/format/options.ts";
import type { SessionManager } from "../manager/session-manager.ts";
import type { Compactor, CompletedCompaction, NoCompactionReason } from "./compact.ts";
import { explainCannotFit, leavesRoom, shortenResults } from "./context-room.ts";
import type { ControllerHost } from "./controller-host.ts";

/** Options for automatic compaction. */
export interface CompactIfNeededOptions {
  /** Size of the model's context window, in tokens. */
  readonly contextWindow: number;
  /**
   * Reason for the check. `threshold` (default) checks the size of the context. `overflow` means that a provider rejected it as
   * too long.
   */
  readonly reason?: "threshold" | "overflow" | undefined;
  /** Number of tokens sent in addition to the messages, for example for tool declarations. Default: 0. */
  readonly overheadTokens?: number | undefined;
  /**
   * Behavior if no summary can be written. `extract` creates a summary without a model; `throw` throws the error. By default,
   * does not compact as long as the request fits and leaves half of the reserve for the reply; otherwise, uses `extract`.
   */
  readonly onSummaryFailure?: "extract" | "throw" | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Result of an automatic compaction. */
export type CompactIfNeededResult =
  | ({ compacted: true } & CompletedCompaction)
  | {
      compacted: false;
      /**
       * Reason why the context was not compacted.
       *
       * - `disabled`: the settings disable compaction.
       * - `belowThreshold`: the context has enough room.
       * - `notShrinking`: the last two compactions did not shrink the context, so another compaction is unlikely to help.
       * - `running`: the call came from the running compaction itself.
       * - `cannotFit`: the system message and the content that must be kept leave no room for a summary in the window; `message`
       *   states which parts take up the window and what to do.
       * - `summaryFailed`: no summary was written, for the reason in `summaryError`; the request still fits.
       * - other reasons: there is nothing to compact; see `CompactionSkipReason`.
       */
      reason:
        | CompactionSkipReason
        | "disabled"
        | "belowThreshold"
        | "notShrinking"
        | "running"
        | "cannotFit"
        | "summaryFailed";
      /** Size of the context, in tokens, including the overhead. */
      contextTokens: number;
      /** Advice if the context cannot fit. */
      message?: string;
      summaryError?: SessionError;
      /** Ids of the entries whose tool results were shortened by context edits, to make the request fit. */
      shortenedResultIds?: string[];
    };

const COMPACT_IF_NEEDED_RULES: OptionRules<CompactIfNeededOptions> = {
  contextWindow: makeNumberRule(0, "tokens"),
  reason: makeChoiceRule("threshold", "overflow"),
  overheadTokens: makeNumberRule(0, "tokens"),
  onSummaryFailure: makeChoiceRule("extract", "throw"),
  signal: SIGNAL,
};

const MAX_FRUITLESS = 2;

/** Compacts if the context is too long; see `SessionController.compactIfNeeded`. */
export async function compactIfNeeded(
  host: ControllerHost,
  compactor: Compactor,
  options: CompactIfNeededOptions,
): Promise<CompactIfNeededResult> {
  assertOptions(options, COMPACT_IF_NEEDED_RULES);
  const { contextWindow, overheadTokens = 0, signal } = options;
  if (contextWindow === undefined) throw new TypeError("compactIfNeeded needs a contextWindow.");
  const room = { contextWindow, overheadTokens };
  let shortened: { shortenedResultIds?: string[] } = {};
  for (;;) {
    const haveOthersEnded = await compactor.othersEnded(signal);
    const contextTokens = requestTokens(host, overheadTokens);
    const decision = haveOthersEnded ? decide(host, compactor, contextTokens, options) : "running";
    if (typeof decision === "string")
      return { compacted: false, reason: decision, contextTokens, ...shortened };
    const { fits } = decision;
    const done = await attemptCompaction(compactor, options, fits);
    // One of several waiting calls starts a compaction, and the others wait for it.
    if (done === "running") continue;
    if (isSessionError(done))
      return { compacted: false, reason: "summaryFailed", contextTokens, summaryError: done, ...shortened };
    if (typeof done !== "string") return { compacted: true, ...done, ...shortened };
    const isShortened = shortened.shortenedResultIds !== undefined;
    const shortenedResultIds = fits || isShortened ? [] : shortenResults(host, room);
    if (shortenedResultIds.length > 0) {
      shortened = { shortenedResultIds };
      continue;
    }
    if (done !== "cannotFit" && contextTokens <= contextWindow)
      return { compacted: false, reason: done, contextTokens, ...shortened };
    const message = explainCannotFit(host, room);
    return { compacted: false, reason: "cannotFit", contextTokens, message, ...shortened };
  }
}

/**
 * Compacts the context. If no summary was written, the request fits, and the caller did not choose a behavior, returns the error
 * instead of throwing it.
 */
async function attemptCompaction(
  compactor: Compactor,
  { contextWindow, overheadTokens, reason = "threshold", onSummaryFailure, signal }: CompactIfNeededOptions,
  fits: boolean,
): Promise<CompletedCompaction | NoCompactionReason | SessionError> {
  const extractsOnFailure = onSummaryFailure === "extract" || (onSummaryFailure === undefined && !fits);
  const willRetry = reason === "overflow";
  const request = { contextWindow, overheadTokens, reason, willRetry, extractsOnFailure, signal };
  try {
    return await compactor.attempt(request);
  } catch (error) {
    if (onSummaryFailure === undefined && isSessionError(error, "SUMMARY_FAILED")) return error;
    throw error;
  }
}

/** Returns the size of the next request. If the provider counted the context, its count already includes the overhead. */
function requestTokens({ current, counter }: ControllerHost, overheadTokens: number): number {
  const { tokens, lastUsageIndex } = estimateContextUsage(current.session, counter);
  return tokens + (lastUsageIndex === null ? overheadTokens : 0);
}

/** Returns the reason for not compacting or, if there is none, whether the request fits without compaction. */
function decide(
  { current, settings }: ControllerHost,
  compactor: Compactor,
  contextTokens: number,
  { contextWindow, reason = "threshold" }: CompactIfNeededOptions,
): "disabled" | "belowThreshold" | "notShrinking" | { readonly fits: boolean } {
  const { model } = current.session.buildSessionContext();
  const limits = settingsForModel(fitSettingsToWindow(settings, contextWindow), model);
  if (!limits.enabled) return "disabled";
  if (reason === "threshold" && !shouldCompact(contextTokens, contextWindow, limits)) return "belowThreshold";
  if (compactor.fruitless >= MAX_FRUITLESS) return "notShrinking";
  return { fits: reason === "threshold" && leavesRoom(contextTokens, contextWindow, limits) };
}

/**
 * Returns the size of the context at a session's leaf. Text that no provider has counted is estimated according to its script.
 *
 * @remarks Cost: the messages that no usage covers, plus the entries since the last compaction or edit.
 */
export function estimateContextUsage(
  session: SessionManager,
  counter: TokenCounter = countByScript,
): ContextUsageEstimate {
  const sinceChange: SessionEntry[] = [];
  for (const entry of session.walkUp()) {
    sinceChange.push(entry);
    // Older entries do not describe the current context, so they need not be read.
    if (entry.type === "compaction" || entry.type === "context_edit") break;
  }
  return estimateProjectedContextTokens(session.buildSessionProjection(), sinceChange.reverse(), counter);
}
