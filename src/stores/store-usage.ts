import type { UsageReport } from "../catalog/collect-usage.ts";
import { summarizeSource } from "../catalog/full-summary.ts";
import { Pace } from "../catalog/pace.ts";
import type { SessionRow } from "../catalog/session-row.ts";
import { type CallsOfSession, type GroupOptions, groupCalls } from "../catalog/usage-groups.ts";
import { SessionView } from "../manager/session-view.ts";
import type { SessionStore } from "./session-store.ts";

/** Which sessions of a store are counted, and how. */
export interface StoreUsageOptions extends GroupOptions {
  /** Only sessions of this project. */
  readonly cwd?: string;
  /** Says in a row where the session is; default: as the store lists it. */
  readonly located?: (row: SessionRow) => SessionRow;
}

/**
 * Adds up usage as `collectUsage` does, in a store.
 *
 * @throws {SessionError} `PRICE_FAILED`, `STORE_UNAVAILABLE`
 * @remarks Cost: each session is read whole: stores keep no sums.
 */
export async function collectStoreUsage(
  store: SessionStore,
  { cwd, located = (row) => row, ...options }: StoreUsageOptions,
): Promise<UsageReport> {
  const pace = new Pace();
  const sessions: CallsOfSession[] = [];
  const damaged: string[] = [];
  for await (const row of store.list(cwd === undefined ? {} : { cwd })) {
    const { log } = await SessionView.inMemory(store.exportBytes(row.id), row.id, "session");
    const { calls, issueCount } = await summarizeSource(log, pace, true);
    if (calls !== undefined) sessions.push({ row: located(row), recorded: calls });
    if (issueCount > 0) damaged.push(row.id);
  }
  return { ...groupCalls(sessions, options), damaged };
}
