import { isJsonRecord } from "./json.ts";

/** `customType` of the entry that records a redaction. */
export const REDACTION_CUSTOM_TYPE = "sessiontree.redaction";

/**
 * Returns the ids that an entry records as redacted, either completely (`data.targetId`) or partly (`data.targetIds`). Empty if
 * the entry does not record a redaction.
 *
 * The content of these entries must not be restored from another copy of the session or from its import origin.
 */
export function getRedactedIds(entry: object): readonly string[] {
  if (!("customType" in entry) || entry.customType !== REDACTION_CUSTOM_TYPE) return [];
  const data = "data" in entry && isJsonRecord(entry.data) ? entry.data : {};
  const { targetId, targetIds } = data;
  const named = Array.isArray(targetIds) ? targetIds : [targetId];
  return named.filter((id) => typeof id === "string");
}
