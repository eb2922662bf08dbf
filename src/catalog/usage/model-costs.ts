import { toRecord } from "../../core/context/entry-fields.ts";
import type { SessionEntry } from "../../core/format/entry.ts";
import { CallRecorder } from "../list/session-calls.ts";
import { groupCalls, type PriceFunction, type UsageGroup } from "./usage-groups.ts";

/** Usage and cost of calls. */
export interface ModelCosts {
  /** One group per model, most expensive first. */
  readonly byModel: readonly UsageGroup[];
  readonly total: UsageGroup;
}

/**
 * Totals the usage of the calls in the given entries by model.
 *
 * @throws {SessionError} `PRICE_FAILED`
 */
export function sumByModel(entries: readonly SessionEntry[], prices: PriceFunction): ModelCosts {
  const recorder = new CallRecorder(null);
  for (const entry of entries) recorder.add(toRecord(entry), entry.id, Date.parse(entry.timestamp));
  const none = new Date(0);
  const row = { id: "", cwd: "", title: "", created: none, modified: none, messageCount: 0 };
  const { groups, total } = groupCalls([{ row, recorded: recorder.found }], { by: ["model"], prices });
  return { byModel: groups, total };
}
