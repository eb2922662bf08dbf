import { collectCalls } from "../../catalog/usage/collect-usage.ts";
import {
  type CallsOfSession,
  findStarters,
  groupCalls,
  type PriceFunction,
} from "../../catalog/usage/usage-groups.ts";
import type { Spent } from "../../core/facts/usage-tally.ts";
import type { CatalogScope } from "../../session/files/session-files.ts";
import type { SessionRow } from "../../session/files/session-row.ts";

/** Usage of a session and its subagents. */
export interface FamilyUsage {
  readonly own: CallsOfSession;
  /** Number of subagents' sessions, including nested ones. */
  readonly subagents: number;
  /** Usage as counted in lists. */
  readonly spent: Spent;
}

/**
 * Adds up the usage of a session and its subagents, as lists do.
 *
 * @param onProgress - Called after each file with the number of files read and the total number.
 * @returns Undefined if the session is not in the scope.
 * @throws {SessionError} `PRICE_FAILED` or `ABORTED`
 * @remarks Cost: the same as listing the scope.
 */
export async function sumFamilyUsage(
  scope: CatalogScope,
  { prices, signal }: { readonly prices?: PriceFunction | undefined; readonly signal?: AbortSignal },
  path: string,
  onProgress?: (loaded: number, total: number) => void,
): Promise<FamilyUsage | undefined> {
  const { sessions } = await collectCalls({ ...scope, ...(signal && { signal }) }, onProgress);
  const own = sessions.find(({ row, isOutside = false }) => row.path === path && !isOutside);
  if (own === undefined) return undefined;
  const starters = findStarters(sessions);
  const isIts = (row: SessionRow | undefined): boolean =>
    row !== undefined && (row === own.row || isIts(starters.get(row)));
  const counted = sessions.map((one) => (isIts(one.row) ? one : { ...one, isOutside: true }));
  const { by: _, sessions: __, ...spent } = groupCalls(counted, prices === undefined ? {} : { prices }).total;
  const subagents = counted.filter(({ isOutside = false }) => !isOutside).length - 1;
  return { own, subagents, spent };
}
