/**
 * Session commands for agents (`/new`, `/tree`, `/compact`, …) and hooks for extensions.
 *
 * @module
 */

export type { ModelUsage, UsageTotals } from "./core/facts/usage-tally.ts";
export type { CompactCommandOptions } from "./session/controller/compact.ts";
export type {
  CompactIfNeededOptions,
  CompactIfNeededResult,
} from "./session/controller/compact-if-needed.ts";
export type {
  SessionHookEvents,
  SessionHookHandler,
  SessionHookResults,
} from "./session/controller/hook-events.ts";
export { SessionHooks, type SessionHooksOptions } from "./session/controller/hooks.ts";
export type { NavigateTreeOptions, NavigateTreeResult } from "./session/controller/navigate.ts";
export { SessionController, type SessionControllerOptions } from "./session/controller/session-controller.ts";
export type { SessionStats, StatsOptions } from "./session/controller/stats.ts";
export type { ForkResult, SwitchResult, SwitchSessionOptions } from "./session/controller/switch-session.ts";
