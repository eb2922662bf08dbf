/**
 * The session commands of an agent (`/new`, `/tree`, `/compact`, …) and the hooks for extensions.
 *
 * @module
 */

export type { CompactCommandOptions, CompletedCompaction } from "./controller/compact.ts";
export type { CompactIfNeededOptions, CompactIfNeededResult } from "./controller/compact-if-needed.ts";
export type { BranchSummaryLimits } from "./controller/controller-host.ts";
export type { ForkOptions, ForkResult } from "./controller/fork.ts";
export type {
  CompactionReason,
  SessionHookEvents,
  SessionHookHandler,
  SessionHookResult,
  SessionHookResults,
} from "./controller/hook-events.ts";
export { SessionHooks, type SessionHooksOptions } from "./controller/hooks.ts";
export type { NavigateTreeOptions, NavigateTreeResult } from "./controller/navigate.ts";
export { SessionController, type SessionControllerOptions } from "./controller/session-controller.ts";
export type { ContextUse, SessionStats, StatsOptions } from "./controller/stats.ts";
export type { SwitchResult, SwitchSessionOptions } from "./controller/switch-session.ts";
export type { ModelUsage, UsageTotals } from "./view/usage-tally.ts";
