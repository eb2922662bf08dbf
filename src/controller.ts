/**
 * The session commands of an agent (`/new`, `/tree`, `/compact`, …) and the hooks for extensions.
 *
 * @module
 */

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
export type { ModelUsage, UsageTotals } from "./view/usage-tally.ts";
