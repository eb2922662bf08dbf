import { summarizeSource } from "../../catalog/list/file-summary.ts";
import type { SessionCalls } from "../../catalog/list/session-calls.ts";
import type { UsageReport } from "../../catalog/usage/collect-usage.ts";
import { type CallsOfSession, type GroupOptions, groupCalls } from "../../catalog/usage/usage-groups.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import { Pace } from "../../session/files/time-slices.ts";
import { SessionView } from "../../session/manager/session-view.ts";
import type { ListInStoreOptions, SessionStore } from "./session-store.ts";

/** Options for filtering and grouping the usage in a store. */
export interface StoreUsageOptions extends GroupOptions {
  /** Only sessions of this project. */
  readonly cwd?: string;
  /** Cancels the operation with `ABORTED`. */
  readonly signal?: AbortSignal;
  /** Adds the session's location to a row. Default: returns the row unchanged. */
  readonly located?: (row: SessionRow) => SessionRow;
}

/** Yields sessions with their calls; undefined for calls that require reading the session. */
export type UsageLister = (options: ListInStoreOptions) => AsyncGenerator<ListedCalls, void, undefined>;

interface ListedCalls {
  readonly row: SessionRow;
  readonly recorded: SessionCalls | undefined;
}

/**
 * Totals the usage in a store, in the same way as `collectUsage`.
 *
 * @remarks Cost: O(calls) in a store that records usage with each line. Sessions with damaged lines, and all sessions
 *   in other stores, are read completely.
 */
export async function collectStoreUsage(
  store: SessionStore,
  { cwd, signal, located = (row) => row, ...options }: StoreUsageOptions,
): Promise<UsageReport> {
  const pace = new Pace(signal);
  const bounds = signal && { signal };
  const sessions: CallsOfSession[] = [];
  const damaged: string[] = [];
  for await (const { row, recorded } of listUsage(store, { ...(cwd !== undefined && { cwd }), ...bounds })) {
    if (recorded !== undefined) {
      sessions.push({ row: located(row), recorded });
      continue;
    }
    const { log } = await SessionView.inMemory(store.exportBytes(row.id, bounds), row.id, "session");
    const { calls, issueCount } = await summarizeSource(log, pace, true);
    if (calls !== undefined) sessions.push({ row: located(row), recorded: calls });
    if (issueCount > 0) damaged.push(row.id);
  }
  return { ...groupCalls(sessions, options), damaged };
}

async function* listUsage(store: SessionStore, options: ListInStoreOptions): ReturnType<UsageLister> {
  if (hasUsage(store)) yield* store.listUsage(options);
  else for await (const row of store.list(options)) yield { row, recorded: undefined };
}

function hasUsage(store: SessionStore): store is SessionStore & { readonly listUsage: UsageLister } {
  return "listUsage" in store && typeof store.listUsage === "function";
}
