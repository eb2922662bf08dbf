import { isJsonRecord } from "./json.ts";

/** `customType` of the entry that records a redaction. */
export const REDACTION_CUSTOM_TYPE = "sessiontree.redaction";

/**
 * Returns the ids that an entry records as redacted, whole (`data.targetId`) or in part (`data.targetIds`); none if it records no
 * redaction.
 *
 * The content of these ids must not come back from another copy of the session, or from where it was imported.
 */
export function getRedactedIds(entry: object): readonly string[] {
  if (!("customType" in entry) || entry.customType !== REDACTION_CUSTOM_TYPE) return [];
  const data = "data" in entry && isJsonRecord(entry.data) ? entry.data : {};
  const { targetId, targetIds } = data;
  const named = Array.isArray(targetIds) ? targetIds : [targetId];
  return named.filter((id) => typeof id === "string");
}
