import type { JsonRecord } from "../schema/json.ts";
import { REDACTION_CUSTOM_TYPE } from "../schema/redaction.ts";
import type { EntryDraft } from "./entry-draft.ts";

/** Makes the entry that records a redaction. */
export function redactionRecord(data: JsonRecord): EntryDraft {
  return { type: "custom", customType: REDACTION_CUSTOM_TYPE, data };
}
