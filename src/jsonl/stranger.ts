import { isKnownEntryType, type SessionEntry } from "../schema/entry.ts";
import type { JsonRecord } from "../schema/json.ts";

/** A required field of each type of entry. */
const ESSENTIAL: { readonly [type in SessionEntry["type"]]: string } = {
  message: "message",
  thinking_level_change: "thinkingLevel",
  model_change: "modelId",
  usage: "usage",
  compaction: "summary",
  branch_summary: "summary",
  custom: "customType",
  custom_message: "customType",
  context_edit: "targetId",
  label: "targetId",
  session_info: "name",
};

/** Tells whether a record has nothing of this format: no id, no time, and no known type. */
export function isStranger(record: JsonRecord, type: string): boolean {
  const { id, timestamp } = record;
  if (typeof id === "string" || typeof timestamp === "string" || typeof timestamp === "number") return false;
  return !hasEssential(record, type);
}

/** Tells whether a record is of a known type, and has that type's required field. */
export function hasEssential(record: JsonRecord, type: string): boolean {
  return isKnownEntryType(type) && record[ESSENTIAL[type]] !== undefined;
}
