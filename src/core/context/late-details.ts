import type { AnySessionEntry } from "../format/entry.ts";
import { isJsonRecord, type JsonRecord } from "../format/json.ts";
import type { AgentMessage } from "../format/message.ts";
import { toRecord } from "./entry-fields.ts";

/**
 * `customType` of an entry that adds `data.details` to the details of an earlier message on the branch, whose entry id is
 * `data.targetId`. The latest entry for each target applies. Models never receive `details`, so requests do not change.
 */
export const DETAILS_CUSTOM_TYPE = "sessiontree.details";

/** Details added to a message after it was written. */
interface LateDetails {
  readonly targetId: string;
  readonly details: JsonRecord;
}

/** Returns the details that an entry adds to an earlier entry; undefined for all other entries. */
export function readLateDetails(entry: AnySessionEntry): LateDetails | undefined {
  const { type, customType, data } = toRecord(entry);
  if (type !== "custom" || customType !== DETAILS_CUSTOM_TYPE) return undefined;
  const { targetId, details } = toRecord(data);
  return typeof targetId === "string" && isJsonRecord(details) ? { targetId, details } : undefined;
}

/** Returns a copy of a message with additional details. */
export function withLateDetails(message: AgentMessage, details: JsonRecord): AgentMessage {
  return Object.assign({}, message, { details: { ...toRecord(toRecord(message)["details"]), ...details } });
}
