import { isFailure } from "./entry-kind.ts";
import { usageOf } from "./usage.ts";
import { sumUsage, type UsageTotals } from "./usage-tally.ts";
import type { ViewSource } from "./view-source.ts";

/** What only the bodies of a session tell of it as a whole. */
export interface SessionTotals {
  /** Entries that say that a tool, a command or a model failed. */
  readonly failed: number;
  /** What its calls of models cost, in US dollars, with what a fork has from its parent; null if none says. */
  readonly cost: number | null;
}

/**
 * Counts failures and costs.
 *
 * @remarks Cost: O(session).
 */
export function totalsOf(session: ViewSource): SessionTotals {
  let failed = 0;
  const usages: UsageTotals[] = [];
  session.readEntries(session.tree.ordinals(), (_, entry) => {
    if (isFailure(entry)) failed++;
    const usage = usageOf(entry);
    if (usage !== undefined) usages.push(usage);
  });
  return { failed, cost: sumUsage(usages).cost };
}
