import type { CompactionSkipReason } from "../../core/compaction/plan.ts";
import { fitSettingsToWindow, settingsForModel } from "../../core/compaction/settings.ts";
import {
  type ContextUsageEstimate,
  estimateProjectedContextTokens,
  shouldCompact,
  type TokenCounter,
} from "../../core/compaction/tokens.ts";
import type { SessionEntry } from "../../core/format/entry.ts";
import {
  assertOptions,
  makeChoiceRule,
  makeNumberRule,
  type OptionRules,
  SIGNAL,
} from "../../core/format/options.ts";
import type { SessionManager } from "../manager/session-manager.ts";
import type { Compactor, CompletedCompaction } from "./compact.ts";
import type { ControllerHost } from "./controller-host.ts";

/** When to compact automatically. */
export interface CompactIfNeededOptions {
  /** Size of the model's context window, in tokens. */
  readonly contextWindow: number;
  /** `threshold` (default) checks the size of the context; `overflow` means that a provider rejected it as too long. */
  readonly reason?: "threshold" | "overflow" | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The result of an automatic compaction. */
export type CompactIfNeededResult =
  | ({ compacted: true } & CompletedCompaction)
  | {
      compacted: false;
      /**
       * Why nothing was compacted.
       *
       * - `disabled`: the settings turn it off.
       * - `belowThreshold`: there is room.
       * - `notShrinking`: the last two compactions did not make the context smaller, so another one would not either.
       * - `running`: called by the running compaction itself.
       * - `cannotFit`: the system message and what must be kept leave no room for a summary in the window.
       * - the others: there is nothing to compact; see `CompactionSkipReason`.
       */
      reason: CompactionSkipReason | "disabled" | "belowThreshold" | "notShrinking" | "running" | "cannotFit";
      /** Size of the context, in tokens. */
      contextTokens: number;
    };

const COMPACT_IF_NEEDED_RULES: OptionRules<CompactIfNeededOptions> = {
  contextWindow: makeNumberRule(0, "tokens"),
  reason: makeChoiceRule("threshold", "overflow"),
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
  if (options.contextWindow === undefined) throw new TypeError("compactIfNeeded needs a contextWindow.");
  for (;;) {
    const haveOthersEnded = await compactor.othersEnded(options.signal);
    const contextTokens = estimateContextUsage(host.current.session, host.counter).tokens;
    const reason = haveOthersEnded ? findReasonNotTo(host, compactor, contextTokens, options) : "running";
    if (reason !== undefined) return { compacted: false, reason, contextTokens };
    const { reason: why = "threshold", signal } = options;
    const willRetry = why === "overflow";
    const done = await compactor.attempt({
      reason: why,
      willRetry,
      contextWindow: options.contextWindow,
      signal,
    });
    // Of several waiting calls one begins, and the others wait for it.
    if (done === "running") continue;
    return typeof done === "string"
      ? { compacted: false, reason: done, contextTokens }
      : { compacted: true, ...done };
  }
}

function findReasonNotTo(
  { current, settings }: ControllerHost,
  compactor: Compactor,
  contextTokens: number,
  { contextWindow, reason = "threshold" }: CompactIfNeededOptions,
): "disabled" | "belowThreshold" | "notShrinking" | undefined {
  const { model } = current.session.buildSessionContext();
  const limits = settingsForModel(fitSettingsToWindow(settings, contextWindow), model);
  if (!limits.enabled) return "disabled";
  if (reason === "threshold" && !shouldCompact(contextTokens, contextWindow, limits)) return "belowThreshold";
  return compactor.fruitless >= MAX_FRUITLESS ? "notShrinking" : undefined;
}

/**
 * Returns the size of the context at a session's leaf.
 *
 * @remarks Cost: the messages that no usage covers, and the entries since the last compaction or edit.
 */
export function estimateContextUsage(session: SessionManager, counter?: TokenCounter): ContextUsageEstimate {
  const sinceChange: SessionEntry[] = [];
  for (const entry of session.walkUp()) {
    sinceChange.push(entry);
    // Older entries say nothing about the current context, so they need not be read.
    if (entry.type === "compaction" || entry.type === "context_edit") break;
  }
  return estimateProjectedContextTokens(session.buildSessionProjection(), sinceChange.reverse(), counter);
}
